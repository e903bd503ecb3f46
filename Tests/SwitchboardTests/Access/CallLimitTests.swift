// SPDX-License-Identifier: MIT
//
// How many calls may be made, by a clock that the test moves: what is counted, for whom, and what is heard past the limit.

import HTTPServer
import HTTPWire
import Synchronization
import Testing

@testable import Switchboard

struct CallLimitTests {
    /// Microseconds that a test moves on.
    private final class Time: Sendable {
        private let micros = Atomic<Int64>(5_000_000)
        func pass(seconds: Double) { micros.add(Int64(seconds * 1_000_000), ordering: .relaxed) }
        var clock: Clock { Clock(monotonic: { self.micros.load(ordering: .relaxed) }, wall: { 1_796_014_800_000 }) }
    }

    private let time = Time()
    private static let past = #"[{"action":"talk","text":"This call cannot be connected. "#

    private func bench(perUser: String? = nil, all: String? = nil, files: [String: String] = [:]) throws -> HandlerBench {
        try HandlerBench(files: files, clock: time.clock) { settings in
            settings.maxCallsPerUser = perUser.flatMap { RateLimit($0) }
            settings.maxCalls = all.flatMap { RateLimit($0) }
        }
    }

    private func ask(_ bench: HandlerBench, _ query: String, method: String = "GET") throws -> Response {
        try #require(try bench.reply("\(method) /voice/answer?\(query) HTTP/1.1\r\nHost: h\r\n\r\n").now)
    }

    private func isPast(_ response: Response) -> Bool { String(decoding: response.body, as: UTF8.self).hasPrefix(Self.past) }

    private func fields(_ response: Response) -> String { String(decoding: response.fields.bytes, as: UTF8.self) }

    @Test func `a user who is past the limit hears so until there is room again, and nobody else does`() throws {
        let bench = try bench(perUser: "2/min")
        for _ in 0..<2 { #expect(!isPast(try ask(bench, "to=447700900123&from_user=Bob"))) }
        let refused = try ask(bench, "to=447700900456&from_user=Bob")
        #expect(
            String(decoding: refused.body, as: UTF8.self)
                == Self.past + #"You have made too many calls in a short time. Please try again later. Goodbye."}]"#)
        #expect(
            fields(refused) == "X-Switchboard-Flow: answer#3 cannot-connect\r\n"
                + "X-Switchboard-Warning: the user has made as many calls as --max-calls-per-user allows\r\n")
        #expect(!isPast(try ask(bench, "to=447700900123&from_user=Carol")))
        time.pass(seconds: 29)
        #expect(isPast(try ask(bench, "to=447700900123&from_user=Bob")))
        time.pass(seconds: 1)
        #expect(!isPast(try ask(bench, "to=447700900123&from_user=Bob")))
        #expect(bench.application.counts.overUserLimit == 2 && bench.application.counts.overCallLimit == 0)
        #expect(bench.application.counts.cannotConnect == 2 && bench.application.counts.unfilledTemplates == 0)
        _ = bench.handler.flush(now: 0)
        let records = try bench.records()
        #expect(records.count == 6)
        #expect(records[2]["flow"] as? String == "answer#3 cannot-connect")
        #expect(records[2]["error"] as? String == "the user has made as many calls as --max-calls-per-user allows")
        #expect(records[1]["error"] == nil)
    }

    @Test func `who is known by a number alone has the limit of that number, however it is written`() throws {
        let bench = try bench(perUser: "1/min")
        #expect(!isPast(try ask(bench, "to=14155550100&from=447700900123")))
        #expect(isPast(try ask(bench, "to=14155550100&from=%2B44%207700%20900123")))
        #expect(!isPast(try ask(bench, "to=14155550100&from=447700900124")))
        // A user of that name is another, and so is whoever hides the number.
        #expect(!isPast(try ask(bench, "to=447700900999&from_user=447700900123")))
        #expect(!isPast(try ask(bench, "to=14155550100&from=anonymous")))
        #expect(isPast(try ask(bench, "to=14155550100&from=anonymous")))
        #expect(!isPast(try ask(bench, "to=447700900999")))
        #expect(isPast(try ask(bench, "to=447700900999")))
    }

    @Test func `the limit of all counts everybody's calls, and whoever is past their own takes none of it`() throws {
        let bench = try bench(perUser: "1/min", all: "3/s")
        #expect(!isPast(try ask(bench, "to=447700900123&from_user=Bob")))
        for _ in 0..<5 { #expect(isPast(try ask(bench, "to=447700900123&from_user=Bob"))) }
        for user in ["Carol", "Dave"] { #expect(!isPast(try ask(bench, "to=447700900123&from_user=\(user)"))) }
        let refused = try ask(bench, "to=447700900123&from_user=Eve")
        #expect(String(decoding: refused.body, as: UTF8.self).contains("Too many calls are being made at the moment."))
        #expect(fields(refused).contains("X-Switchboard-Warning: as many calls are made as --max-calls allows\r\n"))
        time.pass(seconds: 0.34)
        #expect(!isPast(try ask(bench, "to=447700900123&from_user=Frank")))
        #expect(bench.application.counts.overUserLimit == 5 && bench.application.counts.overCallLimit == 1)
    }

    @Test func `only an NCCO that connects is counted, and HEAD is not`() throws {
        let bench = try bench(perUser: "1/min", all: "1/min")
        for _ in 0..<3 {
            _ = try ask(bench, "to=112&from_user=Bob")
            _ = try ask(bench, "to=881612345678&from_user=Bob")
            _ = try ask(bench, "to=447700900123&from_user=Bob", method: "HEAD")
            _ = try bench.reply("GET /voice/fallback?from_user=Bob HTTP/1.1\r\nHost: h\r\n\r\n")
        }
        #expect(!isPast(try ask(bench, "to=447700900123&from_user=Bob")))
        #expect(bench.application.counts.deniedNumbers == 3)
        #expect(bench.application.counts.overUserLimit == 0)
    }

    @Test func `without settings there is no limit, and where anybody can become a user there is one`() throws {
        let bench = try bench()
        for _ in 0..<200 { #expect(!isPast(try ask(bench, "to=447700900123&from_user=Bob"))) }
        var settings = try Settings()
        #expect(settings.callsPerUser == nil)
        settings.opensApps = true
        #expect(settings.callsPerUser?.description == "10/min")
        #expect(try Settings(arguments: ["--open-apps", "--max-calls-per-user", "none"], environment: [:]).callsPerUser == nil)
        settings.maxCallsPerUser = RateLimit("1/d")
        #expect(settings.callsPerUser?.description == "1/d")
    }

    @Test func `an event that a flow answers counts, and a cannot-connect that dials is not served past the limit`() throws {
        let dial = #"[{"action":"connect","endpoint":[{"type":"phone","number":"14155550111"}]}]"#
        let bench = try bench(
            perUser: "1/min",
            files: [
                "flows.json": #"{"flows":{"answer":[{"ncco":"dial"}],"choice":[{"ncco":"dial"}]}}"#, "dial.json": dial,
                "cannot-connect.json": dial,
            ])
        let event = #"{"dtmf":{"digits":"1","timed_out":false},"speech":null,"from":"447700900123","to":"14155550100"}"#
        var answers: [String] = []
        for _ in 0..<2 {
            let (ticket, now) = try bench.reply(post("/voice/choice", event))
            #expect(now == nil)
            _ = bench.handler.flush(now: 0)
            answers.append(String(decoding: try bench.wait(for: ticket).body, as: UTF8.self))
        }
        #expect(answers[0] == dial)
        #expect(answers[1].hasPrefix(Self.past))
        #expect(isPast(try ask(bench, "from=447700900123")), "an answer and an event count together")
        _ = bench.handler.flush(now: 1000)
        #expect(try bench.records().compactMap { $0["error"] as? String }.count == 2)
    }

    @Test func `a notice is due once a second and says how often it was not`() {
        let notice = SpacedNotice()
        #expect(notice.turn(now: 10) == 0)
        for _ in 0..<7 { #expect(notice.turn(now: 999_999) == nil) }
        #expect(notice.turn(now: 1_000_010) == 7)
        #expect(notice.turn(now: 1_000_011) == nil)
        #expect(notice.turn(now: 9_000_000) == 1)
        #expect(notice.turn(now: 19_000_000) == 0)
    }

    @Test func `the admin sees what was refused`() throws {
        let bench = try bench(perUser: "1/min", all: "2/min")
        for query in [
            "to=881612345678&from_user=A", "to=447700900123&from_user=A", "to=447700900123&from_user=A", "to=447700900123&from_user=B",
        ] {
            _ = try ask(bench, query)
        }
        _ = try ask(bench, "to=447700900123&from_user=C")
        let metrics = try #require(
            try bench.reply("GET /metrics HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n").now)
        let text = String(decoding: metrics.body, as: UTF8.self)
        for line in ["calls_denied_number_total 1", "calls_over_user_limit_total 1", "calls_over_limit_total 1"] {
            #expect(text.contains("\nswitchboard_\(line)\n"), "\(line)")
        }
    }
}
