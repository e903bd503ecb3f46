// SPDX-License-Identifier: MIT
//
// Hang-ups at each moment of a call, by people and by the REST API; transfers; what comes too late; and flows that never end.

import NCCO
import Testing

@testable import VonageSimulator

struct PlayedHangUpTests {
    private static let phone = #"{"action":"connect","from":"12025550100","endpoint":[{"type":"phone","number":"12025550142"}]}"#
    private static let whisper =
        #"{"action":"connect","from":"12025550100","endpoint":[{"type":"phone","number":"12025550142","onAnswer":{"url":"https://a.example/w"}}]}"#
    private static let synchronous =
        #"{"action":"connect","eventType":"synchronous","endpoint":[{"type":"phone","number":"12025550142"}]}"#
    private static let notify = #"{"action":"notify","payload":{},"eventUrl":["https://a.example/n"]}"#

    @Test(arguments: [
        // The NCCO, when the caller hangs up, and what is told from then on.
        ("[\(phone)]", 300, ["in completed user +0.3"]),
        ("[\(phone)]", 900, ["out(12025550142) cancelled +0.9", "out(12025550142) completed platform +0.9", "in completed user +0.9"]),
        ("[\(phone)]", 5000, ["out(12025550142) completed platform +5.0", "in completed user +5.0"]),
        ("[\(whisper)]", 5000, ["out(12025550142) completed platform +5.0", "in completed user +5.0"]),
        (#"[{"action":"wait"}]"#, 5000, ["in completed user +5.0"]),
        (#"[{"action":"input","type":["dtmf"]}]"#, 1500, ["in completed user +1.5"]),
        (#"[{"action":"record","timeOut":60}]"#, 5000, ["in record +5.0", "in completed user +5.0"]),
        (#"[{"action":"conversation","name":"room","record":true}]"#, 5000, ["in record +5.0", "in completed user +5.0"]),
    ])
    func `a caller hangs up`(ncco: String, time: Int, expected: [String]) {
        var plan = phoneCall
        plan.callerGivesUpAfter = Int64(time)
        let call = play(plan, ["answer": [.ncco(ncco)], "on_answer": [.ncco(#"[{"action":"wait"}]"#)]])
        #expect(call.told.suffix(expected.count) == expected && call.complaints.isEmpty)
        #expect(!call.told.dropLast(expected.count).contains { $0.contains("completed") || $0.contains("cancelled") })
    }

    @Test(arguments: [
        PlayedOutcome.ncco(#"[{"action":"talk","text":"Late."}]"#), .ncco(#"[{"action":"dial"}]"#), .nothing, .status(503),
        .fails(.responseTimeout), .lost,
    ])
    func `what comes once the caller has hung up changes nothing`(outcome: PlayedOutcome) {
        var late = plan(phoneCall.origin, fallback: fallbackAddress)
        late.callerGivesUpAfter = 2000
        var hand = HandPlayed(late)
        hand.pass(to: 3000)
        let told = hand.openNames
        hand.answer("answer", outcome)
        #expect(hand.openNames == told.filter { $0 != "answer" } && hand.call.isSilent)
        #expect(hand.call.story == ["hangs up +2.0"])

        // The same with an event: it is told again, and its answer is of no interest.
        hand = HandPlayed(late)
        hand.answer("answer", .ncco("[\(Self.notify),\(Self.phone)]"))
        hand.pass(to: 3000)
        hand.answer("notify", outcome)
        hand.answer("notify", outcome)
        #expect(!hand.openNames.contains { ["notify", "fallback", "error"].contains($0) })
        #expect(hand.call.story.filter { !$0.hasPrefix("notify") } == ["hangs up +2.0"])
    }

    @Test func `a callee's event that is answered once the caller is gone changes nothing`() {
        var plan = phoneCall
        plan.callee = .init(.busy)
        plan.callerGivesUpAfter = 4000
        var hand = HandPlayed(plan)
        hand.answer("answer", .ncco("[\(Self.synchronous)]"))
        hand.pass(to: 5000)
        hand.answer("busy", .ncco(#"[{"action":"talk","text":"Late."}]"#))
        #expect(hand.call.isSilent && !hand.call.story.contains { $0.contains("Late.") })
    }

    @Test(arguments: [(1000, "1.6"), (2000, "2.6"), (20_000, "20.6")])
    func `the call ends at its limit from the answer on, whoever is in it`(limit: Int, end: String) {
        var plan = phoneCall
        plan.longest = Int64(limit)
        plan.talkFor = 60_000
        let call = play(plan, ["answer": [.ncco("[\(Self.phone)]")]])
        #expect(call.told.suffix(2) == ["out(12025550142) completed platform +\(end)", "in completed platform +\(end)"])
    }

    @Test(arguments: [true, false]) func `a call counts its limit from the answer, and is not unanswered for ever`(isOutbound: Bool) {
        var plan = isOutbound ? plan(.api(to: .app("Alice"), from: nil, ncco: nil, answer: nil)) : phoneCall
        plan.longest = 5000
        plan.callee.answersAfter = 20_000
        let wait = PlayedOutcome.ncco(#"[{"action":"wait","timeout":60}]"#)
        let call = play(plan, ["answer": [wait]])
        #expect(call.told.last == (isOutbound ? "out completed platform +25.0" : "in completed platform +5.6"))
        let lost = play(phoneCall, ["answer": [.lost]])
        #expect(lost.told.last == "in completed platform +600.0" && lost.isOver)
    }

    @Test func `a transferred callee ends at the call's limit too`() throws {
        var plan = phoneCall
        plan.longest = 30_000
        var hand = HandPlayed(plan)
        hand.answer("answer", .ncco("[\(Self.phone)]"))
        hand.pass(to: 8000)
        let uuid = try #require(hand.call.legs.last?.uuid)
        var reader = NCCOReader()
        let ncco = reader.read(Array(#"[{"action":"wait","timeout":7200}]"#.utf8))
        hand.change { $0.transfer(uuid: uuid, ncco: ncco, url: nil, at: noon + 10_000) }
        hand.pass(to: 40_000)
        #expect(told(&hand).last == "out(12025550142) completed platform +30.6")
    }

    @Test func `a callee who still rings for a step that is gone is called no longer`() {
        var plan = phoneCall
        plan.entries = [.press("1")]
        let keys = #"{"action":"input","type":["dtmf"],"mode":"asynchronous"}"#
        let call = play(
            plan, ["answer": [.ncco("[\(keys),\(Self.phone)]")], "input": [.ncco(#"[{"action":"wait","timeout":20}]"#)]])
        #expect(
            call.told.suffix(4) == [
                "in input +1.6", "out(12025550142) cancelled +1.6", "out(12025550142) completed platform +1.6",
                "in completed platform +21.6",
            ])
    }

    // MARK: The REST API

    /// A call of the REST API that has this NCCO, at 3 seconds.
    private static func called(_ ncco: String, callee: CallPlan.Callee = .init()) -> HandPlayed {
        var plan = plan(.api(to: .app("Alice"), from: "12025550100", ncco: Array(ncco.utf8), answer: nil))
        plan.callee = callee
        return HandPlayed(plan)
    }

    /// What was told so far, answered with nothing.
    private func told(_ hand: inout HandPlayed) -> [String] {
        for name in hand.openNames { hand.answer(name, .nothing) }
        return hand.call.told
    }

    @Test func `a hang-up before the answer cancels, one behind it completes`() throws {
        var hand = Self.called("[]")
        let uuid = try #require(hand.call.legs.first?.uuid)
        hand.change { $0.hangUp(uuid: uuid, at: noon + 1000) }
        #expect(told(&hand) == ["out started +1.0", "out cancelled +1.0", "out completed platform +1.0"] && hand.call.isOver)

        hand = Self.called(#"[{"action":"wait"}]"#)
        hand.change { $0.hangUp(uuid: uuid, at: noon + 5000) }
        #expect(told(&hand) == ["out started +3.0", "out answered +3.0", "out completed platform +5.0"] && hand.call.isOver)
        hand.change { $0.hangUp(uuid: uuid, at: noon + 6000) }
        #expect(hand.openNames.isEmpty)
    }

    @Test func `a transfer gives the caller another NCCO, and drops whom it talked to`() throws {
        var hand = Self.called("[\(Self.phone)]")
        hand.pass(to: 8000)
        let uuid = try #require(hand.call.legs.first?.uuid)
        var reader = NCCOReader()
        let ncco = reader.read(Array(#"[{"action":"wait","timeout":20}]"#.utf8))
        hand.change { $0.transfer(uuid: uuid, ncco: ncco, url: nil, at: noon + 10_000) }
        hand.pass(to: 60_000)
        #expect(
            told(&hand).suffix(3) == ["out transfer +10.0", "out(12025550142) completed platform +10.0", "out completed platform +30.0"])
    }

    @Test func `a transfer of the callee ends the caller's leg`() throws {
        var hand = Self.called("[\(Self.phone)]")
        hand.pass(to: 8000)
        let uuid = try #require(hand.call.legs.last?.uuid)
        var reader = NCCOReader()
        let ncco = reader.read(Array(#"[{"action":"wait","timeout":20}]"#.utf8))
        hand.change { $0.transfer(uuid: uuid, ncco: ncco, url: nil, at: noon + 10_000) }
        hand.pass(to: 60_000)
        #expect(
            told(&hand).suffix(3) == [
                "out(12025550142) transfer +10.0", "out completed platform +10.0", "out(12025550142) completed platform +30.0",
            ])
        #expect(hand.call.isOver)
    }

    @Test func `a callee who was transferred is no callee any more`() throws {
        var callee = CallPlan.Callee()
        callee.hangsUp = true
        // While it talks, and before its onAnswer has an answer.
        for connect in [Self.phone, Self.whisper] {
            var hand = Self.called("[\(connect)]", callee: callee)
            hand.pass(to: 8000)
            let uuid = try #require(hand.call.legs.last?.uuid)
            var reader = NCCOReader()
            let ncco = reader.read(Array(#"[{"action":"wait","timeout":20}]"#.utf8))
            hand.change { $0.transfer(uuid: uuid, ncco: ncco, url: nil, at: noon + 10_000) }
            hand.answer("on_answer", .ncco(#"[{"action":"talk","text":"Late."}]"#))
            hand.pass(to: 60_000)
            #expect(told(&hand).last == "out(12025550142) completed platform +30.0")
            #expect(!hand.call.story.contains { $0.contains("Late.") })
        }
    }

    @Test func `a transfer to a URL asks it, and the call ends where it has no NCCO`() throws {
        for (answer, end) in [(PlayedOutcome.ncco(#"[{"action":"wait","timeout":1}]"#), "+6.0"), (.status(404), "+5.0")] {
            var hand = Self.called(#"[{"action":"wait"}]"#)
            let uuid = try #require(hand.call.legs.first?.uuid)
            hand.change { $0.transfer(uuid: uuid, ncco: nil, url: "https://c.example/next", at: noon + 5000) }
            #expect(hand.open.last?.target.hasPrefix("/next?to=Alice&from=12025550100&endpoint_type=app") == true)
            hand.answer("transfer", .nothing)
            hand.answer("transfer", answer)
            hand.pass(to: 60_000)
            #expect(told(&hand).last == "out completed platform \(end)")
        }
    }

    @Test func `an NCCO that comes behind a transfer is not taken`() throws {
        var hand = HandPlayed(plan(.api(to: .app("Alice"), from: nil, ncco: nil, answer: nil)))
        hand.pass(to: 4000)
        let uuid = try #require(hand.call.legs.first?.uuid)
        var reader = NCCOReader()
        let ncco = reader.read(Array(#"[{"action":"wait","timeout":20}]"#.utf8))
        hand.change { $0.transfer(uuid: uuid, ncco: ncco, url: nil, at: noon + 5000) }
        hand.answer("answer", .ncco(#"[{"action":"talk","text":"Late."}]"#))
        hand.pass(to: 60_000)
        #expect(told(&hand).last == "out completed platform +25.0" && !hand.call.story.contains { $0.contains("Late.") })
    }

    @Test func `all that is due is done before the REST API's command, at its own time`() throws {
        var hand = Self.called(#"[\#(Self.phone),{"action":"wait","timeout":60}]"#, callee: .init(.answers))
        let uuid = try #require(hand.call.legs.first?.uuid)
        hand.change { $0.hangUp(uuid: uuid, at: noon + 20_000) }
        #expect(told(&hand).contains("out(12025550142) answered +6.0") && hand.call.told.last == "out completed user +18.0")
    }

    // MARK: Circles

    @Test func `a flow that goes in circles ends, and its end is told`() {
        var plan = phoneCall
        plan.callee = .init(.busy)
        let circles: [(String, String)] = [
            ("[\(Self.notify)]", "notify"), (#"[{"action":"input","type":["dtmf"],"dtmf":{"timeOut":0}}]"#, "input"),
            ("[\(Self.synchronous)]", "busy"),
        ]
        for (ncco, event) in circles {
            let call = play(plan) { $0.kind == .answer || $0.event == event ? .ncco(ncco) : .nothing }
            #expect(call.isOver && call.sent.count <= PlayedCall.mostRequests && call.told.last?.hasPrefix("in completed user") == true)
            #expect(call.complained.count { $0.hasPrefix("lost: the call goes in circles") } == 1)
        }
    }
}
