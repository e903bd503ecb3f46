// SPDX-License-Identifier: MIT
//
// What a server answers, read from its bytes: RFC 9112 §4 to §6 from a client's side. The head's bytes are kept as they came and looked at when
// a field is asked for, since of ten fields hardly one ever is; only what frames the body and the connection is read at once.
//
// Lenient where nothing depends on it: a line without a colon is skipped, and a bare LF ends a line. Strict about the body's length, because
// who misreads it takes the rest for the next answer.

import HTTPWire

/// What a server answered.
package struct HTTPAnswer: Sendable {
    /// 100...999.
    package let status: Int
    package let body: [UInt8]
    private let head: [UInt8]

    /// `HTTP/1.1 200 OK`, printable ASCII, 80 characters at most.
    package var statusLine: String { printable(head.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }.prefix(80)) }

    /// The value of the first field of this name in lower case, in ASCII; other bytes are left out.
    package func field(_ name: String) -> String? {
        let bytes = head.span
        var value: Range<Int>?
        forEachField(of: bytes) { field, content in
            guard value == nil, field.count == name.utf8.count, zip(field, name.utf8).allSatisfy({ bytes[$0].lowercased == $1 }) else {
                return
            }
            value = content
        }
        return value.map { printable(head[$0]) }
    }

    init(_ answer: AnswerHead, head: [UInt8], body: [UInt8]) {
        status = answer.status
        self.head = head
        self.body = body
    }

    /// Reads a whole answer to a request of HTTP/1.0; nil where it is none, or ends before its head or its `Content-Length` does.
    init?(_ bytes: [UInt8]) {
        guard case .head(let head) = AnswerHead.read(bytes.span), head.length.map({ bytes.count - head.end >= $0 }) ?? true else {
            return nil
        }
        self.init(head, head: Array(bytes[..<head.end]), body: Array(bytes[head.end...].prefix(head.length ?? .max)))
    }
}

/// What the head of an answer says about its framing.
struct AnswerHead {
    enum Outcome {
        case head(AnswerHead)
        /// It has no end yet.
        case more
        /// It will never be a head.
        case bad
    }

    /// 100...999.
    private(set) var status = 0
    /// Where the body begins.
    private(set) var end = 0
    /// Bytes of the body by `Content-Length`; nil where the end of the connection says, or `isChunked`.
    private(set) var length: Int?
    private(set) var isChunked = false
    /// Whether the connection goes on after the body, where the body says its own end.
    private(set) var keepsAlive = true

    private init() {}

    /// Reads the head at the start of `bytes`. Of one that has come in part, the first `scanned` bytes have been looked at already.
    static func read(_ bytes: Span<UInt8>, scanned: Int = 0) -> Outcome {
        let prefix = 7
        guard bytes.equalsExactly("HTTP/1.", at: 0..<prefix) else {
            // Whoever speaks another protocol is known by its first bytes.
            let start: StaticString = "HTTP/1."
            for index in 0..<min(bytes.count, prefix) where bytes[index] != start.utf8Start[index] { return .bad }
            return .more
        }
        guard let end = end(bytes, from: max(scanned - 3, 0)) else { return .more }
        guard bytes.count >= prefix + 6, digit(bytes[prefix]) != nil, bytes[prefix + 1] == UInt8(ascii: " "),
            let hundreds = digit(bytes[prefix + 2]), let tens = digit(bytes[prefix + 3]), let ones = digit(bytes[prefix + 4]),
            hundreds > 0, bytes[prefix + 5] <= 0x20
        else { return .bad }
        var head = AnswerHead()
        head.status = hundreds * 100 + tens * 10 + ones
        head.end = end
        return head.readFraming(bytes.extracting(0..<end), isOld: bytes[prefix] == UInt8(ascii: "0")) ? .head(head) : .bad
    }

    /// Behind the empty line.
    private static func end(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        var at = start
        while at + 3 < bytes.count {
            if bytes[at] == UInt8(ascii: "\r"), bytes[at + 1] == UInt8(ascii: "\n"), bytes[at + 2] == UInt8(ascii: "\r"),
                bytes[at + 3] == UInt8(ascii: "\n")
            {
                return at + 4
            }
            at += 1
        }
        return nil
    }

    private static func digit(_ byte: UInt8) -> Int? { byte &- 0x30 < 10 ? Int(byte &- 0x30) : nil }

    /// RFC 9112 §6.3 and §9.3. Returns false where the end of the body cannot be known.
    private mutating func readFraming(_ bytes: Span<UInt8>, isOld: Bool) -> Bool {
        var (isGood, hasLength, isCoded, closes, keeps) = (true, false, false, false, false)
        var (size, isOnlyChunked) = (0, false)
        forEachField(of: bytes) { name, value in
            // All of them differ in length: one look at it lets nearly every other field pass.
            switch name.count {
            case 10 where bytes.equalsIgnoringCase("connection", at: name):
                bytes.forEachMember(of: value) { member in
                    if bytes.equalsIgnoringCase("close", at: member) { closes = true }
                    if bytes.equalsIgnoringCase("keep-alive", at: member) { keeps = true }
                }
            case 14 where bytes.equalsIgnoringCase("content-length", at: name):
                var number = 0
                // 15 digits are more than any memory.
                if !(1...15).contains(value.count) { isGood = false }
                for at in value.prefix(15) {
                    guard let digit = Self.digit(bytes[at]) else {
                        isGood = false
                        break
                    }
                    number = number * 10 + digit
                }
                if hasLength, number != size { isGood = false }
                (hasLength, size) = (true, number)
            case 17 where bytes.equalsIgnoringCase("transfer-encoding", at: name):
                isOnlyChunked = !isCoded && bytes.equalsIgnoringCase("chunked", at: value)
                isCoded = true
            default: break
            }
        }
        length = hasLength ? size : nil
        isChunked = isOnlyChunked
        keepsAlive = isOld ? keeps && !closes : !closes
        // Both of them, or a coding from a time that had none, is what a confused or hostile proxy leaves (RFC 9112 §6.1, §6.3).
        if isCoded, hasLength || isOld { keepsAlive = false }
        return isGood && (!isCoded || isOnlyChunked)
    }
}

/// Calls `body` with name and value of each field line behind the first line; the value without blanks around it.
private func forEachField(of head: Span<UInt8>, _ body: (_ name: Range<Int>, _ value: Range<Int>) -> Void) {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    var at = 0
    var isFirst = true
    while at < head.count {
        var (colon, end) = (-1, at)
        while end < head.count, head[end] != UInt8(ascii: "\n") {
            if colon < 0, head[end] == UInt8(ascii: ":") { colon = end }
            end += 1
        }
        defer {
            at = end + 1
            isFirst = false
        }
        guard !isFirst, colon >= 0 else { continue }
        var (low, high) = (colon + 1, end)
        if high > low, head[high - 1] == UInt8(ascii: "\r") { high -= 1 }
        while low < high, isBlank(head[low]) { low += 1 }
        while high > low, isBlank(head[high - 1]) { high -= 1 }
        body(at..<colon, low..<high)
    }
}

private func printable(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.filter { (0x20..<0x7F).contains($0) }, as: UTF8.self)
}
