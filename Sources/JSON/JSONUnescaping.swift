// SPDX-License-Identifier: MIT
//
// From the inside of a string literal to the text it stands for, RFC 8259 section 7: surrogate pairs are joined, and a surrogate without its
// other half, which the grammar allows and UTF-8 has no form for, becomes U+FFFD.

/// Appends the text that the inside of a string literal stands for.
///
/// In text that `minifyJSON` would refuse, a broken escape is kept as it stands; a range outside the text is cut to it.
package func decodeJSONString(_ escaped: Range<Int>, in text: Span<UInt8>, into output: inout [UInt8]) {
    let range = escaped.clamped(to: 0..<text.count)
    let text = text.extracting(range)
    var at = 0
    while at < text.count {
        var run = at
        while run < text.count, text[run] != UInt8(ascii: "\\") { run = max(run + 1, endOfPlainRun(in: text, from: run)) }
        if at < run { output.append(at..<run, of: text) }
        at = run
        guard at < text.count else { return }
        if at + 1 < text.count, let byte = shortEscape(text[at + 1]) {
            output.append(byte)
            at += 2
        } else if let unit = codeUnit(in: text, at: at) {
            at += 6
            if 0xD800...0xDBFF ~= unit, let low = codeUnit(in: text, at: at), 0xDC00...0xDFFF ~= low {
                at += 6
                output.append(scalar: 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
            } else {
                output.append(scalar: 0xD800...0xDFFF ~= unit ? 0xFFFD : unit)
            }
        } else {
            output.append(text[at])
            at += 1
        }
    }
}

private func shortEscape(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
}

/// The UTF-16 code unit of a `\u` with its four digits at `at`.
private func codeUnit(in text: Span<UInt8>, at: Int) -> UInt32? {
    guard at + 6 <= text.count, text[at] == UInt8(ascii: "\\"), text[at + 1] == UInt8(ascii: "u") else { return nil }
    var unit: UInt32 = 0
    for digit in at + 2..<at + 6 {
        guard let value = hexValue(text[digit]) else { return nil }
        unit = unit << 4 | value
    }
    return unit
}

extension [UInt8] {
    /// UTF-8 of a value that is no surrogate and not above 0x10FFFF.
    fileprivate mutating func append(scalar value: UInt32) {
        guard let scalar = Unicode.Scalar(value) else { return }
        append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
}
