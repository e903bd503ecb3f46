// SPDX-License-Identifier: MIT
//
// The line that is printed for each webhook: text to read beside a ringing phone, or JSON for machines. Numbers are masked but for the last
// three digits; whatever came from outside is quoted and escaped.

import HTTPWire
import JSON
import NCCO

struct WebhookLine: Sendable {
    /// Milliseconds since 1970 in UTC.
    var wall: Int64
    var route: String
    var status: UInt16
    /// Rule and template, or an event's status.
    var what: String
    var from: String
    var to: String
    var micros: Int64 = 0

    func formatted(_ format: Settings.LogFormat) -> String {
        switch format {
        case .text:
            "\(clockTime) \(route) \(status) \(what) \(from) → \(to) \(micros) µs"
        case .json:
            json
        }
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
        func add(_ name: String, _ text: String) {
            bytes.append(contentsOf: ",\"\(name)\":".utf8)
            bytes.appendJSONString(text)
        }
        bytes.append(contentsOf: "{\"time\":\(wall)".utf8)
        add("route", route)
        bytes.append(contentsOf: ",\"status\":\(status)".utf8)
        add("what", what)
        add("from", from)
        add("to", to)
        bytes.append(contentsOf: ",\"micros\":\(micros)}".utf8)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A number or name from a request, fit for the line: `-` where there is none.
    static func party(_ range: Range<Int>, in bytes: Span<UInt8>) -> String {
        guard !range.isEmpty else { return "-" }
        if let number = PhoneNumber(lenient: bytes.extracting(range)) { return number.masked }
        return masked(printable(bytes.text(range.prefix(300))))
    }

    /// An event's status, without quotes: it should be a word, but anybody may send anything.
    static func status(_ range: Range<Int>, in bytes: Span<UInt8>) -> String {
        String(masked(printable(bytes.text(range.prefix(300)))).dropFirst().dropLast())
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
