// SPDX-License-Identifier: MIT
//
// What is sent in what order, as logs of real calls show it.

import Testing

@testable import VonageSimulator

struct PlayedOrderTests {
    private static let begun = ["answer +0.0", "in ringing +0.0", "in started +0.0", "in answered +0.6"]
    private static let toAlice = #"[{"action":"connect","endpoint":[{"type":"app","user":"Alice"}]}]"#
    private static let toPhone = #"[{"action":"connect","from":"12025550100","endpoint":[{"type":"phone","number":"12025550142"}]}]"#

    private func callee(_ behavior: CallPlan.Callee.Behavior) -> CallPlan.Callee { .init(behavior) }

    @Test func `a phone reaches an app user, and the caller hangs up`() {
        let call = play(ncco: Self.toAlice)
        #expect(
            call.told == Self.begun + [
                "out(Alice) started +3.6", "out(Alice) answered +3.6", "out(Alice) completed platform +15.6", "in completed user +15.6",
            ])
        #expect(call.isOver && call.complaints.isEmpty)
    }

    @Test func `an app user reaches a phone`() {
        let call = play(
            plan(.app(user: "Alice", to: "12025550142", customData: nil)),
            ["answer": [.ncco(#"[{"action":"connect","endpoint":[{"type":"phone","number":"12025550142"}]}]"#)]])
        #expect(
            call.told == [
                "answer +0.0", "in started +0.0", "in answered +0.0", "out(12025550142) started +0.0", "out(12025550142) ringing +1.0",
                "out(12025550142) answered +3.0", "out(12025550142) completed platform +15.0", "in completed user +15.0",
            ])
        let bodies = call.bodies("started") + call.bodies("completed")
        #expect(bodies[0].contains(#""from":null,"to":"Alice""#) && bodies[1].contains(#""from":"Alice","to":"12025550142""#))
        #expect(bodies[2].contains(#""from":"Unknown","to":"12025550142""#) && bodies[3].contains(#""from":null,"to":"Alice""#))
    }

    @Test func `an app user reaches another`() {
        let call = play(
            plan(.app(user: "Bob", to: "Alice", customData: nil)), ["answer": [.ncco(Self.toAlice)]])
        #expect(
            call.told == [
                "answer +0.0", "in started +0.0", "in answered +0.0", "out(Alice) started +3.0", "out(Alice) answered +3.0",
                "out(Alice) completed platform +15.0", "in completed user +15.0",
            ])
        #expect(call.bodies("answered")[1].contains(#""from":"Bob","to":"Alice""#))
    }

    @Test(arguments: [
        (CallPlan.Callee.Behavior.busy, ["started +0.6", "ringing +1.6", "busy +2.6", "completed user +2.6"], "+2.6"),
        (.noAnswer, ["started +0.6", "ringing +1.6", "timeout +60.6", "completed platform +60.6"], "+60.6"),
        (.unreachable, ["started +0.6", "unanswered unavailable +3.6", "completed user +3.6"], "+3.6"),
        (.declines, ["started +0.6", "ringing +1.6", "rejected declined +4.6"], "+4.6"),
        (.badNumber, ["started +0.6", "rejected invalid_number +1.1"], "+1.1"),
    ])
    func `a callee who is not reached ends the call`(behavior: CallPlan.Callee.Behavior, states: [String], end: String) {
        let call = play(ncco: Self.toPhone, callee: .init(behavior))
        #expect(call.told == Self.begun + states.map { "out(12025550142) \($0)" } + ["in completed platform \(end)"])
    }

    @Test func `what follows a callee who was not reached is done`() {
        let call = play(ncco: Self.toPhone.dropLast() + #",{"action":"talk","text":"Nobody."}]"#, callee: .init(.busy))
        #expect(call.story.contains("hears Nobody. +2.6") && call.told.last == "in completed platform +3.1")
    }

    @Test func `a caller gives up while the callee rings`() {
        var plan = phoneCall
        plan.callerGivesUpAfter = 2000
        let call = play(plan, ["answer": [.ncco(Self.toPhone)]])
        #expect(
            call.told == Self.begun + [
                "out(12025550142) started +0.6", "out(12025550142) ringing +1.6", "out(12025550142) cancelled +2.0",
                "out(12025550142) completed platform +2.0", "in completed user +2.0",
            ])
    }

    @Test func `a callee hangs up after talking`() {
        var callee = CallPlan.Callee()
        callee.hangsUp = true
        let call = play(ncco: Self.toPhone, callee: callee)
        #expect(call.told.suffix(2) == ["out(12025550142) completed user +15.6", "in completed platform +15.6"])
    }

    @Test func `a caller hangs up after talking`() {
        let call = play(ncco: Self.toPhone)
        #expect(call.told.suffix(2) == ["out(12025550142) completed platform +15.6", "in completed user +15.6"])
    }

    @Test func `a caller hangs up during an input, which is told nobody`() {
        var plan = phoneCall
        plan.callerGivesUpAfter = 2000
        let call = play(plan, ["answer": [.ncco(#"[{"action":"input","type":["dtmf"]}]"#)]])
        #expect(call.told == Self.begun + ["in completed user +2.0"])
    }

    @Test func `a recording without an end is told of when the call is over`() {
        let call = play(ncco: #"[{"action":"record"},{"action":"wait","timeout":2}]"#)
        #expect(call.told == Self.begun + ["in record +2.6", "in completed platform +2.6"])
    }

    @Test func `a call of the REST API asks for its NCCO once it is answered`() {
        let call = play(
            plan(.api(to: .phone("12025550142"), from: "12025550100", ncco: nil, answer: nil)),
            ["answer": [.ncco(#"[{"action":"talk","text":"Hello."}]"#)]])
        #expect(
            call.told == [
                "out started +0.0", "out ringing +1.0", "out answered +3.0", "answer +3.0", "out completed platform +3.5",
            ])
    }

    @Test func `an inline NCCO asks for none`() {
        let call = play(
            plan(
                .api(
                    to: .app("Alice"), from: "12025550100", ncco: Array(#"[{"action":"talk","text":"Hello."}]"#.utf8), answer: nil)), [:])
        #expect(call.told == ["out started +3.0", "out answered +3.0", "out completed platform +3.5"])
    }

    @Test func `events on how a call comes about may come before the answer request`() {
        var plan = phoneCall
        plan.sendsEventsFirst = true
        #expect(play(plan, [:]).told.prefix(3) == ["in ringing +0.0", "in started +0.0", "answer +0.0"])
    }

    @Test func `no events are sent where there is nowhere to send them`() {
        var plan = phoneCall
        plan.event = nil
        let call = play(plan, ["answer": [.ncco(Self.toAlice)]])
        #expect(call.told == ["answer +0.0"] && call.isOver)
    }
}
