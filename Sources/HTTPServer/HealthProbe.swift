// SPDX-License-Identifier: MIT
//
// The smallest HTTP client that can ask a server whether it answers: one GET of `/health` over a blocking socket with a time limit. It sends
// HTTP/1.0, so that the end of the answer is the end of the connection.

import HTTPWire

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

package struct HealthProbeError: Error, CustomStringConvertible, Sendable {
    package let description: String
    /// The URL cannot be asked, whatever runs there.
    package let isUsage: Bool
}

package struct HealthProbe: Sendable {
    private let host: String
    private let port: UInt16
    private let path: String
    private let url: String

    package init(url: String) throws(HealthProbeError) {
        self.url = url
        func bad(_ why: String) -> HealthProbeError {
            HealthProbeError(description: "\(why); write http://HOST:PORT or unix:PATH", isUsage: true)
        }
        if url.hasPrefix("unix:") {
            (host, port, path) = (url, 0, "/health")
            return
        }
        guard url.hasPrefix("http://") else { throw bad("the URL does not begin with http:// or unix:") }
        let rest = url.dropFirst(7)
        let authority = rest.prefix { $0 != "/" }
        let prefix = rest.dropFirst(authority.count).reversed().drop { $0 == "/" }.reversed()
        var name = authority
        var number: UInt16 = 80
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            guard let parsed = UInt16(authority[authority.index(after: colon)...]) else { throw bad("the port is no number up to 65535") }
            number = parsed
            name = authority[..<colon]
        }
        guard !name.isEmpty, rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw bad("the URL has no host, or characters that no URL has")
        }
        (host, port) = (String(name), number)
        path = String(prefix).hasSuffix("/health") ? String(prefix) : String(prefix) + "/health"
    }

    /// Returns the body of the answer.
    package func ask(milliseconds: Int32) throws(HealthProbeError) -> String {
        let addresses: [SocketAddress]
        do {
            addresses = try SocketAddress.resolve(host: host, port: port)
        } catch {
            throw HealthProbeError(description: error.description, isUsage: false)
        }
        var reason = "no address"
        for address in addresses {
            guard let descriptor = Socket.connect(to: address, milliseconds: milliseconds) else {
                reason = "cannot connect to \(address): \(String(cString: strerror(errno)))"
                continue
            }
            defer { Socket.close(descriptor) }
            let name = host.hasPrefix("unix:") ? "localhost" : host
            let request = Array("GET \(path) HTTP/1.0\r\nHost: \(name)\r\n\r\n".utf8)
            guard case .bytes(request.count) = request.withUnsafeBytes({ Socket.send(descriptor, $0) }) else {
                reason = "the request could not be sent"
                continue
            }
            let answer = receiveAll(descriptor, until: Clock.system.monotonic() + Int64(milliseconds) * 1000)
            guard answer.starts(with: "HTTP/1.1 200 ".utf8) || answer.starts(with: "HTTP/1.0 200 ".utf8) else {
                let line = answer.prefix { $0 >= 0x20 && $0 < 0x7F }.prefix(80)
                throw HealthProbeError(
                    description: line.isEmpty
                        ? "\(url) accepts, but does not answer" : "\(url) answers \(String(decoding: line, as: UTF8.self))",
                    isUsage: false)
            }
            let text = String(decoding: answer, as: UTF8.self)
            let body = text.range(ofHeadEnd: "\r\n\r\n").map { text[$0...] } ?? ""
            return String(body.prefix { $0 != "\n" && $0 != "\r\n" })
        }
        throw HealthProbeError(description: reason, isUsage: false)
    }

    /// Up to 64 KiB, until the end, an error or the time limit; one read may pass it by the socket's own.
    private func receiveAll(_ descriptor: Int32, until deadline: Int64) -> [UInt8] {
        var (answer, chunk): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 4096))
        while answer.count < 64 * 1024, Clock.system.monotonic() < deadline {
            guard case .bytes(let count) = chunk.withUnsafeMutableBytes({ Socket.receive(descriptor, into: $0) }) else { break }
            answer += chunk[..<count]
        }
        return answer
    }
}

extension String {
    /// The place behind the first `end`.
    fileprivate func range(ofHeadEnd end: String) -> String.Index? {
        let (bytes, mark) = (Array(utf8), Array(end.utf8))
        guard bytes.count >= mark.count else { return nil }
        for start in 0...bytes.count - mark.count where bytes[start...].starts(with: mark) {
            return utf8.index(utf8.startIndex, offsetBy: start + mark.count)
        }
        return nil
    }
}
