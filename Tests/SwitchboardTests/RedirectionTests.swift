// SPDX-License-Identifier: MIT

import HTTPWire
import Testing

@testable import HTTPServer
@testable import Switchboard

struct RedirectionTests {
    private func answer(_ request: String, port: UInt16 = 443, publicURL: String? = nil) throws -> Response {
        var settings = try Settings()
        settings.publicURL = publicURL
        let handler = Redirection(settings, port: port).makeHandler(mailbox: try Mailbox())
        let bytes = Array(request.utf8)
        var head = RequestHead()
        #expect(try parseRequestHead(bytes.span, into: &head, limits: Limits()))
        let exchange = Exchange(ticket: Ticket(slot: 0, serial: 1), began: 0, wall: 0)
        let body = bytes.span.extracting(head.end..<bytes.count)
        guard case .now(let response) = try handler.respond(to: head, bytes: bytes.span, body: body, exchange: exchange) else {
            throw WireError(.replyTimeout, at: 0)
        }
        return response
    }

    private func location(_ response: Response) -> String? {
        #expect(response.status == .movedPermanently)
        let lines = String(decoding: response.fields.bytes, as: UTF8.self).split(separator: "\r\n")
        return lines.first { $0.hasPrefix("Location: ") }.map { String($0.dropFirst(10)) }
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: calls.example.com\r\n\r\n", 443, "https://calls.example.com/"),
        ("GET /calls?x=%20&y HTTP/1.1\r\nHost: Calls.Example.com:80\r\n\r\n", 443, "https://calls.example.com/calls?x=%20&y"),
        ("HEAD /a HTTP/1.1\r\nHost: h:3080\r\n\r\n", 3443, "https://h:3443/a"),
        ("GET /a HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 3443, "https://[::1]:3443/a"),
        ("GET /a? HTTP/1.1\r\nHost: [::1]\r\n\r\n", 443, "https://[::1]/a?"),
        ("GET http://other.example/b?c HTTP/1.1\r\nHost: h\r\n\r\n", 443, "https://other.example/b?c"),
        ("GET http://other.example HTTP/1.1\r\nHost: h\r\n\r\n", 443, "https://other.example/"),
        ("GET /voicemail HTTP/1.1\r\nHost: h\r\n\r\n", 443, "https://h/voicemail"),
        ("GET //evil.example HTTP/1.1\r\nHost: h\r\n\r\n", 443, "https://h//evil.example"),
    ])
    func `a browser is sent on, by the name that it asked for`(_ request: String, _ port: UInt16, _ url: String) throws {
        #expect(location(try answer(request, port: port)) == url)
    }

    @Test func `the public URL wins where it has TLS`() throws {
        let request = "GET /a?b HTTP/1.1\r\nHost: h\r\n\r\n"
        #expect(
            location(try answer(request, port: 3443, publicURL: "https://calls.example.com/base")) == "https://calls.example.com/base/a?b")
        #expect(location(try answer(request, port: 3443, publicURL: "http://calls.example.com")) == "https://h:3443/a?b")
    }

    @Test(arguments: [
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx", "DELETE /users/Bob HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /voice/answer?to=1 HTTP/1.1\r\nHost: h\r\n\r\n", "POST /voice/event HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}",
        "GET /%76oice/answer HTTP/1.1\r\nHost: h\r\n\r\n", "GET /voice HTTP/1.1\r\nHost: h\r\n\r\n",
        "HEAD /voice/answer HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
        // Names that can stand in no URL of ours.
        "GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: a_b\r\n\r\n", "GET / HTTP/1.1\r\nHost: 1.2.3\r\n\r\n",
    ])
    func `a webhook, and what cannot be sent on, is told where to go`(_ request: String) throws {
        let response = try answer(request, port: 3443)
        #expect(response.status == .misdirectedRequest)
        #expect(String(decoding: response.body, as: UTF8.self).contains("use the same URL with https:// and port 3443."))
        let named = try answer("POST / HTTP/1.1\r\nHost: h\r\n\r\n", port: 3443, publicURL: "https://calls.example.com:8443")
        #expect(String(decoding: named.body, as: UTF8.self).contains("use a URL that begins with https://calls.example.com:8443."))
    }
}
