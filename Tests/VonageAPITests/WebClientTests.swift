// SPDX-License-Identifier: MIT
//
// The client against peers that behave and that do not: answers, redirects, endless and cut bodies, silence, and nobody at all.

import Foundation
import Testing

@testable import VonageAPI

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Listens on a free port, and answers each connection with the same bytes once something has come.
private final class Peer: Sendable {
    let port: UInt16
    private let listener: Int32

    /// - Parameter keepsOpen: the connection stays open behind the answer, until the peer of the peer ends it.
    init(answering answer: String, keepsOpen: Bool = false) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, address, &length) == 0
            }
        }
        try #require(isBound)
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                var chunk = [UInt8](repeating: 0, count: 64 * 1024)
                _ = read(connection, &chunk, chunk.count)
                let bytes = Array(answer.utf8)
                _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                // Until the other side ends it.
                while keepsOpen, read(connection, &chunk, chunk.count) > 0 {}
                close(connection)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    var url: String { "http://127.0.0.1:\(port)/x" }
}

struct WebClientTests {
    private func fault(_ request: WebRequest) async -> WebError.Fault? {
        do throws(WebError) {
            _ = try await WebClient().send(request)
            return nil
        } catch {
            return error.fault
        }
    }

    @Test func `an answer comes whole, whatever its status`() async throws {
        let peer = try Peer(answering: "HTTP/1.1 404 Not Found\r\nX-One: 1\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        let answer = try await WebClient().send(WebRequest("GET", peer.url))
        #expect(answer.status == 404 && answer.fields["x-one"] == "1" && answer.body == Array("hello".utf8))
        let again = try WebClient().sendAndWait(WebRequest("POST", peer.url, fields: [("A", "b")], body: [1, 2]))
        #expect(again.status == 404)
    }

    @Test func `a redirect is an answer, and is not followed`() async throws {
        let peer = try Peer(
            answering: "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/elsewhere\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        #expect(try await WebClient().send(WebRequest("GET", peer.url)).status == 302)
    }

    @Test func `an answer without end or above its size is an error`() async throws {
        let long = try Peer(
            answering: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + String(repeating: "x", count: 100_000), keepsOpen: true)
        #expect(await fault(WebRequest("GET", long.url, maximumAnswer: 1000)) == .tooLarge)
        let silent = try Peer(answering: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", keepsOpen: true)
        #expect(await fault(WebRequest("GET", silent.url, milliseconds: 200)) == .timeout)
        let mute = try Peer(answering: "", keepsOpen: true)
        #expect(await fault(WebRequest("GET", mute.url, milliseconds: 200)) == .timeout)
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nhalf", "", "SSH-2.0-x\r\n"])
    func `an answer that is cut or none is an error`(answer: String) async throws {
        let peer = try Peer(answering: answer)
        #expect(await fault(WebRequest("GET", peer.url)) == .broken)
    }

    @Test func `nobody there is told from a bad address and from a peer without TLS`() async throws {
        #expect(await fault(WebRequest("GET", "http://127.0.0.1:1/")) == .unreachable)
        #expect(await fault(WebRequest("GET", "ftp://127.0.0.1/")) == .badURL)
        #expect(await fault(WebRequest("GET", "not a url")) == .badURL)
        let plain = try Peer(answering: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(await fault(WebRequest("GET", "https://127.0.0.1:\(plain.port)/")) == .insecure)
    }

    @Test func `many at once are all answered`() async throws {
        let peer = try Peer(answering: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        let client = WebClient()
        let statuses = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<50 { group.addTask { try? await client.send(WebRequest("GET", peer.url)).status } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.allSatisfy { $0 == 200 })
        client.stop()
    }
}
