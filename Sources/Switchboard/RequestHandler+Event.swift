// SPDX-License-Identifier: MIT
//
// Events, at `/voice/event` and at flows: 200 once the event is durable. It is kept as it came, minified: key order, number text, unknown fields
// and nulls. What is not JSON is kept too, as `malformed`, and answered 400; what could not be kept is 503, which Vonage sends once more.
//
// Some events ask what to do next. Where a flow has an NCCO for one, it stands behind the event in the record, and goes out when that is
// durable or after 50 ms, whichever is first: a disk that hangs must not lose a call. Its record is kept like that of an answer.

import EventLog
import HTTPServer
import HTTPWire
import JSON
import Synchronization

extension RequestHandler {
    /// What stands between the head of an event's record and the event.
    private static var eventName: StaticString { #","event":"# }

    func event(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ body: Span<UInt8>, _ exchange: Exchange) -> Reply {
        let flow = flows.set.event
        var request = FlowRequest()
        swap(&request, &self.request)
        defer { swap(&request, &self.request) }
        if let flow { request.baseURL = baseURL(of: flow, head, bytes, exchange) }
        if head.method == .get {
            guard let query = head.query, !query.isEmpty else { return malformed(body, "the query is empty", exchange, keeps: false) }
            return formEvent(query, bytes, nil, bytes, flow, &request, exchange)
        }
        guard !head.isEncoded else { return .now(Self.encodedBody) }
        switch WebhookParameters.kind(of: body, contentType: head.contentType, in: bytes) {
        case .empty: return malformed(body, "the body is empty", exchange, keeps: body.count > 0)
        case .form: return formEvent(0..<body.count, body, head.query, bytes, flow, &request, exchange)
        case .json:
            // Only a flow asks for single parameters.
            if flow != nil {
                try? request.parameters.read(
                    query: head.query, body: body, contentType: head.contentType, in: bytes, vouchesForBody: signature == .verified)
            }
            return jsonEvent(body, flow, &request, exchange)
        }
    }

    /// An event that came in at a flow; nil where the request is none after all. The parameters have been read.
    func event(
        at flow: Int, _ baseURL: [UInt8], _ request: inout FlowRequest, _ head: borrowing RequestHead, _ bytes: Span<UInt8>,
        _ body: Span<UInt8>, _ exchange: Exchange
    ) -> Reply? {
        var json: [UInt8] = []
        let isJSON =
            head.method == .post && WebhookParameters.kind(of: body, contentType: head.contentType, in: bytes) == .json
            && (try? minifyJSON(body, into: &json)) != nil
        if !isJSON { request.parameters.appendObject(to: &json, keepsRepeats: true) }
        guard EventSummary(json.span).isEvent(json.span) else { return nil }
        request.baseURL = baseURL
        if isJSON { return jsonEvent(body, flow, &request, exchange) }
        if head.method == .post, body.count > 0 { return formEvent(0..<body.count, body, head.query, bytes, flow, &request, exchange) }
        return formEvent(head.query ?? 0..<0, bytes, nil, bytes, flow, &request, exchange)
    }

    private func jsonEvent(_ body: Span<UInt8>, _ flow: Int?, _ request: inout FlowRequest, _ exchange: Exchange) -> Reply {
        var record = takeRecord()
        record.tail.append(Self.eventName)
        let summary: JSONSummary
        do {
            summary = try minifyJSON(body, into: &record.tail)
        } catch {
            return malformed(body, error.description, answering: "\(error.position): expected \(error.expected)", exchange, keeps: true)
        }
        return commit(record, record.tail.count, flow, &request, hasRepeatedKey: summary.duplicateKey != nil, body, exchange)
    }

    /// Names and values become an object of strings.
    ///
    /// - Parameter query: of a form that has one beside it: no part of the event, but a flow may ask for what its own URL says.
    private func formEvent(
        _ range: Range<Int>, _ text: Span<UInt8>, _ query: Range<Int>?, _ bytes: Span<UInt8>, _ flow: Int?,
        _ request: inout FlowRequest, _ exchange: Exchange
    ) -> Reply {
        // Without a body there is no JSON to be wrong.
        try? request.parameters.read(query: range, body: Span(), contentType: nil, in: text)
        var record = takeRecord()
        record.tail.append(Self.eventName)
        request.parameters.appendObject(to: &record.tail, keepsRepeats: true)
        let end = record.tail.count
        let original = text.extracting(range)
        if request.parameters.isLossy { record.tail.appendRaw(original) }
        let hasRepeatedName = request.parameters.hasRepeatedName
        if flow != nil, let query { request.parameters.add(query: query, in: bytes, ownOnly: signature == .verified) }
        return commit(record, end, flow, &request, hasRepeatedKey: hasRepeatedName, original, exchange)
    }

    /// Hands a record to the log whose tail begins with the event, which ends at `end`.
    private func commit(
        _ record: consuming RecordBuffers, _ end: Int, _ flow: Int?, _ request: inout FlowRequest, hasRepeatedKey: Bool,
        _ original: Span<UInt8>, _ exchange: Exchange
    ) -> Reply {
        let tail = record.tail
        let json = tail.span.extracting(Self.eventName.utf8CodeUnitCount..<end)
        let summary = EventSummary(json)
        summary.appendHead(json: json, signature, to: &record.head)
        var waiter = EventsWaiting.Waiter(ticket: exchange.ticket, began: exchange.began, hasRepeatedKey: hasRepeatedKey)
        if application.lineFormat != nil { waiter.line = line(summary, json, exchange) }
        let repeatLength = tail.count
        if let flow, summary.mayCarryNCCO(json), let (reply, label) = next(flow, &request, &record, exchange) {
            waiter.reply = reply
            if case .event(let status)? = waiter.line?.subject { waiter.line?.subject = .answeredEvent(status, flow: label.flow) }
        }
        guard commit(record, repeatLength, at: exchange.wall, for: waiter) else {
            return malformed(original, "the event is too long to be kept as one line", exchange, keeps: false)
        }
        return .later
    }

    /// The NCCO that a flow has for an event, noted in the record; nil where no rule holds.
    private func next(
        _ flow: Int, _ request: inout FlowRequest, _ record: inout RecordBuffers, _ exchange: Exchange
    ) -> (reply: PromisedReply, label: AnswerLabel)? {
        let set = flows.set
        request.begin(slots: set.paths.count, now: exchange.wall / 1000)
        var ncco: [UInt8] = []
        let baseURL = request.baseURL
        guard var served = set.serve(flow, &request, baseURL: baseURL, into: &ncco) else { return nil }
        served = limited(served, flow, &request, exchange, baseURL: baseURL, into: &ncco)
        record.tail.append(contentsOf: served.label.members)
        record.tail.append(contentsOf: ncco)
        if let warning = served.problem {
            record.tail.append(#","error":"#)
            record.tail.appendJSONString(warning)
        }
        let reply = PromisedReply(
            ticket: exchange.ticket, response: Response(.ok, fields: served.label.fields, body: ncco),
            deadline: exchange.began / 1000 + PromisedReply.patience)
        return (reply, served.label)
    }

    /// - Parameter answering: what the sender is told, where `error` shows something of the body.
    private func malformed(_ body: Span<UInt8>, _ error: String, answering: String? = nil, _ exchange: Exchange, keeps: Bool) -> Reply {
        statistics.count(statistics.malformedEvents)
        if keeps {
            var record = takeRecord()
            record.head.append(RecordKind.malformed.opening)
            record.head.append(#"null,"leg":null,"status":null"#)
            record.head.append(signature.member)
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
