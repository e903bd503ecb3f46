// SPDX-License-Identifier: MIT
//
// The grammar of RFC 8259, strictly: what may follow what is decided here and nowhere else. `walkJSON` reads one text from front to back
// with a stack of its own instead of recursion and tells a visitor what it met; the minifier and the tree are visitors.

/// What a value is.
package enum JSONKind: String, Hashable, Sendable { case object, array, string, number, bool, null }

/// Nesting that ordinary text never comes near, and that keeps a reader's stack small; Foundation's readers have the same limit.
package let defaultMaximumDepth = 512

/// Is told what a walk meets, in the order of the text.
protocol JSONVisitor {
    mutating func whiteSpace(_ range: Range<Int>, in text: Span<UInt8>)
    mutating func begin(_ kind: JSONKind, at offset: Int)
    /// A key: the range inside its quotes.
    mutating func name(_ range: Range<Int>, in text: Span<UInt8>)
    /// A value without parts; a string's range holds its quotes.
    mutating func scalar(_ kind: JSONKind, _ range: Range<Int>, in text: Span<UInt8>)
    /// The end of what was begun last: the offset behind its bracket.
    mutating func end(_ kind: JSONKind, at offset: Int, in text: Span<UInt8>)
}

/// `JSON-text = ws value ws`, RFC 8259 section 2. Returns the kind of the value.
func walkJSON<Visitor: JSONVisitor>(_ text: Span<UInt8>, maximumDepth: Int, _ visitor: inout Visitor) throws(JSONFault) -> JSONKind {
    var open: [JSONKind] = []
    var top: JSONKind?
    var expected = JSONExpectation.value
    var at = 0
    if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF { throw JSONFault(offset: 0, expected: .noByteOrderMark) }
    skipWhiteSpace(&at, in: text, &visitor)

    values: while true {
        guard at < text.count else { throw JSONFault(offset: at, expected: expected) }
        let start = at
        let kind: JSONKind
        switch text[at] {
        case UInt8(ascii: "\""):
            kind = .string
            at = try endOfString(in: text, from: at + 1) + 1
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            kind = text[at] == UInt8(ascii: "{") ? .object : .array
            guard open.count < maximumDepth else { throw JSONFault(offset: at, expected: .depth) }
            open.append(kind)
            top = top ?? kind
            visitor.begin(kind, at: at)
            at += 1
            skipWhiteSpace(&at, in: text, &visitor)
            if at < text.count, text[at] == (kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]")) { break }
            expected = .firstElement
            if kind == .object {
                try readName(&at, in: text, .firstName, &visitor)
                expected = .memberValue
            }
            continue values
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            kind = .number
            at = try endOfNumber(in: text, from: at)
        case UInt8(ascii: "t"):
            kind = .bool
            try readLiteral("true", &at, in: text, .literalTrue)
        case UInt8(ascii: "f"):
            kind = .bool
            try readLiteral("false", &at, in: text, .literalFalse)
        case UInt8(ascii: "n"):
            kind = .null
            try readLiteral("null", &at, in: text, .literalNull)
        default: throw JSONFault(offset: at, expected: expected)
        }
        if kind != .object, kind != .array { visitor.scalar(kind, start..<at, in: text) }
        top = top ?? kind

        // A value has ended, or an empty container's end is next: close what ends here, up to the comma before the next value.
        while let container = open.last {
            skipWhiteSpace(&at, in: text, &visitor)
            expected = container == .object ? .memberEnd : .elementEnd
            guard at < text.count else { throw JSONFault(offset: at, expected: expected) }
            switch (text[at], container) {
            case (UInt8(ascii: ","), .object):
                at += 1
                skipWhiteSpace(&at, in: text, &visitor)
                try readName(&at, in: text, .nextName, &visitor)
                expected = .memberValue
                continue values
            case (UInt8(ascii: ","), _):
                at += 1
                skipWhiteSpace(&at, in: text, &visitor)
                expected = .nextElement
                continue values
            case (UInt8(ascii: "}"), .object), (UInt8(ascii: "]"), .array):
                at += 1
                open.removeLast()
                visitor.end(container, at: at, in: text)
            default: throw JSONFault(offset: at, expected: expected)
            }
        }
        skipWhiteSpace(&at, in: text, &visitor)
        guard at == text.count else { throw JSONFault(offset: at, expected: .end) }
        return top ?? kind
    }
}

/// `member = string name-separator …`, RFC 8259 section 4, up to the value.
private func readName<Visitor: JSONVisitor>(
    _ at: inout Int, in text: Span<UInt8>, _ expected: JSONExpectation, _ visitor: inout Visitor
) throws(JSONFault) {
    guard at < text.count, text[at] == UInt8(ascii: "\"") else { throw JSONFault(offset: at, expected: expected) }
    let start = at + 1
    let end = try endOfString(in: text, from: start)
    visitor.name(start..<end, in: text)
    at = end + 1
    skipWhiteSpace(&at, in: text, &visitor)
    guard at < text.count, text[at] == UInt8(ascii: ":") else { throw JSONFault(offset: at, expected: .colon) }
    at += 1
    skipWhiteSpace(&at, in: text, &visitor)
}

@inline(__always)
private func skipWhiteSpace<Visitor: JSONVisitor>(_ at: inout Int, in text: Span<UInt8>, _ visitor: inout Visitor) {
    guard at < text.count, text[at] <= 0x20 else { return }
    let start = at
    at = endOfWhiteSpace(in: text, from: at)
    if at > start { visitor.whiteSpace(start..<at, in: text) }
}

/// RFC 8259 section 2: blank, tab, line feed, carriage return.
func endOfWhiteSpace(in text: Span<UInt8>, from start: Int) -> Int {
    var at = start
    while at < text.count, text[at] == 0x20 || text[at] == 0x0A || text[at] == 0x0D || text[at] == 0x09 { at += 1 }
    return at
}

private func readLiteral(_ word: String, _ at: inout Int, in text: Span<UInt8>, _ expected: JSONExpectation) throws(JSONFault) {
    for byte in word.utf8 {
        guard at < text.count, text[at] == byte else { throw JSONFault(offset: at, expected: expected) }
        at += 1
    }
}

/// `number = [ minus ] int [ frac ] [ exp ]`, RFC 8259 section 6.
private func endOfNumber(in text: Span<UInt8>, from start: Int) throws(JSONFault) -> Int {
    var at = start
    if text[at] == UInt8(ascii: "-") { at += 1 }
    if at < text.count, text[at] == UInt8(ascii: "0") {
        at += 1
        if at < text.count, isDigit(text[at]) { throw JSONFault(offset: at, expected: .noLeadingZero) }
    } else {
        try readDigits(&at, in: text)
    }
    if at < text.count, text[at] == UInt8(ascii: ".") {
        at += 1
        try readDigits(&at, in: text)
    }
    if at < text.count, text[at] | 0x20 == UInt8(ascii: "e") {
        at += 1
        if at < text.count, text[at] == UInt8(ascii: "+") || text[at] == UInt8(ascii: "-") { at += 1 }
        try readDigits(&at, in: text)
    }
    return at
}

private func readDigits(_ at: inout Int, in text: Span<UInt8>) throws(JSONFault) {
    guard at < text.count, isDigit(text[at]) else { throw JSONFault(offset: at, expected: .digit) }
    while at < text.count, isDigit(text[at]) { at += 1 }
}

private func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0") <= byte && byte <= UInt8(ascii: "9") }

/// `string = quotation-mark *char quotation-mark`, RFC 8259 section 7: from behind the first quote to the last.
private func endOfString(in text: Span<UInt8>, from start: Int) throws(JSONFault) -> Int {
    var at = start
    while true {
        at = endOfPlainRun(in: text, from: at)
        guard at < text.count else { throw JSONFault(offset: at, expected: .closingQuote) }
        switch text[at] {
        case UInt8(ascii: "\""): return at
        case UInt8(ascii: "\\"): at = try endOfEscape(in: text, from: at)
        case 0x80...:
            let length = utf8Length(in: text, at: at)
            if length < 0 {
                // A good beginning that the end of the text cuts off is a text that ends early, not a bad byte.
                let cut = at - length == text.count && (0xC2...0xF4).contains(text[at])
                throw JSONFault(offset: cut ? text.count : at, expected: .utf8)
            }
            at += length
        default: throw JSONFault(offset: at, expected: .noControl)
        }
    }
}

/// Any four hex digits will do: the grammar knows no surrogate pairs (RFC 8259 section 8.2).
private func endOfEscape(in text: Span<UInt8>, from backslash: Int) throws(JSONFault) -> Int {
    var at = backslash + 1
    guard at < text.count else { throw JSONFault(offset: at, expected: .escape) }
    switch text[at] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
        UInt8(ascii: "r"), UInt8(ascii: "t"):
        return at + 1
    case UInt8(ascii: "u"):
        for _ in 0..<4 {
            at += 1
            guard at < text.count, hexValue(text[at]) != nil else { throw JSONFault(offset: at, expected: .hexDigit) }
        }
        return at + 1
    default: throw JSONFault(offset: at, expected: .escape)
    }
}

func hexValue(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
}
