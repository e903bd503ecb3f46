// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import EventLog

struct Golden: Sendable, CustomTestStringConvertible {
    let name: String
    let seq: UInt64
    let at: Int64
    let head: String
    let isRepeat: Bool
    let tail: String
    let line: String
    var testDescription: String { name }

    // The check sums come from Python's zlib.crc32.
    static let all = [
        Golden(
            name: "event", seq: 1, at: 1_796_032_800_123,
            head: #""kind":"event","call":"CON-1","leg":null,"status":"ringing","signature":"off""#, isRepeat: false,
            tail: #","event":{"uuid":"a","x":1.0}"#,
            line:
                #"{"seq":1,"at":"2026-11-30T10:00:00.123Z","kind":"event","call":"CON-1","leg":null,"status":"ringing","signature":"off","event":{"uuid":"a","x":1.0},"crc":"098b2419"}"#
        ),
        Golden(
            name: "repeat, large number", seq: 18_446_744_073_709, at: 0, head: #""kind":"event""#, isRepeat: true, tail: #","event":{}"#,
            line: #"{"seq":18446744073709,"at":"1970-01-01T00:00:00.000Z","kind":"event","repeat":true,"event":{},"crc":"b13950a2"}"#),
        Golden(
            name: "no tail, clamped time", seq: 42, at: .max, head: #""kind":"malformed""#, isRepeat: false, tail: "",
            line: #"{"seq":42,"at":"9999-12-31T23:59:59.999Z","kind":"malformed","crc":"4ca1c33c"}"#),
    ]
}

@Suite struct LineFormatTests {
    @Test(arguments: Golden.all) func `a line has exactly these bytes and passes its own check`(_ golden: Golden) {
        var line = Array("before".utf8)
        LineFormat.append(
            seq: golden.seq, at: golden.at, head: Array(golden.head.utf8).span, isRepeat: golden.isRepeat,
            tail: Array(golden.tail.utf8).span,
            to: &line)
        #expect(String(decoding: line, as: UTF8.self) == "before" + golden.line + "\n")
        let bytes = Array(golden.line.utf8)
        #expect(sequence(of: bytes) == golden.seq)
        let time = LineFormat.time(of: bytes.span)
        #expect(time == TimeStamp(milliseconds: golden.at))
        let tail = LineFormat.eventTail(of: bytes.span).map { String(decoding: bytes[$0], as: UTF8.self) }
        #expect(tail == (golden.tail.isEmpty ? nil : golden.tail))
    }

    @Test(arguments: Golden.all) func `no flipped bit and no missing or extra byte passes`(_ golden: Golden) {
        let good = Array(golden.line.utf8)
        for place in good.indices {
            for bit in 0..<8 {
                var bad = good
                bad[place] ^= 1 << UInt8(bit)
                #expect(sequence(of: bad) == nil, "byte \(place), bit \(bit)")
            }
            #expect(sequence(of: Array(good[..<place])) == nil)
            #expect(sequence(of: Array(good[(place + 1)...])) == nil)
        }
        #expect(sequence(of: good + [0x20]) == nil)
    }

    @Test(arguments: [
        (#"{"seq":1,"at":"x","a":"q\"uo,te","n":-1.5,"b":null,"event":[1],"micros":2,"crc":"00000000"}"#, #","event":[1],"micros":2"#),
        (#"{"seq":1,"at":"x","request":{"event":1},"crc":"00000000"}"#, nil),
        (#"{"seq":1,"at":"x","list":[],"event":{},"crc":"00000000"}"#, nil),
        (#"{"seq":1,"at":"x","event_url":"y","crc":"00000000"}"#, nil),
        (#"{"seq":1,"at":"x","crc":"00000000"}"#, nil),
        (#"{"seq":1,"at":"\"#, nil), (#"{"seq":1"#, nil), ("{", nil), ("", nil),
        (#"{"a":"\\","event":7,"crc":"00000000"}"#, #","event":7"#),
    ]) func `the event member is found behind scalar members only`(line: String, tail: String?) {
        let bytes = Array(line.utf8)
        let found = LineFormat.eventTail(of: bytes.span).map { String(decoding: bytes[$0], as: UTF8.self) }
        #expect(found == tail)
    }

    @Test func `looking for the event member never traps`() {
        var generator = SeededGenerator(state: 1)
        let alphabet = Array(#"{}[]",:\event1x"#.utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0..<48, using: &generator)).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            if let tail = LineFormat.eventTail(of: bytes.span) { #expect(tail.upperBound <= bytes.count) }
            _ = sequence(of: bytes)
            _ = LineFormat.time(of: bytes.span)
        }
    }

    @Test func `a record with a line feed or beyond 4 MiB is not taken`() {
        let batch = LogBatch([Event(id: 1)])
        let size = batch.size
        #expect(!batch.add(head: Array("\"a\":\n1".utf8)))
        #expect(!batch.add(head: Array("\"a\":1".utf8), tail: Array(",\"b\":\n".utf8)))
        #expect(!batch.add(head: [UInt8](repeating: 0x20, count: LineFormat.longest)))
        #expect(batch.size == size)
        #expect(batch.count == 1)
    }

    @Test func `the longest record makes a line that passes its check`() {
        let batch = LogBatch()
        let tail = [UInt8](repeating: 0x20, count: LineFormat.longest - LineFormat.overhead)
        #expect(batch.add(at: .min, head: [], tail: tail))
        let nothing: [UInt8] = []
        var line: [UInt8] = []
        LineFormat.append(seq: 999_999_999_999_999_999, at: .min, head: nothing.span, isRepeat: true, tail: tail.span, to: &line)
        #expect(line.count <= LineFormat.longest)
        #expect(sequence(of: line.dropLast()) == 999_999_999_999_999_999)
    }
}

@Suite struct TimeStampTests {
    private func text(_ milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        TimeStamp(milliseconds: milliseconds).append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_796_032_800_123, "2026-11-30T10:00:00.123Z"), (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
            (.min, "0000-01-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (.max, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)]) func `a time has this text`(milliseconds: Int64, expected: String)
    {
        #expect(text(milliseconds) == expected)
    }

    @Test func `what was written is read back, as Foundation reads it`() throws {
        var generator = SeededGenerator(state: 2)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for _ in 0..<2000 {
            let milliseconds = Int64.random(in: 0...253_402_300_799_999, using: &generator)
            let text = text(milliseconds)
            let read = TimeStamp(Array(text.utf8).span)
            #expect(read?.milliseconds == milliseconds)
            #expect((try style.parse(text).timeIntervalSince1970 * 1000).rounded() == Double(milliseconds))
        }
    }

    @Test(arguments: [
        "", "2026-11-30T10:00:00.123", "2026-11-30T10:00:00.123z", "2026-11-31T10:00:00.123Z", "2026-02-29T10:00:00.123Z",
        "2026-13-30T10:00:00.123Z", "2026-00-30T10:00:00.123Z", "2026-11-00T10:00:00.123Z", "2026-11-30T24:00:00.123Z",
        "2026-11-30T10:60:00.123Z", "2026-11-30T10:00:60.123Z", "2026-11-30 10:00:00.123Z", "+026-11-30T10:00:00.123Z",
    ]) func `other text is no time`(text: String) {
        let time = TimeStamp(Array(text.utf8).span)
        #expect(time == nil)
    }

    @Test func `names of files hold the second`() {
        #expect(TimeStamp(milliseconds: 1_796_032_800_123).compact == "20261130T100000Z")
    }
}
