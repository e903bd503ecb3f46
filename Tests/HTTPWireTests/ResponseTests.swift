// SPDX-License-Identifier: MIT
//
// Responses byte for byte, and what must never get into one.

import Foundation
import HTTPWire
import Testing

private func encoded(_ response: Response, _ context: ResponseContext = ResponseContext(keepAlive: true)) -> String {
    var output: [UInt8] = []
    encode(response, for: context, date: Array("DATE".utf8), into: &output)
    return String(decoding: output, as: UTF8.self)
}

private let start = "HTTP/1.1 200 OK\r\nDate: DATE\r\nX-Content-Type-Options: nosniff\r\n"

@Suite struct `A response` {
    private let answer = Response(.ok, body: Array("[]".utf8))

    @Test func `with a body`() {
        #expect(encoded(answer) == start + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n[]")
    }

    @Test(arguments: [
        (ContentType.json, "application/json"), (.metrics, "text/plain; version=0.0.4; charset=utf-8"),
        (.problem, "application/problem+json"),
    ]) func `names the type of its body`(_ type: ContentType, _ name: String) {
        let text = encoded(Response(.ok, contentType: type, body: [0x41]))
        #expect(text == start + "Content-Type: \(name)\r\nContent-Length: 1\r\n\r\nA")
    }

    @Test func `with an empty body has a length and no type`() { #expect(encoded(Response(.ok)) == start + "Content-Length: 0\r\n\r\n") }

    @Test func `to HEAD has the fields of GET and no body`() {
        #expect(encoded(answer) == encoded(answer, ResponseContext(isHead: true, keepAlive: true)) + "[]")
    }

    @Test func `without content has no framing, not even for a body`() {
        let expected = "HTTP/1.1 204 No Content\r\nDate: DATE\r\nX-Content-Type-Options: nosniff\r\n\r\n"
        #expect(encoded(Response(.noContent)) == expected)
        #expect(encoded(Response(.noContent, body: [1, 2])) == expected)
    }

    @Test func `to HTTP/1.0 says what becomes of the connection`() {
        let stays = ResponseContext(minorVersion: 0, keepAlive: true)
        #expect(encoded(Response(.ok), stays) == start + "Content-Length: 0\r\nConnection: keep-alive\r\n\r\n")
        let closes = ResponseContext(minorVersion: 0, keepAlive: false)
        #expect(encoded(Response(.ok), closes) == start + "Content-Length: 0\r\nConnection: close\r\n\r\n")
    }

    @Test(arguments: [0, 1]) func `says close when either side wants it`(minorVersion: Int) {
        var last = answer
        last.close = true
        for (response, keepAlive) in [(answer, false), (last, true), (last, false)] {
            let text = encoded(response, ResponseContext(minorVersion: minorVersion, keepAlive: keepAlive))
            #expect(text == start + "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]")
        }
    }

    @Test func `carries its fields in order`() {
        var fields = FieldBlock()
        fields.append("Allow", "GET, HEAD")
        fields.append("Retry-After", "1")
        fields.append("X-Empty", "")
        let text = encoded(Response(.methodNotAllowed, fields: fields))
        #expect(
            text == "HTTP/1.1 405 Method Not Allowed\r\nDate: DATE\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 0\r\n"
                + "Allow: GET, HEAD\r\nRetry-After: 1\r\nX-Empty: \r\n\r\n")
    }

    @Test(arguments: [0, 1, 9, 10, 11, 99, 100, 101, 999, 1000, 65_536, 262_144, 1_000_000]) func `counts its body`(count: Int) {
        let text = encoded(
            Response(.ok, contentType: .metrics, body: Array(repeating: 0x78, count: count)), ResponseContext(isHead: true, keepAlive: true)
        )
        #expect(text.contains("\r\nContent-Length: \(count)\r\n"))
    }

    @Test func `that is to break announces more than there is`() {
        var response = Response(.ok, body: Array("[1".utf8))
        (response.missingBytes, response.close) = (7, true)
        #expect(encoded(response).hasSuffix("Content-Length: 9\r\nConnection: close\r\n\r\n[1"))
    }

    @Test func `is appended to what is there`() {
        var output = Array("before".utf8)
        encodeContinue(into: &output)
        encode(answer, for: ResponseContext(keepAlive: true), date: Array("DATE".utf8), into: &output)
        #expect(output == Array(("beforeHTTP/1.1 100 Continue\r\n\r\n" + encoded(answer)).utf8))
    }

    @Test func `has every status with the reason of its RFC`() {
        let reasons: [UInt16: String] = [
            200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 301: "Moved Permanently", 303: "See Other", 304: "Not Modified",
            400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
            404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout", 409: "Conflict", 413: "Content Too Large",
            414: "URI Too Long", 415: "Unsupported Media Type", 417: "Expectation Failed", 421: "Misdirected Request",
            429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error", 501: "Not Implemented",
            502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
        ]
        for status in Status.allCases {
            #expect((200..<600).contains(status.rawValue))
            #expect(reasons[status.rawValue] == status.reason)
            let text = encoded(Response(status, body: [0x78]))
            #expect(text.hasPrefix("HTTP/1.1 \(status.rawValue) \(status.reason)\r\nDate: DATE\r\n"))
            #expect(text.components(separatedBy: "Content-Length").count == (status == .noContent || status == .notModified ? 1 : 2))
        }
        #expect(Set(reasons.keys) == Set(Status.allCases.map(\.rawValue)))
    }
}

@Suite struct `A field value` {
    @Test func `cannot end its line`() {
        var fields = FieldBlock()
        fields.append("Location", "/a\r\nSet-Cookie: x=y\r\n\r\n<html>\0")
        #expect(String(decoding: fields.bytes, as: UTF8.self) == "Location: /a  Set-Cookie: x=y    <html> \r\n")
    }

    @Test func `keeps every byte that it may have and blanks the others`() {
        let allowed = Set<UInt8>([0x09]).union(0x20...0x7E).union(0x80...0xFF)
        for byte in UInt8.min...UInt8.max {
            var fields = FieldBlock()
            fields.append("X", [0x61, byte, 0x62])
            #expect(fields.bytes == Array("X: a".utf8) + [allowed.contains(byte) ? byte : 0x20] + Array("b\r\n".utf8), "\(byte)")
        }
    }
}

@Suite struct `A problem document` {
    private struct Problem: Decodable {
        let type, title, detail: String
        let status: UInt16
    }

    @Test(arguments: WireError.Fault.allCases) func `says what was refused`(_ fault: WireError.Fault) throws {
        let error = WireError(fault, at: 7)
        let response = Response(refusing: error)
        #expect(response.status == error.status)
        #expect((400..<600).contains(response.status.rawValue))
        #expect(response.close)
        #expect(response.contentType == .problem)
        let problem = try JSONDecoder().decode(Problem.self, from: Data(response.body))
        #expect(problem.status == error.status.rawValue)
        #expect(problem.title == error.status.reason)
        #expect(problem.detail == error.detail)
        #expect(problem.detail.hasSuffix(".") && problem.detail.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
        #expect(problem.type == "about:blank")
        #expect(error.description == "\(fault.rawValue) at byte 7")
        let text = encoded(response)
        #expect(text.contains("\r\nConnection: close\r\n"))
        #expect(text.contains("Retry-After: 1\r\n") == (response.status == .serviceUnavailable))
    }

    @Test func `says each fault in words of its own`() {
        #expect(Set(WireError.Fault.allCases.map { WireError($0, at: 0).detail }).count == WireError.Fault.allCases.count)
    }

    @Test(arguments: ["", "plain", "\"quoted\"", "back\\slash", "\\\"", "é 😀", "ends with \\"]) func `is JSON whatever its detail`(
        _ detail: String
    ) throws {
        for status in Status.allCases {
            let response = Response.problem(status, detail)
            let problem = try JSONDecoder().decode(Problem.self, from: Data(response.body))
            #expect(problem.detail == detail)
            #expect(problem.status == status.rawValue)
            #expect(response.status == status && !response.close)
        }
    }
}
