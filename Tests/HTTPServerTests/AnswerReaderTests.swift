// SPDX-License-Identifier: MIT

import Testing

@testable import HTTPServer

struct AnswerReaderTests {
    /// What came of the bytes: `status body`, `!` where the connection cannot go on, or the name of the failure.
    private func read(_ text: String, step: Int = .max, maximum: Int = 1000, ends: Bool = false) -> [String] {
        var reader = AnswerReader(maximum: maximum)
        let bytes = Array(text.utf8)
        var outcomes: [String] = []
        var at = 0
        while at < bytes.count {
            let end = min(at + min(step, bytes.count), bytes.count)
            let piece = Array(bytes[at..<end])
            at = end
            switch reader.take(piece.span) {
            case .more: break
            case .whole(let answer, let keeps):
                outcomes.append("\(answer.status) \(String(decoding: answer.body, as: UTF8.self))\(keeps ? "" : "!")")
            case .notHTTP: return outcomes + ["notHTTP"]
            case .tooLarge: return outcomes + ["tooLarge"]
            }
        }
        if ends {
            outcomes.append(reader.end().map { "\($0.status) \(String(decoding: $0.body, as: UTF8.self)) at end" } ?? "cut")
        } else if reader.hasBegun {
            outcomes.append("more")
        }
        return outcomes
    }

    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\n[]\r\n1;a=b\r\n \r\n0\r\nX-T: 1\r\n\r\n"

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\ncontent-length:2\r\n\r\n[]", ["200 []"]),
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", ["404 "]),
        ("HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", ["204 "]),
        ("HTTP/1.1 304 Not Modified\r\n\r\n", ["304 "]),
        ("HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 1\r\n\r\nx", ["301 x"]),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", ["200 x"]),
        ("HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 1\r\n\r\nx", ["200 x!"]),
        ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", ["200 x!"]),
        ("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", ["200 x"]),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", ["200 x"]),
        (chunked, ["200 [] "]),
        (chunked.replacing("OK\r\n", with: "OK\r\nContent-Length: 3\r\n"), ["200 [] !"]),
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n[]", ["more"]),
    ])
    func `an answer is the same in one piece and split at each byte`(_ text: String, _ outcomes: [String]) {
        #expect(read(text) == outcomes)
        #expect(read(text, step: 1) == outcomes)
        #expect(read(text, step: 7) == outcomes)
    }

    @Test func `one answer after the other is read, and what comes with the end of one ends the connection`() {
        let one = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
        #expect(read(one + one + Self.chunked, step: 1) == ["200 x", "200 x", "200 [] "])
        #expect(read(one + "H") == ["200 x!"])
        #expect(read(Self.chunked + "H") == ["200 [] !"])
        #expect(read("HTTP/1.1 204 No Content\r\n\r\nx") == ["204 !"])
    }

    @Test(arguments: [
        "SSH-2.0-x\r\n", "h", "HTTP/2 200\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 099 X\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.x 200 OK\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1234567890123456\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
    ])
    func `what is no answer is known as soon as it is no more`(_ text: String) {
        #expect(read(text) == ["notHTTP"])
        #expect(read(text, step: 1) == ["notHTTP"])
    }

    @Test func `a body without a length ends with the connection`() {
        #expect(read("HTTP/1.1 200 OK\r\n\r\nall of it", step: 1, ends: true) == ["200 all of it at end"])
        #expect(read("HTTP/1.1 200 OK\r\n\r\n", ends: true) == ["200  at end"])
        #expect(read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n[]", ends: true) == ["cut"])
        #expect(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n", ends: true) == ["cut"])
        #expect(read("HTTP/1.1 200 OK\r\n", ends: true) == ["cut"])
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nA: \(String(repeating: "x", count: 1000))\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 961\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n\(String(repeating: "x", count: 982))",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3E8\r\n\(String(repeating: "x", count: 1000))\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3E9\r\n", String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 41),
    ])
    func `an answer of more than is allowed is refused`(_ text: String) {
        #expect(read(text) == ["tooLarge"])
        #expect(read(text, step: 1) == ["tooLarge"])
    }

    @Test func `an answer of just what is allowed is taken`() {
        let body = String(repeating: "x", count: 960)
        #expect(read("HTTP/1.1 200 OK\r\nContent-Length: 960\r\n\r\n\(body)", step: 100) == ["200 \(body)"])
    }
}
