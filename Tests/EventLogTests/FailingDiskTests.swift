// SPDX-License-Identifier: MIT
//
// The log on a disk that is full, broken, missing or hanging.

import Foundation
import Locking
import Testing

@testable import EventLog

@Suite(.timeLimit(.minutes(1))) struct FailingDiskTests {
    let folder: TemporaryFolder
    let disk = Disk()

    init() throws { folder = try TemporaryFolder() }

    private func subject(_ change: (inout EventLogConfiguration) -> Void = { _ in }) throws -> Subject {
        try Subject(folder, calls: disk.calls, change: change)
    }

    private func reasons(_ subject: Subject) -> [String] {
        if case .degraded(let reasons) = subject.log.status.health { reasons } else { [] }
    }

    @Test(arguments: [ENOSPC, EDQUOT, EFBIG], [0, 1, 40]) func `a full disk refuses, and the same file goes on from a clean line`(
        code: Int32, short: Int
    ) async throws {
        let subject = try subject()
        await subject.write(Event(id: 1))
        if short > 0 { disk.fail(.write, .short(short)) }
        disk.fail(.write, .error(code))
        #expect(await subject.write(Event(id: 2), Event(id: 3)) == .refused(.failed))
        #expect(try folder.lines().map(\.id) == [1])
        #expect(reasons(subject).count == 1)
        #expect(await subject.write(Event(id: 4)) == .durable)
        #expect(try folder.lines().map(\.seq) == [1, 2])
        #expect(try folder.names() == ["events.jsonl"])
        #expect(subject.log.status.health == .ok)
        #expect(subject.notices.count == 2 && subject.notices.last == .recovered)
        let counters = subject.log.status.counters
        #expect(counters.writeFailures == 1 && counters.refused == 2 && counters.eventsDurable == 2)
    }

    @Test func `a full disk that cannot even cut the file gets a new file, and the numbers are passed over`() async throws {
        let subject = try subject()
        await subject.write(Event(id: 1))
        disk.fail(.write, .short(150), .error(ENOSPC))
        disk.failAlways(.truncate, EIO)
        #expect(await subject.write(Event(id: 2), Event(id: 3)) == .refused(.failed))
        #expect(await subject.write(Event(id: 4)) == .durable)
        #expect(try folder.lines().map(\.seq) == [4])
        #expect(try folder.names() == ["events-20261130T100000Z-1.jsonl", "events.jsonl"])
    }

    @Test func `a write error seals the file with its durable lines`() async throws {
        let subject = try subject()
        await subject.write(Event(id: 1))
        await subject.write(Event(id: 2, keep: true))
        disk.fail(.write, .short(10), .error(EIO))
        #expect(await subject.write(Event(id: 3)) == .refused(.failed))
        #expect(await subject.write(Event(id: 4)) == .durable)
        #expect(try folder.lines("events-20261130T100000Z-1.jsonl").map(\.id) == [1, 2])
        #expect(try folder.lines().map(\.seq) == [3])
        #expect(subject.notices.contains(.sealed(name: "events-20261130T100000Z-1.jsonl")))
    }

    @Test func `after a failed sync the file is cut, sealed and never synced again`() async throws {
        let subject = try subject()
        await subject.write(Event(id: 1))
        await subject.write(Event(id: 2, keep: true))
        disk.fail(.sync, .error(EIO))
        #expect(await subject.write(Event(id: 3)) == .refused(.failed))
        #expect(try folder.lines("events-20261130T100000Z-1.jsonl").map(\.id) == [1])
        #expect(subject.log.status.counters.dropped == 1)
        #expect(await subject.write(Event(id: 4)) == .durable)
        #expect(try folder.lines().map(\.seq) == [2])
        #expect(try folder.lines().map(\.id) == [4])
        #expect(subject.log.status.health == .ok)
        let sealed = try #require(FileFacts(path: folder.path(of: "events-20261130T100000Z-1.jsonl"))).identity.inode
        #expect(subject.close())
        #expect(disk.synced.count { $0 == sealed } == 3, "at the opening, for the first event, and the one that failed")
    }

    @Test func `a file that never held a durable line is removed`() async throws {
        let subject = try subject()
        await subject.write([])
        disk.fail(.sync, .error(EIO))
        #expect(await subject.write(Event(id: 1)) == .refused(.failed))
        #expect(try folder.names() == [])
        #expect(subject.notices.contains(.sealed(name: nil)))
        #expect(await subject.write(Event(id: 2)) == .durable)
        #expect(try folder.lines().map(\.seq) == [1])
    }

    @Test func `after a failed sync without a cut the unwanted lines keep their numbers`() async throws {
        let subject = try subject()
        await subject.write([])
        disk.fail(.sync, .error(EIO))
        disk.fail(.truncate, .error(EIO))
        #expect(await subject.write(Event(id: 1), Event(id: 2)) == .refused(.failed))
        #expect(await subject.write(Event(id: 3)) == .durable)
        #expect(try folder.lines().map(\.seq) == [3])
        #expect(try folder.lines("events-20261130T100000Z-1.jsonl").map(\.seq) == [1, 2])
    }

    @Test func `while the failed file cannot be renamed nothing is written to it`() async throws {
        let subject = try subject()
        await subject.write(Event(id: 1))
        let writes = disk.count(.write)
        disk.fail(.sync, .error(EIO))
        disk.failAlways(.rename, EROFS)
        #expect(await subject.write(Event(id: 2)) == .refused(.failed))
        #expect(await subject.write(Event(id: 3)) == .refused(.failed))
        #expect(disk.count(.write) == writes + 1)
        disk.failAlways(.rename, nil)
        #expect(await subject.write(Event(id: 4)) == .durable)
        #expect(try folder.lines("events-20261130T100000Z-1.jsonl").map(\.id) == [1])
        #expect(try folder.lines().map(\.seq) == [2])
    }

    @Test func `a sealed name that is taken gets a suffix`() async throws {
        try folder.put(Array("old".utf8), as: "events-20261130T100000Z-1.jsonl")
        try folder.put(goodLines(1).flatMap { $0 })
        let subject = try subject()
        await subject.write([])
        disk.fail(.sync, .error(EIO))
        await subject.write(Event(id: 2))
        #expect(try folder.bytes("events-20261130T100000Z-1.jsonl") == Array("old".utf8))
        #expect(try folder.lines("events-20261130T100000Z-1-2.jsonl").map(\.seq) == [1])
        #expect(ClosedFile(name: "events-20261130T100000Z-1-2.jsonl")?.firstSequence == 1)
    }

    @Test func `a sync that fails at the start seals the file as it is`() async throws {
        try folder.put(goodLines(3).flatMap { $0 })
        disk.failAlways(.sync, EIO)
        let subject = try subject()
        #expect(await subject.write(Event(id: 8)) == .refused(.failed))
        disk.failAlways(.sync, nil)
        #expect(await subject.write(Event(id: 9)) == .durable)
        #expect(try folder.lines().map(\.seq).last == 4)
        let all = try folder.names().flatMap { try folder.lines($0) }
        #expect(all.map(\.seq) == [1, 2, 3, 4])
    }

    @Test func `a refused event is no repeat when it comes again`() async throws {
        let subject = try subject()
        await subject.write([])
        disk.fail(.write, .error(ENOSPC))
        #expect(await subject.write(Event(id: 1, detectsRepeat: true), Event(id: 1, detectsRepeat: true)) == .refused(.failed))
        #expect(subject.log.status.counters.repeats == 0)
        #expect(await subject.write(Event(id: 1, detectsRepeat: true)) == .durable)
        #expect(await subject.write(Event(id: 1, detectsRepeat: true)) == .durable)
        #expect(try folder.lines().map(\.isRepeat) == [false, true])
    }

    @Test func `a folder that cannot be made is no error, and the log is well once it can be`() async throws {
        try folder.put([], as: "file")
        let path = folder.path(of: "file/events")
        var configuration = EventLogConfiguration(folder: path)
        configuration.retryAfter = 1
        let subject = try Subject(configuration)
        #expect(await subject.write(Event(id: 1)) == .refused(.failed))
        #expect(await subject.write(Event(id: 2)) == .refused(.failed))
        #expect(reasons(subject) == ["events cannot be written: make folder '\(path)': Not a directory (errno \(ENOTDIR))"])
        #expect(subject.notices.count == 1, "one line, however many events")
        try FileManager.default.removeItem(atPath: folder.path(of: "file"))
        #expect(await subject.write(Event(id: 3)) == .durable)
        #expect(subject.log.status.health == .ok)
        #expect(subject.notices.last == .recovered)
        #expect(throws: EventLogError.self) { try Subject(configuration) }
    }

    @Test func `opening alone makes a log well that could not be opened`() async throws {
        disk.failAlways(.open, EACCES)
        let subject = try subject()
        #expect(await subject.write([]) == .refused(.failed))
        disk.failAlways(.open, nil)
        #expect(await subject.write([]) == .durable)
        #expect(subject.log.status.health == .ok)
    }

    @Test func `what is no plain file is not written to`() async throws {
        try #require(mkfifo(folder.current, 0o600) == 0)
        let subject = try subject()
        #expect(await subject.write(Event(id: 1)) == .refused(.failed))
        #expect(reasons(subject).first?.contains("no plain file") == true)
    }

    @Test func `events that come soon after a failure wait and share one try`() async throws {
        let subject = try subject { $0.retryAfter = 300 }
        await subject.write([])
        disk.failAlways(.write, EIO)
        let began = ContinuousClock.now
        #expect(await subject.write(Event(id: 0)) == .refused(.failed))
        let failures = subject.log.status.counters.writeFailures
        let done = DispatchSemaphore(value: 0)
        for id in 1...20 {
            subject.log.submit(LogBatch([Event(id: id)])) { batch in
                #expect(batch.outcome == .refused(.failed))
                done.signal()
            }
        }
        for _ in 1...20 { #expect(await wait(done)) }
        #expect(ContinuousClock.now - began >= .milliseconds(300))
        // A second one only where this thread was held up in the midst of the loop.
        #expect((1...2).contains(subject.log.status.counters.writeFailures - failures))
    }

    @Test func `records to keep outlast the failure, and whoever waits goes before them`() async throws {
        let subject = try subject()
        await subject.write(Event(id: 1))
        disk.failAlways(.write, ENOSPC)
        let kept = DispatchSemaphore(value: 0)
        subject.log.submit(LogBatch([Event(id: 2, keep: true)])) { batch in
            #expect(batch.outcome == .durable)
            kept.signal()
        }
        #expect(await subject.write(Event(id: 3), Event(id: 4, keep: true), Event(id: 5)) == .refused(.failed))
        #expect(subject.log.status.queuedBytes > 0)
        disk.failAlways(.write, nil)
        #expect(await subject.write(Event(id: 6)) == .durable)
        #expect(await wait(kept))
        #expect(try folder.lines().map(\.id) == [1, 6, 2, 4])
        #expect(try folder.lines().map(\.seq) == [1, 2, 3, 4])
        #expect(subject.log.status.queuedBytes == 0)
        #expect(subject.log.status.counters.dropped == 0)
    }

    @Test func `records to keep are written after a failure without any event`() async throws {
        let subject = try subject { $0.idleDelay = 1 }
        await subject.write([])
        disk.fail(.write, .error(ENOSPC))
        #expect(await subject.write(Event(id: 1, keep: true)) == .durable)
        #expect(try folder.lines().map(\.id) == [1])
        #expect(subject.log.status.health == .ok)
    }

    @Test func `a backlog is written in slices, none of which an event has to wait for`() async throws {
        let subject = try subject()
        await subject.write([])
        disk.failAlways(.write, ENOSPC)
        for id in 1...5 { subject.log.submit(LogBatch([Event(id: id, keep: true, padding: 400_000)])) { _ in } }
        #expect(await subject.write([]) == .refused(.failed))
        disk.failAlways(.write, nil)
        let writes = disk.count(.write)
        #expect(await subject.write(Event(id: 6)) == .durable)
        #expect(subject.close())
        #expect(try folder.lines().map(\.id) == [6, 1, 2, 3, 4, 5])
        #expect(disk.count(.write) - writes == 4, "the event, then three slices of 1 MiB at most")
    }

    @Test func `with room again the log is well before the next event comes`() async throws {
        let subject = try subject { $0.idleDelay = 1 }
        await subject.write([])
        disk.fail(.write, .error(ENOSPC), .error(ENOSPC))
        #expect(await subject.write(Event(id: 1)) == .refused(.failed))
        // The next try, which no event asks for, finds no room either; the one behind it does.
        for _ in 0..<2000 where subject.log.status.health != .ok { await subject.write([]) }
        #expect(subject.log.status.health == .ok)
        #expect(try folder.names(".probe") == [])
    }

    @Test func `records to keep give way to events, oldest first`() async throws {
        let size = LogBatch([Event(id: 1, padding: 1000)]).size
        let subject = try subject { $0.queueLimit = 3 * size }
        await subject.write([])
        disk.failAlways(.write, ENOSPC)
        let outcomes = Locked<[Int: LogBatch.Outcome]>([:])
        for id in 1...3 {
            subject.log.submit(LogBatch([Event(id: id, keep: true, padding: 1000)])) { batch in
                outcomes.withLock { $0[id] = batch.outcome }
            }
        }
        // Behind it in the queue, so the three have failed once when it comes back.
        #expect(await subject.write([]) == .refused(.failed))
        #expect(await subject.write(Event(id: 9, keep: true, padding: 1000)) == .refused(.full))
        #expect(await subject.write(Event(id: 4, padding: 1000)) == .refused(.failed))
        disk.failAlways(.write, nil)
        #expect(await subject.write(Event(id: 5)) == .durable)
        #expect(subject.close())
        #expect(try folder.lines().map(\.id) == [5, 2, 3])
        #expect(subject.log.status.counters.dropped == 2)
        #expect(outcomes.withLock { $0 } == [1: .refused(.full), 2: .durable, 3: .durable])
    }

    @Test func `a full queue refuses at once while the disk hangs`() async throws {
        let size = LogBatch([Event(id: 1, padding: 1000)]).size
        let subject = try subject { $0.queueLimit = 2 * size }
        await subject.write([])
        disk.fail(.sync, .gate)
        let done = DispatchSemaphore(value: 0)
        for id in 1...2 { subject.log.submit(LogBatch([Event(id: id, padding: 1000)])) { _ in done.signal() } }
        #expect(await wait(disk.arrived))
        #expect(await subject.write(Event(id: 3)) == .refused(.full))
        #expect(await subject.write(Event(id: 4, keep: true)) == .refused(.full))
        #expect(subject.log.status.queuedBytes == 2 * size)
        let counters = subject.log.status.counters
        #expect(counters.refused == 1 && counters.dropped == 1)
        disk.gate.signal()
        for _ in 1...2 { #expect(await wait(done)) }
        #expect(await subject.write(Event(id: 5)) == .durable)
        #expect(try folder.lines().map(\.id) == [1, 2, 5])
    }

    @Test func `a disk that hangs is named in health`() async throws {
        let subject = try subject { $0.hangsAfter = 0 }
        await subject.write([])
        disk.fail(.sync, .gate)
        let done = DispatchSemaphore(value: 0)
        subject.log.submit(LogBatch([Event(id: 1)])) { _ in done.signal() }
        #expect(await wait(disk.arrived))
        #expect(reasons(subject).first?.contains("has not answered for") == true)
        disk.gate.signal()
        #expect(await wait(done))
        #expect(subject.log.status.health == .ok)
    }

    @Test func `closing on a failing disk gives up what is queued`() async throws {
        let subject = try subject()
        await subject.write(Event(id: 1))
        disk.failAlways(.write, ENOSPC)
        let outcome = Locked<LogBatch.Outcome>(.pending)
        subject.log.submit(LogBatch([Event(id: 2, keep: true)])) { batch in outcome.withLock { $0 = batch.outcome } }
        #expect(!subject.close())
        #expect(outcome.withLock { $0 } == .refused(.failed))
        #expect(subject.log.status.counters.dropped == 1)
        #expect(subject.log.status.queuedBytes == 0)
        #expect(try folder.lines().map(\.id) == [1])
    }

    @Test(.enabled(if: getuid() == 0 && SmallDisk.isPermitted))
    func `a real disk of 64 KiB fills, refuses, and goes on when there is room`()
        async throws
    {
        let small = try SmallDisk(at: folder)
        defer { withExtendedLifetime(small) {} }
        var configuration = EventLogConfiguration(folder: small.path)
        configuration.retryAfter = 1
        let subject = try Subject(configuration)
        try Data(repeating: 0, count: 20_000).write(to: URL(filePath: small.path + "/ballast"))
        var written: [Int] = []
        var id = 0
        while id < 200 {
            guard await subject.write(Event(id: id, padding: 1000)) == .durable else { break }
            written.append(id)
            id += 1
        }
        #expect((5..<60).contains(id))
        #expect(reasons(subject).first?.contains("No space left") == true)
        try FileManager.default.removeItem(atPath: small.path + "/ballast")
        #expect(await subject.write(Event(id: 1000)) == .durable)
        let lines = try Entry.all(in: [UInt8](try Data(contentsOf: URL(filePath: small.path + "/events.jsonl"))))
        #expect(lines.map(\.id) == written + [1000])
        #expect(lines.map(\.seq) == (1...UInt64(lines.count)).map { $0 })
        #expect(subject.close())
    }
}

/// A tmpfs of 64 KiB, unmounted with its owner.
final class SmallDisk: Sendable {
    let path: String

    /// Whether this machine lets root mount at all.
    static let isPermitted: Bool = {
        guard let folder = try? TemporaryFolder(), let disk = try? SmallDisk(at: folder) else { return false }
        return !disk.path.isEmpty
    }()

    init(at folder: TemporaryFolder) throws {
        path = folder.path(of: "disk")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try #require(try Self.run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", path) == 0)
    }

    deinit { _ = try? Self.run("umount", "-l", path) }

    private static func run(_ arguments: String...) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
