// SPDX-License-Identifier: MIT
//
// UTF-8 as the Unicode standard has it (table 3-7): no overlong form, no surrogate, nothing above U+10FFFF; a bad sequence is measured as its
// maximal subpart (section 3.9), so that each is replaced by one U+FFFD. Runs of plain bytes are found eight at a time: nearly all text is
// ASCII, and every reader and writer here spends its time in such runs.

/// Whether every sequence is well-formed.
package func isValidUTF8(_ bytes: Span<UInt8>) -> Bool {
    var at = 0
    while at < bytes.count {
        if at <= bytes.count - 8, bytes.word(at: at) & 0x8080_8080_8080_8080 == 0 {
            at += 8
            continue
        }
        let length = utf8Length(in: bytes, at: at)
        if length < 0 { return false }
        at += length
    }
    return true
}

/// The length of the well-formed sequence at `at`, or, negative, of the maximal subpart of a bad one.
func utf8Length(in bytes: Span<UInt8>, at: Int) -> Int {
    let lead = bytes[at]
    let needed: Int
    var allowed: ClosedRange<UInt8> = 0x80...0xBF
    switch lead {
    case 0x00...0x7F: return 1
    case 0xC2...0xDF: needed = 2
    case 0xE0: (needed, allowed) = (3, 0xA0...0xBF)
    case 0xED: (needed, allowed) = (3, 0x80...0x9F)
    case 0xE1...0xEF: needed = 3
    case 0xF0: (needed, allowed) = (4, 0x90...0xBF)
    case 0xF1...0xF3: needed = 4
    case 0xF4: (needed, allowed) = (4, 0x80...0x8F)
    default: return -1
    }
    var length = 1
    while length < needed {
        guard at + length < bytes.count, allowed.contains(bytes[at + length]) else { return -length }
        allowed = 0x80...0xBF
        length += 1
    }
    return needed
}

func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

/// Where the run of printable ASCII without `"` and `\` that begins at `start` ends.
func endOfPlainRun(in bytes: Span<UInt8>, from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs = ones &* 0x80
    var at = start
    while at <= bytes.count - 8 {
        let word = bytes.word(at: at)
        let quote = word ^ (ones &* 0x22)
        let backslash = word ^ (ones &* 0x5C)
        // In each term a byte's high bit is set where it matches; a borrow can only mark bytes behind the first true match.
        let below = (word &- ones &* 0x20) & ~word
        let stops = (word | below | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)) & highs
        if stops != 0 { return at + stops.trailingZeroBitCount / 8 }
        at += 8
    }
    while at < bytes.count, isPlain(bytes[at]) { at += 1 }
    return at
}

private func isPlain(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x80 && byte != 0x22 && byte != 0x5C }

extension Span<UInt8> {
    /// Eight bytes, the first in the lowest bits; the caller has made sure that they are there.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        // Checked against the span's bounds, and any eight bytes are a UInt64; the name warns of types for which that does not hold.
        unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}

extension [UInt8] {
    /// Copies a part of a text.
    mutating func append(_ range: Range<Int>, of text: Span<UInt8>) {
        // The standard library has no bulk copy from a span yet; the pointer lives for this call only.
        unsafe text.extracting(range).withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
