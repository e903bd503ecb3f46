// SPDX-License-Identifier: MIT
//
// The rule at the end of a zone file, such as `GMT0BST,M3.5.0/1,M10.5.0`: the offset, and where clocks change, the two days on which they do.
//
// A rule is taken apart strictly, and its names are checked and dropped. A name without a rule for summer time, which POSIX leaves to the
// system, is refused. Nothing here assumes that summer time is ahead (Dublin's winter time is the exception that the rule names), that it
// begins before it ends (south of the equator it does not), or that a change falls into the year that names it (its hour may be ±167).

/// A TZ string.
///
/// - Source: POSIX.1-2024 section 8.3, `TZ`; RFC 9636 section 3.3.
struct TZString: Hashable, Sendable {
    /// After these seconds, 400 years, the calendar repeats with its weekdays: 146,097 days are 20,871 weeks.
    static let cycle = 146_097 * 86_400 as Int64

    enum Day: Hashable, Sendable {
        /// `Jn`: 1...365; 29 February is never counted.
        case julian(Int)
        /// `n`: 0...365; 29 February is counted.
        case zeroBased(Int)
        /// `Mm.w.d`: month 1...12, week 1...5 (5 is the last), weekday 0...6 from Sunday.
        case weekday(month: Int, week: Int, day: Int)
    }

    struct Change: Hashable, Sendable {
        let day: Day
        /// Seconds from the local midnight at which the day begins, within ±168 hours.
        let time: Int
    }

    struct Daylight: Hashable, Sendable {
        /// Seconds east of UTC.
        let offset: Int
        /// In standard time.
        let start: Change
        /// In daylight saving time.
        let end: Change
    }

    /// Seconds east of UTC, within ±25 hours.
    let standard: Int
    let daylight: Daylight?

    /// - Throws: `TZStringError` with the first byte that does not fit.
    init(_ text: [UInt8]) throws(TZStringError) {
        var reader = TZStringReader(text)
        try reader.name()
        standard = try reader.offset()
        guard !reader.isAtEnd else {
            daylight = nil
            return
        }
        try reader.name()
        let offset = reader.isAt(",") ? standard + 3600 : try reader.offset()
        let start = try reader.change()
        let end = try reader.change()
        guard reader.isAtEnd else { throw reader.failure }
        daylight = Daylight(offset: offset, start: start, end: end)
    }

    /// The offsets of the times in `0..<cycle`.
    func table() -> OffsetTable {
        guard let daylight else { return OffsetTable(before: Int32(truncatingIfNeeded: standard)) }
        var changes: [(time: Int64, isStart: Bool)] = []
        for year in 1968...2370 {
            changes.append((daylight.start.seconds(year) - Int64(standard), true))
            changes.append((daylight.end.seconds(year) - Int64(daylight.offset), false))
        }
        // Where one year's end meets the next one's start, daylight saving time goes on: so a rule says that it lasts all the year.
        changes.sort { ($0.time, $0.isStart ? 1 : 0) < ($1.time, $1.isStart ? 1 : 0) }
        func offset(_ change: (time: Int64, isStart: Bool)) -> Int32 {
            Int32(truncatingIfNeeded: change.isStart ? daylight.offset : standard)
        }
        var current = changes.last { $0.time < 0 }.map(offset) ?? Int32(truncatingIfNeeded: standard)
        var table = OffsetTable(before: current)
        let within = changes.filter { (0..<Self.cycle).contains($0.time) }
        for (index, change) in within.enumerated() {
            if index + 1 < within.count, within[index + 1].time == change.time { continue }
            guard offset(change) != current else { continue }
            current = offset(change)
            table.append(current, from: change.time)
        }
        return table
    }
}

/// A TZ string that cannot be read.
struct TZStringError: Error, Hashable {
    /// Bytes from the start of the string to the first that does not fit.
    let offset: Int
}

extension TZString.Change {
    /// When it comes in a year of 1968...2370: local seconds since 1970.
    fileprivate func seconds(_ year: Int) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let years = year - 1
        let january = (year - 1970) * 365 + (years / 4 - years / 100 + years / 400) - (1969 / 4 - 1969 / 100 + 1969 / 400)
        let number =
            switch day {
            case .julian(let day): january + day - (isLeap && day >= 60 ? 0 : 1)
            case .zeroBased(let day): january + day
            case .weekday(let month, let week, let day):
                january
                    + weekday(day, week: week, from: january, month: daysBefore(month, isLeap)..<daysBefore(month + 1, isLeap))
            }
        return Int64(number) * 86_400 + Int64(time)
    }

    /// The day of the year, from 0, on which a month's weekday falls.
    private func weekday(_ day: Int, week: Int, from january: Int, month: Range<Int>) -> Int {
        // 1 January 1970 was a Thursday; 200 weeks more keep the days of 1968 and 1969 positive.
        let firstWeekday = (january + month.lowerBound + 4 + 7 * 200) % 7
        let found = month.lowerBound + (day - firstWeekday + 7) % 7 + (week - 1) * 7
        return found < month.upperBound ? found : found - 7
    }

    /// For months 1...13.
    private func daysBefore(_ month: Int, _ isLeap: Bool) -> Int {
        let days = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365][month - 1]
        return month > 2 && isLeap ? days + 1 : days
    }
}

private struct TZStringReader {
    private let text: [UInt8]
    private var at = 0

    init(_ text: [UInt8]) { self.text = text }

    var isAtEnd: Bool { at == text.count }
    var failure: TZStringError { TZStringError(offset: at) }

    func isAt(_ byte: Unicode.Scalar) -> Bool { at < text.count && text[at] == UInt8(ascii: byte) }

    private mutating func skip(_ byte: Unicode.Scalar) -> Bool {
        guard isAt(byte) else { return false }
        at += 1
        return true
    }

    private mutating func expect(_ byte: Unicode.Scalar) throws(TZStringError) {
        guard skip(byte) else { throw failure }
    }

    /// Three letters or more, or in angle brackets letters, digits and signs.
    mutating func name() throws(TZStringError) {
        let isQuoted = skip("<")
        let start = at
        while at < text.count {
            let byte = text[at]
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            let isOther = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || isAt("+") || isAt("-")
            guard isLetter || isQuoted && isOther else { break }
            at += 1
        }
        guard at - start >= 3 else { throw failure }
        if isQuoted { try expect(">") }
    }

    /// Seconds east of UTC: the text counts hours, 0 to 24, to the west.
    mutating func offset() throws(TZStringError) -> Int { -(try time(hours: 24)) }

    /// `,day[/time]`; 02:00 where no time is given.
    mutating func change() throws(TZStringError) -> TZString.Change {
        try expect(",")
        let day: TZString.Day
        if skip("J") {
            day = .julian(try number(1...365))
        } else if skip("M") {
            let month = try number(1...12)
            try expect(".")
            let week = try number(1...5)
            try expect(".")
            day = .weekday(month: month, week: week, day: try number(0...6))
        } else {
            day = .zeroBased(try number(0...365))
        }
        return TZString.Change(day: day, time: skip("/") ? try time(hours: 167) : 7200)
    }

    /// `[+-]hh[:mm[:ss]]` in seconds.
    private mutating func time(hours: Int) throws(TZStringError) -> Int {
        let isNegative = skip("-")
        if !isNegative { _ = skip("+") }
        var seconds = try number(0...hours) * 3600
        if skip(":") {
            seconds += try number(0...59) * 60
            if skip(":") { seconds += try number(0...59) }
        }
        return isNegative ? -seconds : seconds
    }

    /// One to three digits.
    private mutating func number(_ range: ClosedRange<Int>) throws(TZStringError) -> Int {
        let start = at
        var value = 0
        while at < text.count, at - start < 3, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[at]) {
            value = value * 10 + Int(text[at] - UInt8(ascii: "0"))
            at += 1
        }
        guard at > start, range.contains(value) else {
            at = start
            throw failure
        }
        return value
    }
}
