// SPDX-License-Identifier: MIT
//
// What a parsed head offers besides what the vectors name, and that nothing of an earlier request stays in it.

import HTTPWire
import Testing

@Suite struct `A request head` {
    private var head = RequestHead()

    private mutating func parse(_ text: String) throws -> (Range<Int>?) -> String? {
        let bytes = Array(text.utf8)
        #expect(try parseRequestHead(bytes.span, into: &head, limits: Limits()))
        return { $0.map { String(decoding: bytes[$0], as: UTF8.self) } }
    }

    @Test mutating func `knows the fields that decide what is done with a body`() throws {
        let text = try parse(
            "POST / HTTP/1.1\r\nHost: a\r\nAUTHORIZATION: Bearer x\r\ncontent-TYPE: application/json\r\nContent-Encoding:\tgzip\r\n\r\n")
        #expect(text(head.authorization) == "Bearer x")
        #expect(text(head.contentType) == "application/json")
        #expect(head.isEncoded)
        for (value, isEncoded) in [
            ("identity", false), ("", false), ("IDENTITY, identity", false), ("identity\r\ncontent-encoding: br", true),
        ] {
            _ = try parse("POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: \(value)\r\n\r\n")
            #expect(head.isEncoded == isEncoded, "\(value)")
        }
    }

    @Test mutating func `finds Authorization and does not look at names that resemble it`() throws {
        let text = try parse(
            "POST / HTTP/1.1\r\nHost: a\r\nauthorizatiom: 0\r\nAuthorization: 1\r\nContent_Type: x\r\n\r\n")
        #expect(text(head.authorization) == "1")
        #expect(head.contentType == nil)
    }

    @Test mutating func `finds the first field of a name in any case`() throws {
        let input = "GET / HTTP/1.1\r\nHost: a\r\nX-Sig: 1\r\nx-sig: 2\r\nX-Sig-2: 3\r\nY:\r\n\r\n"
        let text = try parse(input)
        let bytes = Array(input.utf8)
        #expect(text(head.value(of: "x-sig", in: bytes.span)) == "1")
        #expect(text(head.value(of: "x-sig-2", in: bytes.span)) == "3")
        #expect(text(head.value(of: "y", in: bytes.span)) == "")
        #expect(head.value(of: "x-si", in: bytes.span) == nil)
        #expect(bytes.span.text(head.target) == "/")
    }

    @Test mutating func `keeps nothing of an earlier request`() throws {
        _ = try parse(
            "POST http://b/x?y HTTP/1.0\r\nHost: a\r\nConnection: close\r\nContent-Type: t\r\nContent-Encoding: e\r\nAuthorization: z\r\n"
                + "Content-Length: 5\r\n\r\n")
        _ = try parse("POST / HTTP/1.1\r\nHost: a\r\nExpect: x, 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(head.hasUnknownExpectation && head.expectsContinue && head.framing == .chunked && head.keepAlive)
        let text = try parse("GET / HTTP/1.1\r\nHost: c\r\n\r\n")
        #expect(head.method == .get && head.minorVersion == 1 && head.form == .origin && head.framing == .none && head.keepAlive)
        #expect(head.query == nil && head.contentType == nil && !head.isEncoded && head.authorization == nil)
        #expect(!head.expectsContinue && !head.hasUnknownExpectation)
        #expect(head.fields.count == 1 && text(head.authority) == "c" && text(head.path) == "/" && head.end == 27)
        _ = try parse("GET / HTTP/1.0\r\n\r\n")
        #expect(head.authority.isEmpty && head.fields.isEmpty && !head.keepAlive && head.minorVersion == 0)
    }

    @Test func `has a method for each name and for no other`() {
        let names = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]
        #expect(Method.allCases.map(\.name.description) == names)
        for name in names {
            for other in [name.lowercased(), name + "S", String(name.dropLast()), "X" + name] where !other.isEmpty {
                let outcome = converse([Array("\(other) / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)])
                #expect(outcome.ending == .refused(WireError(.unknownMethod, at: 0)), "\(other)")
            }
        }
    }
}
