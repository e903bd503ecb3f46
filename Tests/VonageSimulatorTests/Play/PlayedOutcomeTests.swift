// SPDX-License-Identifier: MIT
//
// What becomes of a call when its webhooks go wrong: which are sent once more, which go to the fallback URL, and what happens then.

import Testing

@testable import VonageSimulator

struct PlayedOutcomeTests {
    private static let talk = PlayedOutcome.ncco(#"[{"action":"talk","text":"Hello."}]"#)
    private static let notify = #"{"action":"notify","payload":{},"eventUrl":["https://a.example/n"]}"#
    private static let page = PlayedOutcome.reply(PlayedReply(status: 200, contentType: "text/html", body: Array("[]".utf8)))
    private static let refused = PlayedOutcome.ncco(#"[{"action":"dial"}]"#)
    private static let withFallback = plan(phoneCall.origin, fallback: fallbackAddress)

    /// Without the times, since some outcomes take theirs.
    private func ends(_ call: PlayedCall, _ end: String) -> Bool { call.told.contains { $0.hasPrefix(end) } && call.isOver }

    /// How often what asks for an NCCO is sent, by kind.
    private func counts(_ call: PlayedCall, _ name: String) -> [Int] {
        [name, "fallback"].map { name in call.sent.count { ($0.request.event ?? $0.request.kind.rawValue) == name } }
    }

    @Test(arguments: [
        (PlayedOutcome.fails(.connectTimeout), 2), (.fails(.responseTimeout), 2), (.fails(.closed), 2), (.fails(.refused), 2),
        (.fails(.unresolved), 2), (.status(429), 2), (.status(503), 2), (.status(504), 2), (.status(401), 1), (.status(404), 1),
        (.status(500), 1), (.status(502), 1), (.status(302), 1), (refused, 1), (.ncco("[{"), 1), (.ncco("{}"), 1), (page, 1),
        (.fails(.tls), 1), (.fails(.invalidURL), 1), (.fails(.notHTTP), 1), (.fails(.tooLarge), 1),
    ])
    func `an answer request that fails`(outcome: PlayedOutcome, tries: Int) {
        let dropped = play(phoneCall) { $0.kind == .answer ? outcome : .nothing }
        #expect(counts(dropped, "answer") == [tries, 0] && ends(dropped, "in failed internal_error"))
        #expect(dropped.complaints.last?.severity == .lost)
        // Both URLs fail in the same way.
        let twice = play(Self.withFallback) { $0.kind == .event ? .nothing : outcome }
        #expect(counts(twice, "answer") == [tries, tries] && ends(twice, "in failed internal_error"))
        let saved = play(Self.withFallback) { $0.kind == .answer ? outcome : $0.kind == .fallback ? Self.talk : .nothing }
        #expect(counts(saved, "answer") == [tries, 1] && ends(saved, "in completed platform"))
        #expect(saved.complaints.allSatisfy { $0.severity != .lost })
    }

    @Test func `a second try that goes well is all there is`() {
        let call = play(Self.withFallback, ["answer": [.status(503), Self.talk]])
        #expect(call.told.prefix(2) == ["answer +0.0 -> 503", "in ringing +0.0"] && counts(call, "answer") == [2, 0])
        #expect(call.sent.first { $0.request.attempt == 2 }?.request.fields.query == call.sent[0].request.fields.query)
        #expect(call.complained == ["note: the answer request is sent once more: HTTP 503."])
    }

    @Test func `an NCCO that is refused is told, and not asked for again`() {
        let call = play(Self.withFallback, ["answer": [Self.refused], "fallback": [Self.refused]])
        #expect(
            call.told == [
                "answer +0.0", "in ringing +0.0", "in started +0.0", "in error +0.0", "fallback +0.0", "in error +0.0",
                "in failed internal_error +0.0",
            ])
        #expect(call.complained.count { $0.hasPrefix("refused: NCCO: 1:12: error NCCO007 $[0].action") } == 2)
    }

    @Test func `an NCCO that came with a call of the REST API and is refused ends the call`() {
        let ncco = Array(#"[{"action":"dial"}]"#.utf8)
        let call = play(plan(.api(to: .app("Alice"), from: nil, ncco: ncco, answer: nil), fallback: fallbackAddress), [:])
        #expect(call.told == ["out started +3.0", "out answered +3.0", "out error +3.0", "out completed platform +3.0"])
        #expect(call.complaints.last?.severity == .lost)
    }

    @Test(arguments: [(PlayedOutcome.status(200), true), (.status(205), true), (.status(206), false), (.status(302), false)])
    func `which statuses are success`(outcome: PlayedOutcome, isSuccess: Bool) {
        let call = play(phoneCall, ["answer": [Self.talk], "answered": [outcome, outcome]])
        #expect(call.complained.contains { $0.hasPrefix("lost: the answered event") } == !isSuccess)
    }

    @Test(arguments: [
        (PlayedOutcome.status(500), 2), (.status(404), 2), (.status(502), 2), (.fails(.closed), 2), (.fails(.responseTimeout), 2),
        (.fails(.tls), 1), (.fails(.invalidURL), 1), (.lost, 1),
    ])
    func `an event that fails is lost, and the call goes on`(outcome: PlayedOutcome, tries: Int) {
        let call = play(Self.withFallback, ["answer": [Self.talk], "answered": [outcome, outcome]])
        #expect(counts(call, "answered") == [tries, 0] && ends(call, "in completed platform"))
        let words = tries == 2 ? "lost: the answered event is lost after two tries" : "lost: the answered event is lost after one try"
        let isSilent = if case .lost = outcome { true } else { false }
        #expect(call.complained.contains { $0.hasPrefix(words) } != isSilent)
    }

    @Test func `in the middle of a call the event is sent twice, the fallback URL asked twice, and the NCCO goes on`() {
        let call = play(Self.withFallback) { request in
            switch request.kind {
            case .answer: .ncco("[\(Self.notify),{\"action\":\"talk\",\"text\":\"Old.\"}]")
            case .event: request.event == "notify" ? .status(500) : .nothing
            default: .status(503)
            }
        }
        #expect(
            call.told.dropFirst(4) == [
                "in notify +0.6 -> 500", "in notify again +0.6 -> 500", "fallback +0.6 -> 503", "fallback again +0.6 -> 503",
                "in completed platform +1.1",
            ])
        #expect(call.story.contains("hears Old. +0.6"))
    }

    @Test func `a fallback URL may answer for an event, with an NCCO or with nothing`() {
        let old = "[\(Self.notify),{\"action\":\"talk\",\"text\":\"Old.\"}]"
        for (answer, heard) in [(Self.talk, "hears Hello. +0.6"), (.nothing, "hears Old. +0.6")] {
            let call = play(Self.withFallback, ["answer": [.ncco(old)], "notify": [.fails(.tls)], "fallback": [answer]])
            #expect(call.story.contains(heard) && counts(call, "notify") == [1, 1])
        }
    }

    /// Events whose answers may hold an NCCO, each with a call in which it comes.
    private static let carriers: [(event: String, plan: CallPlan, ncco: String)] = {
        func with(_ callee: CallPlan.Callee.Behavior, hangsUp: Bool? = nil) -> CallPlan {
            var plan = phoneCall
            plan.callee = .init(callee)
            plan.callee.hangsUp = hangsUp
            return plan
        }
        func connect(_ options: String, _ endpoint: String = #"{"type":"phone","number":"12025550142"}"#) -> String {
            #"{"action":"connect","from":"12025550100",\#(options)"endpoint":[\#(endpoint)]}"#
        }
        let synchronous = connect(#""eventType":"synchronous","#)
        let detecting = connect(#""advancedMachineDetection":{"mode":"default"},"#)
        let socket = #"{"type":"websocket","uri":"wss://b.example/","content-type":"audio/l16;rate=8000"}"#
        return [
            ("input", phoneCall, #"{"action":"input","type":["dtmf"]}"#), ("notify", phoneCall, notify),
            ("busy", with(.busy), synchronous), ("timeout", with(.noAnswer), synchronous), ("unanswered", with(.unreachable), synchronous),
            ("rejected", with(.declines), synchronous), ("human", with(.answers, hangsUp: true), detecting),
            ("machine", with(.machine), detecting),
            ("disconnected", with(.answers, hangsUp: true), connect("", socket)),
        ]
    }()

    @Test(arguments: carriers.indices) func `an event whose answer may hold an NCCO`(index: Int) {
        let (event, plan, action) = Self.carriers[index]
        let old = PlayedOutcome.ncco("[\(action),{\"action\":\"talk\",\"text\":\"Old.\"}]")
        func heard(_ answer: PlayedOutcome) -> (story: [String], complained: [String]) {
            let call = play(plan, ["answer": [old], event: [answer]])
            #expect(call.isOver)
            return (call.story.filter { $0.contains("hears") }.map { String($0.prefix { $0 != "+" }) }, call.complained)
        }
        #expect(heard(.ncco(#"[{"action":"talk","text":"New."}]"#)).story == ["hears New. "])
        for nothing in [PlayedOutcome.nothing, .status(200), .ncco("{}"), .ncco(" \n")] {
            #expect(heard(nothing) == (["hears Old. "], []))
        }
        let note = "note: the answer to the \(event) event is no NCCO and counts as none"
        #expect(heard(.ncco(#"{"action":"talk"}"#)) == (["hears Old. "], [note]))
        let bad = heard(Self.refused)
        #expect(bad.story == ["hears Old. "] && bad.complained.first?.hasPrefix("refused: NCCO: 1:12: error NCCO007") == true)
        #expect(heard(Self.page).story == ["hears Old. "])
    }

    @Test func `the answers to all other events are of no interest`() {
        let call = play(phoneCall) { $0.kind == .answer ? Self.talk : .ncco(#"[{"action":"talk","text":"No."}]"#) }
        #expect(call.complaints.isEmpty && !call.story.contains { $0.contains("No.") })
    }

    @Test func `a callee whose connect is not synchronous is not asked about`() {
        let call = play(
            ncco: #"[{"action":"connect","endpoint":[{"type":"phone","number":"12025550142"}]}]"#, callee: .init(.busy))
        #expect(call.sent.first { $0.request.event == "busy" }?.request.mayCarryNCCO == false)
    }

    @Test func `an answer that takes more than half of its limit is noted`() {
        let slow = PlayedOutcome.reply(
            PlayedReply(status: 200, contentType: "application/json", body: Array("[]".utf8), micros: 2_501_000))
        #expect(
            play(phoneCall, ["answer": [slow]]).complained == ["note: the answer request was answered after 2501 ms of 5000"])
    }

    @Test(arguments: [
        ("delivered twice", "refused"), ("answer 100 ms late", "refused"), ("answered by a tunnel", "note"), ("unsigned", "note"),
    ])
    func `only trouble that touches an answer excuses it`(trouble: String, severity: String) {
        for outcome in [Self.refused, Self.page, .status(404)] {
            var call = PlayedCall(phoneCall, began: noon, ids: { "id" })
            var reader = NCCOReader()
            call.start()
            for request in call.takeRequests() where request.kind == .answer {
                call.finish(request.number, outcome, trouble: [trouble], at: noon, reader: &reader)
            }
            #expect(
                call.complained.first?.hasPrefix(severity) == true && call.complained.last?.hasPrefix("lost: the call is dropped") == true)
        }
    }
}
