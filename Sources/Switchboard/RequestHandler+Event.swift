// SPDX-License-Identifier: MIT
//
// `/voice/event`: 200 once the event is durable. It is kept as it came, minified: key order, number text, unknown fields and nulls. What is not
// JSON is kept too, as `malformed`, and answered 400; what could not be kept is 503, which Vonage sends once more.

import EventLog
import HTTPServer
import HTTPWire
import JSON
import Synchronization

extension RequestHandler {
    /// What stands between the head of an event's record and the event.
    private static var eventName: StaticString { #","event":"# }

    func event(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ body: Span<UInt8>, _ exchange: Exchange) -> Reply {
        if head.method == .get {
            guard let query = head.query, !query.isEmpty else { return malformed(body, "the query is empty", exchange, keeps: false) }
            return formEvent(query, bytes, exchange)
        }
        guard !head.isEncoded else { return .now(Self.encodedBody) }
        switch WebhookParameters.kind(of: body, contentType: head.contentType, in: bytes) {
        case .empty: return malformed(body, "the body is empty", exchange, keeps: body.count > 0)
        case .form: return formEvent(0..<body.count, body, exchange)
        case .json: return jsonEvent(body, exchange)
        }
    }

    private func jsonEvent(_ body: Span<UInt8>, _ exchange: Exchange) -> Reply {
        var record = takeRecord()
        record.tail.append(Self.eventName)
        let summary: JSONSummary
        do {
            summary = try minifyJSON(body, into: &record.tail)
        } catch {
            return malformed(body, error.description, answering: "\(error.position): expected \(error.expected)", exchange, keeps: true)
        }
        return commit(record, hasRepeatedKey: summary.duplicateKey != nil, body, exchange)
    }

    /// Names and values become an object of strings.
    private func formEvent(_ range: Range<Int>, _ text: Span<UInt8>, _ exchange: Exchange) -> Reply {
        // Without a body there is no JSON to be wrong.
        try? parameters.read(query: range, body: Span(), contentType: nil, in: text)
        var record = takeRecord()
        record.tail.append(Self.eventName)
        parameters.appendObject(to: &record.tail, keepsRepeats: true)
        let original = text.extracting(range)
        if parameters.isLossy { record.tail.appendRaw(original) }
        return commit(record, hasRepeatedKey: parameters.hasRepeatedName, original, exchange)
    }

    /// Hands a record to the log whose tail begins with the event.
    private func commit(_ record: consuming RecordBuffers, hasRepeatedKey: Bool, _ original: Span<UInt8>, _ exchange: Exchange) -> Reply {
        let tail = record.tail
        let json = tail.span.extracting(Self.eventName.utf8CodeUnitCount..<tail.count)
        let summary = EventSummary(json)
        summary.appendHead(json: json, to: &record.head)
        var waiter = EventsWaiting.Waiter(ticket: exchange.ticket, began: exchange.began, hasRepeatedKey: hasRepeatedKey)
        if application.lineFormat != nil { waiter.line = line(summary, json, exchange) }
        guard commit(record, at: exchange.wall, for: waiter) else {
            return malformed(original, "the event is too long to be kept as one line", exchange, keeps: false)
        }
        return .later
    }

    /// - Parameter answering: what the sender is told, where `error` shows something of the body.
    private func malformed(_ body: Span<UInt8>, _ error: String, answering: String? = nil, _ exchange: Exchange, keeps: Bool) -> Reply {
        statistics.count(statistics.malformedEvents)
        if keeps {
            var record = takeRecord()
            record.head.append(RecordKind.malformed.opening)
            record.head.append(#"null,"leg":null,"status":null,"signature":"off""#)
            record.tail.appendRaw(body)
            record.tail.append(#","error":"#)
            record.tail.appendJSONString(error)
            keep(record, at: exchange.wall)
        }
        if let format = application.lineFormat {
            let line = WebhookLine(
                wall: exchange.wall, route: "event", status: 400, subject: .error("malformed: \(error)"), micros: elapsed(exchange)
            )
            application.console.print(line.formatted(format))
        }
        return .now(.problem(.badRequest, "This is no event: \(answering ?? error)."))
    }

    private func line(_ summary: EventSummary, _ json: Span<UInt8>, _ exchange: Exchange) -> WebhookLine {
        /// The decoded text of a string, or the digits of a number.
        func text(_ value: Range<Int>) -> [UInt8] {
            var text: [UInt8] = []
            if json[value.lowerBound] == UInt8(ascii: "\"") {
                decodeJSONString(value.lowerBound + 1..<value.upperBound - 1, in: json, into: &text)
            } else {
                for at in value { text.append(json[at]) }
            }
            return text
        }
        func party(_ value: Range<Int>?) -> WebhookLine.Party? { value.flatMap { WebhookLine.party(text($0).span) } }
        let status = summary.status.map { WebhookLine.shown(text($0).span) }
        return WebhookLine(
            wall: exchange.wall, route: "event", status: 200, subject: .event(status ?? summary.kind?.description ?? "event"),
            from: party(summary.from), to: party(summary.to))
    }
}

/// Requests whose answer hangs on one batch of the log.
struct EventsWaiting: Sendable {
    struct Waiter: Sendable {
        let ticket: Ticket
        /// Monotonic microseconds.
        let began: Int64
        /// An object of the event has a key twice: kept as it came, and said.
        let hasRepeatedKey: Bool
        var line: WebhookLine?
    }

    private var waiters: [Waiter] = []

    var isEmpty: Bool { waiters.isEmpty }
    mutating func append(_ waiter: Waiter) { waiters.append(waiter) }

    /// On the log's queue: the batch is durable, or is not.
    func complete(_ outcome: LogBatch.Outcome, mailbox: Mailbox, application: Application, statistics: HandlerStatistics, now: Int64) {
        guard !waiters.isEmpty else { return }
        let isDurable = outcome == .durable
        if isDurable {
            statistics.events.add(waiters.count, ordering: .relaxed)
            mailbox.complete(waiters.filter { !$0.hasRepeatedKey }.map(\.ticket), with: Self.kept)
            mailbox.complete(waiters.filter(\.hasRepeatedKey).map(\.ticket), with: Self.keptWithWarning)
        } else {
            statistics.refusedEvents.add(waiters.count, ordering: .relaxed)
            mailbox.complete(waiters.map(\.ticket), with: Self.notKept)
        }
        guard let format = application.lineFormat else { return }
        for waiter in waiters {
            guard var line = waiter.line else { continue }
            line.status = isDurable ? 200 : 503
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
