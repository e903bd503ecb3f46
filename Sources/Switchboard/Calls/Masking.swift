// SPDX-License-Identifier: MIT
//
// Hides telephone numbers in JSON of any shape before people see it: all digits but the last three of whatever could be a number, in values and
// in keys, also within a sentence or an address. What looks like a number and is none stays: UUIDs, dates, and the values of keys that hold
// ids, times and money. Where in doubt, it is hidden.
//
// It goes through the text from front to back, without a tree. What would steer a terminal is written as an escape, which means the same.

import JSON
import NCCO

/// How JSON from the log is shown.
package enum Masking: Sendable {
    /// Numbers are hidden but for the last three digits.
    case masked
    case unmasked

    /// Appends a JSON text in this way.
    package func append(_ json: [UInt8], to output: inout [UInt8]) {
        let text = json.span
        var at = 0
        var name = ""
        while at < text.count {
            switch text[at] {
            case UInt8(ascii: "\""):
                guard let end = skipJSONValue(in: text, from: at) else {
                    // No JSON, which a good line of the log never holds.
                    output += json[at...].filter { (0x20..<0x7F).contains($0) }
                    return
                }
                let isName = end < text.count && text[end] == UInt8(ascii: ":")
                append(string: json[at..<end], name: isName ? "" : name, to: &output)
                if isName { name = String(decoding: json[at + 1..<end - 1], as: UTF8.self) }
                at = end
            case UInt8(ascii: "-"), 0x30...0x39:
                let start = at
                while at < text.count, text[at].isDecimalDigit || "+-.eE".utf8.contains(text[at]) { at += 1 }
                let number = String(decoding: json[start..<at], as: UTF8.self)
                let shown = self == .masked && !Self.plainNames.contains(name) ? maskNumbers(number) : number
                // A number with stars is none any more.
                if shown == number { output += number.utf8 } else { output.appendJSONString(shown) }
            default:
                if (0x20..<0x7F).contains(text[at]) { output.append(text[at]) }
                at += 1
            }
        }
    }

    private func append(string literal: ArraySlice<UInt8>, name: String, to output: inout [UInt8]) {
        var (digits, isPlain) = (0, true)
        for byte in literal {
            if byte.isDecimalDigit { digits += 1 }
            if byte >= 0x7F || byte < 0x20 || byte == UInt8(ascii: "\\") { isPlain = false }
        }
        let mayBeNumber = self == .masked && !Self.plainNames.contains(name) && (digits >= 7 || !isPlain)
        guard mayBeNumber || !isPlain else {
            output += literal
            return
        }
        var decoded: [UInt8] = []
        let bytes = Array(literal)
        decodeJSONString(1..<max(bytes.count - 1, 1), in: bytes.span, into: &decoded)
        let text = String(decoding: decoded, as: UTF8.self)
        let shown = mayBeNumber ? maskNumbers(text) : text
        if shown == text, !text.unicodeScalars.contains(where: { $0.value >= 0x7F && steersTerminal($0) }),
            !bytes.contains(where: { $0 < 0x20 })
        {
            output += literal
            return
        }
        appendSafeString(shown, to: &output)
    }

    /// A text that is not JSON, such as a party of a call.
    package func shown(_ text: String) -> String { self == .masked ? maskNumbers(text) : text }

    /// Appends a text as a JSON string in this way.
    package func append(text: String, to output: inout [UInt8]) { appendSafeString(shown(text), to: &output) }

    /// Values of these keys are ids, times and money.
    static let plainNames: Set<String> = [
        "uuid", "call_uuid", "conversation_uuid", "conversation_uuid_from", "conversation_uuid_to", "recording_uuid", "timestamp",
        "start_time", "end_time", "rate", "price", "size", "duration", "confidence",
    ]
}

/// As JSON has it, and with escapes for what steers a terminal.
private func appendSafeString(_ text: String, to output: inout [UInt8]) {
    guard text.unicodeScalars.contains(where: { $0.value >= 0x7F && steersTerminal($0) }) else { return output.appendJSONString(text) }
    output.append(UInt8(ascii: "\""))
    for scalar in text.unicodeScalars {
        if scalar.value >= 0x7F, steersTerminal(scalar) {
            output.appendJSONEscape(of: scalar)
        } else {
            var quoted: [UInt8] = []
            quoted.appendJSONString(String(scalar))
            output += quoted.dropFirst().dropLast()
        }
    }
    output.append(UInt8(ascii: "\""))
}

/// Replaces digits by `*` but for the last three of each run of at least seven, in which single blanks and signs may stand between.
func maskNumbers(_ text: String) -> String {
    var bytes = Array(text.utf8)
    var at = 0
    var isChanged = false
    while at < bytes.count {
        guard bytes[at].isDecimalDigit || bytes[at].hexDigit else {
            at += 1
            continue
        }
        let startsWord = at == 0 || !bytes[at - 1].isWordByte
        if startsWord, let end = endOfUUID(bytes, at) ?? endOfDate(bytes, at) {
            at = end
            continue
        }
        guard bytes[at].isDecimalDigit else {
            at += 1
            continue
        }
        var places = [at]
        var next = at + 1
        var gap = 0
        while next < bytes.count, gap <= 2 {
            if bytes[next].isDecimalDigit {
                places.append(next)
                gap = 0
            } else if " \t-./()[]+".utf8.contains(bytes[next]) {
                gap += 1
            } else {
                break
            }
            next += 1
        }
        if places.count >= 7 {
            for place in places.dropLast(3) { bytes[place] = UInt8(ascii: "*") }
            isChanged = true
        }
        at = (places.last ?? at) + 1
    }
    return isChanged ? String(decoding: bytes, as: UTF8.self) : text
}

/// Behind a UUID with or without dashes that ends where its word ends.
private func endOfUUID(_ bytes: [UInt8], _ start: Int) -> Int? {
    var at = start
    var digits = 0
    var letters = false
    while at < bytes.count, digits < 32 {
        if bytes[at] == UInt8(ascii: "-"), [8, 12, 16, 20].contains(digits), bytes[at - 1] != UInt8(ascii: "-") {
            at += 1
            continue
        }
        guard bytes[at].hexDigit || bytes[at].isDecimalDigit else { return nil }
        if bytes[at].hexDigit { letters = true }
        digits += 1
        at += 1
    }
    // 32 digits without a letter are more likely a list of numbers.
    guard digits == 32, letters || at - start == 36, at == bytes.count || !bytes[at].isWordByte else { return nil }
    return at
}

/// Behind `YYYY-MM-DD` with or without a time of day.
func endOfDate(_ bytes: [UInt8], _ start: Int) -> Int? {
    func holds(_ pattern: String, _ start: Int) -> Bool {
        guard start + pattern.utf8.count <= bytes.count else { return false }
        for (offset, expected) in pattern.utf8.enumerated() {
            let byte = bytes[start + offset]
            guard expected == UInt8(ascii: "0") ? byte.isDecimalDigit : byte == expected else { return false }
        }
        return true
    }
    guard holds("0000-00-00", start), bytes[start] == UInt8(ascii: "1") || bytes[start] == UInt8(ascii: "2") else { return nil }
    var at = start + 10
    guard at == bytes.count || !bytes[at].isDecimalDigit && bytes[at] != UInt8(ascii: "-") else { return nil }
    guard at < bytes.count, bytes[at] == UInt8(ascii: "T"), holds("00:00", at + 1) else { return at }
    at += 6
    if holds(":00", at) { at += 3 }
    if at < bytes.count, bytes[at] == UInt8(ascii: ".") {
        at += 1
        while at < bytes.count, bytes[at].isDecimalDigit { at += 1 }
    }
    return at
}

extension UInt8 {
    fileprivate var hexDigit: Bool { (0x61...0x66).contains(self) || (0x41...0x46).contains(self) }
    fileprivate var isWordByte: Bool {
        isDecimalDigit || (0x61...0x7A).contains(self) || (0x41...0x5A).contains(self) || self == UInt8(ascii: "_")
    }
}
