// SPDX-License-Identifier: MIT
//
// How another thread reaches a worker: it leaves a message and writes to the worker's wake-up descriptor. The lock is held for the time of an
// append; a request that is answered at once never comes here.

import CLinux
package import HTTPWire
import Locking

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

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
    /// Stop accepting, end idle connections after `idle` ms and everything at `deadline` (monotonic ms).
    case stop(idle: Int64, deadline: Int64)
}

/// A worker, as other threads see it.
package final class Mailbox: Sendable {
    private let messages = Locked<[Message]>([])
    let wakeDescriptor: Int32
    private let writeDescriptor: Int32

    init() throws(SocketError) {
        #if os(Linux)
            wakeDescriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
            writeDescriptor = wakeDescriptor
            guard wakeDescriptor >= 0 else { throw SocketError("eventfd", "worker") }
        #else
            var pair: [Int32] = [-1, -1]
            guard pipe(&pair) == 0 else { throw SocketError("pipe", "worker") }
            wakeDescriptor = pair[0]
            writeDescriptor = pair[1]
            pair.forEach(Socket.makeNonBlocking)
        #endif
    }

    deinit {
        close(wakeDescriptor)
        if writeDescriptor != wakeDescriptor { close(writeDescriptor) }
    }

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
        guard wasEmpty else { return }
        var one: UInt64 = 1
        _ = write(writeDescriptor, &one, MemoryLayout<UInt64>.size)  // full means that a wake-up is on its way already
    }

    func take() -> [Message] {
        var buffer = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        while read(wakeDescriptor, &buffer, MemoryLayout.size(ofValue: buffer)) == MemoryLayout.size(ofValue: buffer) {}
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
