// SPDX-License-Identifier: MIT

import Foundation
import HTTPWire
import Testing

@testable import Switchboard

struct PageFileTests {
    private static let admin = "Authorization: Bearer 0123456789abcdef\r\n"

    private func get(_ bench: HandlerBench, _ target: String, _ fields: String = admin) throws -> Response {
        try bench.ask("GET \(target) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
    }

    private func field(_ name: String, of response: Response) -> String? {
        let lines = String(decoding: response.fields.bytes, as: UTF8.self).split(separator: "\r\n")
        return lines.first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
    }

    @Test func `each file of the folder lies in the binary as it is, all of them small`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..").standardized
        let folder = root.appendingPathComponent("Sources/Switchboard/Page/Files")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }
        #expect(Set(names) == Set(PageFiles.all.keys))
        for name in names {
            #expect(try Data(contentsOf: folder.appendingPathComponent(name)) == Data(PageFiles.all[name]?.text ?? []), "\(name)")
        }
        #expect(PageFiles.all.values.reduce(0) { $0 + $1.text.count } < 120_000)
    }

    @Test func `a file is sent compressed where that is taken, and not again while it is the same`() throws {
        let bench = try HandlerBench()
        let big = PageFile(name: "big.js", text: Array(String(repeating: "const a = 1;\n", count: 100).utf8))
        func answer(_ fields: String) throws -> Response {
            let bytes = Array("GET /page/big.js HTTP/1.1\r\nHost: h\r\n\(fields)\r\n".utf8)
            var head = RequestHead()
            #expect(try parseRequestHead(bytes.span, into: &head, limits: Limits()))
            return big.response(to: head, bytes.span)
        }
        let plain = try answer("")
        #expect(plain.status == .ok && plain.body == big.text && plain.contentType == .script)
        #expect(field("Cache-Control", of: plain) == "private, no-cache" && field("Vary", of: plain) == "Accept-Encoding")
        let packed = try answer("Accept-Encoding: br, GZIP;q=0.5\r\n")
        #expect(field("Content-Encoding", of: packed) == "gzip" && packed.body.starts(with: [0x1F, 0x8B]) && packed.body.count < 200)
        for fields in ["Accept-Encoding: gzip;q=0\r\n", "Accept-Encoding: br\r\n", "Accept-Encoding: identity, *;q=0\r\n"] {
            #expect(try field("Content-Encoding", of: answer(fields)) == nil, "\(fields)")
        }
        let (tag, other) = (try #require(field("ETag", of: plain)), try #require(field("ETag", of: packed)))
        #expect(tag != other && tag.hasPrefix("\"") && tag.hasSuffix("\""))
        for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
            let same = try answer("If-None-Match: \(known)\r\n")
            #expect(same.status == .notModified && same.body.isEmpty && field("ETag", of: same) == tag, "\(known)")
        }
        #expect(try answer("If-None-Match: \(other)\r\n").status == .ok, "the other form is another thing")
        #expect(try answer("Accept-Encoding: gzip\r\nIf-None-Match: \(other)\r\n").status == .notModified)
        #expect(try get(bench, "/page/none.js").status == .notFound)
        #expect(try get(bench, "/page/index.html").status == .notFound, "it is a template")
    }

    @Test func `strangers find the style of the log-in and nothing else`() throws {
        let bench = try HandlerBench()
        let nothing = try get(bench, "/nothing-like-it", "")
        for name in PageFiles.all.keys {
            let answer = try get(bench, "/page/\(name)", "")
            #expect(answer.status == (name == PageFiles.style ? .ok : .notFound), "\(name)")
            if answer.status != .ok { #expect(answer.body == nothing.body) }
        }
        #expect(try get(bench, "/page/style.css", "").contentType == .style)
        #expect(String(decoding: try get(bench, "/login", "").body, as: UTF8.self).contains("/page/style.css"))
    }
}
