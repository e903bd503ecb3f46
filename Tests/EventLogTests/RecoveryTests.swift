// SPDX-License-Identifier: MIT
//
// Every way in which a file can be bad at the start.

import Foundation
import Locking
import Testing

@testable import EventLog

/// What a recovery made of a folder.
struct Recovered: Equatable {
    let highest: UInt64
    let notices: [LogNotice]
    let file: [UInt8]
}

extension SystemCalls {
    /// Real calls without syncs: nobody pulls the plug, and the tests are many.
    static var fast: SystemCalls {
        var calls = SystemCalls.real
        calls.sync = { _ in 0 }
        return calls
    }
}

func recover(_ folder: TemporaryFolder, tornRegion: Int = 4 << 20, calls: SystemCalls = .fast) throws -> Recovered {
    let notices = Locked<[LogNotice]>([])
    func run() throws -> UInt64 {
        let recovery = Recovery(folder: Folder(path: folder.path, calls: calls), tornRegion: tornRegion, repeatWindow: 8) { notice in
            notices.withLock { $0.append(notice) }
        }
        return try recovery.open().survey.highest
    }
    let highest = try run()
    return Recovered(highest: highest, notices: notices.withLock { $0 }, file: try folder.bytes())
}

struct Torn: Sendable, CustomTestStringConvertible {
    let name: String
    let tail: [UInt8]
    /// The highest number among the three good lines and whatever good ones the tail holds.
    var highest: UInt64 = 3
    var testDescription: String { name }

    static let all: [Torn] = {
        let next = goodLines(2, from: 4)
        return [
            Torn(name: "half a line", tail: Array(next[0].prefix(40))),
            Torn(name: "only the line feed is missing", tail: next[0].dropLast(), highest: 4),
            Torn(name: "one byte", tail: [0x7B]),
            Torn(name: "an empty line", tail: [0x0A]),
            Torn(name: "zeros", tail: [UInt8](repeating: 0, count: 5000)),
            Torn(name: "half a line, then zeros", tail: next[0].prefix(40) + [UInt8](repeating: 0, count: 300)),
            Torn(name: "noise", tail: (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 / 7) }),
            Torn(name: "several bad lines", tail: Array("{}\n{\"seq\":4}\nx\n\n".utf8)),
            Torn(name: "a bad line, then a good one", tail: Array("bad\n".utf8) + next[1], highest: 5),
            Torn(name: "zeros over the start of a line", tail: [UInt8](repeating: 0, count: 20) + next[0].dropFirst(20)),
            Torn(name: "a number that does not grow", tail: goodLines(1, from: 3)[0]),
            Torn(name: "longer than a line may be", tail: [UInt8](repeating: 0x61, count: LineFormat.longest - 1) + [0x0A]),
        ]
    }()
}

@Suite(.timeLimit(.minutes(1))) struct RecoveryTests {
    let folder: TemporaryFolder
    let good = goodLines(3)

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: Torn.all) func `a torn end is moved to a file of its own`(_ torn: Torn) throws {
        let whole = good.flatMap { $0 }
        try folder.put(whole + torn.tail)
        let first = try recover(folder)
        let copy = try #require(try folder.names("events.torn-").first)
        #expect(first == Recovered(highest: torn.highest, notices: [.tornTailCut(bytes: torn.tail.count, copy: copy)], file: whole))
        #expect(try folder.bytes(copy) == torn.tail)
        #expect(try recover(folder) == Recovered(highest: torn.highest, notices: [], file: whole), "a second time changes nothing")
    }

    @Test func `a file cut at any length keeps every whole line`() throws {
        let all = good.flatMap { $0 }
        let ends = good.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.count) }
        for length in 0...all.count {
            let folder = try TemporaryFolder()
            try folder.put(Array(all[..<length]))
            let recovered = try recover(folder)
            let whole = ends.last { $0 <= length } ?? 0
            #expect(recovered.file == Array(all[..<whole]), "cut at \(length)")
            #expect(try folder.names("events.torn-").flatMap { try folder.bytes($0) } == Array(all[whole..<length]))
        }
    }

    @Test func `any flipped bit costs no line before it and makes none that was not written`() throws {
        let all = good.flatMap { $0 }
        let folder = try TemporaryFolder()
        var kept = [0, 0, 0, 0]
        for place in all.indices {
            for bit in 0..<8 {
                for name in try folder.names() { try FileManager.default.removeItem(atPath: folder.path(of: name)) }
                var bad = all
                bad[place] ^= 1 << UInt8(bit)
                try folder.put(bad)
                let recovered = try recover(folder)
                let before = place / good[0].count
                #expect(recovered.file == Array(all.prefix(before * good[0].count)), "byte \(place), bit \(bit)")
                #expect(recovered.notices.count == 1)
                let others = bad.split(separator: 0x0A).compactMap { sequence(of: Array($0)) }
                #expect(recovered.highest == others.max() ?? 0)
                kept[before] += 1
            }
        }
        #expect(kept[0] > 0 && kept[1] > 0 && kept[2] > 0)
    }

    @Test func `damage further up sets the file aside and events are accepted`() async throws {
        let lines = goodLines(20)
        var bytes = lines.flatMap { $0 }
        bytes[lines[0].count + 30] ^= 1
        try folder.put(bytes)
        let subject = try Subject(folder) { $0.tornRegion = 100 }
        #expect(await subject.write(Event(id: 99)) == .durable)
        let name = try #require(try folder.names("events.damaged-").first)
        #expect(name.hasSuffix(".jsonl"))
        #expect(subject.notices == [.damagedFileSetAside(name: name, offset: lines[0].count)])
        #expect(
            subject.log.status.health
                == .degraded(reasons: [
                    "damaged log file '\(name)' (bad from byte \(lines[0].count)): look at it, then move it out of the folder"
                ]))
        #expect(try folder.bytes(name) == bytes)
        #expect(try folder.lines().map(\.seq) == [21])
        #expect(subject.close())

        let again = try Subject(folder) { $0.tornRegion = 100 }
        #expect(await again.write(Event(id: 100)) == .durable)
        #expect(again.log.status.health != .ok, "as long as the file lies there")
        try FileManager.default.removeItem(atPath: folder.path(of: name))
        again.log.reopen()
        await again.write([])
        #expect(again.log.status.health == .ok)
        #expect(try folder.lines().map(\.seq) == [21, 22])
    }

    @Test(arguments: [0, 1]) func `the torn region ends at its last byte`(extra: Int) throws {
        try folder.put(good[0] + [UInt8](repeating: 0, count: 50 + extra))
        _ = try recover(folder, tornRegion: 50)
        #expect(try folder.names("events.torn-").count == 1 - extra)
        #expect(try folder.names("events.damaged-").count == extra)
    }

    @Test func `names that are taken get a suffix`() throws {
        for _ in 0..<3 {
            try folder.put(good[0] + [0])
            _ = try recover(folder)
            try folder.put([0] + good[0])
            _ = try recover(folder, tornRegion: 10)
        }
        #expect(try folder.names("events.torn-").count == 3)
        #expect(try folder.names("events.damaged-").count == 3)
    }

    @Test(
        arguments: [
            (["events-20261130T100000Z-4.jsonl"], nil, 6),
            (["events-20261130T100000Z-1.jsonl", "events-20261130T110000Z-4.jsonl"], nil, 6),
            (["events-20261130T100000Z-900.jsonl.gz"], nil, 900), (["events-20261130T100000Z-4.jsonl"], 8, 8),
            (["events.torn-20261130T100000Z"], 2, 6), (["events.damaged-20261130T100000Z.jsonl"], nil, 6), (["events.jsonl.1"], nil, 6),
            (["events.jsonl.1"], 8, 8), (["other"], nil, 0), ([], nil, 0), (["events.jsonl.d/"], nil, 0),
        ] as [([String], UInt64?, UInt64)]) func `numbers go on behind the highest that any file holds`(
            names: [String], current: UInt64?, highest: UInt64
        ) throws
    {
        for name in names {
            if name.hasSuffix("/") {
                try FileManager.default.createDirectory(atPath: folder.path(of: name), withIntermediateDirectories: true)
            } else {
                try folder.put(goodLines(3, from: 4).flatMap { $0 }, as: name)
            }
        }
        if let current { try folder.put(goodLines(1, from: current)[0]) }
        #expect(try recover(folder).highest == highest)
    }

    @Test func `only the newest of closed files is read`() throws {
        try folder.put(goodLines(1, from: 5000)[0], as: "events-20261130T100000Z-1.jsonl")
        try folder.put(goodLines(1, from: 7)[0], as: "events-20261130T100000Z-7.jsonl")
        #expect(try recover(folder).highest == 7)
    }

    @Test(arguments: [4 << 20, 10]) func `a crash at any call of a recovery is recovered to the same`(tornRegion: Int) throws {
        let bytes = good[0] + Array("bad\n".utf8) + goodLines(2, from: 7).flatMap { $0 } + [0, 0, 0]
        try folder.put(bytes)
        let expected = try recover(folder, tornRegion: tornRegion)
        var crashes = 0
        for survived in 0..<100 {
            let folder = try TemporaryFolder()
            try folder.put(bytes)
            let left = Locked(survived)
            // From one call on all fail: for the disk that is what a killed process looks like.
            let isDead: @Sendable () -> Bool = {
                left.withLock { left in
                    defer { left = max(left - 1, 0) }
                    return left == 0
                }
            }
            let real = SystemCalls.fast
            let calls = SystemCalls(
                open: { isDead() ? -1 : real.open($0, $1) }, write: { isDead() ? -1 : real.write($0, $1) },
                sync: { isDead() ? -1 : real.sync($0) }, truncate: { isDead() ? -1 : real.truncate($0, $1) },
                rename: { isDead() ? -1 : real.rename($0, $1) }, unlink: { isDead() ? -1 : real.unlink($0) })
            do {
                _ = try recover(folder, tornRegion: tornRegion, calls: calls)
                break
            } catch {
                crashes += 1
            }
            let recovered = try recover(folder, tornRegion: tornRegion)
            #expect(recovered.file == expected.file)
            #expect(recovered.highest == expected.highest)
        }
        #expect(crashes >= 2)
    }

    @Test func `nothing is cut when the torn end cannot be copied`() async throws {
        let bytes = good.flatMap { $0 } + Array("torn".utf8)
        try folder.put(bytes)
        let disk = Disk()
        disk.failAlways(.write, ENOSPC)
        let subject = try Subject(folder, calls: disk.calls)
        #expect(await subject.write(Event(id: 1)) == .refused(.failed))
        #expect(try folder.bytes() == bytes)
        #expect(try folder.names("events.torn-") == [])
        disk.failAlways(.write, nil)
        #expect(await subject.write(Event(id: 2)) == .durable)
        #expect(try folder.lines().map(\.seq) == [1, 2, 3, 4])
        #expect(subject.log.status.counters.tornBytes == 4)
    }

    @Test func `random damage never traps, never makes a line and never loses one before it`() throws {
        var generator = SeededGenerator(state: 4)
        let lines = goodLines(12)
        let all = lines.flatMap { $0 }
        for round in 0..<300 {
            let folder = try TemporaryFolder()
            var bad = all
            var first = bad.count
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<bad.count, using: &generator)
                let end = min(place + Int.random(in: 1...300, using: &generator), bad.count)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bad.removeSubrange(place..<end)
                case 1: bad.replaceSubrange(place..<end, with: [UInt8](repeating: 0, count: end - place))
                case 2: bad.insert(contentsOf: all[0..<end - place], at: place)
                default: for index in place..<end { bad[index] = UInt8.random(in: 0...255, using: &generator) }
                }
                first = min(first, place)
                if bad.isEmpty { break }
            }
            try folder.put(bad)
            let recovered = try recover(folder, tornRegion: round % 2 == 0 ? 4 << 20 : 0)
            let aside = try folder.names("events.damaged-")
            let survivors = try aside.isEmpty ? Entry.all(in: recovered.file) : []
            let written = try Entry.all(in: all)
            #expect(survivors == Array(written.prefix(survivors.count)))
            let intact = first / lines[0].count
            if aside.isEmpty { #expect(survivors.count >= min(intact, 9)) } else { #expect(try folder.bytes(aside[0]) == bad) }
        }
    }
}
