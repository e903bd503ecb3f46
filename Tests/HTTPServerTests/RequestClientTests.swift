// SPDX-License-Identifier: MIT

import Testing

@testable import HTTPServer

struct RequestClientTests {
    @Test(arguments: [
        "http://localhost", "http://localhost:3000/x", "http://127.0.0.1:3000", "http://127.255.0.9", "http://[::1]:3000", "unix:/tmp/s",
    ])
    func `what reaches this machine alone is loopback`(_ url: String) throws { #expect(try HTTPRequestClient(url: url).isLoopback) }

    @Test(arguments: [
        "http://localhost.example.com", "http://127.0.0.1.example.com", "http://127.1", "http://0127.0.0.1", "http://127.0.0.256",
        "http://127.0.0.01", "http://128.0.0.1", "http://0.0.0.0", "http://[::]", "http://x.com/localhost",
        "http://[::ffff:127.0.0.1]",
        "http://2130706433", "http://127.0.0.+1",
    ])
    func `what may be elsewhere is not`(_ url: String) throws { #expect(try !HTTPRequestClient(url: url).isLoopback) }

    @Test(arguments: ["http://localhost@example.com", "http://localhost#x", "http://localhost?x", "http://h:+80", "http://::1"])
    func `a host that looks like another is refused`(_ url: String) {
        #expect(throws: HTTPRequestError.self) { try HTTPRequestClient(url: url) }
    }

    @Test func `an answer ends where its length says, else with the connection`() throws {
        func answer(_ text: String) -> HTTPAnswer? { HTTPAnswer(Array(text.utf8)) }
        let whole = try #require(answer("HTTP/1.1 201 Created\r\nContent-Length:  2\r\nX-A:\tb\u{1B}c\r\nx-a: d\r\n\r\n[]rest"))
        #expect(whole.status == 201 && whole.statusLine == "HTTP/1.1 201 Created")
        #expect(whole.body == Array("[]".utf8) && whole.field("x-a") == "bc" && whole.field("x-b") == nil)
        #expect(answer("HTTP/1.0 200 OK\r\n\r\nall of it")?.body == Array("all of it".utf8))
        for bad in [
            "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n[]", "HTTP/2 200\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n",
            "HTTP/1.1 099 X\r\n\r\n", "SSH-2.0-x\r\n\r\n",
        ] {
            #expect(answer(bad) == nil, "\(bad)")
        }
    }

    @Test func `who takes the connection and says nothing is waited for as long as allowed, whatever is sent`() throws {
        let address = try #require(try SocketAddress.resolve(host: "127.0.0.1", port: 0).first)
        let listener = try Socket.listen(on: address, backlog: 8, shared: false)
        defer { Socket.close(listener) }
        let client = try HTTPRequestClient(url: "http://127.0.0.1:\(Socket.port(of: listener))")
        // More than the sockets' buffers take.
        for body in [nil, Array(repeating: 0x20, count: 16 * 1024 * 1024)] as [[UInt8]?] {
            let began = Clock.system.monotonic()
            let error = #expect(throws: HTTPRequestError.self) {
                try client.send("POST", "/", body: body, milliseconds: 50, maximumAnswer: 1000)
            }
            #expect(error?.fault == .noAnswer && error?.description.hasSuffix("accepts, but does not answer") == true)
            #expect(Clock.system.monotonic() - began >= 45_000)
        }
    }
}
