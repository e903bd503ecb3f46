// SPDX-License-Identifier: MIT
//
// The action `connect`: who is called as whom, what callees do, machines, and what callees hear before they are joined.

import NCCO
import Testing

@testable import VonageSimulator

struct PlayedConnectTests {
    private static let phone = #"{"type":"phone","number":"12025550142"}"#
    private static let endpoints = [
        phone, #"{"type":"app","user":"Alice"}"#, #"{"type":"sip","uri":"sip:a@b.example"}"#,
        #"{"type":"websocket","uri":"wss://b.example/","content-type":"audio/l16;rate=8000"}"#, #"{"type":"vbc","extension":"204"}"#,
    ]

    private static func connect(_ endpoint: String = phone, _ options: String = "") -> String {
        #"{"action":"connect","from":"12025550100",\#(options)"endpoint":[\#(endpoint)]}"#
    }

    private static func callee(_ behavior: CallPlan.Callee.Behavior, after: Int64 = 3000, hangsUp: Bool? = nil) -> CallPlan.Callee {
        var callee = CallPlan.Callee(behavior)
        callee.answersAfter = after
        callee.hangsUp = hangsUp
        return callee
    }

    /// What is told of the callee, without its name.
    private func states(_ call: PlayedCall) -> [String] {
        call.told.filter { $0.hasPrefix("out(") }.map { String($0.drop { $0 != ")" }.dropFirst(2)) }
    }

    @Test(arguments: endpoints.indices) func `each kind of endpoint that answers`(index: Int) {
        let call = play(ncco: "[\(Self.connect(Self.endpoints[index]))]")
        // What goes through SIP rings; a WebSocket is there at once.
        let expected = [
            ["started +0.6", "ringing +1.6", "answered +3.6", "completed platform +15.6"],
            ["started +3.6", "answered +3.6", "completed platform +15.6"],
            ["started +0.6", "ringing +1.6", "answered +3.6", "completed platform +15.6"],
            ["started +1.1", "answered +1.1", "completed platform +13.1"],
            ["started +0.6", "ringing +1.6", "answered +3.6", "completed platform +15.6"],
        ]
        #expect(states(call) == expected[index])
    }

    @Test(arguments: CallPlan.Callee.Behavior.allCases, endpoints.indices)
    func `whatever a callee does, the next action runs, with what an event's answer holds in its place`(
        behavior: CallPlan.Callee.Behavior, index: Int
    ) throws {
        var plan = phoneCall
        plan.callee = Self.callee(behavior, hangsUp: true)
        for isSynchronous in [false, true] {
            let connect = Self.connect(Self.endpoints[index], isSynchronous ? #""eventType":"synchronous","# : "")
            let call = play(plan) { request in
                switch request.kind {
                case .answer: .ncco("[\(connect),{\"action\":\"talk\",\"text\":\"Old.\"}]")
                default: request.mayCarryNCCO ? .ncco(#"[{"action":"talk","text":"New."}]"#) : .nothing
                }
            }
            let isReached = [.answers, .machine].contains(behavior)
            // A WebSocket's end asks in any case.
            let asks = isReached ? index == 3 : isSynchronous
            #expect(call.story.filter { $0.contains("hears") }.map { $0.contains("New.") } == [asks])
            #expect(call.complaints.isEmpty && call.told.last?.hasPrefix("in completed platform") == true)
            let rejected = [.declines, .badNumber].contains(behavior)
            #expect(states(call).count { $0.hasPrefix("completed") } == (rejected ? 0 : 1))
            // No SIP, no code of it.
            let codes = call.sent.filter { $0.request.leg != call.sent[0].request.leg }
                .contains { $0.request.fields.members.contains { $0.name == "sip_code" } }
            #expect(codes == (![1, 3].contains(index) && behavior != .noAnswer))
        }
    }

    @Test(arguments: [
        (#""timeout":1,"#, 3000, ["started +0.6", "ringing +1.6", "timeout +1.6", "completed platform +1.6"]),
        (#""timeout":3,"#, 3000, ["started +0.6", "ringing +1.6", "answered +3.6", "completed platform +15.6"]),
        (#""timeout":120,"#, 200_000, ["started +0.6", "ringing +1.6", "timeout +120.6", "completed platform +120.6"]),
        ("", 200_000, ["started +0.6", "ringing +1.6", "timeout +60.6", "completed platform +60.6"]),
        ("", 0, ["started +0.6", "answered +0.6", "completed platform +12.6"]),
        (#""limit":1,"#, 3000, ["started +0.6", "ringing +1.6", "answered +3.6", "completed platform +4.6"]),
        (#""limit":12,"#, 3000, ["started +0.6", "ringing +1.6", "answered +3.6", "completed platform +15.6"]),
    ])
    func `how long it rings and lasts`(options: String, after: Int, expected: [String]) {
        let call = play(ncco: "[\(Self.connect(Self.phone, options))]", callee: Self.callee(.answers, after: Int64(after)))
        #expect(states(call) == expected)
    }

    @Test func `an app user who does not answer in time, or for whom nobody waits, has started`() {
        let app = Self.endpoints[1]
        let call = play(ncco: "[\(Self.connect(app, #""timeout":2,"#))]")
        #expect(states(call) == ["started +0.6", "timeout +2.6", "completed platform +2.6"])
        var plan = phoneCall
        plan.callerGivesUpAfter = 2000
        let given = play(plan, ["answer": [.ncco("[\(Self.connect(app))]")]])
        #expect(states(given) == ["started +2.0", "cancelled +2.0", "completed platform +2.0"])
    }

    @Test func `a limit that ends the talk lets the caller hear what follows to its end`() {
        let call = play(ncco: #"[\#(Self.connect(Self.phone, #""limit":2,"#)),{"action":"wait","timeout":20}]"#)
        // The caller would have left the callee at 15.6, but the two no longer talk.
        #expect(call.told.last == "in completed platform +25.6")
    }

    @Test func `who is called as whom`() {
        func rung(_ plan: CallPlan, _ connect: String) -> String? {
            play(plan, ["answer": [.ncco("[\(connect)]")]]).story.first { $0.hasPrefix("rings") }
        }
        let app = plan(.app(user: "Bob", to: nil, customData: nil))
        let open = #"{"action":"connect","endpoint":[\#(Self.phone)]}"#
        let random = #"{"action":"connect","randomFromNumber":true,"endpoint":[\#(Self.phone)]}"#
        #expect(rung(phoneCall, Self.connect()) == "rings phone 12025550142 as 12025550100 +0.6")
        #expect(rung(phoneCall, open) == "rings phone 12025550142 as nobody +0.6")
        #expect(rung(phoneCall, random) == "rings phone 12025550142 as 12025550100 +0.6")
        #expect(rung(app, open) == "rings phone 12025550142 as Bob +0.0")
        #expect(
            rung(phoneCall, Self.connect(#"{"type":"sip","user":"desk1","domain":"my-trunk"}"#))
                == "rings sip desk1@my-trunk as 12025550100 +0.6")
    }

    @Test func `a number that Vonage may not show is noted, and the call goes on`() {
        func noted(_ plan: CallPlan, _ from: String, _ endpoint: String = Self.phone) -> [String] {
            let connect = #"{"action":"connect",\#(from)"endpoint":[\#(endpoint)]}"#
            let call = play(plan, ["answer": [.ncco("[\(connect),\(connect)]")]])
            #expect(call.story.contains { $0.hasPrefix("joins") } && call.complaints.allSatisfy { !$0.cure.isEmpty })
            return call.complained
        }
        let foreign = #""from":"447700900999","#
        let app = plan(.app(user: "Bob", to: nil, customData: nil))
        let words = "note: a phone is called from 447700900999, which is not known as a number of ours and is not the caller's"
        let unknown = "note: a phone is called without a from: whoever is called sees an unknown number"
        #expect(noted(phoneCall, foreign) == [words] && noted(phoneCall, "") == [unknown] && noted(app, "") == [unknown])
        for from in ["12025550100", "12025550101"] { #expect(noted(phoneCall, #""from":"\#(from)","#) == []) }
        #expect(noted(phoneCall, #""randomFromNumber":true,"#) == [] && noted(phoneCall, "", Self.endpoints[1]) == [])
        // Of an app user's call no number of ours is known unless it is said.
        #expect(noted(app, foreign) == [])
        var told = app
        told.ownNumbers = ["12025550100"]
        #expect(noted(told, foreign) == [words])
        told.ownNumbers = ["+447700900999"]
        #expect(noted(told, foreign) == [])
    }

    @Test func `what a leg that is not paid for by the minute costs`() {
        let paid = Self.endpoints.map { play(ncco: "[\(Self.connect($0))]").bodies("completed")[0].contains(#""network":"US-FIXED""#) }
        #expect(paid == [true, false, true, false, true])
        #expect(play(ncco: "[\(Self.connect(Self.endpoints[3]))]").bodies("completed")[0].contains(#""rate":"0.00","price":"0""#))
    }

    @Test func `callees are told apart by what they are called`() {
        var plan = phoneCall
        plan.callees = ["12025550142": Self.callee(.busy), "Alice": Self.callee(.declines)]
        let both = "[\(Self.connect()),\(Self.connect(Self.endpoints[1])),\(Self.connect(Self.endpoints[4]))]"
        let call = play(plan, ["answer": [.ncco(both)]])
        #expect(call.story.filter { $0.hasPrefix("joins") } == ["joins 204 +9.6"])
    }

    @Test func `two that are the same are called one after the other`() {
        let call = play(ncco: "[\(Self.connect()),\(Self.connect())]", callee: Self.callee(.answers, hangsUp: true))
        #expect(
            states(call) == [
                "started +0.6", "ringing +1.6", "answered +3.6", "completed user +15.6", "started +15.6", "ringing +16.6",
                "answered +18.6", "completed user +30.6",
            ])
        let ids = Set(call.sent.compactMap { $0.request.fields.text("uuid") })
        #expect(ids.count == 3)
    }

    @Test(arguments: [
        // What is looked for, and what is told of a person and of a machine.
        (#""machineDetection":"continue""#, ["human +5.6"], ["machine +7.6"], false),
        (#""machineDetection":"hangup""#, ["human +5.6"], ["machine +7.6"], true),
        (#""advancedMachineDetection":{"behavior":"continue"}"#, ["human +5.6"], ["machine +7.6"], false),
        (#""advancedMachineDetection":{"behavior":"hangup","mode":"detect"}"#, ["human +5.6"], ["machine +7.6"], true),
        (
            #""advancedMachineDetection":{"behavior":"continue","mode":"default"}"#, ["human +5.6"],
            ["machine +7.6", "machine beep_start +11.6"], false
        ),
        (
            #""advancedMachineDetection":{"behavior":"hangup","mode":"detect_beep"}"#, ["human +5.6"], ["machine beep_start +11.6"], true
        ),
        (
            #""machineDetection":"continue","advancedMachineDetection":{"behavior":"hangup"}"#, ["human +5.6"], ["machine +7.6"], true
        ),
    ])
    func `a person and a machine`(options: String, person: [String], machine: [String], hangsUp: Bool) {
        let ncco = "[\(Self.connect(Self.phone, options + ","))]"
        func found(_ call: PlayedCall) -> [String] {
            call.told.filter { $0.contains(" human") || $0.contains(" machine") }.map { String($0.drop { $0 != " " }.dropFirst()) }
        }
        #expect(found(play(ncco: ncco)) == person)
        let call = play(ncco: ncco, callee: Self.callee(.machine))
        #expect(found(call) == machine)
        let end = hangsUp ? machine.last?.split(separator: "+").last ?? "" : "15.6"
        #expect(states(call).last == "completed \(hangsUp ? "platform" : "user") +\(end)")
    }

    @Test func `a machine that takes a call of the REST API is told apart too`() {
        var plan = plan(.api(to: .phone("12025550142"), from: nil, ncco: nil, answer: nil))
        plan.detection = .hangup
        plan.callee = Self.callee(.machine)
        let call = play(plan, ["answer": [.ncco(#"[{"action":"wait"}]"#)]])
        #expect(call.told.suffix(2) == ["out machine +7.0", "out completed platform +7.0"])
    }

    // MARK: Before the callee is joined

    private static let whisper = #"{"type":"phone","number":"12025550142","onAnswer":{"url":"https://a.example/whisper"}}"#

    @Test func `a callee hears its own NCCO before it is joined`() throws {
        let call = play(
            phoneCall,
            ["answer": [.ncco("[\(Self.connect(Self.whisper))]")], "on_answer": [.ncco(#"[{"action":"talk","text":"A call."}]"#)]])
        #expect(
            call.story.suffix(5) == [
                "12025550142 talk 1/1 +3.6", "12025550142 hears A call. +3.6", "joins 12025550142 +4.1", "hangs up +16.1",
                "12025550142 hangs up (platform) +16.1",
            ])
        let request = try #require(call.sent.first { $0.request.kind == .onAnswer }?.request)
        #expect(request.target.hasPrefix("/whisper?to=12025550142&from=12025550100&endpoint_type=phone&conversation_uuid="))
    }

    @Test(arguments: [PlayedOutcome.status(404), .nothing, .ncco(#"[{"action":"dial"}]"#), .fails(.tls)])
    func `a callee without an NCCO is dropped, and the fallback URL is not asked`(outcome: PlayedOutcome) {
        let call = play(
            plan(phoneCall.origin, fallback: fallbackAddress),
            ["answer": [.ncco("[\(Self.connect(Self.whisper)),{\"action\":\"talk\",\"text\":\"Gone.\"}]")], "on_answer": [outcome]])
        #expect(states(call).last == "completed platform +3.6" && call.story.contains("hears Gone. +3.6"))
        #expect(call.bodies("fallback").isEmpty)
    }

    @Test func `a callee who hangs up while it hears its NCCO hears no more of it`() {
        let long = #"[{"action":"wait","timeout":5},{"action":"talk","text":"No."}]"#
        let call = play(
            phoneCall,
            [
                "answer": [.ncco("[\(Self.connect(Self.whisper, #""limit":2,"#)),{\"action\":\"wait\",\"timeout\":9}]")],
                "on_answer": [.ncco(long)],
            ])
        #expect(!call.story.contains { $0.contains("No.") || $0.contains("joins") })
        #expect(states(call).last == "completed platform +5.6" && call.told.last == "in completed platform +14.6")
    }

    @Test func `a callee's keys are its own`() {
        var plan = phoneCall
        plan.entries = [.press("7")]
        plan.callee.entries = [.press("1")]
        let input = #"{"action":"input","type":["dtmf"],"dtmf":{"maxDigits":1}}"#
        let call = play(
            plan,
            ["answer": [.ncco("[\(input),\(Self.connect(Self.whisper))]")], "on_answer": [.ncco("[\(input),\(input)]")]])
        #expect(call.bodies("input").map { $0.contains(#""digits":"7""#) } == [true, false, false])
        #expect(call.bodies("input")[1].contains(#""digits":"1""#) && call.bodies("input")[2].contains(#""digits":"","timed_out":true"#))
    }

    @Test func `a key that is answered late joins nobody twice`() {
        var plan = phoneCall
        plan.callee.entries = [.press("1")]
        plan.callee.answersAfter = 0
        var hand = HandPlayed(plan)
        hand.answer("answer", .ncco("[\(Self.connect(Self.whisper))]"))
        hand.pass(to: 1000)
        hand.answer("on_answer", .ncco(#"[{"action":"input","type":["dtmf"],"mode":"asynchronous"},{"action":"wait","timeout":1.5}]"#))
        hand.pass(to: 4000)
        hand.answer("input", .ncco(#"[{"action":"talk","text":"Late."}]"#))
        hand.pass(to: 60_000)
        #expect(hand.call.isSilent && hand.call.story.count { $0.hasPrefix("joins") } == 1)
    }

    @Test func `keys that the callee's side is given`() {
        let call = play(ncco: "[\(Self.connect(#"{"type":"phone","number":"12025550142","dtmfAnswer":"p1#"}"#))]")
        #expect(call.story.contains("presses p1# +3.6"))
    }

    @Test func `where events about a callee go`() {
        let call = play(ncco: "[\(Self.connect(Self.phone, #""eventUrl":["https://c.example/e"],"eventMethod":"GET","#))]")
        let outbound = call.sent.filter { $0.request.fields.text("direction") == "outbound" }
        #expect(outbound.count == 4 && outbound.allSatisfy { $0.request.address == .init(url: "https://c.example/e", method: .get) })
    }
}
