// SPDX-License-Identifier: MIT

import HTTPServer
import HTTPWire
import JSON
import NCCO
import Testing

@testable import VonageSimulator

struct PlayedCallsTests {
    private func played(_ adjust: (inout SimulatedVonage.Rules) -> Void = { _ in }) throws -> Simulation {
        try Simulation {
            $0.answersCalls = false
            adjust(&$0)
        }
    }

    /// What is ordered for a new call.
    private func plan(_ simulation: Simulation, _ body: String) throws -> CallPlan {
        let made = try simulation.ask(.post, "/v1/calls", body)
        let order = try #require(simulation.vonage.orders.first, "\(made.text)")
        guard case .begin(let plan) = order.what else { throw SimulatorError("\(order)") }
        #expect(order.call == made["uuid"] && simulation.vonage.orders.count == 1)
        return plan
    }

    private static let ncco = #""ncco":[{"action":"talk","text":"Hello."}]"#

    private func setWebhooks(_ simulation: Simulation, _ hooks: String) throws {
        let body = #"{"name":"One","capabilities":{"voice":{"webhooks":{\#(hooks)}}}}"#
        let answer = try simulation.ask(.put, "/v2/applications/\(applicationText)", body, authorization: "Basic YTpi")
        #expect(answer.status == 200, "\(answer.text)")
    }

    // MARK: Plans

    @Test(arguments: [
        (#"{"type":"phone","number":"+12025550142"}"#, CallPlan.Party.phone("12025550142")),
        (#"{"type":"sip","uri":"sip:a@example.com"}"#, .sip("sip:a@example.com")),
        (#"{"type":"websocket","uri":"wss://a.example/ws"}"#, .websocket("wss://a.example/ws")),
        (#"{"type":"vbc","extension":"204"}"#, .vbc("204")), (#"{"type":"app","user":"Alice"}"#, .app("Alice")),
    ])
    func `whoever is named is called`(_ endpoint: String, _ party: CallPlan.Party) throws {
        let simulation = try played()
        let plan = try plan(simulation, #"{"to":[\#(endpoint)],"from":{"type":"phone","number":"+12025550100"},\#(Self.ncco)}"#)
        guard case .api(let to, let from, let ncco, nil) = plan.origin else { throw SimulatorError("\(plan.origin)") }
        #expect(to == party && from == "12025550100")
        #expect(ncco.map { String(decoding: $0, as: UTF8.self) } == #"[{"action":"talk","text":"Hello."}]"#)
        #expect(plan.event == nil && plan.fallback == nil && plan.detection == nil && plan.regionURL == "http://localhost:3001")
        #expect(plan.longest == 7_200_000 && plan.ringsFor == 60_000 && plan.limits == WebhookLimits())
    }

    @Test func `what a call says of itself counts`() throws {
        let simulation = try played()
        try setWebhooks(simulation, #""event_url":{"address":"https://a.example/app"}"#)
        let body = #"""
            {"to":[{"type":"app","user":"Alice"}],"random_from_number":true,"answer_url":["https://a.example/1","https://a.example/2"],\#
            "answer_method":"post","event_url":["https://a.example/e?x=1"],"event_method":"GET","length_timer":600,"ringing_timer":30}
            """#
        let plan = try plan(simulation, body)
        let answer = WebhookAddress(url: "https://a.example/1", method: .post)
        guard case .api(_, "14155550100", nil, answer) = plan.origin else { throw SimulatorError("\(plan.origin)") }
        #expect(plan.answer == answer && plan.event == WebhookAddress(url: "https://a.example/e?x=1", method: .get))
        #expect(plan.longest == 600_000 && plan.ringsFor == 30_000)
        let call = try #require(simulation.vonage.calls.all.first)
        #expect(plan.legID == call.id && plan.conversationID == call.conversation)
    }

    @Test func `of what a call does not say the application's settings count, within Vonage's ranges`() throws {
        let simulation = try played()
        try setWebhooks(
            simulation,
            #"""
            "answer_url":{"address":"https://a.example/a","http_method":"POST","connect_timeout":100,"socket_timeout":9000},\#
            "fallback_answer_url":{"address":"https://b.example/f","http_method":"POST"},\#
            "event_url":{"address":"https://a.example/e","http_method":"GET","socket_timeout":2000}
            """#)
        let plan = try plan(simulation, #"{"to":[{"type":"app","user":"Alice"}],"random_from_number":true,\#(Self.ncco)}"#)
        #expect(plan.event == WebhookAddress(url: "https://a.example/e", method: .get))
        #expect(plan.fallback == WebhookAddress(url: "https://b.example/f", method: .post))
        #expect(plan.limits.connect == 300 && plan.limits.answer == 5000 && plan.limits.event == 2000)
    }

    @Test func `a server of this machine is asked and told where its routes are`() throws {
        let simulation = try played()
        simulation.vonage.setWebhooks(origin: "http://localhost:3000")
        let plan = try plan(simulation, Simulation.call)
        #expect(plan.event == WebhookAddress(url: "http://localhost:3000/voice/event", method: .post))
        #expect(plan.fallback == WebhookAddress(url: "http://localhost:3000/voice/fallback", method: .get))
        #expect(plan.answer == WebhookAddress(url: "http://localhost:3000/voice/answer", method: .get))
    }

    @Test(arguments: [
        (#""machine_detection":"continue""#, Connect.MachineDetection.continue), (#""machine_detection":"hangup""#, .hangup),
        (
            #""advanced_machine_detection":{"behavior":"hangup","mode":"detect_beep","beep_timeout":45}"#,
            .advanced(AdvancedMachineDetection(behavior: .hangup, mode: .detectBeep, beepTimeout: 45))
        ), (#""machine_detection":"hangup","advanced_machine_detection":{}"#, .advanced(AdvancedMachineDetection())),
    ])
    func `a machine is told apart as a call wishes`(_ wish: String, _ detection: Connect.MachineDetection) throws {
        let plan = try plan(
            try played(), #"{"to":[{"type":"phone","number":"1"}],"random_from_number":true,\#(Self.ncco),\#(wish)}"#)
        #expect(plan.detection == detection)
    }

    @Test func `a call is controlled where it was made`() throws {
        let simulation = try played { $0.hasRegionTrap = true }
        try simulation.ask(.post, "/eu/v1/calls", Simulation.call)
        guard case .begin(let plan)? = simulation.vonage.orders.first?.what else { throw SimulatorError("no plan") }
        #expect(plan.regionURL == "http://localhost:3001/eu")
    }

    // MARK: Orders

    @Test func `what a leg is told becomes an order, and what is refused does not`() throws {
        let simulation = try played()
        let uuid = try simulation.makeCall()
        let path = "/v1/calls/\(uuid)"
        func orders(_ method: HTTPWire.Method, _ target: String, _ body: String = "") throws -> [String] {
            try simulation.ask(method, target, body)
            return simulation.vonage.orders.map { order in
                #expect(order.call == uuid)
                return switch order.what {
                case .begin: "begin"
                case .hangUp: "hang up"
                case .transfer(let ncco, let url): "transfer \(ncco.map { String(decoding: $0, as: UTF8.self) } ?? url ?? "")"
                case .talk(let text): "talk \(text)"
                case .stream(let url): "stream \(url)"
                case .press(let digits): "press \(digits)"
                case .listen(let url): "listen \(url ?? "no more")"
                }
            }
        }
        #expect(try orders(.put, path + "/dtmf", #"{"digits":"1"}"#).isEmpty, "nobody has answered")
        #expect(simulation.advance(uuid, .answered))
        #expect(try orders(.put, path + "/dtmf", #"{"digits":"1p2"}"#) == ["press 1p2"])
        #expect(try orders(.put, path + "/dtmf", #"{"digits":"a"}"#).isEmpty)
        #expect(try orders(.put, path + "/talk", #"{"text":"Hello."}"#) == ["talk Hello."])
        #expect(try orders(.put, path + "/talk", #"{"text":"Hello."}"#).isEmpty, "it is being talked to")
        #expect(try orders(.put, path + "/stream", #"{"stream_url":["https://a.example/a.mp3"]}"#) == ["stream https://a.example/a.mp3"])
        #expect(try orders(.put, path + "/input/dtmf", #"{"event_url":["https://a.example/k"]}"#) == ["listen https://a.example/k"])
        #expect(try orders(.delete, path + "/input/dtmf") == ["listen no more"])
        for action in ["mute", "unmute", "earmuff", "unearmuff"] {
            #expect(try orders(.put, path, #"{"action":"\#(action)"}"#).isEmpty)
        }
        #expect(
            try orders(.put, path, #"{"action":"transfer","destination":{"type":"ncco",\#(Self.ncco)}}"#)
                == [#"transfer [{"action":"talk","text":"Hello."}]"#])
        #expect(
            try orders(.put, path, #"{"action":"transfer","destination":{"type":"ncco","url":["https://a.example/n"]}}"#)
                == ["transfer https://a.example/n"])
        #expect(try orders(.put, path, #"{"action":"hangup"}"#) == ["hang up"])
        #expect(try orders(.put, path, #"{"action":"hangup"}"#).isEmpty, "it is over")
    }

    @Test func `where nobody plays, nothing is ordered`() throws {
        let simulation = try Simulation()
        let uuid = try simulation.makeCall()
        #expect(simulation.vonage.orders.isEmpty)
        try simulation.ask(.put, "/v1/calls/\(uuid)", #"{"action":"hangup"}"#)
        #expect(simulation.vonage.orders.isEmpty)
    }

    @Test func `more calls at one time than can be played are refused`() throws {
        let simulation = try played { $0.mostPlayed = 2 }
        let first = try simulation.makeCall()
        _ = try simulation.makeCall()
        let refused = try simulation.ask(.post, "/v1/calls", Simulation.call)
        #expect(refused.status == 429 && refused["type"].hasSuffix("#throttled") && simulation.vonage.orders.isEmpty)
        #expect(simulation.advance(first, .busy))
        #expect(try simulation.ask(.post, "/v1/calls", Simulation.call).status == 201)
    }

    @Test func `orders wait in a list that has an end, and go nowhere once it is stopped`() {
        func orders(_ count: Int) -> [CallOrder] { (0..<count).map { CallOrder(call: "\($0)", what: .hangUp) } }
        let inbox = OrderInbox()
        #expect(inbox.add(orders(PlayedCalls.mostOrders)).isEmpty)
        #expect(inbox.add(orders(2)).map(\.call) == ["0", "1"])
        #expect(inbox.take()?.count == PlayedCalls.mostOrders && inbox.take()?.isEmpty == true)
        #expect(inbox.add(orders(2)).isEmpty)
        inbox.stop()
        #expect(inbox.add(orders(1)).count == 1 && inbox.take() == nil)
    }

    // MARK: What becomes of a call

    @Test func `a leg is shown in the conversation that it is in, and leaves none of its own behind`() throws {
        let simulation = try played()
        let made = try simulation.ask(.post, "/v1/calls", Simulation.call)
        let (uuid, old) = (made["uuid"], made["conversation_uuid"])
        simulation.vonage.move(call: uuid, to: "CON-new", at: simulation.now)
        #expect(try simulation.ask(.get, "/v1/calls/\(uuid)")["conversation_uuid"] == "CON-new")
        #expect(try simulation.ask(.get, "/v1/conversations/CON-new").status == 200)
        #expect(try simulation.ask(.get, "/v1/conversations/\(old)").status == 404)
        // What somebody else has made stays.
        let room = try simulation.ask(.post, "/v1/conversations", #"{"name":"tea"}"#)["id"]
        simulation.vonage.move(call: uuid, to: room, at: simulation.now)
        simulation.vonage.move(call: uuid, to: "CON-last", at: simulation.now)
        #expect(try simulation.ask(.get, "/v1/conversations/\(room)").status == 200)
        #expect(try simulation.ask(.get, "/v1/conversations/CON-new").status == 404)
        simulation.vonage.move(call: "none", to: room, at: simulation.now)
        #expect(simulation.vonage.conversations.count == 2)
    }

    @Test func `a state is known before anybody is told of it`() {
        let story = Story()
        let player = CallPlayer(transport: story, pace: .real, clock: story.clock)
        let event = WebhookAddress(url: "http://a.example/", method: .post)
        let ncco = Array(#"[{"action":"talk","text":"Hello."}]"#.utf8)
        let plan = CallPlan(.api(to: .phone("12025550142"), from: nil, ncco: ncco, answer: nil), answer: event, event: event)
        let counter = Counter()
        player.play(
            PlayedCall(plan, began: 0) { counter.next() },
            changed: { story.lines += $0.takeLegChanges().map { "is \($0.status)" } }, done: { _ in story.lines.append("over") })
        for time: Int64 in [1000, 3000, 4000] {
            story.now = time
            player.turn(milliseconds: 0)
        }
        #expect(
            story.lines == [
                "is started", "told started", "is ringing", "told ringing", "is answered", "told answered", "is completed",
                "told completed", "over",
            ])
    }

    @Test func `calls enter the same conversation by the same name, and the one that the API has made`() throws {
        let simulation = try played()
        let (first, second) = (try simulation.makeCall(), try simulation.makeCall())
        let tea = try simulation.ask(.post, "/v1/conversations", #"{"name":"tea"}"#)["id"]
        func room(_ name: String, _ call: String) -> String? { simulation.vonage.room(named: name, for: call, at: simulation.now) }
        let entered = [room("tea", first), room("room", first), room("room", second)]
        let id = try #require(entered[1])
        #expect(entered == [tea, id, id])
        #expect(try simulation.ask(.get, "/v1/conversations/\(id)")["name"] == "room")
        // It goes two days after somebody has entered it last.
        simulation.now += 100_000_000
        let again = room("room", second)
        simulation.now += 100_000_000
        #expect(try simulation.ask(.get, "/v1/conversations/\(id)").status == 200 && again == id)
        simulation.now += 100_000_000
        #expect(try simulation.ask(.get, "/v1/conversations/\(id)").status == 404)
    }

    @Test func `calls end with the simulator that played them`() throws {
        let simulation = try played()
        let (talking, ringing) = (try simulation.makeCall(), try simulation.makeCall())
        #expect(simulation.advance(talking, .answered) && simulation.advance(ringing, .ringing))
        simulation.now += 7000
        let crashed = try SavedState(simulation.vonage.savedState)
        simulation.vonage.endCalls(at: simulation.now)
        #expect(try simulation.ask(.get, "/v1/calls/\(talking)")["status"] == "completed")
        #expect(try simulation.ask(.get, "/v1/calls/\(talking)")["duration"] == "7")
        #expect(try simulation.ask(.get, "/v1/calls/\(ringing)")["status"] == "failed")
        // Of a simulator that was killed nobody knows how long it went on.
        let other = try played()
        other.now = simulation.now
        other.vonage.restore(crashed)
        #expect(try other.ask(.get, "/v1/calls/\(talking)")["status"] == "completed")
        #expect(try other.ask(.get, "/v1/calls/\(talking)")["duration"] == "0")
        #expect(try other.ask(.get, "/v1/calls/\(ringing)")["status"] == "failed")
        #expect(try other.ask(.put, "/v1/calls/\(talking)", #"{"action":"hangup"}"#).status == 404)
    }

    // MARK: What a leg hears and presses

    /// A call that is answered, and hears a file for ever.
    private func answered(_ entries: [CallPlan.Entry]) -> (PlayedCall, String) {
        let ncco = Array(#"[{"action":"stream","streamUrl":["https://a.example/hold.mp3"],"loop":0}]"#.utf8)
        let nowhere = WebhookAddress(url: "http://a.example/", method: .get)
        var plan = CallPlan(.api(to: .phone("12025550142"), from: nil, ncco: ncco, answer: nil), answer: nowhere, event: nil)
        plan.entries = entries
        plan.legID = "leg"
        let counter = Counter()
        var call = PlayedCall(plan, began: 0) { counter.next() }
        call.start()
        call.advance(to: 3000)
        return (call, "leg")
    }

    @Test func `a leg hears what the API plays to it, beside what it hears already`() {
        var (call, leg) = answered([])
        call.talk("<speak>One <break/>moment.</speak>", uuid: leg, at: 4000)
        call.stream("https://a.example/b.mp3", uuid: leg, at: 5000)
        call.talk("Nobody hears this.", uuid: "none", at: 5000)
        let lines = call.steps.compactMap { CallReport.line($0) }
        #expect(
            lines == [
                "    3.000  hears the file https://a.example/hold.mp3", #"    4.000  hears "One moment.""#,
                "    5.000  hears the file https://a.example/b.mp3",
            ])
    }

    @Test func `keys that the API presses before anybody has answered are heard by nobody`() {
        let nowhere = WebhookAddress(url: "http://a.example/", method: .get)
        var plan = CallPlan(.api(to: .phone("1"), from: nil, ncco: Array("[]".utf8), answer: nil), answer: nowhere, event: nil)
        plan.legID = "leg"
        var call = PlayedCall(plan, began: 0, ids: { "id" })
        call.start()
        call.press("1", uuid: "leg", at: 1000)
        call.press("2", uuid: "none", at: 1000)
        #expect(!call.steps.contains { if case .presses = $0.what { true } else { false } })
    }

    @Test func `each key is told where the API wants it, until it does not`() {
        var (call, leg) = answered([.press("12")])
        call.listen(at: "https://a.example/keys", uuid: leg, at: 4000)
        for time: Int64 in [5000, 5300] { call.advance(to: time) }
        let requests = call.takeRequests()
        #expect(requests.map(\.event) == ["input", "input"] && requests.map(\.at) == [5000, 5300])
        #expect(requests.allSatisfy { $0.address == WebhookAddress(url: "https://a.example/keys", method: .post) && $0.leg == leg })
        #expect(requests.map { String(decoding: $0.fields.json, as: UTF8.self).contains(#""digits":"1""#) } == [true, false])
        (call, leg) = answered([.press("12")])
        call.listen(at: "https://a.example/keys", uuid: leg, at: 4000)
        call.listen(at: nil, uuid: leg, at: 4500)
        call.advance(to: 6000)
        #expect(!call.hasRequests)
    }
}

/// Takes every webhook at once, and writes down in which order things happen; touched by the one test that has it.
private final class Story: WebhookTransport, @unchecked Sendable {
    var lines: [String] = []
    var now: Int64 = 0

    var clock: Clock { Clock(monotonic: { self.now * 1000 }, wall: { self.now }) }

    func send(_ request: PlayedRequest, authorization: String?, isCut: Bool, then: @escaping (PlayedOutcome) -> Void) {
        lines.append("told \(request.event ?? "")")
        then(.reply(PlayedReply(status: 200)))
    }

    func turn(milliseconds: Int32) {}
}
