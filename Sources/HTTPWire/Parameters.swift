// SPDX-License-Identifier: MIT
//
// Names and values of a query or a form body (`application/x-www-form-urlencoded`, WHATWG URL §5.1): split at `&`, then at the first `=`; `+`
// is a blank; percent escapes are decoded once. Nothing is refused: a broken escape stays as it came, and bytes that are not UTF-8 are kept.
// Everything is decoded into one buffer that is used again for the next request.

package struct Parameters: Sendable {
    package struct Entry: Sendable, Hashable {
        package let name: Range<Int>
        package let value: Range<Int>
    }

    /// Decoded names and values, behind one another.
    package private(set) var bytes: [UInt8] = []
    /// In the order of the request; a name may come twice, the first one counts.
    package private(set) var entries: [Entry] = []

    package init() {}

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
    }

    /// Adds the pairs of `range`; empty pieces (`a=1&&b=2`) are skipped, a name without `=` has an empty value.
    package mutating func parse(_ range: Range<Int>, in text: Span<UInt8>) {
        var at = range.lowerBound
        let end = min(range.upperBound, text.count)
        while at < end {
            if text[at] == UInt8(ascii: "&") {
                at += 1
                continue
            }
            let nameStart = bytes.count
            at = decode(text, from: at, to: end, stopAtEqual: true)
            let nameEnd = bytes.count
            if at < end, text[at] == .equal { at = decode(text, from: at + 1, to: end, stopAtEqual: false) }
            entries.append(Entry(name: nameStart..<nameEnd, value: nameEnd..<bytes.count))
        }
    }

    /// Adds one pair as it is.
    package mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
        let start = bytes.count
        for index in name.indices { bytes.append(name[index]) }
        let middle = bytes.count
        for index in value.indices { bytes.append(value[index]) }
        entries.append(Entry(name: start..<middle, value: middle..<bytes.count))
    }

    /// Takes out the entries from `start` on for which `isUnwanted` holds; their bytes stay.
    package mutating func remove(from start: Int, where isUnwanted: (_ name: Range<Int>) -> Bool) {
        guard start < entries.count else { return }
        let kept = entries[start...].filter { !isUnwanted($0.name) }
        entries.replaceSubrange(start..., with: kept)
    }

    /// The value of the first parameter of this name, as a range of `bytes`.
    package func value(of name: StaticString) -> Range<Int>? {
        let span = bytes.span
        for entry in entries where span.equalsExactly(name, at: entry.name) { return entry.value }
        return nil
    }

    private mutating func decode(_ text: Span<UInt8>, from start: Int, to end: Int, stopAtEqual: Bool) -> Int {
        var at = start
        while at < end {
            let byte = text[at]
            if byte == UInt8(ascii: "&") || (stopAtEqual && byte == .equal) { break }
            if byte == .percent, at + 2 < end, let high = text[at + 1].hexValue, let low = text[at + 2].hexValue {
                bytes.append(high << 4 | low)
                at += 3
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? .space : byte)
                at += 1
            }
        }
        return at
    }
}

/// Decodes the percent escapes of a path once.
///
/// - Returns: nil for a broken escape, a NUL, an encoded slash, a backslash or a `..` segment: what a file system or a proxy may read in
///   another way.
package func decodePath(_ range: Range<Int>, in text: Span<UInt8>) -> [UInt8]? {
    var path: [UInt8] = []
    var at = range.lowerBound
    while at < range.upperBound {
        if text[at] == .percent {
            guard at + 2 < range.upperBound, let high = text[at + 1].hexValue, let low = text[at + 2].hexValue else { return nil }
            let byte = high << 4 | low
            guard byte != 0, byte != .slash, byte != .backslash else { return nil }
            path.append(byte)
            at += 3
        } else {
            guard text[at] != .backslash else { return nil }
            path.append(text[at])
            at += 1
        }
    }
    return path.split(separator: .slash).contains { $0.elementsEqual("..".utf8) } ? nil : path
}
