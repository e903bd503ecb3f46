// SPDX-License-Identifier: MIT
//
// Logs read back: folders with files of every sort, damage of every sort, and files that change while they are read.

import CZlib
import Foundation
import Testing

@testable import EventLog

/// What zlib makes of bytes, as one gzip member.
func gzipped(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    _ = deflateInit2_(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    var input = bytes
    var output = [UInt8](repeating: 0, count: bytes.count + 1024)
    let count = input.withUnsafeMutableBufferPointer { from in
        output.withUnsafeMutableBufferPointer { to in
            stream.next_in = from.baseAddress
            stream.avail_in = UInt32(from.count)
            stream.next_out = to.baseAddress
            stream.avail_out = UInt32(to.count)
            _ = deflate(&stream, Z_FINISH)
            return to.count - Int(stream.avail_out)
        }
    }
    deflateEnd(&stream)
    return Array(output[..<count])
}

private func lines(_ count: Int, from first: UInt64 = 1) -> [UInt8] { goodLines(count, from: first).flatMap { $0 } }

private func read(_ path: String, _ change: (inout LogReader.Wanted) -> Void = { _ in }) throws -> (seqs: [UInt64], reader: LogReader) {
    let reader = try LogReader(path: path)
    var wanted = LogReader.Wanted()
    change(&wanted)
    var seqs: [UInt64] = []
    try reader.read(wanted) { line, _ in
        seqs.append(line.seq)
        return true
    }
    return (seqs, reader)
}

struct LogReaderTests {
    @Test func `a folder is read in order of numbers, closed, compressed and current`() throws {
        let folder = try TemporaryFolder()
        try folder.put(gzipped(lines(9, from: 2)), as: "events-20261130T100000Z-2.jsonl.gz")
        try folder.put(lines(1), as: "events-20261130T090000Z-1.jsonl")
        try folder.put(lines(5, from: 11), as: "events-20261130T110000Z-11.jsonl")
        try folder.put(lines(5, from: 16))
        try folder.put(lines(9), as: "rooms.jsonl")
        try folder.put(lines(9), as: "events-20261130T120000Z-1.jsonl.gz.part")
        let (seqs, reader) = try read(folder.path)
        #expect(seqs == Array(1...20))
        #expect(reader.badCount == 0)
        #expect(reader.failures.isEmpty)
        #expect(reader.taken == reader.total)
    }

    @Test func `of a plain file and its compressed copy one is read`() throws {
        let folder = try TemporaryFolder()
        try folder.put(lines(3), as: "events-20261130T090000Z-1.jsonl")
        try folder.put(Array(gzipped(lines(3)).dropLast(9)), as: "events-20261130T090000Z-1.jsonl.gz")
        let (seqs, reader) = try read(folder.path)
        #expect(seqs == [1, 2, 3])
        #expect(reader.failures.isEmpty)
    }

    @Test(arguments: [false, true]) func `a single file is read, whatever its name`(_ isCompressed: Bool) throws {
        let folder = try TemporaryFolder()
        try folder.put(isCompressed ? gzipped(lines(3)) : lines(3), as: "copy")
        #expect(try read(folder.path(of: "copy")).seqs == [1, 2, 3])
    }

    @Test func `two compressed files in one are read to the end`() throws {
        let folder = try TemporaryFolder()
        try folder.put(gzipped(lines(3)) + gzipped(lines(3, from: 4)), as: "two.gz")
        #expect(try read(folder.path(of: "two.gz")).seqs == Array(1...6))
    }

    @Test func `what is not there is an error, an empty folder is not`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: ReadFailure.self) { try LogReader(path: folder.path(of: "none")) }
        #expect(try read(folder.path).seqs.isEmpty)
    }

    @Test func `bad lines are counted with their places, and the others are read`() throws {
        let folder = try TemporaryFolder()
        var parts = goodLines(5)
        parts[1][30] ^= 1
        parts[3] = Array("nonsense\n".utf8)
        let offset = Int64(parts[0].count)
        try folder.put(parts.flatMap { $0 } + Array("{\"seq\":6".utf8))
        let (seqs, reader) = try read(folder.path)
        #expect(seqs == [1, 3, 5])
        #expect(reader.badCount == 3)
        #expect(reader.badLines.first == LogReader.BadLine(file: "events.jsonl", offset: offset, isTorn: false))
        #expect(reader.badLines.last?.isTorn == true)
    }

    @Test func `every cut of a compressed file gives its good lines and says what is wrong`() throws {
        let folder = try TemporaryFolder()
        let whole = gzipped(lines(20))
        for length in 0..<whole.count {
            try folder.put(Array(whole[..<length]), as: "cut.gz")
            let (seqs, reader) = try read(folder.path(of: "cut.gz"))
            #expect(seqs == Array((1...20).prefix(seqs.count)))
            #expect(length == 0 || reader.failures.count + reader.badCount > 0, "cut at \(length)")
        }
    }

    @Test func `every flipped bit of a compressed file is found`() throws {
        let folder = try TemporaryFolder()
        let whole = gzipped(lines(3))
        // The head of gzip holds a time and a system that nobody checks.
        for place in 10..<whole.count {
            var bytes = whole
            bytes[place] ^= 1 << (place % 8)
            try folder.put(bytes, as: "flip.gz")
            let reader = try read(folder.path(of: "flip.gz")).reader
            #expect(reader.failures.count == 1 || reader.badCount > 0, "byte \(place)")
        }
    }

    @Test func `set-aside files are read for their good lines`() throws {
        let folder = try TemporaryFolder()
        try folder.put(lines(4) + Array("bad\n".utf8) + lines(1, from: 6), as: "events.damaged-20261130T100000Z.jsonl")
        try folder.put(Array("torn\n".utf8) + lines(1, from: 8), as: "events.torn-20261130T110000Z")
        try folder.put(lines(2, from: 9))
        #expect(try read(folder.path).seqs == [1, 2, 3, 4, 6, 8, 9, 10])
    }

    @Test func `a needle finds its lines across blocks, and nothing else is checked`() throws {
        let folder = try TemporaryFolder()
        var parts = goodLines(20_000)
        parts[7][30] ^= 1
        try folder.put(parts.flatMap { $0 })
        #expect(try read(folder.path) { $0.needles = [Array(#""id":19999,"#.utf8), Array(#""id":7777,"#.utf8)] }.seqs == [7778, 20_000])
        let (seqs, reader) = try read(folder.path) { $0.needles = [Array(#""id":7,"#.utf8)] }
        #expect(seqs.isEmpty)
        #expect(reader.badCount == 1)
        #expect(try read(folder.path) { $0.needles = [Array("nowhere".utf8)] }.seqs.isEmpty)
    }

    @Test func `a line beyond the longest is passed over and counted`() throws {
        let folder = try TemporaryFolder()
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: LineFormat.longest + 1000)
        try folder.put(lines(2) + long + [0x0A] + lines(2, from: 3))
        let (seqs, reader) = try read(folder.path)
        #expect(seqs == [1, 2, 3, 4])
        #expect(reader.badCount == 1)
    }

    @Test func `files before a time, and behind another, are passed over`() throws {
        let folder = try TemporaryFolder()
        for hour in 0..<5 { try folder.put(lines(1, from: UInt64(hour + 1)), as: "events-20261130T0\(hour)0000Z-\(hour + 1).jsonl") }
        let since = try #require(LogTime.milliseconds("2026-11-30T02:30:00Z"))
        #expect(try read(folder.path) { $0.since = since }.seqs == [3, 4, 5])
        #expect(try read(folder.path) { $0.to = since }.seqs == [1, 2, 3])
    }

    @Test func `for the last lines, files in front of them are passed over`() throws {
        let folder = try TemporaryFolder()
        for file in 0..<5 {
            try folder.put(lines(10, from: UInt64(file * 10 + 1)), as: "events-20261130T0\(file)0000Z-\(file * 10 + 1).jsonl")
        }
        try folder.put(lines(3, from: 51))
        #expect(try read(folder.path) { $0.last = 10 }.seqs.first == 41)
        #expect(try read(folder.path) { $0.last = 11 }.seqs.first == 31)
        try folder.put([])
        #expect(try read(folder.path) { $0.last = 10 }.seqs.first == 31)
    }

    @Test func `reading ends when enough was seen`() throws {
        let folder = try TemporaryFolder()
        try folder.put(lines(1), as: "events-20261130T090000Z-1.jsonl")
        try folder.put(lines(5, from: 2))
        var seen = 0
        try LogReader(path: folder.path).read { _, _ in
            seen += 1
            return seen < 3
        }
        #expect(seen == 3)
    }

    @Test func `following sees new lines, half lines once whole, and files that were closed meanwhile`() throws {
        let folder = try TemporaryFolder()
        let all = goodLines(20)
        try folder.put(all[0] + all[1].dropLast(5))
        var seqs: [UInt64] = []
        var steps: [() throws -> Void] = [
            { try folder.put(all[..<2].flatMap { $0 }) },
            {
                // Written to and closed between two looks, and another file begun and closed.
                try folder.append(all[2])
                try folder.rename("events.jsonl", "events-20261130T090000Z-1.jsonl")
                try folder.put(gzipped(all[3..<6].flatMap { $0 }), as: "events-20261130T100000Z-4.jsonl.gz")
                try folder.put(all[6])
            },
            { try folder.append(all[7]) },
        ]
        let reader = try LogReader(path: folder.path)
        let follow = {
            guard !steps.isEmpty else { return false }
            try? steps.removeFirst()()
            return true
        }
        try reader.read(follow: follow) { line, _ in
            seqs.append(line.seq)
            return true
        }
        #expect(seqs == Array(1...8))
        #expect(reader.badCount == 0)
    }

    @Test func `following goes on where a start cut off a torn end`() throws {
        let folder = try TemporaryFolder()
        let all = goodLines(3)
        try folder.put(all[0] + Array(repeating: 0x78, count: 900))
        var seqs: [UInt64] = []
        var turns = 0
        let follow = {
            turns += 1
            // In place, as a start does it.
            if turns == 1 { truncate(folder.current, off_t(all[0].count)) }
            if turns == 2 { try? folder.append(all[1]) }
            return turns < 4
        }
        try LogReader(path: folder.path).read(follow: follow) { line, _ in
            seqs.append(line.seq)
            return true
        }
        #expect(seqs == [1, 2])
    }

    @Test func `following waits for a log that is not there yet`() throws {
        let folder = try TemporaryFolder()
        var turns = 0
        var seqs: [UInt64] = []
        let follow = {
            turns += 1
            if turns == 2 { try? folder.put(lines(2)) }
            return turns < 4
        }
        try LogReader(path: folder.path).read(follow: follow) { line, _ in
            seqs.append(line.seq)
            return true
        }
        #expect(seqs == [1, 2])
    }
}

struct LogCheckTests {
    @Test func `a whole log is good, and a number at the front may be missing`() throws {
        let folder = try TemporaryFolder()
        try folder.put(gzipped(lines(5, from: 100)), as: "events-20261130T090000Z-100.jsonl.gz")
        try folder.put(lines(5, from: 105))
        let check = try LogCheck(path: folder.path)
        #expect(check.isGood)
        #expect(check.files.map(\.lines) == [5, 5])
        #expect(check.files.map(\.isCompressed) == [true, false])
        #expect(check.files.map(\.lastSeq) == [104, 109])
    }

    @Test func `gaps within and between files are found`() throws {
        let folder = try TemporaryFolder()
        try folder.put(lines(2) + lines(2, from: 5), as: "events-20261130T090000Z-1.jsonl")
        try folder.put(lines(1, from: 9))
        let check = try LogCheck(path: folder.path)
        #expect(!check.isGood)
        #expect(check.missing == 4)
        #expect(check.gaps.map { [$0.first, $0.last] } == [[3, 4], [7, 8]])
        #expect(check.gaps.map(\.file) == ["events-20261130T090000Z-1.jsonl", "events.jsonl"])
    }

    @Test func `lines set aside are not missing`() throws {
        let folder = try TemporaryFolder()
        try folder.put(lines(3), as: "events-20261130T090000Z-1.jsonl")
        try folder.put(Array("torn\n".utf8) + lines(2, from: 5), as: "events.torn-20261130T110000Z")
        // A second crash while the first was mended leaves a second copy, with more.
        try folder.put(Array("torn\n".utf8) + lines(4, from: 5), as: "events.torn-20261130T110000Z-2")
        try folder.put(lines(2, from: 10), as: "events.torn-20261130T120000Z")
        try folder.put(lines(1, from: 14))
        let check = try LogCheck(path: folder.path)
        #expect(check.gaps.map { [$0.first, $0.last] } == [[4, 4], [9, 9], [12, 13]])
        #expect(check.missing == 4)
    }

    @Test func `bad checks, torn ends, numbers that come again and broken compression are faults`() throws {
        func isGood(_ bytes: [UInt8]) throws -> LogCheck {
            let folder = try TemporaryFolder()
            try folder.put(bytes)
            return try LogCheck(path: folder.path)
        }
        var flipped = lines(3)
        flipped[30] ^= 1
        #expect(try isGood(flipped).files[0].badOffsets == [0])
        #expect(try isGood(flipped).isGood == false)
        #expect(try isGood(lines(3).dropLast(1)).files[0].isTorn)
        #expect(try isGood(lines(3).dropLast(1)).isGood == false)
        #expect(try isGood(lines(3) + lines(1, from: 3)).files[0].disordered == 1)
        #expect(try isGood(lines(3) + lines(1, from: 3)).isGood == false)
        let folder = try TemporaryFolder()
        try folder.put(Array(gzipped(lines(3)).dropLast(1)), as: "events-20261130T090000Z-1.jsonl.gz")
        let check = try LogCheck(path: folder.path)
        #expect(check.files[0].failure != nil)
        #expect(!check.isGood)
    }

    @Test func `events that came before are counted, and are no fault`() throws {
        var line: [UInt8] = []
        LineFormat.append(
            seq: 1, at: 0, head: Array(#""kind":"event""#.utf8).span, isRepeat: true, tail: Array(#","event":{}"#.utf8).span, to: &line)
        LineFormat.append(
            seq: 2, at: 0, head: Array(#""kind":"event""#.utf8).span, isRepeat: false,
            tail: Array(#","event":{"a":1,"repeat":true}"#.utf8).span, to: &line)
        let folder = try TemporaryFolder()
        try folder.put(line)
        let check = try LogCheck(path: folder.path)
        #expect(check.files[0].repeats == 1)
        #expect(check.isGood)
    }
}

struct LogTimeTests {
    @Test(arguments: [
        ("2026-01-01T12:00:00.000Z", 0), ("2026-01-01T12:00:00Z", 0), ("2026-01-01T12:00Z", 0), ("2026-01-01 12:00:00", 0),
        ("2026-01-01t12:00:00z", 0), ("2026-01-01T12:00:00.5Z", 500), ("2026-01-01T12:00:00.123456789Z", 123),
        ("2026-01-01T13:00:00+01:00", 0), ("2026-01-01T13:00:00 0100", 0), ("2026-01-01T07:30:00.001-0430", 1),
        ("2026-01-01T13:00:00+01", 0),
    ]) func `times are read as programs write them`(_ text: String, _ offset: Int64) {
        #expect(LogTime.milliseconds(text) == 1_767_268_800_000 + offset)
    }

    @Test(arguments: [
        "", "2026-01-01", "2026-01-01T12", "2026-02-30T12:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01T12:00:00.Z", "2026-01-01T12:00:00x",
        "2026-01-01T12:00:00+1", "2026-01-01T12:00:00+12345", "2026/01/01T12:00:00Z", "1767268800", "2026-01-01T12:00:0Z",
    ]) func `anything else is no time`(_ text: String) { #expect(LogTime.milliseconds(text) == nil) }
}

extension TemporaryFolder {
    fileprivate func append(_ bytes: [UInt8], to name: String = "events.jsonl") throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: path(of: name)))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
    }

    fileprivate func rename(_ from: String, _ to: String) throws {
        try FileManager.default.moveItem(atPath: path(of: from), toPath: path(of: to))
    }
}
