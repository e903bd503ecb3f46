// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Switchboard

struct OpeningHoursTests {
    private func hours(
        _ start: String, _ end: String, _ days: [String]? = nil, zone: Zone = .utc
    ) throws -> OpeningHours {
        let between = (try OpeningHours.minute(start), try OpeningHours.minute(end))
        return try OpeningHours(between: between, days: days?.map { try OpeningHours.weekday($0) } ?? Weekday.allCases, zone: zone)
    }

    private func time(_ text: String) throws -> Int64 {
        Int64(try #require(ISO8601DateFormatter().date(from: text + "Z")).timeIntervalSince1970)
    }

    @Test func `the start is within, the end is not`() throws {
        let office = try hours("09:00", "17:30")
        for (text, holds) in [
            ("2026-11-30T08:59:59", false), ("2026-11-30T09:00:00", true), ("2026-11-30T17:29:59", true), ("2026-11-30T17:30:00", false),
        ] { #expect(try office.holds(at: time(text)) == holds, "\(text)") }
    }

    @Test func `days are single days`() throws {
        let office = try hours("09:00", "17:30", ["mon", "fri"])
        // 30 November 2026 is a Monday.
        for (day, holds) in [("11-30", true), ("12-01", false), ("12-03", false), ("12-04", true), ("12-05", false), ("12-06", false)] {
            #expect(try office.holds(at: time("2026-\(day)T12:00:00")) == holds, "\(day)")
        }
    }

    @Test func `a window over midnight belongs to the day on which it began`() throws {
        let night = try hours("22:00", "06:00", ["sun"])
        for (text, holds) in [
            ("2026-11-29T05:59:59", false), ("2026-11-29T21:59:59", false), ("2026-11-29T22:00:00", true), ("2026-11-29T23:59:59", true),
            ("2026-11-30T00:00:00", true), ("2026-11-30T05:59:59", true), ("2026-11-30T06:00:00", false), ("2026-11-30T22:00:00", false),
        ] { #expect(try night.holds(at: time(text)) == holds, "\(text)") }
    }

    @Test func `24:00 ends a day, and so does 00:00 behind a later start`() throws {
        for end in ["24:00", "00:00"] {
            let evening = try hours("18:00", end, ["mon"])
            for (text, holds) in [
                ("2026-11-30T18:00:00", true), ("2026-11-30T23:59:59", true), ("2026-12-01T00:00:00", false),
                ("2026-11-30T00:00:00", false),
            ] { #expect(try evening.holds(at: time(text)) == holds, "\(end) \(text)") }
        }
        #expect(try hours("00:00", "24:00").holds(at: time("2026-11-30T23:59:59")))
        #expect(try OpeningHours(days: [.mon], zone: .utc).holds(at: time("2026-11-30T00:00:00")))
        #expect(try !OpeningHours(days: [.mon], zone: .utc).holds(at: time("2026-12-01T00:00:00")))
    }

    @Test func `the clocks of the zone count, in summer and in winter`() throws {
        let office = try hours("09:00", "17:30", ["mon"], zone: .named("Europe/London", folders: [ZoneFile.folder("slim")]))
        for (text, holds) in [
            ("2026-07-06T07:59:59", false), ("2026-07-06T08:00:00", true), ("2026-07-06T16:29:59", true), ("2026-07-06T16:30:00", false),
            ("2026-11-30T08:59:59", false), ("2026-11-30T09:00:00", true), ("2026-11-30T17:29:59", true), ("2026-11-30T17:30:00", false),
        ] { #expect(try office.holds(at: time(text)) == holds, "\(text)") }
        // In Sydney it is Monday while it is Sunday in UTC.
        let sydney = try hours("09:00", "10:00", ["mon"], zone: .named("Australia/Sydney", folders: [ZoneFile.folder("slim")]))
        #expect(try sydney.holds(at: time("2026-11-29T22:30:00")))
    }

    @Test func `a window that the clocks jump over does not hold, and one that comes twice holds twice`() throws {
        let zone = try Zone.named("Europe/London", folders: [ZoneFile.folder("slim")])
        let window = try hours("01:15", "01:45", zone: zone)
        func minutes(from text: String) throws -> Int {
            let start = try time(text)
            return (0..<180).count { window.holds(at: start + $0 * 60) }
        }
        #expect(try minutes(from: "2026-03-29T00:00:00") == 0)
        #expect(try minutes(from: "2026-10-25T00:00:00") == 60)
        #expect(try minutes(from: "2026-11-29T00:00:00") == 30)
    }

    @Test func `local time is that of Foundation's calendar`() throws {
        var calendar = Calendar(identifier: .gregorian)
        for offset in [0, 3600, -34_200, 20_700, 50_400, -43_200] {
            calendar.timeZone = try #require(TimeZone(secondsFromGMT: offset))
            for time in stride(from: -90_000_000 as Int64, to: 4_000_000_000, by: 40_000_003) {
                let parts = calendar.dateComponents([.weekday, .hour, .minute], from: Date(timeIntervalSince1970: TimeInterval(time)))
                let local = LocalTime(at: time, secondsFromGMT: offset)
                #expect((local.weekday.rawValue + 1) % 7 + 1 == parts.weekday)
                #expect(local.minute == (parts.hour ?? 0) * 60 + (parts.minute ?? 0))
            }
        }
        #expect(LocalTime(at: -1, secondsFromGMT: 0) == LocalTime(at: 604_799, secondsFromGMT: 0))
        #expect(LocalTime(at: 0, secondsFromGMT: -1).weekday == .wed)
    }

    @Test func `times of the day are read`() throws {
        for (text, minute) in [("00:00", 0), ("09:00", 540), ("17:30", 1050), ("23:59", 1439), ("24:00", 1440)] {
            #expect(try OpeningHours.minute(text) == minute)
        }
    }

    @Test(arguments: [
        "", "9:00", "09.00", "0900", "09:60", "24:01", "25:00", "09:00:00", "-1:00", "+9:00", " 9:00", "0９:00", "09:0a", "9am",
    ])
    func `what is no time of the day is refused`(_ text: String) {
        #expect(throws: OpeningHoursError.badTime(text)) { try OpeningHours.minute(text) }
        #expect(
            OpeningHoursError.badTime("9am").description
                == "\"9am\" is no time of the day: write hours and minutes as in 09:00, up to 24:00")
    }

    @Test func `days are read in either case`() throws {
        #expect(try ["mon", "Tue", "WED", "thu", "fri", "sat", "sun"].map { try OpeningHours.weekday($0) } == Weekday.allCases)
    }

    @Test(arguments: [
        ("monday", "\"monday\" is no day: write mon"), ("Tues", "\"Tues\" is no day: write tue"),
        ("mon-fri", "\"mon-fri\" is no day: write mon"),
        ("", "\"\" is no day: write one of mon, tue, wed, thu, fri, sat, sun"),
        ("lun", "\"lun\" is no day: write one of mon, tue, wed, thu, fri, sat, sun"),
    ])
    func `what is no day is refused, and says what would be right`(_ text: String, message: String) {
        let error = #expect(throws: OpeningHoursError.self) { try OpeningHours.weekday(text) }
        #expect(error?.description == message)
    }

    @Test func `hours that never hold cannot be made`() {
        func refused(_ start: Int, _ end: Int, _ days: [Weekday] = [.mon], with error: OpeningHoursError) {
            #expect(throws: error) { try OpeningHours(between: (start, end), days: days, zone: .utc) }
        }
        refused(540, 540, with: .emptyWindow)
        refused(0, 0, with: .emptyWindow)
        refused(1440, 60, with: .startsAt24)
        refused(1440, 1440, with: .startsAt24)
        refused(-1, 60, with: .outsideDay(minute: -1))
        refused(0, 1441, with: .outsideDay(minute: 1441))
        refused(.max, .min, with: .outsideDay(minute: .max))
        refused(540, 600, [], with: .noDays)
    }
}
