// SPDX-License-Identifier: MIT
//
// `/voice/answer` and `/voice/fallback`: always 200 and always an NCCO. Vonage tries a refused answer request no second time, so whatever cannot
// be connected, or read, is spoken.

import HTTPServer
import HTTPWire
import JSON

extension RequestHandler {
    func answer(_ kind: RecordKind, _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ body: Span<UInt8>, _ exchange: Exchange) -> Reply
    {
        var problem: String?
        if head.isEncoded, body.count > 0 {
            problem = "the body has a Content-Encoding; send it without"
        } else {
            do {
                try parameters.read(query: head.query, body: head.method == .post ? body : Span(), contentType: head.contentType, in: bytes)
            } catch {
                problem = error.description
            }
        }
        let decision: Decision
        if problem != nil {
            statistics.count(statistics.unreadableAnswers)
            decision = Decision(template: application.flow.unreadable, gap: .none)
        } else if kind == .fallback {
            decision = Decision(template: application.flow.apology, gap: .none)
        } else {
            decision = application.flow.decide(parameters.call())
        }
        var ncco: [UInt8] = []
        swap(&ncco, &spareBody)
        ncco.removeAll(keepingCapacity: true)
        decision.template.render(decision.gap, into: &ncco)
        // Whoever encodes the response lets go of it before the next one is made, so that the buffer is not copied.
        defer { spareBody = ncco }
        if head.method != .head {
            statistics.count(statistics.answers)
            if decision.template.isRefusal { statistics.count(statistics.cannotConnect) }
            if application.settings.logsAnswers {
                // What could not be read, or shown as it came.
                let source = problem != nil || parameters.bodyIsLossy ? body : bytes.extracting(head.query ?? 0..<0)
                record(kind, decision, ncco, problem, source, exchange)
            }
            if let format = application.lineFormat { printLine(kind, decision, exchange, format) }
        }
        return .now(Response(.ok, fields: decision.template.fields, body: ncco))
    }

    private func record(
        _ kind: RecordKind, _ decision: Decision, _ ncco: [UInt8], _ problem: String?, _ source: Span<UInt8>, _ exchange: Exchange
    ) {
        var record = takeRecord()
        record.head.append(kind.opening)
        parameters.appendJSONString(of: "conversation_uuid", to: &record.head)
        record.head.append(#","leg":"#)
        parameters.appendJSONString(of: "uuid", to: &record.head)
        record.head.append(#","status":null,"signature":"off""#)

        record.tail.append(#","request":"#)
        parameters.appendObject(to: &record.tail)
        record.tail.append(contentsOf: decision.template.flowMembers)
        record.tail.append(contentsOf: ncco)
        record.tail.append(#","micros":"#)
        record.tail.appendDecimal(Int(elapsed(exchange)))
        if problem != nil || parameters.isLossy { record.tail.appendRaw(source) }
        if let problem {
            record.tail.append(#","error":"#)
            record.tail.appendJSONString(problem)
        }
        keep(record, at: exchange.wall)
    }

    private func printLine(_ kind: RecordKind, _ decision: Decision, _ exchange: Exchange, _ format: Settings.LogFormat) {
        let decoded = parameters.decoded.bytes
        func party(_ name: StaticString) -> WebhookLine.Party? {
            parameters.value(of: name).flatMap { WebhookLine.party(decoded.span.extracting($0)) }
        }
        let line = WebhookLine(
            wall: exchange.wall, route: kind.rawValue, status: 200, subject: .flow(decision.template.flow),
            from: party("from_user") ?? party("from"), to: party("to"), micros: elapsed(exchange))
        application.console.print(line.formatted(format))
    }
}
