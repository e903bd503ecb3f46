// SPDX-License-Identifier: MIT

import NCCO
import Testing

@testable import Switchboard

struct NumberSwapTests {
    private func swapped(_ json: String, keepsNumbers: Bool = false) -> String {
        var swap = NumberSwap(keepsNumbers: keepsNumbers)
        return String(decoding: swap.swap(Array(json.utf8)), as: UTF8.self)
    }

    @Test(arguments: [
        (#"{"to":"12025550143"}"#, #"{"to":"14155550100"}"#),
        (#"{"to":"49301234567"}"#, #"{"to":"447700900000"}"#),
        (#"{"a":"12025550143","b":"12025550144","x":["12025550143"]}"#, #"{"a":"14155550100","b":"14155550101","x":["14155550100"]}"#),
        (#"{"to":"+1 (202) 555-0143"}"#, #"{"to":"+14155550100"}"#),
        (#"{"to":" 49 30 1234567"}"#, #"{"to":"447700900000"}"#),
        (#"{"to":12025550143,"x":12025550143}"#, #"{"to":14155550100,"x":12025550143}"#),
        (#"{"to":"\u0031\u0032025550143"}"#, #"{"to":"14155550100"}"#),
        (#"[{"e":[{"number":"12025550143"}],"from":"49301234567"}]"#, #"[{"e":[{"number":"14155550100"}],"from":"447700900000"}]"#),
        (
            #"{"from":"12025550144","custom_data":"{\"n\": \"12025550144\",\"a\":[1]}"}"#,
            #"{"from":"14155550100","custom_data":"{\"n\":\"14155550100\",\"a\":[1]}"}"#
        ),
    ]) func `a number becomes a reserved one, the same wherever it stands`(_ json: String, _ expected: String) {
        #expect(swapped(json) == expected)
        #expect(swapped(json, keepsNumbers: true) == json)
    }

    @Test(arguments: [
        #"{"uuid":"12025550143","conversation_uuid":"1234567","timestamp":"20260101"}"#,
        #"{"x":"2026-01-01","y":"2026-01-01T12:00:00.000Z","price":"12.345678","size":12025550143}"#,
        #"{"x":"112","y":"call 12025550143","z":"sip:12025550143@x","a":"","b":null,"c":true,"to":-1.5e3}"#,
        #"{"12025550143":"a","custom_data":"{ \"a\": 1 }","d":"{12025550143"}"#, #"{"a":"é\n\/"}"#, "[]", #""12025"#,
    ]) func `what is no number as a whole stays byte for byte`(_ json: String) { #expect(swapped(json) == json) }

    @Test func `numbers past the reserved ones share them, and that is counted`() throws {
        var swap = NumberSwap()
        var sent: [PhoneNumber] = []
        for last in 0...100 { sent.append(swap.number(try #require(PhoneNumber("\(12_125_550_000 + last)")))) }
        #expect(Set(sent).count == 100)
        #expect(sent[99].description == "14155550199" && sent[100] == sent[0] && swap.shared == 1)
        sent = []
        for last in 0...1000 { sent.append(swap.number(try #require(PhoneNumber("\(4_930_000_000 + last)")))) }
        #expect(sent[999].description == "447700900999" && sent[1000] == sent[0] && swap.shared == 2)
        #expect(swap.swapped.count == 1102)
    }

    @Test func `an answer's numbers are swapped where they were logged, and stay where they were sent`() {
        var swap = NumberSwap()
        _ = swap.swap(Array(#"["12025550143","49301234567"]"#.utf8))
        let answer = swap.swap(answer: Array(#"["14155550100","12025550143","447700900000","33123456789"]"#.utf8))
        #expect(String(decoding: answer, as: UTF8.self) == #"["14155550100","14155550100","447700900000","33123456789"]"#)
        #expect(swap.swapped.count == 2)
    }
}
