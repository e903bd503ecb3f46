// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Switchboard

struct ZoneTests {
    @Test(arguments: try OffsetVector.all("zone-offsets"))
    func `offsets from 1970 to 2100 are those that Python finds`(_ vector: OffsetVector) throws {
        let name = try #require(vector.zone)
        #expect(try vector.fault(in: .named(name, folders: [ZoneFile.folder("slim")])) == nil)
        if ZoneFile.fat.contains(name) {
            #expect(try vector.fault(in: .named(name, folders: [ZoneFile.folder("fat")])) == nil)
        }
    }

    @Test func `there is a file for each vector, and five in both forms`() throws {
        #expect(try OffsetVector.all("zone-offsets").compactMap(\.zone) == ZoneFile.slim)
        #expect(ZoneFile.slim.count == 15)
        #expect(ZoneFile.fat.count == 5)
        for name in ZoneFile.fat { #expect(try ZoneFile.bytes("fat", name).count > 1800) }
    }

    @Test(arguments: ZoneFile.fat) func `the rule of a fat file agrees with what it lists up to 2037`(_ name: String) throws {
        let slim = try zone(ZoneFile.bytes("slim", name))
        let fat = try zone(ZoneFile.bytes("fat", name))
        for time in stride(from: -3_000_000_000 as Int64, to: 8_000_000_000, by: 86_400 * 3 + 3599) {
            #expect(slim.secondsFromGMT(at: time) == fat.secondsFromGMT(at: time), "\(time)")
        }
    }

    @Test func `the rule repeats after 400 years`() throws {
        let london = try zone(ZoneFile.bytes("slim", "Europe/London"))
        for time in stride(from: 1_700_000_000 as Int64, to: 1_900_000_000, by: 86_399) {
            #expect(london.secondsFromGMT(at: time) == london.secondsFromGMT(at: time + 3 * TZString.cycle))
        }
    }

    @Test func `before the first transition the first time type holds`() throws {
        let london = try zone(ZoneFile.bytes("slim", "Europe/London"))
        for time in [Int64.min, -9_000_000_000, -3_852_662_326] { #expect(london.secondsFromGMT(at: time) == -75) }
        #expect(london.secondsFromGMT(at: -3_852_662_325) == 0)
        #expect((0...3600).contains(london.secondsFromGMT(at: .max)))
    }

    @Test func `without transitions the rule holds for all time`() throws {
        let zone = try zone(ZoneFile.made(footer: "\nEST5EDT,M3.2.0,M11.1.0\n"))
        #expect(zone.secondsFromGMT(at: 1_720_000_000) == -14_400)
        #expect(zone.secondsFromGMT(at: 1_705_000_000) == -18_000)
        #expect(zone.secondsFromGMT(at: 1_720_000_000 - TZString.cycle) == -14_400)
    }

    @Test func `without a rule the last transition holds for all time behind it`() throws {
        for version in ["1", "2", "3", "4"] as [Character] {
            let zone = try zone(
                ZoneFile.made(version: version, types: [(60, 0), (3600, 0)], transitions: [(-5, 0), (1000, 1)], footer: "\n\n"))
            for (time, offset) in [(.min, 60), (999, 60), (1000, 3600), (.max, 3600)] as [(Int64, Int)] {
                #expect(zone.secondsFromGMT(at: time) == offset)
            }
        }
    }

    @Test(arguments: try OffsetVector.all("tz-strings")) func `a TZ string gives its offsets`(_ vector: OffsetVector) throws {
        let rule = try #require(vector.rule)
        let zone = Zone(history: OffsetTable(before: 7), rule: try TZString(Array(rule.utf8)))
        #expect(vector.fault(in: zone) == nil)
    }

    @Test func `of 1968 to 2370 each day of the year falls where the calendar has it`() throws {
        // The C library's calendar, through Foundation, is the second opinion.
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for year in [1972, 1999, 2000, 2025, 2099, 2100, 2368] {
            for month in 1...12 {
                for week in 1...5 {
                    for day in 0...6 {
                        let rule = try TZString(Array("AAA0BBB-1,M\(month).\(week).\(day)/0,M\(month % 12 + 1).1.0/167".utf8))
                        let table = rule.table()
                        var date = DateComponents(year: year, month: month, weekday: day + 1, weekdayOrdinal: week)
                        if week == 5 { date.weekdayOrdinal = -1 }
                        let expected = try #require(calendar.date(from: date))
                        #expect(table.times.contains(Int64(expected.timeIntervalSince1970)), "\(date)")
                    }
                }
            }
        }
    }

    @Test(arguments: [
        ("", 0), ("UTC", 3), ("UT0", 2), ("UTC0 ", 4), ("<UTC0", 5), ("<+3>0", 3), ("<+0 3>0", 3), ("UTC25", 3), ("UTC1234", 3),
        ("UTC-", 4), ("UTC1:60", 5),
        ("UTC1:", 5), ("EST5EDT", 7), ("EST5EDT4", 8), ("EST5EDT,M3.2.0", 14), ("EST5EDT,M13.2.0,M11.1.0", 9),
        ("EST5EDT,M3.0.0,M11.1.0", 11),
        ("EST5EDT,M3.6.0,M11.1.0", 11), ("EST5EDT,M3.2.7,M11.1.0", 13), ("EST5EDT,J0,J3", 9), ("EST5EDT,J366,J3", 9), ("EST5EDT,366,3", 8),
        ("EST5EDT,3/168,3", 10), ("EST5EDT,3/1:2:60,3", 14), ("EST5EDT,3,4,", 11), ("EST5EDT,M3.2.0,M11.1.0/", 23),
        (":Europe/London", 0), ("EST5é", 4), ("EST5EDT,3,99999999999999999999", 10),
    ])
    func `a TZ string that POSIX does not allow is refused where it goes wrong`(_ text: String, offset: Int) {
        #expect(throws: TZStringError(offset: offset)) { try TZString(Array(text.utf8)) }
    }

    @Test func `a file is refused for what is wrong with it`() throws {
        let good = ZoneFile.made()
        #expect(try zone(good).secondsFromGMT(at: 0) == 0)
        func refused(_ bytes: [UInt8], _ fault: TZifError.Fault, at offset: Int, line: Int = #line) {
            let error = #expect(throws: TZifError.self, "line \(line)") { try zone(bytes) }
            #expect(error == TZifError(fault, at: offset), "line \(line)")
        }
        func changed(_ index: Int, _ byte: UInt8) -> [UInt8] {
            var bytes = good
            bytes[index] = byte
            return bytes
        }
        refused([], .cut, at: 0)
        refused(Array("# tzdb".utf8), .badMagic, at: 0)
        refused([UInt8](repeating: 0, count: 256 * 1024 + 1), .tooLarge, at: 256 * 1024)
        refused([UInt8](repeating: 0, count: 256 * 1024), .badMagic, at: 0)
        refused(changed(4, 1), .badVersion, at: 4)
        refused(changed(4, UInt8(ascii: "5")), .badVersion, at: 4)
        refused(changed(51, 0x54 + 1), .badMagic, at: 51)
        refused(changed(51 + 4, 0), .badVersion, at: 55)
        for count in [20, 24, 28, 32, 36, 40] {
            refused(changed(count, 0xFF), .cut, at: good.count)
            refused(changed(51 + count, 0xFF), .cut, at: good.count)
        }
        refused(ZoneFile.made(types: []), .badCount, at: 71)
        refused(ZoneFile.made(leapSeconds: 1), .leapSeconds, at: 79)
        refused(ZoneFile.made(version: "1", leapSeconds: 1), .leapSeconds, at: 28)
        refused(ZoneFile.made(types: [(93_600, 0)]), .badOffset, at: 95)
        refused(ZoneFile.made(types: [(0, 0), (-90_000, 0)]), .badOffset, at: 101)
        refused(ZoneFile.made(types: [(0, 4)]), .badType, at: 99)
        refused(ZoneFile.made(transitions: [(5, 1)]), .badType, at: 103)
        refused(ZoneFile.made(transitions: [(5, 0), (5, 0)]), .badOrder, at: 103)
        refused(ZoneFile.made(transitions: [(5, 0), (-5, 0)]), .badOrder, at: 103)
        refused(ZoneFile.made(footer: nil), .cut, at: 105)
        refused(ZoneFile.made(footer: "UTC0\n"), .badFooter, at: 105)
        refused(ZoneFile.made(footer: "\nUTC0"), .cut, at: 110)
        refused(ZoneFile.made(footer: "\nUTC0\n\n"), .badFooter, at: 111)
        refused(ZoneFile.made(footer: "\nUTC\n"), .badTZString, at: 109)
        let error = #expect(throws: TZifError.self) { try zone(ZoneFile.made(leapSeconds: 1)) }
        #expect(error?.description == "it counts leap seconds, which Unix time does not (byte 79)")
    }

    @Test(arguments: ZoneFile.slim) func `a file that is cut anywhere is refused`(_ name: String) throws {
        let bytes = try ZoneFile.bytes("slim", name)
        for count in 0..<bytes.count {
            let error = #expect(throws: TZifError.self) { try zone(Array(bytes[..<count])) }
            #expect(error?.fault == .cut)
        }
    }

    @Test func `so is one of version 1`() {
        let bytes = ZoneFile.made(version: "1", types: [(0, 0), (60, 0)], transitions: [(5, 1)])
        #expect(throws: Never.self) { try zone(bytes) }
        for count in 0..<bytes.count {
            #expect(throws: TZifError(.cut, at: count)) { try zone(Array(bytes[..<count])) }
        }
    }

    @Test(arguments: 0..<8) func `a mutated file is read or refused, and nothing traps`(seed: UInt64) throws {
        let files = try ZoneFile.slim.map { try ZoneFile.bytes("slim", $0) } + ZoneFile.fat.map { try ZoneFile.bytes("fat", $0) }
        let spice: [UInt8] = Array("TZif234\0\n,.:/<>+-MJ019".utf8) + [0x7F, 0x80, 0xFF]
        var random = SeededNumbers(seed: seed)
        var accepted = 0
        var refused = 0
        for _ in 0..<400 {
            var bytes = try #require(files.randomElement(using: &random))
            // Most of a file is times, where most changes go unnoticed: three in four hit a header or the footer.
            let second = bytes.indices.dropFirst(4).first { bytes[$0...].starts(with: Array("TZif".utf8)) } ?? 0
            for _ in 0...Int.random(in: 0...1, using: &random) {
                let places = [0..<bytes.count, 0..<44, second..<min(second + 44, bytes.count), max(0, bytes.count - 30)..<bytes.count]
                let at = Int.random(in: places[Int.random(in: 0..<4, using: &random)], using: &random)
                switch Int.random(in: 0..<8, using: &random) {
                case 0...2: bytes[at] = UInt8.random(in: 0...255, using: &random)
                case 3...5: bytes[at] = spice.randomElement(using: &random) ?? 0
                case 6: bytes.insert(spice.randomElement(using: &random) ?? 0, at: at)
                default: bytes.remove(at: at)
                }
            }
            guard let zone = try? zone(bytes) else {
                refused += 1
                continue
            }
            accepted += 1
            let times: [Int64] =
                [.min, .min + 1, -1, 0, 1_764_500_000, .max - 1, .max]
                + (0..<20).map { _ in Int64.random(in: .min ... .max, using: &random) }
            for time in times {
                let offset = zone.secondsFromGMT(at: time)
                #expect((-93_600...93_600).contains(offset))
                #expect((0..<1440).contains(LocalTime(at: time, secondsFromGMT: offset).minute))
            }
        }
        #expect(accepted > 40 && refused > 40)
    }
}

/// The same numbers in every run (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }
    mutating func pick<Element>(_ list: [Element]) -> Element { list[below(list.count)] }
}
