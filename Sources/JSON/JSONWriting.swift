// SPDX-License-Identifier: MIT
//
// Writing JSON is appending bytes: punctuation is the caller's, strings and integers are here. U+2028 and U+2029 stay as they are, since JSON
// allows them and nothing here is pasted into a script.

extension [UInt8] {
    /// Appends a quoted string; each bad UTF-8 sequence is replaced by U+FFFD, one for each maximal subpart.
    package mutating func appendJSONString(_ utf8: Span<UInt8>) {
        append(UInt8(ascii: "\""))
        var at = 0
        var runStart = 0
        while true {
            at = endOfPlainRun(in: utf8, from: at)
            guard at < utf8.count else { break }
            let length = utf8Length(in: utf8, at: at)
            if length > 1 {
                at += length
                continue
            }
            if runStart < at { append(runStart..<at, of: utf8) }
            if length < 0 { append(contentsOf: UTF8.encodedReplacementCharacter) } else { append(escapeOf: utf8[at]) }
            at += abs(length)
            runStart = at
        }
        if runStart < at { append(runStart..<at, of: utf8) }
        append(UInt8(ascii: "\""))
    }

    /// Appends a quoted string.
    package mutating func appendJSONString(_ text: String) {
        let before = count
        append(UInt8(ascii: "\""))
        append(contentsOf: text.utf8)
        append(UInt8(ascii: "\""))
        // A string is valid UTF-8, so what is left to look for is a byte that needs an escape, which is rare.
        for at in before + 1..<count - 1 where self[at] < 0x20 || self[at] == UInt8(ascii: "\"") || self[at] == UInt8(ascii: "\\") {
            removeSubrange(before...)
            return appendJSONString(Array(text.utf8).span)
        }
    }

    /// Appends an integer in decimal digits.
    package mutating func appendDecimal(_ number: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        appendDecimal(UInt64(number.magnitude))
    }

    /// Appends an integer in decimal digits.
    package mutating func appendDecimal(_ number: UInt64) {
        var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))  // as many as the largest number has
        var first = 20
        var rest = number
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        for place in first..<20 { append(digits[place]) }
    }

    /// RFC 8259 section 7: the short form where there is one.
    private mutating func append(escapeOf byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0D: append(UInt8(ascii: "r"))
        default:
            append(contentsOf: "u00".utf8)
            append(contentsOf: byte < 0x10 ? "0".utf8 : "1".utf8)
            let digit = byte & 0x0F
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
