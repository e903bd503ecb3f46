// SPDX-License-Identifier: MIT

import Foundation
import HTTPWire
import Testing

private func date(_ seconds: Int64) -> String {
    var output: [UInt8] = []
    appendHTTPDate(seconds, to: &output)
    return String(decoding: output, as: UTF8.self)
}

@Suite struct `An HTTP date` {
    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
            (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"), (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"), (1_735_689_600, "Wed, 01 Jan 2025 00:00:00 GMT"),
            (2_147_483_648, "Tue, 19 Jan 2038 03:14:08 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] as [(Int64, String)]) func `has a fixed form`(_ seconds: Int64, _ expected: String)
    { #expect(date(seconds) == expected) }

    @Test func `stays within the years 1970 to 9999`() {
        #expect(date(-1) == date(0))
        #expect(date(.min) == date(0))
        #expect(date(253_402_300_800) == date(253_402_300_799))
        #expect(date(.max) == date(253_402_300_799))
    }

    @Test func `agrees with Foundation at a thousand times`() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.calendar = Calendar(identifier: .gregorian)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        var random = Seeded(state: 1)
        for _ in 0..<1000 {
            let seconds = Int64.random(in: 0...253_402_300_799, using: &random)
            #expect(date(seconds) == formatter.string(from: Date(timeIntervalSince1970: Double(seconds))), "\(seconds)")
        }
    }

    @Test func `counts every day of 400 years once`() {
        var (year, month, day) = (1970, 1, 1)
        for days in 0..<146_097 {
            let found = civilDate(daysSince1970: days)
            if found != (year, month, day) { Issue.record("\(days): \(found)") }
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let length = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
            day += 1
            if day > length { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
        }
    }
}
