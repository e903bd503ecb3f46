// SPDX-License-Identifier: MIT
//
// A played call for people, a line for each thing that happens, and for tools, a JSON object for each. Numbers stand as they are: who plays a call
// has made them up. What came from a server is quoted, so that it cannot steer a terminal.

import JSON
import NCCO

package enum CallReport {
    /// `   1.600  presses 1`; nil for what another line says already.
    package static func line(_ step: PlayedStep) -> String? {
        words(step.what).map { "\(time(step.at))  \($0)" }
    }

    /// Seconds with milliseconds, right-aligned to 9 columns.
    private static func time(_ milliseconds: Int64) -> String {
        let rest = String(milliseconds % 1000)
        let text = "\(milliseconds / 1000).\(String(repeating: "0", count: max(3 - rest.utf8.count, 0)))\(rest)"
        return String(repeating: " ", count: max(9 - text.utf8.count, 0)) + text
    }

    private static func words(_ what: PlayedStep.What) -> String? {
        switch what {
        case .exchange(let exchange): shown(exchange)
        case .action(let name, let number, let count, let callee):
            // The others have lines of their own.
            ["input", "notify", "wait"].contains(name) ? "\(listener(callee))\(name), action \(number) of \(count)" : nil
        case .hears(let text, let callee): "\(callee.map { "\(plain($0)) hears" } ?? "hears") \(spokenQuote(text))"
        case .plays(let url, let callee): "\(callee.map { "\(plain($0)) hears" } ?? "hears") the file \(plain(url))"
        case .presses(let keys): "presses \(plain(keys))"
        case .says(let words): "says \(spokenQuote(words))"
        case .stays: "does nothing"
        case .rings(let party, let from): "rings \(party.type) \(plain(party.name))\(from.map { ", from \(plain($0))" } ?? "")"
        case .joins(let name): "talks with \(plain(name))"
        case .enters(let name): "enters the conversation \(printable(name))"
        case .leg: nil
        case .hangsUp(let callee, let platform):
            "\(platform ? "Vonage hangs up on" : "") \(callee.map(plain) ?? "the caller")\(platform ? "" : " hangs up")"
                .trimmingBlanks
        case .records(let format): "is recorded as \(format)"
        case .complaint(let complaint): line(complaint)
        }
    }

    private static func listener(_ callee: String?) -> String { callee.map { "\(plain($0)): " } ?? "" }

    /// `refused: what is wrong; what would be right`.
    package static func line(_ complaint: Complaint) -> String {
        "\(complaint.severity.text): \(complaint.text)\(complaint.cure.isEmpty ? "" : "; \(complaint.cure)")"
    }

    private static func shown(_ exchange: PlayedExchange) -> String {
        let request = exchange.request
        var text: String
        if let event = request.event {
            text = "event \(plain(event))"
            if let name = legName(request) { text += " (\(plain(name)))" }
        } else {
            text = "\(request.address.method.rawValue) \(plain(request.address.url))"
        }
        if request.attempt > 1 { text += ", once more" }
        for words in exchange.trouble { text += " [\(words)]" }
        switch exchange.outcome {
        case .lost: return text
        case .failure(let failure, let micros): return "\(text) → \(failure.text) (\(shown(micros)))"
        case .reply(let reply):
            let rule = reply.rule.map { ", \(plain($0))" } ?? ""
            let warning = reply.warning.map { ", warning: \(plain($0))" } ?? ""
            return "\(text) → \(reply.status) (\(shown(reply.micros)))\(rule)\(warning)"
        }
    }

    /// Whom an event is about.
    private static func legName(_ request: PlayedRequest) -> String? {
        let fields = request.fields
        guard request.event != nil, fields.text("direction") == "outbound" || fields.text("call_uuid") != nil else { return nil }
        return fields.text("to")
    }

    /// Without the quotes of `printable`.
    static func plain(_ text: String) -> String { String(printable(text).dropFirst().dropLast()) }

    /// `0.4 ms`, `312 ms`.
    package static func shown(_ micros: Int64) -> String {
        micros >= 10_000 ? "\((micros + 500) / 1000) ms" : "\((micros + 50) / 1000).\((micros + 50) % 1000 / 100) ms"
    }
}

extension String {
    fileprivate var trimmingBlanks: String { String(drop { $0 == " " }) }
}

// MARK: JSON

extension CallReport {
    /// One object without a line end: `{"at":1.6,"what":"presses","keys":"1"}`; `at` in seconds since the call began.
    package static func json(_ step: PlayedStep) -> [UInt8] {
        var node: KeyValuePairs<String, JSONNode?>
        switch step.what {
        case .exchange(let exchange): return json(exchange, at: step.at)
        case .action(let name, let number, let count, let callee):
            node = ["action": .text(name), "number": .number(number), "of": .number(count), "callee": .optionalText(callee)]
        case .hears(let text, let callee): node = ["hears": .text(text), "callee": .optionalText(callee)]
        case .plays(let url, let callee): node = ["plays": .text(url), "callee": .optionalText(callee)]
        case .presses(let keys): node = ["presses": .text(keys)]
        case .says(let words): node = ["says": .text(words)]
        case .stays: node = ["stays": .bool(true)]
        case .rings(let party, let from): node = ["rings": .text(party.name), "type": .text(party.type), "from": .optionalText(from)]
        case .joins(let name): node = ["joins": .text(name)]
        case .enters(let name): node = ["enters": .text(name)]
        case .leg(let callee, let uuid, let status, let detail):
            node = ["leg": .text(uuid), "callee": .optionalText(callee), "status": .text(status), "detail": .optionalText(detail)]
        case .hangsUp(let callee, let platform):
            node = ["hangs_up": .text(platform ? "platform" : "user"), "callee": .optionalText(callee)]
        case .records(let format): node = ["records": .text(format)]
        case .complaint(let complaint): node = ["complaint": self.node(complaint)]
        }
        return object(step.at, node)
    }

    /// A time in front of members.
    private static func object(_ at: Int64, _ members: KeyValuePairs<String, JSONNode?>) -> [UInt8] {
        var all = [JSONNode.Member("at", seconds(at))]
        all += members.compactMap { name, value in value.map { JSONNode.Member(name, $0) } }
        return printable(json: JSONNode(.object(all), at: 0..<0).json)
    }

    private static func seconds(_ milliseconds: Int64) -> JSONNode {
        JSONNode(.number(time(milliseconds).trimmingBlanks), at: 0..<0)
    }

    static func node(_ complaint: Complaint) -> JSONNode {
        .object([
            "severity": .text(complaint.severity.text), "text": .text(complaint.text),
            "cure": complaint.cure.isEmpty ? nil : .text(complaint.cure), "request": complaint.request.map { .number($0) },
        ])
    }

    private static func json(_ exchange: PlayedExchange, at: Int64) -> [UInt8] {
        let request = exchange.request
        var outcome: JSONNode
        switch exchange.outcome {
        case .lost: outcome = .object(["lost": .bool(true)])
        case .failure(let failure, let micros): outcome = .object(["failure": .text(failure.rawValue), "ms": milliseconds(micros)])
        case .reply(let reply):
            outcome = .object([
                "status": .number(reply.status), "content_type": .optionalText(reply.contentType), "rule": .optionalText(reply.rule),
                "warning": .optionalText(reply.warning), "ms": milliseconds(reply.micros), "body": body(reply.body),
            ])
        }
        return object(
            at,
            [
                "request": .number(request.number), "kind": .text(request.kind.rawValue), "event": .optionalText(request.event),
                "method": .text(request.address.method.rawValue), "url": .text(request.address.url), "attempt": .number(request.attempt),
                "leg": .optionalText(request.leg), "fields": try? parseJSON(request.fields.json.span, maximumDepth: 64),
                "trouble": exchange.trouble.isEmpty ? nil : .list(exchange.trouble.map { .text($0) }), "answer": outcome,
            ])
    }

    private static func milliseconds(_ micros: Int64) -> JSONNode {
        let rest = String(micros % 1000)
        return JSONNode(.number("\(micros / 1000).\(String(repeating: "0", count: max(3 - rest.utf8.count, 0)))\(rest)"), at: 0..<0)
    }

    /// As JSON where it is some, else as text, at most 4 KiB of it.
    private static func body(_ body: [UInt8]) -> JSONNode? {
        guard !body.isEmpty else { return nil }
        if let node = try? parseJSON(body.span, maximumDepth: 64) { return node }
        return .text(String(decoding: body.prefix(4096), as: UTF8.self))
    }
}
