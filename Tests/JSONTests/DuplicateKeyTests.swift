// SPDX-License-Identifier: MIT

import Testing

@testable import JSON

struct DuplicateKeyTests {
    private func duplicate(_ text: String) throws -> Int? {
        var output: [UInt8] = []
        return try minifyJSON(Array(text.utf8).span, into: &output).duplicateKey
    }

    @Test(
        arguments: [
            (#"{"a":1,"b":2}"#, nil), (#"{"a":1,"a":2}"#, 8), (#"{"a":1,"b":2,"c":3,"b":4,"a":5}"#, 20),
            (#"{"a":{"b":1,"b":2},"a":3}"#, 13),
            (#"{"a":{"a":{"a":1}}}"#, nil), (#"[{"a":1},{"a":2}]"#, nil), (#"[{"a":1},{"a":2,"a":3}]"#, 17), (#"{"":1,"":2}"#, 7),
            (#"{"a":1,"\u0061":2}"#, 8), (#"{"\u0061":1,"a":2}"#, 13), (#"{"\u0061":1,"\u0061":2}"#, 13), (#"{"\n":1,"\u000A":2}"#, 9),
            (#"{"a\\":1,"a":2}"#, nil), (#"{"A":1,"a":2}"#, nil), (#"{"é":1,"\u00e9":2}"#, 9), (#"{"😀":1,"\ud83d\ude00":2}"#, 11),
            (#"{"é":1,"e\u0301":2}"#, nil), (#"{"12345678":1,"123456789":2,"12345678":3}"#, 29),
            (#"{"a":[{"x":1,"y":2}],"b":{"x":1},"b":0}"#, 34),
            (#"{"12345678x12345678":1,"12345678y12345678":2}"#, nil),
        ] as [(String, Int?)])
    func `the first key that repeats one of its own object is named`(text: String, offset: Int?) throws {
        #expect(try duplicate(text) == offset)
    }

    @Test(arguments: [2, 23, 24, 25, 26, 60, 200])
    func `a duplicate is found among few and among many`(count: Int) throws {
        let members = (0..<count).map { "\"key\($0)\":\($0)" }
        #expect(try duplicate("{\(members.joined(separator: ","))}") == nil)
        let head = "{\(members.joined(separator: ",")),\""
        #expect(try duplicate(head + "key0\":1}") == head.utf8.count)
        #expect(try duplicate(head + "k\\u0065y\(count - 1)\":1}") == head.utf8.count)
        #expect(try duplicate(head + "key\(count - 1)\":1,\"key1\":1}") == head.utf8.count)
    }

    @Test(.timeLimit(.minutes(1)), arguments: [("", ""), ("the same beginning ", ""), ("beginning", "the same end"), ("\\u0061", "")])
    func `fifty thousand keys of one object are told apart`(front: String, back: String) throws {
        let members = (0..<50_000).map { "\"\(front)\(100_000 + $0)\(back)\":0" }
        let text = "{\(members.joined(separator: ","))"
        #expect(try duplicate(text + "}") == nil)
        #expect(try duplicate(text + ",\"\(front)123456\(back)\":0}") == text.utf8.count + 2)
    }
}
