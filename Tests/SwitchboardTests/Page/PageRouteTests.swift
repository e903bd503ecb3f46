// SPDX-License-Identifier: MIT
//
// The routes of the page in the handler without a server: who may ask, and what is answered.

import Foundation
import HTTPWire
import Locking
import Testing

@testable import Switchboard

struct PageRouteTests {
    private static let token = "0123456789abcdef"
    private static let admin = "Authorization: Bearer \(token)\r\n"
    private static let routes = [
        ("GET", "/setup"), ("GET", "/stats"), ("GET", "/flows"), ("POST", "/explain"), ("POST", "/play"), ("POST", "/calls/CON-1/again"),
    ]

    /// Takes what it is told to play, and plays nothing.
    private final class Player: CallPlaying {
        let callees = ["answers", "busy"]
        let calls = Locked<[CallToPlay]>([])

        func play(_ call: CallToPlay) -> String? {
            calls.withLock { calls in
                calls.append(call)
                return calls.count > 2 ? nil : "CON-\(calls.count)"
            }
        }
    }

    private func object(_ response: Response) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
    }

    private func request(_ method: String, _ path: String, _ fields: String) -> String {
        method == "GET" ? "GET \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n" : post(path, "{}", fields)
    }

    @Test func `to strangers there is nothing`() throws {
        let bench = try HandlerBench()
        let nothing = try bench.ask("GET /nothing-like-it HTTP/1.1\r\nHost: h\r\n\r\n")
        for (method, path) in Self.routes {
            let response = try bench.ask(request(method, path, ""))
            #expect(response.status == .notFound && response.body == nothing.body, "\(path)")
            let status = try bench.ask(request(method, path, Self.admin)).status
            #expect(status != .notFound && status != .methodNotAllowed, "\(path)")
        }
    }

    @Test func `a browser changes something with its page token alone, and from this page alone`() throws {
        let bench = try HandlerBench()
        let form = "Content-Type: application/x-www-form-urlencoded\r\n"
        let login = try bench.ask(post("/login", "token=\(Self.token)", form))
        let fields = String(decoding: login.fields.bytes, as: UTF8.self)
        let start = try #require(fields.firstRange(of: "Set-Cookie: ")).upperBound
        let cookie = "Cookie: \(fields[start...].prefix { $0 != ";" })\r\n"
        let home = String(decoding: try bench.ask("GET / HTTP/1.1\r\nHost: h\r\n\(cookie)\r\n").body, as: UTF8.self)
        let mark = try #require(home.firstRange(of: "name=\"csrf\" content=\"")).upperBound
        let token = "X-CSRF-Token: \(home[mark...].prefix { $0 != "\"" })\r\n"
        for (method, path) in Self.routes where method == "POST" {
            #expect(try bench.ask(request(method, path, cookie)).status == .forbidden, "\(path)")
            #expect(try bench.ask(request(method, path, cookie + "X-CSRF-Token: \(Self.token)\r\n")).status == .forbidden, "\(path)")
            #expect(
                try bench.ask(request(method, path, cookie + token + "Origin: https://evil.example\r\n")).status == .forbidden, "\(path)")
            #expect(try bench.ask(request(method, path, cookie + token + "Origin: http://h\r\n")).status != .forbidden, "\(path)")
        }
        #expect(try bench.ask(request("GET", "/setup", cookie)).status == .ok)
        #expect(try bench.ask(request("GET", "/setup", cookie + "Sec-Fetch-Site: cross-site\r\n")).status == .forbidden)
    }

    @Test func `what a caller would hear is told for any time`() throws {
        let bench = try HandlerBench()
        let flow = "/voice/answer?to=447700900123&from_user=Alice&explain=1"
        #expect(try bench.ask(request("GET", "\(flow)&explain_at=2026-11-30T10:00Z", Self.admin)).status == .ok)
        let refused = try bench.ask(request("GET", "\(flow)&explain_at=soon", Self.admin))
        #expect(refused.status == .badRequest)
        #expect(try (object(refused)["detail"] as? String)?.contains("explain_at is no time") == true)
    }

    @Test func `an NCCO is explained, and told its errors`() throws {
        let bench = try HandlerBench()
        let good = try object(bench.ask(post("/explain", #"[{"action":"talk","text":"Hi there"}]"#, Self.admin)))
        #expect((good["explanation"] as? String)?.contains("The caller hears: \"Hi there\"") == true)
        #expect((good["findings"] as? [Any])?.isEmpty == true)
        for (text, code) in [("[{\n\"action\":\"tolk\"}]", "NCCO007"), ("<", "NCCO001"), ("", "NCCO001")] {
            let response = try bench.ask(post("/explain", text, Self.admin))
            let finding = try #require((try object(response)["findings"] as? [[String: Any]])?.first)
            #expect(response.status == .ok && finding["code"] as? String == code && finding["file"] == nil)
        }
        #expect(try bench.ask(post("/explain", "x", Self.admin + "Content-Encoding: gzip\r\n")).status == .unsupportedMediaType)
    }

    @Test func `a call is played as long as there is room, where somebody can`() throws {
        let bench = try HandlerBench()
        #expect(try bench.ask(post("/play", "{}", Self.admin)).status == .serviceUnavailable)
        let player = Player()
        bench.application.playCalls(by: player)
        let first = try bench.ask(post("/play", #"{"callee":"busy"}"#, Self.admin))
        #expect(first.status == .accepted)
        #expect(try object(first)["conversation_uuid"] as? String == "CON-1")
        #expect(player.calls.withLock { $0 }.first?.callee == "busy")
        #expect(try bench.ask(post("/play", #"{"callee":"sings"}"#, Self.admin)).status == .badRequest)
        #expect(try bench.ask(post("/play", "{}", Self.admin)).status == .accepted)
        #expect(try bench.ask(post("/play", "{}", Self.admin)).status == .tooManyRequests)
    }

    @Test func `a logged answer is put to the flows of now, or played again`() throws {
        let bench = try HandlerBench(files: [
            "flows.json": #"{"flows":{"answer":[{"ncco":"hello"}]}}"#, "hello.json": #"[{"action":"talk","text":"Hello {{to}}"}]"#,
        ])
        let player = Player()
        bench.application.playCalls(by: player)
        _ = try bench.reply(
            "GET /voice/answer?to=447700900123&from=14155550100&conversation_uuid=CON-9&uuid=1 HTTP/1.1\r\nHost: h\r\n\r\n")
        let (ticket, _) = try bench.reply(post("/voice/event", #"{"status":"started","conversation_uuid":"CON-9","uuid":"1"}"#))
        _ = bench.handler.flush(now: 0)
        _ = try bench.wait(for: ticket)
        func again(_ body: String, _ query: String = "") throws -> Response {
            try bench.ask(post("/calls/CON-9/again\(query)", body, Self.admin))
        }
        #expect(try object(again(#"{"seq":1}"#))["same"] as? Bool == true)
        try Data(#"[{"action":"talk","text":"Bye {{to}}"}]"#.utf8).write(to: URL(fileURLWithPath: "\(bench.events)/nccos/hello.json"))
        bench.application.flows.look(isForced: true)
        let other = try object(again(#"{"seq":1}"#, "?unmasked=1"))
        #expect(other["same"] as? Bool == false && other["rule"] as? String == "answer#1 hello")
        #expect((other["before"] as? [[String: String]])?.first?["text"] == "Hello 447700900123")
        #expect((other["after"] as? [[String: String]])?.first?["text"] == "Bye 447700900123")
        #expect(bench.application.counts.answers == 1, "what is only looked at is no answer")

        let played = try again(#"{"seq":1,"play":true}"#)
        #expect(played.status == .accepted)
        #expect(player.calls.withLock { $0 } == [CallToPlay(caller: .phone("14155550100"), to: "447700900123", callee: "answers")])
        #expect(try again(#"{"seq":2}"#).status == .conflict)
        #expect(try again(#"{"seq":99}"#).status == .notFound)
        for body in ["", "[]", "{}", #"{"seq":"1"}"#, #"{"seq":1,"x":1}"#] { #expect(try again(body).status == .badRequest, "\(body)") }
        #expect(try bench.ask(post("/calls/CON-0/again", #"{"seq":1}"#, Self.admin)).status == .notFound)
    }

    @Test func `statistics have the form that the page reads`() throws {
        let stats = try object(HandlerBench().ask("GET /stats HTTP/1.1\r\nHost: h\r\n\(Self.admin)\r\n"))
        let now = try #require(stats["now"] as? [String: Any])
        #expect(
            Set(now.keys) == [
                "answers_per_second", "events_per_second", "answer_p99_us", "answer_worst_us", "event_p99_us", "connections",
                "log_queued_bytes", "disk_free_bytes", "log_bytes",
            ])
        #expect((stats["limits"] as? [String: Int]) == ["answer_us": 5_000_000, "event_us": 10_000_000])
        #expect((stats["hour"] as? [Any])?.isEmpty == true)
    }
}
