// SPDX-License-Identifier: MIT
//
// Bytes to answers, without a socket: it is told what has come and says whether the answer is whole. One that comes whole in one piece is read
// where it lies; only of an unfinished one bytes are kept. Left out are trailers, which are read and thrown away, and codings other than
// chunked, which nobody has asked for.

import HTTPWire

/// Reads the answers of one connection, one after the other.
struct AnswerReader {
    enum Progress {
        case more
        /// Whether the connection can go on is in `keepsAlive`.
        case whole(HTTPAnswer, keepsAlive: Bool)
        case notHTTP
        case tooLarge
    }

    /// Bytes of an answer: head and decoded body.
    private let maximum: Int
    private let limits: Limits
    /// What has come of the answer and is not used yet.
    private var input: [UInt8] = []
    private var head: AnswerHead?
    /// Bytes of `input` in which no head has ended.
    private var scanned = 0
    /// Bytes of interim answers before this one.
    private var interim = 0
    /// Of a chunked body: what it has so far, and the head's bytes, which are no longer in `input`.
    private var chunked: (decoder: ChunkedDecoder, head: [UInt8])?
    /// Whether anything of the answer has come.
    private(set) var hasBegun = false

    init(maximum: Int) {
        self.maximum = maximum
        var limits = Limits()
        limits.body = maximum
        limits.head = min(limits.head, maximum)
        self.limits = limits
    }

    /// Reads on. After anything but `more` it is ready for the next answer.
    mutating func take(_ bytes: Span<UInt8>) -> Progress {
        hasBegun = true
        let progress: Progress
        if input.isEmpty, chunked == nil {
            var used = 0
            progress = read(bytes, &used)
            if case .more = progress { input.append(contentsOf: bytes, from: used) }
        } else {
            input.append(contentsOf: bytes, from: 0)
            // Taken out, so that a view of it stands in the way of nothing.
            var whole: [UInt8] = []
            swap(&whole, &input)
            var used = 0
            progress = read(whole.span, &used)
            if used > 0 { whole.removeFirst(used) }
            swap(&whole, &input)
        }
        guard case .more = progress else {
            finish()
            return progress
        }
        return progress
    }

    /// The peer has ended the connection in order: a body without a length is whole; nil where the answer is not.
    mutating func end() -> HTTPAnswer? {
        guard let head, head.length == nil, !head.isChunked, hasBody(head) else { return nil }
        defer { finish() }
        return HTTPAnswer(head, head: Array(input[..<head.end]), body: Array(input[head.end...]))
    }

    private mutating func finish() {
        input.removeAll(keepingCapacity: input.capacity <= 64 * 1024)
        (head, chunked) = (nil, nil)
        (scanned, interim) = (0, 0)
        hasBegun = false
    }

    /// RFC 9112 §6.3: these end with their head, whatever it says.
    private func hasBody(_ head: AnswerHead) -> Bool { head.status != 204 && head.status != 304 }

    /// Reads the answer that begins `bytes`; those before `used` are not needed again.
    private mutating func read(_ bytes: Span<UInt8>, _ used: inout Int) -> Progress {
        if chunked != nil { return readChunks(bytes, &used) }
        while head == nil {
            let rest = bytes.extracting(used..<bytes.count)
            switch AnswerHead.read(rest.extracting(first: limits.head), scanned: scanned) {
            case .bad: return .notHTTP
            case .more:
                guard rest.count < limits.head else { return .tooLarge }
                scanned = rest.count
                return .more
            case .head(let found):
                scanned = 0
                guard found.status < 200 else {
                    head = found
                    continue
                }
                // Nobody has asked for another protocol.
                guard found.status != 101 else { return .notHTTP }
                used += found.end
                interim += found.end
                guard interim <= limits.head else { return .tooLarge }
            }
        }
        guard let head else { return .more }
        let answer = bytes.extracting(used..<bytes.count)
        guard hasBody(head) else { return whole(head, answer, 0) }
        if head.isChunked {
            chunked = (ChunkedDecoder(), answer.copy(0..<head.end))
            used += head.end
            return readChunks(bytes, &used)
        }
        guard let length = head.length else { return answer.count <= maximum ? .more : .tooLarge }
        guard length <= maximum - head.end else { return .tooLarge }
        return answer.count - head.end >= length ? whole(head, answer, length) : .more
    }

    private func whole(_ head: AnswerHead, _ bytes: Span<UInt8>, _ length: Int) -> Progress {
        let end = head.end + length
        let answer = HTTPAnswer(head, head: bytes.copy(0..<head.end), body: bytes.copy(head.end..<end))
        // Bytes behind the answer belong to none: whatever they are, the next answer must not be read from them.
        return .whole(answer, keepsAlive: head.keepsAlive && bytes.count == end)
    }

    private mutating func readChunks(_ bytes: Span<UInt8>, _ used: inout Int) -> Progress {
        guard let head else { return .notHTTP }
        do {
            guard try chunked?.decoder.decode(bytes, from: &used, limits: limits) == true, let chunked else { return .more }
            let body = chunked.decoder.body
            guard body.count <= maximum - chunked.head.count else { return .tooLarge }
            return .whole(HTTPAnswer(head, head: chunked.head, body: body), keepsAlive: head.keepsAlive && used == bytes.count)
        } catch {
            return error.fault == .bodyTooLarge ? .tooLarge : .notHTTP
        }
    }
}

extension Span<UInt8> {
    fileprivate func copy(_ range: Range<Int>) -> [UInt8] {
        guard !range.isEmpty else { return [] }
        // Unsafe: lends the bytes for the time of a copy.
        return extracting(range).withUnsafeBufferPointer { Array($0) }
    }
}

extension [UInt8] {
    fileprivate mutating func append(contentsOf bytes: Span<UInt8>, from start: Int) {
        // Unsafe: lends the bytes for the time of a copy.
        bytes.extracting(start..<bytes.count).withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}
