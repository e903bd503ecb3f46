// SPDX-License-Identifier: MIT
//
// What gzip made small, piece by piece: RFC 1952, also several members one behind the other, as `cat` makes of two files. The check sum and the
// length at the end of each member are compared by zlib.

import CZlib

/// A class because zlib's state points back to its stream, which therefore must not move.
final class Inflater {
    enum Fault: Hashable, Sendable {
        /// Check sum, length or the data itself is wrong.
        case damaged
        /// The data ends inside a member.
        case cut
        case noMemory
    }

    private let stream: UnsafeMutablePointer<z_stream>
    private let input: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    private var isReady = false
    /// A member has begun and not ended.
    private var isInside = false

    /// - Parameter capacity: bytes of compressed data that are held at once.
    init(capacity: Int) {
        self.capacity = capacity
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        input = .allocate(capacity: capacity)
        // 15 bits of window are gzip's; 16 more ask for gzip's head and end.
        isReady = inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    }

    deinit {
        if isReady { inflateEnd(stream) }
        stream.deallocate()
        input.deallocate()
    }

    /// Fills a part of `output`; 0 at the end of the data.
    ///
    /// - Parameter more: puts compressed bytes into the buffer it is given and returns their count; 0 at the end.
    func read<Failure: Error>(
        into output: UnsafeMutableRawBufferPointer, more: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Result<Int, FaultError> {
        guard isReady else { return .failure(FaultError(fault: .noMemory)) }
        guard let base = output.baseAddress, output.count > 0 else { return .success(0) }
        let room = min(output.count, Int(UInt32.max))
        stream.pointee.next_out = base.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(room)
        while stream.pointee.avail_out == UInt32(room) {
            if stream.pointee.avail_in == 0 {
                let count = try more(UnsafeMutableRawBufferPointer(start: input, count: capacity))
                guard count > 0 else { return isInside ? .failure(FaultError(fault: .cut)) : .success(0) }
                stream.pointee.next_in = input
                stream.pointee.avail_in = UInt32(count)
            }
            isInside = true
            switch inflate(stream, Z_NO_FLUSH) {
            case Z_OK: break
            case Z_STREAM_END:
                isInside = false
                inflateReset(stream)
            case Z_BUF_ERROR where stream.pointee.avail_in == 0: break
            case Z_MEM_ERROR: return .failure(FaultError(fault: .noMemory))
            default: return .failure(FaultError(fault: .damaged))
            }
        }
        return .success(room - Int(stream.pointee.avail_out))
    }

    struct FaultError: Error, Hashable { let fault: Fault }
}
