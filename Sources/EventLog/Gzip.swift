// SPDX-License-Identifier: MIT
//
// A file to one gzip member, piece by piece, so that memory does not grow with the file: 256 KiB in, 256 KiB out, and what zlib needs
// (some 270 KiB). RFC 1952; the check sum and the length in its trailer are also how a finished file is told from another one.

import CZlib

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

package enum Gzip {
    /// Bytes read at once, and so between two looks at `isStopped`: some milliseconds of work.
    static let piece = 256 * 1024
    /// Bytes written between two syncs: one sync of everything at the end would hold up those of the log, which share the disk's journal.
    private static let syncEvery = 1024 * 1024
    /// Ten bytes before the data and eight behind it.
    private static let shortest: Int64 = 18

    /// Writes `file` compressed to `target`, synced.
    ///
    /// - Returns: bytes read and written; nil where it was stopped on the way.
    static func compress(
        _ file: borrowing LogFile, to target: borrowing LogFile, path: String, isStopped: () -> Bool
    ) throws(SystemFailure) -> (read: Int64, written: Int64)? {
        var deflater = try Deflater(path: path)
        var input = [UInt8](repeating: 0, count: piece)
        var output = [UInt8](repeating: 0, count: piece)
        var (read, written, unsynced) = (0 as Int64, 0 as Int64, 0)
        while true {
            guard !isStopped() else { return nil }
            let count = try file.read(into: &input, range: input.indices, at: read)
            read += Int64(count)
            deflater.give(count)
            var isDone = false
            repeat {
                let made: Int
                (made, isDone) = try deflater.take(from: input.span.extracting(0..<count), isLast: count == 0, into: &output)
                try target.append(output.span.extracting(0..<made))
                written += Int64(made)
                unsynced += made
            } while !isDone
            if count == 0 || unsynced >= syncEvery {
                try target.sync()
                unsynced = 0
            }
            if count == 0 { return (read, written) }
        }
    }

    /// These bytes compressed; nil where zlib fails.
    package static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        guard var deflater = try? Deflater(path: "memory") else { return nil }
        var output = [UInt8](repeating: 0, count: piece)
        var compressed: [UInt8] = []
        deflater.give(bytes.count)
        var isDone = false
        while !isDone {
            let made: Int
            do throws(SystemFailure) {
                (made, isDone) = try deflater.take(from: bytes.span, isLast: true, into: &output)
            } catch {
                return nil
            }
            compressed += output[..<made]
        }
        return compressed
    }

    /// What a file says to hold, below 4 GiB; nil where it does not begin and end as a gzip member does.
    static func plainLength(of file: borrowing LogFile) -> Int64? {
        var (head, length) = ([UInt8](repeating: 0, count: 3), [UInt8](repeating: 0, count: 4))
        guard let size = try? file.facts().size, size >= shortest, (try? file.read(into: &head, range: 0..<3, at: 0)) == 3,
            head == [0x1F, 0x8B, 8], (try? file.read(into: &length, range: 0..<4, at: size - 4)) == 4
        else { return nil }
        return length.reversed().reduce(0) { $0 << 8 | Int64($1) }
    }

    /// Whether `compressed` ends as a gzip member of exactly the bytes of `file` does; nil where it was stopped on the way.
    static func isMember(
        _ compressed: borrowing LogFile, of file: borrowing LogFile, isStopped: () -> Bool
    ) throws(SystemFailure) -> Bool? {
        let size = try compressed.facts().size
        guard size >= shortest else { return false }
        var trailer = [UInt8](repeating: 0, count: 8)
        guard try compressed.read(into: &trailer, range: trailer.indices, at: size - 8) == 8 else { return false }
        var input = [UInt8](repeating: 0, count: piece)
        var (place, sum) = (0 as Int64, 0 as UInt)
        while true {
            guard !isStopped() else { return nil }
            let count = try file.read(into: &input, range: input.indices, at: place)
            guard count > 0 else { break }
            // Unsafe: zlib takes a pointer and reads exactly the bytes given.
            sum = input.withUnsafeBufferPointer { UInt(crc32_z(uLong(sum), $0.baseAddress, count)) }
            place += Int64(count)
        }
        let expected = [UInt32(truncatingIfNeeded: sum), UInt32(truncatingIfNeeded: place)].flatMap { number in
            stride(from: 0, to: 32, by: 8).map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
        }
        return trailer == expected
    }
}

/// zlib's state, which must not move in memory.
private struct Deflater: ~Copyable {
    private let stream: UnsafeMutablePointer<z_stream>
    private let path: String
    private var rest = 0

    init(path: String) throws(SystemFailure) {
        self.path = path
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits of window, 16 more for the gzip form; what the macro deflateInit2 stands for.
        let result = deflateInit2_(
            stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard result == Z_OK else { throw SystemFailure("compress", path, code: ENOMEM) }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// So many bytes are to be taken from the next input.
    mutating func give(_ count: Int) { rest = count }

    /// Fills `output`; done once all input is taken and, of the last, everything is written.
    mutating func take(
        from input: Span<UInt8>, isLast: Bool, into output: inout [UInt8]
    ) throws(SystemFailure) -> (made: Int, isDone: Bool) {
        let rest = rest
        // Unsafe: zlib reads and writes within the lengths given, and keeps neither pointer beyond the call: both are cleared.
        let (result, left, room) = input.withUnsafeBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress.map { $0 + (input.count - rest) })
                stream.pointee.avail_in = uInt(rest)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = uInt(output.count)
                let result = deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                stream.pointee.next_in = nil
                stream.pointee.next_out = nil
                return (result, Int(stream.pointee.avail_in), Int(stream.pointee.avail_out))
            }
        }
        guard result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR else {
            throw SystemFailure("compress", path, code: EINVAL)
        }
        self.rest = left
        return (output.count - room, isLast ? result == Z_STREAM_END : room > 0)
    }
}
