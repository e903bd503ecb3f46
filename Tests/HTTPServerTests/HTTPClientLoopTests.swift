// SPDX-License-Identifier: MIT

import Dispatch
import HTTPWire
import Synchronization
import Testing

@testable import HTTPServer

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Answers with the method, the target, the authorization and the body of what was asked.
private struct EchoService: Service {
    final class EchoHandler: Handler {
        func respond(to head: borrowing RequestHead, bytes: Span<UInt8>, body: Span<UInt8>, exchange: Exchange) -> Reply {
            let authorization = head.authorization.map { bytes.text($0) } ?? "-"
            let type = head.contentType.map { bytes.text($0) } ?? "-"
            let text = "\(head.method) \(bytes.text(head.target)) \(authorization) \(type) \(body.text(0..<body.count))"
            return .now(Response(.ok, contentType: .text, body: Array(text.utf8)))
        }
        func refusal(of head: borrowing RequestHead, bytes: Span<UInt8>, exchange: Exchange) -> Response? { nil }
        func refused(_ error: WireError) {}
        func failed(_ error: any Error, _ head: borrowing RequestHead, bytes: Span<UInt8>) -> Response { Response(.internalServerError) }
        func flush(now: Int64) -> Int64? { nil }
    }

    func makeHandler(mailbox: Mailbox) -> any Handler { EchoHandler() }
}

/// Time as the test says.
private final class SetClock: Sendable {
    private let micros = Atomic<Int64>(1_000_000)
    var clock: Clock { Clock(monotonic: { self.micros.load(ordering: .relaxed) }, wall: { 0 }) }
    func advance(milliseconds: Int64) { micros.wrappingAdd(milliseconds * 1000, ordering: .relaxed) }
}

struct HTTPClientLoopTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func withEcho(host: String = "127.0.0.1", _ body: (Server, HTTPAddress) throws -> Void) throws {
        var configuration = ServerConfiguration()
        configuration.host = host
        configuration.port = 0
        let server = try Server(configuration, service: EchoService())
        defer { server.stop(grace: 0) }
        try body(server, HTTPAddress(url: host.hasPrefix("unix:") ? host : "http://\(host):\(server.port)"))
    }

    // MARK: Connections

    @Test(arguments: PollerKind.allCases)
    func `requests one after the other share a connection`(_ poller: PollerKind) throws {
        try withEcho { server, address in
            let loop = try HTTPClientLoop(poller: poller)
            let results = Results()
            for number in 0..<20 {
                loop.send("/\(number)?a=b", to: address, results)
                try loop.finish()
            }
            #expect(results.bodies == (0..<20).map { "get /\($0)?a=b - - " })
            #expect(server.statistics.accepted == 1 && loop.connectionsMade == 1)
            loop.closeIdle()
            loop.send("/", to: address, results)
            try loop.finish()
            #expect(loop.connectionsMade == 2)
        }
    }

    @Test(arguments: PollerKind.allCases)
    func `500 requests at once go over a few connections`(_ poller: PollerKind) throws {
        try withEcho { server, address in
            let loop = try HTTPClientLoop(poller: poller, maximumConnections: 8)
            let results = Results()
            for number in 0..<500 { loop.send("/\(number)", to: address, results) }
            #expect(loop.pending == 500 && results.all.isEmpty)
            try loop.finish()
            #expect(Set(results.bodies) == Set((0..<500).map { "get /\($0) - - " }))
            #expect(server.statistics.accepted == 8 && server.statistics.requests == 500)
        }
    }

    @Test func `method, authorization and body arrive, and bytes that no target has are escaped`() throws {
        try withEcho { _, address in
            let loop = try HTTPClientLoop()
            let results = Results()
            let body = Array("{}".utf8)
            let request = HTTPClientLoop.Request(
                method: "POST", target: "/a b\r\nX: ä", authorization: "Bearer x\r\ny", body: body)
            loop.send(request, to: address, then: results.add)
            try loop.finish()
            loop.send(.init(method: "POST", target: "?"), to: address, then: results.add)
            try loop.finish()
            #expect(
                results.bodies == ["post /a%20b%0D%0AX:%20%C3%A4 Bearer x  y application/json {}", "post /? - - "])
        }
    }

    @Test func `a body larger than the sockets' buffers is sent in parts`() throws {
        let server = try ScriptedServer()
        let loop = try HTTPClientLoop()
        let results = Results()
        let body = Array(repeating: UInt8(ascii: " "), count: 16 * 1024 * 1024)
        loop.send(.init(method: "POST", target: "/", body: body), to: server.address, then: results.add)
        let peer = try server.accept()
        var count = 0
        try loop.turn {
            count += try peer.read()?.utf8.count ?? 0
            return count > body.count + 100
        }
        peer.write(Self.ok)
        try loop.finish()
        #expect(results.bodies == ["ok"])
    }

    @Test func `a server that has heard enough answers before all is sent`() throws {
        let server = try ScriptedServer()
        let loop = try HTTPClientLoop()
        let results = Results()
        let body = Array(repeating: UInt8(ascii: " "), count: 16 * 1024 * 1024)
        loop.send(.init(method: "POST", target: "/", body: body), to: server.address, then: results.add)
        let peer = try server.accept()
        try loop.turn { try peer.read()?.isEmpty == false }
        peer.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
        try loop.finish()
        #expect(results.answers.map(\.status) == [413])
        loop.send("/", to: server.address, results)
        #expect(loop.connectionsMade == 2)
    }

    @Test func `localhost is each of its addresses, and a Unix domain socket is a server too`() throws {
        try withEcho { server, _ in
            // Nobody listens on the other address of it.
            let loop = try HTTPClientLoop()
            let results = Results()
            let address = try HTTPAddress(url: "http://localhost:\(server.port)")
            for _ in 0..<2 { loop.send("/", to: address, results) }
            try loop.finish()
            #expect(results.answers.count == 2)
        }
        try withEcho(host: "unix:/tmp/switchboard-client-\(getpid())") { _, address in
            let loop = try HTTPClientLoop()
            let results = Results()
            loop.send("/u", to: address, results)
            try loop.finish()
            #expect(results.bodies == ["get /u - - "])
        }
    }

    @Test func `the next address is tried where one refuses`() throws {
        var configuration = ServerConfiguration()
        configuration.host = "::1"
        configuration.port = 0
        guard let server = try? Server(configuration, service: EchoService()) else { return }  // a machine without IPv6
        defer { server.stop(grace: 0) }
        let loop = try HTTPClientLoop()
        let results = Results()
        for _ in 0..<3 {
            loop.send("/", to: try HTTPAddress(url: "http://localhost:\(server.port)"), results)
            try loop.finish()
        }
        #expect(results.answers.count == 3)
    }

    @Test func `servers take turns where there is one connection for all`() throws {
        try withEcho { first, address in
            try withEcho { second, other in
                let loop = try HTTPClientLoop(maximumConnections: 1)
                let results = Results()
                for number in 0..<100 { loop.send("/\(number)", to: number % 2 == 0 ? address : other, results) }
                try loop.finish()
                #expect(results.answers.count == 100)
                #expect(first.statistics.requests == 50 && second.statistics.requests == 50)
                #expect((3...20).contains(loop.connectionsMade))
            }
        }
    }

    @Test func `a connection to more servers than are kept is closed`() throws {
        try withEcho { _, address in
            let loop = try HTTPClientLoop()
            let results = Results()
            loop.send("/", to: address, results)
            try loop.finish()
            for number in 1...HTTPClientLoop.maximumServers {
                loop.send("/", to: try HTTPAddress(url: "unix:/nonexistent/\(number)"), results)
            }
            try loop.finish()
            #expect(results.failures == Array(repeating: .refused, count: HTTPClientLoop.maximumServers))
            #expect(loop.openConnections == 0)
            loop.send("/", to: address, results)
            #expect(loop.openConnections == 1)
            try loop.finish()
        }
    }

    // MARK: Answers

    @Test(arguments: PollerKind.allCases)
    func `an answer arrives whole that was sent byte by byte`(_ poller: PollerKind) throws {
        let server = try ScriptedServer()
        let loop = try HTTPClientLoop(poller: poller)
        let results = Results()
        loop.send("/", to: server.address, results)
        let peer = try server.accept()
        #expect(
            try loop.request(at: peer) == "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nUser-Agent: switchboard\r\n\r\n")
        for character in "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n" {
            for byte in character.utf8 { peer.write(String(UnicodeScalar(byte))) }
            loop.turn(milliseconds: 0)
        }
        try loop.finish()
        #expect(results.bodies == ["ok"])
        loop.send("/again", to: server.address, results)
        #expect(try loop.request(at: peer).hasPrefix("GET /again "))
        peer.write("HTTP/1.1 200 OK\r\n\r\nto the")
        loop.turn(milliseconds: 0)
        peer.write(" end")
        peer.close()
        try loop.finish()
        #expect(results.bodies == ["ok", "to the end"])
        #expect(loop.connectionsMade == 1)
    }

    @Test(arguments: PollerKind.allCases)
    func `a connection goes on only where the answer lets it`(_ poller: PollerKind) throws {
        for (answer, isKept) in [
            (Self.ok, true), (Self.ok.replacing("OK\r\n", with: "OK\r\nConnection: close\r\n"), false),
            (Self.ok.replacing("1.1", with: "1.0"), false), (Self.ok + "?", false), ("HTTP/1.1 204 No Content\r\n\r\n", true),
        ] {
            let server = try ScriptedServer()
            let loop = try HTTPClientLoop(poller: poller)
            let results = Results()
            loop.send("/", to: server.address, results)
            let peer = try server.accept()
            _ = try loop.request(at: peer)
            peer.write(answer)
            try loop.finish()
            loop.send("/", to: server.address, results)
            #expect(loop.connectionsMade == (isKept ? 1 : 2), "\(answer)")
        }
    }

    @Test(arguments: PollerKind.allCases)
    func `an end that comes with the answer is seen with it`(_ poller: PollerKind) throws {
        let server = try ScriptedServer()
        let loop = try HTTPClientLoop(poller: poller)
        let results = Results()
        loop.send("/", to: server.address, results)
        let peer = try server.accept()
        _ = try loop.request(at: peer)
        peer.write(Self.ok)
        peer.close()
        try loop.finish()
        #expect(results.bodies == ["ok"] && loop.openConnections == 0)
    }

    @Test(arguments: [
        ("SSH-2.0-OpenSSH", HTTPClientFailure.notHTTP), ("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n", .tooLarge),
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", .closed), ("HTTP/1.1 200", .closed), ("", .closed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", .notHTTP),
    ])
    func `what is no answer is a failure`(_ text: String, _ failure: HTTPClientFailure) throws {
        let server = try ScriptedServer()
        let loop = try HTTPClientLoop(maximumAnswer: 1000)
        let results = Results()
        loop.send("/", to: server.address, results)
        let peer = try server.accept()
        _ = try loop.request(at: peer)
        peer.write(text)
        if failure == .closed { peer.close() }
        try loop.finish()
        #expect(results.failures == [failure])
    }

    // MARK: Failures

    @Test func `what cannot be connected to fails in the next turn`() throws {
        var server: ScriptedServer? = try ScriptedServer()
        let address = try #require(server?.address)
        server = nil
        let loop = try HTTPClientLoop()
        let results = Results()
        loop.send("/", to: address, results)
        loop.send("/", to: try HTTPAddress(url: "http://no.such.host.invalid"), results)
        loop.send("/", to: try HTTPAddress(url: "unix:/nonexistent/socket"), results)
        #expect(results.all.isEmpty && loop.pending == 3)
        try loop.finish()
        #expect(Set(results.failures) == [.refused, .unresolved] && results.all.count == 3)
    }

    @Test func `a callback that sends again where nothing listens does so once a turn`() throws {
        let loop = try HTTPClientLoop()
        let address = try HTTPAddress(url: "unix:/nonexistent/socket")
        var count = 0
        func again(_: HTTPClientLoop.Result) {
            count += 1
            loop.send(.init(target: "/"), to: address, then: again)
        }
        loop.send(.init(target: "/"), to: address, then: again)
        for turn in 1...50 {
            loop.turn(milliseconds: 1000)
            #expect(count == turn)
        }
    }

    @Test func `however many wait for what nobody takes, all fail in one turn`() throws {
        let server = try ScriptedServer()
        let loop = try HTTPClientLoop(maximumConnections: 1)
        let results = Results()
        loop.send("/", to: server.address, results)
        let peer = try server.accept()
        _ = try loop.request(at: peer)
        let nowhere = try HTTPAddress(url: "unix:/nonexistent/socket")
        let many = 20_000
        for _ in 0..<many { loop.send(.init(target: "/", connectMilliseconds: 60_000), to: nowhere, then: results.add) }
        peer.write(Self.ok.replacing("OK\r\n", with: "OK\r\nConnection: close\r\n"))
        try loop.turn { !results.all.isEmpty }
        #expect(results.failures.count == many && loop.pending == 0)
    }

    @Test func `limits run out by the clock, in whatever order they began`() throws {
        let time = SetClock()
        let server = try ScriptedServer()
        let loop = try HTTPClientLoop(clock: time.clock, maximumConnections: 2)
        let results = Results()
        var order: [String] = []
        func send(_ name: String, connect: Int64, response: Int64) {
            let request = HTTPClientLoop.Request(target: "/\(name)", connectMilliseconds: connect, responseMilliseconds: response)
            loop.send(request, to: server.address) { result in
                results.add(result)
                order.append(name)
            }
        }
        send("slow", connect: 1000, response: 10_000)
        send("fast", connect: 1000, response: 5000)
        let peers = [try server.accept(), try server.accept()]
        for peer in peers { _ = try loop.request(at: peer) }
        send("waits", connect: 2000, response: 5000)
        send("waits less", connect: 1000, response: 5000)
        for (step, expected) in [(999, 0), (1, 1), (999, 1), (1, 2), (2999, 2), (1, 3), (4999, 3), (1, 4)] as [(Int64, Int)] {
            time.advance(milliseconds: step)
            loop.turn(milliseconds: 0)
            #expect(order.count == expected)
        }
        #expect(order == ["waits less", "waits", "fast", "slow"])
        #expect(results.failures == [.connectTimeout, .connectTimeout, .responseTimeout, .responseTimeout])
        let micros = results.all.map { result -> Int64 in if case .failed(_, let micros) = result { micros } else { 0 } }
        #expect(micros == [1_000_000, 2_000_000, 5_000_000, 10_000_000])
    }

    #if os(Linux)
        @Test func `a server that takes no connection is not waited for longer than allowed`() throws {
            let time = SetClock()
            let server = try ScriptedServer(backlog: 0)
            let local = try #require(try SocketAddress.resolve(host: "127.0.0.1", port: server.port).first)
            // Who is in the backlog is connected; the next ones hear nothing.
            let crowd = (0..<4).compactMap { _ in Socket.startConnecting(to: local)?.descriptor }
            defer { for descriptor in crowd { Socket.close(descriptor) } }
            let loop = try HTTPClientLoop(clock: time.clock)
            let results = Results()
            loop.send("/", to: server.address, results)
            time.advance(milliseconds: 999)
            loop.turn(milliseconds: 0)
            #expect(results.all.isEmpty)
            time.advance(milliseconds: 1)
            loop.turn(milliseconds: 0)
            #expect(results.failures == [.connectTimeout])
        }
    #endif

    @Test func `a connection that shall break sends half of its request`() throws {
        let server = try ScriptedServer()
        let loop = try HTTPClientLoop()
        let results = Results()
        loop.send("/", to: server.address, results)
        let peer = try server.accept()
        let whole = try loop.request(at: peer)
        peer.write(Self.ok)
        try loop.finish()
        loop.send(.init(target: "/", cut: true), to: server.address, then: results.add)
        try loop.finish()
        #expect(results.failures == [.cut])
        var half = ""
        try loop.turn {
            guard let more = try peer.read() else { return true }
            half += more
            return false
        }
        #expect(half.utf8.elementsEqual(whole.utf8.prefix(whole.utf8.count / 2)))
    }

    @Test(arguments: ["GET", "POST"], PollerKind.allCases)
    func `a request that meets a kept connection's end is sent once more, and no third time`(_ method: String, _ poller: PollerKind) throws
    {
        let server = try ScriptedServer()
        let loop = try HTTPClientLoop(poller: poller)
        let results = Results()
        loop.send("/", to: server.address, results)
        let peer = try server.accept()
        _ = try loop.request(at: peer)
        peer.write(Self.ok)
        try loop.finish()
        // No turn between the end and the request: the loop cannot know.
        peer.close()
        loop.send(.init(method: method, target: "/again"), to: server.address, then: results.add)
        try loop.turn { loop.connectionsMade == 2 }
        let second = try server.accept()
        #expect(try loop.request(at: second).hasPrefix("\(method) /again "))
        second.close()
        try loop.finish()
        #expect(results.bodies == ["ok"] && results.failures == [.closed] && loop.connectionsMade == 2)
    }

    @Test func `a request whose answer has begun is not sent again`() throws {
        let server = try ScriptedServer()
        let loop = try HTTPClientLoop()
        let results = Results()
        loop.send("/", to: server.address, results)
        let peer = try server.accept()
        _ = try loop.request(at: peer)
        peer.write(Self.ok)
        try loop.finish()
        loop.send("/again", to: server.address, results)
        _ = try loop.request(at: peer)
        peer.write("HTTP/1.1 2")
        peer.close()
        try loop.finish()
        #expect(results.failures == [.closed] && loop.connectionsMade == 1)
    }

    @Test(arguments: ["", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"], PollerKind.allCases)
    func `a connection that ends or speaks while idle is not used again`(_ words: String, _ poller: PollerKind) throws {
        let server = try ScriptedServer()
        let loop = try HTTPClientLoop(poller: poller)
        let results = Results()
        loop.send("/", to: server.address, results)
        let peer = try server.accept()
        _ = try loop.request(at: peer)
        peer.write(Self.ok)
        try loop.finish()
        if words.isEmpty { peer.close() } else { peer.write(words) }
        try loop.turn { loop.openConnections == 0 }
        loop.send("/", to: server.address, results)
        let second = try server.accept()
        _ = try loop.request(at: second)
        second.write(Self.ok)
        try loop.finish()
        #expect(results.bodies == ["ok", "ok"])
    }

    // MARK: The loop

    @Test func `callbacks send more, and a turn in a turn does nothing`() throws {
        try withEcho { server, address in
            let loop = try HTTPClientLoop(maximumConnections: 4)
            var (sent, answered) = (0, 0)
            func next(_: HTTPClientLoop.Result) {
                answered += 1
                loop.turn(milliseconds: -1)
                sendOne()
            }
            func sendOne() {
                guard sent < 1000 else { return }
                sent += 1
                loop.send(.init(method: "POST", target: "/\(sent)", body: [0x5B, 0x5D]), to: address, then: next)
            }
            for _ in 0..<4 { sendOne() }
            try loop.finish()
            #expect(answered == 1000 && server.statistics.requests == 1000 && server.statistics.accepted == 4)
        }
    }

    @Test(arguments: PollerKind.allCases)
    func `another thread ends the wait`(_ poller: PollerKind) throws {
        let loop = try HTTPClientLoop(poller: poller)
        for _ in 0..<3 {
            let waker = loop.waker
            let began = Clock.system.monotonic()
            DispatchQueue(label: "waker").async { waker.wake() }
            loop.turn(milliseconds: 10_000)
            #expect(Clock.system.monotonic() - began < 9_000_000)
        }
    }

    @Test func `what has no result fails when all is closed, and the loop goes on`() throws {
        try withEcho { _, address in
            let loop = try HTTPClientLoop(maximumConnections: 2)
            let results = Results()
            for _ in 0..<5 { loop.send("/", to: address, results) }
            loop.close()
            #expect(results.failures == Array(repeating: .closed, count: 5))
            #expect(loop.pending == 0 && loop.openConnections == 0)
            loop.send("/", to: address, results)
            try loop.finish()
            #expect(results.answers.count == 1)
        }
    }

    #if os(Linux)
        private var descriptors: Int {
            var count = 0
            for number in 0..<Int32(clamping: sysconf(Int32(_SC_OPEN_MAX))) where number < 65_536 && fcntl(number, F_GETFD) >= 0 {
                count += 1
            }
            return count
        }

        /// Descriptors that are connected to this port; those of other tests are not.
        private func connected(to port: UInt16) -> Int {
            (0..<Int32(4096)).count { descriptor in
                var address = sockaddr_in()
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let result = withUnsafeMutablePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
                }
                return result == 0 && UInt16(bigEndian: address.sin_port) == port
            }
        }

        @Test func `a loop that goes leaves no descriptor behind`() throws {
            let server = try ScriptedServer()
            for round in 0..<3 {
                let loop = try HTTPClientLoop()
                let results = Results()
                for _ in 0..<20 { loop.send("/", to: server.address, results) }
                let peers = try (0..<20).map { _ in try server.accept() }
                for peer in peers.prefix(10) {
                    _ = try loop.request(at: peer)
                    peer.write(Self.ok)
                }
                try loop.turn { results.all.count == 10 }
                #expect(connected(to: server.port) == 20)
                if round == 1 { loop.closeIdle() }
                if round == 1 { #expect(connected(to: server.port) == 10) }
                if round == 2 { loop.close() }
                if round == 2 { #expect(connected(to: server.port) == 0) }
            }
            #expect(connected(to: server.port) == 0)
            // Its poller and its waker: other tests open fewer meanwhile than one for each of these.
            let before = descriptors
            for _ in 0..<3000 { _ = try HTTPClientLoop() }
            #expect(descriptors - before < 3000)
        }
    #endif
}
