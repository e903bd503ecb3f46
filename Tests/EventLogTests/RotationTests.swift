// SPDX-License-Identifier: MIT
//
// Closing files: when, under which name, and what a failing disk makes of it.

import Foundation
import Locking
import Testing

@testable import EventLog

/// Noon of 30 November 2026, UTC.
let noon: Int64 = 1_796_040_000_000
let hour: Int64 = 3_600_000

@Suite(.timeLimit(.minutes(1))) struct RotationTests {
    let folder: TemporaryFolder
    let disk = Disk()

    init() throws { folder = try TemporaryFolder() }

    private func subject(size: Int = 1000, retry: Int = 600_000, change: (inout EventLogConfiguration) -> Void = { _ in }) throws -> Subject
    {
        try Subject(folder, calls: disk.calls) {
            $0.rotateSize = size
            $0.rotateRetryAfter = retry
            change(&$0)
        }
    }

    private func reasons(_ subject: Subject) -> [String] {
        if case .degraded(let reasons) = subject.log.status.health { reasons } else { [] }
    }

    /// All lines, files in order of their numbers.
    private func all() throws -> [Entry] { try folder.names().flatMap { try folder.lines($0) }.sorted { $0.seq < $1.seq } }

    @Test func `a file is closed before it grows beyond its size, and numbers go on`() async throws {
        let subject = try subject(size: 2000)
        for id in 1...40 { #expect(await subject.write(Event(id: id, at: noon)) == .durable) }
        let names = try folder.names()
        #expect(names.count > 2)
        for name in names {
            let bytes = try folder.bytes(name)
            #expect(bytes.count <= 2000)
            if name != "events.jsonl" {
                #expect(bytes.count > 1500)
                let first = try #require(try folder.lines(name).first)
                #expect(name == "events-20261130T120000Z-\(first.seq).jsonl")
            }
        }
        #expect(try all().map(\.seq) == Array(1...40))
        #expect(try all().map(\.id) == Array(1...40))
        #expect(subject.log.status.counters.rotations == names.count - 1)
        #expect(subject.log.status.health == .ok)
        #expect(subject.notices == [])
    }

    @Test func `what is written at once stays together, however long it is`() async throws {
        let subject = try subject(size: 1000)
        #expect(await subject.write((0..<50).map { Event(id: $0) }) == .durable)
        #expect(try folder.names() == ["events.jsonl"])
        #expect(await subject.write(Event(id: 50)) == .durable)
        #expect(try folder.names().count == 2)
        #expect(try all().map(\.id) == Array(0...50))
    }

    @Test(
        arguments: [
            ([noon, noon + 11 * hour], 0), ([noon, noon + 12 * hour], 1), ([noon, noon + 12 * hour - 1], 0),
            ([noon, noon + 90 * 24 * hour], 1),
            // Stamped before midnight by another thread, or kept since then for a disk that failed.
            ([noon, noon + 12 * hour, noon + 12 * hour - 1, noon, noon + 13 * hour], 1),
            // A clock that was wrong and is set right, either way.
            ([noon, noon - 36 * hour - 1], 1), ([noon, noon - 36 * hour], 0), ([0, noon], 1), ([noon, 0, noon], 2), ([-1, 0], 1),
        ] as [([Int64], Int)]) func `a file is closed when a line of another day is to be written`(times: [Int64], count: Int) async throws
    {
        let subject = try subject(size: 1 << 20) { $0.rotatesDaily = true }
        for (id, time) in times.enumerated() { #expect(await subject.write(Event(id: id, at: time)) == .durable) }
        #expect(try folder.names().count == count + 1)
        #expect(try all().map(\.id) == Array(times.indices))
    }

    @Test func `the file of yesterday is closed by the first event after a start`() async throws {
        let first = try subject(size: 1 << 20) { $0.rotatesDaily = true }
        await first.write(Event(id: 1, at: noon))
        #expect(first.close())
        let second = try subject(size: 1 << 20) { $0.rotatesDaily = true }
        await second.write([])
        #expect(try folder.names() == ["events.jsonl"])
        await second.write(Event(id: 2, at: noon + 24 * hour))
        #expect(try folder.lines("events-20261130T120000Z-1.jsonl").map(\.id) == [1])
        #expect(try folder.lines().map(\.seq) == [2])
    }

    @Test func `an event that comes again after its file was closed is known`() async throws {
        let subject = try subject(size: 300)
        for id in [1, 2, 3, 4, 1] { await subject.write(Event(id: id, detectsRepeat: true)) }
        #expect(try folder.names().count > 2)
        #expect(try all().map(\.isRepeat) == [false, false, false, false, true])
    }

    @Test func `records that nobody waited for are synced before their file is closed`() async throws {
        let subject = try subject(size: 300)
        await subject.write(Event(id: 1, keep: true), Event(id: 2, keep: true))
        let old = try #require(FileFacts(path: folder.current)).identity.inode
        let syncs = disk.synced.count { $0 == old }
        #expect(await subject.write(Event(id: 3)) == .durable)
        #expect(try folder.names().count == 2)
        #expect(disk.synced.count { $0 == old } == syncs + 1)
    }

    @Test func `closing costs one sync, that of the folder, and nothing is written before it`() async throws {
        let subject = try subject(size: 300)
        await subject.write(Event(id: 1), Event(id: 2))
        let (syncs, writes) = (disk.count(.sync), disk.count(.write))
        disk.fail(.sync, .gate)
        async let written = subject.write(Event(id: 3))
        #expect(await wait(disk.arrived))
        #expect(disk.count(.write) == writes)
        #expect(try folder.names().count == 2, "both names are there when the folder is synced")
        disk.gate.signal()
        #expect(await written == .durable)
        #expect(disk.count(.sync) == syncs + 2, "and that of the event")
    }

    @Test(arguments: [Disk.Call.rename, .open, .sync]) func `a file that cannot be closed goes on, and that is not tried each time`(
        call: Disk.Call
    ) async throws {
        let subject = try subject(size: 300)
        await subject.write(Event(id: 1), Event(id: 2))
        disk.fail(call, .error(EACCES))
        let renames = disk.count(.rename)
        for id in 3...6 { #expect(await subject.write(Event(id: id)) == .durable) }
        #expect(try folder.names() == ["events.jsonl"])
        #expect(try folder.lines().map(\.seq) == Array(1...6))
        #expect(disk.count(.rename) <= renames + 2, "there and back")
        #expect(reasons(subject).first?.hasPrefix("the log file cannot be closed and goes on being written: ") == true)
        #expect(subject.notices.count == 1)
        #expect(subject.log.status.counters.rotations == 0)
        #expect(subject.log.status.counters.writeFailures == 0)
    }

    @Test func `it is closed by a later try, and health is well again`() async throws {
        let subject = try subject(size: 300, retry: 0)
        await subject.write(Event(id: 1), Event(id: 2))
        disk.fail(.rename, .error(ENOSPC), .error(ENOSPC))
        await subject.write(Event(id: 3))
        await subject.write(Event(id: 4))
        #expect(subject.notices.count == 1, "one line, however many tries")
        #expect(reasons(subject).count == 1)
        await subject.write(Event(id: 5))
        #expect(subject.log.status.health == .ok)
        #expect(try folder.names() == ["events-20261130T100000Z-1.jsonl", "events.jsonl"])
        #expect(try all().map(\.id) == Array(1...5))
    }

    @Test func `where even the way back fails the file is closed, and the next one is opened as after a start`() async throws {
        let subject = try subject(size: 300)
        await subject.write(Event(id: 1), Event(id: 2))
        disk.fail(.open, .error(EMFILE))
        let real = disk.count(.rename)
        disk.fail(.rename, .short(0), .error(EIO))
        #expect(await subject.write(Event(id: 3)) == .refused(.failed))
        #expect(disk.count(.rename) == real + 2)
        #expect(await subject.write(Event(id: 4)) == .durable)
        #expect(try all().map(\.seq) == [1, 2, 3])
        #expect(try all().map(\.id) == [1, 2, 4])
    }

    @Test func `a file that another program moved is not closed, and the one at its place is not taken for it`() async throws {
        let subject = try subject(size: 300)
        await subject.write(Event(id: 1), Event(id: 2))
        try FileManager.default.moveItem(atPath: folder.current, toPath: folder.path(of: "events.jsonl.1"))
        try folder.put(goodLines(1, from: 90)[0])
        #expect(await subject.write(Event(id: 3)) == .durable)
        #expect(try folder.names() == ["events.jsonl", "events.jsonl.1"])
        #expect(try folder.lines("events.jsonl.1").map(\.seq) == [1, 2])
        #expect(try folder.lines().map(\.seq) == [90, 91])
    }

    @Test func `a sync that fails before closing seals the file at its durable lines`() async throws {
        let subject = try subject(size: 300)
        await subject.write(Event(id: 1))
        await subject.write(Event(id: 2, keep: true))
        disk.fail(.sync, .error(EIO))
        #expect(await subject.write(Event(id: 3)) == .refused(.failed))
        #expect(await subject.write(Event(id: 4)) == .durable)
        #expect(try folder.lines("events-20261130T100000Z-1.jsonl").map(\.id) == [1])
        #expect(try folder.lines().map(\.id) == [4])
    }

    @Test func `the name of a file that is compressed already is not given again`() async throws {
        try folder.put([1], as: "events-20261130T100000Z-1.jsonl.gz")
        try folder.put([2], as: "events-20261130T100000Z-1-2.jsonl.gz.part")
        try folder.put(goodLines(2).flatMap { $0 })
        let subject = try subject(size: 100)
        #expect(await subject.write(Event(id: 3)) == .durable)
        #expect(try folder.lines("events-20261130T100000Z-1-3.jsonl").map(\.seq) == [1, 2])
        #expect(try folder.bytes("events-20261130T100000Z-1.jsonl.gz") == [1])
    }

    @Test func `a start opens no closed file while the current one holds a line`() async throws {
        for sequence in 1...50 as ClosedRange<UInt64> {
            try folder.put(goodLines(1, from: sequence)[0], as: "events-20261130T100000Z-\(sequence).jsonl")
        }
        try folder.put(goodLines(1, from: 51)[0])
        let opened = Locked<[String]>([])
        var calls = SystemCalls.real
        calls.open = { path, flags in
            opened.withLock { $0.append(path) }
            return SystemCalls.real.open(path, flags)
        }
        let subject = try Subject(folder, calls: calls)
        #expect(await subject.write(Event(id: 1)) == .durable)
        #expect(try folder.lines().map(\.seq) == [51, 52])
        #expect(opened.withLock { $0 }.filter { $0 != folder.current } == [folder.path], "the folder, to sync it")
    }

    @Test func `where only compressed files are left, no number is given again`() async throws {
        try folder.put(goodLines(40, from: 900).flatMap { $0 }, as: "events-20261130T100000Z-900.jsonl")
        try folder.put(goodLines(1, from: 940)[0])
        let first = try Subject(folder, keepsHouse: true)
        await first.write(Event(id: 1))
        while !first.log.isHouseInOrder { await first.write([]) }
        #expect(first.close())
        try FileManager.default.removeItem(atPath: folder.current)
        #expect(try folder.names() == ["events-20261130T100000Z-900.jsonl.gz"])
        let second = try Subject(folder)
        await second.write(Event(id: 2))
        #expect(try folder.lines().map(\.seq) == [942], "the lock file knows")
        #expect(second.close())
        try FileManager.default.removeItem(atPath: folder.current)
        try FileManager.default.removeItem(atPath: folder.path(of: "events.lock"))
        let third = try Subject(folder)
        await third.write(Event(id: 3))
        let next = try #require(try folder.lines().first).seq
        #expect((940...1100).contains(next), "some are passed over: \(next)")
    }

    @Test func `a start after a crash between two files reads the end of the newest`() async throws {
        let lines = goodLines(30_000, from: 5)
        try folder.put(lines.flatMap { $0 } + Array("torn".utf8), as: "events-20261130T100000Z-5.jsonl")
        try folder.put([], as: "events-20261130T090000Z-1.jsonl.gz")
        #expect(try recover(folder).highest == 30_004)
        // Its beginning is not looked at.
        try #require(lines.count * lines[0].count > 2 * LineFormat.longest / 3)
        let long = goodLines(70_000, from: 5)
        try folder.put([0x7B, 0x0A] + long.flatMap { $0 }, as: "events-20261130T100000Z-5.jsonl")
        #expect(try recover(folder).highest == 70_004)
    }
}

struct ClosedFileTests {
    @Test(
        arguments: [
            ("events-20261130T100000Z-1.jsonl", ClosedFile.Form.plain, 1), ("events-20261130T100000Z-18-2.jsonl.gz", .compressed, 18),
            ("events-00000101T000000Z-18446744073709551615.jsonl.gz.part", .partial, .max),
        ] as [(String, ClosedFile.Form, UInt64)]) func `the name of a closed file tells its form, start and number`(
            name: String, form: ClosedFile.Form, sequence: UInt64
        ) throws
    {
        let file = try #require(ClosedFile(name: name))
        #expect(file.form == form && file.firstSequence == sequence && file.name == name)
        #expect(name.contains(file.start.compact))
    }

    @Test(arguments: [
        "events.jsonl", "events.lock", "rooms.jsonl", "admin-token", "events.torn-20261130T100000Z",
        "events.damaged-20261130T100000Z.jsonl",
        "events-20261130T100000Z-1", "events-20261130T100000Z-1.jsonl.gz.part.x", "events-20261130T100000Z-1.json",
        "events-20261130T100000Z-01.jsonl", "events-20261130T100000Z-+1.jsonl", "events-20261130T100000Z--1.jsonl",
        "events-20261130T100000Z-1-1.jsonl", "events-20261130T100000Z-1-02.jsonl", "events-20261130T100000Z-1-2-3.jsonl",
        "events-20261131T100000Z-1.jsonl", "events-20261130T100000-1.jsonl", "events-2026-11-30-1.jsonl", "Events-20261130T100000Z-1.jsonl",
        "events-20261130T100000Z-18446744073709551616.jsonl", "events-20261130T100000Z-.jsonl", ".jsonl", "",
        "events-2026113éT10000Z-1.jsonl",
    ]) func `any other name is not ours`(name: String) {
        #expect(ClosedFile(name: name) == nil)
    }
}
