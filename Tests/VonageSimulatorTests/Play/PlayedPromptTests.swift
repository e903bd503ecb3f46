// SPDX-License-Identifier: MIT
//
// What is heard - texts and sound files - and how long, alone, one behind the other and with an input that cuts in; and pauses.

import Testing

@testable import VonageSimulator

struct PlayedPromptTests {
    /// 15 characters: a second.
    private static let second = "fifteen letters"

    private func talk(_ options: String = "") -> String { #"{"action":"talk","text":"\#(Self.second)"\#(options)}"# }

    private func ends(_ actions: String..., entries: [CallPlan.Entry] = []) -> String? {
        play(ncco: "[\(actions.joined(separator: ","))]", entries: entries).told.last
    }

    @Test(arguments: [("", "1.6"), (#","loop":1"#, "1.6"), (#","loop":3"#, "3.6")])
    func `a text lasts as long as it is spoken`(options: String, end: String) {
        #expect(ends(talk(options)) == "in completed platform +\(end)")
    }

    @Test func `a text takes half a second at least`() {
        #expect(ends(#"{"action":"talk","text":"a"}"#) == "in completed platform +1.1")
    }

    @Test func `tags are not spoken`() {
        let text = "<speak>fifteen <break time='500ms'/>letters</speak>"
        let call = play(ncco: #"[{"action":"talk","text":"\#(text)"}]"#)
        #expect(call.story.contains("hears fifteen letters +0.6") && call.told.last == "in completed platform +1.6")
    }

    @Test(arguments: [("", "5.6"), (#","loop":2"#, "10.6")]) func `a file lasts five seconds`(options: String, end: String) {
        #expect(ends(#"{"action":"stream","streamUrl":["https://a.example/a.mp3"]\#(options)}"#) == "in completed platform +\(end)")
    }

    @Test func `what is repeated for ever is heard until the caller has had enough`() {
        #expect(ends(talk(#","loop":0"#)) == "in completed user +12.6")
        #expect(ends(talk(#","loop":2147483647"#)) == "in completed platform +7200.6")
    }

    @Test func `texts are heard one behind the other`() { #expect(ends(talk(), talk()) == "in completed platform +2.6") }

    @Test func `an input listens while a text is heard that lets the caller cut in`() {
        let input = #"{"action":"input","type":["dtmf"],"dtmf":{"maxDigits":1}}"#
        // With a key after a second of four, and with none: three seconds behind the end.
        #expect(ends(talk(#","bargeIn":true,"loop":4"#), input, entries: [.press("1")]) == "in completed platform +1.6")
        #expect(ends(talk(#","bargeIn":true,"loop":4"#), input) == "in completed platform +7.6")
        #expect(ends(talk(#","bargeIn":true,"loop":0"#), input) == "in completed platform +3.6")
        #expect(ends(talk(#","loop":4"#), input, entries: [.press("1")]) == "in completed platform +5.6")
    }

    @Test func `a caller may cut into all texts up to the input`() {
        let input = #"{"action":"input","type":["dtmf"],"dtmf":{"maxDigits":1}}"#
        #expect(ends(talk(#","bargeIn":true"#), talk(), input, entries: [.press("1")]) == "in completed platform +1.6")
        #expect(ends(talk(#","bargeIn":true"#), talk(), input) == "in completed platform +5.6")
        #expect(ends(talk(#","bargeIn":true,"loop":0"#), talk(), input) == "in completed platform +4.6")
        // Behind it that is over.
        #expect(ends(talk(#","bargeIn":true"#), input, talk(), talk(), entries: [.press("1")]) == "in completed platform +3.6")
    }

    @Test func `a text that was cut off is not waited for`() {
        let input = #"{"action":"input","type":["dtmf"],"dtmf":{"maxDigits":1}}"#
        #expect(ends(talk(#","bargeIn":true,"loop":9"#), input, talk(), entries: [.press("1")]) == "in completed platform +2.6")
    }

    @Test func `behind an input for each key a text goes on beside what comes next`() {
        let keys = #"{"action":"input","type":["dtmf"],"mode":"asynchronous"}"#
        #expect(ends(talk(#","bargeIn":true,"loop":4"#), keys, #"{"action":"wait","timeout":1}"#) == "in completed platform +4.6")
        #expect(ends(talk(#","bargeIn":true,"loop":4"#), keys, talk()) == "in completed platform +5.6")
        #expect(ends(talk(#","bargeIn":true,"loop":0"#), keys) == "in completed user +12.6")
        #expect(ends(talk(#","bargeIn":true,"loop":0"#), keys, talk()) == "in completed platform +1.6")
    }

    @Test(arguments: [
        ("", "10.6"), (#","timeout":2.3"#, "2.9"), (#","timeout":0.1"#, "0.7"), (#","timeout":0"#, "0.7"),
        (#","timeout":99999"#, "7200.6"),
    ])
    func `a pause is within its bounds`(options: String, end: String) {
        #expect(ends(#"{"action":"wait"\#(options)}"#) == "in completed platform +\(end)")
    }

    @Test func `no actions end the call at once`() {
        #expect(play(ncco: "[]").told.suffix(2) == ["in answered +0.6", "in completed platform +0.6"])
    }
}
