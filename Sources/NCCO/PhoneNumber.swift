// SPDX-License-Identifier: MIT
//
// A phone number in Vonage's form. Since the first digit is never 0 and there are 15 at most, the number's value says all: it fits 50 bits,
// and making, comparing and writing one allocates nothing. Emergency and short numbers are too short to be one.

internal import JSON

/// A telephone number as Vonage writes it: 7...15 ASCII digits, country code first, no `+`.
///
/// - Source: Vonage Voice API, NCCO reference, `connect`, endpoint `phone`; ITU-T E.164 for the upper bound.
public struct PhoneNumber: TextValue, LosslessStringConvertible {
    /// The digits as one number.
    package let value: UInt64

    /// The rule in words.
    public static var allowed: String { "a phone number: 7...15 digits, country code first, without +" }

    /// The number in exactly Vonage's form.
    ///
    /// - Throws: `NCCOError` with the text and the rule.
    public init(checking text: String) throws(NCCOError) {
        guard let number = Self(text) else { throw NCCOError(value: text, allowed: Self.allowed) }
        self = number
    }

    /// The number in exactly Vonage's form; nil for anything else.
    public init?(_ text: String) {
        guard let value = Self.value(ofDigits: text.utf8) else { return nil }
        self.value = value
    }

    /// The number as people, address books and decoded forms write it; nil where no number is left.
    ///
    /// Taken off in front: blanks, `tel:` in either case, `+` and `00`; taken out everywhere: blanks, tabs, dashes, dots, round and square
    /// brackets. What is left must be Vonage's form.
    public init?(lenient utf8: Span<UInt8>) {
        if let value = Self.value(ofDigits: utf8) {
            self.value = value
            return
        }
        var at = 0
        func skipSeparators() { while at < utf8.count, isSeparator(utf8[at]) { at += 1 } }
        func skip(_ prefix: String) {
            var end = at
            for byte in prefix.utf8 {
                guard end < utf8.count, lowercased(utf8[end]) == byte else { return }
                end += 1
            }
            at = end
            skipSeparators()
        }
        skipSeparators()
        skip("tel:")
        skip("+")
        skip("00")

        var digits = DigitReader()
        while at < utf8.count {
            if !isSeparator(utf8[at]), !digits.read(utf8[at]) { return nil }
            at += 1
        }
        guard let value = digits.result else { return nil }
        self.value = value
    }

    /// The same for text.
    public init?(lenient text: String) { self.init(lenient: Array(text.utf8).span) }

    /// Vonage's form is what nearly all numbers have already.
    private static func value(ofDigits bytes: Span<UInt8>) -> UInt64? {
        var digits = DigitReader()
        for at in bytes.indices where !digits.read(bytes[at]) { return nil }
        return digits.result
    }

    private static func value(ofDigits bytes: some Sequence<UInt8>) -> UInt64? {
        var digits = DigitReader()
        for byte in bytes where !digits.read(byte) { return nil }
        return digits.result
    }

    /// The digits, in Vonage's form.
    public var description: String { "\(value)" }

    /// The digits with all but the last three hidden, for logs and pages.
    public var masked: String {
        let digits = description
        return String(repeating: "*", count: digits.utf8.count - 3) + digits.suffix(3)
    }

    /// Appends the digits in ASCII.
    public func appendDigits(to output: inout [UInt8]) { output.appendDecimal(value) }
}

/// Gathers digits as long as a number can still come of them.
private struct DigitReader {
    private var value: UInt64 = 0
    private var count = 0

    /// False for what is no digit, for a first 0 and for a sixteenth digit.
    mutating func read(_ byte: UInt8) -> Bool {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), count < 15, count > 0 || byte != UInt8(ascii: "0") else {
            return false
        }
        value = value * 10 + UInt64(byte - UInt8(ascii: "0"))
        count += 1
        return true
    }

    var result: UInt64? { count >= 7 ? value : nil }
}

private func isSeparator(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "("), UInt8(ascii: ")"),
        UInt8(ascii: "["), UInt8(ascii: "]"):
        true
    default: false
    }
}

private func lowercased(_ byte: UInt8) -> UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte }
