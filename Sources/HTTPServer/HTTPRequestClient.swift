// SPDX-License-Identifier: MIT
//
// The smallest HTTP client that the commands need: one request on a connection of its own, and its answer, within a time and a size. It sends
// HTTP/1.0, so that nobody answers in chunks and the end of the answer is its `Content-Length` or the end of the connection. Plain HTTP only;
// redirects are answers like others, and nothing follows them.

import HTTPWire

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Why a request got no answer.
package struct HTTPRequestError: Error, CustomStringConvertible, Sendable {
    package enum Fault: Sendable {
        /// The URL cannot be asked, whatever runs there.
        case usage
        /// Nobody takes the connection.
        case unreachable
        /// Whoever took it gave no answer, or one that cannot be read.
        case noAnswer
    }

    package let fault: Fault
    package let description: String
}

/// What a server answered.
package struct HTTPAnswer: Sendable {
    /// 100...999.
    package let status: Int
    /// `HTTP/1.1 200 OK`, printable ASCII, 80 characters at most.
    package let statusLine: String
    package let body: [UInt8]
    private let fields: [(name: [UInt8], value: String)]

    /// The value of the first field of this name in lower case, in ASCII; other bytes are left out.
    package func field(_ name: String) -> String? { fields.first { $0.name.elementsEqual(name.utf8) }?.value }

    /// Reads a whole answer; nil where it is none, or ends before its head or its `Content-Length` does.
    init?(_ bytes: [UInt8]) {
        guard let head = AnswerHead(bytes[...]), head.length.map({ bytes.count - head.end >= $0 }) ?? true else { return nil }
        status = head.status
        statusLine = head.statusLine
        fields = head.fields
        body = Array(bytes[head.end...].prefix(head.length ?? .max))
    }
}

/// The head of an answer, RFC 9112 §4 and §5.
private struct AnswerHead {
    let status: Int
    let statusLine: String
    let fields: [(name: [UInt8], value: String)]
    /// Where the body begins.
    let end: Int
    /// Bytes of the body; nil where the end of the connection says.
    let length: Int?

    init?(_ bytes: ArraySlice<UInt8>) {
        guard let end = Self.end(bytes) else { return nil }
        let lines = bytes[..<end].split(separator: UInt8(ascii: "\n")).map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
        let prefix = "HTTP/1.".utf8.count
        guard let first = lines.first, first.starts(with: "HTTP/1.".utf8), first.count >= prefix + 5 else { return nil }
        let line = Array(first)
        let digits = line[prefix + 2..<prefix + 5]
        guard line[prefix + 1] == UInt8(ascii: " "), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let status = Int(String(decoding: digits, as: UTF8.self)), status >= 100
        else { return nil }
        self.status = status
        statusLine = Self.printable(first.prefix(80))
        fields = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == 0x20 || $0 == 0x09 }
            return (line[..<colon].map(\.lowercased), Self.printable(value))
        }
        let text = fields.first { $0.name.elementsEqual("content-length".utf8) }?.value
        length = text.flatMap { $0.utf8.count <= 15 ? Int($0) : nil }.flatMap { $0 >= 0 ? $0 : nil }
        self.end = end
    }

    /// Behind the empty line.
    private static func end(_ bytes: ArraySlice<UInt8>) -> Int? {
        let mark = "\r\n\r\n".utf8
        var at = bytes.startIndex
        while let found = bytes[at...].firstIndex(of: UInt8(ascii: "\r")) {
            if bytes[found...].starts(with: mark) { return found + mark.count }
            at = found + 1
        }
        return nil
    }

    private static func printable(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.filter { (0x20..<0x7F).contains($0) }, as: UTF8.self)
    }
}

/// Sends requests to one server, each on its own connection.
package struct HTTPRequestClient: Sendable {
    /// As it was given.
    package let url: String
    /// What stands in front of every path, without a slash at its end.
    package let prefix: String
    private let host: String
    private let port: UInt16

    /// - Parameter url: `http://HOST:PORT`, also with a path, or `unix:PATH`.
    /// - Throws: `usage` with what is wrong and what would be right.
    package init(url: String) throws(HTTPRequestError) {
        func bad(_ why: String) -> HTTPRequestError {
            HTTPRequestError(fault: .usage, description: "\(why); write http://HOST:PORT or unix:PATH")
        }
        self.url = url
        if url.hasPrefix("unix:") {
            (host, port, prefix) = (url, 0, "")
            return
        }
        guard url.hasPrefix("http://") else { throw bad("the URL does not begin with http:// or unix:") }
        let rest = url.dropFirst(7)
        let authority = rest.prefix { $0 != "/" }
        var name = authority
        var number: UInt16 = 80
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            let digits = authority[authority.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let parsed = UInt16(digits) else {
                throw bad("the port is no number up to 65535")
            }
            number = parsed
            name = authority[..<colon]
        }
        // `@`, `?` and `#` would let a host look like another one.
        guard !name.isEmpty, rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !rest.utf8.contains(where: { "@?#\\".utf8.contains($0) })
        else { throw bad("the URL has no host, or characters that none has here") }
        guard name.hasPrefix("[") == name.hasSuffix("]"), name.hasPrefix("[") || !name.contains(":") else {
            throw bad("an IPv6 address stands in brackets")
        }
        (host, port) = (String(name), number)
        prefix = String(rest.dropFirst(authority.count).reversed().drop { $0 == "/" }.reversed())
    }

    /// Whether it reaches this machine alone: `localhost`, an address of 127.0.0.0/8 in four decimal parts, `[::1]` or `unix:`.
    ///
    /// Names are not looked up: what one means may change between the look and the request.
    package var isLoopback: Bool {
        if host.hasPrefix("unix:") || host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        // A part with a 0 in front would be octal to some.
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { part in UInt8(part).map { "\($0)" == part } ?? false }
    }

    /// Sends one request and returns its answer, whatever its status.
    ///
    /// - Parameters:
    ///   - target: path and query behind the URL's own path; it must be a valid one.
    ///   - body: goes out as JSON; nil for a request without one.
    ///   - authorization: the value of that field.
    ///   - milliseconds: for all of it.
    ///   - maximumAnswer: bytes with the head.
    package func send(
        _ method: String, _ target: String, body: [UInt8]? = nil, authorization: String? = nil, milliseconds: Int32, maximumAnswer: Int
    ) throws(HTTPRequestError) -> HTTPAnswer {
        let deadline = Clock.system.monotonic() + Int64(milliseconds) * 1000
        let addresses: [SocketAddress]
        do {
            addresses = try SocketAddress.resolve(host: host, port: port)
        } catch {
            throw HTTPRequestError(fault: .unreachable, description: error.description)
        }
        var reason = "no address"
        for address in addresses {
            let left = Self.left(until: deadline)
            guard left > 0, let descriptor = Socket.connect(to: address, milliseconds: left) else {
                reason = "cannot connect to \(address): \(left > 0 ? String(cString: strerror(errno)) : "no time is left")"
                continue
            }
            defer { Socket.close(descriptor) }
            Socket.makeNonBlocking(descriptor)
            var request = "\(method) \(prefix)\(target) HTTP/1.0\r\nHost: \(hostField)\r\n"
            if let authorization { request += "Authorization: \(authorization)\r\n" }
            if let body { request += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
            // A server that has heard enough answers before all is sent, so the answer is read in any case.
            transmit(Array((request + "\r\n").utf8) + (body ?? []), descriptor, deadline)
            let received = try receive(descriptor, deadline, maximumAnswer)
            if let answer = HTTPAnswer(received) { return answer }
            let line = String(decoding: received.prefix { $0 >= 0x20 && $0 < 0x7F }.prefix(80), as: UTF8.self)
            throw HTTPRequestError(
                fault: .noAnswer,
                description: received.isEmpty ? "\(url) accepts, but does not answer" : "\(url) answers, but not whole or no HTTP: \(line)")
        }
        throw HTTPRequestError(fault: .unreachable, description: reason)
    }

    private var hostField: String { host.hasPrefix("unix:") ? "localhost" : port == 80 ? host : "\(host):\(port)" }

    private func transmit(_ bytes: [UInt8], _ descriptor: Int32, _ deadline: Int64) {
        var sent = 0
        while sent < bytes.count {
            // Unsafe: lends what is left of the bytes to send(2).
            switch bytes[sent...].withUnsafeBytes({ Socket.send(descriptor, $0) }) {
            case .bytes(let count): sent += count
            case .wouldBlock: guard Self.wait(descriptor, POLLOUT, deadline) else { return }
            case .end, .failed: return
            }
        }
    }

    /// Until the answer's end, an error or the time limit.
    private func receive(_ descriptor: Int32, _ deadline: Int64, _ maximum: Int) throws(HTTPRequestError) -> [UInt8] {
        var (answer, chunk): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 16 * 1024))
        var end: Int?
        while end.map({ answer.count < $0 }) ?? true {
            // Unsafe: lends the chunk to recv(2).
            switch chunk.withUnsafeMutableBytes({ Socket.receive(descriptor, into: $0) }) {
            case .bytes(let count):
                answer += chunk[..<count]
                if end == nil, let head = AnswerHead(answer[...]), let length = head.length { end = head.end + length }
                guard answer.count <= maximum, end.map({ $0 <= maximum }) ?? true else {
                    throw HTTPRequestError(fault: .noAnswer, description: "\(url) answers with more than \(maximum) bytes")
                }
            case .wouldBlock: guard Self.wait(descriptor, POLLIN, deadline) else { return answer }
            case .end, .failed: return answer
            }
        }
        return answer
    }

    /// False where the time is over.
    private static func wait(_ descriptor: Int32, _ events: some BinaryInteger, _ deadline: Int64) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0)
        while true {
            let left = left(until: deadline)
            guard left > 0 else { return false }
            let ready = poll(&entry, 1, left)
            if ready > 0 { return true }
            guard ready == 0 || errno == EINTR else { return false }
        }
    }

    /// Milliseconds, rounded up.
    private static func left(until deadline: Int64) -> Int32 {
        Int32(clamping: max(deadline - Clock.system.monotonic() + 999, 0) / 1000)
    }
}
