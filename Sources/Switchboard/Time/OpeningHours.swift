// SPDX-License-Identifier: MIT
//
// When someone is there: a window of the day, days of the week, and the zone whose clocks count. A flow asks it for each call, so the texts
// are read once, into minutes and bits.
//
// Clocks decide, not durations: from 01:30 to 02:30 is empty on the night on which 01:00 is followed by 03:00, and lasts two hours on the
// night on which an hour comes twice.

import NCCO

/// A window of the day on some days of the week, in a time zone.
package struct OpeningHours: Hashable, Sendable {
    private let start: Int
    private let end: Int
    /// One bit for each weekday, Monday lowest.
    private let days: UInt8
    private let zone: Zone

    /// - Parameters:
    ///   - between: minutes since local midnight: the first (0...1439) and the one behind the last (0...1440). Where the end is before the
    ///     start the window goes over midnight and belongs to the day on which it began. All the day by default.
    ///   - days: at least one; every day by default.
    /// - Throws: `OpeningHoursError`.
    package init(
        between: (start: Int, end: Int)? = nil, days: [Weekday] = Weekday.allCases, zone: Zone
    ) throws(OpeningHoursError) {
        let (start, end) = between ?? (0, 1440)
        guard (0...1439).contains(start) else { throw start == 1440 ? .startsAt24 : .outsideDay(minute: start) }
        guard (0...1440).contains(end) else { throw .outsideDay(minute: end) }
        guard start != end else { throw .emptyWindow }
        guard !days.isEmpty else { throw .noDays }
        self.start = start
        self.end = end
        self.days = days.reduce(0) { $0 | 1 << UInt8($1.rawValue) }
        self.zone = zone
    }

    /// Whether a moment, in Unix seconds, is within.
    package func holds(at time: Int64) -> Bool {
        let local = LocalTime(at: time, secondsFromGMT: zone.secondsFromGMT(at: time))
        var day = local.weekday.rawValue
        if start < end {
            guard local.minute >= start, local.minute < end else { return false }
        } else if local.minute < start {
            guard local.minute < end else { return false }
            day = (day + 6) % 7
        }
        return days & 1 << UInt8(day) != 0
    }

    /// Reads a time of the day such as `09:00`: `00:00` to `24:00`, two digits each. The result is in minutes, 0...1440.
    package static func minute(_ text: String) throws(OpeningHoursError) -> Int {
        let bytes = Array(text.utf8)
        let digits = [0, 1, 3, 4]
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[$0]) })
        else { throw .badTime(text) }
        let values = digits.map { Int(bytes[$0] - UInt8(ascii: "0")) }
        let (hour, minute) = (values[0] * 10 + values[1], values[2] * 10 + values[3])
        guard minute < 60, hour * 60 + minute <= 1440 else { throw .badTime(text) }
        return hour * 60 + minute
    }

    /// Reads the first three letters of an English weekday, in either case.
    package static func weekday(_ text: String) throws(OpeningHoursError) -> Weekday {
        let lower = text.lowercased()
        guard let weekday = Weekday.allCases.first(where: { "\($0)" == lower }) else { throw .badDay(text) }
        return weekday
    }
}

/// Why opening hours make no sense.
package enum OpeningHoursError: Error, Hashable, CustomStringConvertible {
    case badTime(String)
    case badDay(String)
    case outsideDay(minute: Int)
    case startsAt24
    case emptyWindow
    case noDays

    package var description: String {
        switch self {
        case .badTime(let text): "\(printable(text)) is no time of the day: write hours and minutes as in 09:00, up to 24:00"
        case .badDay(let text):
            if let meant = Weekday.allCases.first(where: { text.lowercased().hasPrefix("\($0)") }) {
                "\(printable(text)) is no day: write \(meant)"
            } else {
                "\(printable(text)) is no day: write one of \(Weekday.allCases.map { "\($0)" }.joined(separator: ", "))"
            }
        case .outsideDay(let minute): "minute \(minute) is not in a day: 0 to 1439, or 1440 as an end"
        case .startsAt24: "nothing begins at 24:00: write 00:00"
        case .emptyWindow: "the hours end as they begin: for the whole day write 00:00 to 24:00, or leave them out"
        case .noDays: "no day is named: name one, or leave the days out"
        }
    }
}
