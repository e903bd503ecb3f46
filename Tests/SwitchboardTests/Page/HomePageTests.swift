// SPDX-License-Identifier: MIT

import EventLog
import Foundation
import HTTPServer
import HTTPWire
import Testing

@testable import Switchboard

struct HomePageTests {
    private static let admin = "Authorization: Bearer 0123456789abcdef\r\n"

    private func call(_ from: String, _ to: String, name: String = "CON-1") throws -> Call {
        var book = CallBook()
        let request = #""from":\#(quoted(from)),"to":\#(quoted(to)),"conversation_uuid":\#(quoted(name))"#
        book.add(try #require(Arrival.answer(at: 0, call: name, request: request).record(1, at: Arrival.noon)))
        let call = book.call(name, now: nil)
        return try #require(call)
    }

    private func quoted(_ text: String) -> String { "\"\(text.replacing("\"", with: "\\\""))\"" }

    @Test func `no text of a call becomes markup`() throws {
        let rows = HomePage.rows([try call("<script>alert(1)</script>", #""><img src=x onerror=1>&"#, name: "CON/'<b>")], prefix: "/x")
        #expect(rows.hasPrefix("<tr><td>2026-01-01T12:00:00.000Z</td>"))
        #expect(rows.hasSuffix("<td><a href=\"/x/calls/CON%2F%27%3Cb%3E\">CON/&apos;&lt;b&gt;</a></td></tr>"))
        #expect(rows.contains("<td>&lt;script&gt;alert(1)&lt;/script&gt;</td><td>&quot;&gt;&lt;img src=x onerror=1&gt;&amp;</td>"))
        #expect(rows.count { $0 == "<" } == 16, "tr, six td and a, each opened and closed")
    }

    @Test func `numbers are masked, and a list without calls says so`() throws {
        let rows = HomePage.rows([try call("447700900123", "14155550100")], prefix: "")
        #expect(rows.contains("<td>*********123</td>") && !rows.contains("4477009"))
        #expect(HomePage.rows([], prefix: "").contains("There was no call yet."))
        #expect(HomePage.rows(nil, prefix: "").contains("cannot be read"))
    }

    @Test func `the page is filled in each of its places`() {
        let html = HomePage.html(prefix: "/pre", pageToken: "TOKEN", setUp: "<dl>SETUP</dl>", calls: "<tr>CALLS</tr>")
        #expect(html.contains("<!doctype html>"))
        for text in [
            "name=\"csrf\" content=\"TOKEN\"", "name=\"csrf\" value=\"TOKEN\"", "action=\"/pre/logout\"", "\"/pre/page/style.css\"",
            "<dl>SETUP</dl>", "<tr>CALLS</tr>", "id=\"plain\"",
        ] { #expect(html.contains(text), "\(text)") }
        #expect(!html.contains("{{") && !html.contains("}}"))
    }

    @Test func `who has no scripts sees the set-up and the newest calls`() throws {
        let bench = try HandlerBench()
        _ = try bench.reply(
            "GET /voice/answer?to=447700900123&from_user=%3Cb%3EEve&conversation_uuid=CON-7&uuid=1 HTTP/1.1\r\nHost: h\r\n\r\n")
        let (ticket, _) = try bench.reply(post("/voice/event", #"{"status":"started","conversation_uuid":"CON-7","uuid":"1"}"#))
        _ = bench.handler.flush(now: 0)
        _ = try bench.wait(for: ticket)
        let response = try bench.ask("GET / HTTP/1.1\r\nHost: h\r\n\(Self.admin)\r\n")
        let html = String(decoding: response.body, as: UTF8.self)
        #expect(response.status == .ok && response.contentType == .html)
        #expect(html.contains("<dt>Answer URL</dt><dd>https://calls.example.com/voice/answer</dd>"))
        #expect(html.contains("<td>&lt;b&gt;Eve</td><td>*********123</td>"))
    }

    // MARK: The set-up

    private func setUp(_ bench: HandlerBench, _ fields: String = "") throws -> [String: Any] {
        let response = try bench.ask("GET /setup HTTP/1.1\r\nHost: h\r\n\(fields)\(Self.admin)\r\n")
        return try #require(try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
    }

    @Test func `the set-up names what to paste and what is missing`() throws {
        let bench = try HandlerBench(adjust: {
            $0.numbers = []
            $0.opensApps = true
        })
        let setUp = try setUp(bench)
        #expect(setUp["answer_url"] as? String == "https://calls.example.com/voice/answer")
        #expect(setUp["event_url"] as? String == "https://calls.example.com/voice/event")
        #expect(setUp["is_public"] as? Bool == false && setUp["can_play"] as? Bool == false && setUp["opens_apps"] as? Bool == true)
        #expect((setUp["webhooks"] as? [String: Any])?["signed"] as? Bool == false)
        #expect((setUp["log"] as? [String: Any])?["state"] as? String == "ok")
        let missing = try #require(setUp["missing"] as? [[String: String]])
        for what in ["Vonage cannot reach", "number: none is set", "secret: none is set", "open apps:"] {
            #expect(missing.contains { $0["what"]?.hasPrefix(what) == true && $0["cure"] != "" }, "\(what)")
        }
    }

    @Test func `behind a proxy the URLs are those that it was asked for, and a setting comes before it`() throws {
        let fields = "X-Forwarded-Proto: https\r\nX-Forwarded-Host: name.example.com\r\n"
        let bench = try HandlerBench()
        #expect(try setUp(bench, fields)["answer_url"] as? String == "https://calls.example.com/voice/answer", "from a stranger")
        bench.peer = .local
        let setUp = try setUp(bench, fields)
        #expect(setUp["answer_url"] as? String == "https://name.example.com/voice/answer" && setUp["is_public"] as? Bool == true)
        let set = try HandlerBench(adjust: { $0.publicURL = "https://set.example.com/x" })
        set.peer = .local
        #expect(try self.setUp(set, fields)["event_url"] as? String == "https://set.example.com/x/voice/event")
    }
}
