// SPDX-License-Identifier: MIT
//
// Events that are answered by flows, requests to flows that are no events, and what is kept of each.

import Dispatch
import Foundation
import HTTPWire
import Locking
import Testing

@testable import EventLog
@testable import HTTPServer
@testable import Switchboard

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite(.timeLimit(.minutes(1))) struct FlowEventTests {
    private static func talk(_ text: String) -> String { "[{\"action\":\"talk\",\"text\":\"\(text)\"}]" }

    /// A flow for choices, one that always holds, and one for the events that come to `/voice/event`.
    private static let files = [
        "flows.json": """
        {
          "flows": {
            "choice": [
              { "when": { "dtmf.digits": "1" }, "ncco": "one" },
              { "when": { "again": "1" }, "ncco": "again" },
              { "when": { "speech.results.0.text": "sales" }, "ncco": "one" }
            ],
            "always": [{ "ncco": "said" }],
            "night": [{ "when": { "now": { "between": ["00:00", "06:00"], "zone": "UTC" } }, "ncco": "one" }, { "ncco": "again" }],
            "fault": [{ "ncco": "fault" }],
            "event": [
              { "when": { "status": ["busy", "answered", "human"] }, "ncco": "one" },
              { "when": { "dtmf.digits": "2" }, "ncco": "again" }
            ]
          }
        }
        """,
        "one.json": talk("One."), "again.json": talk("Again."), "said.json": talk("You are {{dtmf.digits|nobody}}."),
        "fault.json": #"[{"action":"conversation","name":"{{custom_data.room}}"}]"#,
    ]
    private static let form = "Content-Type: application/x-www-form-urlencoded\r\n"
    private static let input =
        #"{"uuid":"u","conversation_uuid":"c","from":"447700900999","to":"14155550100","dtmf":{"digits":"1","timed_out":false}}"#

    private func get(_ target: String) -> String { "GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n" }

    private func fields(_ response: Response) -> String { String(decoding: response.fields.bytes, as: UTF8.self) }

    // MARK: Which are events, and what they are answered with

    struct Vector: Sendable, CustomTestStringConvertible {
        let request: String
        /// What is said of it, and the answer's text; nil for an empty answer.
        let flow, text: String?
        var status = "input"
        var testDescription: String { String(request.prefix { $0 != "\r" }) + " " + (flow ?? "nothing") }
    }

    private static let events = [
        Vector(request: post("/voice/choice", input), flow: "choice#1 one", text: "One."),
        Vector(request: post("/voice/choice/", input), flow: "choice#1 one", text: "One."),
        Vector(request: post("/voice/choice", #"{"dtmf":"{\"digits\":\"1\"}"}"#), flow: "choice#1 one", text: "One."),
        Vector(request: post("/voice/choice", "dtmf=%7B%22digits%22:%221%22%7D&uuid=u", form), flow: "choice#1 one", text: "One."),
        Vector(
            request: "GET /voice/choice?dtmf=%7B%22digits%22:%221%22%7D&uuid=u HTTP/1.1\r\nHost: h\r\n\r\n", flow: "choice#1 one",
            text: "One."),
        Vector(
            request: "GET /voice/choice?speech=%7B%22results%22:%5B%7B%22text%22:%22sales%22%7D%5D%7D HTTP/1.1\r\nHost: h\r\n\r\n",
            flow: "choice#3 one", text: "One."),
        // What the flow's own URL says is there with each form of event.
        Vector(request: post("/voice/choice?again=1", #"{"dtmf":{"digits":"9"}}"#), flow: "choice#2 again", text: "Again."),
        Vector(request: post("/voice/choice?again=1", "dtmf=%7B%22digits%22:%229%22%7D", form), flow: "choice#2 again", text: "Again."),
        Vector(
            request: "GET /voice/choice?again=1&dtmf=%7B%22digits%22:%229%22%7D HTTP/1.1\r\nHost: h\r\n\r\n", flow: "choice#2 again",
            text: "Again."),
        Vector(request: post("/voice/choice", #"{"dtmf":{"digits":"9"}}"#), flow: nil, text: nil),
        Vector(request: post("/voice/always", #"{"payload":{"a":1}}"#), flow: "always#1 said", text: "You are nobody.", status: "notify"),
        Vector(
            request: post("/voice/always", #"{"status":"busy","to":"1","from":"2"}"#), flow: "always#1 said", text: "You are nobody.",
            status: "busy"),
        Vector(
            request: post("/voice/always", #"{"status":"machine","sub_state":"beep_start"}"#), flow: "always#1 said",
            text: "You are nobody.", status: "machine"),
        // These take no NCCO, so none is sent.
        Vector(request: post("/voice/always", #"{"status":"answered","to":"1","from":"2"}"#), flow: nil, text: nil, status: "answered"),
        Vector(request: post("/voice/always", #"{"status":"completed"}"#), flow: nil, text: nil, status: "completed"),
        Vector(request: post("/voice/always", #"{"recording_url":"https://a.example.com/"}"#), flow: nil, text: nil, status: "record"),
        Vector(
            request: post("/voice/always", #"{"type":"transfer","conversation_uuid_from":"a"}"#), flow: nil, text: nil, status: "transfer"),
        Vector(request: post("/voice/event", #"{"status":"busy"}"#), flow: "event#1 one", text: "One.", status: "busy"),
        Vector(request: post("/voice/event", "status=human", form), flow: "event#1 one", text: "One.", status: "human"),
        Vector(request: "GET /voice/event?status=busy HTTP/1.1\r\nHost: h\r\n\r\n", flow: "event#1 one", text: "One.", status: "busy"),
        Vector(request: post("/voice/event", #"{"dtmf":{"digits":"2"}}"#), flow: "event#2 again", text: "Again."),
        Vector(request: post("/voice/event", #"{"status":"answered"}"#), flow: nil, text: nil, status: "answered"),
        Vector(request: post("/voice/event", #"{"status":"failed"}"#), flow: nil, text: nil, status: "failed"),
    ]

    @Test(arguments: events) func `an event is kept, and answered by what its flow has for it`(_ vector: Vector) throws {
        let bench = try HandlerBench(files: Self.files)
        let (ticket, now) = try bench.reply(vector.request)
        #expect(now == nil, "it waits for the log")
        _ = bench.handler.flush(now: 0)
        let response = try bench.wait(for: ticket)
        #expect(response.status == .ok)
        #expect(String(decoding: response.body, as: UTF8.self) == vector.text.map(Self.talk) ?? "")
        #expect(fields(response) == (vector.flow.map { "X-Switchboard-Flow: \($0)\r\n" } ?? ""))
        let records = try bench.records()
        #expect(records.count == 1)
        let record = try #require(records.first)
        #expect(record["kind"] as? String == "event")
        #expect(record["status"] as? String == vector.status)
        #expect(record["flow"] as? String == vector.flow)
        let ncco = record["ncco"] as? [[String: String]]
        #expect(ncco == vector.text.map { [["action": "talk", "text": $0]] })
        #expect(record["event"] is [String: Any] && record["request"] == nil && record["error"] == nil && record["repeat"] == nil)
        #expect(bench.application.counts.events == 1 && bench.application.counts.answers == 0)
        #expect(bench.application.counts.flowReplies == (vector.flow == nil ? 0 : 1))
    }

    private static let answers = [
        // Somebody's own parameter of an event's name makes no event of it.
        Vector(
            request: "GET /voice/always?to=14155550100&from=447700900999&status=gold HTTP/1.1\r\nHost: h\r\n\r\n", flow: "always#1 said",
            text: "You are nobody."),
        Vector(
            request: post("/voice/always", #"{"to":"1","from":"2","reason":"because"}"#), flow: "always#1 said", text: "You are nobody."),
        Vector(request: post("/voice/always", #"{"to":"1","from":"2"}"#), flow: "always#1 said", text: "You are nobody."),
        Vector(request: post("/voice/always", ""), flow: "always#1 said", text: "You are nobody."),
        // A fallback request tells of an event, but asks what to do with the call.
        Vector(
            request: post(
                "/voice/always", #"{"reason":"Connection closed","original_request":{"url":"https://x","type":"event"},"status":"busy"}"#),
            flow: "always#1 said", text: "You are nobody."),
    ]

    @Test(arguments: answers) func `what is no event is answered at once`(_ vector: Vector) throws {
        let bench = try HandlerBench(files: Self.files)
        let response = try #require(try bench.reply(vector.request).now)
        #expect(String(decoding: response.body, as: UTF8.self) == vector.text.map(Self.talk))
        #expect(fields(response) == "X-Switchboard-Flow: \(vector.flow ?? "")\r\n")
        _ = bench.handler.flush(now: 0)
        let records = try bench.records()
        #expect(records.map { $0["kind"] as? String } == ["answer"])
        #expect(records.first?["flow"] as? String == vector.flow)
    }

    @Test func `a fallback request is answered at once, whatever it tells of`() throws {
        let bench = try HandlerBench(files: Self.files)
        let body =
            #"{"reason":"Connection closed.","original_request":{"url":"https://x/voice/choice","type":"event"},"conversation_uuid":"c","dtmf":{"digits":"1"}}"#
        let response = try #require(try bench.reply(post("/voice/fallback", body)).now)
        #expect(fields(response) == "X-Switchboard-Flow: fallback#1 apology\r\n")
        _ = bench.handler.flush(now: 0)
        let record = try #require(try bench.records().first)
        #expect(record["kind"] as? String == "fallback" && record["call"] as? String == "c" && record["status"] is NSNull)
        let request = try #require(record["request"] as? [String: Any])
        #expect((request["original_request"] as? [String: Any])?["type"] as? String == "event")
    }

    @Test func `a call for which no rule holds hears so, and the log says it`() throws {
        let bench = try HandlerBench(files: Self.files)
        let response = try #require(try bench.reply(get("/voice/choice?to=14155550100&from=447700900999")).now)
        #expect(response.status == .ok)
        #expect(
            fields(response) == "X-Switchboard-Flow: choice#0 cannot-connect\r\nX-Switchboard-Warning: no rule of the flow holds\r\n")
        #expect(String(decoding: response.body, as: UTF8.self).contains("We have a technical problem."))
        _ = bench.handler.flush(now: 0)
        let record = try #require(try bench.records().first)
        #expect(record["flow"] as? String == "choice#0 cannot-connect" && record["error"] as? String == "no rule of the flow holds")
        #expect(bench.application.counts.unfilledTemplates == 1)
    }

    @Test func `a template that cannot be filled is said of an answer and of an event`() throws {
        let bench = try HandlerBench(files: Self.files)
        let warning = "fault cannot be filled: name is missing or not valid"
        let response = try #require(try bench.reply(get("/voice/fault?to=1&from=2")).now)
        #expect(fields(response) == "X-Switchboard-Flow: fault#1 cannot-connect\r\nX-Switchboard-Warning: \(warning)\r\n")
        let (ticket, _) = try bench.reply(post("/voice/fault", Self.input))
        _ = bench.handler.flush(now: 0)
        #expect(fields(try bench.wait(for: ticket)) == fields(response))
        #expect(try bench.records().map { $0["error"] as? String } == [warning, warning])
        #expect(bench.application.counts.unfilledTemplates == 2)
    }

    @Test func `HEAD at a flow keeps nothing, whatever it asks for`() throws {
        let bench = try HandlerBench(files: Self.files)
        let response = try #require(try bench.reply("HEAD /voice/choice?dtmf=%7B%22digits%22:%221%22%7D HTTP/1.1\r\nHost: h\r\n\r\n").now)
        #expect(fields(response) == "X-Switchboard-Flow: choice#1 one\r\n")
        _ = bench.handler.flush(now: 0)
        #expect(try bench.records().isEmpty)
    }

    @Test(arguments: ["{", "{\"dtmf\":", "\"x\"", "[]}"]) func `what cannot be read at a flow is answered by an apology`(_ body: String)
        throws
    {
        let bench = try HandlerBench(files: Self.files)
        let response = try #require(try bench.reply(post("/voice/choice", body)).now)
        #expect(response.status == .ok)
        #expect(
            fields(response).hasPrefix("X-Switchboard-Flow: fallback#1 apology\r\nX-Switchboard-Warning: ")
                || fields(response).hasPrefix("X-Switchboard-Flow: choice#0"))
        _ = bench.handler.flush(now: 0)
        #expect(try bench.records().count == 1)
    }

    // MARK: Repeats

    @Test func `a retry is a repeat even where its NCCO is another`() throws {
        let bench = try HandlerBench(files: Self.files)
        // 30 November 2026, five in the morning and seven.
        for (wall, text) in [(1_796_014_800_000, "One."), (1_796_022_000_000, "Again.")] as [(Int64, String)] {
            bench.wall = wall
            let (ticket, _) = try bench.reply(post("/voice/night", Self.input))
            _ = bench.handler.flush(now: 0)
            #expect(String(decoding: try bench.wait(for: ticket).body, as: UTF8.self) == Self.talk(text))
        }
        // The same at a flow that has nothing for it, and one that is another event.
        for body in [Self.input, Self.input.replacing("\"1\"", with: "\"2\"")] {
            let (ticket, _) = try bench.reply(post("/voice/event", body))
            _ = bench.handler.flush(now: 0)
            _ = try bench.wait(for: ticket)
        }
        let records = try bench.records()
        #expect(records.map { $0["repeat"] as? Bool } == [nil, true, true, nil])
        #expect(records.map { $0["flow"] as? String } == ["night#1 one", "night#2 again", nil, "event#2 again"])
    }

    @Test func `names in files cannot break a record`() throws {
        var files = Self.files
        files["flows.json"] = #"{"flows":{"answer":[{"ncco":"a\"b\\\u0007"}]}}"#
        files["a\"b\\\u{7}.json"] = Self.talk("x")
        let bench = try HandlerBench(files: files)
        let response = try #require(try bench.reply(get("/voice/answer")).now)
        #expect(fields(response) == "X-Switchboard-Flow: answer#1 a\"b\\ \r\n")
        _ = bench.handler.flush(now: 0)
        #expect(try bench.records().map { $0["flow"] as? String } == ["answer#1 a\"b\\\u{7}"])
    }

    // MARK: Disks that fail

    @Test func `a reply goes out after 50 ms where the log hangs, once, and its record is kept`() throws {
        let disk = SlowDisk()
        let clock = Clock(monotonic: { 7_000_000 }, wall: { 1_796_014_800_000 })
        let bench = try HandlerBench(files: Self.files, calls: disk.calls, clock: clock)
        disk.hang()
        let (ticket, _) = try bench.reply(post("/voice/choice", Self.input))
        let (plain, _) = try bench.reply(post("/voice/event", #"{"status":"answered"}"#))
        #expect(bench.handler.flush(now: 7000) == 7050)
        #expect(bench.handler.flush(now: 7049) == 7050)
        #expect(bench.answered(ticket).isEmpty)
        #expect(bench.handler.flush(now: 7050) == nil)
        let early = bench.answered(ticket)
        #expect(early.map { String(decoding: $0.body, as: UTF8.self) } == [Self.talk("One.")])
        #expect(bench.application.counts.earlyReplies == 1)
        disk.release()
        #expect(try bench.wait(for: plain).status == .ok)
        let records = try bench.records()
        #expect(bench.answered(ticket).isEmpty, "it is answered once")
        #expect(records.map { $0["flow"] as? String } == ["choice#1 one", nil])
        #expect(bench.application.counts.events == 2 && bench.application.counts.flowReplies == 1)
        #expect(bench.handler.flush(now: 8000) == nil)
    }

    @Test func `a reply that the log has sent is not early`() throws {
        let clock = Clock(monotonic: { 7_000_000 }, wall: { 1_796_014_800_000 })
        let bench = try HandlerBench(files: Self.files, clock: clock)
        let (ticket, _) = try bench.reply(post("/voice/choice", Self.input))
        _ = bench.handler.flush(now: 7000)
        _ = try bench.wait(for: ticket)
        #expect(bench.handler.flush(now: 7001) == nil)
        #expect(bench.application.counts.earlyReplies == 0)
    }

    @Test func `on a disk that fails the call goes on, and the record follows once it is well`() throws {
        let disk = SlowDisk()
        let bench = try HandlerBench(files: Self.files, calls: disk.calls)
        disk.fail(true)
        let (ticket, _) = try bench.reply(post("/voice/choice", Self.input))
        let (plain, _) = try bench.reply(post("/voice/event", #"{"status":"answered"}"#))
        _ = bench.handler.flush(now: 0)
        #expect(String(decoding: try bench.wait(for: ticket).body, as: UTF8.self) == Self.talk("One."))
        #expect(try bench.wait(for: plain).status == .serviceUnavailable)
        #expect(bench.application.counts.refusedEvents == 1)
        disk.fail(false)
        let (again, _) = try bench.reply(post("/voice/event", #"{"status":"answered"}"#))
        _ = bench.handler.flush(now: 0)
        #expect(try bench.wait(for: again).status == .ok)
        let kept = try bench.records().compactMap { $0["flow"] as? String }
        #expect(kept == ["choice#1 one"])
    }
}

/// The real calls, of which writes wait or fail as a test has it.
private final class SlowDisk: Sendable {
    private let state = Locked((isHanging: false, isFailing: false))
    private let gate = DispatchSemaphore(value: 0)

    func hang() { state.withLock { $0.isHanging = true } }

    func release() {
        state.withLock { $0.isHanging = false }
        for _ in 0..<100 { gate.signal() }
    }

    func fail(_ fails: Bool) { state.withLock { $0.isFailing = fails } }

    var calls: SystemCalls {
        var calls = SystemCalls.real
        let write = calls.write
        calls.write = { [self] descriptor, bytes in
            let (isHanging, isFailing) = state.withLock { $0 }
            if isHanging { #expect(gate.wait(timeout: .now() + 60) == .success) }
            if isFailing {
                errno = EIO
                return -1
            }
            return write(descriptor, bytes)
        }
        return calls
    }
}
