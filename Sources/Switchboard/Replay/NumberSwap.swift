// SPDX-License-Identifier: MIT
//
// Puts telephone numbers that nobody has in the place of those in the log, so that a replay can call nobody and shows nobody's number. A number
// is the same one wherever it stands, and which one it becomes hangs only on the order in which numbers first come.
//
// Swapped is a text that is a number as a whole, also inside of a text that is itself JSON, as `custom_data` is; and a JSON number under a name
// that holds one. A number within a sentence or an address stays, as do ids, times and money. All else is copied byte for byte.
//
// Reserved for fiction are +1 415 555 0100 to 0199 (North American Numbering Plan) and +44 7700 900000 to 900999 (Ofcom).

import JSON
package import NCCO

package struct NumberSwap: Sendable {
    /// Numbers in order of their first coming, with what is sent for them.
    package private(set) var swapped: [(logged: PhoneNumber, sent: PhoneNumber)] = []
    /// Numbers that share one with another, since there are only so many.
    package private(set) var shared = 0
    private let keepsNumbers: Bool
    private var sent: [PhoneNumber: PhoneNumber] = [:]
    private var reserved: Set<PhoneNumber> = []
    private var americans: UInt64 = 0
    private var others: UInt64 = 0

    /// JSON in text in JSON, and no deeper.
    private static let deepest = 3
    /// Names whose JSON numbers are telephone numbers.
    private static let numberNames: Set<String> = ["from", "to", "number"]

    /// - Parameter keepsNumbers: whether everything stays as it is.
    package init(keepsNumbers: Bool = false) { self.keepsNumbers = keepsNumbers }

    /// What is sent for a number.
    package mutating func number(_ number: PhoneNumber) -> PhoneNumber {
        if let known = sent[number] { return known }
        let isAmerican = number.description.hasPrefix("1")
        let count = isAmerican ? americans : others
        if isAmerican { americans += 1 } else { others += 1 }
        let size: UInt64 = isAmerican ? 100 : 1000
        let first: UInt64 = isAmerican ? 14_155_550_100 : 447_700_900_000
        if count >= size { shared += 1 }
        guard let new = PhoneNumber("\(first + count % size)") else { return number }
        sent[number] = new
        reserved.insert(new)
        swapped.append((number, new))
        return new
    }

    /// A JSON text without white space, with its numbers swapped.
    package mutating func swap(_ json: [UInt8]) -> [UInt8] {
        guard !keepsNumbers else { return json }
        return rewrite(json, 1) { swap, number in swap.number(number) }
    }

    /// A target's answer in the same way: what has been swapped already stays, and so does a number that never came.
    package func swap(answer json: [UInt8]) -> [UInt8] {
        guard !keepsNumbers else { return json }
        var copy = self
        return copy.rewrite(json, 1) { swap, number in swap.reserved.contains(number) ? number : swap.sent[number] ?? number }
    }

    private mutating func rewrite(_ json: [UInt8], _ depth: Int, _ new: (inout Self, PhoneNumber) -> PhoneNumber) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(json.count)
        var at = 0
        var name = ""
        while at < json.count {
            let start = at
            switch json[at] {
            case UInt8(ascii: "\""):
                guard let end = skipJSONValue(in: json.span, from: at) else { return output + json[at...] }
                at = end
                if end < json.count, json[end] == UInt8(ascii: ":") {
                    name = String(decoding: json[start + 1..<end - 1], as: UTF8.self)
                    output += json[start..<end]
                } else if Masking.plainNames.contains(name) {
                    output += json[start..<end]
                } else {
                    output += string(Array(json[start..<end]), depth, new)
                }
            case UInt8(ascii: "-"), 0x30...0x39:
                while at < json.count, json[at].isDecimalDigit || "+-.eE".utf8.contains(json[at]) { at += 1 }
                let text = String(decoding: json[start..<at], as: UTF8.self)
                if Self.numberNames.contains(name), let number = PhoneNumber(text) {
                    new(&self, number).appendDigits(to: &output)
                } else {
                    output += json[start..<at]
                }
            default:
                output.append(json[at])
                at += 1
            }
        }
        return output
    }

    /// - Parameter literal: with its quotes.
    private mutating func string(_ literal: [UInt8], _ depth: Int, _ new: (inout Self, PhoneNumber) -> PhoneNumber) -> [UInt8] {
        var text: [UInt8] = []
        decodeJSONString(1..<max(literal.count - 1, 1), in: literal.span, into: &text)
        var changed: [UInt8] = []
        if let first = text.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            var inside: [UInt8] = []
            guard depth < Self.deepest, (try? minifyJSON(text.span, into: &inside)) != nil else { return literal }
            changed = rewrite(inside, depth + 1, new)
            guard changed != inside else { return literal }
        } else {
            // A date is all digits and dashes too.
            guard endOfDate(text, 0) != text.count, let number = PhoneNumber(lenient: text.span) else { return literal }
            if text.first == UInt8(ascii: "+") { changed.append(UInt8(ascii: "+")) }
            new(&self, number).appendDigits(to: &changed)
        }
        var output: [UInt8] = []
        output.appendJSONString(changed.span)
        return output
    }
}
