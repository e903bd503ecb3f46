// SPDX-License-Identifier: MIT
//
// Chunked bodies: RFC 9112 §7.1, with nothing of the leniency that request lines may have: no bare LF, no blank around a size, extensions
// well-formed, trailers parsed as fields and then thrown away, since merging them would let a body change its head (RFC 9110 §6.5.1).
//
// Data is copied out as it arrives. Lines are looked at only when whole; their length is bounded, and so is everything that is not data.

package struct ChunkedDecoder: Sendable {
    private enum Stage: Sendable, Hashable {
        case size
        case data(Int)
        case dataEnd, trailer, done
    }

    private var stage = Stage.size
    private var overhead = 0
    private var trailerFields = 0
    /// Bytes of the unfinished line that were looked at.
    private var scanned = 0
    /// The decoded body so far.
    package private(set) var body: [UInt8] = []

    package init() {}

    /// Reads on from `at`, which moves behind what was used. Returns true once the whole body, trailer included, has been read.
    ///
    /// - Throws: `WireError` with the offset in `bytes`.
    package mutating func decode(_ bytes: Span<UInt8>, from at: inout Int, limits: Limits) throws(WireError) -> Bool {
        while true {
            switch stage {
            case .size:
                guard let end = try lineEnd(bytes, from: at, fault: .badChunk, limit: limits.chunkLine) else { return false }
                let size = try chunkSize(bytes, line: at..<end, limits: limits)
                try spend(end + 2 - at, at: at, limits)
                at = end + 2
                stage = size == 0 ? .trailer : .data(size)
            case .data(let left):
                let count = min(left, bytes.count - at)
                guard count > 0 else { return false }
                for index in at..<at + count { body.append(bytes[index]) }
                at += count
                stage = count == left ? .dataEnd : .data(left - count)
            case .dataEnd:
                guard at < bytes.count else { return false }
                guard bytes[at] == .cr else { throw WireError(.badChunk, at: at) }
                guard at + 1 < bytes.count else { return false }
                guard bytes[at + 1] == .lf else { throw WireError(.badChunk, at: at + 1) }
                try spend(2, at: at, limits)
                at += 2
                stage = .size
            case .trailer:
                // Bounded like a head: a line by `head`, all lines by `chunkOverhead`, their number by `fields`.
                guard let end = try lineEnd(bytes, from: at, fault: .badTrailer, limit: limits.head) else { return false }
                try spend(end + 2 - at, at: at, limits)
                if end > at {
                    var line = RequestParser(limits: limits)
                    line.at = at
                    do { _ = try line.fieldLine(bytes) } catch { throw WireError(.badTrailer, at: error.offset) }
                    trailerFields += 1
                    guard trailerFields <= limits.fields else { throw WireError(.tooManyFields, at: at) }
                } else {
                    stage = .done
                }
                at = end + 2
            case .done:
                return true
            }
        }
    }

    private mutating func spend(_ count: Int, at: Int, _ limits: Limits) throws(WireError) {
        overhead += count
        guard overhead <= limits.chunkOverhead + body.count else { throw WireError(.chunkOverhead, at: at) }
    }

    /// Where the CR of the line's CR LF stands; nil while the line is unfinished.
    private mutating func lineEnd(_ bytes: Span<UInt8>, from start: Int, fault: WireError.Fault, limit: Int) throws(WireError) -> Int? {
        var at = start + scanned
        while at < bytes.count, bytes[at].isFieldValue { at += 1 }
        guard at - start <= limit else { throw WireError(fault, at: start + limit) }
        scanned = at - start
        guard at < bytes.count else { return nil }
        guard bytes[at] == .cr else { throw WireError(fault, at: at) }
        guard at + 1 < bytes.count else { return nil }
        guard bytes[at + 1] == .lf else { throw WireError(fault, at: at + 1) }
        scanned = 0
        return at
    }

    /// `chunk-size [ chunk-ext ]`, `chunk-ext = *( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] )`.
    private func chunkSize(_ bytes: Span<UInt8>, line: Range<Int>, limits: Limits) throws(WireError) -> Int {
        var (at, size) = (line.lowerBound, 0)
        while at < line.upperBound, let digit = bytes[at].hexValue {
            // 16 digits hold any size; more of them, if only zeros, are an odd way to write a number.
            guard at - line.lowerBound < 16 else { throw WireError(.badChunk, at: at) }
            guard size <= limits.body else { throw WireError(.bodyTooLarge, at: at) }
            size = size << 4 | Int(digit)
            at += 1
        }
        guard at > line.lowerBound else { throw WireError(.badChunk, at: at) }
        try extensions(bytes, line: at..<line.upperBound)
        guard size <= limits.body - body.count else { throw WireError(.bodyTooLarge, at: line.lowerBound) }
        return size
    }

    private func extensions(_ bytes: Span<UInt8>, line: Range<Int>) throws(WireError) {
        var at = line.lowerBound
        let end = line.upperBound
        func skipBlanks() { while at < end, bytes[at].isBlank { at += 1 } }
        func token() -> Bool {
            let start = at
            while at < end, bytes[at].isToken { at += 1 }
            return at > start
        }
        while at < end {
            skipBlanks()
            guard at < end, bytes[at] == .semicolon else { throw WireError(.badChunk, at: at) }
            at += 1
            skipBlanks()
            guard token() else { throw WireError(.badChunk, at: at) }
            let afterName = at
            skipBlanks()
            guard at < end, bytes[at] == .equal else {
                at = afterName
                continue
            }
            at += 1
            skipBlanks()
            guard at < end, bytes[at] == .quote else {
                guard token() else { throw WireError(.badChunk, at: at) }
                continue
            }
            at += 1
            while at < end, bytes[at] != .quote { at += bytes[at] == .backslash ? 2 : 1 }
            guard at < end else { throw WireError(.badChunk, at: end) }
            at += 1
        }
    }
}
