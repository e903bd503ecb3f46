// SPDX-License-Identifier: MIT

import NCCO
import Testing

@testable import Switchboard

struct CallToPlayTests {
    private func read(_ body: String, number: Bool = true) throws -> CallToPlay {
        var settings = try Settings()
        settings.numbers = number ? ["14155550199"] : []
        return try CallToPlay(
            Array(body.utf8).span, settings: settings, flows: FlowBench.builtIn().set, callees: ["answers", "busy"])
    }

    @Test func `what is not said is taken from the settings, or from numbers for fiction`() throws {
        #expect(try read("{}") == CallToPlay(caller: .phone("447700900123"), to: "14155550199", callee: "answers"))
        #expect(try read("{}", number: false).to == "14155550100")
        #expect(try read(#"{"kind":"app"}"#) == CallToPlay(caller: .app("Alice"), to: "447700900123", callee: "answers"))
        #expect(
            try read(#"{"from_user":"Bob","to":"Carol"}"#) == CallToPlay(caller: .app("Bob"), to: "Carol", callee: "answers"))
    }

    @Test func `keys come before words, and numbers are taken as people write them`() throws {
        let call = try read(##"{"from":"+44 7700 900 999","callee":"busy","say":["sales"],"press":["1","2#"],"flow":"fallback"}"##)
        #expect(call.caller == .phone("447700900999") && call.callee == "busy" && call.flow == "fallback")
        #expect(call.entries == [.press("1"), .press("2#"), .say("sales")])
    }

    @Test(arguments: [
        ("[]", "The body is no JSON object;"), ("", "The body is no JSON object;"), (#"{"kind":null}"#, "kind is no text"),
        (#"{"kin":"app"}"#, "not known"),
        (#"{"kind":"sip"}"#, "kind is neither"), (#"{"kind":"phone","from_user":"A"}"#, "no from_user"),
        (#"{"kind":"app","from":"447700900123"}"#, "leave out from"), (#"{"from":"x"}"#, "from is no phone number"),
        (#"{"to":112}"#, "to is no text"), (#"{"to":""}"#, "to is no text"), (#"{"from_user":"123"}"#, "from_user is not a user name"),
        (#"{"callee":"sings"}"#, "callee is none of answers, busy."), (#"{"press":["a"]}"#, "no list of keys"),
        (#"{"press":"1"}"#, "press is no list"), (#"{"say":[1]}"#, "say is no list"), (#"{"flow":"none"}"#, "flow is none"),
    ])
    func `what cannot be played is told why, and nothing of it is repeated`(_ body: String, _ words: String) throws {
        let error = #expect(throws: CallToPlayError.self) { try read(body) }
        #expect(error?.detail.contains(words) == true, "\(error?.detail ?? "")")
        #expect(error?.detail.contains("sings") == false)
    }
}
