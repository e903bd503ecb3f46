// SPDX-License-Identifier: MIT
//
// What becomes of closed files: compressed whole or not at all, whatever fails on the way, and deleted only where a limit says so.

import Foundation
import Locking
import Testing

@testable import EventLog

/// What `zcat`, which is not ours, makes of a file.
func zcat(_ path: String) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["zcat", path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(path)")
    return [UInt8](data)
}

extension TemporaryFolder {
    /// All lines, also of compressed files, by number. Of a file that is there in both forms the plain one.
    func allLines() throws -> [Entry] {
        let names = try names()
        return try names.filter { !$0.hasSuffix(".part") && !($0.hasSuffix(".gz") && names.contains(String($0.dropLast(3)))) }.flatMap {
            name in
            try Entry.all(in: name.hasSuffix(".gz") ? zcat(path(of: name)) : bytes(name))
        }.sorted { $0.seq < $1.seq }
    }
}

@Suite(.timeLimit(.minutes(1))) struct ClosedFilesTests {
    typealias Boundary = ClosedFiles.Boundary

    let folder: TemporaryFolder
    let disk = Disk()
    let notices = Locked<[LogNotice]>([])
    /// 1 December 2026, noon.
    let now = TimeStamp(milliseconds: noon + 24 * hour)

    init() throws { folder = try TemporaryFolder() }

    private func files(keepFor: Int64? = nil, keepSize: Int64? = nil, calls: SystemCalls? = nil) -> ClosedFiles {
        let notices = notices
        return ClosedFiles(folder: Folder(path: folder.path, calls: calls ?? disk.calls), keepFor: keepFor, keepSize: keepSize) { notice in
            notices.withLock { $0.append(notice) }
        }
    }

    @discardableResult
    private func pass(
        _ files: ClosedFiles, before sequence: UInt64? = 1000, now: TimeStamp? = nil, isStopped: () -> Bool = { false }
    ) -> ClosedFiles.Outcome {
        files.pass(before: sequence.map { Boundary(sequence: $0, start: self.now) }, now: now ?? self.now, isStopped: isStopped)
    }

    private func name(_ sequence: UInt64, hoursAgo: Int64 = 24) -> String {
        ClosedFile.stem(start: TimeStamp(milliseconds: now.milliseconds - hoursAgo * hour), firstSequence: sequence) + ".jsonl"
    }

    /// A closed file of ten lines.
    private func close(_ sequence: UInt64, hoursAgo: Int64 = 24) throws {
        try folder.put(goodLines(10, from: sequence).flatMap { $0 }, as: name(sequence, hoursAgo: hoursAgo))
    }

    // MARK: Compressing

    @Test func `a closed file becomes one gzip member that other programs read`() throws {
        try close(1)
        let plain = try folder.bytes(name(1))
        let outcome = pass(files())
        #expect(try folder.names() == [name(1) + ".gz"])
        let compressed = try folder.bytes(name(1) + ".gz")
        #expect(try zcat(folder.path(of: name(1) + ".gz")) == plain)
        #expect(Array(compressed.prefix(3)) == [0x1F, 0x8B, 8])
        #expect(outcome == ClosedFiles.Outcome(compressed: 1, bytesBefore: Int64(plain.count), bytesAfter: Int64(compressed.count)))
        #expect(try FileManager.default.attributesOfItem(atPath: folder.path(of: name(1) + ".gz"))[.posixPermissions] as? Int == 0o600)
        #expect(pass(files()) == ClosedFiles.Outcome(), "a second time there is nothing to do")
    }

    @Test(arguments: [0, 1, Gzip.piece - 1, Gzip.piece, Gzip.piece + 1, 5 * Gzip.piece + 77]) func `files of any length come back`(
        length: Int
    ) throws {
        var generator = SeededGenerator(state: UInt64(length))
        // Half noise, so that more than a piece comes out of zlib at once.
        let bytes = (0..<length).map { $0 % 7 < 3 ? UInt8(0x61) : UInt8.random(in: 0...255, using: &generator) }
        try folder.put(bytes, as: name(1))
        #expect(pass(files()).failure == nil)
        #expect(try zcat(folder.path(of: name(1) + ".gz")) == bytes)
    }

    @Test func `the newest file is left alone until a later one holds a line`() throws {
        try close(1)
        try close(11)
        pass(files(keepSize: 0), before: nil)
        #expect(try folder.names() == [name(11)])
        pass(files(), before: 11)
        #expect(try folder.names() == [name(11)], "it is the one being written")
        pass(files(), before: 12)
        #expect(try folder.names() == [name(11) + ".gz"])
    }

    @Test func `the order is part, sync, rename, sync of the folder, unlink, sync of the folder`() throws {
        try close(1)
        let steps = Locked<[String]>([])
        let real = SystemCalls.real
        @Sendable func note(_ step: String) { steps.withLock { $0.append(step) } }
        let folderInode = try #require(FileFacts(path: folder.path)).identity.inode
        var calls = real
        calls.write = {
            note("write")
            return real.write($0, $1)
        }
        calls.sync = { descriptor in
            var facts = stat()
            _ = fstat(descriptor, &facts)
            note(UInt64(facts.st_ino) == folderInode ? "sync folder" : "sync")
            return real.sync(descriptor)
        }
        calls.rename = {
            note("rename")
            return real.rename($0, $1)
        }
        calls.unlink = {
            note("unlink")
            return real.unlink($0)
        }
        pass(files(calls: calls))
        #expect(steps.withLock { $0 }.drop { $0 == "write" } == ["sync", "rename", "sync folder", "unlink", "sync folder"])
    }

    @Test func `a crash at any call loses nothing, repeats nothing, and is finished by the next pass`() throws {
        for sequence in [1, 11, 21] as [UInt64] { try close(sequence) }
        let expected = try folder.allLines()
        var crashes = 0
        for survived in 0..<200 {
            let folder = try TemporaryFolder()
            for sequence in [1, 11, 21] as [UInt64] { try folder.put(self.folder.bytes(name(sequence)), as: name(sequence)) }
            let left = Locked(survived)
            let isDead: @Sendable () -> Bool = {
                left.withLock { left in
                    defer { left = max(left - 1, 0) }
                    return left == 0
                }
            }
            let real = SystemCalls.fast
            let calls = SystemCalls(
                open: { isDead() ? -1 : real.open($0, $1) },
                // A crash within a write leaves a part of it.
                write: { isDead() ? real.write($0, UnsafeRawBufferPointer(rebasing: $1.prefix(9))) - 100 : real.write($0, $1) },
                sync: { isDead() ? -1 : real.sync($0) }, truncate: { isDead() ? -1 : real.truncate($0, $1) },
                rename: { isDead() ? -1 : real.rename($0, $1) }, unlink: { isDead() ? -1 : real.unlink($0) })
            func files(_ calls: SystemCalls) -> ClosedFiles {
                ClosedFiles(folder: Folder(path: folder.path, calls: calls), keepFor: nil, keepSize: nil) { _ in }
            }
            let isHit = pass(files(calls), before: 31).failure != nil
            #expect(try folder.allLines() == expected, "after \(survived) calls")
            #expect(pass(files(.fast), before: 31).failure == nil)
            #expect(try folder.names() == [name(1), name(11), name(21)].map { $0 + ".gz" })
            #expect(try folder.allLines() == expected, "after \(survived) calls, and a pass")
            guard isHit else { break }
            crashes += 1
        }
        #expect(crashes > 20)
    }

    @Test func `a compressed file that is cut at any length, or is another's, is made anew`() throws {
        try close(1)
        let plain = try folder.bytes(name(1))
        pass(files())
        let whole = try folder.bytes(name(1) + ".gz")
        for bad in (0..<whole.count).map({ Array(whole.prefix($0)) }) + [whole.dropLast() + [whole[whole.count - 1] ^ 1], plain] {
            try folder.put(plain, as: name(1))
            try folder.put(bad, as: name(1) + ".gz")
            #expect(pass(files(calls: .fast)).compressed == 1)
            #expect(try folder.bytes(name(1) + ".gz") == whole)
            #expect(try folder.names() == [name(1) + ".gz"])
        }
    }

    @Test func `a compressed file that is whole is kept as it is, and the plain one is removed`() throws {
        try close(1)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["gzip", "-k9", folder.path(of: name(1))]
        try process.run()
        process.waitUntilExit()
        let made = try folder.bytes(name(1) + ".gz")
        #expect(pass(files()) == ClosedFiles.Outcome())
        #expect(try folder.names() == [name(1) + ".gz"])
        #expect(try folder.bytes(name(1) + ".gz") == made)
    }

    @Test func `parts that were left behind are removed`() throws {
        try close(1)
        try folder.put([1, 2], as: name(1) + ".gz.part")
        try folder.put([3], as: name(11) + ".gz.part")
        pass(files())
        #expect(try folder.names() == [name(1) + ".gz"])
    }

    @Test(arguments: [Disk.Call.open, .write, .sync, .rename]) func `what cannot be compressed stays plain, and the next is tried`(
        call: Disk.Call
    ) throws {
        try close(1)
        try close(11)
        disk.fail(call, .error(EIO))
        let outcome = pass(files())
        #expect(outcome.failure?.code == EIO)
        #expect(outcome.compressed == 1)
        #expect(try folder.names().filter { !$0.hasSuffix(".part") } == [name(1), name(11) + ".gz"])
        #expect(pass(files()).failure == nil)
        #expect(try folder.names() == [name(1) + ".gz", name(11) + ".gz"])
    }

    @Test func `on a full disk nothing is deleted, and no part takes room`() throws {
        try close(1)
        try close(11)
        let plain = try folder.bytes(name(1))
        disk.failAlways(.write, ENOSPC)
        let outcome = pass(files())
        #expect(outcome.failure?.isLackOfRoom == true)
        #expect(try folder.names() == [name(1), name(11)])
        #expect(try folder.bytes(name(1)) == plain)
        #expect(disk.count(.write) == 1, "the second file would have no room either")
    }

    @Test func `on a full disk the limit makes room, and what is left is compressed`() throws {
        for sequence in [1, 11, 21] as [UInt64] { try close(sequence) }
        disk.fail(.write, .error(ENOSPC))
        let outcome = pass(files(keepSize: 2000))
        #expect(outcome.failure == nil)
        #expect(outcome.deletedForSize == 2 && outcome.compressed == 1)
        #expect(try folder.names() == [name(21) + ".gz"])
    }

    @Test func `a file that grows meanwhile stays`() throws {
        try close(1)
        let path = folder.path(of: name(1))
        var calls = SystemCalls.real
        calls.write = { descriptor, bytes in
            if let file = FileHandle(forWritingAtPath: path) {
                file.seekToEndOfFile()
                file.write(Data("more".utf8))
            }
            return SystemCalls.real.write(descriptor, bytes)
        }
        #expect(pass(files(calls: calls)).failure?.code == EBUSY)
        #expect(try folder.names() == [name(1)])
    }

    @Test(arguments: 0..<4) func `stopped on the way it leaves the plain file and no part`(looks: Int) throws {
        try folder.put([UInt8](repeating: 0x61, count: 3 * Gzip.piece), as: name(1))
        var left = looks
        let outcome = pass(files()) {
            left -= 1
            return left < 0
        }
        #expect(outcome.isStopped && outcome.compressed == 0 && outcome.failure == nil)
        #expect(try folder.names() == [name(1)])
    }

    // MARK: Deleting

    @Test func `without limits nothing is deleted`() throws {
        for sequence in 1...20 as ClosedRange<UInt64> { try close(sequence, hoursAgo: 100_000) }
        #expect(pass(files()).compressed == 20)
        #expect(try folder.names().count == 20)
        #expect(notices.withLock { $0 } == [])
    }

    @Test func `a file is deleted once the one behind it began too long ago`() throws {
        try close(1, hoursAgo: 72)
        try close(11, hoursAgo: 49)
        try close(21, hoursAgo: 47)
        let outcome = pass(files(keepFor: 48 * hour))
        #expect(outcome.deletedForAge == 1 && outcome.deletedForSize == 0)
        // The second began 49 hours ago, but may hold lines of 47 hours ago.
        #expect(try folder.names() == [name(11, hoursAgo: 49) + ".gz", name(21, hoursAgo: 47) + ".gz"])
        let gone = name(1, hoursAgo: 72) + ".gz"
        #expect(notices.withLock { $0 } == [.deleted(files: 1, first: gone, last: gone, reason: .age)])
        #expect(pass(files(keepFor: 48 * hour), now: TimeStamp(milliseconds: now.milliseconds + hour)).deletedForAge == 0)
        #expect(pass(files(keepFor: 48 * hour), now: TimeStamp(milliseconds: now.milliseconds + hour + 1)).deletedForAge == 1)
    }

    @Test func `the age of a file is not the time at which it was copied, nor does a clock set back make it old`() throws {
        try close(1, hoursAgo: 72)
        // Written while the clock was a year behind.
        try close(11, hoursAgo: 9000)
        try close(21, hoursAgo: 10)
        // The first may have gone on until the clock was right again.
        #expect(pass(files(keepFor: 11 * hour)).deletedForAge == 0)
        #expect(pass(files(keepFor: 9 * hour)).deletedForAge == 2)
        #expect(try folder.names() == [name(21, hoursAgo: 10) + ".gz"])
    }

    @Test func `where no later file tells, the time of the last change does`() throws {
        try close(1, hoursAgo: 72)
        let changed = Date(timeIntervalSince1970: Double(now.milliseconds - 50 * hour) / 1000)
        try FileManager.default.setAttributes([.modificationDate: changed], ofItemAtPath: folder.path(of: name(1, hoursAgo: 72)))
        let clockWasAhead = Boundary(sequence: 11, start: TimeStamp(milliseconds: now.milliseconds - 100 * hour))
        disk.failAlways(.write, EIO)
        #expect(files(keepFor: 51 * hour).pass(before: clockWasAhead, now: now) { false }.deletedForAge == 0)
        #expect(files(keepFor: 49 * hour).pass(before: clockWasAhead, now: now) { false }.deletedForAge == 1)
    }

    @Test func `the oldest are deleted while all together are too large`() throws {
        for sequence in stride(from: 1, to: 60, by: 10) as StrideTo<UInt64> { try close(sequence) }
        pass(files())
        let names = try folder.names()
        let sizes = try names.map { try Int64(folder.bytes($0).count) }
        let last = sizes.suffix(2).reduce(0, +)
        #expect(pass(files(keepSize: sizes.reduce(0, +))).deletedForSize == 0)
        #expect(pass(files(keepSize: last)).deletedForSize == 4)
        // By number, not by name: the folder lists them in another order.
        #expect(Set(try folder.names()) == [name(41) + ".gz", name(51) + ".gz"])
        #expect(pass(files(keepSize: 0)).deletedForSize == 2)
        #expect(try folder.names() == [])
    }

    @Test func `what the log did not make or still needs is never deleted`() throws {
        let others = [
            "events.damaged-20200101T000000Z.jsonl", "events.torn-20200101T000000Z", "rooms.jsonl", "admin-token", "events.jsonl",
            "events.jsonl.1", "events-20200101T000000Z-1.jsonl.bz2", "events-20200101T000000Z-x.jsonl.gz", "events-old.jsonl.gz",
        ]
        for name in others { try folder.put([1], as: name) }
        let link = folder.path(of: "events-20200101T000000Z-7.jsonl.gz")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path(of: "rooms.jsonl"))
        try FileManager.default.createDirectory(
            atPath: folder.path(of: "events-20200101T000000Z-8.jsonl.gz"), withIntermediateDirectories: false)
        // The file being written, as another program may have named it.
        try close(1000, hoursAgo: 9000)
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(pass(files(keepFor: 1, keepSize: 0)) == ClosedFiles.Outcome())
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
    }

    @Test func `a file that cannot be deleted is said, and no later one goes before it`() throws {
        try close(1)
        try close(11)
        pass(files())
        disk.fail(.unlink, .error(EPERM))
        let outcome = pass(files(keepSize: 0))
        #expect(outcome.failure?.code == EPERM && outcome.deletedForSize == 0)
        #expect(try folder.names().count == 2)
    }
}

@Suite(.timeLimit(.minutes(1))) struct HousekeepingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func subject(change: @escaping (inout EventLogConfiguration) -> Void = { _ in }) throws -> Subject {
        try Subject(folder, keepsHouse: true) {
            $0.rotateSize = 2000
            change(&$0)
        }
    }

    /// Until the thread has nothing more to do.
    private func settle(_ subject: Subject) async { while !subject.log.isHouseInOrder { await subject.write([]) } }

    @Test func `files are compressed behind the log, and all lines are there`() async throws {
        let subject = try subject()
        for id in 1...60 { #expect(await subject.write(Event(id: id)) == .durable) }
        await settle(subject)
        let names = try folder.names()
        #expect(names.count > 3 && names.allSatisfy { $0 == "events.jsonl" || $0.hasSuffix(".jsonl.gz") })
        #expect(try folder.allLines().map(\.id) == Array(1...60))
        let counters = subject.log.status.counters
        #expect(counters.compressed == names.count - 1 && counters.rotations == names.count - 1)
        #expect(counters.compressedBytesBefore > counters.compressedBytesAfter && counters.compressedBytesAfter > 0)
        #expect(subject.close())
    }

    @Test func `what was closed before a start is finished behind it`() async throws {
        try folder.put(goodLines(10).flatMap { $0 }, as: "events-20261130T100000Z-1.jsonl")
        try folder.put(goodLines(10, from: 11).flatMap { $0 }, as: "events-20261130T110000Z-11.jsonl")
        let subject = try subject()
        await subject.write([])
        await settle(subject)
        #expect(try folder.names() == ["events-20261130T100000Z-1.jsonl.gz", "events-20261130T110000Z-11.jsonl", "events.jsonl"])
        #expect(await subject.write(Event(id: 1)) == .durable)
        await settle(subject)
        #expect(try folder.names() == ["events-20261130T100000Z-1.jsonl.gz", "events-20261130T110000Z-11.jsonl.gz", "events.jsonl"])
        #expect(try folder.lines().map(\.seq) == [21])
    }

    @Test func `a failure is in health and in one notice`() async throws {
        try FileManager.default.createDirectory(
            atPath: folder.path(of: "events-20261130T100000Z-1.jsonl.gz.part/x"), withIntermediateDirectories: true)
        try folder.put(goodLines(10).flatMap { $0 }, as: "events-20261130T100000Z-1.jsonl")
        let subject = try subject()
        await subject.write(Event(id: 1))
        await settle(subject)
        guard case .degraded(let reasons) = subject.log.status.health else { return #expect(Bool(false), "health is well") }
        #expect(reasons.count == 1 && reasons[0].hasPrefix("closed log files cannot be compressed or deleted: "))
        #expect(subject.notices.count == 1)
        for id in 2...40 { await subject.write(Event(id: id)) }
        await settle(subject)
        #expect(subject.notices.count == 1, "the same again is not said again")
        try FileManager.default.removeItem(atPath: folder.path(of: "events-20261130T100000Z-1.jsonl.gz.part"))
        for id in 41...80 { await subject.write(Event(id: id)) }
        await settle(subject)
        #expect(subject.log.status.health == .ok)
    }

    @Test func `a limit is kept while the log is written`() async throws {
        let subject = try subject { $0.keepSize = 3000 }
        for id in 1...300 { await subject.write(Event(id: id)) }
        await settle(subject)
        let closed = try folder.names("events-")
        #expect(try closed.reduce(0) { try $0 + folder.bytes($1).count } <= 3000)
        let left = try folder.allLines().map(\.id)
        #expect(left == Array((301 - left.count)...300), "the newest are left, without a gap")
        #expect(subject.log.status.counters.deletedForSize > 0)
    }

    @Test func `the folder stays locked until the thread has ended, and closing does not wait for it`() async throws {
        let disk = Disk()
        let subject = try Subject(folder, calls: disk.calls, keepsHouse: true) { $0.rotateSize = 300 }
        await subject.write(Event(id: 1), Event(id: 2))
        // The first sync is the folder's, the second the event's; the third is that of the compressed file.
        disk.fail(.sync, .short(0), .short(0), .gate)
        #expect(await subject.write(Event(id: 3)) == .durable)
        #expect(await wait(disk.arrived))
        #expect(subject.close())
        #expect(throws: EventLogError.self) { try Subject(folder) }
        disk.gate.signal()
        while !subject.log.isHouseInOrder { await Task.yield() }
        let next = try Subject(folder)
        #expect(next.close())
        #expect(try folder.allLines().map(\.id) == [1, 2, 3])
    }
}
