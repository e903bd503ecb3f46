// SPDX-License-Identifier: MIT
//
// The calls of the log for the admin routes. A thread of its own follows the log's files, as `switchboard events tail -f` does, and answers
// from what it has read: no request of Vonage's pays for it, and before anybody asks for the first time nothing is read at all. Each question is
// answered once everything is read that was in the log when it came.
//
// The newest calls are in memory; an older one is looked for in the whole log, one at a time.

import Dispatch
import EventLog
import HTTPServer
import HTTPWire
import JSON
import Locking

final class CallFeed: Sendable {
    /// What is asked for, and what is made of it on the thread.
    enum Question: Sendable {
        /// Without steps.
        case list(CallFilter, after: CallCursor?, limit: Int, @Sendable ([Call], CallCursor?) -> Response)
        case call(String, @Sendable (Call) -> Response)
    }

    private struct Waiting: Sendable {
        let question: Question
        let reply: @Sendable (Response) -> Void
    }

    private struct Subscriber: Sendable {
        let ticket: Ticket
        let mailbox: Mailbox
        let masking: Masking
        /// The number behind which it wants to know; nil for what comes from now on.
        var lastSeq: UInt64?
        var isNew = true

        /// Two workers may give the same ticket.
        struct Identity: Hashable {
            let ticket: Ticket
            let mailbox: ObjectIdentifier
        }

        var identity: Identity { Identity(ticket: ticket, mailbox: ObjectIdentifier(mailbox)) }
    }

    private struct Shared {
        var waiting: [Waiting] = []
        var subscribers: [Subscriber] = []
        var searches = 0
        var isRunning = false
        var isStopped = false
    }

    /// Of the thread alone.
    private final class Reading {
        var book: CallBook
        var ready: [Waiting] = []
        var lastSeq: UInt64 = 0
        var nextHeartbeat = DispatchTime.now()

        init(_ book: CallBook) { self.book = book }
    }

    private let folder: String
    private let limits: CallBook.Limits
    private let clock: Clock
    private let shared = Locked(Shared())
    private let work = DispatchSemaphore(value: 0)
    private let queue = DispatchQueue(label: "calls", qos: .utility)
    private let searching = DispatchQueue(label: "calls-history", qos: .utility)

    /// Lines that are read at first, if they are not in files in front of those that hold them: 10,000 calls have some ten each.
    private static let newestLines = 100_000
    private static let mostWaiting = 256
    private static let mostSubscribers = 64
    private static let mostSearches = 4
    /// Milliseconds; an event is on the stream within half a second.
    private static let streamInterval = 200
    /// Seconds; proxies end connections that are silent for a minute.
    private static let heartbeat = 15

    init(folder: String, callsInMemory: Int, clock: Clock = .system) {
        self.folder = folder
        self.clock = clock
        var limits = CallBook.Limits()
        limits.calls = callsInMemory
        self.limits = limits
    }

    // MARK: From any thread

    /// Answers later, or at once where too many wait.
    func ask(_ question: Question, reply: @escaping @Sendable (Response) -> Void) {
        let isTaken = shared.withLock { shared in
            guard shared.waiting.count < Self.mostWaiting, !shared.isStopped else { return false }
            shared.waiting.append(Waiting(question: question, reply: reply))
            return true
        }
        guard isTaken else { return reply(Self.busy) }
        wake()
    }

    /// From now on the stream behind the ticket is told of each call that changes. False where too many listen.
    ///
    /// - Parameter lastSeq: of the `id` of the last event that it got; what came behind it is told first.
    func subscribe(_ ticket: Ticket, _ mailbox: Mailbox, after lastSeq: UInt64?, _ masking: Masking) -> Bool {
        let isTaken = shared.withLock { shared in
            guard shared.subscribers.count < Self.mostSubscribers, !shared.isStopped else { return false }
            shared.subscribers.append(Subscriber(ticket: ticket, mailbox: mailbox, masking: masking, lastSeq: lastSeq))
            return true
        }
        if isTaken { wake() }
        return isTaken
    }

    func unsubscribe(_ ticket: Ticket, _ mailbox: Mailbox) {
        shared.withLock { $0.subscribers.removeAll { $0.ticket == ticket && $0.mailbox === mailbox } }
    }

    /// The thread ends; who still waits is asked to come back.
    func stop() {
        shared.withLock { $0.isStopped = true }
        work.signal()
    }

    private func wake() {
        let isFirst = shared.withLock { shared in
            defer { shared.isRunning = true }
            return !shared.isRunning
        }
        work.signal()
        if isFirst { queue.async { self.run() } }
    }

    // MARK: The thread

    private func run() {
        while !shared.withLock({ $0.isStopped }) {
            let reading = Reading(CallBook(limits: limits))
            takeQuestions(reading)
            func take(_ line: LogReader.Line, _ bytes: Span<UInt8>) -> Bool {
                if let record = Self.record(bytes) { reading.book.add(record) }
                reading.lastSeq = max(reading.lastSeq, line.seq)
                return true
            }
            do throws(ReadFailure) {
                var wanted = LogReader.Wanted()
                wanted.last = Self.newestLines
                try LogReader(path: folder).read(wanted, follow: { self.turn(reading) }, take)
            } catch {
                for waiting in reading.ready { waiting.reply(Self.unreadable) }
                reading.ready = []
                waitForWork()
            }
            // Nothing but a stop ends the reading of a folder that is there.
            for waiting in reading.ready { waiting.reply(Self.busy) }
        }
    }

    private static func record(_ line: Span<UInt8>) -> CallRecord? {
        var copy: [UInt8] = []
        copy.reserveCapacity(line.count)
        for at in 0..<line.count { copy.append(line[at]) }
        return CallRecord(copy)
    }

    /// Everything is read that was there: answers, tells, waits. False ends the reading.
    private func turn(_ reading: Reading) -> Bool {
        let now = clock.wall()
        for waiting in reading.ready { answer(waiting, reading, now) }
        reading.ready = []
        tell(reading, now)
        waitForWork()
        takeQuestions(reading)
        return !shared.withLock { $0.isStopped }
    }

    private func waitForWork() {
        let streams = shared.withLock { !$0.subscribers.isEmpty }
        _ = work.wait(timeout: streams ? .now() + .milliseconds(Self.streamInterval) : .distantFuture)
    }

    private func takeQuestions(_ reading: Reading) {
        reading.ready += shared.withLock { shared in
            defer { shared.waiting = [] }
            return shared.waiting
        }
    }

    private func answer(_ waiting: Waiting, _ reading: Reading, _ now: Int64) {
        switch waiting.question {
        case .list(let filter, let cursor, let limit, let make):
            let (calls, next) = reading.book.page(filter, after: cursor, limit: limit, now: now)
            waiting.reply(make(calls, next))
        case .call(let name, let make):
            if let call = reading.book.call(name, now: now) { return waiting.reply(make(call)) }
            search(name, make, now, waiting.reply)
        }
    }

    /// Looks for a call in all files.
    private func search(
        _ name: String, _ make: @escaping @Sendable (Call) -> Response, _ now: Int64, _ reply: @escaping @Sendable (Response) -> Void
    ) {
        let isTaken = shared.withLock { shared in
            guard shared.searches < Self.mostSearches else { return false }
            shared.searches += 1
            return true
        }
        guard isTaken else { return reply(Self.busy) }
        let (folder, limits, shared) = (folder, limits, shared)
        searching.async {
            var book = CallBook(limits: limits)
            var wanted = LogReader.Wanted()
            wanted.needles = [Array(name.utf8)]
            do throws(ReadFailure) {
                try LogReader(path: folder).read(wanted) { _, bytes in
                    if let record = Self.record(bytes) { book.add(record) }
                    return true
                }
                reply(book.call(name, now: now).map(make) ?? Self.noCall)
            } catch {
                reply(Self.unreadable)
            }
            shared.withLock { $0.searches -= 1 }
        }
    }

    // MARK: The stream

    private func tell(_ reading: Reading, _ now: Int64) {
        let subscribers = shared.withLock { $0.subscribers }
        guard !subscribers.isEmpty else { return }
        let isHeartbeat = DispatchTime.now() >= reading.nextHeartbeat
        if isHeartbeat { reading.nextHeartbeat = .now() + .seconds(Self.heartbeat) }
        for subscriber in subscribers {
            var text: [UInt8] = []
            // A number that the log has not come to is of another log.
            if let last = subscriber.lastSeq, last <= reading.lastSeq {
                for call in reading.book.calls(after: last, now: now) {
                    text.append(contentsOf: "id: \(call.lastSeq)\nevent: call\ndata: ".utf8)
                    call.appendJSON(to: &text, masking: subscriber.masking, steps: false)
                    text.append(contentsOf: "\n\n".utf8)
                }
            } else {
                // So that a reader which is cut off before the first call knows where to go on.
                text.append(contentsOf: "id: \(reading.lastSeq)\nevent: ready\ndata: {}\n\n".utf8)
            }
            if text.isEmpty, isHeartbeat || subscriber.isNew { text.append(contentsOf: ":\n\n".utf8) }
            if !text.isEmpty { subscriber.mailbox.stream(text, to: [subscriber.ticket]) }
        }
        let lastSeq = reading.lastSeq
        let told = Set(subscribers.map(\.identity))
        shared.withLock { shared in
            for index in shared.subscribers.indices where told.contains(shared.subscribers[index].identity) {
                shared.subscribers[index].lastSeq = lastSeq
                shared.subscribers[index].isNew = false
            }
        }
    }

    // MARK: Answers

    private static let busy: Response = {
        var fields = FieldBlock()
        fields.append("Retry-After", "1")
        return .problem(.serviceUnavailable, "Too many ask for calls at once; try again.", fields: fields)
    }()
    private static let unreadable = Response.problem(.serviceUnavailable, "The event log cannot be read; health says why.")
    private static let noCall = Response.problem(.notFound, "The log has no such call.")
}
