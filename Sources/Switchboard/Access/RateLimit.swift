// SPDX-License-Identifier: MIT
//
// How often something may happen, as people write it: `600/min`, `3/s`.

/// So many times in a second, a minute, an hour or a day.
package struct RateLimit: Sendable, Hashable, CustomStringConvertible {
    package enum Period: Int64, Sendable, CaseIterable {
        case second = 1
        case minute = 60
        case hour = 3600
        case day = 86400

        fileprivate var names: [String] {
            switch self {
            case .second: ["s", "sec", "second"]
            case .minute: ["min", "m", "minute"]
            case .hour: ["h", "hour"]
            case .day: ["d", "day"]
            }
        }
    }

    /// At least 1.
    package let count: Int
    package let period: Period

    /// More than one in a millisecond would be no limit to anybody, and is refused.
    private static let mostInASecond = 1000

    /// Nil where the count is not from 1 to 1000 for each second of the period.
    package init?(_ count: Int, per period: Period) {
        guard count >= 1, count <= Self.mostInASecond * Int(period.rawValue) else { return nil }
        self.count = count
        self.period = period
    }

    /// With the nearest count that there can be.
    package init(clamping count: Int, per period: Period) {
        self.count = min(max(count, 1), Self.mostInASecond * Int(period.rawValue))
        self.period = period
    }

    /// Reads `COUNT/PERIOD` with `s`, `min`, `h` or `d`, or their names in full; blanks are not allowed.
    ///
    /// - Parameter bare: what a number alone is counted for; nil refuses one.
    package init?(_ text: String, bare: Period? = nil) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let number = parts.first, number.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(number) else { return nil }
        let period: Period?
        switch parts.count {
        case 1: period = bare
        case 2: period = Period.allCases.first { $0.names.contains(String(parts[1])) }
        default: period = nil
        }
        guard let period else { return nil }
        self.init(count, per: period)
    }

    /// As it is read.
    package var description: String { "\(count)/\(period.names[0])" }

    /// What stands in a message about a text that is none.
    package static let allowed = "600/min, 3/s, 100/h or 1000/d"

    var microseconds: Int64 { period.rawValue * 1_000_000 }
}
