// SPDX-License-Identifier: MIT

import Testing

@testable import JSON

struct MembersTests {
    private func members(_ text: String, _ range: Range<Int>? = nil) -> [String] {
        let bytes = Array(text.utf8)
        var members = JSONMembers(range, in: bytes.span)
        var found: [String] = []
        while let member = members.next(in: bytes.span) {
            found.append(String(decoding: bytes[member.name], as: UTF8.self) + "=" + String(decoding: bytes[member.value], as: UTF8.self))
        }
        #expect(members.next(in: bytes.span) == nil)
        return found
    }

    @Test(
        arguments: [
            (#"{}"#, []), (#"{"a":1}"#, ["a=1"]),
            (#"{"a":1,"b":"x","c":null,"d":[1,{"e":2}],"f":{"g":"}"}}"#, ["a=1", "b=\"x\"", "c=null", #"d=[1,{"e":2}]"#, #"f={"g":"}"}"#]),
            (#"{"a":1,"a":2}"#, ["a=1", "a=2"]), (#"{"":""}"#, [#"=""# + "\""]),
            (#"{"a\"b":"c\"d","e\\":"f\\"}"#, [#"a\"b="c\"d""#, #"e\\="f\\""#]),
            (" {\n \"a\" : 1 ,\t\"b\" : [ 1 , 2 ] \r\n} ", ["a=1", "b=[ 1 , 2 ]"]), (#"{"a":-1.5e+3,"b":true}"#, ["a=-1.5e+3", "b=true"]),
        ] as [(String, [String])])
    func `members come in order with the text of their values`(text: String, expected: [String]) {
        #expect(members(text) == expected)
    }

    @Test func `an object inside a text is read by its range`() {
        let text = #"{"x":{"a":1,"b":2},"y":3}"#
        #expect(members(text, 5..<18) == ["a=1", "b=2"])
        #expect(members(text, 5..<16) == ["a=1"])
        #expect(members(text, 6..<18) == [])
    }

    @Test(arguments: [
        "", " ", "[1]", "1", "\"a\"", "null", "}", "{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":}", "{a:1}", "{,\"a\":1}",
        "{\"a\":\"", "{\"a\":\"\\",
    ])
    func `what is no object has no members`(text: String) { #expect(members(text) == []) }

    @Test func `a bad place ends the members`() {
        #expect(members(#"{"a":1 "b":2}"#) == ["a=1"])
        #expect(members(#"{"a":1,}"#) == ["a=1"])
        #expect(members(#"{"a":1,"b"}"#) == ["a=1"])
        #expect(members(#"{"a":1,"b":2"#) == ["a=1", "b=2"])
    }

    @Test(arguments: [Int.min..<0, -1..<3, 3..<3, 99..<100, 0..<Int.max])
    func `a range outside the text is cut to it`(range: Range<Int>) {
        #expect(members(#"{"a":1}"#, range) == (range.upperBound == .max ? ["a=1"] : []))
    }

    @Test func `a shorter text than the one begun with ends the members`() {
        let long = Array(#"{"a":1,"b":2}"#.utf8)
        var members = JSONMembers(in: long.span)
        #expect(members.next(in: long.span) != nil)
        #expect(members.next(in: Array("{".utf8).span) == nil)
        #expect(members.next(in: [UInt8]().span) == nil)
    }

    @Test(
        arguments: [
            ("1", 0, 1), ("12,", 0, 2), ("\"a\\\"b\"x", 0, 6), ("[[],{}]]", 0, 7), ("{\"a\":[\"]\"]} ", 0, 11), ("x true,", 2, 6),
            ("", 0, nil), ("]", 0, nil),
            (",1", 0, nil), (" 1", 0, nil), ("[1", 0, nil), ("\"a", 0, nil), ("1", 1, nil), ("1", -1, nil), ("1", .max, nil),
        ] as [(String, Int, Int?)])
    func `a value is skipped to its end`(text: String, start: Int, end: Int?) {
        #expect(skip(Array(text.utf8), from: start) == end)
    }

    @Test func `deep nesting is skipped without a stack`() {
        let text = String(repeating: "[", count: 200_000) + String(repeating: "]", count: 200_000)
        #expect(skip(Array(text.utf8), from: 0) == 400_000)
    }
}
