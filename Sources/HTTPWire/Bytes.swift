// SPDX-License-Identifier: MIT
//
// The byte classes of RFC 9110 §5.6.2 and RFC 3986, as 128-bit sets in two words: a test is a shift and a mask, without a table in memory.

extension UInt8 {
    static let htab = UInt8(ascii: "\t")
    static let lf = UInt8(ascii: "\n")
    static let cr = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let colon = UInt8(ascii: ":")
    static let semicolon = UInt8(ascii: ";")
    static let comma = UInt8(ascii: ",")
    static let equal = UInt8(ascii: "=")
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let slash = UInt8(ascii: "/")
    static let percent = UInt8(ascii: "%")

    @inline(__always) func isIn(low: UInt64, high: UInt64) -> Bool {
        let word = self < 64 ? low : high
        return self < 128 && (word &>> UInt64(self & 63)) & 1 == 1
    }

    /// `tchar`: ALPHA, DIGIT and !#$%&'*+-.^_`|~
    @inline(__always) var isToken: Bool { isIn(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE) }
    /// `field-vchar`, blanks and obs-text; all other controls are refused (RFC 9110 §5.5).
    @inline(__always) var isFieldValue: Bool { self >= 0x20 && self != 0x7F || self == .htab }
    /// `unreserved` and `sub-delims` of RFC 3986: what a registered name may hold besides percent escapes.
    @inline(__always) var isHostName: Bool { isIn(low: 0x2BFF_7FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE) }
    @inline(__always) var isDigit: Bool { self &- 0x30 < 10 }
    @inline(__always) var isBlank: Bool { self == .space || self == .htab }

    /// Value of a hexadecimal digit, in any case.
    @inline(__always) package var hexValue: UInt8? {
        switch self {
        case 0x30...0x39: self &- 0x30
        case 0x41...0x46: self &- 0x37
        case 0x61...0x66: self &- 0x57
        default: nil
        }
    }

    /// ASCII letters in lower case, all else as it is.
    @inline(__always) package var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

extension Span<UInt8> {
    /// Whether the bytes of `range` are those of the literal.
    @inline(__always)
    package func equalsExactly(_ literal: StaticString, at range: Range<Int>) -> Bool {
        guard literal.utf8CodeUnitCount == range.count, range.upperBound <= count else { return false }
        for index in 0..<literal.utf8CodeUnitCount {
            // The literal is part of the program's image, as long as it says, and never freed.
            guard unsafe self[range.lowerBound + index] == literal.utf8Start[index] else { return false }
        }
        return true
    }

    /// The same without regard to ASCII case; `literal` is in lower case.
    @inline(__always)
    package func equalsIgnoringCase(_ literal: StaticString, at range: Range<Int>) -> Bool {
        guard literal.utf8CodeUnitCount == range.count, range.upperBound <= count else { return false }
        for index in 0..<literal.utf8CodeUnitCount {
            guard unsafe self[range.lowerBound + index].lowercased == literal.utf8Start[index] else { return false }
        }
        return true
    }

    /// The range without blanks at both ends.
    @inline(__always)
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high, self[low].isBlank { low += 1 }
        while low < high, self[high - 1].isBlank { high -= 1 }
        return low..<high
    }

    /// Calls `body` with each non-empty member of a comma-separated list (RFC 9110 §5.6.1: empty members are skipped).
    package func forEachMember(of range: Range<Int>, _ body: (Range<Int>) -> Void) {
        var start = range.lowerBound
        for at in range.lowerBound...range.upperBound where at == range.upperBound || self[at] == .comma {
            let member = trimmed(start..<at)
            if !member.isEmpty { body(member) }
            start = at + 1
        }
    }

    /// A copy as text; bytes that are not UTF-8 become U+FFFD.
    package func text(_ range: Range<Int>) -> String {
        String(decoding: range.map { self[$0] }, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Appends the bytes of a literal. They lie in the program's image: nothing is made, counted or freed for them.
    package mutating func append(_ literal: StaticString) {
        unsafe append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }
}
