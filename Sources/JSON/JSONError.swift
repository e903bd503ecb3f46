// SPDX-License-Identifier: MIT
//
// Why a text is not JSON, for a person: the place, what stood there, and what should have. Scanning throws the small `JSONFault`; line,
// column and words are worked out only when an error leaves the module, so that good text pays nothing for them.

/// Where an offset lies in a text, for people.
package struct JSONPosition: Hashable, Sendable, CustomStringConvertible {
    /// Counted from 1; a line ends with LF.
    package let line: Int
    /// Counted from 1, in Unicode scalars; a byte that can't continue a UTF-8 sequence counts as one.
    package let column: Int

    /// An offset outside the text is taken as the nearest one inside.
    package init(of offset: Int, in text: Span<UInt8>) {
        var line = 1
        var column = 1
        for at in 0..<min(max(offset, 0), text.count) {
            if text[at] == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if !isContinuation(text[at]) {
                column += 1
            }
        }
        self.line = line
        self.column = column
    }

    package var description: String { "line \(line), column \(column)" }
}

/// Why a text was refused, and where.
package struct JSONError: Error, Hashable, CustomStringConvertible {
    /// What tells one refusal from another without reading its words.
    package enum Reason: Hashable, Sendable {
        /// A byte that can't stand here.
        case unexpected
        /// The text stops inside a value, or holds none.
        case endsEarly
        /// Something other than white space follows the value.
        case secondValue
        /// U+FEFF in front, which RFC 8259 section 8.1 lets a reader refuse.
        case byteOrderMark
        /// More open arrays and objects than the limit.
        case tooDeep(limit: Int)
    }

    package let reason: Reason
    /// Bytes from the start of the text to the offending one; the text's length where it ends early.
    package let offset: Int
    /// Where `offset` lies.
    package let position: JSONPosition
    /// What stood there, such as `']'` or `byte 0x0a`: printable ASCII whatever came in.
    package let found: String
    /// What should have stood there, such as `a comma or ']' after an array element`.
    package let expected: String

    /// Counted from 1.
    package var line: Int { position.line }
    /// Counted from 1, in Unicode scalars.
    package var column: Int { position.column }
    /// One line: `line 3, column 14: expected …, found …`.
    package var description: String { "\(position): expected \(expected), found \(found)" }

    init(_ fault: JSONFault, in text: Span<UInt8>, maximumDepth: Int) {
        offset = fault.offset
        position = JSONPosition(of: fault.offset, in: text)
        guard fault.offset < text.count else {
            reason = .endsEarly
            expected = fault.expected.rawValue
            found = "the end of the text"
            return
        }
        let byte = text[fault.offset]
        switch fault.expected {
        case .depth:
            reason = .tooDeep(limit: maximumDepth)
            expected = "at most \(maximumDepth) levels of nesting"
            found = "one more"
        case .noByteOrderMark:
            reason = .byteOrderMark
            expected = fault.expected.rawValue
            found = "one"
        case .end:
            reason = .secondValue
            expected = fault.expected.rawValue
            found = Self.name(of: byte)
        default:
            reason = .unexpected
            expected = fault.expected.rawValue
            found = Self.name(of: byte)
        }
    }

    /// Safe on any terminal and in any log.
    private static func name(of byte: UInt8) -> String {
        if (0x20...0x7E).contains(byte) { return "'\(Character(Unicode.Scalar(byte)))'" }
        return byte < 0x10 ? "byte 0x0\(String(byte, radix: 16))" : "byte 0x\(String(byte, radix: 16))"
    }
}

/// What scanning throws.
struct JSONFault: Error {
    let offset: Int
    let expected: JSONExpectation
}

/// The words for what should have stood at a fault.
enum JSONExpectation: String {
    case value = "a value"
    case firstElement = "a value or ']'"
    case nextElement = "a value after the comma"
    case memberValue = "a value after the colon"
    case firstName = "a key in double quotes or '}'"
    case nextName = "a key in double quotes after the comma"
    case colon = "a colon after the key"
    case elementEnd = "a comma or ']' after an array element"
    case memberEnd = "a comma or '}' after an object member"
    case end = "nothing behind the value"
    case noByteOrderMark = "text without a byte-order mark"
    case depth = "less nesting"
    case literalTrue = "the literal true"
    case literalFalse = "the literal false"
    case literalNull = "the literal null"
    case digit = "a digit"
    case noLeadingZero = "no digit after a leading zero"
    case closingQuote = "a closing double quote"
    case escape = "one of \" \\ / b f n r t u after a backslash"
    case hexDigit = "four hex digits after \\u"
    case noControl = "a string without bare control characters (write \\n, \\t or \\u00XX)"
    case utf8 = "valid UTF-8"
}
