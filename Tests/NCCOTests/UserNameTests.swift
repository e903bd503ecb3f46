// SPDX-License-Identifier: MIT

import NCCO
import Testing

struct UserNameTests {
    struct Vector: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let isName: Bool
        var testDescription: String { name }
    }

    @Test(arguments: try vectors("user-names") as [Vector])
    func `a name holds what no number holds, and is kept as it came`(_ vector: Vector) {
        #expect(UserName(vector.text)?.description == (vector.isName ? vector.text : nil))
        #expect(UserName(utf8: Array(vector.text.utf8).span)?.description == (vector.isName ? vector.text : nil))
    }

    @Test(arguments: [[0x41, 0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0x41, 0xC3], [0x80]] as [[UInt8]])
    func `bytes that are not UTF-8 are no name`(bytes: [UInt8]) { #expect(UserName(utf8: bytes.span) == nil) }

    @Test func `a megabyte is no name`() { #expect(UserName(utf8: [UInt8](repeating: 0x61, count: 1 << 20).span) == nil) }

    @Test func `names are equal where their scalars are`() {
        #expect(UserName("Zoe\u{308}") != UserName("Zo\u{EB}"))
        #expect(UserName("Zoe") == UserName("Zoe"))
        #expect(Set([UserName("Zoe\u{308}"), UserName("Zo\u{EB}"), UserName("Zo\u{EB}")]).count == 2)
    }
}
