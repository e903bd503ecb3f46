// SPDX-License-Identifier: MIT
//
// A server whose every byte the test says, on the test's own thread: the client's loop never blocks, so the two take turns.

import Testing

@testable import HTTPServer

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reached only where a test fails.
private let patience: Int32 = 60_000

final class ScriptedServer {
    let address: HTTPAddress
    let port: UInt16
    private let listener: Int32

    init(backlog: Int32 = 64) throws {
        let local = try #require(try SocketAddress.resolve(host: "127.0.0.1", port: 0).first)
        listener = try Socket.listen(on: local, backlog: backlog, shared: false)
        port = Socket.port(of: listener)
        address = try HTTPAddress(url: "http://127.0.0.1:\(port)")
    }

    deinit { Socket.close(listener) }

    func accept() throws -> ScriptedPeer {
        var entry = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        try #require(poll(&entry, 1, patience) == 1)
        guard case .connection(let descriptor, _) = Socket.accept(listener) else {
            throw SocketError("accept", "scripted server")
        }
        return ScriptedPeer(descriptor)
    }
}

final class ScriptedPeer {
    private var descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close() }

    func close() {
        if descriptor >= 0 { Socket.close(descriptor) }
        descriptor = -1
    }

    /// What has come; nil at the end.
    func read() throws -> String? {
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        switch bytes.withUnsafeMutableBytes({ Socket.receive(descriptor, into: $0) }) {
        case .bytes(let count): return String(decoding: bytes[..<count], as: UTF8.self)
        case .wouldBlock: return ""
        case .end, .failed: return nil
        }
    }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        if case .bytes(bytes.count) = bytes.withUnsafeBytes({ Socket.send(descriptor, $0) }) { return }
        Issue.record("the socket does not take the answer")
    }
}

/// Results in the order of their coming.
final class Results {
    private(set) var all: [HTTPClientLoop.Result] = []

    func add(_ result: HTTPClientLoop.Result) { all.append(result) }

    var answers: [HTTPAnswer] { all.compactMap { if case .answer(let answer, _) = $0 { answer } else { nil } } }
    var failures: [HTTPClientFailure] { all.compactMap { if case .failed(let failure, _) = $0 { failure } else { nil } } }
    var bodies: [String] { answers.map { String(decoding: $0.body, as: UTF8.self) } }
}

extension HTTPClientLoop {
    /// Turns until the condition holds.
    func turn(until condition: () throws -> Bool) throws {
        for _ in 0..<20_000 {
            if try condition() { return }
            turn(milliseconds: 1)
        }
        throw SocketError("turn", "client", code: ETIMEDOUT)
    }

    /// Turns until nothing has no result.
    func finish() throws { try turn { pending == 0 } }

    func send(_ target: String, to address: HTTPAddress, _ results: Results) {
        send(Request(target: target), to: address, then: results.add)
    }

    /// Turns until the peer has got a whole request without a body.
    func request(at peer: ScriptedPeer) throws -> String {
        var request = ""
        try turn {
            request += try peer.read() ?? ""
            return request.hasSuffix("\r\n\r\n")
        }
        return request
    }
}
