// SPDX-License-Identifier: MIT

import EventLog
import Foundation
import Testing

@testable import Switchboard

struct CallTextTests {
    @Test func `a call's story is told in order, with what was served beside what then happened`() throws {
        let call = try theCall([
            .event("started"), .answer(at: 5, ncco: #"[{"action":"talk","text":"Call 12025550142"}]"#), .event("answered", at: 600),
            .other("error", #""reason":"Syntax error in NCCO.""#, at: 700),
            .event("started", leg: Arrival.callee, at: 800, outbound: true),
            .event("busy", leg: Arrival.callee, at: 900, outbound: true, #","sip_code":486"#),
            .completed(at: 13_514, seconds: 12, price: "0.00144000", by: "platform"),
        ])
        #expect(
            call.timeline().joined(separator: "\n") == """
                call CON-0d6d4d2e-5c1b-4f0e-9a77-2b1f6a3c9e51: ********101 → ********100
                began 2026-01-01 12:00:00.000Z, busy after 12 s, ended by the platform, price 0.00144000 EUR

                leg 1: 3f1b6a52c1b94d6e8c0a7d5e9b2f4a10 inbound ********101 → ********100: completed, 12 s, 0.00144000 EUR, ended by the platform
                leg 2: 8c2d1f7b-93a4-4f0e-b6a1-77d0c1e2f3a4 outbound ********100 → ********142: busy, SIP 486, its completed event is missing

                12:00:00.000 started leg 1  #1
                12:00:00.005 answer leg 1 answer#1 ring-user  #2, time of arrival
                             request {"from":"********101","to":"********100","uuid":"3f1b6a52c1b94d6e8c0a7d5e9b2f4a10","conversation_uuid":"CON-0d6d4d2e-5c1b-4f0e-9a77-2b1f6a3c9e51"}
                             ncco [{"action":"talk","text":"Call ********142"}]
                12:00:00.600 answered leg 1  #3, arrived 580 ms before
                12:00:00.700 error: "Syntax error in NCCO." (about the NCCO of #2)  #4, arrived 670 ms before
                             event {"reason":"Syntax error in NCCO.","timestamp":"2026-01-01T12:00:00.700Z"}
                12:00:00.800 started leg 2  #5, arrived 760 ms before
                12:00:00.900 busy leg 2 sip_code 486  #6, arrived 850 ms before
                12:00:13.514 completed leg 1 duration "12", price "0.00144000", disconnected_by "platform"  #7, arrived 13 s before
                """, "\(call.timeline().joined(separator: "\n"))")
    }

    @Test func `a line says how a call ended, and what is missing`() throws {
        let machine = try theCall([
            .event("started", outbound: true), .event("machine", at: 5, outbound: true),
            .completed(at: 9, seconds: 3, price: "0.1", outbound: true),
        ])
        #expect(
            machine.line() == "2026-01-01 12:00:00.000Z  ********100 → ********142       completed, a machine  3 s      0.1         "
                + Arrival.conversation)
        #expect(try theCall([.event("started"), .event("busy", at: 5)]).line().contains("busy, completed is missing"))
        #expect(try theCall([.event("ringing")]).line().contains("ringing, goes on"))
        #expect(try theCall([.event("rejected")]).line().contains("  rejected      -  "))
    }

    @Test func `what came from outside cannot steer a terminal`() throws {
        let call = try theCall([
            .answer(at: 0, request: #""from":"\u001b[2J","to":"a\nb","from_user":"\u202ex""#, flow: "a\u{1B}"),
            .event("\u{9B}31m", leg: "leg \u{7}"),
        ])
        let text = call.line() + call.timeline().joined()
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) || $0.value == 0x202E })
    }

    @Test func `a masked line has no check, an unmasked one is as it was`() throws {
        let record = try #require(Arrival.event("started").record(1, at: 0))
        var json: [UInt8] = []
        record.appendJSON(to: &json)
        #expect(!String(decoding: json, as: UTF8.self).contains("crc"))
        #expect(try JSONSerialization.jsonObject(with: Data(json)) is [String: Any])
        json = []
        record.appendJSON(to: &json, masking: .unmasked)
        #expect(json == record.line)
    }

    @Test(arguments: [
        ("2h", -7_200_000), ("90s", -90_000), ("15m", -900_000), ("7d", -604_800_000), ("1w", -604_800_000), ("now", 0),
        ("today", -45_000_500), ("yesterday", -131_400_500), ("2026-01-01", -45_000_500), ("2026-01-01T12:00Z", -1_800_500),
        ("2026-01-01T13:00:00+01:00", -1_800_500),
    ]) func `times are read as people write them`(_ text: String, _ offset: Int64) {
        let now = Arrival.noon + 1_800_500
        #expect(TimeArgument.milliseconds(text, now: now) == now + offset)
    }

    @Test(arguments: ["", "h", "2x", "-2h", "2 h", "tomorrow", "2026-13-01", "1234567890h", "²h"]) func `anything else is no time`(
        _ text: String
    ) {
        #expect(TimeArgument.milliseconds(text, now: 0) == nil)
    }
}
