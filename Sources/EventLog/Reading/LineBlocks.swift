// SPDX-License-Identifier: MIT
//
// A log as blocks of whole lines, with memory that does not grow with it. A block fits a processor's second cache: searching it costs little
// more than reading it. A line that is longer than any the log writes is passed over, and counted.
//
// `LineReader` does the same for the writer, line by line and at places of a file. Here there may be no places (a pipe), the text may be
// compressed, and a search must not touch the lines it does not want.

#if canImport(Glibc)
    import CLinux
    import Glibc
#else
    import Darwin
#endif

struct LineBlocks: ~Copyable {
    struct Block {
        /// Bytes in `buffer`: whole lines with their line feeds, or at the end what has none.
        let range: Range<Int>
        /// Bytes of text in front of it.
        let offset: Int64
        /// Ends with a line feed.
        let isWhole: Bool
    }

    /// Fits the second cache of any processor of the last ten years.
    static let size = 256 * 1024

    private(set) var input: LogInput
    private(set) var buffer: [UInt8]
    /// Lines that were passed over because they are too long.
    private(set) var tooLong = 0
    private var start = 0
    private var filled = 0
    private var offset: Int64 = 0
    /// The end of a line that is too long is looked for.
    private var isSkipping = false

    init(_ input: consuming LogInput, size: Int = size) {
        self.input = input
        buffer = [UInt8](repeating: 0, count: max(size, 2))
    }

    /// Bytes that are read and end with no line feed yet.
    var pending: Int { filled - start }

    /// The next lines; nil where no more can be read now.
    ///
    /// - Parameter ends: nothing will be added, so that what has no line feed is handed out too.
    mutating func next(ends: Bool = true) throws(ReadFailure) -> Block? {
        while true {
            if start > 0 {
                let count = filled - start
                let from = start
                buffer.withUnsafeMutableBytes { all in
                    // Unsafe: memmove within the buffer, the parts may overlap.
                    if let base = all.baseAddress { memmove(base, base + from, count) }
                }
                (start, filled) = (0, count)
            }
            if filled > LineFormat.longest {
                if !isSkipping { tooLong += 1 }
                isSkipping = true
                offset += Int64(filled)
                filled = 0
            }
            if filled == buffer.count { buffer += [UInt8](repeating: 0, count: buffer.count) }
            let searched = filled
            let count = try input.read(into: &buffer, range: filled..<buffer.count)
            filled += count
            if count == 0 {
                guard ends, filled > 0 else { return nil }
                if isSkipping {
                    (isSkipping, filled) = (false, 0)
                    return nil
                }
                return take(filled, isWhole: false)
            }
            var end = filled
            while end > searched, buffer[end - 1] != 0x0A { end -= 1 }
            guard end > searched else { continue }
            if isSkipping, let feed = firstFeed() {
                isSkipping = false
                offset += Int64(feed + 1)
                start = feed + 1
                if start == end { continue }
            }
            return take(end, isWhole: true)
        }
    }

    private func firstFeed() -> Int? { buffer[..<filled].firstIndex(of: 0x0A) }

    private mutating func take(_ end: Int, isWhole: Bool) -> Block {
        let block = Block(range: start..<end, offset: offset, isWhole: isWhole)
        offset += Int64(end - start)
        start = end
        return block
    }

    /// Lends each line of a block, without its line feed, and its place in the text, until `body` returns false; false if it did.
    ///
    /// - Parameter needles: only lines in which one of them stands; other lines are not looked at. Empty for all lines.
    func eachLine(in block: Block, holding needles: [[UInt8]] = [], _ body: (Span<UInt8>, Int64) -> Bool) -> Bool {
        let (first, end) = (block.range.lowerBound, block.range.upperBound)
        var at = first
        // Where each stands next; at the end of the block where it does not.
        var places = [Int](repeating: -1, count: needles.count)
        while at < end {
            var lineStart = at
            if !needles.isEmpty {
                for (index, needle) in needles.enumerated() where places[index] < at {
                    places[index] = find(needle, from: at, to: end) ?? end
                }
                guard let hit = places.min(), hit < end else { return true }
                lineStart = hit
                while lineStart > at, buffer[lineStart - 1] != 0x0A { lineStart -= 1 }
                at = hit
            }
            let lineEnd = find(0x0A, from: at, to: end) ?? end
            guard body(buffer.span.extracting(lineStart..<lineEnd), block.offset + Int64(lineStart - first)) else { return false }
            at = lineEnd + 1
        }
        return true
    }

    private func find(_ byte: UInt8, from: Int, to end: Int) -> Int? {
        // Unsafe: memchr stays within the buffer, and the pointers do not leave the closure.
        buffer.withUnsafeBytes { all in
            guard from < end, let base = all.baseAddress, let found = memchr(base + from, Int32(byte), end - from) else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    private func find(_ needle: [UInt8], from: Int, to end: Int) -> Int? {
        // Unsafe: memmem stays within the buffer, and the pointers do not leave the closure.
        buffer.withUnsafeBytes { all in
            guard from < end, let base = all.baseAddress else { return nil }
            #if canImport(Glibc)
                let found = switchboard_memmem(base + from, UInt(end - from), needle, UInt(needle.count))
            #else
                let found = memmem(base + from, end - from, needle, needle.count)
            #endif
            return found.map { UnsafeRawPointer($0) - base }
        }
    }
}
