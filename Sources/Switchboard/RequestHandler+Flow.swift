// SPDX-License-Identifier: MIT
//
// `/voice/answer`, `/voice/fallback` and every other flow: always 200 and always an NCCO for whoever asks what to do with a call. Vonage tries a
// refused answer request no second time, so whatever cannot be connected, or read, is spoken. Where an event comes in at a flow, such as that
// of an `input`, it is kept like all events, and answered by what the flow has for it: see `RequestHandler+Event.swift`.

import EventLog
import HTTPServer
import HTTPWire
import JSON
import NCCO

extension RequestHandler {
    func serve(
        _ flow: Int, _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ body: Span<UInt8>, _ exchange: Exchange, isAdmin: Bool
    ) -> Reply {
        // A variable while it is worked on: the property of a class is checked for exclusive access at each touch.
        var request = FlowRequest()
        swap(&request, &self.request)
        defer { swap(&request, &self.request) }
        var problem: String?
        if head.isEncoded, body.count > 0 {
            problem = "the body has a Content-Encoding; send it without"
        } else {
            do {
                try request.parameters.read(
                    query: head.query, body: head.method == .post ? body : Span(), contentType: head.contentType, in: bytes,
                    vouchesForBody: signature == .verified)
            } catch {
                problem = error.description
            }
        }
        let set = flows.set
        request.begin(slots: set.paths.count, now: exchange.wall / 1000)
        // What can't be read says nothing that a rule could go by.
        let asked = problem == nil ? flow : FlowSet.fallback
        let baseURL = baseURL(of: asked, head, bytes, exchange)
        if isAdmin, problem == nil, request.parameters.asksForExplanation { return .now(explanation(flow, baseURL, &request, exchange)) }
        if problem == nil, head.method != .head, flow != FlowSet.fallback, request.parameters.mayBeEvent,
            let reply = event(at: flow, baseURL, &request, head, bytes, body, exchange)
        {
            return reply
        }

        var ncco: [UInt8] = []
        swap(&ncco, &spareBody)
        ncco.removeAll(keepingCapacity: true)
        // Whoever encodes the response lets go of it before the next one is made, so that the buffer is not copied.
        defer { spareBody = ncco }
        var served =
            set.serve(asked, &request, baseURL: baseURL, into: &ncco)
            ?? set.serveNoRule(asked, &request, baseURL: baseURL, into: &ncco)
        // Who only looks makes no call.
        if head.method != .head { served = limited(served, asked, &request, exchange, baseURL: baseURL, into: &ncco) }
        let label = problem == nil ? served.label : AnswerLabel(served.label.flow, warning: "the request body cannot be read")
        if head.method != .head {
            let micros = elapsed(exchange)
            statistics.count(statistics.answers)
            statistics.answerTimes.count(micros)
            if problem != nil { statistics.count(statistics.unreadableAnswers) }
            if served.isRefusal { statistics.count(statistics.cannotConnect) }
            if application.settings.logsAnswers {
                // What could not be read, or shown as it came.
                let source = problem != nil || request.parameters.bodyIsLossy ? body : bytes.extracting(head.query ?? 0..<0)
                record(flow, request.parameters, served, label, ncco, problem, source, micros, exchange)
            }
            if let format = application.lineFormat { printLine(flow, request.parameters, label, served.problem, micros, exchange, format) }
        }
        return .now(Response(.ok, fields: label.fields, body: ncco))
    }

    private func record(
        _ flow: Int, _ parameters: borrowing WebhookParameters, _ served: Served, _ label: AnswerLabel, _ ncco: [UInt8], _ problem: String?,
        _ source: Span<UInt8>, _ micros: Int64, _ exchange: Exchange
    ) {
        var record = takeRecord()
        let kind = flow == FlowSet.fallback ? RecordKind.fallback : .answer
        record.head.append(kind.opening)
        parameters.appendJSONString(of: "conversation_uuid", to: &record.head)
        record.head.append(#","leg":"#)
        parameters.appendJSONString(of: "uuid", to: &record.head)
        record.head.append(#","status":null"#)
        record.head.append(signature.member)

        record.tail.append(#","request":"#)
        parameters.appendObject(to: &record.tail)
        record.tail.append(contentsOf: label.members)
        record.tail.append(contentsOf: ncco)
        record.tail.append(#","micros":"#)
        record.tail.appendDecimal(Int(micros))
        if problem != nil || parameters.isLossy { record.tail.appendRaw(source) }
        if let error = problem ?? served.problem {
            record.tail.append(#","error":"#)
            record.tail.appendJSONString(error)
        }
        keep(record, at: exchange.wall)
    }

    private func printLine(
        _ flow: Int, _ parameters: borrowing WebhookParameters, _ label: AnswerLabel, _ problem: String?, _ micros: Int64,
        _ exchange: Exchange, _ format: Settings.LogFormat
    ) {
        let line = WebhookLine(
            wall: exchange.wall, route: flows.set.flows[flow].name, status: 200,
            subject: .flow(label.flow + (problem.map { " (\($0))" } ?? "")),
            from: party("from_user", parameters) ?? party("from", parameters),
            to: party("to", parameters), micros: micros)
        application.console.print(line.formatted(format))
    }

    private func party(_ name: StaticString, _ parameters: borrowing WebhookParameters) -> WebhookLine.Party? {
        let decoded = parameters.decoded.bytes
        return parameters.value(of: name).flatMap { WebhookLine.party(decoded.span.extracting($0)) }
    }

    /// For now, or for the moment that `explain_at` names.
    private func explanation(_ flow: Int, _ baseURL: [UInt8], _ request: inout FlowRequest, _ exchange: Exchange) -> Response {
        if let value = request.parameters.value(of: "explain_at") {
            let text = String(decoding: request.parameters.decoded.bytes[value], as: UTF8.self)
            guard let time = TimeArgument.milliseconds(text, now: exchange.wall) else {
                return .problem(.badRequest, "explain_at is no time; write \(TimeArgument.allowed).")
            }
            request.begin(slots: flows.set.paths.count, now: time / 1000)
        }
        let text = FlowExplanation(flow: flow, flows.set, baseURL: baseURL, &request).text
        return Response(.ok, contentType: .text, body: Array(text.utf8))
    }
}
