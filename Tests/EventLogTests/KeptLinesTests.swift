// SPDX-License-Identifier: MIT
//
// The small file that is kept for ever: what it holds after a restart, a torn and a damaged line, a disk that fails, and its bound.

import Foundation
import Locking
import Synchronization
import Testing

@testable import EventLog

struct KeptLinesTests {
    private static let name = "kept.jsonl"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(largest: Int = 1 << 20, calls: SystemCalls = .real) throws -> KeptLines {
        try KeptLines(folder: folder.path, name: Self.name, largest: largest, calls: calls)
    }

    private func texts(_ kept: KeptLines) -> [String] { kept.found.map { String(decoding: $0, as: UTF8.self) } }

    /// Members `"n":1` and so on of what a new start finds.
    private func numbers() throws -> [Int] {
        try texts(open()).map { text in try #require(text.firstMatch(of: /"n":(\d+)/).flatMap { Int($0.1) }) }
    }

    private func add(_ number: Int, to kept: KeptLines) async throws {
        try await kept.append(at: 1_796_032_800_123, Array("\"n\":\(number)".utf8))
    }

    @Test func `nothing is made before the first line, and each is there after a restart`() async throws {
        let kept = try open()
        #expect(try kept.found.isEmpty && folder.names("kept").isEmpty)
        try await add(1, to: kept)
        try await add(2, to: kept)
        let again = try open()
        #expect(
            texts(again).map { $0.prefix(47) }
                == ["1", "2"].map { #"{"seq":\#($0),"at":"2026-11-30T10:00:00.123Z","n":\#($0),"#.prefix(47) })
        try await add(3, to: again)
        #expect(try folder.lines(Self.name).map(\.seq) == [1, 2, 3])
        #expect(try numbers() == [1, 2, 3])
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path(of: Self.name))[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a line is durable before it is answered`() async throws {
        let events = Locked<[String]>([])
        var calls = SystemCalls.real
        calls.write = { [real = SystemCalls.real] in
            events.withLock { $0.append("write") }
            return real.write($0, $1)
        }
        calls.sync = { [real = SystemCalls.real] in
            events.withLock { $0.append("sync") }
            return real.sync($0)
        }
        let kept = try open(calls: calls)
        try await add(1, to: kept)
        try await add(2, to: kept)
        #expect(events.withLock { $0 }.suffix(4) == ["write", "sync", "write", "sync"])
    }

    @Test func `what a crash left behind the last whole line is cut off, at each byte`() async throws {
        let kept = try open()
        for number in 1...2 { try await add(number, to: kept) }
        let whole = try folder.bytes(Self.name)
        let first = try #require(whole.firstIndex(of: 0x0A)) + 1
        for end in first..<whole.count {
            try folder.put(Array(whole[..<end]), as: Self.name)
            let again = try open()
            #expect(again.found.count == 1 && again.damaged == 0)
            try await add(7, to: again)
            #expect(try numbers() == [1, 7])
        }
        #expect(try folder.names("kept") == [Self.name])
    }

    @Test func `a damaged line is left out, the others stay, and the file as it was is beside`() async throws {
        let kept = try open()
        for number in 1...3 { try await add(number, to: kept) }
        var bytes = try folder.bytes(Self.name)
        let middle = try #require(bytes.firstIndex(of: 0x0A)) + 20
        bytes[middle] ^= 1
        try folder.put(bytes, as: Self.name)
        let again = try open()
        #expect(again.damaged == 1)
        #expect(try folder.bytes("\(Self.name).damaged") == bytes)
        // Without another line, and with one.
        #expect(try numbers() == [1, 3])
        try await add(4, to: again)
        #expect(try numbers() == [1, 3, 4])
        #expect(try folder.lines(Self.name).map(\.seq) == [1, 3, 4])
    }

    @Test(arguments: ["write", "sync"]) func `after a failure the file is never trusted again`(_ what: String) async throws {
        let fails = Atomic<Bool>(false)
        let isFailing: @Sendable () -> Bool = { fails.load(ordering: .relaxed) }
        var calls = SystemCalls.real
        calls.write = { [real = SystemCalls.real] descriptor, bytes in
            guard what == "write", isFailing() else { return real.write(descriptor, bytes) }
            // Half of it, and then no room.
            guard bytes.count > 1 else {
                errno = ENOSPC
                return -1
            }
            return real.write(descriptor, UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]))
        }
        calls.sync = { [real = SystemCalls.real] in
            guard what == "sync", isFailing() else { return real.sync($0) }
            errno = EIO
            return -1
        }
        let kept = try open(calls: calls)
        try await add(1, to: kept)
        let before = FileFacts(path: folder.path(of: Self.name))?.identity
        fails.store(true, ordering: .relaxed)
        for _ in 0..<2 { await #expect(throws: KeptLinesError.self) { try await add(2, to: kept) } }
        #expect(try numbers() == [1], "what was not promised is not there")
        fails.store(false, ordering: .relaxed)
        try await add(3, to: kept)
        #expect(try numbers() == [1, 3])
        #expect(FileFacts(path: folder.path(of: Self.name))?.identity != before)
    }

    @Test func `it is bounded, and a larger file is not read`() async throws {
        let kept = try open(largest: 250)
        for number in 1...3 { try await add(number, to: kept) }
        do {
            try await add(4, to: kept)
            Issue.record("no error")
        } catch let error as KeptLinesError {
            #expect(error.fault == .full && error.description.contains("move it away"))
        }
        #expect(try numbers() == [1, 2, 3])
        #expect(throws: KeptLinesError.self) { try open(largest: 100) }
        try FileManager.default.removeItem(atPath: folder.path(of: Self.name))
        try FileManager.default.createDirectory(atPath: folder.path(of: Self.name), withIntermediateDirectories: false)
        #expect(throws: KeptLinesError.self) { try open() }
    }
}
