// SPDX-License-Identifier: MIT
//
// How a phone number begins: `44`, `1900`. Like a number it is kept as its value, which with its length says all, so that comparing one with
// a number allocates nothing.

import NCCO

/// The first digits of phone numbers in Vonage's form, country code first; at most 15. The one without digits begins them all.
package struct DialPrefix: Sendable, Hashable, CustomStringConvertible {
    let value: UInt64
    let length: Int

    /// What all numbers begin with.
    package static let all = DialPrefix(value: 0, length: 0)

    fileprivate init(value: UInt64, length: Int) {
        self.value = value
        self.length = length
    }

    /// Reads 1 to 15 digits, the first of them not 0, also with a `+` in front; nil for anything else.
    package init?(_ text: some StringProtocol) {
        var digits = Array(text.utf8)
        if digits.first == UInt8(ascii: "+") { digits.removeFirst() }
        guard (1...15).contains(digits.count), digits.first != UInt8(ascii: "0") else { return nil }
        var value: UInt64 = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            value = value * 10 + UInt64(digit - 0x30)
        }
        self.init(value: value, length: digits.count)
    }

    /// The digits of a number that has not more than 15 of them.
    init(digits value: UInt64) { self.init(value: value, length: decimalDigits(of: value)) }

    package var description: String { length == 0 ? "all" : "\(value)" }
}

extension PhoneNumber {
    /// How many digits it has.
    var length: Int { decimalDigits(of: value) }

    /// Its first digits, as many as it has.
    func prefix(_ length: Int) -> DialPrefix {
        let count = min(length, self.length)
        return DialPrefix(value: value / power(self.length - count), length: count)
    }

    /// The number without a 0, or in North America a 1, behind its country code; nil where there is none, where the 0 is part of all numbers
    /// (Italy, San Marino and the Vatican), and where too few digits would be left.
    var withoutTrunkPrefix: PhoneNumber? {
        let code = countryCode
        let trunk: UInt64 = code.value == 1 ? 1 : 0
        guard ![39, 378, 379].contains(code.value) else { return nil }
        var rest = length - code.length
        guard rest > 0, value / power(rest - 1) % 10 == trunk else { return nil }
        while rest > 0, value / power(rest - 1) % 10 == trunk { rest -= 1 }
        return PhoneNumber("\(code.value * power(rest) + value % power(rest))" as String)
    }

    /// The country code, of which ITU-T E.164 has those of one digit (1 and 7), of two, and of three.
    var countryCode: DialPrefix {
        switch prefix(1).value {
        case 1, 7: return prefix(1)
        default:
            let two = prefix(2)
            return twoDigitCodes.contains(UInt8(truncatingIfNeeded: two.value)) ? two : prefix(3)
        }
    }
}

/// The country codes of two digits; all others but 1 and 7 have three (list of assigned country codes, annexed to ITU Operational Bulletin).
private let twoDigitCodes: Set<UInt8> = [
    20, 27, 30, 31, 32, 33, 34, 36, 39, 40, 41, 43, 44, 45, 46, 47, 48, 49, 51, 52, 53, 54, 55, 56, 57, 58, 60, 61, 62, 63, 64, 65, 66, 81,
    82, 84, 86, 90, 91, 92, 93, 94, 95, 98,
]

/// 10 to the power of 0 to 15: a loop, since a table would be an array to be looked after.
private func power(_ exponent: Int) -> UInt64 {
    var result: UInt64 = 1
    for _ in 0..<min(exponent, 15) { result *= 10 }
    return result
}

private func decimalDigits(of value: UInt64) -> Int {
    var (count, rest) = (1, value / 10)
    while rest > 0 { (count, rest) = (count + 1, rest / 10) }
    return count
}
