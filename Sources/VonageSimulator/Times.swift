// SPDX-License-Identifier: MIT
//
// Times as Vonage's APIs spell them, all in UTC but one. They are milliseconds since 1970 everywhere else.

import HTTPWire

private func digits(_ value: Int, _ width: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(width - text.utf8.count, 0)) + text
}

private struct Clock {
    let (year, month, day): (Int, Int, Int)
    let (hour, minute, second, millisecond): (Int, Int, Int, Int)
    let days: Int

    /// Clamped to the years 1970 to 9999.
    init(_ milliseconds: Int64) {
        let clamped = Int(min(max(milliseconds, 0), 253_402_300_799_999))
        days = clamped / 86_400_000
        (year, month, day) = civilDate(daysSince1970: days)
        let rest = clamped % 86_400_000
        (hour, minute, second, millisecond) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60, rest % 1000)
    }

    var date: String { "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))" }
    var time: String { "\(digits(hour, 2)):\(digits(minute, 2)):\(digits(second, 2))" }
}

/// `2026-01-02T03:04:05.000Z`, of users and conversations.
func isoTime(_ milliseconds: Int64) -> String {
    let clock = Clock(milliseconds)
    return "\(clock.date)T\(clock.time).\(digits(clock.millisecond, 3))Z"
}

/// `2026-01-01 12:00:01`, of calls.
func callTime(_ milliseconds: Int64) -> String {
    let clock = Clock(milliseconds)
    return "\(clock.date) \(clock.time)"
}

/// `Sun Jan 04 10:00:00 PST 2026`, of video sessions: Pacific standard time, in summer too.
func sessionTime(_ milliseconds: Int64) -> String {
    let clock = Clock(milliseconds - 8 * 3_600_000)
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][clock.days % 7]
    let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][clock.month - 1]
    return "\(weekday) \(month) \(digits(clock.day, 2)) \(clock.time) PST \(clock.year)"
}

/// ISO 8601 as filters are given in it: a date, or date and time with `T` or a blank between, fractions, and `Z`, an offset or nothing.
func readTime(_ text: String) -> Int64? {
    var rest = Array(text.utf8)[...]
    guard rest.count <= 40 else { return nil }
    func number(_ width: Int) -> Int? {
        let field = rest.prefix(width)
        guard field.count == width, field.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest = rest.dropFirst(width)
        return Int(String(decoding: field, as: UTF8.self))
    }
    func skip(_ characters: String) -> UInt8? {
        guard let first = rest.first, characters.utf8.contains(first) else { return nil }
        rest = rest.dropFirst()
        return first
    }
    guard let year = number(4), skip("-") != nil, let month = number(2), skip("-") != nil, let day = number(2), year >= 1970,
        (1...12).contains(month), (1...31).contains(day)
    else { return nil }
    // Days from civil, with years that begin in March.
    let shifted = month > 2 ? year : year - 1
    let era = shifted / 400
    let ofEra = shifted - era * 400
    let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let days = era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    guard civilDate(daysSince1970: days) == (year, month, day) else { return nil }
    var milliseconds = Int64(days) * 86_400_000
    guard !rest.isEmpty else { return milliseconds }
    guard skip("T t") != nil, let hour = number(2), skip(":") != nil, let minute = number(2), hour < 24, minute < 60 else { return nil }
    var second = 0
    if skip(":") != nil {
        guard let seconds = number(2), seconds < 61 else { return nil }
        second = seconds
    }
    milliseconds += Int64((hour * 60 + minute) * 60 + second) * 1000
    if skip(".") != nil {
        let fraction = rest.prefix { (0x30...0x39).contains($0) }
        guard !fraction.isEmpty else { return nil }
        rest = rest.dropFirst(fraction.count)
        milliseconds += Int64(String(decoding: (Array(fraction) + [0x30, 0x30]).prefix(3), as: UTF8.self)) ?? 0
    }
    if skip("Zz") != nil { return rest.isEmpty ? milliseconds : nil }
    // A plus that was not escaped in a query has become a blank.
    if let sign = skip("+- ") {
        guard let hours = number(2), hours < 24 else { return nil }
        _ = skip(":")
        guard let minutes = number(2), minutes < 60 else { return nil }
        let offset = Int64(hours * 60 + minutes) * 60_000
        milliseconds += sign == UInt8(ascii: "-") ? offset : -offset
    }
    return rest.isEmpty ? milliseconds : nil
}
