// SPDX-License-Identifier: MIT
//
// A small HTTP client over a blocking POSIX socket, which can do all that a socket can do wrong. It knows nothing of the server's own parser:
// an answer is checked here to have one framing, one Date and no stray byte. Every wait is a read or a write that gives up after a time limit.
//
// With TLS all of this lies inside of it: each `send` is a record of its own at least, and a connection that ends must say so by `close_notify`.
// It is agreed on with the first byte that is sent or read, so that a client may also only connect.

import Foundation
import JSON

@testable import HTTPServer

#if canImport(Glibc)
    import Glibc
    private let streamType = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    private let noSignal = Int32(MSG_NOSIGNAL)
#else
    import Darwin
    private let streamType = SOCK_STREAM
    private let noSignal: Int32 = 0
#endif

struct ClientError: Error, CustomStringConvertible {
    let description: String
    /// Whether the connection is over, and not only silent.
    var isEnd = false
}

/// One response as it came.
struct Answer: CustomStringConvertible {
    let status: Int
    let minorVersion: Int
    let fields: [(name: String, value: String)]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var description: String { "\(status) \(fields) \(text)" }

    /// The value of the only field of this name.
    subscript(name: String) -> String? {
        let values = fields.filter { $0.name.lowercased() == name.lowercased() }
        return values.count == 1 ? values[0].value : nil
    }

    /// The body as JSON, which the strict reader takes too: Foundation's lets trailing commas pass.
    func json() throws -> Any {
        var minified: [UInt8] = []
        _ = try minifyJSON(body.span, into: &minified)
        return try JSONSerialization.jsonObject(with: Data(body), options: [.fragmentsAllowed])
    }
}

final class Client {
    /// Long enough for two busy cores; reached only where a test fails.
    private static let patience = 60

    private let descriptor: Int32
    private let tls: TLSEnd?
    /// One thread may send while another one reads; of TLS only one at a time.
    private let lock = NSLock()
    /// Held while TLS is agreed on: whoever comes second waits.
    private let shaking = NSLock()
    private var hasShaken = false
    private var input: [UInt8] = []
    /// Encrypted bytes that the kernel had no room for.
    private var unsent: [UInt8] = []
    /// How the connection ended, where that was seen while nobody read.
    private var ending: ClientError?
    private var isOpen = true

    /// - Parameter receiveBuffer: bytes that the kernel takes in for a client that does not read.
    init(port: UInt16, host: String = "127.0.0.1", receiveBuffer: Int32? = nil, speaksTLS: Bool = false) throws {
        tls = speaksTLS ? TLSEnd(to: "localhost") : nil
        let isIPv6 = host.contains(":")
        descriptor = try Self.make(isIPv6 ? AF_INET6 : AF_INET, receiveBuffer)
        if isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            inet_pton(AF_INET6, host, &address.sin6_addr)
            try connect(to: address)
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            inet_pton(AF_INET, host, &address.sin_addr)
            try connect(to: address)
        }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    init(path: String, speaksTLS: Bool = false) throws {
        tls = speaksTLS ? TLSEnd(to: "localhost") : nil
        descriptor = try Self.make(AF_UNIX, nil)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        try connect(to: address)
    }

    deinit { close() }

    private static func make(_ family: Int32, _ receiveBuffer: Int32?) throws -> Int32 {
        let descriptor = socket(family, streamType, 0)
        guard descriptor >= 0 else { throw ClientError(description: "socket: \(String(cString: strerror(errno)))") }
        var limit = timeval()
        limit.tv_sec = patience
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        if var receiveBuffer { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size)) }
        return descriptor
    }

    private func connect<Address>(to address: Address) throws {
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                socketConnect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard result == 0 else { throw ClientError(description: "connect: \(String(cString: strerror(errno)))", isEnd: true) }
    }

    // MARK: Sending

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        guard let tls else { return try sendPlain(bytes) }
        try shake(tls)
        let encrypted: [UInt8]? = lock.withLock {
            guard bytes.withUnsafeBytes(tls.write) else { return nil }
            defer { unsent = [] }
            return unsent + tls.takeLeaving()
        }
        guard let encrypted else { throw ClientError(description: "the TLS is broken", isEnd: true) }
        try sendPlain(encrypted)
    }

    private func shake(_ tls: TLSEnd) throws {
        shaking.lock()
        defer { shaking.unlock() }
        guard !hasShaken else { return }
        while !tls.hasShaken {
            try sendPlain(tls.takeLeaving())
            try receiveMore()
        }
        // The last flight.
        unsent += tls.takeLeaving()
        hasShaken = true
    }

    private func sendPlain(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { socketSend(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, noSignal) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ClientError(description: "send: \(String(cString: strerror(errno)))", isEnd: errno != EAGAIN) }
            sent += count
        }
    }

    /// Sends what the kernel takes at once. Returns the count, or nil where the connection is over.
    func sendWithoutWaiting(_ bytes: [UInt8]) -> Int? {
        guard let tls else { return sendWithoutWaitingPlain(bytes) }
        do { try shake(tls) } catch { return nil }
        // What was encrypted has to go first, and as a whole.
        let part = unsent.isEmpty ? bytes.prefix(16 * 1024) : []
        guard part.isEmpty || part.withUnsafeBytes(tls.write) else { return nil }
        unsent += tls.takeLeaving()
        guard let sent = sendWithoutWaitingPlain(unsent) else { return nil }
        unsent.removeFirst(sent)
        return part.count
    }

    private func sendWithoutWaitingPlain(_ bytes: [UInt8]) -> Int? {
        let count = bytes.withUnsafeBytes { socketSend(descriptor, $0.baseAddress, bytes.count, noSignal | Int32(MSG_DONTWAIT)) }
        if count < 0 { return errno == EAGAIN || errno == EINTR ? 0 : nil }
        return count
    }

    /// Says that nothing more will be sent; answers are still read.
    func finish() {
        if let tls, (try? shake(tls)) != nil {
            tls.end()
            try? sendPlain(unsent + tls.takeLeaving())
        }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        socketClose(descriptor)
    }

    /// Breaks the connection off by a reset.
    func reset() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    // MARK: Receiving

    /// The next response, interim or final.
    ///
    /// - Parameter isHead: whether the request was HEAD, so that no body follows.
    func read(isHead: Bool = false) throws -> Answer {
        var end = 0
        while !input[end...].starts(with: "\r\n\r\n".utf8) {
            if end + 4 > input.count { try receive() } else { end += 1 }
        }
        var lines = String(decoding: input[..<end], as: UTF8.self).components(separatedBy: "\r\n")
        let start = lines.removeFirst().split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard start.count == 3, start[0].hasPrefix("HTTP/1."), start[1].utf8.count == 3, let status = Int(start[1]),
            let minor = Int(start[0].dropFirst(7))
        else { throw ClientError(description: "no status line: \(start)") }
        let fields = try lines.map { line in
            guard let colon = line.range(of: ": "), !line.contains("\n"), !line.contains("\r") else {
                throw ClientError(description: "no field line: \(line)")
            }
            return (name: String(line[..<colon.lowerBound]), value: String(line[colon.upperBound...]))
        }
        input.removeFirst(end + 4)
        var answer = Answer(status: status, minorVersion: minor, fields: fields, body: [])
        let lengths = fields.filter { $0.name.lowercased() == "content-length" }
        guard status >= 200, status != 204, status != 304 else {
            guard lengths.isEmpty else { throw ClientError(description: "a \(status) with a length") }
            return answer
        }
        guard lengths.count == 1, let length = Int(lengths[0].value), answer["Transfer-Encoding"] == nil, answer["Date"] != nil else {
            throw ClientError(description: "not one length and one Date: \(answer)")
        }
        guard !isHead else { return answer }
        while input.count < length { try receive() }
        answer = Answer(status: status, minorVersion: minor, fields: fields, body: Array(input[..<length]))
        input.removeFirst(length)
        return answer
    }

    /// Sends a request and reads its answer.
    func ask(_ request: String) throws -> Answer {
        try send(request)
        return try read(isHead: request.hasPrefix("HEAD "))
    }

    /// What comes up to and with this text, whatever it is.
    func readText(until end: String) throws -> String {
        while true {
            let text = String(decoding: input, as: UTF8.self)
            if let range = text.range(of: end) {
                let part = String(text[..<range.upperBound])
                input.removeFirst(part.utf8.count)
                return part
            }
            guard input.count < 1_000_000 else { throw ClientError(description: "a megabyte without \(end.debugDescription)") }
            try receive()
        }
    }

    /// Nothing more comes, and the connection ends.
    func readEnd() throws {
        guard input.isEmpty else { throw ClientError(description: "more than expected: \(String(decoding: input, as: UTF8.self))") }
        do {
            try receive()
        } catch let error as ClientError where error.isEnd {
            return
        }
        throw ClientError(description: "more than expected: \(String(decoding: input, as: UTF8.self))")
    }

    /// Whether anything, or the end, comes within the time.
    func waitForInput(milliseconds: Int32) -> Bool {
        guard input.isEmpty, ending == nil else { return true }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&entry, 1, milliseconds) > 0 {
            guard tls != nil else { return true }
            // Tickets come on their own, and are nothing to be read.
            do { try receiveMore() } catch { ending = error as? ClientError }
            if !input.isEmpty || ending != nil { return true }
        }
        return false
    }

    /// Whether the connection breaks within the time, whatever there is to be read.
    func waitForError(milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    private func receive() throws {
        if let ending { throw ending }
        if let tls { try shake(tls) }
        try lock.withLock {
            guard !unsent.isEmpty else { return }
            guard let sent = sendWithoutWaitingPlain(unsent) else { throw ClientError(description: "the connection is over", isEnd: true) }
            unsent.removeFirst(sent)
        }
        let before = input.count
        while input.count == before {
            if let ending { throw ending }
            try receiveMore()
        }
    }

    private func receiveMore() throws {
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count > 0, let tls {
                switch lock.withLock({ chunk[..<count].withUnsafeBytes { tls.open($0, into: &input) } }) {
                case .bytes, .wouldBlock: return
                case .end:
                    ending = ClientError(description: "the end after \(String(decoding: input.prefix(200), as: UTF8.self))", isEnd: true)
                    return
                case .failed: throw ClientError(description: "this is no TLS")
                }
            }
            if count > 0 {
                input += chunk[..<count]
                return
            }
            if count < 0, errno == EINTR { continue }
            let reason = count == 0 ? "the end" : String(cString: strerror(errno))
            // A connection that breaks off without close_notify has not ended well.
            let isEnd = count == 0 ? tls == nil : errno != EAGAIN
            throw ClientError(description: "\(reason) after \(String(decoding: input.prefix(200), as: UTF8.self))", isEnd: isEnd)
        }
    }
}

// The class has methods of these names, so the C functions need others.
#if canImport(Glibc)
    private func socketConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
        Glibc.connect(descriptor, address, length)
    }
    private func socketSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
        Glibc.send(descriptor, bytes, count, flags)
    }
    private func socketClose(_ descriptor: Int32) { _ = Glibc.close(descriptor) }
#else
    private func socketConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
        Darwin.connect(descriptor, address, length)
    }
    private func socketSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
        Darwin.send(descriptor, bytes, count, flags)
    }
    private func socketClose(_ descriptor: Int32) { _ = Darwin.close(descriptor) }
#endif

// MARK: Requests

func get(_ target: String, _ fields: String = "", version: String = "1.1") -> String {
    "GET \(target) HTTP/\(version)\r\nHost: localhost\r\n\(fields)\r\n"
}

func post(_ target: String, _ body: String, type: String? = "application/json", _ fields: String = "") -> String {
    let type = type.map { "Content-Type: \($0)\r\n" } ?? ""
    return "POST \(target) HTTP/1.1\r\nHost: localhost\r\n\(type)\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
}

func chunkedPost(_ target: String, _ chunks: [String], _ fields: String = "") -> String {
    let body = chunks.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined()
    return "POST \(target) HTTP/1.1\r\nHost: localhost\r\n\(fields)Transfer-Encoding: chunked\r\n\r\n\(body)0\r\n\r\n"
}
