// SPDX-License-Identifier: MIT
//
// The handler without a server.

import EventLog
import HTTPServer
import HTTPWire
import Testing

@testable import Switchboard

struct HandlerTests {
    @Test func `an answer is given at once and hides nothing of its rule`() throws {
        let bench = try HandlerBench()
        let response = try #require(try bench.reply("GET /voice/answer?to=447700900123&from_user=A HTTP/1.1\r\nHost: h\r\n\r\n").now)
        #expect(response.status == .ok)
        #expect(response.contentType == .json)
        #expect(String(decoding: response.fields.bytes, as: UTF8.self) == "X-Switchboard-Flow: answer#3 connect-phone\r\n")
        #expect(bench.application.counts.answers == 1)
        _ = try bench.reply("HEAD /voice/answer?to=447700900123&from_user=A HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(bench.application.counts.answers == 1)
        _ = try bench.reply("GET /voice/answer HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(bench.application.counts.cannotConnect == 1)
        _ = try bench.reply(post("/voice/answer", "{"))
        #expect(bench.application.counts.unreadableAnswers == 1)
    }

    @Test func `events of one round are answered once they are handed over and durable`() throws {
        let bench = try HandlerBench()
        let tickets = try (0..<5).map { number in
            let (ticket, now) = try bench.reply(post("/voice/event", "{\"n\":\(number)}"))
            #expect(now == nil)
            return ticket
        }
        let (twice, _) = try bench.reply(post("/voice/event", #"{"a":1,"a":2}"#))
        let form = "Content-Type: application/x-www-form-urlencoded\r\n"
        let (twiceInForm, _) = try bench.reply(post("/voice/event", "a=1&b=2&a=2", form))
        #expect(bench.handler.flush(now: 0) == nil)
        for ticket in tickets {
            let response = try bench.wait(for: ticket)
            #expect(response.status == .ok)
            #expect(response.body.isEmpty && response.fields.bytes.isEmpty)
        }
        for ticket in [twice, twiceInForm] {
            #expect(
                String(decoding: try bench.wait(for: ticket).fields.bytes, as: UTF8.self)
                    == "X-Switchboard-Warning: an object has a key twice\r\n")
        }
        #expect(bench.application.counts.events == 7)
    }

    @Test func `events of one round that are more than the log's queue holds are handed over in parts`() throws {
        let bench = try HandlerBench()
        let body = "{\"pad\":\"" + String(repeating: "x", count: 255 * 1024) + "\"}"
        let tickets = try (0..<72).map { _ in try bench.reply(post("/voice/event", body)).ticket }
        #expect(bench.handler.flush(now: 0) == nil)
        let statuses = try tickets.map { try bench.wait(for: $0).status }
        // The queue may be full for a slow disk, but never because they came together.
        #expect(statuses.prefix(32).allSatisfy { $0 == .ok })
        #expect(bench.application.counts.events > 32)
    }

    @Test(arguments: ["/voice/answer", "/voice/fallback/"])
    func `who calls hears of a fault`(_ route: String) throws {
        let response = try HandlerBench().failure("GET \(route)?to=1 HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(response.status == .ok && response.contentType == .json)
        #expect(String(decoding: response.body, as: UTF8.self).hasPrefix(#"[{"action":"talk","text":"Sorry, "#))
        #expect(String(decoding: response.fields.bytes, as: UTF8.self).contains("X-Switchboard-Warning: the server has a fault\r\n"))
    }

    @Test func `the record of an answer waits for others, but not for long`() throws {
        let bench = try HandlerBench()
        let request = "GET /voice/answer?to=447700900123&from_user=A HTTP/1.1\r\nHost: h\r\n\r\n"
        #expect(bench.handler.flush(now: 1000) == nil)
        _ = try bench.reply(request)
        #expect(bench.handler.flush(now: 1000) == nil, "the first one goes at once")
        _ = try bench.reply(request)
        let again = try #require(bench.handler.flush(now: 1000))
        #expect((1001...1010).contains(again))
        #expect(bench.handler.flush(now: again - 1) == again)
        #expect(bench.handler.flush(now: again) == nil)
        // An event takes with it what waits.
        _ = try bench.reply(request)
        let (ticket, _) = try bench.reply(post("/voice/event", "{}"))
        #expect(bench.handler.flush(now: again) == nil)
        #expect(try bench.wait(for: ticket).status == .ok)
        #expect(bench.application.log.status.counters.records >= 4)
    }

    @Test(
        arguments: [
            ("/voice/event", "", nil), ("/voice/answer", "Content-Encoding: gzip\r\n", nil),
            ("/voice/event", "Content-Encoding: gzip\r\n", .unsupportedMediaType),
            ("/voice/event", "Content-Encoding: identity\r\n", nil), ("/voice/event", "Content-Encoding:\r\n", nil),
            ("/health", "", .methodNotAllowed),
            ("/metrics", "", .notFound), ("/metrics", "Authorization: Bearer 0123456789abcdef\r\n", .methodNotAllowed),
            ("/x", "", .notFound), ("/%zz", "", .badRequest),
        ] as [(String, String, Status?)])
    func `what is known before the body is refused before it`(_ target: String, _ fields: String, _ status: Status?) throws {
        #expect(try HandlerBench().refusal(post(target, "{}", fields)) == status)
    }

    @Test func `the admin sees metrics, and health with reasons`() throws {
        let bench = try HandlerBench()
        let admin = "Host: h\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n"
        #expect(try bench.reply("GET /metrics HTTP/1.1\r\n\(admin)").now?.contentType == .metrics)
        #expect(try bench.reply("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n").now?.status == .notFound)
        #expect(
            try bench.reply("GET /health HTTP/1.1\r\n\(admin)").now.map { String(decoding: $0.body, as: UTF8.self) }
                == "{\"status\":\"ok\",\"reasons\":[]}\n")
        #expect(try bench.failure("GET /voice/event HTTP/1.1\r\nHost: h\r\n\r\n").status == .internalServerError)
        let metrics = try #require(try bench.reply("GET /metrics HTTP/1.1\r\n\(admin)").now)
        #expect(String(decoding: metrics.body, as: UTF8.self).contains("\nswitchboard_handler_faults_total 1\n"))
    }
}
