// SPDX-License-Identifier: MIT
//
// Responses without an end: parts reach whoever reads, whoever does not read is dropped, and nobody hears of a stream that is over.

import HTTPServer
import HTTPWire
import Locking
import Testing

/// Streams whatever the test gives it; `/ping` is an ordinary answer.
private final class StreamingService: Service, Sendable {
    struct State {
        var mailbox: Mailbox?
        var open: [Ticket] = []
        var ended = 0
    }

    let state = Locked(State())

    func makeHandler(mailbox: Mailbox) -> any Handler {
        state.withLock { $0.mailbox = mailbox }
        return StreamingHandler(service: self)
    }

    func send(_ text: String) {
        let (mailbox, open) = state.withLock { ($0.mailbox, $0.open) }
        mailbox?.stream(Array(text.utf8), to: open)
    }

    func end() {
        let (mailbox, open) = state.withLock { ($0.mailbox, $0.open) }
        mailbox?.endStream(open)
    }

    var ended: Int { state.withLock { $0.ended } }
}

private final class StreamingHandler: Handler {
    private let service: StreamingService

    init(service: StreamingService) { self.service = service }

    func respond(to head: borrowing RequestHead, bytes: Span<UInt8>, body: Span<UInt8>, exchange: Exchange) throws -> Reply {
        guard bytes.equalsExactly("/stream", at: head.path) else { return .now(Response(.ok, body: Array("pong".utf8))) }
        service.state.withLock { $0.open.append(exchange.ticket) }
        return .stream(Response(.ok, contentType: .events))
    }

    func refusal(of head: borrowing RequestHead, bytes: Span<UInt8>, exchange: Exchange) -> Response? { nil }
    func refused(_ error: WireError) {}
    func failed(_ error: any Error, _ head: borrowing RequestHead, bytes: Span<UInt8>) -> Response { Response(.internalServerError) }
    func streamEnded(_ ticket: Ticket) {
        service.state.withLock { state in
            state.open.removeAll { $0 == ticket }
            state.ended += 1
        }
    }
    func flush(now: Int64) -> Int64? { nil }
}

struct StreamTests {
    /// Asks for other things until the condition holds: the server's own work is what time passes by.
    private func wait(_ server: TestServer, until holds: () -> Bool) throws {
        let client = try server.client()
        for _ in 0..<4000 {
            if holds() { return }
            _ = try client.ask(get("/ping"))
            _ = client.waitForInput(milliseconds: 5)
        }
        Issue.record("it never came to that")
    }

    @Test(arguments: Way.allCases)
    func `parts arrive as they are sent, and the end is an end`(_ way: Way) throws {
        let service = StreamingService()
        try withServer(way, serving: service) { server in
            let client = try server.client()
            try client.send(get("/stream"))
            let head = try client.readText(until: "\r\n\r\n")
            #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(head.contains("\r\nContent-Type: text/event-stream\r\n"))
            #expect(head.contains("\r\nTransfer-Encoding: chunked\r\n"))
            #expect(!head.contains("Content-Length"))
            service.send("data: one\n\n")
            #expect(try client.readText(until: "\n\n\r\n") == "b\r\ndata: one\n\n\r\n")
            service.send("data: two\n\n")
            #expect(try client.readText(until: "\n\n\r\n") == "b\r\ndata: two\n\n\r\n")
            service.end()
            #expect(try client.readText(until: "0\r\n\r\n") == "0\r\n\r\n")
            try client.readEnd()
            try wait(server) { service.ended == 1 }
        }
    }

    @Test(arguments: Way.allCases)
    func `HTTP 1.0 gets plain bytes up to the end`(_ way: Way) throws {
        let service = StreamingService()
        try withServer(way, serving: service) { server in
            let client = try server.client()
            try client.send(get("/stream", version: "1.0"))
            #expect(try !client.readText(until: "\r\n\r\n").contains("chunked"))
            service.send("data: one\n\n")
            #expect(try client.readText(until: "\n\n") == "data: one\n\n")
            service.end()
            try client.readEnd()
        }
    }

    @Test(arguments: Way.allCases)
    func `who goes away is forgotten, and others are served meanwhile`(_ way: Way) throws {
        let service = StreamingService()
        try withServer(way, serving: service) { server in
            let (one, other) = (try server.client(), try server.client())
            for client in [one, other] {
                try client.send(get("/stream"))
                _ = try client.readText(until: "\r\n\r\n")
            }
            one.close()
            try wait(server) { service.ended == 1 }
            service.send("data: still\n\n")
            #expect(try other.readText(until: "\n\n\r\n").hasSuffix("data: still\n\n\r\n"))
            // What a peer says while it listens is thrown away.
            try other.send(get("/ping"))
            service.send("data: on\n\n")
            #expect(try other.readText(until: "\n\n\r\n").hasSuffix("data: on\n\n\r\n"))
        }
    }

    @Test(arguments: Way.allCases)
    func `who does not read is dropped and nothing is kept for it`(_ way: Way) throws {
        let service = StreamingService()
        try withServer(way, serving: service) { server in
            let client = try server.client(receiveBuffer: 4096)
            try client.send(get("/stream"))
            _ = try client.readText(until: "\r\n\r\n")
            let part = String(repeating: "x", count: 64 * 1024)
            var sent = 0
            while service.ended == 0, sent < 1000 {
                service.send(part)
                sent += 1
                _ = try server.ask(get("/ping"))
            }
            #expect(service.ended == 1)
            // The socket's own buffers take some megabytes at most.
            #expect(sent < 500)
        }
    }

    @Test(arguments: Way.allCases)
    func `a stop ends streams`(_ way: Way) throws {
        let service = StreamingService()
        try withServer(way, serving: service) { server in
            let client = try server.client()
            try client.send(get("/stream"))
            _ = try client.readText(until: "\r\n\r\n")
            server.server.stop(grace: 5000)
            #expect(try client.readText(until: "0\r\n\r\n") == "0\r\n\r\n")
            try client.readEnd()
            #expect(service.ended == 1)
        }
    }
}
