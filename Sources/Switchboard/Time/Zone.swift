// SPDX-License-Identifier: MIT
//
// A time zone: how far local time is from UTC at a moment. Foundation's would need ICU and its data, which are larger than this program; every
// system has the same facts in small files, and `Zone+TZif.swift` reads them, `Zone+Named.swift` finds them.
//
// The type is not called `TimeZone`, so that a file which imports Foundation need not say which one it means.
//
// A file lists the changes of the past; a TZ string gives the rule for all time behind them. The rule is worked out once, for 400 years: after
// those the Gregorian calendar repeats to the weekday, and any later time is folded back. So a question is a remainder and a binary search:
// no calendar, no allocation, no lock.

/// A time zone.
package struct Zone: Hashable, Sendable {
    /// What the file lists.
    private let history: OffsetTable
    /// What holds from the last listed change on, for times in `TZString.cycle`; nil where the last change stays.
    private let future: OffsetTable?

    init(history: OffsetTable, rule: TZString?) {
        self.history = history
        future = rule?.table()
    }

    /// UTC all the year; it needs no file.
    package static let utc = Zone(history: OffsetTable(before: 0), rule: nil)

    /// Local time minus UTC, seconds, east positive: within ±26 hours.
    ///
    /// - Parameter time: Unix seconds; any value.
    /// - Source: RFC 9636 section 3.2: time type 0 before the first transition; section 3.3: the TZ string behind the last, and for every time
    ///   where there is no transition.
    package func secondsFromGMT(at time: Int64) -> Int {
        guard let future, time >= history.times.last ?? .min else { return history.offset(at: time) }
        let folded = time % TZString.cycle
        return future.offset(at: folded < 0 ? folded + TZString.cycle : folded)
    }
}

/// Offsets from UTC and the times from which they hold.
struct OffsetTable: Hashable, Sendable {
    /// Seconds, before the first of `times`.
    private let before: Int32
    /// Unix seconds, ascending.
    private(set) var times: [Int64] = []
    private var offsets: [Int32] = []

    init(before: Int32) { self.before = before }

    /// Times must come in ascending order.
    mutating func append(_ offset: Int32, from time: Int64) {
        times.append(time)
        offsets.append(offset)
    }

    func offset(at time: Int64) -> Int {
        var low = 0
        var high = times.count
        while low < high {
            let middle = (low + high) / 2
            if times[middle] <= time { low = middle + 1 } else { high = middle }
        }
        return Int(low == 0 ? before : offsets[low - 1])
    }
}
