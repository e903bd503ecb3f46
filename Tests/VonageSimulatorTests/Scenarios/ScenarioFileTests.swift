// SPDX-License-Identifier: MIT

import NCCO
import Testing

@testable import VonageSimulator

struct ScenarioFileTests {
    @Test(arguments: [
        ("[", "1:2: error SCEN001 $: this is not JSON: expected"), ("7", "1:1: error SCEN002 $: a scenario is an object, not"),
        ("[]", "1:1: error SCEN003 $: there is no scenario"), ("[\n  7]", "2:3: error SCEN002 $[0]"),
        ("{}", "1:1: error SCEN003 $: the scenario has no call; add"),
        (#"{"call":{"from":"1","to":"2"},"expect":{"rung":[]}}"#, "SCEN003 $: the scenario has no name"),
        (#"{"scenario":"a","call":{"from":"1","to":"2"}}"#, "SCEN003 $: the scenario expects nothing"),
        (scenarioText("{}"), "SCEN003 $.expect: the scenario expects nothing; add"),
        (scenarioText(#"{"haerd":["a"]}"#), "1:90: error SCEN005 $.expect.haerd: \"haerd\" means nothing here; did you mean \"heard\"?"),
        (
            scenarioText(#"{"rung":[]}"#, more: #""calees":{},"#),
            "SCEN005 $.calees: \"calees\" means nothing here; did you mean \"callees\"?"
        ),
        (scenarioText(#"{"rung":[]}"#, more: #""zzz":{},"#), "known are scenario, settings,"),
        (scenarioText(#"{"rung":[],"rung":[]}"#), "SCEN004 $.expect.rung: the key \"rung\" comes twice"),
        (scenarioText(#"{"heard":[]}"#), "SCEN008 $.expect.heard: an empty list expects nothing"),
        (scenarioText(#"{"heard":"a"}"#), "SCEN002 $.expect.heard: this is a list, not text; write [ … ]"),
        (scenarioText(#"{"heard":[" "]}"#), "SCEN006 $.expect.heard[0]: a blank is in every text"),
        (scenarioText(#"{"heard":[""]}"#), "SCEN006 $.expect.heard[0]: this is empty"),
        (scenarioText(#"{"heard":[{"match":"a"}]}"#), "SCEN005 $.expect.heard[0].match: \"match\" means nothing here; did you mean"),
        (scenarioText(#"{"heard":[{"matches":"(a+)+"}]}"#), "SCEN007 $.expect.heard[0].matches"),
        (scenarioText(#"{"heard":[{"matches":"("}]}"#), "SCEN007 $.expect.heard[0].matches: \"(\" is no regular expression"),
        (scenarioText(#"{"events":["anserwed"]}"#), "SCEN006 $.expect.events[0]: \"anserwed\" is nothing that event can be; did you mean"),
        (scenarioText(#"{"never":["dial"]}"#), "$.expect.never[0]: \"dial\" is nothing that action can be; write one of record,"),
        (scenarioText(#"{"state":"answered"}"#), "SCEN006 $.expect.state"),
        (scenarioText(#"{"answer_within":"fast"}"#), "SCEN006 $.expect.answer_within: \"fast\" is no time; write 500ms, 10s, 2m or 1h"),
        (scenarioText(#"{"answer_within":"3h"}"#), "is longer than a call can be"),
        (scenarioText(#"{"answer_within":"99999999999999999h"}"#), "is longer than a call can be"),
        (scenarioText(#"{"nccos":"../x.json"}"#), "SCEN006 $.expect.nccos: \"../x.json\" is no file beside the scenarios"),
        (scenarioText(#"{"nccos":"x.json"}"#), "write FOLDER/NAME.json"),
        (scenarioText(#"{"rung":[]}"#, more: #""caller":[{"press":"A"}],"#), "$.caller[0].press: \"A\" are no keys"),
        (scenarioText(#"{"rung":[]}"#, more: #""caller":[{"press":"1","say":"a"}],"#), "one thing at each input, not 2"),
        (scenarioText(#"{"rung":[]}"#, more: #""caller":[{"nothing":false}],"#), "$.caller[0].nothing: nothing is true"),
        (
            scenarioText(#"{"rung":[]}"#, more: #""callees":{"Bob":"bussy"},"#),
            "$.callees.Bob: \"bussy\" is nothing that a callee can be; did"
        ),
        (scenarioText(#"{"rung":[]}"#, more: #""callees":{"+44":"busy"},"#), "write a number as it is dialled, in digits alone"),
        (
            scenarioText(#"{"rung":[]}"#, more: #""callees":{"Bob":{"hangs_up":"no"}},"#),
            "$.callees.Bob.hangs_up: a callee's hangs_up is true"
        ),
        (
            scenarioText(#"{"rung":[]}"#, more: #""hangs_up":"me","#),
            "$.hangs_up: \"me\" is nothing that hangs_up can be; write one of caller"
        ),
        (scenarioText(#"{"rung":[]}"#, more: #""settings":{"number":"12"},"#), "$.settings.number: \"12\" is no phone number"),
        (scenarioText(#"{"rung":[]}"#, more: #""settings":{"inbound_user":"123"},"#), "$.settings.inbound_user: \"123\" is no user name"),
        (#"{"scenario":"a","call":{},"expect":{"rung":[]}}"#, "SCEN008 $.call: nobody calls"),
        (#"{"scenario":"a","call":{"from":"1"},"expect":{"rung":[]}}"#, "SCEN003 $.call: nothing says whom the call is to"),
        (
            #"{"scenario":"a","call":{"from":"1","from_user":"A"},"expect":{"rung":[]}}"#,
            "a phone and an app user cannot make one call together"
        ),
        (
            #"{"scenario":"a","call":{"from":"1","to":"2","headers":{}},"expect":{"rung":[]}}"#,
            "$.call.headers: a call with from has no headers"
        ),
        (#"{"scenario":"a","call":{"from":"1","to":"2","at":"noon"},"expect":{"rung":[]}}"#, "$.call.at: \"noon\" is no time"),
        (#"{"scenario":"a","call":{"from":"1","to":"2","flow":"a/b"},"expect":{"rung":[]}}"#, "$.call.flow: \"a/b\" cannot be the end"),
        (
            #"{"scenario":"a","call":{"from":"1","to":"2","method":"get"},"expect":{"rung":[]}}"#,
            "$.call.method: \"get\" is nothing that method can be; write one of GET, POST"
        ),
        (
            #"{"scenario":"a","call":{"from_user":"A","custom_data":7},"expect":{"rung":[]}}"#,
            "$.call.custom_data: custom_data is an object"
        ),
        (
            #"{"scenario":"a","call":{"sip":"a@b","to":"2","headers":{"Via":"x"}},"expect":{"rung":[]}}"#,
            "$.call.headers.Via: Vonage does not"
        ),
        (#"{"scenario":"a","call":{"api":{}},"expect":{"rung":[]}}"#, "$.call.api: nothing says whom the REST API calls"),
        (
            #"{"scenario":"a","call":{"api":{"to":{"type":"fax"}}},"expect":{"rung":[]}}"#,
            "$.call.api.to.type: \"fax\" is nothing that type"
        ),
        (#"{"scenario":"a","call":{"api":{"to":{"type":"app"}}},"expect":{"rung":[]}}"#, "$.call.api.to: the app has no user"),
    ])
    func `a fault has its place and its cure, and the scenario is not played`(_ text: String, _ words: String) {
        let file = scenarioFile(text)
        #expect(file.findings.contains { $0.description.contains(words) }, "\(file.findings.map(\.description))")
        #expect(file.scenarios.isEmpty)
    }

    @Test func `a list keeps its good scenarios, and lines are counted`() {
        let good = scenarioText(#"{"rung":[]}"#)
        let file = scenarioFile("[\n\(good),\n{\"comment\":\"later\"},\n\(good)\n]")
        #expect(file.scenarios.map(\.shownPlace) == ["a.json:2", "a.json:4"])
        #expect(file.findings.map(\.line) == [3])
    }

    @Test func `all that people do reaches the call`() throws {
        let more = #"""
            "caller":[{"press":"1#"},{"say":"sales"},{"nothing":true}],"talk_for":"2m","hangs_up":"callee","gives_up_after":"500ms",
            "callees":{"14155550111":"no-answer","Alice":{"does":"machine","after":"5s","talk_for":"1s","hangs_up":false}},
            """#
        let read = scenarioFile(scenarioText(#"{"rung":[]}"#, more: more))
        let plan = try #require(read.scenarios.first, "\(read.findings)").plan(server: "http://h:1")
        #expect(plan.entries == [.press("1#"), .say("sales"), .nothing])
        #expect(plan.talkFor == 120_000)
        #expect(plan.calleeHangsUp)
        #expect(plan.callerGivesUpAfter == 500)
        var alice = CallPlan.Callee(.machine)
        (alice.answersAfter, alice.talkFor, alice.hangsUp) = (5000, 1000, false)
        #expect(plan.callees == ["14155550111": CallPlan.Callee(.noAnswer), "Alice": alice])
        #expect(plan.answer == WebhookAddress(url: "http://h:1/voice/answer", method: .get))
        #expect(plan.event == WebhookAddress(url: "http://h:1/voice/event", method: .post))
        #expect(plan.fallback == WebhookAddress(url: "http://h:1/voice/fallback", method: .get))
    }

    @Test func `flow, method, clock and settings are those of the file`() throws {
        let text = #"""
            {"scenario":"a","settings":{"number":"14155550100","inbound_user":"Bob"},
             "call":{"from_user":"Alice","custom_data":"{\"to\":","flow":"ivr","method":"POST","at":"2026-11-30T10:00:00Z"},
             "expect":{"rung":[]}}
            """#
        let read = try #require(scenarioFile(text).scenarios.first)
        var surroundings = Scenario.Surroundings()
        (surroundings.at, surroundings.number, surroundings.inboundUser) = (1_796_032_800_000, "14155550100", "Bob")
        #expect(read.surroundings == surroundings)
        #expect(read.plan(server: "").answer == WebhookAddress(url: "/voice/ivr", method: .post))
        guard case .app(let user, let to, let data) = read.call.origin else {
            Issue.record("the call is not an app's")
            return
        }
        #expect(user == "Alice")
        #expect(to == nil)
        // Sent as it stands, and no JSON.
        #expect(data?.json == Array("{\"to\":".utf8))
    }

    @Test func `more scenarios than a file may hold are refused, and a file of faults is answered with a bounded list`() {
        let many = "[" + Array(repeating: "7", count: ScenarioFile.mostScenarios + 1).joined(separator: ",") + "]"
        #expect(scenarioFile(many).findings.map(\.code) == ["SCEN008"])
        let faulty = "[" + Array(repeating: "7", count: 5000).joined(separator: ",") + "]"
        #expect(scenarioFile(faulty).findings.count == 1000)
    }
}
