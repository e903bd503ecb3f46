// SPDX-License-Identifier: MIT
//
// Events byte by byte: members, order, nulls and types are Vonage's.

import NCCO
import Testing

@testable import VonageSimulator

struct PlayedEventTests {
    private static let id = "00000000-0000-4000-8000-00000000000"
    private static let hex = "0000000000004000800000000000000"
    private static let caller = #""uuid":"\#(hex)2","conversation_uuid":"CON-\#(id)1""#
    private static let callee = #""uuid":"\#(hex)3","conversation_uuid":"CON-\#(id)1""#
    private static let numbers = #""from":"12025550101","to":"12025550100""#
    private static let ours = #""from":"12025550100","to":"12025550142""#

    private static func connect(_ options: String = "") -> String {
        #"[{"action":"connect","from":"12025550100","endpoint":[{"type":"phone","number":"12025550142"}]\#(options)}]"#
    }

    @Test func `states of a leg that is answered`() {
        let call = play(ncco: #"[{"action":"wait","timeout":12}]"#)
        #expect(
            call.bodies("ringing") == [
                #"{"headers":{},\#(Self.numbers),\#(Self.caller),"status":"ringing","direction":"inbound","timestamp":"2026-01-01T12:00:00.000Z"}"#
            ])
        #expect(
            call.bodies("started") == [
                #"{"headers":{},\#(Self.numbers),\#(Self.caller),"status":"started","direction":"inbound","timestamp":"2026-01-01T12:00:00.000Z"}"#
            ])
        #expect(
            call.bodies("answered") == [
                #"{"start_time":null,"headers":{},"rate":null,\#(Self.numbers),\#(Self.caller),"status":"answered","direction":"inbound","network":null,"timestamp":"2026-01-01T12:00:00.600Z"}"#
            ])
        #expect(
            call.bodies("completed") == [
                #"{"headers":{},"end_time":"2026-01-01T12:00:12.000Z","uuid":"\#(Self.hex)2","network":"US-FIXED","duration":"12","start_time":"2026-01-01T12:00:00.000Z","rate":"0.00720000","price":"0.00144000",\#(Self.numbers),"conversation_uuid":"CON-\#(Self.id)1","status":"completed","direction":"inbound","disconnected_by":"platform","sip_code":200,"timestamp":"2026-01-01T12:00:12.600Z"}"#
            ])
    }

    @Test func `a completed leg of an app user costs nothing and has no network`() {
        let call = play(plan(.app(user: "Alice", to: nil, customData: nil)), ["answer": [.ncco("[]")]])
        #expect(
            call.bodies("completed") == [
                #"{"headers":{},"end_time":"2026-01-01T12:00:00.000Z","uuid":"\#(Self.id)2","network":null,"duration":"0","start_time":"2026-01-01T12:00:00.000Z","rate":"0.00","price":"0","from":null,"to":"Alice","conversation_uuid":"CON-\#(Self.id)1","status":"completed","direction":"inbound","disconnected_by":"platform","timestamp":"2026-01-01T12:00:00.000Z"}"#
            ])
    }

    @Test(arguments: [
        (CallPlan.Callee.Behavior.busy, #""status":"busy","sip_code":486"#, "02.600"),
        (.noAnswer, #""status":"timeout""#, "05.600"),
        (.unreachable, #""status":"unanswered","detail":"unavailable","sip_code":480"#, "03.600"),
        (.declines, #""status":"rejected","detail":"declined","sip_code":603"#, "04.600"),
        (.badNumber, #""status":"rejected","detail":"invalid_number","sip_code":404"#, "01.100"),
    ])
    func `states of a leg that is not answered`(behavior: CallPlan.Callee.Behavior, state: String, second: String) {
        let call = play(ncco: Self.connect(#","timeout":5"#), callee: .init(behavior))
        let bodies = call.sent.map { String(decoding: $0.request.fields.json, as: UTF8.self) }
        #expect(
            bodies.contains(#"{\#(Self.ours),\#(Self.callee),\#(state),"direction":"outbound","timestamp":"2026-01-01T12:00:\#(second)Z"}"#)
        )
    }

    @Test func `a leg whose caller gave up`() {
        var plan = phoneCall
        plan.callerGivesUpAfter = 2000
        let call = play(plan, ["answer": [.ncco(Self.connect())]])
        #expect(
            call.bodies("cancelled") == [
                #"{\#(Self.ours),\#(Self.callee),"status":"cancelled","direction":"outbound","timestamp":"2026-01-01T12:00:02.000Z"}"#
            ])
        // Nothing was answered, so nothing has begun and nothing is owed.
        #expect(call.bodies("completed")[0].contains(#""duration":"0","start_time":null,"rate":"0.00720000","price":"0.00000000""#))
    }

    @Test func `a call that has no NCCO failed`() {
        let call = play(phoneCall, ["answer": [.status(500)]])
        #expect(
            call.bodies("failed") == [
                #"{\#(Self.numbers),\#(Self.caller),"status":"failed","detail":"internal_error","direction":"inbound","timestamp":"2026-01-01T12:00:00.000Z"}"#
            ])
    }

    @Test func `a WebSocket that the other side has closed`() {
        var callee = CallPlan.Callee()
        callee.hangsUp = true
        let call = play(
            ncco:
                #"[{"action":"connect","endpoint":[{"type":"websocket","uri":"wss://bot.example/audio","content-type":"audio/l16;rate=16000","headers":{"caller":"12025550101"}}]}]"#,
            callee: callee)
        #expect(
            call.bodies("disconnected") == [
                #"{"from":null,"to":"wss://bot.example/audio",\#(Self.callee),"status":"disconnected","headers":{"caller":"12025550101"},"timestamp":"2026-01-01T12:00:13.100Z"}"#
            ])
    }

    @Test func `a machine and its beep`() {
        let call = play(
            ncco: Self.connect(#","advancedMachineDetection":{"behavior":"continue","mode":"default"}"#), callee: .init(.machine))
        let head = #"{"call_uuid":"\#(Self.hex)3",\#(Self.ours),"status":"machine","#
        #expect(
            call.bodies("machine") == [
                head + #""conversation_uuid":"CON-\#(Self.id)1","timestamp":"2026-01-01T12:00:07.600Z"}"#,
                head + #""sub_state":"beep_start","conversation_uuid":"CON-\#(Self.id)1","timestamp":"2026-01-01T12:00:11.600Z"}"#,
            ])
    }

    @Test func `a person where machines are looked for`() {
        let call = play(ncco: Self.connect(#","machineDetection":"continue""#))
        #expect(
            call.bodies("human") == [
                #"{"call_uuid":"\#(Self.hex)3",\#(Self.ours),"status":"human","conversation_uuid":"CON-\#(Self.id)1","timestamp":"2026-01-01T12:00:05.600Z"}"#
            ])
    }

    @Test func `a recording and its transcript`() {
        let call = play(ncco: #"[{"action":"record","timeOut":10,"transcription":{}}]"#)
        #expect(
            call.bodies("record") == [
                #"{"start_time":"2026-01-01T12:00:00.000Z","end_time":"2026-01-01T12:00:10.000Z","size":40044,"recording_url":"https://api.nexmo.com/v1/files/\#(Self.id)4","recording_uuid":"\#(Self.id)3","conversation_uuid":"CON-\#(Self.id)1","timestamp":"2026-01-01T12:00:10.600Z"}"#
            ])
        #expect(
            call.bodies("transcribed") == [
                #"{"conversation_uuid":"CON-\#(Self.id)1","type":"record","recording_uuid":"\#(Self.id)3","status":"transcribed","transcription_url":"https://api.nexmo.com/v1/files/\#(Self.id)5"}"#
            ])
    }

    @Test(arguments: [
        (#"["dtmf"]"#, CallPlan.Entry.press("42#"), #"{"results":[]}"#, #"{"digits":"42","timed_out":false}"#, "02.200"),
        (#"["dtmf"]"#, .nothing, #"{"results":[]}"#, #"{"digits":"","timed_out":true}"#, "03.600"),
        (
            #"["speech"]"#, .say("support"),
            #"{"timeout_reason":"end_on_silence_timeout","results":[{"text":"support","confidence":"0.9312"}],"recording_url":"https://api-us.nexmo.com/v1/files/\#(id)3"}"#,
            #"{"digits":null,"timed_out":false}"#, "04.600"
        ),
        (
            #"["speech"]"#, .nothing, #"{"timeout_reason":"start_timeout","results":[]}"#, #"{"digits":null,"timed_out":false}"#, "10.600"
        ),
        (
            #"["dtmf","speech"]"#, .press("42#"), #"{"error":"Speech overridden by DTMF","results":[]}"#,
            #"{"digits":"42","timed_out":false}"#, "02.200"
        ),
        (
            #"["dtmf","speech"]"#, .nothing, #"{"timeout_reason":"start_timeout","results":[]}"#, #"{"digits":"","timed_out":true}"#,
            "10.600"
        ),
    ])
    func `an input`(type: String, entry: CallPlan.Entry, speech: String, dtmf: String, second: String) {
        let ncco = #"[{"action":"input","type":\#(type),"dtmf":{"submitOnHash":true},"speech":{"saveAudio":true}}]"#
        let call = play(ncco: ncco, entries: [entry])
        #expect(
            call.bodies("input") == [
                #"{"speech":\#(speech),"dtmf":\#(dtmf),\#(Self.numbers),\#(Self.caller),"timestamp":"2026-01-01T12:00:\#(second)Z"}"#
            ])
    }

    @Test func `a notify`() {
        let call = play(
            ncco: #"[{"action":"notify","payload":{"step":"survey","tries":1,"tags":["a","b"]},"eventUrl":["https://c.example/n"]}]"#)
        #expect(
            call.bodies("notify") == [
                #"{"payload":{"step":"survey","tries":1,"tags":["a","b"]},"conversation_uuid":"CON-\#(Self.id)1","timestamp":"2026-01-01T12:00:00.600Z"}"#
            ])
    }

    @Test func `an NCCO that cannot be read`() {
        let call = play(phoneCall, ["answer": [.ncco(#"[{"action":"dial"}]"#)]])
        #expect(
            call.bodies("error") == [
                #"{"reason":"Syntax error in NCCO. Invalid value type or action.","conversation_uuid":"CON-\#(Self.id)1","timestamp":"2026-01-01T12:00:00.000Z"}"#
            ])
    }

    @Test func `a leg that goes to another conversation`() {
        let call = play(ncco: #"[{"action":"conversation","name":"room"}]"#)
        #expect(
            call.bodies("transfer") == [
                #"{"type":"transfer","conversation_uuid_from":"CON-\#(Self.id)1","conversation_uuid_to":"CON-\#(Self.id)3","uuid":"\#(Self.hex)2","timestamp":"2026-01-01T12:00:00.600Z"}"#
            ])
        #expect(call.bodies("completed")[0].contains(#""conversation_uuid":"CON-\#(Self.id)3""#))
    }

    @Test func `an event that is fetched has its members in the query, objects as JSON text, and no nulls`() throws {
        var plan = phoneCall
        plan.event = WebhookAddress(url: "https://a.example/event?key=1", method: .get)
        let call = play(plan, ["answer": [.ncco("[]")]])
        let request = try #require(call.sent.first { $0.request.event == "answered" }?.request)
        #expect(request.body == nil)
        #expect(
            request.target
                == "/event?key=1&headers=%7B%7D&from=12025550101&to=12025550100&uuid=\(Self.hex)2&conversation_uuid=CON-\(Self.id)1"
                + "&status=answered&direction=inbound&timestamp=2026-01-01T12%3A00%3A00.600Z")
    }
}
