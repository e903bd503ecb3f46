// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Switchboard

struct AnswerAgainTests {
    private func call(_ arrivals: Arrival...) throws -> Call {
        var book = CallBook()
        for (index, arrival) in arrivals.enumerated() {
            book.add(try #require(arrival.record(UInt64(index + 1), at: Arrival.noon)))
        }
        let call = book.call(Arrival.conversation, now: nil)
        return try #require(call)
    }

    private func served(_ flows: String, _ templates: [String: String], base: String = "https://now.example.com") throws -> ServedFlows {
        ServedFlows(try FlowBench(flows: flows, templates: templates).set, baseURL: base)
    }

    private func object(_ again: AnswerAgain, _ masking: Masking = .masked) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(again.json(masking))) as? [String: Any])
    }

    @Test func `the same flows give the same answer, changed ones another, with words for both`() throws {
        let flows = #"{"flows":{"answer":[{"ncco":"hello"}]}}"#
        let call = try call(Arrival.answer(at: 0, flow: "answer#1 hello", ncco: #"[{"action":"talk","text":"Hello"}]"#))
        let same = try AnswerAgain(call, seq: 1, served(flows, ["hello": #"[{"action":"talk","text":"Hello"}]"#]))
        #expect(same.isSame && same.rule == "answer#1 hello" && same.warning == nil)
        let other = try AnswerAgain(call, seq: 1, served(flows, ["hello": #"[{"action":"talk","text":"Bye {{to}}"}]"#]))
        #expect(!other.isSame)
        let masked = try object(other)
        #expect((masked["after"] as? [[String: String]])?.first?["text"] == "Bye ********100")
        #expect((masked["before_text"] as? String)?.contains("\"Hello\"") == true)
        #expect((masked["after_text"] as? String)?.contains("Bye ********100") == true)
        #expect((try object(other, .unmasked)["after"] as? [[String: String]])?.first?["text"] == "Bye 12025550100")
    }

    @Test func `another address of the server is no other answer`() throws {
        let flows = #"{"flows":{"answer":[{"ncco":"menu"}]}}"#
        let menu = #"[{"action":"input","type":["dtmf"],"eventUrl":["{{base_url}}/voice/answer"]}]"#
        let then = #"[{"action":"input","type":["dtmf"],"eventUrl":["https://then.example.com/x/voice/answer"]}]"#
        let call = try call(Arrival.answer(at: 0, flow: "answer#1 menu", ncco: then))
        #expect(try AnswerAgain(call, seq: 1, served(flows, ["menu": menu])).isSame)
    }

    @Test func `rules on the time are asked for the time of the request`() throws {
        let flows = #"{"flows":{"answer":[{"when":{"now":{"between":["11:59","12:01"],"zone":"UTC"}},"ncco":"noon"},{"ncco":"late"}]}}"#
        let texts = ["noon": #"[{"action":"talk","text":"Noon"}]"#, "late": #"[{"action":"talk","text":"Late"}]"#]
        let again = try AnswerAgain(try call(Arrival.answer(at: 0)), seq: 1, served(flows, texts))
        #expect(again.rule == "answer#1 noon")
    }

    @Test func `what cannot be put again says so`() throws {
        let flows = try served(#"{"flows":{"answer":[{"ncco":"hello"}]}}"#, ["hello": #"[{"action":"talk","text":"Hello"}]"#])
        let call = try call(Arrival.answer(at: 0, flow: "gone#1 x"), Arrival.event("started", at: 1))
        #expect(throws: AnswerAgain.Fault.noFlow) { try AnswerAgain(call, seq: 1, flows) }
        #expect(throws: AnswerAgain.Fault.noRequest) { try AnswerAgain(call, seq: 2, flows) }
        #expect(throws: AnswerAgain.Fault.noStep) { try AnswerAgain(call, seq: 3, flows) }
    }

    @Test func `a call is played again with its own caller and callee`() throws {
        let set = try FlowBench.builtIn().set
        let phone = try CallToPlay(try call(Arrival.answer(at: 0)), seq: 1, set, callee: "answers")
        #expect(phone == CallToPlay(caller: .phone("12025550101"), to: "12025550100", callee: "answers"))
        let request = #""from_user":"Alice","to":"447700900123""#
        let app = try CallToPlay(try call(Arrival.answer(at: 0, request: request)), seq: 1, set, callee: "answers")
        #expect(app == CallToPlay(caller: .app("Alice"), to: "447700900123", callee: "answers"))
    }
}
