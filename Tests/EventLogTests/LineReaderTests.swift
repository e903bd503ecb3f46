// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import EventLog

@Suite struct LineReaderTests {
    private func lines(of bytes: [UInt8], window: Int) throws -> [(offset: Int64, bytes: [UInt8], isWhole: Bool)] {
        let folder = try TemporaryFolder()
        try folder.put(bytes)
        let file = try LogFile(path: folder.current, flags: O_RDONLY, calls: .real)
        var reader = LineReader(window: window)
        var lines: [(offset: Int64, bytes: [UInt8], isWhole: Bool)] = []
        while let line = try reader.next(in: file) { lines.append((line.offset, Array(reader.buffer[line.range]), line.isWhole)) }
        #expect(reader.offset == Int64(bytes.count))
        return lines
    }

    @Test(arguments: [1, 2, 3, 5, 7, 64, 4096]) func `lines are the same through any window`(window: Int) throws {
        let lines = try lines(of: Array("one\n\nthree, longer\n\u{0}\u{ff}\nrest".utf8), window: window)
        #expect(lines.map { String(decoding: $0.bytes, as: UTF8.self) } == ["one", "", "three, longer", "\u{0}\u{ff}", "rest"])
        #expect(lines.map(\.offset) == [0, 4, 5, 19, 23])
        #expect(lines.map(\.isWhole) == [true, true, true, true, false])
    }

    @Test func `an empty file has no line`() throws {
        #expect(try lines(of: [], window: 8).isEmpty)
    }

    @Test(arguments: [0, 1]) func `a line longer than any may be is passed over`(extra: Int) throws {
        let long = [UInt8](repeating: 0x61, count: LineFormat.longest + extra)
        let lines = try lines(of: Array("a\n".utf8) + long + Array("\nb\n".utf8) + long, window: 64 * 1024)
        #expect(lines.map(\.offset) == [0, 2, Int64(long.count) + 3, Int64(long.count) + 5])
        #expect(lines.map(\.isWhole) == [true, extra == 0, true, false])
        #expect(lines[2].bytes == [0x62])
    }
}
