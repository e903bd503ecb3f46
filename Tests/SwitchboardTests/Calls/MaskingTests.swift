// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Switchboard

struct MaskingTests {
    private func masked(_ json: String, _ masking: Masking = .masked) -> String {
        var output: [UInt8] = []
        masking.append(Array(json.utf8), to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test(arguments: [
        (#"{"to":"12025550100"}"#, #"{"to":"********100"}"#),
        (#"{"to":"+1 (202) 555-0100"}"#, #"{"to":"+* (***) ***-*100"}"#),
        (#"{"to":12025550100}"#, #"{"to":"********100"}"#),
        (#"{"a":[{"number":"447700900123"},7]}"#, #"{"a":[{"number":"*********123"},7]}"#),
        (#"{"12025550100":1}"#, #"{"********100":1}"#),
        (#"["Calling 447700900123, please wait"]"#, #"["Calling *********123, please wait"]"#),
        (#"["sip:447700900123@sip.example.com"]"#, #"["sip:*********123@sip.example.com"]"#),
        (#"["https://x/?to=12025550100&from=447700900123"]"#, #"["https://x/?to=********100&from=*********123"]"#),
        (#"["\u0031\u0032025550100"]"#, #"["********100"]"#),
        (#"["line\n12025550100"]"#, #"["line\n********100"]"#),
        (#"{"dtmf":{"digits":"4111111111111111"}}"#, #"{"dtmf":{"digits":"*************111"}}"#),
        (#"["a12025550100"]"#, #"["a********100"]"#),
        (#"["12345678123456781234567812345678"]"#, #"["*****************************678"]"#),
    ]) func `a number is hidden but for its last three digits`(_ json: String, _ expected: String) {
        #expect(masked(json) == expected)
        #expect(masked(json, .unmasked) == json)
    }

    @Test(arguments: [
        #"{"uuid":"33333333333333333333333333333333","x":"3f1b6a52c1b94d6e8c0a7d5e9b2f4a10"}"#,
        #"{"x":"CON-0d6d4d2e-5c1b-4f0e-9a77-2b1f6a3c9e51"}"#, #"["11111111-2222-3333-4444-555555555555"]"#,
        #"{"timestamp":"2026-01-01T12:00:00.000Z","x":"2026-01-01T12:00:00.000000Z","y":"on 2026-01-01"}"#,
        #"{"rate":"0.00720000","price":"0.00144000","duration":1234567,"size":48044000}"#, #"{"limit":7200,"x":[1,2,3,4,5,6,7,8]}"#,
        #"["123456","12 34 56"]"#, #"{"a":"é\n","b":true,"c":null,"d":-1.5e3}"#,
    ]) func `what is no number stays as it is`(_ json: String) { #expect(masked(json) == json) }

    @Test func `what would steer a terminal is written as an escape`() throws {
        let json = "[\"a\u{202E}b\u{9B}c\u{E0001}d\"]"
        let shown = masked(json, .unmasked)
        #expect(shown == #"["a\u202eb\u009bc\udb40\udc01d"]"#)
        let (one, two) = (try JSONSerialization.jsonObject(with: Data(json.utf8)), try JSONSerialization.jsonObject(with: Data(shown.utf8)))
        #expect(one as? [String] == two as? [String])
    }

    @Test(arguments: ["\"abc", "\"", "{\"a\":\"", "12\"", "\\"]) func `broken text is passed on and traps nothing`(_ json: String) {
        #expect(!masked(json).isEmpty)
    }

    @Test func `a call in JSON has the shape that pages read`() throws {
        let call = try theCall([.answer(at: 0), .event("started"), .completed(at: 5, seconds: 3, price: "0.00144000")])
        var json: [UInt8] = []
        call.appendJSON(to: &json)
        let text = String(decoding: json, as: UTF8.self)
        #expect(
            text.hasPrefix(
                #"{"conversation_uuid":"CON-0d6d4d2e-5c1b-4f0e-9a77-2b1f6a3c9e51","began":"2026-01-01T12:00:00.000Z","from":"********101","to":"********100","state":"completed","ended":true,"seconds":3,"price":"0.00144000","disconnected_by":"user","legs":[{"uuid":"3f1b6a52c1b94d6e8c0a7d5e9b2f4a10","state":"completed","direction":"inbound","from":"********101","to":"********100","began":"2026-01-01T12:00:00.000Z","completed":"received","seconds":3,"price":"0.00144000","rate":"0.00720000","network":"US-FIXED","disconnected_by":"user"}],"steps":[{"kind":"answer","status":null,"leg":"3f1b6a52c1b94d6e8c0a7d5e9b2f4a10","time":"2026-01-01T12:00:00.000Z","time_is_arrival":true,"at":"2026-01-01T12:00:00.000Z","seq":1,"repeats":0,"request":{"from":"********101","#
            ), "\(text)")
        #expect(!text.contains("12025550"))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
        #expect((object["steps"] as? [[String: Any]])?.count == 3)
        json = []
        call.appendJSON(to: &json, masking: .unmasked, steps: false)
        #expect(String(decoding: json, as: UTF8.self).contains(#""from":"12025550101""#))
        #expect(!String(decoding: json, as: UTF8.self).contains("steps"))
    }
}
