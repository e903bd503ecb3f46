// SPDX-License-Identifier: MIT
//
// Money as Vonage writes it: decimal text, never a floating point number. Sums keep the most decimals of what was added, so a call with one
// leg shows its price byte for byte.

/// A decimal number with up to 30 digits.
package struct ExactDecimal: Hashable, Sendable, CustomStringConvertible {
    private var digits: Int128
    /// How many of the digits stand behind the point, 0...18.
    private var decimals: Int

    /// Reads `0.00144000`, also with a minus; nil for any other form, or more digits than are kept.
    package init?(_ text: String) {
        var bytes = text.utf8[...]
        let isNegative = bytes.first == UInt8(ascii: "-")
        if isNegative { bytes = bytes.dropFirst() }
        var (digits, decimals, count, hasPoint) = (Int128(0), 0, 0, false)
        for byte in bytes {
            if byte == UInt8(ascii: "."), !hasPoint, count > 0 {
                hasPoint = true
                continue
            }
            guard byte.isDecimalDigit, count < 30 else { return nil }
            digits = digits * 10 + Int128(byte - 0x30)
            count += 1
            if hasPoint { decimals += 1 }
        }
        guard count > 0, decimals <= 18, count - decimals <= 12, !hasPoint || decimals > 0 else { return nil }
        self.digits = isNegative ? -digits : digits
        self.decimals = decimals
    }

    /// Nil where the sum has too many digits.
    package func adding(_ other: Self) -> Self? {
        let decimals = max(decimals, other.decimals)
        guard let one = digits(with: decimals), let two = other.digits(with: decimals) else { return nil }
        let (sum, isOver) = one.addingReportingOverflow(two)
        guard !isOver else { return nil }
        var result = self
        (result.digits, result.decimals) = (sum, decimals)
        return result
    }

    private func digits(with wanted: Int) -> Int128? {
        var digits = digits
        for _ in decimals..<wanted {
            let (more, isOver) = digits.multipliedReportingOverflow(by: 10)
            guard !isOver else { return nil }
            digits = more
        }
        return digits
    }

    package var description: String {
        var text = String(digits.magnitude)
        if decimals > 0 {
            text = String(repeating: "0", count: max(decimals + 1 - text.utf8.count, 0)) + text
            text.insert(".", at: text.index(text.endIndex, offsetBy: -decimals))
        }
        return digits < 0 ? "-" + text : text
    }
}
