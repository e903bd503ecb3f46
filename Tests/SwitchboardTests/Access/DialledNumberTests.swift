// SPDX-License-Identifier: MIT
//
// From where a number in a template comes, and whether it is held against the dial plan: what a request brings is, what the template's author
// has written is not.

import NCCO
import Testing

@testable import Switchboard

struct DialledNumberTests {
    private static let denied = "881612345678"
    private static let refusal =
        #"[{"action":"talk","text":"This call cannot be connected. Numbers of this kind cannot be called from here. Goodbye."}]"#

    struct Vector: Sendable, CustomTestStringConvertible {
        let endpoint, body: String
        let isDenied: Bool
        var testDescription: String { "\(endpoint) with \(body)" }
        init(_ endpoint: String, _ body: String, _ isDenied: Bool) {
            (self.endpoint, self.body, self.isDenied) = (endpoint, body, isDenied)
        }
    }

    private static func phone(_ number: String, _ body: String, _ isDenied: Bool) -> Vector {
        Vector("[{\"type\":\"phone\",\"number\":\"\(number)\"}]", body, isDenied)
    }

    private static let vectors = [
        // The template's author, the settings, and nobody.
        phone(denied, "{}", false), phone("{{satellite}}", "{}", false), phone("{{satellite}}", "{\"satellite\":\"\(denied)\"}", false),
        phone("{{sites.ship}}", "{}", false), phone("{{own_number}}", "{}", false), phone("{{to|\(denied)}}", "{}", false),
        phone("{{to|\(denied)}}", #"{"to":null}"#, false), phone("{{code}}{{rest}}", "{}", false),
        phone("{{code}}{{rest|612345678}}", "{}", false), phone("+{{to|\(denied)}}", "{}", false),
        // The request.
        phone("{{to}}", "{\"to\":\"\(denied)\"}", true), phone("{{to}}", "{\"to\":\"+881 (6) 1234-5678\"}", true),
        phone("{{to}}", "{\"to\":\(denied)}", true), phone("{{to}}", "{\"custom_data\":{\"to\":\"\(denied)\"}}", true),
        phone("{{to|14155550111}}", "{\"to\":\"\(denied)\"}", true), phone("+{{to}}", "{\"to\":\"\(denied)\"}", true),
        phone("{{code}}{{rest|1}}", #"{"rest":"612345678"}"#, true), phone("{{a|881}}6123{{b}}", #"{"b":"45678"}"#, true),
        phone("{{a}}612345678", #"{"a":"00881"}"#, true), phone("8{{a}}", #"{"a":81612345678}"#, true),
        phone("{{custom_data.numbers.1}}", "{\"custom_data\":\"{\\\"numbers\\\":[1,\\\"\(denied)\\\"]}\"}", true),
        phone("{{dtmf.digits}}", "{\"dtmf\":{\"digits\":\"\(denied)\"}}", true),
        phone("{{to}}", #"{"to":"447700900123"}"#, false), phone("44{{rest}}", #"{"rest":"7700900123"}"#, false),
        // An endpoint that the request brings.
        Vector("\"{{e}}\"", "{\"e\":[{\"type\":\"phone\",\"number\":\"\(denied)\"}]}", true),
        Vector("[\"{{e}}\"]", "{\"e\":{\"type\":\"phone\",\"number\":\"\(denied)\"}}", true),
        Vector("[\"{{e}}\"]", #"{"e":{"type":"phone","number":"447700900123"}}"#, false),
        // What is not dialled as a telephone number.
        Vector(#"[{"type":"vbc","extension":"{{to}}"}]"#, "{\"to\":\"\(denied)\"}", false),
        Vector(#"[{"type":"sip","uri":"sip:{{to}}@sip.example.com"}]"#, "{\"to\":\"\(denied)\"}", false),
        Vector(#"[{"type":"phone","number":"447700900123","dtmfAnswer":"{{to}}"}]"#, "{\"to\":\"\(denied)\"}", false),
        Vector(#"[{"type":"app","user":"Bob"}],"from":"{{to}}""#, "{\"to\":\"\(denied)\"}", false),
    ]

    private func bench(_ template: String, cannotConnect: String? = nil) throws -> FlowBench {
        var templates = ["t": template]
        templates["cannot-connect"] = cannotConnect
        return try FlowBench(
            flows: """
                {"vars": {"satellite": "\(Self.denied)", "sites": {"ship": "\(Self.denied)"}, "code": "881"},
                 "flows": {"answer": [{"ncco": "t"}]}}
                """, templates: templates)
    }

    @Test(arguments: vectors) func `only a number that the request brings is held against the plan`(_ vector: Vector) throws {
        let answer = try #require(
            try bench("[{\"action\":\"connect\",\"endpoint\":\(vector.endpoint)}]").ask(body: vector.body))
        if vector.isDenied {
            #expect(answer.ncco == Self.refusal)
            #expect(answer.isRefusal && !answer.isFault)
            #expect(answer.flow == "answer#1 cannot-connect")
            #expect(answer.warning == "the number may not be dialled: see --allow-prefixes and --deny-prefixes")
        } else {
            #expect(answer.warning?.contains("may not be dialled") != true && answer.ncco != Self.refusal)
        }
    }

    @Test func `what else may be denied does not end with an NCCO that dials it`() throws {
        // The caller's number would be dialled by the very template that says that it cannot.
        let dial = #"[{"action":"connect","endpoint":[{"type":"phone","number":"{{to}}"}]}]"#
        let answer = try #require(try bench(dial, cannotConnect: dial).ask(body: "{\"to\":\"\(Self.denied)\"}"))
        #expect(answer.ncco == Self.refusal && answer.flow == "answer#1 cannot-connect")
    }

    @Test(arguments: ["881612345678", "\"+881612345678\"", "\"00881612345678\"", "[\"881612345678\"]", "\"881 612345678\""])
    func `an endpoint that the request brings gets no number through in another form`(_ number: String) throws {
        for template in [#""{{e}}""#, #"["{{e}}"]"#] {
            let endpoint = "{\"type\":\"phone\",\"number\":\(number)}"
            let body = template.hasPrefix("[") ? "{\"e\":\(endpoint)}" : "{\"e\":[\(endpoint)]}"
            let answer = try #require(try bench("[{\"action\":\"connect\",\"endpoint\":\(template)}]").ask(body: body))
            #expect(answer.isRefusal && !answer.ncco.contains("connect\""), "\(answer.ncco)")
        }
    }

    @Test func `the second of two connects is held against the plan as well`() throws {
        let template = """
            [{"action":"connect","endpoint":[{"type":"phone","number":"14155550111"}]},
             {"action":"talk","text":"{{to}}"},
             {"action":"connect","endpoint":[{"type":"phone","number":"{{other}}","onAnswer":{"url":"https://a.example.com/{{to}}"}}]}]
            """
        let bench = try bench(template)
        #expect(try bench.ask(body: "{\"to\":\"\(Self.denied)\",\"other\":\"447700900123\"}")?.isRefusal == false)
        #expect(try bench.ask(body: "{\"to\":\"447700900123\",\"other\":\"\(Self.denied)\"}")?.ncco == Self.refusal)
    }

    @Test func `the shipped flow refuses a satellite and goes on connecting a mobile`() throws {
        let bench = try FlowBench.builtIn()
        #expect(try bench.ask(query: "from_user=A&to=%2B\(Self.denied)")?.ncco == Self.refusal)
        #expect(try bench.ask(query: "from_user=A&to=447700900123")?.flow == "answer#3 connect-phone")
    }

    @Test func `an explanation says which flag would allow the number`() throws {
        let plan = DialPlan()
        let store = try FlowStore(
            folder: "/nowhere", isNamed: false, settings: FlowSettings(numbers: [], inboundUser: "Alice", dialPlan: plan),
            baseURL: "https://calls.example.com"
        ) { _ in }
        let text = try FlowExplanation(flow: "answer", query: "from_user=A&to=\(Self.denied)", at: 0, store).text
        #expect(text.contains("The number *********678: 881 (satellite) is denied by default; --allow-prefixes all,881 would allow it.\n"))
        #expect(!text.contains("\"number\""))
    }
}
