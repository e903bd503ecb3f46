// SPDX-License-Identifier: MIT

import Testing

@testable import VonageSimulator

struct GoldenNCCOTests {
    private static let talk = #"{"action":"talk","text":"Welcome."}"#

    private func golden(_ actions: String, rule: String = "ivr#1 ivr-menu", server: [String] = ["http://h:1"]) -> GoldenNCCOs {
        GoldenNCCOs(
            of: [exchange(1, .answer, rule: rule, body: "[\(actions)]"), exchange(2, .event, "started", body: "{}")], server: server)
    }

    private func read(_ bytes: [UInt8]) throws -> GoldenNCCOs { try GoldenNCCOs(bytes.span) }

    @Test func `what was written is read as the same, and another order of keys is no difference`() throws {
        let actual = golden(Self.talk)
        let before = try read(actual.text)
        #expect(actual.difference(from: before) == [])
        #expect(before.text == actual.text)
        #expect(golden(#"{"text":"Welc\u006fme.","action":"talk"}"#).difference(from: before) == [])
    }

    @Test func `the server's address stands as a placeholder`() {
        let input = #"{"action":"input","type":["dtmf"],"eventUrl":["http://h:1/voice/choice"]}"#
        let text = String(decoding: golden(input).text, as: UTF8.self)
        #expect(text.contains(#""eventUrl":["{{base_url}}/voice/choice"]"#))
        #expect(!text.contains("http://h:1"))
        let elsewhere = golden(input.replacing("h:1", with: "other:2"), server: ["http://other:2"])
        #expect(elsewhere.difference(from: golden(input)) == [])
        let others = golden(#"{"action":"talk","text":"At http://h:1, not at http://h:12 or http://h:1.example."}"#)
        #expect(String(decoding: others.text, as: UTF8.self).contains("At {{base_url}}, not at http://h:12 or http://h:1.example."))
    }

    @Test func `a difference is shown in what is heard, with the lines around it`() {
        let lines = golden(#"{"action":"talk","text":"Hello."}"#).difference(from: golden(Self.talk))
        #expect(lines.contains(#"-   1. talk      The caller hears: "Welcome." (en-US, style 0)"#), "\(lines)")
        #expect(lines.contains(#"+   1. talk      The caller hears: "Hello." (en-US, style 0)"#))
        #expect(!lines.contains { $0.contains("\"action\"") })
    }

    @Test func `another rule, and an answer more or less, are differences`() {
        let other = golden(Self.talk, rule: "ivr#2 ivr-menu").difference(from: golden(Self.talk))
        #expect(other.first == #"- answer, "ivr#1 ivr-menu":"#)
        let nothing = GoldenNCCOs(of: [], server: [])
        #expect(nothing.difference(from: golden(Self.talk)).allSatisfy { $0.hasPrefix("- ") })
        #expect(golden(Self.talk).difference(from: nothing) == golden(Self.talk).differenceFromNothing)
    }

    @Test func `where the words are the same, the action that differs is shown`() {
        let lines = golden(#"{"action":"talk","text":"Welcome.","loop":1}"#).difference(from: golden(Self.talk))
        #expect(!lines.isEmpty)
        #expect(lines.first != "the words are the same:" || lines.count == 3)
    }

    @Test(arguments: [("", "it is not JSON"), ("{}", "it is no list of answers"), (#"[{"ncco":[]}]"#, "[0] has no request and ncco")])
    func `a file that is none says why`(_ text: String, _ words: String) {
        let error = #expect(throws: SimulatorError.self) { try read(Array(text.utf8)) }
        #expect(error?.description.hasPrefix(words) == true)
    }
}
