// SPDX-License-Identifier: MIT
//
// A zone file, as the IANA time zone database is installed: TZif, RFC 9636, versions 1 to 4. From version 2 on a file holds everything twice,
// first with 32-bit times for readers of the past, which is passed over by its counts, then with 64-bit times and a TZ string behind.
//
// A file is trusted no more than a request: the counts are checked against the bytes that are there before anything is read or reserved.
// Names of time types and the standard and UT indicators change no offset; they are counted and passed over. Files that count leap seconds
// (the folder `right` of some systems) are refused: their times are not Unix times.

extension Zone {
    /// Of a zone file, bytes; the largest that the database has ever held are below 8 KiB.
    static let largestFile = 256 * 1024

    /// Reads a zone file.
    ///
    /// - Throws: `TZifError`: what is wrong and where.
    /// - Source: RFC 9636 section 3.
    package init(tzif bytes: Span<UInt8>) throws(TZifError) {
        guard bytes.count <= Self.largestFile else { throw TZifError(.tooLarge, at: Self.largestFile) }
        var block = try TZifBlock(bytes, at: 0, timeSize: 4)
        guard block.version > 1 else {
            self.init(history: try block.history(bytes), rule: nil)
            return
        }
        block = try TZifBlock(bytes, at: block.end, timeSize: 8)
        let history = try block.history(bytes)
        self.init(history: history, rule: try Self.footer(bytes, at: block.end))
    }

    /// `NL TZ-string NL` at the end; nil where the string is empty.
    private static func footer(_ bytes: Span<UInt8>, at start: Int) throws(TZifError) -> TZString? {
        let newline = UInt8(ascii: "\n")
        guard start < bytes.count else { throw TZifError(.cut, at: bytes.count) }
        guard bytes[start] == newline else { throw TZifError(.badFooter, at: start) }
        var end = start + 1
        while end < bytes.count, bytes[end] != newline { end += 1 }
        guard end < bytes.count else { throw TZifError(.cut, at: end) }
        guard end == bytes.count - 1 else { throw TZifError(.badFooter, at: end + 1) }
        let text = (start + 1..<end).map { bytes[$0] }
        guard !text.isEmpty else { return nil }
        do throws(TZStringError) { return try TZString(text) } catch { throw TZifError(.badTZString, at: start + 1 + error.offset) }
    }
}

/// Why bytes are not a zone file.
package struct TZifError: Error, Hashable, CustomStringConvertible {
    package enum Fault: String, Sendable {
        case tooLarge = "the file is larger than 256 KiB"
        case cut = "the file ends early"
        case badMagic = "it does not begin with TZif"
        case badVersion = "its version is not one of 1 to 4"
        case badCount = "the counts contradict each other"
        case leapSeconds = "it counts leap seconds, which Unix time does not"
        case badOrder = "a transition is not later than the one before"
        case badType = "a time type is not one of those listed"
        case badOffset = "an offset is outside -24:59:59 to 25:59:59"
        case badFooter = "the TZ string is not in lines of its own at the end"
        case badTZString = "the TZ string is not one that POSIX allows"
    }

    package let fault: Fault
    /// Bytes from the start of the file.
    package let offset: Int

    init(_ fault: Fault, at offset: Int) {
        self.fault = fault
        self.offset = offset
    }

    package var description: String { "\(fault.rawValue) (byte \(offset))" }
}

/// A header, and where what it announces lies.
private struct TZifBlock {
    let version: Int
    /// Bytes a time: 4 or 8.
    private let timeSize: Int
    private let transitions: Int
    private let types: Int
    private let designations: Int
    private let times: Int
    private let indices: Int
    private let records: Int
    let end: Int

    init(_ bytes: Span<UInt8>, at start: Int, timeSize: Int) throws(TZifError) {
        let header = 44
        guard bytes.count - start >= header else {
            // A short text is not a zone file that was cut.
            for (index, byte) in "TZif".utf8.enumerated() where start + index < bytes.count && bytes[start + index] != byte {
                throw TZifError(.badMagic, at: start)
            }
            throw TZifError(.cut, at: bytes.count)
        }
        for (index, byte) in "TZif".utf8.enumerated() where bytes[start + index] != byte { throw TZifError(.badMagic, at: start) }
        switch bytes[start + 4] {
        case 0: version = 1
        case UInt8(ascii: "2")...UInt8(ascii: "4"): version = Int(bytes[start + 4] - UInt8(ascii: "0"))
        default: throw TZifError(.badVersion, at: start + 4)
        }
        // Each is below 2^32, so that no sum of them overflows.
        func count(_ index: Int) -> Int { Int(bytes.bigEndian(at: start + 20 + index * 4, size: 4) & 0xFFFF_FFFF) }
        let (utIndicators, standardIndicators, leapSeconds) = (count(0), count(1), count(2))
        transitions = count(3)
        types = count(4)
        designations = count(5)
        self.timeSize = timeSize
        times = start + header
        indices = times + transitions * timeSize
        records = indices + transitions
        end = records + types * 6 + designations + leapSeconds * (timeSize + 4) + standardIndicators + utIndicators
        guard end <= bytes.count else { throw TZifError(.cut, at: bytes.count) }
        // The 32-bit half of a later version is not read, and may be hollow.
        guard timeSize == 8 || version == 1 else { return }
        guard version > 1 || timeSize == 4 else { throw TZifError(.badVersion, at: start + 4) }
        guard (1...256).contains(types), designations > 0, [0, types].contains(utIndicators), [0, types].contains(standardIndicators) else {
            throw TZifError(.badCount, at: start + 20)
        }
        guard leapSeconds == 0 else { throw TZifError(.leapSeconds, at: start + 28) }
    }

    func history(_ bytes: Span<UInt8>) throws(TZifError) -> OffsetTable {
        var offsets: [Int32] = []
        for type in 0..<types {
            let record = records + type * 6
            let offset = Int32(truncatingIfNeeded: bytes.bigEndian(at: record, size: 4))
            guard (-89_999...93_599).contains(offset) else { throw TZifError(.badOffset, at: record) }
            guard bytes[record + 4] <= 1, bytes[record + 5] < designations else { throw TZifError(.badType, at: record + 4) }
            offsets.append(offset)
        }
        var table = OffsetTable(before: offsets[0])
        for index in 0..<transitions {
            let at = times + index * timeSize
            let time = bytes.bigEndian(at: at, size: timeSize)
            if let last = table.times.last, time <= last { throw TZifError(.badOrder, at: at) }
            let type = Int(bytes[indices + index])
            guard type < types else { throw TZifError(.badType, at: indices + index) }
            table.append(offsets[type], from: time)
        }
        return table
    }
}

extension Span<UInt8> {
    /// A signed number of 4 or 8 bytes, of which the caller knows that they are there.
    fileprivate func bigEndian(at start: Int, size: Int) -> Int64 {
        var bits: UInt64 = 0
        for index in start..<start + size { bits = bits << 8 | UInt64(self[index]) }
        return size == 4 ? Int64(Int32(truncatingIfNeeded: bits)) : Int64(bitPattern: bits)
    }
}
