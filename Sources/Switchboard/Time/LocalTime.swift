// SPDX-License-Identifier: MIT
//
// What a clock on the wall shows of a moment, as far as opening hours ask: the day of the week and the minute of the day.

/// A day of the week, in the order of ISO 8601.
package enum Weekday: Int, CaseIterable, Hashable, Sendable {
    case mon, tue, wed, thu, fri, sat, sun
}

/// A moment's local weekday and minute.
package struct LocalTime: Hashable, Sendable {
    package let weekday: Weekday
    /// Whole minutes since midnight, 0...1439.
    package let minute: Int

    /// - Parameters:
    ///   - time: Unix seconds; any value.
    ///   - offset: local time minus UTC, seconds.
    package init(at time: Int64, secondsFromGMT offset: Int) {
        // Days first: so no time overflows, however far it is.
        let (day, second) = Self.divide(time, by: 86_400)
        let (shift, local) = Self.divide(second + Int64(offset), by: 86_400)
        // 1 January 1970 was a Thursday.
        let number = Self.divide(day + shift + 3, by: 7).remainder
        weekday = Weekday(rawValue: Int(number)) ?? .mon
        minute = Int(local / 60)
    }

    private static func divide(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
