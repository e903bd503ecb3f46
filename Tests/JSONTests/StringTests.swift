// SPDX-License-Identifier: MIT

import Testing

@testable import JSON

struct StringTests {
    private func decoded(_ literal: String) -> [UInt8] {
        let bytes = Array(literal.utf8)
        var output: [UInt8] = []
        decodeJSONString(0..<bytes.count, in: bytes.span, into: &output)
        return output
    }

    @Test(arguments: try vectors("unescaped") as [StringVector])
    func `a literal's inside is unescaped`(_ vector: StringVector) {
        #expect(decoded(vector.literal) == unhex(vector.hex))
        let framed = Array("xx\"\(vector.literal)\"yy".utf8)
        var output = Array("before".utf8)
        decodeJSONString(3..<framed.count - 3, in: framed.span, into: &output)
        #expect(output == Array("before".utf8) + unhex(vector.hex))
    }

    @Test func `a range outside the text is cut to it`() {
        let text = Array(#"ab\n"#.utf8)
        var output: [UInt8] = []
        for range in [-5 ..< -1, 2..<3, 3..<99, 99..<100, Int.min..<Int.max] { decodeJSONString(range, in: text.span, into: &output) }
        #expect(String(decoding: output, as: UTF8.self) == "\\nab\n")
    }

    @Test(arguments: try vectors("written") as [StringVector])
    func `a string is written with the escapes it needs`(_ vector: StringVector) throws {
        let input = unhex(vector.hex)
        var output = Array("before".utf8)
        output.appendJSONString(input.span)
        #expect(String(decoding: output, as: UTF8.self) == "before" + vector.literal)
        #expect(try minified(vector.literal) == vector.literal)
        if let text = String(validating: input, as: UTF8.self) {
            var output = Array("before".utf8)
            output.appendJSONString(text)
            #expect(String(decoding: output, as: UTF8.self) == "before" + vector.literal)
        }
    }

    @Test func `each Unicode scalar comes back as it was written`() throws {
        for first in stride(from: UInt32(0), to: 0x110000, by: 0x400) {
            var text = ""
            for value in first..<first + 0x400 { if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) } }
            var output: [UInt8] = []
            output.appendJSONString(text)
            #expect((try? minified(output)) != nil, "from \(first)")
            let inside = String(decoding: output.dropFirst().dropLast(), as: UTF8.self)
            #expect(decoded(inside) == Array(text.utf8), "from \(first)")
        }
    }

    @Test func `bad UTF-8 is written as the standard library repairs it`() {
        var random = SeededRandom(seed: 7)
        let bytes: [UInt8] = [
            0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5,
        ]
        for _ in 0..<5000 {
            let input = (0..<random.below(12)).map { _ in bytes[random.below(bytes.count)] }
            var output: [UInt8] = []
            output.appendJSONString(input.span)
            let repaired = String(decoding: input, as: UTF8.self)
            #expect(String(decoding: output, as: UTF8.self) == "\"\(repaired)\"", "\(input)")
            #expect(hasValidUTF8(input) == (String(validating: input, as: UTF8.self) != nil), "\(input)")
        }
    }

    @Test(arguments: 0..<20) func `bad UTF-8 is found wherever it stands`(offset: Int) {
        var text = [UInt8](repeating: 0x61, count: 20)
        #expect(hasValidUTF8(text))
        text[offset] = 0xFF
        #expect(!hasValidUTF8(text))
    }

    @Test(arguments: [0, 1, -1, 9, 10, 99, 100, -100, 1_234_567_890, .max, .min])
    func `an integer is written in decimal`(number: Int) {
        var output = Array("n".utf8)
        output.appendDecimal(number)
        #expect(String(decoding: output, as: UTF8.self) == "n\(number)")
        var unsigned: [UInt8] = []
        unsigned.appendDecimal(UInt64(number.magnitude))
        #expect(String(decoding: unsigned, as: UTF8.self) == "\(number.magnitude)")
    }

    @Test func `the largest unsigned integer is written in decimal`() {
        var output: [UInt8] = []
        output.appendDecimal(UInt64.max)
        #expect(String(decoding: output, as: UTF8.self) == "18446744073709551615")
    }
}
