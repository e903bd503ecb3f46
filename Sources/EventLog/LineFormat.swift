// SPDX-License-Identifier: MIT
//
// One line of the log, written and checked: `{"seq":N,"at":"…",` head [`,"repeat":true`] tail `,"crc":"xxxxxxxx"}` and a line feed.
//
// The line feed is the length of the record, `crc` its check, `seq` its place. `crc` is zlib's CRC-32 of all bytes before `,"crc":`, in
// eight lower-case digits, so it stands at a fixed distance from the end and needs no search. It finds each flip of one bit; the
// bytes around it are compared exactly, so a flip there is found too.

import CZlib
import JSON

enum LineFormat {
    /// Bytes of the longest line, without its line feed. Bodies are limited to far less; the bound keeps the memory of a check flat.
    static let longest = 4 * 1024 * 1024
    /// Bytes that the writer adds to head and tail, at most: 7 + 20 for `seq`, 7 + 24 + 2 for `at`, 14 for `repeat`, 19 for the end.
    static let overhead = 93

    private static let opening = Array(#"{"seq":"#.utf8)
    private static let at = Array(#","at":""#.utf8)
    private static let repeated = Array(#","repeat":true"#.utf8)
    private static let check = Array(#","crc":""#.utf8)
    private static let event = Array(#""event":"#.utf8)
    private static let closing = Array(#""}"#.utf8)
    /// `,"crc":"xxxxxxxx"}`.
    private static let checkLength = 18

    static func append(
        seq: UInt64, at time: Int64, head: Span<UInt8>, isRepeat: Bool, tail: Span<UInt8>, to buffer: inout [UInt8]
    ) {
        append(seq: seq, stamp: TimeStamp(milliseconds: time).text, head: head, isRepeat: isRepeat, tail: tail, to: &buffer)
    }

    /// - Parameter stamp: the time as `TimeStamp` writes it; many records share one.
    static func append(seq: UInt64, stamp: [UInt8], head: Span<UInt8>, isRepeat: Bool, tail: Span<UInt8>, to buffer: inout [UInt8]) {
        let start = buffer.count
        buffer += opening
        buffer.appendDecimal(seq)
        buffer += at
        buffer += stamp
        buffer.append(UInt8(ascii: "\""))
        buffer.append(UInt8(ascii: ","))
        // Unsafe: lends the bytes to memcpy.
        head.withUnsafeBufferPointer { buffer.append(contentsOf: $0) }
        if isRepeat { buffer += repeated }
        tail.withUnsafeBufferPointer { buffer.append(contentsOf: $0) }
        let sum = crc(buffer.span.extracting(start..<buffer.count))
        buffer += check
        for shift in stride(from: 28, through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: sum >> UInt32(shift)) & 0x0F
            buffer.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
        }
        buffer += closing
        buffer.append(0x0A)
    }

    /// The line's sequence number if every byte is as it was written; the line is given without its line feed.
    static func sequence(of line: Span<UInt8>) -> UInt64? {
        let body = line.count - checkLength
        guard body > opening.count, line.count <= longest, line.holds(opening, at: 0), line.holds(check, at: body),
            line.holds(closing, at: line.count - closing.count)
        else { return nil }
        var claimed: UInt32 = 0
        for place in body + check.count..<line.count - closing.count {
            let digit: UInt8
            switch line[place] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = line[place] - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = line[place] - UInt8(ascii: "a") + 10
            default: return nil
            }
            claimed = claimed << 4 | UInt32(digit)
        }
        var seq: UInt64 = 0
        var place = opening.count
        // 18 digits: far more than will ever be written, and no sum can overflow.
        while place < body, place < opening.count + 18, case let digit = line[place] &- UInt8(ascii: "0"), digit < 10 {
            seq = seq * 10 + UInt64(digit)
            place += 1
        }
        guard seq > 0, place < body, line[place] == UInt8(ascii: ","), line[opening.count] != UInt8(ascii: "0") else { return nil }
        return crc(line.extracting(0..<body)) == claimed ? seq : nil
    }

    /// The arrival time of a line that `sequence(of:)` accepts.
    static func time(of line: Span<UInt8>) -> TimeStamp? {
        var place = opening.count
        while place < line.count, line[place] != UInt8(ascii: ",") { place += 1 }
        guard line.holds(at, at: place), place + at.count + TimeStamp.length <= line.count else { return nil }
        return TimeStamp(line.extracting(place + at.count..<place + at.count + TimeStamp.length))
    }

    /// From the comma before `"event":` to the check, which is the tail as it was given; nil where the line has no such member behind
    /// scalar ones.
    static func eventTail(of line: Span<UInt8>) -> Range<Int>? {
        let end = line.count - checkLength
        let (quote, comma) = (UInt8(ascii: "\""), UInt8(ascii: ","))
        var place = 1
        while place < end, line[place] == quote {
            if line.holds(event, at: place) { return place - 1..<end }
            guard let colon = endOfString(in: line, from: place, before: end), colon + 1 < end, line[colon] == UInt8(ascii: ":") else {
                return nil
            }
            place = colon + 1
            switch line[place] {
            case quote:
                guard let next = endOfString(in: line, from: place, before: end) else { return nil }
                place = next
            case UInt8(ascii: "{"), UInt8(ascii: "["): return nil
            default: while place < end, line[place] != comma { place += 1 }
            }
            guard place < end, line[place] == comma else { return nil }
            place += 1
        }
        return nil
    }

    /// What of an event's tail tells it from others: the event, and the bytes it came as where they are kept, but not how it was answered.
    static func repeatPart(ofTail tail: Span<UInt8>) -> Range<Int> {
        var place = 1 + event.count
        guard place < tail.count, let end = skipJSONValue(in: tail, from: place) else { return 0..<tail.count }
        place = end
        for name in [raw, rawInBase64] where tail.holds(name, at: place) {
            place = skipJSONValue(in: tail, from: place + name.count) ?? tail.count
        }
        return 0..<place
    }

    private static let raw = Array(#","raw":"#.utf8)
    private static let rawInBase64 = Array(#","raw_base64":"#.utf8)

    /// Behind the closing quote of the string that opens at `start`.
    private static func endOfString(in line: Span<UInt8>, from start: Int, before end: Int) -> Int? {
        var place = start + 1
        while place < end {
            switch line[place] {
            case UInt8(ascii: "\""): return place + 1
            case UInt8(ascii: "\\"): place += 2
            default: place += 1
            }
        }
        return nil
    }

    private static func crc(_ bytes: Span<UInt8>) -> UInt32 {
        // Unsafe: zlib takes a pointer and reads exactly the bytes given.
        bytes.withUnsafeBufferPointer { UInt32(truncatingIfNeeded: crc32_z(0, $0.baseAddress, $0.count)) }
    }

}

extension Span<UInt8> {
    fileprivate func holds(_ expected: [UInt8], at place: Int) -> Bool {
        guard place >= 0, place <= count, expected.count <= count - place else { return false }
        for index in expected.indices where self[place + index] != expected[index] { return false }
        return true
    }
}
