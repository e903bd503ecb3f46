// SPDX-License-Identifier: MIT
//
// The smallest HTTP client that the commands need: one request on a connection of its own, and its answer, within a time and a size. It sends
// HTTP/1.0, so that nobody answers in chunks and the end of the answer is its `Content-Length` or the end of the connection. TLS is spoken with
// this machine alone; redirects are answers like others, and nothing follows them.

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

/// Sends requests to one server, each on its own connection.
package struct HTTPRequestClient: Sendable {
    /// As it was given.
    package let url: String
    /// What stands in front of every path, without a slash at its end.
    package let prefix: String
    private let address: HTTPAddress

    /// - Parameter url: `http://HOST:PORT`, also with a path, `https://` and a loopback host, or `unix:PATH`.
    /// - Throws: `usage` with what is wrong and what would be right.
    package init(url: String) throws(HTTPRequestError) {
        let (address, target) = try HTTPAddress.split(url)
        // Paths are put behind it, which would fall into a query.
        guard !target.contains("?") else { throw HTTPAddress.unusable(HTTPAddress.oddHost) }
        self.url = url
        self.address = address
        prefix = String(target.reversed().drop { $0 == "/" }.reversed())
    }

    /// Whether it reaches this machine alone.
    package var isLoopback: Bool { address.isLoopback }

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
        let candidates: [SocketAddress]
        do {
            candidates = try SocketAddress.resolve(host: address.host, port: address.port)
        } catch {
            throw HTTPRequestError(fault: .unreachable, description: error.description)
        }
        var reason = "no address"
        for candidate in candidates {
            let left = Self.left(until: deadline)
            guard left > 0, let descriptor = Socket.connect(to: candidate, milliseconds: left) else {
                reason = "cannot connect to \(candidate): \(left > 0 ? String(cString: strerror(errno)) : "no time is left")"
                continue
            }
            defer { Socket.close(descriptor) }
            Socket.makeNonBlocking(descriptor)
            var request = "\(method) \(prefix)\(target) HTTP/1.0\r\nHost: \(address.hostField)\r\n"
            if let authorization { request += "Authorization: \(authorization)\r\n" }
            if let body { request += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
            // A server that has heard enough answers before all is sent, so the answer is read in any case.
            let bytes = Array((request + "\r\n").utf8) + (body ?? [])
            let tls = address.isSecure ? TLSEnd(to: address.host) : nil
            if address.isSecure {
                // Unsafe: lends the bytes to the session.
                guard let tls, shake(tls, descriptor, deadline), bytes.withUnsafeBytes(tls.write) else {
                    throw HTTPRequestError(fault: .noAnswer, description: "\(url) accepts, but does not speak TLS")
                }
            }
            transmit(tls?.takeLeaving() ?? bytes, descriptor, deadline)
            let received = try receive(descriptor, tls, deadline, maximumAnswer)
            if let tls {
                tls.end()
                transmit(tls.takeLeaving(), descriptor, deadline)
            }
            if let answer = HTTPAnswer(received) { return answer }
            let line = String(decoding: received.prefix { $0 >= 0x20 && $0 < 0x7F }.prefix(80), as: UTF8.self)
            throw HTTPRequestError(
                fault: .noAnswer,
                description: received.isEmpty ? "\(url) accepts, but does not answer" : "\(url) answers, but not whole or no HTTP: \(line)")
        }
        throw HTTPRequestError(fault: .unreachable, description: reason)
    }

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

    /// False where there is no TLS to be had.
    private func shake(_ tls: TLSEnd, _ descriptor: Int32, _ deadline: Int64) -> Bool {
        var (chunk, plain): ([UInt8], [UInt8]) = (Array(repeating: 0, count: 16 * 1024), [])
        while !tls.hasShaken {
            transmit(tls.takeLeaving(), descriptor, deadline)
            // Unsafe: lends the chunk to recv(2), and then to the session.
            switch chunk.withUnsafeMutableBytes({ Socket.receive(descriptor, into: $0) }) {
            case .bytes(let count):
                guard case .wouldBlock = chunk[..<count].withUnsafeBytes({ tls.open($0, into: &plain) }) else { return false }
            case .wouldBlock: guard Self.wait(descriptor, POLLIN, deadline) else { return false }
            case .end, .failed: return false
            }
        }
        return true
    }

    /// Until the answer's end, an error or the time limit.
    private func receive(_ descriptor: Int32, _ tls: TLSEnd?, _ deadline: Int64, _ maximum: Int) throws(HTTPRequestError) -> [UInt8] {
        var (answer, chunk): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 16 * 1024))
        var end: Int?
        while end.map({ answer.count < $0 }) ?? true {
            // Unsafe: lends the chunk to recv(2).
            switch chunk.withUnsafeMutableBytes({ Socket.receive(descriptor, into: $0) }) {
            case .bytes(let count):
                var isOver = false
                if let tls {
                    // Unsafe: lends what has come to the session.
                    let transfer = chunk[..<count].withUnsafeBytes { tls.open($0, into: &answer) }
                    if case .wouldBlock = transfer {} else { isOver = true }
                } else {
                    answer += chunk[..<count]
                }
                if end == nil, case .head(let head) = AnswerHead.read(answer.span), let length = head.length { end = head.end + length }
                guard answer.count <= maximum, end.map({ $0 <= maximum }) ?? true else {
                    throw HTTPRequestError(fault: .noAnswer, description: "\(url) answers with more than \(maximum) bytes")
                }
                if isOver { return answer }
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
