// SPDX-License-Identifier: MIT
//
// The lines of a file one after the other, with memory that does not grow with the file: one window, larger only while a line is longer
// than it, and never beyond the longest line. What is longer than that is passed over up to its line feed.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct LineReader {
    struct Line {
        /// Place of the first byte in the file.
        let offset: Int64
        /// Bytes in `buffer`, without the line feed; empty where the line is too long.
        let range: Range<Int>
        /// A line feed ends it, and it is not too long.
        let isWhole: Bool
    }

    /// 1 MiB: reading is as fast as with more, and a start needs no more memory than a busy minute.
    static let window = 1024 * 1024

    private(set) var buffer: [UInt8]
    /// Place in the file of `buffer[0]`.
    private var origin: Int64
    private var start = 0
    private var searched = 0
    private var filled = 0

    init(from offset: Int64 = 0, window: Int = window) {
        buffer = [UInt8](repeating: 0, count: max(window, 1))
        origin = offset
    }

    /// Place of the first byte not yet handed out.
    var offset: Int64 { origin + Int64(start) }

    /// Nil at the end of the file.
    mutating func next(in file: borrowing LogFile) throws(SystemFailure) -> Line? {
        let first = offset
        var tooLong = false
        while true {
            if let feed = lineFeed() {
                let range = start..<feed
                (start, searched) = (feed + 1, feed + 1)
                let isWhole = !tooLong && range.count <= LineFormat.longest
                return Line(offset: first, range: isWhole ? range : 0..<0, isWhole: isWhole)
            }
            searched = filled
            if filled - start > LineFormat.longest {
                tooLong = true
                start = filled
            }
            makeRoom()
            let count = try file.read(into: &buffer, range: filled..<buffer.count, at: origin + Int64(filled))
            filled += count
            if count == 0 {
                let range = start..<filled
                start = filled
                guard first < offset else { return nil }
                return Line(offset: first, range: tooLong ? 0..<0 : range, isWhole: false)
            }
        }
    }

    private func lineFeed() -> Int? {
        // Unsafe: memchr stays within the bytes read, and the pointers do not leave the closure.
        buffer.withUnsafeBytes { all in
            guard searched < filled, let base = all.baseAddress, let found = memchr(base + searched, 0x0A, filled - searched) else {
                return nil
            }
            return UnsafeRawPointer(found) - base
        }
    }

    private mutating func makeRoom() {
        if start > 0 {
            buffer.withUnsafeMutableBytes { all in
                // Unsafe: memmove within the buffer, the parts may overlap.
                guard let base = all.baseAddress else { return }
                memmove(base, base + start, filled - start)
            }
            origin += Int64(start)
            (filled, searched, start) = (filled - start, searched - start, 0)
        }
        if filled == buffer.count { buffer += [UInt8](repeating: 0, count: buffer.count) }
    }
}
