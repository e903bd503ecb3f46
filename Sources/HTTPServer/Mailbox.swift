// SPDX-License-Identifier: MIT
//
// How another thread reaches a worker: it leaves a message and writes to the worker's wake-up descriptor. The lock is held for the time of an
// append; a request that is answered at once never comes here.

package import HTTPWire
import Locking

/// Names one request whose answer was promised by `Reply.later`; worthless once it is answered.
package struct Ticket: Sendable, Hashable {
    let slot: UInt32
    let serial: UInt32
}

enum Message: Sendable {
    /// The same answer for all of these.
    case complete([Ticket], Response)
    /// The next part of the body for all of these.
    case stream([Ticket], [UInt8])
    case endStream([Ticket])
    /// Connections that are accepted from now on get this certificate.
    case certificate(TLSContext)
    /// Stop accepting, end idle connections after `idle` ms and everything at `deadline` (monotonic ms).
    case stop(idle: Int64, deadline: Int64)
}

/// A worker, as other threads see it.
package final class Mailbox: Sendable {
    private let messages = Locked<[Message]>([])
    private let waker: Waker
    var wakeDescriptor: Int32 { waker.descriptor }

    init() throws(SocketError) { waker = try Waker("worker") }

    /// Answers requests that were promised an answer; those that have gone meanwhile are skipped. Callable from any thread.
    package func complete(_ tickets: [Ticket], with response: Response) {
        if !tickets.isEmpty { send(.complete(tickets, response)) }
    }

    /// Sends a part of the body of responses begun by `Reply.stream`. Who has not read the last 256 KiB is dropped. Callable from any thread.
    package func stream(_ bytes: [UInt8], to tickets: [Ticket]) {
        if !tickets.isEmpty, !bytes.isEmpty { send(.stream(tickets, bytes)) }
    }

    /// Ends responses begun by `Reply.stream`. Callable from any thread.
    package func endStream(_ tickets: [Ticket]) {
        if !tickets.isEmpty { send(.endStream(tickets)) }
    }

    func send(_ message: Message) {
        let wasEmpty = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        if wasEmpty { waker.wake() }
    }

    func take() -> [Message] {
        waker.drain()
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
