// SPDX-License-Identifier: MIT
//
// What the tests share: a folder that is removed, a log that is waited for, and a disk that fails or hangs when told to.

import CZlib
import Foundation
import Locking
import Testing

@testable import EventLog

/// A folder that vanishes with its owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "event-log-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func path(of name: String) -> String { path + "/" + name }
    var current: String { path(of: "events.jsonl") }

    func names(_ prefix: String = "events") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix(prefix) && $0 != "events.lock" }.sorted()
    }

    func bytes(_ name: String = "events.jsonl") throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path(of: name)))) }

    func put(_ bytes: [UInt8], as name: String = "events.jsonl") throws { try Data(bytes).write(to: URL(filePath: path(of: name))) }

    /// The lines of a file; each must be whole and pass its check.
    func lines(_ name: String = "events.jsonl") throws -> [Entry] { try Entry.all(in: try bytes(name)) }
}

/// What a test wants to know of a line.
struct Entry: Hashable, CustomStringConvertible {
    let seq: UInt64
    let text: String
    var isRepeat: Bool { text.contains(#","repeat":true"#) }
    /// The number that `Event` gave it.
    var id: Int { text.firstMatch(of: /"id":(\d+)/).flatMap { Int($0.1) } ?? -1 }
    var description: String { text }

    static func all(in bytes: [UInt8]) throws -> [Entry] {
        try #require(bytes.isEmpty || bytes.last == 0x0A, "the file ends within a line")
        return try bytes.split(separator: 0x0A).map { line in
            let seq = try #require(sequence(of: Array(line)), "\(String(decoding: line, as: UTF8.self))")
            _ = try JSONSerialization.jsonObject(with: Data(line))
            return Entry(seq: seq, text: String(decoding: line, as: UTF8.self))
        }
    }
}

/// A record with a number in its body.
struct Event {
    var id: Int
    var keep = false
    var detectsRepeat = false
    var at: Int64 = 1_796_032_800_123
    var padding = 0

    var head: String { #""kind":"event","call":null"# }
    var tail: String { #","event":{"id":\#(id),"pad":"\#(String(repeating: "x", count: padding))"}"# }
}

extension LogBatch {
    convenience init(_ events: [Event]) {
        self.init()
        for event in events {
            let isAdded = append(
                at: event.at, keep: event.keep, detectsRepeat: event.detectsRepeat, head: Array(event.head.utf8).span,
                tail: Array(event.tail.utf8).span)
            #expect(isAdded)
        }
    }
}

/// A log, what it reported, and ways to wait for it.
final class Subject: Sendable {
    let log: EventLog
    private let noticed: Notices

    init(_ configuration: EventLogConfiguration, calls: SystemCalls = .real, keepsHouse: Bool = true) throws {
        let noticed = Notices()
        log = try EventLog(configuration, calls: calls, keepsHouse: keepsHouse) { notice in noticed.list.withLock { $0.append(notice) } }
        self.noticed = noticed
    }

    /// - Parameter keepsHouse: whether a thread compresses closed files, which would count among the calls of a test.
    convenience init(
        _ folder: TemporaryFolder, calls: SystemCalls = .real, keepsHouse: Bool = false,
        change: (inout EventLogConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = EventLogConfiguration(folder: folder.path)
        configuration.retryAfter = 1
        // Longer than any test: no sync and no try but those that a test asks for.
        configuration.idleDelay = 600_000
        // The events of tests have any time.
        configuration.rotatesDaily = false
        change(&configuration)
        try self.init(configuration, calls: calls, keepsHouse: keepsHouse)
    }

    var notices: [LogNotice] { noticed.list.withLock { $0 } }

    /// Hands the events over in one batch and waits for it.
    @discardableResult
    func write(_ events: Event...) async -> LogBatch.Outcome { await write(events) }

    @discardableResult
    func write(_ events: [Event]) async -> LogBatch.Outcome {
        await withCheckedContinuation { waiting in
            log.submit(LogBatch(events)) { waiting.resume(returning: $0.outcome) }
        }
    }

    func close() -> Bool { log.close(timeoutMilliseconds: 60_000) }
}

private final class Notices: Sendable {
    let list = Locked<[LogNotice]>([])
}

/// Real calls, some of which fail, write less or wait as a test has it.
final class Disk: Sendable {
    enum Call: Hashable { case open, write, sync, truncate, rename, unlink }

    /// What happens instead of the real call.
    enum Fault {
        case error(Int32)
        /// Writes that many bytes; the rest fails with the next fault.
        case short(Int)
        /// Waits for the gate, then does the real call.
        case gate
    }

    private struct State {
        var counts: [Call: Int] = [:]
        var faults: [Call: [Fault]] = [:]
        var always: [Call: Int32] = [:]
        var synced: [UInt64] = []
    }

    private let state = Locked(State())
    /// Signalled when a call waits at the gate.
    let arrived = DispatchSemaphore(value: 0)
    /// To be signalled once for each call that may pass.
    let gate = DispatchSemaphore(value: 0)
    let syncedOnce = DispatchSemaphore(value: 0)

    func count(_ call: Call) -> Int { state.withLock { $0.counts[call] ?? 0 } }
    /// The inode of each sync, in order.
    var synced: [UInt64] { state.withLock { $0.synced } }
    /// The next calls of this sort meet these faults, in order.
    func fail(_ call: Call, _ faults: Fault...) { state.withLock { $0.faults[call, default: []] += faults } }
    /// Every call of this sort fails; nil ends that.
    func failAlways(_ call: Call, _ code: Int32?) { state.withLock { $0.always[call] = code } }

    private func fault(_ call: Call) -> Fault? {
        let fault = state.withLock { state -> Fault? in
            state.counts[call, default: 0] += 1
            if let code = state.always[call] { return .error(code) }
            guard var faults = state.faults[call], !faults.isEmpty else { return nil }
            defer { state.faults[call] = faults }
            return faults.removeFirst()
        }
        if case .gate = fault {
            arrived.signal()
            #expect(gate.wait(timeout: .now() + 60) == .success)
        }
        return fault
    }

    private func run(_ call: Call, _ body: () -> Int32) -> Int32 {
        if case .error(let code) = fault(call) {
            errno = code
            return -1
        }
        return body()
    }

    var calls: SystemCalls {
        let real = SystemCalls.real
        return SystemCalls(
            open: { path, flags in self.run(.open) { real.open(path, flags) } },
            write: { descriptor, bytes in
                switch self.fault(.write) {
                case .error(let code):
                    errno = code
                    return -1
                case .short(let count): return real.write(descriptor, UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
                case .gate, nil: return real.write(descriptor, bytes)
                }
            },
            sync: { descriptor in
                defer { self.syncedOnce.signal() }
                var facts = stat()
                if fstat(descriptor, &facts) == 0 { self.state.withLock { $0.synced.append(UInt64(facts.st_ino)) } }
                return self.run(.sync) { real.sync(descriptor) }
            },
            truncate: { descriptor, length in self.run(.truncate) { real.truncate(descriptor, length) } },
            rename: { from, to in self.run(.rename) { real.rename(from, to) } }, unlink: { path in self.run(.unlink) { real.unlink(path) } }
        )
    }
}

/// Waits on another thread, so that no test holds up the others.
func wait(_ semaphore: DispatchSemaphore) async -> Bool {
    await withCheckedContinuation { waiting in
        DispatchQueue.global().async { waiting.resume(returning: semaphore.wait(timeout: .now() + 60) == .success) }
    }
}

// `#expect` cannot take a `Span` as an argument.
func sequence(of line: [UInt8]) -> UInt64? { LineFormat.sequence(of: line.span) }

extension LogBatch {
    func add(at: Int64 = 0, head: [UInt8], tail: [UInt8] = []) -> Bool { append(at: at, head: head.span, tail: tail.span) }
}

/// What a file of one gzip member holds; nil where it is no whole one.
func inflated(_ bytes: [UInt8]) -> [UInt8]? {
    var stream = z_stream()
    guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
    defer { inflateEnd(&stream) }
    // Far more than a test writes.
    var output = [UInt8](repeating: 0, count: 4 << 20)
    var input = bytes
    let result = input.withUnsafeMutableBufferPointer { input in
        output.withUnsafeMutableBufferPointer { output in
            (stream.next_in, stream.avail_in) = (input.baseAddress, uInt(input.count))
            (stream.next_out, stream.avail_out) = (output.baseAddress, uInt(output.count))
            return inflate(&stream, Z_FINISH)
        }
    }
    guard result == Z_STREAM_END, stream.avail_in == 0 else { return nil }
    return Array(output.prefix(Int(stream.total_out)))
}

/// The same numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Lines as the log writes them, numbered from `first`.
func goodLines(_ count: Int, from first: UInt64 = 1) -> [[UInt8]] {
    (0..<count).map { index in
        var line: [UInt8] = []
        let event = Event(id: index)
        LineFormat.append(
            seq: first + UInt64(index), at: event.at, head: Array(event.head.utf8).span, isRepeat: false, tail: Array(event.tail.utf8).span,
            to: &line)
        return line
    }
}
