// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Switchboard

struct EventSummaryTests {
    private func head(_ json: String) -> String {
        let bytes = Array(json.utf8)
        var output: [UInt8] = []
        EventSummary(bytes.span).appendHead(json: bytes.span, .off, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test(arguments: [
        (#"{"status":"ringing","dtmf":{}}"#, "\"ringing\""), (#"{"status":12}"#, "\"12\""),
        (#"{"status":null,"dtmf":{"digits":"1"}}"#, "\"input\""), (#"{"speech":{}}"#, "\"input\""),
        (#"{"recording_url":"https://x"}"#, "\"record\""), (#"{"payload":{}}"#, "\"notify\""), (#"{"reason":"x"}"#, "\"error\""),
        (#"{"type":"transfer"}"#, "\"transfer\""),
        (#"{"conversation_uuid_from":"a","conversation_uuid_to":"b"}"#, "\"transfer\""), (#"{"type":"other"}"#, "null"),
        (#"{"status":{}}"#, "null"), (#"{"status":true}"#, "null"),
        ("{}", "null"), ("[]", "null"), ("\"status\"", "null"), ("12", "null"), (#"{"a":{"status":"x"}}"#, "null"),
        (#"{"status":"a","status":"b"}"#, "\"a\""),
        (#"{"status":"a\"b\u00e9"}"#, #""a\"b\u00e9""#),
    ])
    func `the status is the event's, or the kind that its fields tell`(_ json: String, _ status: String) {
        #expect(head(json) == "\"kind\":\"event\",\"call\":null,\"leg\":null,\"status\":\(status),\"signature\":\"off\"")
    }

    @Test func `call and leg are texts, of whichever name comes first`() {
        #expect(
            head(#"{"uuid":"u","call_uuid":"c","conversation_uuid":"CON"}"#)
                == #""kind":"event","call":"CON","leg":"u","status":null,"signature":"off""#)
        #expect(
            head(#"{"call_uuid":-12.5,"conversation_uuid":7}"#)
                == #""kind":"event","call":"7","leg":"-12.5","status":null,"signature":"off""#)
        #expect(
            head(#"{"uuid":["u"],"conversation_uuid":{}}"#) == #""kind":"event","call":null,"leg":null,"status":null,"signature":"off""#)
    }

    @Test func `base64 is that of RFC 4648, whatever the length`() {
        for length in 0..<70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length) } + [0xFF]
            var output: [UInt8] = []
            output.appendBase64(bytes.span)
            #expect(String(decoding: output, as: UTF8.self) == Data(bytes).base64EncodedString())
            output = []
            output.appendRaw(bytes.span)
            #expect(String(decoding: output, as: UTF8.self) == ",\"raw_base64\":\"\(Data(bytes).base64EncodedString())\"")
        }
        var output: [UInt8] = []
        output.appendRaw(Array("a\"é".utf8).span)
        #expect(String(decoding: output, as: UTF8.self) == #","raw":"a\"é""#)
    }
}
