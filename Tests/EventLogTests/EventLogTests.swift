// SPDX-License-Identifier: MIT
//
// The log on a well disk: order, shared syncs, repeats, lock, reopening, closing.

import Foundation
import Locking
import Testing

@testable import EventLog

@Suite(.timeLimit(.minutes(1))) struct EventLogTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `events come back durable and lie in the file in order, numbered from 1`() async throws {
        let subject = try Subject(folder)
        #expect(await subject.write(Event(id: 1), Event(id: 2, keep: true)) == .durable)
        #expect(await subject.write(Event(id: 3)) == .durable)
        let lines = try folder.lines()
        #expect(lines.map(\.seq) == [1, 2, 3])
        #expect(lines.map(\.id) == [1, 2, 3])
        let status = subject.log.status
        #expect(status.health == .ok)
        #expect(status.queuedBytes == 0)
        #expect(status.counters.records == 3)
        #expect(status.counters.eventsDurable == 2)
        #expect(status.counters.commits == 2)
        #expect(status.counters.lastSeq == 3)
        #expect(subject.notices == [])
    }

    @Test func `folder and files can be read by their owner only, and parents are made`() async throws {
        let deep = folder.path(of: "a/b/c")
        let subject = try Subject(EventLogConfiguration(folder: deep))
        #expect(await subject.write(Event(id: 1)) == .durable)
        func mode(_ path: String) throws -> Int? { try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int }
        #expect(try mode(deep) == 0o700)
        #expect(try mode(folder.path(of: "a")) == 0o700)
        #expect(try mode(deep + "/events.jsonl") == 0o600)
        #expect(try mode(deep + "/events.lock") == 0o600)
    }

    @Test func `what comes while the disk is busy shares one write and one sync`() async throws {
        let disk = Disk()
        let subject = try Subject(folder, calls: disk.calls)
        #expect(await subject.write([]) == .durable)
        let (writes, syncs) = (disk.count(.write), disk.count(.sync))
        disk.fail(.write, .gate)
        let order = Locked<[UInt64]>([])
        let done = DispatchSemaphore(value: 0)
        for id in 0..<51 {
            let batch = LogBatch([Event(id: id)])
            subject.log.submit(batch) { batch in
                #expect(batch.outcome == .durable)
                order.withLock { $0.append(UInt64(id)) }
                done.signal()
            }
            if id == 0 { #expect(await wait(disk.arrived)) }
        }
        disk.gate.signal()
        for _ in 0..<51 { #expect(await wait(done)) }
        #expect(order.withLock { $0 } == Array(0..<51))
        #expect(try folder.lines().map(\.id) == Array(0..<51))
        #expect(disk.count(.write) == writes + 2)
        #expect(disk.count(.sync) == syncs + 2)
    }

    @Test func `many threads lose nothing and keep each one's order`() async throws {
        let subject = try Subject(folder)
        await withTaskGroup { group in
            for thread in 0..<16 {
                group.addTask {
                    for index in 0..<25 { #expect(await subject.write(Event(id: thread * 1000 + index)) == .durable) }
                }
            }
        }
        let lines = try folder.lines()
        #expect(lines.map(\.seq) == Array(1...400))
        for thread in 0..<16 { #expect(lines.map(\.id).filter { $0 / 1000 == thread } == (0..<25).map { thread * 1000 + $0 }) }
        #expect(subject.log.status.counters.commits <= 400)
    }

    @Test func `a batch that comes back can be filled again`() async throws {
        let subject = try Subject(folder)
        let batch = LogBatch([Event(id: 1)])
        let back = await withCheckedContinuation { waiting in subject.log.submit(batch) { waiting.resume(returning: $0) } }
        #expect(back === batch)
        #expect(back.outcome == .durable)
        back.clear()
        #expect(back.isEmpty && back.outcome == .pending)
    }

    @Test func `numbers and repeats go on over restarts`() async throws {
        var subject = try Subject(folder)
        await subject.write(Event(id: 1, detectsRepeat: true), Event(id: 2, detectsRepeat: true), Event(id: 1, detectsRepeat: true))
        await subject.write(Event(id: 2, detectsRepeat: true, at: 5), Event(id: 2))
        #expect(subject.log.status.counters.repeats == 2)
        #expect(subject.close())
        subject = try Subject(folder)
        await subject.write(Event(id: 1, detectsRepeat: true), Event(id: 3, detectsRepeat: true))
        let lines = try folder.lines()
        #expect(lines.map(\.seq) == Array(1...7))
        #expect(lines.map(\.isRepeat) == [false, false, true, true, false, true, false])
        #expect(subject.log.status.counters.repeats == 1)
    }

    @Test func `the refilled window is as long as the one before`() async throws {
        let first = try Subject(folder) { $0.repeatWindow = 3 }
        await first.write((0..<5).map { Event(id: $0, detectsRepeat: true) })
        #expect(first.close())
        let second = try Subject(folder) { $0.repeatWindow = 3 }
        await second.write([1, 2].map { Event(id: $0, detectsRepeat: true) })
        #expect(try folder.lines().suffix(2).map(\.isRepeat) == [false, false])
        #expect(second.close())
        let third = try Subject(folder) { $0.repeatWindow = 3 }
        await third.write([4, 1].map { Event(id: $0, detectsRepeat: true) })
        #expect(try folder.lines().suffix(2).map(\.isRepeat) == [true, true])
    }

    @Test func `the window is refilled from the right place of a long file`() async throws {
        let first = try Subject(folder) { $0.repeatWindow = 2000 }
        await first.write((0..<5000).map { Event(id: $0, detectsRepeat: true) })
        #expect(first.close())
        let second = try Subject(folder) { $0.repeatWindow = 2000 }
        await second.write(Event(id: 3000, detectsRepeat: true), Event(id: 2999, detectsRepeat: true))
        #expect(try folder.lines().suffix(2).map(\.isRepeat) == [true, false])
    }

    @Test func `records that nobody waits for are written without a sync of their own`() async throws {
        let disk = Disk()
        let subject = try Subject(folder, calls: disk.calls)
        await subject.write([])
        let syncs = disk.count(.sync)
        #expect(await subject.write(Event(id: 1, keep: true)) == .durable)
        #expect(disk.count(.sync) == syncs)
        #expect(try folder.lines().map(\.id) == [1])
        #expect(await subject.write(Event(id: 2)) == .durable)
        #expect(disk.count(.sync) == syncs + 1)
    }

    @Test func `records that nobody waits for are synced after a while`() async throws {
        let disk = Disk()
        let subject = try Subject(folder, calls: disk.calls) { $0.idleDelay = 1 }
        await subject.write([])
        while disk.syncedOnce.wait(timeout: .now()) == .success {}
        await subject.write(Event(id: 1, keep: true))
        #expect(await wait(disk.syncedOnce))
    }

    @Test func `with an interval the sync follows by itself`() async throws {
        let disk = Disk()
        let subject = try Subject(folder, calls: disk.calls) { $0.sync = .interval(milliseconds: 1) }
        await subject.write([])
        while disk.syncedOnce.wait(timeout: .now()) == .success {}
        #expect(await subject.write(Event(id: 1)) == .durable)
        #expect(await wait(disk.syncedOnce))
    }

    @Test func `without syncs the file is synced when it is closed`() async throws {
        let disk = Disk()
        let subject = try Subject(folder, calls: disk.calls) { $0.sync = .none }
        await subject.write([])
        let syncs = disk.count(.sync)
        #expect(await subject.write(Event(id: 1)) == .durable)
        #expect(disk.count(.sync) == syncs)
        #expect(subject.close())
        #expect(disk.count(.sync) == syncs + 1)
    }

    @Test func `a second log on the folder is refused and names the first`() async throws {
        let first = try Subject(folder)
        await first.write(Event(id: 1))
        let error = try #require(throws: EventLogError.self) { try Subject(folder) }
        #expect(error == .locked(folder: folder.path, pid: getpid()))
        #expect(error.description.contains("in use by process \(getpid())"))
        #expect(await first.write(Event(id: 2)) == .durable)
        #expect(first.close())
        let second = try Subject(folder)
        #expect(await second.write(Event(id: 3)) == .durable)
        #expect(try folder.lines().map(\.seq) == [1, 2, 3])
    }

    @Test func `reopening begins a new file once the old one was moved, and numbers go on`() async throws {
        let subject = try Subject(folder)
        await subject.write(Event(id: 1), Event(id: 2))
        try FileManager.default.moveItem(atPath: folder.current, toPath: folder.path(of: "events.jsonl.1"))
        await subject.write(Event(id: 3))
        subject.log.reopen()
        await subject.write(Event(id: 4))
        #expect(try folder.lines("events.jsonl.1").map(\.id) == [1, 2, 3])
        #expect(try folder.lines().map(\.id) == [4])
        #expect(try folder.lines().map(\.seq) == [4])
        #expect(subject.close())
        try FileManager.default.removeItem(atPath: folder.current)
        try await #require(Subject(folder).write(Event(id: 5)) == .durable)
        #expect(try folder.lines().map(\.seq) == [5], "a number that was given is not given again")
    }

    @Test func `numbers go on where all files were moved out of the folder`() async throws {
        let first = try Subject(folder)
        await first.write(Event(id: 1), Event(id: 2))
        try FileManager.default.removeItem(atPath: folder.current)
        first.log.reopen()
        // No line comes before the end, and none is left: what was noted when the new file was begun tells.
        #expect(first.close())
        let second = try Subject(folder)
        #expect(await second.write(Event(id: 3)) == .durable)
        #expect(try folder.lines().map(\.seq) == [3])
        #expect(second.close())
        for nonsense in ["", "x\n", "1\nx\n", "1\n99999999999999999999\n", "1\n-5\n"] {
            try folder.put(Array(nonsense.utf8), as: "events.lock")
            let third = try Subject(folder)
            #expect(third.close())
        }
        #expect(try folder.lines().map(\.seq) == [3])
    }

    @Test func `reopening goes on with the file that has not moved`() async throws {
        let subject = try Subject(folder)
        await subject.write(Event(id: 1))
        let identity = FileFacts(path: folder.current)?.identity
        subject.log.reopen()
        await subject.write(Event(id: 2))
        #expect(try folder.lines().map(\.id) == [1, 2])
        #expect(FileFacts(path: folder.current)?.identity == identity)
        #expect(subject.notices == [])
    }

    @Test func `a file that was removed while open is replaced before the next event`() async throws {
        let subject = try Subject(folder)
        await subject.write(Event(id: 1))
        try FileManager.default.removeItem(atPath: folder.current)
        #expect(await subject.write(Event(id: 2)) == .durable)
        #expect(try folder.lines().map(\.seq) == [2])
        #expect(subject.notices == [.fileChanged(name: "events.jsonl")])
    }

    @Test func `a folder that was removed while open is made again`() async throws {
        let subject = try Subject(folder)
        await subject.write(Event(id: 1))
        try FileManager.default.removeItem(atPath: folder.path)
        #expect(await subject.write(Event(id: 2)) == .durable)
        #expect(try folder.lines().map(\.seq) == [2])
        #expect(throws: EventLogError.self) { try Subject(folder) }
    }

    @Test func `a file that another program emptied or wrote to is checked anew`() async throws {
        let subject = try Subject(folder)
        await subject.write(Event(id: 1), Event(id: 2))
        try #require(truncate(folder.current, 0) == 0)
        await subject.write(Event(id: 3))
        try folder.put(try folder.bytes() + Array("foreign".utf8))
        await subject.write(Event(id: 4))
        #expect(try folder.lines().map(\.seq) == [3, 4])
        #expect(try folder.names("events.torn").count == 1)
    }

    @Test func `closing writes what is queued, and what comes later is refused`() async throws {
        let disk = Disk()
        let subject = try Subject(folder, calls: disk.calls)
        await subject.write([])
        disk.fail(.write, .gate)
        let outcomes = Locked<[LogBatch.Outcome]>([])
        for id in 0..<3 {
            subject.log.submit(LogBatch([Event(id: id)])) { batch in outcomes.withLock { $0.append(batch.outcome) } }
            if id == 0 { #expect(await wait(disk.arrived)) }
        }
        #expect(!subject.log.close(timeoutMilliseconds: 1), "the disk hangs")
        #expect(await subject.write(Event(id: 9)) == .refused(.failed))
        disk.gate.signal()
        #expect(subject.close())
        #expect(subject.close(), "a second time is harmless")
        #expect(outcomes.withLock { $0 } == [.durable, .durable, .durable])
        #expect(await subject.write(Event(id: 9)) == .refused(.failed))
        #expect(try folder.lines().map(\.id) == [0, 1, 2])
        #expect(subject.log.status.counters.refused == 2)
    }

    @Test func `a clock set back changes no number`() async throws {
        let subject = try Subject(folder)
        await subject.write(Event(id: 1, at: 2_000_000_000_000))
        await subject.write(Event(id: 2, at: 1_000_000_000_000))
        #expect(subject.close())
        let again = try Subject(folder)
        await again.write(Event(id: 3, at: 0))
        #expect(try folder.lines().map(\.seq) == [1, 2, 3])
    }
}
