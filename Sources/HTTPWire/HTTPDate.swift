// SPDX-License-Identifier: MIT
//
// The one date format that is sent. The C library could write it, but the protocol core imports nothing.

/// Appends a time as IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
///
/// - Parameter seconds: since 1970 in UTC; what lies outside the years 1970 to 9999 becomes the nearest time in them.
package func appendHTTPDate(_ seconds: Int64, to output: inout [UInt8]) {
    let clamped = min(max(seconds, 0), 253_402_300_799)  // the end of the year 9999
    let (days, time) = (Int(clamped / 86_400), Int(clamped % 86_400))
    let (year, month, day) = civilDate(daysSince1970: days)
    func two(_ value: Int) {
        output.append(UInt8(truncatingIfNeeded: 0x30 + value / 10))
        output.append(UInt8(truncatingIfNeeded: 0x30 + value % 10))
    }
    output.append(contentsOf: "ThuFriSatSunMonTueWed".utf8.dropFirst(days % 7 * 3).prefix(3))
    output.append(contentsOf: ", ".utf8)
    two(day)
    output.append(.space)
    output.append(contentsOf: "JanFebMarAprMayJunJulAugSepOctNovDec".utf8.dropFirst((month - 1) * 3).prefix(3))
    output.append(.space)
    two(year / 100)
    two(year % 100)
    output.append(.space)
    two(time / 3600)
    output.append(.colon)
    two(time / 60 % 60)
    output.append(.colon)
    two(time % 60)
    output.append(contentsOf: " GMT".utf8)
}

/// Year, month and day of the Gregorian calendar for a day from 1970 on, counted in eras of 400 years that begin in March, so that the leap
/// day comes last.
package func civilDate(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
}
