// SPDX-License-Identifier: MIT
//
// A JSON number as its text: no reader of ours may change a number that was meant for somebody else.

/// A number in the grammar of JSON, kept as it was written: `1` and `1.0` differ.
///
/// - Source: RFC 8259 section 6.
public struct JSONNumber: TextValue, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    /// The number's text.
    public let description: String

    /// The rule in words.
    public static var allowed: String { "a JSON number" }

    /// The number where the text has the grammar of one.
    ///
    /// - Throws: `NCCOError` with the text and the rule.
    public init(checking text: String) throws(NCCOError) {
        guard isJSONNumber(text.utf8) else { throw NCCOError(value: text, allowed: Self.allowed) }
        description = text
    }

    /// A whole number.
    public init(_ value: Int) { description = "\(value)" }

    /// Lets a whole number be written in place.
    public init(integerLiteral value: Int) { self.init(value) }

    /// Lets a number be written in place; infinity stops the program.
    public init(floatLiteral value: Double) { self.init(stringLiteral: "\(value)") }

    /// The caller has read the text with the grammar.
    init(grammatical text: String) { description = text }
}

/// `number = [ minus ] int [ frac ] [ exp ]`, RFC 8259 section 6.
func isJSONNumber(_ text: some Sequence<UInt8>) -> Bool {
    var state = JSONNumberState.start
    for byte in text {
        switch (state, byte) {
        case (.start, UInt8(ascii: "-")): state = .minus
        case (.start, UInt8(ascii: "0")), (.minus, UInt8(ascii: "0")): state = .zero
        case (.start, _) where isDigit(byte), (.minus, _) where isDigit(byte), (.whole, _) where isDigit(byte): state = .whole
        case (.zero, UInt8(ascii: ".")), (.whole, UInt8(ascii: ".")): state = .point
        case (.point, _) where isDigit(byte), (.fraction, _) where isDigit(byte): state = .fraction
        case (.zero, _) where byte | 0x20 == UInt8(ascii: "e"), (.whole, _) where byte | 0x20 == UInt8(ascii: "e"),
            (.fraction, _) where byte | 0x20 == UInt8(ascii: "e"):
            state = .exponent
        case (.exponent, UInt8(ascii: "+")), (.exponent, UInt8(ascii: "-")): state = .sign
        case (.exponent, _) where isDigit(byte), (.sign, _) where isDigit(byte), (.power, _) where isDigit(byte): state = .power
        default: return false
        }
    }
    switch state {
    case .zero, .whole, .fraction, .power: return true
    case .start, .minus, .point, .exponent, .sign: return false
    }
}

/// What has been read of a number.
private enum JSONNumberState { case start, minus, zero, whole, point, fraction, exponent, sign, power }
