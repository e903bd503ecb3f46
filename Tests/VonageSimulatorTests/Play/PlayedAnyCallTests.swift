// SPDX-License-Identifier: MIT
//
// Whatever is called, asked and answered: each call ends within its bounds, and what is told of its legs holds together. Plans, NCCOs and outcomes
// are drawn from a seed; a failure names it.

import NCCO
import Testing

@testable import VonageSimulator

/// Draws from a seed.
private struct Dice {
    private var random: SplitMix64

    init(_ seed: UInt64) { random = SplitMix64(seed: seed) }

    mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
    mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }
    mutating func option(_ text: String) -> String { chance(30) ? text : "" }

    mutating func milliseconds() -> Int64 { Int64(chance(5) ? 0 : pick([1, 300, 1000, 3000, 12_000, 12_000, 90_000])) }

    // MARK: Plans

    mutating func callee() -> CallPlan.Callee {
        var callee = CallPlan.Callee(chance(50) ? .answers : pick(CallPlan.Callee.Behavior.allCases))
        callee.answersAfter = milliseconds()
        callee.talkFor = chance(50) ? nil : milliseconds()
        callee.hangsUp = pick([nil, true, false])
        callee.entries = entries()
        return callee
    }

    mutating func entries() -> [CallPlan.Entry] {
        (0..<below(9)).map { _ in pick([.press("1"), .press("12#"), .say("one two three"), .nothing, .press("")]) }
    }

    mutating func plan() -> CallPlan {
        let party = pick([CallPlan.Party.phone("1"), .app("Alice"), .sip("sip:a@b.example"), .websocket("wss://b.example/"), .vbc("1")])
        let origin: CallPlan.Origin = pick([
            .phone(from: "12025550101", to: "12025550100"), .app(user: "Bob", to: "1", customData: nil),
            .sip(from: "a", to: "b", headers: []), .api(to: party, from: "12025550100", ncco: nil, answer: nil),
            .api(to: party, from: nil, ncco: Array(ncco().utf8), answer: nil),
        ])
        var plan = CallPlan(
            origin, answer: answerAddress, event: chance(90) ? eventAddress : nil, fallback: chance(50) ? fallbackAddress : nil)
        plan.entries = entries()
        plan.callee = callee()
        plan.callees = ["Alice": callee(), "1": callee()]
        plan.talkFor = milliseconds()
        plan.calleeHangsUp = chance(30)
        plan.callerGivesUpAfter = chance(10) ? milliseconds() : nil
        plan.longest = chance(5) ? 1 : pick([5000, 600_000, 7_200_000])
        plan.detection = pick([nil, .continue, .hangup])
        plan.sendsEventsFirst = chance(20)
        return plan
    }

    // MARK: NCCOs

    mutating func ncco() -> String { "[\((0..<(chance(5) ? 0 : 1 + below(6))).map { _ in action() }.joined(separator: ","))]" }

    private mutating func action() -> String {
        switch below(12) {
        case 0: return #"{"action":"talk","text":"Hello."\#(pick(["", #","loop":3"#, #","loop":0"#, #","loop":2147483647"#]))}"#
        case 1: return #"{"action":"stream","streamUrl":["https://a.example/a.mp3"]\#(option(#","loop":0"#))}"#
        case 2:
            let loop = pick(["", #","loop":9"#, #","loop":0"#])
            return #"{"action":"talk","text":"Press.","bargeIn":true\#(loop)},\#(option(#"{"action":"talk","text":"More."},"#))\#(input())"#
        case 3, 4: return input()
        case 5: return record()
        case 6: return pick([#"{"action":"wait"}"#, #"{"action":"wait","timeout":0}"#, #"{"action":"wait","timeout":7200}"#])
        case 7:
            return
                #"{"action":"conversation","name":"room"\#(option(#","startOnEnter":false"#))\#(option(#","record":true,"transcription":{}"#))}"#
        case 8: return #"{"action":"notify","payload":{"a":1},"eventUrl":["https://a.example/n"]}"#
        case 9: return option(#"{"action":"transfer","conversationId":"CON-1"},"#) + #"{"action":"talk","text":"a"}"#
        default: return connect()
        }
    }

    private mutating func input() -> String {
        let type = pick([
            #""type":["dtmf"]"#, #""type":["speech"]"#, #""type":["dtmf","speech"]"#, #""type":["dtmf"],"mode":"asynchronous""#,
            #""timeOut":0"#,
        ])
        return #"{"action":"input",\#(type)}"#
    }

    private mutating func record() -> String {
        let ends = option(##","endOnKey":"#""##) + option(#","timeOut":3"#) + option(#","endOnSilence":3"#)
        return #"{"action":"record"\#(ends)\#(option(#","transcription":{}"#))}"#
    }

    private mutating func connect() -> String {
        let endpoint = pick([
            #"{"type":"phone","number":"12025550142"}"#,
            #"{"type":"phone","number":"12025550142","onAnswer":{"url":"https://a.example/w"}}"#,
            #"{"type":"app","user":"Alice"}"#, #"{"type":"sip","uri":"sip:a@b.example"}"#, #"{"type":"vbc","extension":"1"}"#,
            #"{"type":"websocket","uri":"wss://b.example/","content-type":"audio/l16;rate=8000"}"#,
        ])
        let detection = pick([
            "", #","machineDetection":"hangup""#, #","advancedMachineDetection":{"mode":"default","behavior":"hangup"}"#,
            #","advancedMachineDetection":{"mode":"default","behavior":"continue"}"#,
            #","advancedMachineDetection":{"mode":"detect_beep"}"#,
        ])
        let times = option(#","timeout":1"#) + option(#","limit":5"#) + option(#","eventType":"synchronous""#)
        return #"{"action":"connect","endpoint":[\#(endpoint)]\#(times)\#(detection)}"#
    }

    // MARK: Outcomes

    mutating func outcome(trouble: Int) -> PlayedOutcome {
        guard chance(trouble) else { return .ncco(ncco()) }
        return pick([
            .nothing, .status(500), .status(503), .ncco(#"[{"action":"dial"}]"#), .ncco("{}"), .fails(pick(PlayedFailure.allCases)),
            .lost, .reply(PlayedReply(status: 200, contentType: "text/html", body: Array("[]".utf8), micros: 3_000_000)),
        ])
    }
}

struct PlayedAnyCallTests {
    @Test func `every call ends within its bounds, and what is told of its legs holds together`() {
        for seed in 0..<2000 as Range<UInt64> {
            var dice = Dice(seed)
            let plan = dice.plan()
            let trouble = dice.pick([0, 10, 50])
            // With the same answer each time a flow goes in circles.
            let always = dice.chance(20) ? PlayedOutcome.ncco(dice.ncco()) : nil
            let call = play(plan) { request in
                if let always, request.mayCarryNCCO { always } else { dice.outcome(trouble: trouble) }
            }
            let faults = Self.faults(call)
            #expect(faults.isEmpty, "seed \(seed): \(faults.joined(separator: "; "))\n\(call.told.suffix(30).joined(separator: "\n"))")
        }
    }

    @Test func `so does one that is driven by the REST API, with answers that come late and in any order`() throws {
        for seed in 0..<500 as Range<UInt64> {
            var dice = Dice(seed)
            var hand = HandPlayed(dice.plan())
            var reader = NCCOReader()
            for _ in 0..<300 where !hand.call.isOver {
                let now = hand.call.now - noon
                switch dice.below(12) {
                case 0:
                    let leg = try #require(hand.call.legs.isEmpty ? nil : dice.pick(hand.call.legs))
                    let reading = reader.read(Array(dice.ncco().utf8))
                    let toURL = dice.chance(50)
                    hand.change {
                        $0.transfer(
                            uuid: leg.uuid, ncco: toURL ? nil : reading, url: toURL ? "https://a.example/t" : nil, at: noon + now + 500)
                    }
                case 1:
                    let leg = dice.pick(hand.call.legs)
                    if dice.chance(20) { hand.change { $0.hangUp(uuid: leg.uuid, at: noon + now + 500) } }
                case 2...6: hand.pass(to: now + dice.milliseconds())
                default: if !hand.open.isEmpty { hand.answer(dice.pick(hand.openNames), dice.outcome(trouble: 30)) }
                }
            }
            hand.pass(to: 10_000_000)
            while let name = hand.openNames.first { hand.answer(name, .nothing) }
            hand.pass(to: 20_000_000)
            while let name = hand.openNames.first { hand.answer(name, .nothing) }
            let faults = Self.faults(hand.call, isLimited: false)
            #expect(faults.isEmpty, "seed \(seed): \(faults.joined(separator: "; "))\n\(hand.call.told.suffix(30).joined(separator: "\n"))")
        }
    }

    /// What does not hold in a call that should be over.
    private static func faults(_ call: PlayedCall, isLimited: Bool = true) -> [String] {
        var faults: [String] = []
        if !call.isOver { faults.append("it is not over") }
        let sent = call.sent
        if sent.count > PlayedCall.mostRequests { faults.append("\(sent.count) requests") }
        if sent.map(\.request.number) != sent.indices.map({ $0 + 1 }) { faults.append("requests are missing, or finished twice") }
        // Two more for an answer that ran into its limits.
        if isLimited, call.now - noon > call.plan.longest + PlayedCall.longestUnanswered { faults.append("it took \(call.now - noon) ms") }
        let first = sent.filter { $0.request.kind == .event && $0.request.attempt == 1 }.map(\.request)
        for leg in call.legs {
            let own = first.filter { $0.leg == leg.uuid && ($0.fields.text("uuid") ?? $0.fields.text("call_uuid")) != nil }
            let name = leg.party.name
            let ends = own.indices.filter { own[$0].event == "completed" }
            let isTold = call.plan.event != nil
            if leg.answered != nil, isTold, ends.count != 1 { faults.append("\(name) completed \(ends.count) times") }
            if !leg.status.isOver { faults.append("\(name) is \(leg.status)") }
            if let end = ends.first, end != own.indices.last { faults.append("\(own[end + 1].event ?? "") behind the end of \(name)") }
            let times = own.compactMap { $0.fields.text("timestamp") }
            if times != times.sorted() { faults.append("times of \(name) go back") }
            let counts = Dictionary(own.map { ($0.event ?? "", 1) }, uniquingKeysWith: +)
            for state in ["started", "ringing", "answered"] where counts[state, default: 0] > 1 { faults.append("\(name) \(state) twice") }
            if isTold, leg.answered != nil, counts["started"] != 1 { faults.append("\(name) never started") }
        }
        let joined = call.steps.compactMap { step in if case .joins(let name) = step.what { name } else { nil } }
        let answered = call.legs.dropFirst().filter { $0.answered != nil }
        if joined.count > answered.count { faults.append("\(joined.count) joined of \(answered.count) that answered") }
        return faults
    }
}
