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
        if isEncoded(head, bytes), body.count > 0 {
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
        self.body.removeAll(keepingCapacity: true)
        decision.template.render(decision.gap, into: &self.body)
        if head.method != .head {
            statistics.count(statistics.answers)
            if decision.template.isRefusal { statistics.count(statistics.cannotConnect) }
            if application.settings.logsAnswers {
                // Where the parameters came from, should they have to be kept as they came.
                let source = body.count > 0 ? body : bytes.extracting(head.query ?? 0..<0)
                record(kind, decision, problem, source, exchange)
            }
            if let format = application.lineFormat { printLine(kind, decision, exchange, format) }
        }
        return .now(Response(.ok, fields: decision.template.fields, body: self.body))
    }

    private func record(_ kind: RecordKind, _ decision: Decision, _ problem: String?, _ source: Span<UInt8>, _ exchange: Exchange) {
        recordHead.removeAll(keepingCapacity: true)
        recordHead.append(contentsOf: Literals.kind)
        recordHead.append(contentsOf: kind.bytes)
        recordHead.append(contentsOf: Literals.call)
        parameters.appendJSONString(of: "conversation_uuid", to: &recordHead)
        recordHead.append(contentsOf: Literals.leg)
        parameters.appendJSONString(of: "uuid", to: &recordHead)
        recordHead.append(contentsOf: Literals.status)
        recordHead.append(contentsOf: Literals.null)
        recordHead.append(contentsOf: Literals.signatureOff)

        recordTail.removeAll(keepingCapacity: true)
        recordTail.append(contentsOf: Literals.request)
        parameters.appendObject(to: &recordTail)
        recordTail.append(contentsOf: Literals.flow)
        recordTail.append(contentsOf: decision.template.flow.utf8)
        recordTail.append(contentsOf: Literals.ncco)
        recordTail.append(contentsOf: self.body)
        recordTail.append(contentsOf: Literals.micros)
        recordTail.appendDecimal(Int(elapsed(exchange)))
        if problem != nil || parameters.isLossy { recordTail.appendRaw(source) }
        if let problem {
            recordTail.append(contentsOf: Literals.error)
            recordTail.appendJSONString(problem)
        }
        keepRecord(at: exchange.wall)
    }

    private func printLine(_ kind: RecordKind, _ decision: Decision, _ exchange: Exchange, _ format: Settings.LogFormat) {
        let decoded = parameters.decoded.bytes
        func party(_ name: StaticString) -> String { parameters.value(of: name).map { WebhookLine.party($0, in: decoded.span) } ?? "-" }
        let fromUser = party("from_user")
        let line = WebhookLine(
            wall: exchange.wall, route: kind.rawValue, status: 200, what: decision.template.flow,
            from: fromUser == "-" ? party("from") : fromUser, to: party("to"), micros: elapsed(exchange))
        application.console.print(line.formatted(format))
    }
}
