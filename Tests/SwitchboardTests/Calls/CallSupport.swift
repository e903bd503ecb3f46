// SPDX-License-Identifier: MIT
//
// Log lines for tests of calls, and calls that are made up at random: what Vonage sends for them, in the order of their own times.

import EventLog
import Foundation
import Testing

@testable import Switchboard

/// A record that has not yet arrived: everything but its number and its arrival.
struct Arrival {
    /// From `"kind"` on, without the check.
    var members: String
    /// The event's own time; nil where it has none, and is sorted by its arrival.
    var time: Int64?
    /// When it came in, where that must not change.
    var arrival: Int64?

    /// The record under a number.
    func record(_ seq: UInt64, at: Int64) -> CallRecord? {
        CallRecord(Array(#"{"seq":\#(seq),"at":"\#(LogTime.text(arrival ?? at))",\#(members),"crc":"00000000"}"#.utf8))
    }
}

extension Arrival {
    static let conversation = "CON-0d6d4d2e-5c1b-4f0e-9a77-2b1f6a3c9e51"
    static let caller = "3f1b6a52c1b94d6e8c0a7d5e9b2f4a10"
    static let callee = "8c2d1f7b-93a4-4f0e-b6a1-77d0c1e2f3a4"
    /// 2026-01-01T12:00:00Z.
    static let noon: Int64 = 1_767_268_800_000

    /// An event of a leg, `offset` milliseconds after noon.
    static func event(
        _ status: String, leg: String? = caller, at offset: Int64? = 0, call: String = conversation, outbound: Bool = false,
        _ more: String = ""
    ) -> Arrival {
        let stamp = offset.map { #","timestamp":"\#(LogTime.text(noon + $0))""# } ?? ""
        let uuid = leg.map { "\"\($0)\"" } ?? "null"
        let (from, to) = outbound ? ("12025550100", "12025550142") : ("12025550101", "12025550100")
        return Arrival(
            members:
                #""kind":"event","call":"\#(call)","leg":\#(uuid),"status":"\#(status)","signature":"off","event":{"from":"\#(from)","to":"\#(to)","uuid":\#(uuid),"conversation_uuid":"\#(call)","status":"\#(status)","direction":"\#(outbound ? "outbound" : "inbound")"\#(more)\#(stamp)}"#,
            time: offset.map { noon + $0 })
    }

    /// An event without a status, such as `input`.
    static func other(_ kind: String, _ body: String, leg: String? = nil, at offset: Int64?, call: String? = conversation) -> Arrival {
        let stamp = offset.map { #","timestamp":"\#(LogTime.text(noon + $0))""# } ?? ""
        return Arrival(
            members:
                #""kind":"event","call":\#(call.map { "\"\($0)\"" } ?? "null"),"leg":\#(leg.map { "\"\($0)\"" } ?? "null"),"status":"\#(kind)","signature":"off","event":{\#(body)\#(stamp)}"#,
            time: offset.map { noon + $0 })
    }

    /// An answer request, or a fallback request with a reason.
    static func answer(
        at offset: Int64, call: String = conversation, leg: String = caller, kind: String = "answer",
        request: String = #""from":"12025550101","to":"12025550100""#, flow: String = "answer#1 ring-user",
        ncco: String = #"[{"action":"talk","text":"Hello"}]"#
    ) -> Arrival {
        Arrival(
            members:
                #""kind":"\#(kind)","call":"\#(call)","leg":"\#(leg)","status":null,"signature":"off","request":{\#(request),"uuid":"\#(leg)","conversation_uuid":"\#(call)"},"flow":"\#(flow)","ncco":\#(ncco),"micros":90"#,
            time: nil, arrival: noon + offset)
    }

    static func completed(
        leg: String = caller, at offset: Int64, seconds: Int, price: String, by: String = "user", call: String = conversation,
        outbound: Bool = false
    ) -> Arrival {
        event(
            "completed", leg: leg, at: offset, call: call, outbound: outbound,
            #","duration":"\#(seconds)","rate":"0.00720000","price":"\#(price)","network":"US-FIXED","disconnected_by":"\#(by)""#)
    }
}

/// The calls of arrivals in this order, each 10 ms after the one before.
func book(_ arrivals: [Arrival]) throws -> CallBook {
    var book = CallBook()
    for (index, arrival) in arrivals.enumerated() {
        let record = try #require(arrival.record(UInt64(index + 1), at: Arrival.noon + Int64(index) * 10))
        book.add(record)
    }
    return book
}

func theCall(_ arrivals: [Arrival], now: Int64? = nil) throws -> Call {
    let book = try book(arrivals)
    #expect(book.count == 1)
    let call = book.call(Arrival.conversation, now: now)
    return try #require(call)
}

struct CallGenerator: RandomNumberGenerator {
    private var numbers: SeededNumbers

    init(state: UInt64) { numbers = SeededNumbers(seed: state) }

    mutating func next() -> UInt64 { numbers.next() }

    mutating func uuid(dashes: Bool) -> String {
        let digits = (0..<32).map { _ in String(Int.random(in: 0..<16, using: &self), radix: 16) }.joined()
        guard dashes else { return digits }
        let parts = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)].map { from, to in
            digits[digits.index(digits.startIndex, offsetBy: from)..<digits.index(digits.startIndex, offsetBy: to)]
        }
        return parts.joined(separator: "-")
    }

    /// All that is sent for one call, in order of time. Legs, failures, machines, input, transfers and what is left out are drawn.
    mutating func call() -> [Arrival] {
        let call = "CON-" + uuid(dashes: true)
        let leg = uuid(dashes: Bool.random(using: &self))
        var now = Int64.random(in: 0..<10_000_000, using: &self)
        var arrivals: [Arrival] = []
        func pass(_ most: Int64) { now += Int64.random(in: 0...most, using: &self) }
        arrivals.append(.answer(at: now, call: call, leg: leg))
        arrivals.append(.event("started", leg: leg, at: now, call: call))
        if Bool.random(using: &self) { arrivals.append(.event("ringing", leg: leg, at: now, call: call)) }
        pass(1000)
        arrivals.append(.event("answered", leg: leg, at: now, call: call))
        for _ in 0..<Int.random(in: 0...2, using: &self) {
            pass(3)
            arrivals.append(
                .other(
                    "input", #""dtmf":{"digits":"\#(Int.random(in: 0...99, using: &self))"},"uuid":"\#(leg)""#, leg: leg, at: now,
                    call: call))
        }
        if Int.random(in: 0..<5, using: &self) == 0 {
            arrivals.append(.other("error", #""reason":"Syntax error in NCCO","conversation_uuid":"\#(call)""#, at: now, call: call))
        }
        for _ in 0..<Int.random(in: 0...2, using: &self) {
            let out = uuid(dashes: Bool.random(using: &self))
            pass(500)
            arrivals.append(.event("started", leg: out, at: now, call: call, outbound: true))
            pass(1)
            if Bool.random(using: &self) { arrivals.append(.event("ringing", leg: out, at: now, call: call, outbound: true)) }
            pass(20_000)
            let failures = ["busy", "timeout", "cancelled", "unanswered", "failed", "rejected"]
            if Bool.random(using: &self), let failure = failures.randomElement(using: &self) {
                arrivals.append(.event(failure, leg: out, at: now, call: call, outbound: true, #","detail":"declined","sip_code":486"#))
                if failure == "rejected" { continue }
            } else {
                arrivals.append(.event("answered", leg: out, at: now, call: call, outbound: true))
                if Int.random(in: 0..<4, using: &self) == 0 {
                    arrivals.append(.event("machine", leg: out, at: now, call: call, outbound: true, #","sub_state":"beep_start""#))
                }
                pass(60_000)
            }
            if Int.random(in: 0..<10, using: &self) > 0 {
                arrivals.append(.completed(leg: out, at: now, seconds: 7, price: "0.00144000", by: "platform", call: call, outbound: true))
            }
        }
        if Int.random(in: 0..<5, using: &self) == 0 {
            let other = "CON-" + uuid(dashes: true)
            arrivals.append(
                .other(
                    "transfer",
                    #""type":"transfer","conversation_uuid_from":"\#(call)","conversation_uuid_to":"\#(other)","uuid":"\#(leg)""#,
                    leg: leg, at: now, call: nil))
            pass(1000)
            arrivals.append(.completed(leg: leg, at: now, seconds: 30, price: "0.01", call: other))
        } else {
            pass(5)
            arrivals.append(.completed(leg: leg, at: now, seconds: 30, price: "0.0036", call: call))
        }
        if Bool.random(using: &self) {
            arrivals.append(
                .other("record", #""recording_url":"https://api.nexmo.com/v1/files/a","conversation_uuid":"\#(call)""#, at: now, call: call)
            )
        }
        return arrivals
    }
}
