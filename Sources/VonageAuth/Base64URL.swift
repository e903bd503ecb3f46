// SPDX-License-Identifier: MIT
//
// base64url without padding (RFC 4648 §5, as RFC 7515 §2 has it), read strictly: one spelling for each sequence of bytes, so that a token cannot
// be written in two ways. Keys come in whatever wrapping people gave them: for those both alphabets are read, with and without padding.

extension [UInt8] {
    /// Appends the base64url spelling, without padding.
    package mutating func appendBase64URL(_ bytes: Span<UInt8>) {
        func digit(_ value: UInt32) -> UInt8 {
            switch value & 0x3F {
            case let letter where letter < 26: UInt8(ascii: "A") + UInt8(truncatingIfNeeded: letter)
            case let letter where letter < 52: UInt8(ascii: "a") + UInt8(truncatingIfNeeded: letter - 26)
            case let number where number < 62: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number - 52)
            case 62: UInt8(ascii: "-")
            default: UInt8(ascii: "_")
            }
        }
        var bits: UInt32 = 0
        var width: UInt32 = 0
        for index in bytes.indices {
            bits = bits << 8 | UInt32(bytes[index])
            width += 8
            while width >= 6 {
                width -= 6
                append(digit(bits >> width))
            }
        }
        if width > 0 { append(digit(bits << (6 - width))) }
    }

    /// Appends what base64url spells; false, and nothing is appended, for anything but the one spelling of some bytes.
    package mutating func appendDecodedBase64URL(_ range: Range<Int>, in text: Span<UInt8>) -> Bool {
        let before = count
        guard range.upperBound <= text.count, range.count % 4 != 1 else { return false }
        var bits: UInt32 = 0
        var width: UInt32 = 0
        for at in range {
            guard let value = sextet(text[at]) else {
                removeSubrange(before...)
                return false
            }
            bits = bits << 6 | value
            width += 6
            if width >= 8 {
                width -= 8
                append(UInt8(truncatingIfNeeded: bits >> width))
            }
        }
        // Bits that are left over must be zero, or several texts would mean the same.
        guard bits & ((1 << width) - 1) == 0 else {
            removeSubrange(before...)
            return false
        }
        return true
    }
}

/// The value of a digit of base64url.
private func sextet(_ byte: UInt8) -> UInt32? {
    switch byte {
    case 0x41...0x5A: UInt32(byte) - 0x41
    case 0x61...0x7A: UInt32(byte) - 0x61 + 26
    case 0x30...0x39: UInt32(byte) - 0x30 + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
}

/// The bytes that base64 of RFC 4648 §4 or §5 spells, with or without padding; white space has been taken out. Nil for anything else, also
/// where bits are left over, which happens when characters are lost.
func decodeAnyBase64(_ text: Span<UInt8>) -> [UInt8]? {
    var end = text.count
    while end > 0, text.count - end < 2, text[end - 1] == UInt8(ascii: "=") { end -= 1 }
    // Padding says how many characters there were.
    guard end == text.count || text.count % 4 == 0 else { return nil }
    var digits: [UInt8] = []
    digits.reserveCapacity(end)
    for at in 0..<end {
        switch text[at] {
        case UInt8(ascii: "+"): digits.append(UInt8(ascii: "-"))
        case UInt8(ascii: "/"): digits.append(UInt8(ascii: "_"))
        case let byte: digits.append(byte)
        }
    }
    var bytes: [UInt8] = []
    return bytes.appendDecodedBase64URL(0..<end, in: digits.span) ? bytes : nil
}
