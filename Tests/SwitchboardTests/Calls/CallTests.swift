// SPDX-License-Identifier: MIT
//
// What a call says of its records: order, legs, how it ended, and what stands beside what.

import EventLog
import Foundation
import NCCO
import Testing

@testable import Switchboard

struct CallTests {
    private func statuses(_ call: Call) -> [String] { call.steps.map { $0.status ?? $0.kind } }

    @Test func `steps are in the order of the events' own times, whatever came first`() throws {
        let call = try theCall([
            .completed(at: 13_514, seconds: 12, price: "0.00144000"), .event("answered", at: 600), .event("ringing"), .answer(at: 0),
            .event("started"),
        ])
        #expect(statuses(call) == ["answer", "started", "ringing", "answered", "completed"])
        #expect(call.steps.map(\.seq) == [4, 5, 3, 2, 1])
        #expect(call.steps[4].at == Arrival.noon)
        #expect(call.began == Arrival.noon)
    }

    @Test func `what has no time stands at its arrival, and says so`() throws {
        let call = try theCall([.event("started"), .event("transcribed", leg: nil, at: nil), .event("answered", at: 20)])
        #expect(statuses(call) == ["started", "transcribed", "answered"])
        #expect(call.steps.map(\.isTimeOfArrival) == [false, true, false])
        #expect(call.steps[1].time == call.steps[1].at)
    }

    @Test func `the same event is one step with its repeats`() throws {
        let started = Arrival.event("started")
        let call = try theCall([started, .event("ringing"), started, started])
        #expect(statuses(call) == ["started", "ringing"])
        #expect(call.steps.map(\.repeats) == [2, 0])
        #expect(call.steps[0].seq == 1)
    }

    @Test func `a record that is read twice counts once`() throws {
        var book = CallBook()
        let record = try #require(Arrival.event("started").record(1, at: 0))
        book.add(record)
        book.add(record)
        #expect(book.call(Arrival.conversation)?.steps.map(\.repeats) == [0])
    }

    @Test func `a leg and a call with and without dashes are the same`() throws {
        let dashed = "3f1b6a52-c1b9-4d6e-8c0a-7d5e9b2f4a10"
        let call = try theCall([
            .event("started"), .event("answered", leg: dashed, at: 5, call: "0d6d4d2e-5c1b-4f0e-9a77-2b1f6a3c9e51"),
        ])
        #expect(call.legs.map(\.uuid) == [dashed])
        #expect(call.conversationUUID == Arrival.conversation)
        #expect(Set(call.steps.map(\.leg)) == [dashed])
    }

    @Test(arguments: ["leg-1", "LEG-1", "", "3f1b6a52", "CON-x"]) func `what is no UUID is compared as it is`(_ text: String) {
        #expect(Identity(text).key == text)
    }

    @Test func `a call that was answered is completed, with seconds, price and who ended it`() throws {
        let call = try theCall([
            .answer(at: -5), .event("started"), .event("answered", at: 600),
            .event("started", leg: Arrival.callee, at: 700, outbound: true),
            .event("answered", leg: Arrival.callee, at: 2000, outbound: true),
            .completed(leg: Arrival.callee, at: 14_000, seconds: 12, price: "0.0144", by: "platform", outbound: true),
            .completed(at: 13_514, seconds: 13, price: "0.00144000"),
        ])
        #expect(call.state == .ended(.completed))
        #expect(call.seconds == 13)
        #expect(call.price?.description == "0.01584000")
        #expect(call.disconnectedBy == "user")
        #expect((call.from, call.to) == ("12025550101", "12025550100"))
        #expect(call.legs.map(\.completed) == [.received, .received])
        #expect(call.legs.map(\.answered) == [Arrival.noon + 600, Arrival.noon + 2000])
    }

    @Test(arguments: ["busy", "cancelled", "timeout", "unanswered", "failed"])
    func `a failure is how the leg ended, whichever side of its completed it comes`(_ status: String) throws {
        for (failed, completed) in [(5000, 5001), (5000, 5000), (5001, 5000)] as [(Int64, Int64)] {
            let call = try theCall([
                .event("started"), .event("answered", at: 600), .event("started", leg: Arrival.callee, at: 700, outbound: true),
                .completed(leg: Arrival.callee, at: completed, seconds: 0, price: "0", outbound: true),
                .event(status, leg: Arrival.callee, at: failed, outbound: true, #","detail":"unavailable","sip_code":480"#),
                .completed(at: 6000, seconds: 6, price: "0.001", by: "platform"),
            ])
            #expect(call.state.text == status)
            #expect(call.legs[1].state?.rawValue == status)
            #expect(call.legs[1].completed == .received)
            #expect((call.legs[1].detail, call.legs[1].sipCode) == ("unavailable", "480"))
            #expect(call.legs[0].state == .completed)
        }
    }

    @Test func `rejected needs no completed, other failures do`() throws {
        let rejected = try theCall([.event("started", outbound: true), .event("rejected", at: 9, outbound: true)])
        #expect(rejected.legs[0].completed == .notExpected)
        #expect(rejected.state == .ended(.rejected))
        let busy = try theCall([.event("started", outbound: true), .event("busy", at: 9, outbound: true)])
        #expect(busy.legs[0].completed == .missing)
        #expect(busy.state == .ended(.busy))
    }

    @Test func `a call goes on until two hours of silence`() throws {
        let events: [Arrival] = [.event("started"), .event("answered", at: 600)]
        let last = Arrival.noon + 10
        #expect(try theCall(events).state == .open(.answered))
        #expect(try theCall(events, now: last + CallDraft.longestSilence).legs[0].completed == .open)
        let over = try theCall(events, now: last + CallDraft.longestSilence + 1)
        #expect(over.legs[0].completed == .missing)
        #expect(over.state == .ended(.completed))
    }

    @Test func `an answer by a machine is said`() throws {
        let call = try theCall([
            .event("started", outbound: true), .event("answered", at: 1, outbound: true),
            .event("machine", at: 2000, outbound: true, #","sub_state":"beep_start""#),
            .completed(at: 9000, seconds: 9, price: "0.01", by: "platform", outbound: true),
        ])
        #expect(call.answeredBy == "machine")
        #expect(call.legs[0].answeredBy == "machine")
        #expect(call.state == .ended(.completed))
        var filter = CallFilter()
        filter.status = "machine"
        #expect(filter.matches(call))
    }

    @Test func `what has no leg is the call's`() throws {
        let call = try theCall([
            .event("started"), .other("record", #""recording_url":"https://x""#, at: 9000), .other("notify", #""payload":{}"#, at: 5),
            .other("input", #""dtmf":{"digits":"1"}"#, leg: Arrival.caller, at: 6),
        ])
        #expect(statuses(call) == ["started", "notify", "input", "record"])
        #expect(call.steps.map(\.leg) == [Arrival.caller, nil, Arrival.caller, nil])
        #expect(call.legs.count == 1)
    }

    @Test func `an error event stands by the NCCO it complains about`() throws {
        let call = try theCall([
            .answer(at: 0, ncco: #"[{"action":"tlk"}]"#), .event("started", at: 1),
            .other("error", #""reason":"Syntax error in NCCO. Invalid value type or action.""#, at: 1200),
            .answer(at: 1300, kind: "fallback", request: #""reason":"Syntax error in NCCO.","original_request":{"type":"answer"}"#),
        ])
        #expect(call.steps[2].about == call.steps[0].seq)
        #expect(call.steps[2].reason == "Syntax error in NCCO. Invalid value type or action.")
        #expect(call.steps[0].flow == "answer#1 ring-user")
        #expect(call.steps[3].kind == "fallback")
        #expect(call.steps[3].reason == "Syntax error in NCCO.")
    }

    @Test func `an answer request that came twice is one step where it was answered alike, else it is marked`() throws {
        let alike = try theCall([.answer(at: 0), .answer(at: 1000)])
        #expect(alike.steps.map(\.repeats) == [1])
        let other = try theCall([.answer(at: 0), .answer(at: 1000, ncco: "[]")])
        #expect(other.steps.map(\.isAgain) == [false, true])
        #expect(other.steps.map(\.repeats) == [0, 0])
    }

    @Test func `a transfer links two calls`() throws {
        let other = "CON-9f8e7d6c-5b4a-4392-8170-6f5e4d3c2b1a"
        let book = try book([
            .event("started"),
            .other(
                "transfer",
                #""type":"transfer","conversation_uuid_from":"\#(Arrival.conversation)","conversation_uuid_to":"\#(other)","uuid":"\#(Arrival.caller)""#,
                leg: Arrival.caller, at: 5000, call: nil),
            .completed(at: 9000, seconds: 9, price: "0.01", call: other),
        ])
        let (from, to) = (book.call(Arrival.conversation), book.call(other))
        #expect(from?.transferredTo == [other])
        #expect(to?.transferredFrom == [Arrival.conversation])
        #expect(from?.legs[0].completed == .transferred)
        #expect(to?.legs[0].completed == .received)
        #expect(from?.steps.last?.seq == to?.steps.first?.seq)
        #expect(book.calls(withLeg: Arrival.caller).count == 2)
    }

    @Test func `a user who calls from an app is the caller, whom the legs alone tell too`() throws {
        let answer = try theCall([.answer(at: 0, request: #""to":"12025550142","from_user":"alice""#)])
        #expect((answer.from, answer.to) == ("alice", "12025550142"))
        func leg(_ direction: String, _ from: String, _ to: String, _ uuid: String, _ at: Int64) -> Arrival {
            .other(
                "started", #""from":\#(from),"to":"\#(to)","uuid":"\#(uuid)","direction":"\#(direction)","status":"started""#, leg: uuid,
                at: at)
        }
        let legs = try theCall([leg("inbound", "null", "alice", "a", 0), leg("outbound", "\"alice\"", "bob", "b", 5)])
        #expect((legs.from, legs.to) == ("alice", "bob"))
    }

    @Test func `prices are added exactly`() {
        func sum(_ one: String, _ other: String) -> String? {
            ExactDecimal(one).flatMap { one in ExactDecimal(other).flatMap { one.adding($0) } }?.description
        }
        #expect(sum("0.00144000", "0") == "0.00144000")
        #expect(sum("0.1", "0.20") == "0.30")
        #expect(sum("999999999999.999999999999999999", "0.000000000000000001") == "1000000000000.000000000000000000")
        #expect(sum("-0.5", "0.25") == "-0.25")
        for text in ["", ".", "1.", ".5", "1e3", "+1", "1,5", "1.2.3", "12345678901234", "0.1234567890123456789"] {
            #expect(ExactDecimal(text) == nil, "\(text)")
        }
    }

    @Test func `steps beyond a thousand leave out what says least`() throws {
        var arrivals: [Arrival] = (0..<1500).map {
            .other("input", #""dtmf":{"digits":"\#($0)"}"#, leg: Arrival.caller, at: Int64($0))
        }
        arrivals.append(.completed(at: 9000, seconds: 9, price: "0.01"))
        let call = try theCall(arrivals)
        #expect(call.steps.count == CallDraft.mostSteps)
        #expect(call.omitted == 501)
        #expect(call.state == .ended(.completed))
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"seq":1}"#, #"{"seq":-1,"at":"2026-01-01T12:00:00.000Z"}"#, #"{"seq":1,"at":"x"}"#, #"{"seq":1,"at":""#,
        #"{"seq":99999999999999999999,"at":"2026-01-01T12:00:00.000Z"}"#,
    ]) func `what has no number and arrival is no record`(_ line: String) { #expect(CallRecord(Array(line.utf8)) == nil) }

    @Test func `a record without a call is counted, and is in no call`() throws {
        let book = try book([.other("notify", #""payload":{}"#, at: 0, call: nil), .event("started")])
        #expect(book.unassigned == 1)
        #expect(book.count == 1)
    }

    @Test func `a key written with escapes is the key it means`() throws {
        let record = try #require(
            CallRecord(Array(#"{"seq":1,"at":"2026-01-01T12:00:00.000Z","event":{"t\u006f":"alice","to":"bob"}}"#.utf8)))
        #expect(record.text(.to) == "alice")
    }
}

struct CallBookTests {
    /// One call a number, from number 1.
    private func record(_ number: Int, seq: UInt64) throws -> CallRecord {
        try #require(Arrival.event("started", call: "call-\(number)").record(seq, at: Arrival.noon + Int64(seq)))
    }

    @Test func `the call whose last record is oldest makes room`() throws {
        var limits = CallBook.Limits()
        limits.calls = 3
        var book = CallBook(limits: limits)
        var out: [String] = []
        for (seq, number) in [1, 2, 3, 1, 4, 5].enumerated() {
            book.add(try record(number, seq: UInt64(seq + 1))) { out.append($0.conversationUUID) }
        }
        #expect(out == ["call-2", "call-3"])
        #expect(book.evicted == 2)
        #expect(book.count == 3)
    }

    @Test func `bytes are bounded, and freed when calls go out`() throws {
        var limits = CallBook.Limits()
        limits.bytes = 5000
        var book = CallBook(limits: limits)
        for seq in 1...10_000 { book.add(try record(seq, seq: UInt64(seq))) }
        #expect((5...20).contains(book.count))
        #expect(book.evicted == 10_000 - book.count)
    }

    @Test func `pages go from the newest to the oldest, each call once, also while calls come`() throws {
        var book = CallBook()
        for number in 1...25 { book.add(try record(number, seq: UInt64(number))) }
        var names: [String] = []
        var cursor: CallCursor?
        var pages = 0
        repeat {
            let (calls, next) = book.page(after: cursor, limit: 10)
            names += calls.map(\.conversationUUID)
            cursor = next.flatMap { CallCursor($0.description) }
            pages += 1
            book.add(try record(100 + pages, seq: UInt64(100 + pages)))
        } while cursor != nil
        #expect(pages == 3)
        #expect(names == (1...25).reversed().map { "call-\($0)" })
    }

    @Test func `filters ask for status, number, user and time`() throws {
        var book = try book([
            .answer(at: 0, call: "one", request: #""from":"+1 202 555 0101","to":"alice""#), .event("busy", call: "one"),
            .event("started", at: 5000, call: "two"),
        ])
        func names(_ change: (inout CallFilter) -> Void) -> [String] {
            var filter = CallFilter()
            change(&filter)
            return book.page(filter, limit: 10).calls.map(\.conversationUUID)
        }
        #expect(names { $0.status = "busy" } == ["one"])
        #expect(names { $0.status = "started" } == ["two"])
        #expect(names { $0.number = PhoneNumber("12025550101") } == ["two", "one"])
        #expect(names { $0.user = "Alice" } == ["one"])
        #expect(names { $0.since = Arrival.noon + 5000 } == ["two"])
        #expect(names { $0.to = Arrival.noon + 5000 } == ["one"])
    }

    @Test func `a list knows of new records, and of silence`() throws {
        var book = try book([.event("started", call: "one"), .event("answered", at: 5, call: "one")])
        let late = Arrival.noon + 10 + CallDraft.longestSilence + 1
        #expect(book.page(limit: 1, now: Arrival.noon).calls.map(\.state) == [.open(.answered)])
        #expect(book.page(limit: 1, now: late).calls.map(\.state) == [.ended(.completed)])
        book.add(try #require(Arrival.event("busy", at: 6, call: "one").record(3, at: late)))
        #expect(book.page(limit: 1, now: late).calls.map(\.state) == [.ended(.busy)])
    }

    @Test func `a stream goes on behind a number`() throws {
        var book = CallBook()
        for (seq, number) in [1, 2, 3, 1].enumerated() { book.add(try record(number, seq: UInt64(seq + 1))) }
        #expect(book.calls(after: 2).map(\.conversationUUID) == ["call-3", "call-1"])
        #expect(book.calls(after: 4).isEmpty)
    }

    @Test(arguments: ["", "1", "x.y", "-1.a", "1"]) func `what is no cursor is refused`(_ text: String) { #expect(CallCursor(text) == nil) }
}
