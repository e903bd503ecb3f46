// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import JSON

struct TreeTests {
    @Test(arguments: try vectors("accepted") as [TextVector])
    func `a tree is written as the minifier writes its text`(_ vector: TextVector) throws {
        let node = try parseJSON(vector.bytes.span)
        #expect(encoded(node) == (try minified(vector.bytes)))
        #expect(node.kind.rawValue == vector.kind)
    }

    @Test func `every node knows its place`() throws {
        let text = " {\"a\": [1.50, \"x\\n\"],\n\"b\":{ }, \"a\":true}"
        let bytes = Array(text.utf8)
        func slice(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        let root = try parseJSON(bytes.span)
        guard case .object(let members) = root.value, case .array(let elements) = members.first?.node.value else {
            Issue.record("not an object with an array first")
            return
        }
        #expect(root.range == 1..<bytes.count)
        #expect(members.map(\.name.value) == ["a", "b", "a"])
        #expect(members.map { slice($0.nameRange) } == ["a", "b", "a"])
        #expect(members.map { slice($0.node.range) } == ["[1.50, \"x\\n\"]", "{ }", "true"])
        #expect(elements.map { slice($0.range) } == ["1.50", "\"x\\n\""])
        guard case .number("1.50") = elements[0].value, case .string(let string) = elements[1].value else {
            Issue.record("not a number and a string")
            return
        }
        #expect(string.value == "x\n")
        #expect(string.literal == "x\\n")
        #expect(JSONPosition(of: members[1].nameRange.lowerBound, in: bytes.span).line == 2)
    }

    @Test func `a made string is escaped`() {
        #expect(encoded(JSONNode(.array([JSONNode(.string(JSONString("a\"\n")), at: 0..<0)]), at: 0..<0)) == #"["a\"\n"]"#)
        #expect(JSONString("a\"\n").value == "a\"\n")
    }

    @Test func `depth 512 needs little stack, from reading to giving back`() async {
        let text = String(repeating: "[{\"a\":", count: 256) + "1" + String(repeating: "}]", count: 256)
        let written: String? = await withCheckedContinuation { continuation in
            let thread = Thread {
                let node = try? parseJSON(Array(text.utf8).span)
                continuation.resume(returning: node.map(encoded))
            }
            thread.stackSize = 256 * 1024
            thread.start()
        }
        #expect(written == text)
    }
}
