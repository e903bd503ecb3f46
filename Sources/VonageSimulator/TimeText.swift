// SPDX-License-Identifier: MIT
//
// Lengths of time as people write them, in scenarios and in lists of trouble.

enum TimeError: Error {
    case isNone
    /// A time, but too short or too long.
    case isOutside
}

/// `500ms`, `10s`, `2m` or `2min`, `1h`, in milliseconds.
func duration(_ text: some StringProtocol, in range: ClosedRange<Int64>) throws(TimeError) -> Int64 {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let factors: [String: Int64] = ["ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000]
    guard !digits.isEmpty, let factor = factors[String(text[digits.endIndex...])] else { throw .isNone }
    guard let number = Int64(digits) else { throw .isOutside }
    let (time, overflow) = number.multipliedReportingOverflow(by: factor)
    guard !overflow, range.contains(time) else { throw .isOutside }
    return time
}
