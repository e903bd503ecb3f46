// SPDX-License-Identifier: MIT
//
// Requests whose answer hangs on a batch of the log: most wait for it, some only for a while.

import EventLog
import HTTPServer
import HTTPWire
import Synchronization

/// An answer that goes out once: when its record is durable, or when it has waited long enough.
final class PromisedReply: Sendable {
    let ticket: Ticket
    let response: Response
    /// Monotonic milliseconds.
    let deadline: Int64
    private let isTaken = Atomic<Bool>(false)

    /// Milliseconds. Vonage waits for seconds, but the caller hears nothing meanwhile.
    static let patience: Int64 = 50

    init(ticket: Ticket, response: Response, deadline: Int64) {
        self.ticket = ticket
        self.response = response
        self.deadline = deadline
    }

    /// Whether it has gone out.
    var isSent: Bool { isTaken.load(ordering: .acquiring) }

    /// Sends it unless it has gone out; true if this call did.
    func send(_ mailbox: Mailbox) -> Bool {
        guard !isTaken.exchange(true, ordering: .acquiringAndReleasing) else { return false }
        mailbox.complete([ticket], with: response)
        return true
    }
}

struct EventsWaiting: Sendable {
    struct Waiter: Sendable {
        let ticket: Ticket
        /// Monotonic microseconds.
        let began: Int64
        /// An object of the event has a key twice: kept as it came, and said.
        let hasRepeatedKey: Bool
        var line: WebhookLine?
        /// What it is answered with, come what may.
        var reply: PromisedReply?
    }

    private var waiters: [Waiter] = []

    var isEmpty: Bool { waiters.isEmpty }
    mutating func append(_ waiter: Waiter) { waiters.append(waiter) }

    /// On the log's queue: the batch is durable, or is not.
    func complete(_ outcome: LogBatch.Outcome, mailbox: Mailbox, application: Application, statistics: HandlerStatistics, now: Int64) {
        guard !waiters.isEmpty else { return }
        let isDurable = outcome == .durable
        var plain = waiters
        if waiters.contains(where: { $0.reply != nil }) {
            plain = waiters.filter { $0.reply == nil }
            for waiter in waiters {
                guard let reply = waiter.reply else { continue }
                // What did not wait for the disk went out when its patience was over.
                statistics.eventTimes.add(reply.send(mailbox) ? now - waiter.began : PromisedReply.patience * 1000)
            }
            statistics.flowReplies.add(waiters.count - plain.count, ordering: .relaxed)
        }
        for waiter in plain { statistics.eventTimes.add(now - waiter.began) }
        if isDurable {
            statistics.events.add(waiters.count, ordering: .relaxed)
            mailbox.complete(plain.filter { !$0.hasRepeatedKey }.map(\.ticket), with: Self.kept)
            mailbox.complete(plain.filter(\.hasRepeatedKey).map(\.ticket), with: Self.keptWithWarning)
        } else {
            statistics.refusedEvents.add(plain.count, ordering: .relaxed)
            mailbox.complete(plain.map(\.ticket), with: Self.notKept)
        }
        guard let format = application.lineFormat else { return }
        for waiter in waiters {
            guard var line = waiter.line else { continue }
            line.status = isDurable || waiter.reply != nil ? 200 : 503
            line.micros = now - waiter.began
            application.console.print(line.formatted(format))
        }
    }

    private static let kept = Response(.ok)
    private static let keptWithWarning: Response = {
        var fields = FieldBlock()
        fields.append("X-Switchboard-Warning", "an object has a key twice")
        return Response(.ok, fields: fields)
    }()
    private static let notKept: Response = {
        var fields = FieldBlock()
        fields.append("Retry-After", "1")
        return .problem(.serviceUnavailable, "The event could not be kept; send it again.", fields: fields)
    }()
}
