// SPDX-License-Identifier: MIT
//
// One worker's handler: finds the route and calls the code of that route, which is in an extension of its own. All buffers are kept from one
// request to the next, so an answer that is made and logged allocates nothing.

import EventLog
import HTTPServer
import HTTPWire
import JSON
import Locking
import NCCO
import VonageAuth

final class RequestHandler: Handler {
    let application: Application
    let mailbox: Mailbox
    let statistics: HandlerStatistics
    /// Nil where OpenSSL is not installed whole: then nobody can log in, and calls go on.
    let sessions: Sessions?

    /// What this worker serves from, until there is something newer.
    private(set) var flows: ServedFlows
    private var flowsVersion: UInt64
    var request = FlowRequest()
    var spareBody: [UInt8] = []
    /// Nil where webhooks are open.
    let checker: WebhookChecker?
    /// How the webhook that is being served came to be taken.
    var signature = WebhookSignature.off
    private var spareRecord = RecordBuffers()

    /// Records on their way to the log, in order of arrival; and who waits for which of them.
    private var batch = LogBatch()
    private var waiting = EventsWaiting()
    /// Replies that must go out at their deadline even if the log has not written their record, the oldest first.
    private var promised: [PromisedReply] = []
    private var batchBytes = 0
    private var lastHandOver = Int64.min / 2
    /// Batches that the log has given back, with the room they have grown to.
    private let spareBatches = Locked<[LogBatch]>([])
    private static let spareLimit = 2
    private let clock: Clock

    /// The record of an answer is handed to the log at once where none was in the last `gatherTime` (ms), else together with those that come
    /// until that time has passed or `gatherBytes` have gathered: nobody waits for it, and waking the log for each would cost as much as the
    /// answer itself. By so much may it stand behind a line of another worker that came later.
    private static let gatherTime: Int64 = 5
    private static let gatherBytes = 128 * 1024
    private static let largestBatch = 1024 * 1024

    init(application: Application, mailbox: Mailbox, statistics: HandlerStatistics, clock: Clock) {
        self.application = application
        self.mailbox = mailbox
        self.statistics = statistics
        self.clock = clock
        sessions = try? Sessions(application.admin)
        flowsVersion = application.flows.currentVersion
        flows = application.flows.current
        checker = application.webhooks.flatMap { try? WebhookChecker($0.verifier) }
    }

    func respond(to head: borrowing RequestHead, bytes: Span<UInt8>, body: Span<UInt8>, exchange: Exchange) throws -> Reply {
        refreshFlows()
        let access = access(head, bytes, body, exchange)
        let isAdmin = access.isAdmin
        switch Routing(head, bytes: bytes, flows: flows.set, isAdmin: isAdmin, opensApps: application.settings.opensApps) {
        case .answered(let response): return .now(crossOrigin(answer(response, access, head, bytes, exchange), head, bytes))
        case .flow(let flow):
            if let refusal = refusal(ofWebhook: head, bytes, body, exchange, isAdmin: isAdmin) { return .now(refusal) }
            return serve(flow, head, bytes, body, exchange, isAdmin: isAdmin)
        case .route(.event):
            if let refusal = refusal(ofWebhook: head, bytes, body, exchange, isAdmin: isAdmin) { return .now(refusal) }
            return event(head, bytes, body, exchange)
        case .route(.health), .route(.healthBehindProxy):
            return .now(application.health(isAdmin: isAdmin, proof: application.proof.proof(asked: head.query, in: bytes)))
        case .route(.metrics): return .now(application.metrics())
        case .route(.openAPI): return .now(OpenAPI.response)
        case .route(.calls): return calls(head, bytes, exchange)
        case .route(.callStream): return callStream(head, bytes, exchange)
        case .route(.home): return home(head, bytes, exchange, access)
        case .route(.login): return .now(login(head, bytes, body, exchange))
        case .route(.loginScript): return .now(Page.loginScript)
        case .route(.logout): return .now(logout(head, bytes, exchange, access))
        case .call(let name): return call(name, head, bytes, exchange)
        case .again(let name): return again(name, head, bytes, body, exchange)
        case .page(let name): return .now(pageFile(name, head, bytes))
        case .route(.setUp): return .now(.personal(Array(setUp(head, bytes, exchange).json.utf8)))
        case .route(.statistics): return .now(application.statistics())
        case .route(.flows): return flowReport(exchange)
        case .route(.explain): return explain(head, body, exchange)
        case .route(.play): return .now(play(head, body))
        case .route(.users): return users(head, bytes, body, exchange)
        case .user(let name): return deleteUser(name, exchange)
        case .userToken(let name): return userToken(name, head, bytes, body, exchange)
        case .route(let route): return app(.route(route), head, bytes, body, exchange, access)
        case .room(let name): return app(.room(name), head, bytes, body, exchange, access)
        }
    }

    func refusal(of head: borrowing RequestHead, bytes: Span<UInt8>, exchange: Exchange) -> Response? {
        let access = access(head, bytes, Span(), isWhole: false, exchange)
        return
            switch Routing(head, bytes: bytes, flows: flows.set, isAdmin: access.isAdmin, opensApps: application.settings.opensApps)
        {
        case .answered(let response): crossOrigin(answer(response, access, head, bytes, exchange), head, bytes)
        case .flow: refusal(ofUnsigned: head, bytes, exchange, isAdmin: access.isAdmin)
        case .route(.event):
            refusal(ofUnsigned: head, bytes, exchange, isAdmin: access.isAdmin) ?? (head.isEncoded ? Self.encodedBody : nil)
        case .route, .call, .again, .page, .user, .userToken, .room: nil
        }
    }

    func refused(_ error: WireError) {
        guard let format = application.lineFormat else { return }
        let line = WebhookLine(wall: clock.wall(), route: "-", status: error.status.rawValue, subject: .error(error.description))
        application.console.print(line.formatted(format))
    }

    func failed(_ error: any Error, _ head: borrowing RequestHead, bytes: Span<UInt8>) -> Response {
        statistics.count(statistics.faults)
        application.errors.print("a request failed by a fault of this server: \(printable("\(error)"))")
        // Who calls hears an apology: an error would end the call without a word.
        guard case .flow = Routing(head, bytes: bytes, flows: flows.set, isAdmin: false) else {
            return .problem(.internalServerError, "This server has a fault; its log says which.")
        }
        return Self.apology
    }

    func flush(now: Int64) -> Int64? {
        let next = handOver(now: now)
        guard let deadline = sendPromised(now: now) else { return next }
        return min(next ?? deadline, deadline)
    }

    /// Sends what has waited long enough; the next deadline.
    private func sendPromised(now: Int64) -> Int64? {
        guard !promised.isEmpty else { return nil }
        var done = 0
        while done < promised.count, promised[done].isSent || promised[done].deadline <= now {
            if promised[done].send(mailbox) { statistics.count(statistics.earlyReplies) }
            done += 1
        }
        promised.removeFirst(done)
        return promised.first?.deadline
    }

    func streamEnded(_ ticket: Ticket) { application.calls.unsubscribe(ticket, mailbox) }

    private func handOver(now: Int64) -> Int64? {
        guard !batch.isEmpty else { return nil }
        if waiting.isEmpty, batchBytes < Self.gatherBytes {
            let next = lastHandOver &+ Self.gatherTime
            if now < next { return next }
        }
        lastHandOver = now
        handOver()
        return nil
    }

    private func handOver() {
        let (full, waiters) = (batch, waiting)
        batch = spareBatches.withLock { $0.popLast() } ?? LogBatch()
        waiting = EventsWaiting()
        batchBytes = 0
        let (mailbox, application, statistics, clock, spareBatches) = (mailbox, application, statistics, clock, spareBatches)
        application.log.submit(full) { batch in
            waiters.complete(batch.outcome, mailbox: mailbox, application: application, statistics: statistics, now: clock.monotonic())
            batch.clear()
            spareBatches.withLock { if $0.count < Self.spareLimit { $0.append(batch) } }
        }
    }

    // MARK: For the routes

    /// Monotonic milliseconds.
    var milliseconds: Int64 { clock.monotonic() / 1000 }

    /// Microseconds since the request was whole.
    func elapsed(_ exchange: Exchange) -> Int64 { clock.monotonic() - exchange.began }

    /// Empty buffers for a record. They go back with `keep` or `commit`, and are a variable meanwhile: appending to the property of a class is
    /// checked for exclusive access each time.
    func takeRecord() -> RecordBuffers {
        var record = RecordBuffers()
        swap(&record, &spareRecord)
        record.head.removeAll(keepingCapacity: true)
        record.tail.removeAll(keepingCapacity: true)
        return record
    }

    /// Hands a record to the log that nobody waits for.
    func keep(_ record: consuming RecordBuffers, at wall: Int64) { append(record, nil, at: wall, keep: true) }

    /// Hands over an event, of whose tail the first `repeatLength` bytes are the event; `waiter` gets the answer. False where it is too long.
    func commit(
        _ record: consuming RecordBuffers, _ repeatLength: Int, at wall: Int64, for waiter: EventsWaiting.Waiter
    ) -> Bool {
        // The call goes on with what the flow says, so the record must stay even if the disk fails.
        guard append(record, repeatLength, at: wall, keep: waiter.reply != nil) else { return false }
        waiting.append(waiter)
        if let reply = waiter.reply { promised.append(reply) }
        return true
    }

    /// - Parameter repeatLength: nil for what is no event.
    @discardableResult
    private func append(_ record: consuming RecordBuffers, _ repeatLength: Int?, at wall: Int64, keep: Bool) -> Bool {
        // A round of many large events is handed over in parts: one that is larger than the log's queue would be refused whole.
        if batchBytes > Self.largestBatch { handOver() }
        batchBytes += record.head.count + record.tail.count
        let isEvent = repeatLength != nil
        let fits = batch.append(
            at: wall, keep: keep, syncs: isEvent, detectsRepeat: isEvent, repeatLength: repeatLength, head: record.head.span,
            tail: record.tail.span)
        spareRecord = record
        return fits
    }

    private func refreshFlows() {
        let version = application.flows.currentVersion
        guard version != flowsVersion else { return }
        // The one lock on this way, once for each change of the folder, and held elsewhere for no longer than it takes to store a reference.
        flows = application.flows.current
        flowsVersion = version
    }

    private static let apology: Response = {
        let label = AnswerLabel("fallback#1 apology", warning: "the server has a fault")
        var body: [UInt8] = []
        _ = try? minifyJSON(Array(DefaultFlows.apology.utf8).span, into: &body)
        return Response(.ok, fields: label.fields, body: body)
    }()

    static let encodedBody: Response = {
        var fields = FieldBlock()
        fields.append("Accept-Encoding", "identity")
        return .problem(.unsupportedMediaType, "Send the body without Content-Encoding.", fields: fields)
    }()
}
