// SPDX-License-Identifier: MIT
//
// Handlers that do what a handler should not.

import Dispatch
import Foundation
import HTTPServer
import HTTPWire
import Synchronization
import Testing

struct ThrowingService: Service {
    struct Fault: Error {}

    /// Throws at every request but those of `/well`.
    private final class Throwing: Handler {
        func respond(to head: borrowing RequestHead, bytes: Span<UInt8>, body: Span<UInt8>, exchange: Exchange) throws -> Reply {
            guard bytes.equalsExactly("/well", at: head.path) else { throw Fault() }
            return .now(Response(.ok))
        }
        func refusal(of head: borrowing RequestHead, bytes: Span<UInt8>, exchange: Exchange) -> Response? { nil }
        func refused(_ error: WireError) {}
        func failed(_ error: any Error, _ head: borrowing RequestHead, bytes: Span<UInt8>) -> Response {
            .problem(.internalServerError, "a fault")
        }
        func flush(now: Int64) -> Int64? { nil }
    }

    func makeHandler(mailbox: Mailbox) -> any Handler { Throwing() }
}

/// Promises answers and never gives them, or twice.
private struct ForgetfulService: Service {
    private final class Forgetful: Handler {
        let mailbox: Mailbox
        init(_ mailbox: Mailbox) { self.mailbox = mailbox }

        func respond(to head: borrowing RequestHead, bytes: Span<UInt8>, body: Span<UInt8>, exchange: Exchange) throws -> Reply {
            if bytes.equalsExactly("/twice", at: head.path) {
                mailbox.complete([exchange.ticket, exchange.ticket], with: Response(.ok))
                mailbox.complete([exchange.ticket], with: Response(.ok))
            }
            return .later
        }
        func refusal(of head: borrowing RequestHead, bytes: Span<UInt8>, exchange: Exchange) -> Response? { nil }
        func refused(_ error: WireError) {}
        func failed(_ error: any Error, _ head: borrowing RequestHead, bytes: Span<UInt8>) -> Response {
            .problem(.internalServerError, "a fault")
        }
        func flush(now: Int64) -> Int64? { nil }
    }

    func makeHandler(mailbox: Mailbox) -> any Handler { Forgetful(mailbox) }
}

struct FaultTests {
    @Test func `a server that stops leaves the socket file to the one that follows it`() throws {
        try withFolder { folder in
            let path = "\(folder)/s"
            var configuration = ServerConfiguration()
            configuration.host = "unix:\(path)"
            let first = try Server(configuration, service: ThrowingService())
            let client = try Client(path: path)
            try client.send("GET /well HTTP/1.1\r\nHo")
            #expect(!client.waitForInput(milliseconds: 50))
            let ended = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                first.stop(grace: 60_000)
                ended.signal()
            }
            // The half request keeps the first one, but not its path.
            for _ in 0..<4000 where FileManager.default.fileExists(atPath: path) { _ = client.waitForInput(milliseconds: 5) }
            let second = try Server(configuration, service: ThrowingService())
            defer { second.stop(grace: 0) }
            try client.send("st: a\r\n\r\n")
            #expect(try client.read().status == 200)
            #expect(ended.wait(timeout: .now() + 60) == .success)
            #expect(try Client(path: path).ask(get("/well")).status == 200)
        }
    }

    @Test(arguments: Way.allCases)
    func `a handler that throws is a 500, and the server lives`(_ way: Way) throws {
        try withServer(way, serving: ThrowingService()) { server in
            let client = try server.client()
            for _ in 0..<3 {
                let answer = try client.ask(post("/ill", "x"))
                #expect(answer.status == 500)
                #expect(answer["Content-Type"] == "application/problem+json")
                let problem = try #require(try answer.json() as? [String: Any])
                #expect(problem["title"] as? String == "Internal Server Error")
                #expect(!answer.text.contains("Fault()"))
                #expect(try client.ask(get("/well")).status == 200)
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `an answer that never comes is a 503 at the limit`(_ way: Way) throws {
        var limits = Limits()
        limits.replyTime = 150
        try withServer(way, serving: ForgetfulService(), limits: limits) { server in
            let client = try server.client()
            try client.send(get("/never") + get("/twice"))
            let answer = try client.read()
            #expect(answer.status == 503)
            #expect(answer["Retry-After"] == "1")
            client.finish()
            try client.readEnd()
        }
    }

    @Test(arguments: Way.allCases)
    func `an answer that comes twice is sent once`(_ way: Way) throws {
        try withServer(way, serving: ForgetfulService()) { server in
            let client = try server.client()
            try client.send(String(repeating: get("/twice"), count: 20))
            client.finish()
            for _ in 0..<20 { #expect(try client.read().status == 200) }
            try client.readEnd()
        }
    }
}
