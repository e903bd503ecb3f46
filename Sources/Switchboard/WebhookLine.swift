// SPDX-License-Identifier: MIT
//
// The line that is printed for each webhook: text to read beside a ringing phone, or JSON for machines. Numbers are masked but for the last
// three digits; whatever came from outside is quoted and escaped.

import HTTPWire
import NCCO

struct WebhookLine: Sendable {
    /// What there is to say besides who and when, and its name in JSON.
    enum Subject: Sendable {
        /// Rule and template.
        case flow(String)
        /// An event's status, or its kind.
        case event(String)
        /// An event, and the rule and template that answered it.
        case answeredEvent(String, flow: String)
        case error(String)
    }

    /// Who calls or is called; masked, but not yet escaped.
    enum Party: Sendable, Hashable {
        case number(String)
        case text(String)
    }

    /// Milliseconds since 1970 in UTC.
    var wall: Int64
    var route: String
    var status: UInt16
    var subject: Subject
    var from: Party?
    var to: Party?
    var micros: Int64 = 0

    func formatted(_ format: Settings.LogFormat) -> String {
        switch format {
        case .text: text
        case .json: json
        }
    }

    private var text: String {
        func shown(_ party: Party?) -> String {
            switch party {
            case nil: "-"
            case .number(let number): number
            case .text(let text): printable(text)
            }
        }
        let subject =
            switch subject {
            case .flow(let flow): flow
            case .event(let status): String(printable(status).dropFirst().dropLast())
            case .answeredEvent(let status, let flow): "\(String(printable(status).dropFirst().dropLast())) \(flow)"
            case .error(let error): error
            }
        return "\(clockTime) \(route) \(status) \(subject) \(shown(from)) → \(shown(to)) \(micros) µs"
    }

    /// UTC, `10:00:00.123`.
    private var clockTime: String {
        let time = wall % 86_400_000
        func padded(_ value: Int64, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(width - digits.count, 0)) + digits
        }
        return "\(padded(time / 3_600_000, 2)):\(padded(time / 60_000 % 60, 2)):\(padded(time / 1000 % 60, 2)).\(padded(time % 1000, 3))"
    }

    private var json: String {
        var bytes: [UInt8] = []
        func add(_ name: StaticString, _ text: String?) {
            bytes.append(",\"")
            bytes.append(name)
            bytes.append("\":")
            guard let text else { return bytes.append("null") }
            bytes.append("\"")
            for unit in text.unicodeScalars {
                // JSON itself would let through what writes from right to left.
                if unit == "\"" || unit == "\\" {
                    bytes.append("\\")
                    bytes.append(UInt8(truncatingIfNeeded: unit.value))
                } else if steersTerminal(unit) {
                    for code in String(unit).utf16 {
                        bytes.append(contentsOf: "\\u\(String(0x10000 + Int(code), radix: 16).dropFirst())".utf8)
                    }
                } else {
                    bytes.append(contentsOf: String(unit).utf8)
                }
            }
            bytes.append("\"")
        }
        func value(_ party: Party?) -> String? {
            switch party {
            case nil: nil
            case .number(let text), .text(let text): text
            }
        }
        bytes.append(contentsOf: "{\"time\":\(wall)".utf8)
        add("route", route)
        bytes.append(contentsOf: ",\"status\":\(status)".utf8)
        switch subject {
        case .flow(let flow): add("flow", flow)
        case .event(let status): add("event", status)
        case .answeredEvent(let status, let flow):
            add("event", status)
            add("flow", flow)
        case .error(let error): add("error", error)
        }
        add("from", value(from))
        add("to", value(to))
        bytes.append(contentsOf: ",\"micros\":\(micros)}".utf8)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A number or a name from a request; nil where it is empty.
    static func party(_ text: Span<UInt8>) -> Party? {
        guard text.count > 0 else { return nil }
        if let number = PhoneNumber(lenient: text) { return .number(number.masked) }
        return .text(shown(text))
    }

    /// A text from a request, cut and masked. An event's status should be a word, but anybody may send anything.
    static func shown(_ text: Span<UInt8>) -> String {
        masked(String(text.text(0..<min(text.count, 300)).unicodeScalars.prefix(65)))
    }

    /// Digits in what is no phone number may still be one, with something around it: all but the last three of them are hidden.
    private static func masked(_ text: String) -> String {
        var left = max(text.utf8.count { $0 >= 0x30 && $0 <= 0x39 } - 3, 0)
        guard left >= 4 else { return text }
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    guard ("0"..."9").contains(scalar), left > 0 else { return scalar }
                    left -= 1
                    return "*"
                }))
    }
}
