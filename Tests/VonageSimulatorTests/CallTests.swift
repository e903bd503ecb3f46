// SPDX-License-Identifier: MIT

import HTTPWire
import Testing

@testable import VonageSimulator

struct CallTests {
    @Test func `a call is made, answered, and ended by a hang-up`() throws {
        let simulation = try Simulation()
        let made = try simulation.ask(.post, "/v1/calls", Simulation.call)
        #expect(made.status == 201 && made.hasChanged)
        #expect(
            made.text == #"{"uuid":"00000000-0000-4000-8000-000000000003","status":"started","direction":"outbound","#
                + #""conversation_uuid":"CON-00000000-0000-4000-8000-000000000002"}"#)
        let path = "/v1/calls/\(made["uuid"])"
        let live = try simulation.ask(.get, path)
        #expect(live["status"] == "answered" && live["duration"].isEmpty && live["price"].isEmpty)
        #expect(live["to.number"] == "12025550142" && live["from.number"] == "12025550100")
        simulation.now += 12_000
        let ended = try simulation.ask(.put, path, #"{"action":"hangup"}"#)
        #expect(ended.status == 204 && ended.text.isEmpty)
        let over = try simulation.ask(.get, path)
        #expect(
            over.text == #"{"_links":{"self":{"href":"/calls/00000000-0000-4000-8000-000000000003"}},"#
                + #""uuid":"00000000-0000-4000-8000-000000000003","conversation_uuid":"CON-00000000-0000-4000-8000-000000000002","#
                + #""to":{"type":"phone","number":"12025550142"},"from":{"type":"phone","number":"12025550100"},"status":"completed","#
                + #""direction":"outbound","rate":"0.00720000","price":"0.00144000","duration":"12","#
                + #""start_time":"2026-01-02 03:04:05","end_time":"2026-01-02 03:04:17","network":"US-FIXED"}"#)
        let again = try simulation.ask(.put, path, #"{"action":"hangup"}"#)
        #expect(again.status == 404 && again.text == #"{"type":"NOT_FOUND","error_title":"Not Found"}"#)
        #expect(try simulation.ask(.get, "/v1/calls/none").status == 404)
    }

    @Test(arguments: [
        ("{}", ["to"]), (#"{"to":[]}"#, ["to"]), (#"{"to":[{"type":"fax"}]}"#, ["to[0].type"]),
        (#"{"to":[{"type":"phone"}]}"#, ["to[0].number"]),
        (#"{"to":[{"type":"phone","number":"1234567890123456"}]}"#, ["to[0].number"]),
        (#"{"to":[{"type":"sip","uri":"x"}]}"#, ["to[0].uri"]),
        (#"{"to":[{"type":"websocket","uri":"https://a.example"}]}"#, ["to[0].uri"]), (#"{"to":[{"type":"app"}]}"#, ["to[0].user"]),
        (#"{"to":[{"type":"vbc","extension":"1","x":1}]}"#, ["to[0].x"]), (#"{"to":[7]}"#, ["to[0]"]),
        (#"{"to":[{"type":"app","user":"a"}]}"#, ["from"]), (#"{"to":[{"type":"app","user":"a"}],"random_from_number":true}"#, ["ncco"]),
        (#"{"to":[{"type":"app","user":"a"}],"random_from_number":true,"from":{"type":"phone","number":"1"}}"#, ["from"]),
        (
            #"{"to":[{"type":"app","user":"a"}],"random_from_number":true,"ncco":[{"action":"talk"}],"answer_url":["https://a.example/"]}"#,
            ["ncco"]
        ),
        (#"{"to":[{"type":"app","user":"a"}],"random_from_number":true,"ncco":[]}"#, ["ncco"]),
        (#"{"to":[{"type":"app","user":"a"}],"random_from_number":true,"ncco":[{}]}"#, ["ncco"]),
        (#"{"to":[{"type":"app","user":"a"}],"random_from_number":true,"answer_url":"https://a.example/"}"#, ["answer_url"]),
        (#"{"to":[{"type":"app","user":"a"}],"random_from_number":true,"answer_url":["a"]}"#, ["answer_url"]),
        (
            #"{"to":[{"type":"app","user":"a"}],"random_from_number":true,"ncco":[{"action":"talk"}],"event_url":"x","event_method":"PUT","length_timer":86401,"ringing_timer":0,"machine_detection":"x","advanced_machine_detection":{"beep_timeout":1},"answer_method":"X","other":1}"#,
            [
                "event_url", "event_method", "length_timer", "ringing_timer", "machine_detection",
                "advanced_machine_detection.beep_timeout",
                "answer_method", "other",
            ]
        ),
    ])
    func `a call that is asked for wrongly is refused in the voice API's shape`(_ body: String, _ names: [String]) throws {
        let simulation = try Simulation()
        let answer = try simulation.ask(.post, "/v1/calls", body)
        #expect(answer.status == 400 && answer["type"] == "400" && answer["title"] == "Bad Request" && !answer.hasChanged)
        #expect(Set(answer.invalid) == Set(names), "\(answer.text)")
        #expect(try simulation.ask(.get, "/v1/calls")["count"] == "0")
    }

    @Test(arguments: [
        #"{"type":"phone","number":"+12025550142","dtmfAnswer":"1p2"}"#, #"{"type":"sip","uri":"sip:a@example.com","headers":{"a":"b"}}"#,
        #"{"type":"websocket","uri":"wss://a.example/ws","content-type":"audio/l16;rate=16000","headers":{}}"#,
        #"{"type":"vbc","extension":"204"}"#, #"{"type":"app","user":"Alice"}"#,
    ])
    func `every endpoint is called`(_ endpoint: String) throws {
        let body =
            #"{"to":[\#(endpoint)],"random_from_number":true,"answer_url":["https://a.example/answer"],"answer_method":"POST","length_timer":86400,"ringing_timer":120}"#
        let simulation = try Simulation()
        let made = try simulation.ask(.post, "/v1/calls", body)
        #expect(made.status == 201, "\(made.text)")
        #expect(simulation.vonage.calls[made["uuid"]]?.answerURL == "https://a.example/answer")
        #expect(try simulation.ask(.get, "/v1/calls/\(made["uuid"])")["from.number"] == "14155550100")
    }

    @Test func `calls are listed by status, time and conversation, a page at a time`() throws {
        let simulation = try Simulation()
        var uuids: [String] = []
        for _ in 0..<5 {
            uuids.append(try simulation.makeCall())
            simulation.now += 1000
        }
        try simulation.ask(.put, "/v1/calls/\(uuids[1])", #"{"action":"hangup"}"#)
        let page = try simulation.ask(.get, "/v1/calls?page_size=2&record_index=2")
        #expect(page["count"] == "5" && page["page_size"] == "2" && page["record_index"] == "2")
        #expect(page["_embedded.calls.0.uuid"] == uuids[2] && page["_embedded.calls.1.uuid"] == uuids[3])
        #expect(page["_links.self.href"] == "/calls?page_size=2&record_index=2&order=asc")
        #expect(page["_links.first.href"] == "/calls?page_size=2")
        #expect(page["_links.last.href"] == "/calls?page_size=2&record_index=4&order=asc")
        #expect(page["_links.next.href"] == "/calls?page_size=2&record_index=4&order=asc")
        #expect(page["_links.prev.href"] == "/calls?page_size=2&record_index=0&order=asc")
        #expect(try simulation.ask(.get, "/v1/calls?page_size=2&record_index=4")["_links.next.href"].isEmpty)
        #expect(try simulation.ask(.get, "/v1/calls?order=desc")["_embedded.calls.0.uuid"] == uuids[4])
        let completed = try simulation.ask(.get, "/v1/calls?status=completed")
        #expect(completed["count"] == "1" && completed["_embedded.calls.0.uuid"] == uuids[1])
        #expect(try simulation.ask(.get, "/v1/calls?conversation_uuid=CON-none")["count"] == "0")
        let conversation = completed["_embedded.calls.0.conversation_uuid"]
        #expect(try simulation.ask(.get, "/v1/calls?conversation_uuid=\(conversation)")["count"] == "1")
        #expect(try simulation.ask(.get, "/v1/calls?date_start=2026-01-02T03:04:07Z&date_end=2026-01-02T03:04:08Z")["count"] == "2")
        for query in ["status=over", "record_index=-1", "page_size=101", "order=x", "date_end=x"] {
            let answer = try simulation.ask(.get, "/v1/calls?\(query)")
            #expect(answer.status == 400 && answer.invalid == [String(query.prefix { $0 != "=" })] && answer["type"] == "400")
        }
    }

    @Test func `a leg is muted, made deaf, and sent to other actions`() throws {
        let simulation = try Simulation()
        let uuid = try simulation.makeCall()
        func change(_ body: String) throws -> Answered { try simulation.ask(.put, "/v1/calls/\(uuid)", body) }
        for (action, isMuted, isEarmuffed) in [
            ("mute", true, false), ("earmuff", true, true), ("unmute", false, true), ("unearmuff", false, false),
        ] {
            #expect(try change(#"{"action":"\#(action)"}"#).status == 204)
            #expect(simulation.vonage.calls[uuid]?.isMuted == isMuted && simulation.vonage.calls[uuid]?.isEarmuffed == isEarmuffed)
        }
        #expect(try change(#"{"action":"transfer","destination":{"type":"ncco","url":["https://a.example/next"]}}"#).status == 204)
        #expect(simulation.vonage.calls[uuid]?.answerURL == "https://a.example/next" && simulation.vonage.calls[uuid]?.ncco == nil)
        #expect(try change(#"{"action":"transfer","destination":{"type":"ncco","ncco":[{"action":"talk","text":"a"}]}}"#).status == 204)
        #expect(simulation.vonage.calls[uuid]?.answerURL == nil && simulation.vonage.calls[uuid]?.ncco != nil)
        for (body, name) in [
            ("{}", "action"), (#"{"action":"dance"}"#, "action"), (#"{"action":"transfer"}"#, "destination"),
            (#"{"action":"mute","x":1}"#, "x"), (#"{"action":"transfer","destination":{"type":"ncco"}}"#, "destination.ncco"),
            (#"{"action":"transfer","destination":{"url":["https://a.example/"]}}"#, "destination.type"),
        ] {
            let answer = try change(body)
            #expect(answer.status == 400 && answer.invalid == [name], "\(body): \(answer.text)")
        }
    }

    @Test func `a leg is talked to, played to and pressed keys on`() throws {
        let simulation = try Simulation()
        let uuid = try simulation.makeCall()
        let path = "/v1/calls/\(uuid)"
        let talk = try simulation.ask(
            .put, path + "/talk", #"{"text":"One moment.","language":"en-GB","style":0,"premium":false,"loop":1,"level":"0"}"#)
        #expect(talk.status == 200 && talk.text == #"{"message":"Talk started","uuid":"\#(uuid)"}"#)
        let twice = try simulation.ask(.put, path + "/talk", #"{"text":"a"}"#)
        #expect(twice.status == 400 && twice.text == #"{"type":"BAD_REQUEST","error_title":"Bad Request"}"#)
        simulation.now += 1000
        #expect(try simulation.ask(.put, path + "/talk", #"{"text":"a","loop":0}"#).status == 200)
        simulation.now += 1_000_000
        #expect(try simulation.ask(.put, path + "/talk", #"{"text":"a"}"#).status == 400, "repeated until it is stopped")
        #expect(try simulation.ask(.delete, path + "/talk")["message"] == "Talk stopped")
        #expect(try simulation.ask(.put, path + "/talk", #"{"text":"a"}"#).status == 200)
        #expect(
            try simulation.ask(.put, path + "/stream", #"{"stream_url":["https://a.example/a.mp3"],"loop":0,"level":"0.4"}"#)["message"]
                == "Stream started")
        #expect(try simulation.ask(.delete, path + "/stream")["message"] == "Stream stopped")
        #expect(try simulation.ask(.put, path + "/dtmf", #"{"digits":"1p2#*"}"#)["message"] == "DTMF sent")
        #expect(try simulation.ask(.put, path + "/input/dtmf", #"{"event_url":["https://a.example/e"]}"#).status == 200)
        #expect(try simulation.ask(.delete, path + "/input/dtmf").text.isEmpty)
        for (kind, body, name) in [
            ("talk", "{}", "text"), ("talk", #"{"text":""}"#, "text"), ("talk", #"{"text":"a","level":"2"}"#, "level"),
            ("talk", #"{"text":"a","loop":-1}"#, "loop"), ("stream", "{}", "stream_url"), ("stream", #"{"stream_url":"x"}"#, "stream_url"),
            ("dtmf", "{}", "digits"), ("dtmf", #"{"digits":"a"}"#, "digits"), ("input/dtmf", "{}", "event_url"),
        ] {
            let answer = try simulation.ask(.put, "\(path)/\(kind)", body)
            #expect(answer.status == 400 && answer.invalid == [name], "\(kind) \(body): \(answer.text)")
        }
        try simulation.ask(.put, path, #"{"action":"hangup"}"#)
        #expect(try simulation.ask(.put, path + "/talk", #"{"text":"a"}"#).status == 404)
        #expect(try simulation.ask(.get, path + "/dance").status == 404)
    }

    @Test func `where somebody plays the calls, they take their course by him`() throws {
        let simulation = try Simulation { $0.answersCalls = false }
        let uuid = try simulation.makeCall()
        let path = "/v1/calls/\(uuid)"
        #expect(try simulation.ask(.get, path)["status"] == "started")
        #expect(try simulation.ask(.put, path + "/talk", #"{"text":"a"}"#).status == 400)
        #expect(simulation.advance(uuid, .ringing))
        #expect(!simulation.advance(uuid, .completed))
        #expect(!simulation.advance("none", .ringing))
        let other = try simulation.makeCall()
        #expect(simulation.advance(other, .busy))
        #expect(!simulation.advance(other, .ringing))
        try simulation.ask(.put, path, #"{"action":"hangup"}"#)
        let over = try simulation.ask(.get, path)
        #expect(over["status"] == "cancelled" && over["price"].isEmpty)
    }

    @Test func `nothing follows the end of a leg, and whatever has begun can end`() {
        for one in CallStatus.allCases {
            for other in CallStatus.allCases where one.isOver { #expect(!one.mayBecome(other)) }
            if !one.isOver { #expect(CallStatus.allCases.contains { $0.isOver && one.mayBecome($0) }) }
            #expect(!one.mayBecome(one) && !one.mayBecome(.started))
        }
    }

    @Test func `calls that are over make room for new ones, with their conversations`() throws {
        let simulation = try Simulation()
        let first = try simulation.ask(.post, "/v1/calls", Simulation.call)
        try simulation.ask(.put, "/v1/calls/\(first["uuid"])", #"{"action":"hangup"}"#)
        for number in 0..<SimulatedVonage.mostConversations - 1 {
            let conversation = SimulatedConversation(id: "CON-\(number)", name: "\(number)", region: "us", created: simulation.now)
            simulation.vonage.conversations.put(conversation)
        }
        let second = try simulation.ask(.post, "/v1/calls", Simulation.call)
        #expect(second.status == 201)
        #expect(try simulation.ask(.get, "/v1/calls/\(first["uuid"])").status == 404)
        #expect(try simulation.ask(.get, "/v1/conversations/\(first["conversation_uuid"])").status == 404)
        #expect(try simulation.ask(.post, "/v1/calls", Simulation.call).status == 429, "none of the others is over")
    }

    @Test func `more than three calls and fifteen other requests a second are refused`() throws {
        let simulation = try Simulation { $0.limitsCallRate = true }
        let answers = try (0..<5).map { _ in try simulation.ask(.post, "/v1/calls", Simulation.call).status }
        #expect(answers == [201, 201, 201, 429, 429])
        let others = try (0..<16).map { _ in try simulation.ask(.get, "/v1/calls").status }
        #expect(others == Array(repeating: 200, count: 15) + [429])
        let refused = try simulation.ask(.get, "/v1/calls")
        #expect(refused["type"].hasSuffix("#throttled") && refused.fields.contains("Retry-After: 1\r\n"))
        #expect(try simulation.ask(.get, "/v1/users").status == 200)
        simulation.now += 1000
        #expect(try simulation.ask(.post, "/v1/calls", Simulation.call).status == 201)
    }
}
