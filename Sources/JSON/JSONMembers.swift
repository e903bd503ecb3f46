// SPDX-License-Identifier: MIT
//
// Reads single members out of text that `minifyJSON` has accepted, without a tree and without a copy. Only what is needed to find the next
// member is looked at: in text that nobody has checked the ranges may be nonsense, but they lie inside the text, and nothing traps.

/// The members of one object, in order, duplicates included.
///
/// The text is lent to each call, since a span can't be stored.
package struct JSONMembers {
    /// One member's places in the text.
    package struct Member: Hashable, Sendable {
        /// Inside the quotes, still escaped: for `decodeJSONString`.
        package let name: Range<Int>
        /// The value's text, a string with its quotes.
        package let value: Range<Int>
    }

    private var at: Int
    private let end: Int
    private var isFirst = true

    /// The object in `range`, or in the whole text; there are no members where something else stands there.
    package init(_ range: Range<Int>? = nil, in text: Span<UInt8>) {
        let range = (range ?? 0..<text.count).clamped(to: 0..<text.count)
        let brace = endOfWhiteSpace(in: text, from: range.lowerBound)
        end = range.upperBound
        at = brace < end && text[brace] == UInt8(ascii: "{") ? brace + 1 : end
    }

    /// The next member; nil behind the last one, and from the first place on that is no member.
    package mutating func next(in text: Span<UInt8>) -> Member? {
        guard let member = read(in: text) else {
            at = end
            return nil
        }
        return member
    }

    private mutating func read(in text: Span<UInt8>) -> Member? {
        let end = min(end, text.count)
        func skip(_ byte: UInt8) -> Bool {
            at = endOfWhiteSpace(in: text, from: at)
            guard at < end, text[at] == byte else { return false }
            at += 1
            return true
        }
        guard at < end else { return nil }
        if !isFirst, !skip(UInt8(ascii: ",")) { return nil }
        isFirst = false
        guard skip(UInt8(ascii: "\"")) else { return nil }
        let start = at
        guard let nameEnd = behindString(in: text, from: start) else { return nil }
        at = nameEnd
        guard skip(UInt8(ascii: ":")) else { return nil }
        let value = endOfWhiteSpace(in: text, from: at)
        guard let valueEnd = skipJSONValue(in: text, from: value), valueEnd <= end else { return nil }
        at = valueEnd
        return Member(name: start..<nameEnd - 1, value: value..<valueEnd)
    }
}

/// The offset behind the value that begins at `start`; nil where none begins there or the text ends inside it.
package func skipJSONValue(in text: Span<UInt8>, from start: Int) -> Int? {
    guard start >= 0 else { return nil }
    var at = start
    var depth = 0
    while at < text.count {
        switch text[at] {
        case UInt8(ascii: "\""):
            guard let end = behindString(in: text, from: at + 1) else { return nil }
            at = end
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            depth += 1
            at += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth -= 1
            guard depth >= 0 else { return nil }
            at += 1
        case 0x20, 0x0A, 0x0D, 0x09, UInt8(ascii: ","), UInt8(ascii: ":"):
            guard depth > 0 else { return nil }
            at += 1
        default:
            while at < text.count, !isDelimiter(text[at]) { at += 1 }
        }
        if depth == 0 { return at }
    }
    return nil
}

/// From behind the first quote to behind the last.
private func behindString(in text: Span<UInt8>, from start: Int) -> Int? {
    var at = start
    while true {
        at = endOfPlainRun(in: text, from: at)
        guard at < text.count else { return nil }
        if text[at] == UInt8(ascii: "\"") { return at + 1 }
        at += text[at] == UInt8(ascii: "\\") ? 2 : 1
    }
}

private func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x20, 0x0A, 0x0D, 0x09, UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "\""), UInt8(ascii: "["), UInt8(ascii: "]"),
        UInt8(ascii: "{"), UInt8(ascii: "}"):
        true
    default: false
    }
}
