// SPDX-License-Identifier: MIT
//
// What a power cut may leave behind. A run of the log is recorded, call by call. For each moment of it the folders are built that a disk
// may hold when the power goes then: everything synced is there; of what was not, any part may be missing, cut, zero or noise; names
// that were made, changed or removed since the last sync of the folder may be undone, the latest first. Each folder must open, hold every
// event acknowledged until that moment exactly once and in order, and no line that was never written.

import Foundation
import Locking
import Testing

@testable import EventLog

/// Does the calls and writes them down.
private final class Recorder: Sendable {
    enum Step {
        case create(name: String, file: UInt64)
        case write(file: UInt64, bytes: [UInt8])
        case cut(file: UInt64, length: Int)
        case sync(file: UInt64)
        case syncFolder
        case rename(from: String, to: String)
        case unlink(name: String)
        case acknowledge(ids: [Int])
    }

    private struct State {
        var steps: [Step] = []
        /// Nil for the folder.
        var files: [Int32: UInt64?] = [:]
        var known: Set<UInt64> = []
    }

    private let state = Locked(State())
    let disk = Disk()

    var steps: [Step] { state.withLock { $0.steps } }
    func note(_ step: Step) { state.withLock { $0.steps.append(step) } }

    private func file(_ descriptor: Int32) -> UInt64? { state.withLock { $0.files[descriptor] ?? nil } }

    var calls: SystemCalls {
        let real = disk.calls
        func name(_ path: String) -> String { URL(filePath: path).lastPathComponent }
        return SystemCalls(
            open: { path, flags in
                let descriptor = real.open(path, flags)
                guard descriptor >= 0, let facts = FileFacts(path: path) else { return descriptor }
                self.state.withLock { state in
                    state.files[descriptor] = .some(facts.isRegular ? facts.identity.inode : nil)
                    guard facts.isRegular, state.known.insert(facts.identity.inode).inserted else { return }
                    state.steps.append(.create(name: URL(filePath: path).lastPathComponent, file: facts.identity.inode))
                }
                return descriptor
            },
            write: { descriptor, bytes in
                let count = real.write(descriptor, bytes)
                if count > 0, let file = self.file(descriptor) { self.note(.write(file: file, bytes: Array(bytes.prefix(count)))) }
                return count
            },
            sync: { descriptor in
                let result = real.sync(descriptor)
                if result == 0 { self.note(self.file(descriptor).map { .sync(file: $0) } ?? .syncFolder) }
                return result
            },
            truncate: { descriptor, length in
                let result = real.truncate(descriptor, length)
                if result == 0, let file = self.file(descriptor) { self.note(.cut(file: file, length: Int(length))) }
                return result
            },
            rename: { from, to in
                let result = real.rename(from, to)
                if result == 0 { self.note(.rename(from: URL(filePath: from).lastPathComponent, to: URL(filePath: to).lastPathComponent)) }
                return result
            },
            unlink: { path in
                // An inode that is free again may be given to the next file, which would look known.
                let file = FileFacts(path: path)?.identity.inode
                let result = real.unlink(path)
                if result == 0 {
                    self.note(.unlink(name: URL(filePath: path).lastPathComponent))
                    if let file { self.state.withLock { _ = $0.known.remove(file) } }
                }
                return result
            })
    }
}

/// What the disk may hold, as far as the steps until now tell.
private struct DiskModel {
    struct File {
        var synced: [UInt8] = []
        var current: [UInt8] = []
    }

    var files: [UInt64: File] = [:]
    var names: [String: UInt64] = [:]
    /// The names on the disk after 0, 1, … of the changes since the last sync of the folder.
    var possibleNames: [[String: UInt64]] = [[:]]
    var acknowledged: [Int] = []

    mutating func apply(_ step: Recorder.Step) {
        switch step {
        case .create(let name, let file):
            files[file] = File()
            names[name] = file
            possibleNames.append(names)
        case .write(let file, let bytes): files[file]?.current += bytes
        case .cut(let file, let length): files[file]?.current.removeSubrange(length...)
        case .sync(let file): if let current = files[file]?.current { files[file]?.synced = current }
        case .syncFolder: possibleNames = [names]
        case .rename(let from, let to):
            names[to] = names.removeValue(forKey: from)
            possibleNames.append(names)
        case .unlink(let name):
            names[name] = nil
            possibleNames.append(names)
        case .acknowledge(let ids): acknowledged += ids
        }
    }

    /// What a file may hold.
    func possibleContents(of file: File, noise: UInt8) -> Set<[UInt8]> {
        let (synced, current) = (file.synced, file.current)
        if synced == current { return [synced] }
        let common = Array(zip(synced, current).prefix { $0 == $1 }.map(\.0))
        let added = Array(current[common.count...])
        var contents: Set<[UInt8]> = [synced, current]
        // Without a cut what was synced is there, and then as much of the rest as the disk happened to take.
        for count in Set([1, added.count / 3, added.count / 2, added.count - 1]) where count >= 0 && count <= added.count {
            let rest = added.count - count
            contents.insert(common + added.prefix(count))
            contents.insert(common + added.prefix(count) + [UInt8](repeating: 0, count: rest))
            contents.insert(common + added.prefix(count) + (0..<rest).map { UInt8(truncatingIfNeeded: $0) &* 31 ^ noise })
            contents.insert(common + [UInt8](repeating: 0, count: count) + added.suffix(rest))
        }
        return contents
    }
}

@Suite(.timeLimit(.minutes(2))) struct PowerLossTests {
    /// A day in the life of a log: events, records to keep, a full disk, failed syncs and writes, a restart.
    private func record() async throws -> Recorder {
        let folder = try TemporaryFolder()
        let recorder = Recorder()
        var id = 0
        func write(_ subject: Subject, _ count: Int, keep: Bool = false) async {
            let events = (0..<count).map { Event(id: id + $0, keep: keep) }
            id += count
            let isEvent = !keep
            await withCheckedContinuation { waiting in
                subject.log.submit(LogBatch(events)) { batch in
                    if isEvent, batch.outcome == .durable { recorder.note(.acknowledge(ids: events.map(\.id))) }
                    waiting.resume()
                }
            }
        }
        var subject = try Subject(folder, calls: recorder.calls)
        await write(subject, 1)
        await write(subject, 3)
        await write(subject, 1, keep: true)
        await write(subject, 1)
        recorder.disk.fail(.write, .short(50), .error(ENOSPC))
        await write(subject, 2)
        await write(subject, 1)
        await write(subject, 1, keep: true)
        recorder.disk.fail(.sync, .error(EIO))
        await write(subject, 2)
        await write(subject, 1)
        recorder.disk.fail(.write, .short(20), .error(EIO))
        await write(subject, 1)
        recorder.disk.fail(.sync, .error(EIO))
        await write(subject, 1)
        await write(subject, 2)
        #expect(subject.close())
        // The restart finds a torn end.
        let torn = try LogFile(path: folder.current, flags: O_WRONLY | O_APPEND, calls: recorder.calls)
        try torn.append(Array("torn".utf8).span)
        subject = try Subject(folder, calls: recorder.calls)
        await write(subject, 1)
        #expect(subject.close())
        return recorder
    }

    /// Files that are closed and compressed, with each call of it failing once.
    private func recordClosing() async throws -> Recorder {
        let folder = try TemporaryFolder()
        let recorder = Recorder()
        var id = 0
        func write(_ subject: Subject, keep: Bool = false) async {
            id += 1
            let event = id
            await withCheckedContinuation { waiting in
                subject.log.submit(LogBatch([Event(id: event, keep: keep)])) { batch in
                    if !keep, batch.outcome == .durable { recorder.note(.acknowledge(ids: [event])) }
                    waiting.resume()
                }
            }
        }
        let closed = ClosedFiles(folder: Folder(path: folder.path, calls: recorder.calls), keepFor: nil, keepSize: nil) { _ in }
        func compress() throws {
            let first = try #require(try folder.lines().first)
            let boundary = ClosedFiles.Boundary(sequence: first.seq, start: TimeStamp(milliseconds: noon))
            _ = closed.pass(before: boundary, now: TimeStamp(milliseconds: noon)) { false }
        }
        func open() throws -> Subject {
            try Subject(folder, calls: recorder.calls) {
                // A file for each line.
                $0.rotateSize = 1
                $0.rotateRetryAfter = 0
            }
        }
        var subject = try open()
        await write(subject)
        for fault in [Disk.Call.rename, .open, .sync] {
            recorder.disk.fail(fault, .error(EIO))
            await write(subject)
        }
        await write(subject, keep: true)
        await write(subject)
        try compress()
        for fault in [Disk.Call.sync, .rename, .unlink] {
            await write(subject)
            recorder.disk.fail(fault, .error(EIO))
            try compress()
        }
        #expect(subject.close())
        subject = try open()
        await write(subject)
        try compress()
        #expect(subject.close())
        #expect(try folder.names().count { $0.hasSuffix(".gz") } > 4)
        return recorder
    }

    @Test func `every event acknowledged before a power cut is there after it`() async throws {
        try judge(try await record().steps)
    }

    @Test func `closing and compressing files changes nothing about that`() async throws {
        try judge(try await recordClosing().steps)
    }

    private func judge(_ steps: [Recorder.Step]) throws {
        // Each write begins with a line: what a short one left behind was cut.
        let lines = steps.flatMap { step -> [ArraySlice<UInt8>] in
            if case .write(_, let bytes) = step { bytes.split(separator: 0x0A) } else { [] }
        }
        let texts = Set(lines.filter { sequence(of: Array($0)) != nil }.map { String(decoding: $0, as: UTF8.self) })
        var model = DiskModel()
        var states = 0
        for (index, step) in steps.enumerated() {
            model.apply(step)
            for names in model.possibleNames {
                // One file after the other takes each of its forms, while the rest is as last written or as last synced; of most files
                // that is the same.
                var possible: Set<[String: [UInt8]]> = []
                for varied in Set(names.values) {
                    guard let file = model.files[varied] else { continue }
                    for content in model.possibleContents(of: file, noise: UInt8(truncatingIfNeeded: index)) {
                        for isLate in [false, true] {
                            let contents = names.mapValues { other in
                                other == varied ? content : (isLate ? model.files[other]?.synced : model.files[other]?.current) ?? []
                            }
                            possible.insert(contents)
                        }
                    }
                }
                states += possible.count
                for contents in possible { try check(contents, acknowledged: model.acknowledged, written: texts, at: "step \(index)") }
            }
        }
        #expect(states > 200)
    }

    private func check(_ contents: [String: [UInt8]], acknowledged: [Int], written: Set<String>, at place: String) throws {
        let folder = try TemporaryFolder()
        for (name, bytes) in contents { try folder.put(bytes, as: name) }
        let recovered = try recover(folder)
        let files = ClosedFiles(folder: Folder(path: folder.path, calls: .fast), keepFor: nil, keepSize: nil) { _ in }
        // As at a start: up to a current file that holds a line, else all but the newest.
        let first = try folder.lines().first.map { ClosedFiles.Boundary(sequence: $0.seq, start: TimeStamp(milliseconds: noon)) }
        let outcome = files.pass(before: first, now: TimeStamp(milliseconds: noon)) { false }
        #expect(outcome.failure == nil, "\(place)")
        var found: [Entry] = []
        for name in try folder.names() where !name.hasPrefix(Folder.tornPrefix) {
            // A closed file may have lost bytes behind its durable lines.
            let bytes = try name.hasSuffix(".gz") ? #require(inflated(folder.bytes(name)), "\(place)") : folder.bytes(name)
            let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map(Array.init)
            found += lines.compactMap { line in sequence(of: line).map { Entry(seq: $0, text: String(decoding: line, as: UTF8.self)) } }
        }
        found.sort { $0.seq < $1.seq }
        let promised = Set(acknowledged)
        #expect(found.map(\.id).filter { promised.contains($0) } == acknowledged, "\(place)")
        #expect(found.filter { !written.contains($0.text) } == [], "\(place)")
        let promisedNumbers = found.filter { promised.contains($0.id) }.map(\.seq)
        #expect(recovered.highest >= promisedNumbers.max() ?? 0, "\(place)")
        let again = try recover(folder)
        #expect(again.file == recovered.file && again.highest == recovered.highest && again.notices.isEmpty, "\(place)")
    }
}
