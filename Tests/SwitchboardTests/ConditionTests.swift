// SPDX-License-Identifier: MIT
//
// Conditions of rules: each asks one value of a request, wherever in it that stands.

import Foundation
import Testing

@testable import Switchboard

struct ConditionTests {
    private static let said = #"[{"action": "talk", "text": "x"}]"#

    /// Whether a rule with this `when` holds.
    private func holds(
        _ when: String, query: String = "", body: String = "", at time: Int64 = 0, numbers: [String] = ["14155550100", "14155550111"],
        zone: @escaping (String) throws(ZoneError) -> Zone = { name throws(ZoneError) in try Zone.named(name) }
    ) throws -> Bool {
        let bench = try FlowBench(
            flows: "{\"flows\": {\"answer\": [{\"when\": {\(when)}, \"ncco\": \"t\"}]}}", templates: ["t": Self.said], numbers: numbers,
            zone: zone)
        return try bench.ask(query: query, body: body, at: time) != nil
    }

    /// A condition, a body, and whether it holds.
    struct Vector: Sendable, CustomTestStringConvertible {
        let when, body: String
        let holds: Bool
        var testDescription: String { "\(when) of \(body.prefix(80))" }
        init(_ when: String, _ body: String, _ holds: Bool) { (self.when, self.body, self.holds) = (when, body, holds) }
    }

    // MARK: Equality

    private static let equality = [
        Vector(#""to": "447700900123""#, #"{"to":"447700900123"}"#, true),
        Vector(#""to": "447700900123""#, #"{"to":"+447700900123"}"#, true),
        Vector(#""to": "+447700900123""#, #"{"to":"447700900123"}"#, true),
        Vector(#""to": "0044 7700 900-123""#, #"{"to":"tel:+447700900123"}"#, true),
        Vector(#""to": "447700900123""#, #"{"to":447700900123}"#, true), Vector(#""to": 447700900123"#, #"{"to":"+44 7700 900123"}"#, true),
        Vector(#""to": "447700900124""#, #"{"to":"447700900123"}"#, false),
        Vector(#""to": "447700900123""#, #"{"to":[447700900123]}"#, false),
        Vector(#""to": "447700900123""#, #"{"to":["447700900123"]}"#, false), Vector(#""to": "447700900123""#, #"{}"#, false),
        Vector(#""custom_data.tier": "gold""#, #"{"custom_data":{"tier":"gold"}}"#, true),
        Vector(#""custom_data.tier": "gold""#, #"{"custom_data":{"tier":"Gold"}}"#, false),
        Vector(#""custom_data.tier": "gold""#, #"{"custom_data":{"tier":"gold "}}"#, false),
        Vector(#""custom_data.tier": "gold""#, #"{"custom_data":{"tier":"\u0067old"}}"#, true),
        Vector(#""custom_data.tier": ["silver", "gold"]"#, #"{"custom_data":{"tier":"gold"}}"#, true),
        Vector(#""custom_data.tier": ["silver", "gold"]"#, #"{"custom_data":{"tier":"iron"}}"#, false),
        Vector(#""custom_data.level": 5"#, #"{"custom_data":{"level":5}}"#, true),
        Vector(#""custom_data.level": 5"#, #"{"custom_data":{"level":"5"}}"#, true),
        Vector(#""custom_data.level": "5""#, #"{"custom_data":{"level":5}}"#, true),
        Vector(#""custom_data.level": 5"#, #"{"custom_data":{"level":5.0}}"#, false),
        Vector(#""custom_data.level": [4, "5", true]"#, #"{"custom_data":{"level":true}}"#, true),
        Vector(#""custom_data.vip": true"#, #"{"custom_data":{"vip":true}}"#, true),
        Vector(#""custom_data.vip": true"#, #"{"custom_data":{"vip":"true"}}"#, true),
        Vector(#""custom_data.vip": true"#, #"{"custom_data":{"vip":false}}"#, false),
        Vector(#""custom_data.vip": true"#, #"{"custom_data":{"vip":1}}"#, false),
        // Keys are no phone numbers where they are too few.
        Vector(#""dtmf.digits": "1""#, #"{"dtmf":{"digits":"1"}}"#, true),
        Vector(#""dtmf.digits": "1""#, #"{"dtmf":{"digits":"+1"}}"#, false),
        Vector(#""dtmf.digits": """#, #"{"dtmf":{"digits":""}}"#, false),
    ]

    @Test(arguments: equality) func `a text or a list is equal to the value`(_ vector: Vector) throws {
        #expect(try holds(vector.when, body: vector.body) == vector.holds)
    }

    // MARK: Beginnings

    private static let beginnings = [
        Vector(#""from": {"starts_with": "+44"}"#, #"{"from":"447700900123"}"#, true),
        Vector(#""from": {"starts_with": "0044"}"#, #"{"from":"447700900123"}"#, true),
        Vector(#""from": {"starts_with": "44"}"#, #"{"from":"+44 7700 900123"}"#, true),
        Vector(#""from": {"starts_with": 44}"#, #"{"from":447700900123}"#, true),
        Vector(#""from": {"starts_with": "447700900123"}"#, #"{"from":"447700900123"}"#, true),
        Vector(#""from": {"starts_with": "4477009001234"}"#, #"{"from":"447700900123"}"#, false),
        Vector(#""from": {"starts_with": "1"}"#, #"{"from":"447700900123"}"#, false),
        Vector(#""from": {"starts_with": ["1", "+44"]}"#, #"{"from":"447700900123"}"#, true),
        Vector(#""from": {"starts_with": ["1", "2"]}"#, #"{"from":"447700900123"}"#, false),
        Vector(#""from": {"starts_with": "+"}"#, #"{"from":"447700900123"}"#, false),
        Vector(#""from": {"starts_with": "00"}"#, #"{"from":"447700900123"}"#, false),
        Vector(#""from": {"starts_with": "anon"}"#, #"{"from":"anonymous"}"#, true),
        Vector(#""from": {"starts_with": "anonymouss"}"#, #"{"from":"anonymous"}"#, false),
        Vector(#""from": {"starts_with": "Anon"}"#, #"{"from":"anonymous"}"#, false),
        Vector(#""from": {"starts_with": ""}"#, #"{"from":"anonymous"}"#, true),
        Vector(#""from": {"starts_with": ""}"#, #"{}"#, false),
        Vector(#""from": {"starts_with": "44"}"#, #"{"from":[447700900123]}"#, false),
        Vector(#""speech.results.0.text": {"starts_with": "é"}"#, #"{"speech":{"results":[{"text":"\u00e9t\u00e9"}]}}"#, true),
    ]

    @Test(arguments: beginnings) func `a text or a list begins the value, a number's without its signs`(_ vector: Vector) throws {
        #expect(try holds(vector.when, body: vector.body) == vector.holds)
    }

    // MARK: Presence and kinds

    private static let present = [
        ("{}", false), (#"{"from":""}"#, false), (#"{"from":null}"#, false), (#"{"from":"null"}"#, true), (#"{"from":" "}"#, true),
        (#"{"from":0}"#, true), (#"{"from":false}"#, true), (#"{"from":{}}"#, true), (#"{"from":[]}"#, true), (#"{"from":"\ud800"}"#, true),
    ]

    @Test(arguments: present) func `empty and null are missing`(_ body: String, _ isPresent: Bool) throws {
        #expect(try holds(#""from": {"present": true}"#, body: body) == isPresent)
        #expect(try holds(#""from": {"present": false}"#, body: body) == !isPresent)
        #expect(try holds(#""from": {"not": {"present": true}}"#, body: body) == !isPresent)
        let nested = "{\"custom_data\":\(body)}"
        #expect(try holds(#""custom_data.from": {"present": true}"#, body: nested) == isPresent)
    }

    @Test func `the first value of a query counts, and one that a body has counts more`() throws {
        #expect(try holds(#""custom_data": "a""#, query: "custom_data=a&custom_data=b"))
        #expect(try holds(#""custom_data": "c""#, query: "custom_data=a", body: #"{"custom_data":"c"}"#))
        #expect(try holds(#""from": {"present": false}"#, query: "from="))
        #expect(try holds(#""from": {"present": false}"#, query: "from"))
    }

    private static let kinds = [
        Vector(#""to": {"is": "phone_number"}"#, #"{"to":"+44 7700 900123"}"#, true),
        Vector(#""to": {"is": "phone_number"}"#, #"{"to":447700900123}"#, true),
        Vector(#""to": {"is": "phone_number"}"#, #"{"to":"112"}"#, false),
        Vector(#""to": {"is": "phone_number"}"#, #"{"to":"Bob"}"#, false),
        Vector(#""to": {"is": "phone_number"}"#, #"{"to":[447700900123]}"#, false),
        Vector(#""to": {"is": "phone_number"}"#, #"{"to":{"a":1}}"#, false),
        Vector(#""to": {"is": "phone_number"}"#, "{}", false), Vector(#""to": {"is": "phone_number"}"#, #"{"to":-4477009001}"#, false),
        Vector(#""to": {"is": "phone_number"}"#, #"{"custom_data":{"to":"447700900123"}}"#, true),
        Vector(#""to": {"is": "phone_number"}"#, #"{"to":" ","custom_data":"{\"to\":\"447700900123\"}"}"#, true),
        Vector(#""to": {"is": "own_number"}"#, #"{"to":"14155550111"}"#, true),
        Vector(#""to": {"is": "own_number"}"#, #"{"to":"001 (415) 555-0111"}"#, true),
        Vector(#""to": {"is": "own_number"}"#, #"{"to":"447700900123"}"#, false), Vector(#""to": {"is": "own_number"}"#, "{}", false),
        Vector(#""to": {"is": "user_name"}"#, #"{"to":"Bob"}"#, true),
        Vector(#""to": {"is": "user_name"}"#, #"{"to":"447700900123"}"#, false),
        Vector(#""to": {"is": "user_name"}"#, #"{"to":"tel:447700900123"}"#, false),
        Vector(#""to": {"is": "user_name"}"#, #"{"to":true}"#, false),
        Vector(#""to": {"is": "user_name"}"#, #"{"to":["Bob"]}"#, false), Vector(#""to": {"is": "user_name"}"#, #"{"to":"a\nb"}"#, false),
        Vector(#""to": {"is": "sip_uri"}"#, #"{"to":"sip:a@pbx.example.com"}"#, true),
        Vector(#""to": {"is": "sip_uri"}"#, #"{"to":"SIPS:a@b;transport=tls"}"#, true),
        Vector(#""to": {"is": "sip_uri"}"#, #"{"to":"sip:"}"#, false), Vector(#""to": {"is": "sip_uri"}"#, #"{"to":"a@b"}"#, false),
        Vector(#""to": {"is": "sip_uri"}"#, #"{"to":{"sip":1}}"#, false),
    ]

    @Test(arguments: kinds) func `a value is of a kind`(_ vector: Vector) throws {
        #expect(try holds(vector.when, body: vector.body) == vector.holds)
        let not = vector.when.replacing(": {", with: ": {\"not\": {") + "}"
        #expect(try holds(not, body: vector.body) != vector.holds)
    }

    @Test(arguments: [#"{"to":"447700900123"}"#, #"{"to":"Bob"}"#, "{}"])
    func `where no number is configured every callee is our own`(_ body: String) throws {
        #expect(try holds(#""to": {"is": "own_number"}"#, body: body, numbers: []))
        #expect(try !holds(#""to": {"not": {"is": "own_number"}}"#, body: body, numbers: []))
    }

    @Test func `not turns any condition around, also twice`() throws {
        let body = #"{"from":"447700900123"}"#
        for (condition, holds) in [
            (#"{"not": "447700900123"}"#, false), (#"{"not": ["1", "2"]}"#, true), (#"{"not": {"starts_with": "44"}}"#, false),
            (#"{"not": {"not": {"starts_with": "44"}}}"#, true), (#"{"not": {"not": {"not": {"starts_with": "44"}}}}"#, false),
        ] {
            #expect(try self.holds("\"from\": \(condition)", body: body) == holds, "\(condition)")
        }
        // What is missing is not equal to anything.
        #expect(try holds(#""to": {"not": "447700900123"}"#, body: body))
    }

    @Test func `all conditions of a rule must hold, and the first rule that holds is served`() throws {
        let bench = try FlowBench(
            flows: """
                {"flows": {"answer": [
                  {"when": {"from": "447700900123", "custom_data.tier": "gold"}, "ncco": "a"},
                  {"when": {"from": "447700900123"}, "ncco": "b"}, {"when": {}, "ncco": "c"}]}}
                """, templates: ["a": Self.said, "b": Self.said, "c": Self.said])
        #expect(try bench.ask(query: "from=447700900123&custom_data=%7B%22tier%22:%22gold%22%7D")?.flow == "answer#1 a")
        #expect(try bench.ask(query: "from=447700900123")?.flow == "answer#2 b")
        #expect(try bench.ask(query: "custom_data=%7B%22tier%22:%22gold%22%7D")?.flow == "answer#3 c")
    }

    // MARK: Paths

    private static let speech = #"{"speech":{"results":[{"text":"sales","confidence":0.9},{"text":"support"}]}}"#
    private static let paths = [
        Vector(#""speech.results.0.text": "sales""#, speech, true), Vector(#""speech.results.1.text": "support""#, speech, true),
        Vector(#""speech.results.2.text": {"present": true}"#, speech, false), Vector(#""speech.results.0.confidence": 0.9"#, speech, true),
        Vector(#""speech.results.0.confidence": "0.9""#, speech, true),
        Vector(#""speech.results.-1.text": {"present": true}"#, speech, false),
        Vector(#""speech.results.x": {"present": true}"#, speech, false),
        Vector(#""speech.results.text": {"present": true}"#, speech, false),
        Vector(#""speech.results.0.text.0": {"present": true}"#, speech, false),
        Vector(#""speech.results.0": {"present": true}"#, speech, true),
        Vector(#""speech.results.9223372036854775807": {"present": true}"#, speech, false),
        Vector(#""speech.results.99999999999999999999": {"present": true}"#, speech, false),
        Vector(#""speech.results.0": {"present": true}"#, #"{"speech":{"results":[]}}"#, false),
        Vector(#""speech.results.1": "b""#, #"{"speech":{"results":["a","b"]}}"#, true),
        Vector(#""speech.results.1.0": 2"#, #"{"speech":{"results":[[1],[2]]}}"#, true),
        Vector(#""custom_data.a.b": "c""#, #"{"custom_data":{"a":{"b":"c"}}}"#, true),
        Vector(#""custom_data.a.b": "c""#, #"{"custom_data":"{\"a\":{\"b\":\"c\"}}"}"#, true),
        // A parameter may have dots in its name.
        Vector(#""custom_data.a.b": "c""#, #"{"custom_data.a.b":"c"}"#, true),
        Vector(#""custom_data.a.b": "c""#, #"{"custom_data.a.b":"c","custom_data":{"a":{"b":"d"}}}"#, true),
        Vector(#""custom_data.a.b": "d""#, #"{"custom_data.a.b":"","custom_data":{"a":{"b":"d"}}}"#, true),
        Vector(#""custom_data.0": "b""#, #"{"custom_data":{"0":"b"}}"#, true),
        Vector(#""custom_data.a": "b""#, #"{"custom_data":{"\u0061":"b"}}"#, true),
        // The first value counts where a key comes twice.
        Vector(#""custom_data.a": "b""#, #"{"custom_data":{"a":"b","a":"c"}}"#, true),
        Vector(#""custom_data.a": "c""#, #"{"custom_data":{"a":"b","a":"c"}}"#, false),
        Vector(#""custom_data.a": {"present": true}"#, #"{"custom_data":{"a":{}}}"#, true),
        Vector(#""custom_data.a": {"present": true}"#, #"{"custom_data":{"b":{"a":1}}}"#, false),
    ]

    @Test(arguments: paths) func `a path leads into objects and lists`(_ vector: Vector) throws {
        #expect(try holds(vector.when, body: vector.body) == vector.holds)
    }

    @Test func `a path leads into JSON that is text in a query`() throws {
        let digits = "dtmf=%7B%22digits%22:%221%22,%22timed_out%22:false%7D"
        #expect(try holds(#""dtmf.digits": "1""#, query: digits))
        #expect(try holds(#""dtmf.timed_out": false"#, query: digits))
        #expect(try holds(#""speech.results.0.text": "sales""#, query: "speech=%7B%22results%22:%5B%7B%22text%22:%22sales%22%7D%5D%7D"))
        #expect(try holds(#""custom_data.tier": "gold""#, query: "custom_data=+%7B+%22tier%22+:+%22gold%22+%7D+"))
    }

    private static let deep = String(repeating: #"{\"a\":"#, count: 5000) + "1" + String(repeating: "}", count: 5000)
    private static let hostile =
        [
            #""""#, #""x""#, #""{""#, #""{\"a\"""#, #""{\"a\":1""#, #""{\"a\":1}}""#, #""[1""#, #""\"a\"""#, #""null""#, #""{a:1}""#,
            #""{\"a\":01}""#,
            #""\u0000""#, #""\ud800""#, "[]", "{}", "5", "true", "\"\(deep)\"", "\"" + String(repeating: "[", count: 100_000) + "\"",
            "\"" + String(repeating: "{", count: 100_000) + "\"",
        ]

    @Test(arguments: hostile) func `what is no JSON has no members`(_ value: String) throws {
        #expect(try !holds(#""custom_data.a": {"present": true}"#, body: "{\"custom_data\":\(value)}"), "\(value.prefix(80))")
        #expect(try !holds(#""custom_data.0.a": {"present": true}"#, body: "{\"custom_data\":\(value)}"), "\(value.prefix(80))")
    }

    @Test func `a text is looked into once, however many paths lead there`() throws {
        var parameters = WebhookParameters()
        let query = Array("custom_data=%7B%22a%22:1,%22b%22:%22x%22%7D&speech=%7B%22a%22:2%7D&dtmf=x".utf8)
        func read(_ path: String) -> String? {
            parameters.value(at: ParameterPath(path)).map { String(decoding: parameters.bytes(of: $0)[$0.range], as: UTF8.self) }
        }
        for _ in 0..<2 {
            try parameters.read(query: 0..<query.count, body: query.span.extracting(0..<0), contentType: nil, in: query.span)
            for _ in 0..<3 {
                #expect(["custom_data.a", "custom_data.b", "custom_data.c", "speech.a", "dtmf.a"].map(read) == ["1", "x", nil, "2", nil])
            }
            #expect(parameters.opened.count == 3)
        }
    }

    @Test func `bytes that are no UTF-8 are equal to nothing and trap nothing`() throws {
        for value in ["%FF", "%C3", "%ED%A0%80", "%7B%22a%22:%22%FF%22%7D"] {
            #expect(try !holds(#""custom_data": "x""#, query: "custom_data=\(value)"))
            #expect(try !holds(#""custom_data.a": "x""#, query: "custom_data=\(value)"))
            #expect(try !holds(#""custom_data": {"is": "user_name"}"#, query: "custom_data=\(value)"))
        }
    }

    // MARK: Time

    private func seconds(_ text: String) throws -> Int64 {
        Int64(try #require(ISO8601DateFormatter().date(from: text + "Z")).timeIntervalSince1970)
    }

    @Test func `now is asked in its zone`() throws {
        let office = #""now": {"between": ["09:00", "17:30"], "zone": "Europe/London", "days": ["mon", "tue"]}"#
        // On 30 November 2026, a Monday, London has UTC; on 29 June 2026, a Monday too, an hour more.
        for (time, holds) in [
            ("2026-11-30T08:59:59", false), ("2026-11-30T09:00:00", true), ("2026-11-30T17:29:59", true), ("2026-11-30T17:30:00", false),
            ("2026-06-29T07:59:59", false), ("2026-06-29T08:00:00", true), ("2026-06-29T16:30:00", false), ("2026-12-02T12:00:00", false),
        ] {
            #expect(try self.holds(office, at: seconds(time)) == holds, "\(time)")
            #expect(try self.holds(office.replacing("{", with: "{\"not\": {") + "}", at: seconds(time)) != holds, "not at \(time)")
        }
        #expect(try holds(#""now": {"days": ["mon"], "zone": "UTC"}"#, at: seconds("2026-11-30T23:59:59")))
        #expect(try holds(#""now": {"between": ["22:00", "06:00"], "zone": "UTC"}"#, at: seconds("2026-11-30T05:59:59")))
    }

    @Test func `the zone is read when the flows are, and only then`() throws {
        var asked: [String] = []
        let zone: (String) throws(ZoneError) -> Zone = { name in
            asked.append(name)
            return .utc
        }
        let bench = try FlowBench(
            flows: #"{"flows": {"answer": [{"when": {"now": {"between": ["00:00", "12:00"], "zone": "Mars/Olympus"}}, "ncco": "t"}]}}"#,
            templates: ["t": Self.said], zone: zone)
        for hour in 0..<24 { #expect(try (bench.ask(at: Int64(hour) * 3600) != nil) == (hour < 12)) }
        // A time before 1970 and one far away are times too.
        #expect(try bench.ask(at: -3600) == nil && bench.ask(at: -13 * 3600) != nil)
        #expect(try bench.ask(at: 253_402_300_799) == nil)
        #expect(asked == ["Mars/Olympus"])
    }

    @Test func `the beginning of a number may be written as people do, and a fraction is no number`() throws {
        let bench = try FlowBench(
            flows:
                #"{"flows": {"answer": [{"when": {"to": {"starts_with": "+44 20-7"}}, "ncco": "t"}, {"when": {"to": {"is": "phone_number"}}, "ncco": "t"}]}}"#,
            templates: ["t": #"[{"action":"talk","text":"x"}]"#])
        #expect(try bench.ask(body: #"{"to":"442071234567"}"#)?.flow == "answer#1 t")
        #expect(try bench.ask(body: #"{"to":"442081234567"}"#)?.flow == "answer#2 t")
        #expect(try bench.ask(body: #"{"to":1234567.5}"#) == nil)
        #expect(try bench.ask(body: #"{"to":1234567}"#)?.flow == "answer#2 t")
    }
}
