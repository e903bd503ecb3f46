// SPDX-License-Identifier: MIT
//
// The action `input`: keys, words and their patience.

import Testing

@testable import VonageSimulator

struct PlayedInputTests {
    /// What is told of an input, and when.
    private func heard(_ options: String, _ entry: CallPlan.Entry) throws -> (dtmf: String, speech: String, at: Int) {
        let call = play(ncco: #"[{"action":"input",\#(options)}]"#, entries: [entry])
        let request = try #require(call.sent.first { $0.request.event == "input" }?.request)
        func member(_ name: String) -> String {
            guard case .json(let json)? = request.fields.members.first(where: { $0.name == name })?.value else { return "" }
            return String(decoding: json, as: UTF8.self)
        }
        return (member("dtmf"), member("speech"), Int(request.at - noon - 600))
    }

    @Test(arguments: [
        // Four keys by default, three seconds behind the last.
        ("{}", "1234", "1234", false, 1900), ("{}", "12345", "1234", false, 1900), ("{}", "123", "123", true, 4600),
        (#"{"maxDigits":1}"#, "7", "7", false, 1000), (#"{"maxDigits":20}"#, "01234567890123456789", "01234567890123456789", false, 6700),
        (#"{"timeOut":0}"#, "1", "1", true, 1000), (#"{"timeOut":10}"#, "1", "1", true, 11_000), (#"{"timeOut":0}"#, "", "", true, 1000),
        (#"{"submitOnHash":true}"#, "12#", "12", false, 1600), (#"{"submitOnHash":true}"#, "#", "", false, 1000),
        (#"{"submitOnHash":true}"#, "12", "12", true, 4300), ("{}", "1#", "1#", true, 4300),
        (#"{"submitOnHash":"true","maxDigits":"2"}"#, "12#", "12", false, 1300),
    ])
    func `keys that are pressed`(settings: String, keys: String, digits: String, isTimedOut: Bool, after: Int) throws {
        let told = try heard(#""type":["dtmf"],"dtmf":\#(settings)"#, .press(keys))
        #expect(told == (#"{"digits":"\#(digits)","timed_out":\#(isTimedOut)}"#, #"{"results":[]}"#, after))
    }

    @Test(arguments: [("{}", 3000), (#"{"timeOut":0}"#, 0), (#"{"timeOut":10}"#, 10_000)])
    func `no keys`(settings: String, after: Int) throws {
        for entry in [CallPlan.Entry.nothing, .say("Hello")] {
            let told = try heard(#""type":["dtmf"],"dtmf":\#(settings)"#, entry)
            #expect(told == (#"{"digits":"","timed_out":true}"#, #"{"results":[]}"#, after))
        }
    }

    @Test func `settings beside the action's own are taken too`() throws {
        let told = try heard(#""maxDigits":2,"timeOut":5,"submitOnHash":true"#, .press("123"))
        #expect(told == (#"{"digits":"12","timed_out":false}"#, #"{"results":[]}"#, 1300))
    }

    private static let spoken: String = #""results":[{"text":"one two three four five","confidence":"0.9312"}]"#

    @Test(arguments: [
        // Two seconds are spoken, from the first on, and two are silent.
        ("{}", #"{"timeout_reason":"end_on_silence_timeout",\#(spoken)}"#, 5000),
        (#"{"endOnSilence":0.4}"#, #"{"timeout_reason":"end_on_silence_timeout",\#(spoken)}"#, 3400),
        (#"{"endOnSilence":10}"#, #"{"timeout_reason":"end_on_silence_timeout",\#(spoken)}"#, 13_000),
        (#"{"maxDuration":2}"#, #"{"timeout_reason":"end_on_silence_timeout",\#(spoken)}"#, 5000),
        (
            #"{"maxDuration":1}"#, #"{"timeout_reason":"max_duration","results":[{"text":"one two","confidence":"0.9312"}]}"#, 2000
        ),
        (#"{"saveAudio":false}"#, #"{"timeout_reason":"end_on_silence_timeout",\#(spoken)}"#, 5000),
        (
            #"{"saveAudio":true}"#,
            #"{"timeout_reason":"end_on_silence_timeout",\#(spoken),"recording_url":"https://api-us.nexmo.com/v1/files/00000000-0000-4000-8000-000000000003"}"#,
            5000
        ),
    ])
    func `words that are said`(settings: String, speech: String, after: Int) throws {
        let told = try heard(#""type":["speech"],"speech":\#(settings)"#, .say("one two three four five"))
        #expect(told == (#"{"digits":null,"timed_out":false}"#, speech, after))
    }

    @Test(arguments: [("{}", 10_000), (#"{"startTimeout":1}"#, 1000), (#"{"startTimeout":60}"#, 60_000)])
    func `no words`(settings: String, after: Int) throws {
        for entry in [CallPlan.Entry.nothing, .press("1")] {
            let told = try heard(#""type":["speech"],"speech":\#(settings)"#, entry)
            #expect(told == (#"{"digits":null,"timed_out":false}"#, #"{"timeout_reason":"start_timeout","results":[]}"#, after))
        }
    }

    @Test(arguments: [
        (CallPlan.Entry.press("1234"), #"{"digits":"1234","timed_out":false}"#, 1900),
        (.say("Hello"), #"{"digits":null,"timed_out":false}"#, 4000), (.nothing, #"{"digits":"","timed_out":true}"#, 10_000),
    ])
    func `either, whichever comes first`(entry: CallPlan.Entry, dtmf: String, after: Int) throws {
        let told = try heard(#""type":["dtmf","speech"]"#, entry)
        #expect(told.dtmf == dtmf && told.at == after)
    }

    @Test func `each input has its own entry, and none behind the last`() {
        let input = #"{"action":"input","type":["dtmf"],"dtmf":{"maxDigits":1}}"#
        let call = play(ncco: "[\(input),\(input),\(input)]", entries: [.press("1"), .nothing])
        #expect(call.story.filter { $0.contains("presses") || $0.contains("stays") } == ["presses 1 +1.6", "stays +1.6", "stays +4.6"])
        #expect(call.bodies("input").count == 3)
    }

    @Test func `in asynchronous mode each key is an event, and the call goes on`() {
        let call = play(
            ncco: #"[{"action":"input","type":["dtmf"],"mode":"asynchronous"},{"action":"wait","timeout":1.2}]"#, entries: [.press("123")])
        #expect(call.told.suffix(2) == ["in input +1.6", "in completed platform +1.8"])
        #expect(call.bodies("input")[0].contains(#""speech":{"results":[]},"dtmf":{"digits":"1","timed_out":false}"#))
        #expect(call.story.filter { $0.contains("presses") } == ["presses 1 +1.6"])
    }

    @Test func `the answer to a key replaces what goes on, and later keys are still told`() {
        var plan = phoneCall
        plan.entries = [.press("123")]
        let keys = #"{"action":"input","type":["dtmf"],"mode":"asynchronous"}"#
        let call = play(
            plan,
            [
                "answer": [.ncco(#"[\#(keys),{"action":"wait","timeout":3}]"#)],
                "input": [.ncco(#"[{"action":"wait","timeout":5}]"#)],
            ])
        // The first wait would have ended the call at 3.6.
        #expect(call.told.suffix(4) == ["in input +1.6", "in input +1.9", "in input +2.2", "in completed platform +6.6"])
    }

    @Test func `the answer to a key cuts off what is heard`() {
        var plan = phoneCall
        plan.entries = [.press("1")]
        let call = play(
            plan,
            [
                "answer": [
                    .ncco(
                        #"[{"action":"talk","text":"fifteen letters","bargeIn":true,"loop":9},{"action":"input","type":["dtmf"],"mode":"asynchronous"}]"#
                    )
                ],
                "input": [.ncco(#"[{"action":"talk","text":"fifteen letters"}]"#)],
            ])
        #expect(call.told.last == "in completed platform +2.6")
    }

    @Test func `a key's answer that comes when the call is over changes nothing`() {
        var plan = phoneCall
        plan.entries = [.press("1")]
        var hand = HandPlayed(plan)
        hand.answer("answer", .ncco(#"[{"action":"input","type":["dtmf"],"mode":"asynchronous"},{"action":"wait","timeout":2}]"#))
        hand.pass(to: 5000)
        let steps = hand.call.steps.count
        hand.answer("input", .ncco(#"[{"action":"talk","text":"Late."}]"#))
        #expect(hand.call.isSilent && hand.call.steps.count == steps + 1)
    }

    @Test func `what a caller was to do and nothing listened for is noted at the end`() {
        let input = #"[{"action":"input","type":["dtmf"]}]"#
        let call = play(ncco: input, entries: [.press("1"), .nothing, .press("2"), .say("yes")])
        #expect(call.complained == [#"note: the caller was to press 2, then say "yes", and no input listened"#])
        #expect(play(ncco: input, entries: [.press("1"), .nothing]).complained == [])
        let dropped = play(ncco: "{}", entries: [.press("1")])
        #expect(dropped.complained.last?.hasPrefix("lost: the call is dropped") == true)
    }
}
