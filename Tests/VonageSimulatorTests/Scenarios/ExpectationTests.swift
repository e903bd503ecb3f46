// SPDX-License-Identifier: MIT

import NCCO
import Testing

@testable import VonageSimulator

struct ExpectationTests {
    @Test(arguments: [
        #"{"heard":["Welcome to Example."]}"#, #"{"heard":["Welcome",{"matches":"press [0-9]"},"hold.mp3","Goodbye"]}"#,
        #"{"not_heard":["Sorry","waits"]}"#, #"{"rung":["14155550111","Alice"]}"#,
        #"{"events":["started","answered","input","busy","completed"]}"#, #"{"events":["answered","busy"]}"#,
        #"{"never":["record","connect"]}"#, #"{"rules":["ivr#1 ivr-menu","choice#1 ivr-sales"]}"#, #"{"rules":["choice#1"]}"#,
        #"{"answer_within":"1ms"}"#, #"{"state":"completed"}"#, #"{"complaints":[]}"#,
    ])
    func `an expectation that holds says nothing`(_ expect: String) throws {
        #expect(Expectations.failures(of: try scenario(expect), playedSteps).map(\.finding.description) == [])
    }

    @Test(arguments: [
        (#"{"heard":["welcome"]}"#, "SCEN101 $.expect.heard[0]: \"welcome\" was not heard"),
        (#"{"heard":["Goodbye","Welcome"]}"#, "SCEN101 $.expect.heard[1]: \"Welcome\" was heard, but not behind \"Goodbye\""),
        (#"{"heard":["Welcome","Welcome"]}"#, "SCEN101 $.expect.heard[1]: \"Welcome\" was heard, but not behind \"Welcome\""),
        (#"{"heard":[{"matches":"press [2-9]"}]}"#, "what matches \"press [2-9]\" was not heard"),
        (#"{"heard":["A caller waits."]}"#, "\"A caller waits.\" was not heard"),
        (#"{"not_heard":["Sorry","Goodbye"]}"#, "SCEN102 $.expect.not_heard[1]: \"Goodbye\" was heard, in \"Goodbye.\""),
        (#"{"rung":["14155550111","Bob"]}"#, "SCEN103 $.expect.rung[1]: rung was \"14155550111\", \"Alice\", not \"14155550111\", \"Bob\""),
        (#"{"rung":[]}"#, "SCEN103 $.expect.rung: rung was \"14155550111\", \"Alice\", not nobody"),
        (#"{"events":["busy","input"]}"#, "SCEN104 $.expect.events[1]: \"input\": no such event came behind \"busy\"; there was"),
        (#"{"events":["busy","busy"]}"#, "SCEN104 $.expect.events[1]"),
        (#"{"never":["record","input"]}"#, "SCEN105 $.expect.never[1]: the action input ran"),
        (#"{"rules":["choice#1","ivr#1"]}"#, "SCEN106 $.expect.rules[1]: \"ivr#1\": no such answer was chosen by it behind \"choice#1\""),
        (#"{"rules":["ivr#1 ivr"]}"#, "SCEN106 $.expect.rules[0]"),
        (#"{"answer_within":"0ms"}"#, "SCEN107 $.expect.answer_within: the answer request was answered after 1 ms, not within 0"),
        (#"{"state":"failed"}"#, "SCEN108 $.expect.state: the call ended completed, not failed"),
        (#"{"complaints":["NCCO"]}"#, "SCEN109 $.expect.complaints[0]: Vonage did not complain of \"NCCO\""),
    ])
    func `an expectation that does not hold is told once, with its place`(_ expect: String, _ words: String) throws {
        let failures = Expectations.failures(of: try scenario(expect), playedSteps)
        #expect(failures.count == 1)
        #expect(failures.first?.finding.description.contains(words) == true, "\(failures.map(\.finding))")
        #expect(failures.first?.finding.column ?? 0 > 90)
    }

    @Test func `what Vonage complains about fails a scenario that does not expect it`() throws {
        func complaint(_ severity: Complaint.Severity) -> PlayedStep {
            step(.complaint(Complaint(severity: severity, text: "the call is dropped", cure: "mend it", request: nil)))
        }
        let (silent, expecting) = (try scenario(#"{"state":"completed"}"#), try scenario(#"{"complaints":["is dropped"]}"#))
        for severity in [Complaint.Severity.lost, .broken] {
            let failures = Expectations.failures(of: silent, playedSteps + [complaint(severity)])
            #expect(failures.map(\.finding.message) == ["Vonage complains: the call is dropped"])
            #expect(failures.first?.finding.cure == "mend it")
            #expect(Expectations.failures(of: expecting, playedSteps + [complaint(severity)]).isEmpty)
        }
        #expect(Expectations.failures(of: silent, playedSteps + [complaint(.noted)]).isEmpty)
    }

    @Test func `a request without an answer is too slow, and one that was never made is told`() throws {
        let expected = try scenario(#"{"answer_within":"1s"}"#)
        let dead = exchange(1, .answer, outcome: .failure(.responseTimeout, micros: 5_000_000))
        #expect(
            Expectations.failures(of: expected, [dead]).map(\.finding.message) == ["the answer request was not answered: Response timeout."]
        )
        #expect(Expectations.failures(of: expected, []).map(\.finding.message) == ["nobody was asked for an answer"])
    }

    @Test func `the end of a call that nobody took is its state, and not what follows it`() throws {
        let steps = [
            step(.leg(callee: nil, uuid: "a", status: "busy", detail: nil)),
            step(.leg(callee: nil, uuid: "a", status: "completed", detail: nil)),
        ]
        #expect(Expectations.failures(of: try scenario(#"{"state":"busy"}"#), steps).isEmpty)
        #expect(Expectations.failures(of: try scenario(#"{"state":"completed"}"#), steps).count == 1)
        #expect(
            Expectations.failures(of: try scenario(#"{"state":"completed"}"#), []).map(\.finding.message)
                == ["the call ended in no state, not completed"])
    }

    @Test(arguments: [
        (#""callees":{"Alcie":"busy","Alice":"busy"},"#, #"SCEN112 $.callees.Alcie: nobody rang "Alcie"; did you mean "Alice"?"#),
        (#""callees":{"Zacharias":"busy"},"#, #"nobody rang "Zacharias"; rung was "14155550111", "Alice""#),
        (
            #""caller":[{"press":"1"},{"press":"2"}],"#,
            #"SCEN113 $.caller[1]: the caller was to press "2", and no input listened; there was one"#
        ),
        (#""caller":[{"press":"1"},{"say":"two"}],"#, #"$.caller[1]: the caller was to say "two", and no input"#),
        (#""caller":[{"press":"1"},{"nothing":true}],"#, "$.caller[1]: the caller was to do nothing, and no input"),
    ])
    func `what people were to do and never came to is told, with its place`(_ more: String, _ words: String) throws {
        let failures = Expectations.failures(of: try scenario(#"{"complaints":[]}"#, more: more), playedSteps)
        #expect(failures.count == 1)
        #expect(failures.first?.finding.description.contains(words) == true, "\(failures.map(\.finding))")
        #expect(failures.first?.finding.column ?? 0 > 90)
    }

    @Test func `whom the REST API calls is rung`() throws {
        let text = #"""
            {"scenario":"a","call":{"api":{"to":{"type":"app","user":"Bob"}}},"callees":{"Bob":"busy"},"expect":{"complaints":[]}}
            """#
        let scenario = try #require(scenarioFile(text).scenarios.first)
        #expect(Expectations.failures(of: scenario, playedSteps).isEmpty)
    }

    @Test func `what people do is asked for by inputs of the caller, and by a recording that a key ends`() throws {
        let people = #""callees":{"14155550111":"busy"},"caller":[{"nothing":true},{"press":"1#"}],"#
        let scenario = try scenario(#"{"complaints":[]}"#, more: people)
        let record = [step(.action(name: "record", number: 1, of: 1, callee: nil)), step(.presses("#"))]
        #expect(Expectations.failures(of: scenario, playedSteps + record).isEmpty)
        let other = [step(.action(name: "record", number: 1, of: 1, callee: nil)), step(.presses("7"))]
        #expect(Expectations.failures(of: scenario, playedSteps + other).count == 1)
        let callee = [step(.action(name: "input", number: 1, of: 1, callee: "Bob"))]
        #expect(Expectations.failures(of: scenario, playedSteps + callee).count == 1)
    }

    @Test func `nobody is found where each request is refused, and somebody where one is not`() {
        let refused = exchange(1, .answer, outcome: .failure(.refused, micros: 10))
        #expect([refused].foundNobody)
        #expect(![refused, exchange(2, .event, "started")].foundNobody)
        #expect(![exchange(1, .answer, outcome: .failure(.responseTimeout, micros: 10))].foundNobody)
        #expect(![step(.stays)].foundNobody)
    }
}
