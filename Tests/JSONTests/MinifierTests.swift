// SPDX-License-Identifier: MIT

import Testing

@testable import JSON

struct MinifierTests {
    @Test(arguments: try vectors("accepted") as [TextVector])
    func `what the grammar has is accepted and loses its white space only`(_ vector: TextVector) throws {
        let input = vector.bytes
        var output = Array("before".utf8)
        let summary = try minifyJSON(input.span, into: &output)
        let expected = vector.minified.map { Array($0.utf8) } ?? input
        #expect(output == Array("before".utf8) + expected)
        #expect(summary.kind.rawValue == vector.kind)
        #expect(try minified(expected) == String(decoding: expected, as: UTF8.self))
    }

    @Test(arguments: try vectors("accepted") as [TextVector])
    func `the second opinion accepts the same vectors`(_ vector: TextVector) { #expect(ReferenceGrammar.accepts(vector.bytes)) }

    @Test(arguments: try vectors("refused") as [TextVector])
    func `what the grammar has not is refused where it goes wrong`(_ vector: TextVector) throws {
        let input = vector.bytes
        var output = Array("before".utf8)
        let error = try #require(throws: JSONError.self) { try minifyJSON(input.span, into: &output) }
        #expect(error.offset == vector.offset, "\(error)")
        #expect("\(error.reason)" == vector.reason, "\(error)")
        #expect(output == Array("before".utf8))
        #expect(!ReferenceGrammar.accepts(input))
        #expect(throws: error) { try tree(input) }
    }

    @Test func `a fault behind much copied text leaves the output as it was`() {
        let input = Array("{ \"a\" : [ 1 , 2 , 3 ] , \"b\" : tru }".utf8)
        var output = Array("before".utf8)
        #expect(throws: JSONError.self) { try minifyJSON(input.span, into: &output) }
        #expect(output == Array("before".utf8))
    }

    @Test(arguments: ["[]", "{}"]) func `nesting is accepted up to the limit and refused beyond`(pair: String) throws {
        let open = pair == "[]" ? "[" : "{\"a\":"
        let close = String(pair.suffix(1))
        let core = pair == "[]" ? "" : "1"
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: open, count: depth) + core + String(repeating: close, count: depth)).utf8)
        }
        #expect(try minified(nested(512)) == String(decoding: nested(512), as: UTF8.self))
        let error = #expect(throws: JSONError.self) { try minified(nested(513)) }
        #expect(error?.reason == .tooDeep(limit: 512))
        #expect(error?.offset == 512 * open.utf8.count)
        #expect(throws: JSONError.self) { try minified(nested(100_000)) }
        #expect(try minified(nested(3), maximumDepth: 3) == String(decoding: nested(3), as: UTF8.self))
        #expect(throws: JSONError.self) { try minified(nested(1), maximumDepth: 0) }
        #expect(try minified(Array("1".utf8), maximumDepth: 0) == "1")
    }

    @Test func `siblings do not count as nesting`() throws {
        let text = "[" + Array(repeating: "[]", count: 2000).joined(separator: ",") + "]"
        #expect(try minified(Array(text.utf8), maximumDepth: 2) == text)
    }

    static let event = #"{"from":"Zürich 😀","dtmf":{"digits":"12","timed_out":false},"list":[1.5e-3,-0,null,true],"esc":"\ud83d\u00e9\n"}"#

    @Test func `each proper prefix of a text ends early`() throws {
        let bytes = Array(Self.event.utf8)
        for count in 0..<bytes.count {
            let error = #expect(throws: JSONError.self) { try minified(Array(bytes.prefix(count))) }
            #expect(error?.reason == .endsEarly, "\(count): \(String(describing: error))")
            #expect(error?.offset == count)
        }
        #expect(try minified(bytes) == Self.event)
    }

    /// `@` is replaced by each of the 256 bytes.
    @Test(
        arguments: [
            "@", "@1", "1@", "-@", "1.@", "1e@", "[@", "[@]", "[1@]", "[1@2]", "[1,@]", "{@}", "{\"a\"@1}", "{\"a\":@}", "{\"a\":1@}",
            "{\"@\":1}", "\"@\"", "\"1234567@\"", "\"12345678@1234567\"", "\"\\@\"", "\"\\u@000\"", "\"\\u000@\"", "t@ue", "nul@", "[]@",
            "\"\u{E9}@\"",
        ])
    func `each byte is judged as the second opinion judges it`(frame: String) {
        for byte in UInt8.min...UInt8.max {
            let text = frame.utf8.map { $0 == UInt8(ascii: "@") ? byte : $0 }
            let accepted = (try? minified(text)) != nil
            #expect(accepted == ReferenceGrammar.accepts(text), "\(frame) with byte \(byte)")
        }
    }

    @Test func `each pair of bytes in a string is judged as the second opinion judges it`() {
        for first in UInt8(0x7F)...0xFF {
            for second: UInt8 in [0x00, 0x22, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF] {
                for tail: [UInt8] in [[], [0x80], [0x80, 0x80], [0xBF, 0x41]] {
                    let text = [0x22, first, second] + tail + [0x22]
                    #expect(((try? minified(text)) != nil) == ReferenceGrammar.accepts(text), "\(text)")
                }
            }
        }
    }
}
