// SPDX-License-Identifier: MIT

import HTTPServer
import HTTPWire
import Testing

struct ExpectTests {
    private func head(_ target: String, _ fields: String = "Content-Length: 21\r\n", method: String = "POST") -> String {
        "\(method) \(target) HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n\(fields)Expect: 100-Continue\r\n\r\n"
    }
    private let body = #"{"status":"answered"}"#

    @Test(arguments: Way.allCases)
    func `a client that asks is told to go on, once`(_ way: Way) throws {
        try withServer(way) { server in
            let client = try server.client()
            for target in ["/voice/event", "/voice/answer"] {
                #expect(try client.ask(head(target)).status == 100)
                for byte in body.utf8 { try client.send([byte]) }
                #expect(try client.read().status == 200)
            }
            #expect(try client.ask(head("/voice/event", "Transfer-Encoding: chunked\r\n")).status == 100)
            #expect(try client.ask("15\r\n\(body)\r\n0\r\n\r\n").status == 200)
            #expect(try client.ask(get("/health")).status == 200)
        }
    }

    @Test(arguments: Way.allCases)
    func `who has begun to send the body, or has none, or speaks HTTP 1.0 is told nothing`(_ way: Way) throws {
        try withServer(way) { server in
            let client = try server.client()
            try client.send(head("/voice/event") + body.prefix(3))
            try client.send(String(body.dropFirst(3)))
            #expect(try client.read().status == 200)
            #expect(try client.ask(get("/health", "Expect: 100-continue\r\n")).status == 200)
            #expect(try client.ask(head("/voice/answer", "Content-Length: 0\r\n")).status == 200)
            let old = try server.client()
            try old.send(head("/voice/event").replacing("HTTP/1.1", with: "HTTP/1.0"))
            #expect(!old.waitForInput(milliseconds: 50))
            try old.send(body)
            #expect(try old.read().status == 200)
        }
    }

    @Test(arguments: Way.allCases)
    func `a refusal comes before the body, and ends the connection`(_ way: Way) throws {
        try withServer(way) { server in
            let refusals = [
                (head("/nowhere"), 404), (head("/metrics"), 404), (head("/voice/event", method: "PUT"), 405), (head("/health"), 405),
                (head("/voice/event", "Content-Encoding: gzip\r\nContent-Length: 21\r\n"), 415),
                (head("/voice/event", "Content-Length: 999999\r\n"), 413),
                (head("/voice/event").replacing("100-Continue", with: "miracles"), 417),
                (head("/voice/event").replacing("100-Continue", with: "100-continue, miracles"), 417),
            ]
            for (request, status) in refusals {
                let client = try server.client()
                let answer = try client.ask(request)
                #expect(answer.status == status)
                #expect(answer["Connection"] == "close")
                // The body that was on its way is not taken for a request.
                try client.send(get("/health"))
                client.finish()
                try client.readEnd()
            }
        }
    }
}
