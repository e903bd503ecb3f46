// SPDX-License-Identifier: MIT

import NCCO
import Testing

struct PhoneNumberTests {
    struct Vector: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        /// What is left, or nil for no number.
        let number: String?
        /// Whether the text is Vonage's form already.
        let isStrict: Bool
        var testDescription: String { name }
    }

    private func number(_ bytes: [UInt8]) -> String? { PhoneNumber(lenient: bytes.span)?.description }

    @Test(arguments: try vectors("phone-numbers") as [Vector])
    func `a number is what is left, and Vonage's form alone is strict`(_ vector: Vector) {
        #expect(number(Array(vector.text.utf8)) == vector.number)
        #expect(PhoneNumber(vector.text)?.description == (vector.isStrict ? vector.number : nil))
    }

    @Test func `bytes that are not UTF-8 are no number`() {
        let digits = Array("447700900123".utf8)
        for byte in UInt8(0x80)...0xFF {
            for place in 0...digits.count {
                #expect(number(Array(digits[..<place] + [byte] + digits[place...])) == nil)
            }
        }
    }

    @Test func `each byte behind a number is judged`() {
        let harmless = Set(" \t-.()[]".utf8)
        for byte in UInt8.min...UInt8.max {
            let found = number(Array("4477009001".utf8) + [byte])
            let digit = (0x30...0x39).contains(byte) ? String(Unicode.Scalar(byte)) : ""
            #expect(found == (harmless.contains(byte) || digit != "" ? "4477009001\(digit)" : nil), "\(byte)")
        }
    }

    @Test(arguments: [("1234567", "****567"), ("447700900123", "*********123"), ("123456789012345", "************345")])
    func `a masked number shows its last three digits`(text: String, masked: String) throws {
        #expect(try #require(PhoneNumber(text)).masked == masked)
    }

    @Test func `digits are appended and equal numbers are equal however written`() throws {
        let number = PhoneNumber("447700900123")
        var output = Array("tel:".utf8)
        number.appendDigits(to: &output)
        #expect(String(decoding: output, as: UTF8.self) == "tel:447700900123")
        let written = PhoneNumber(lenient: Array("+44 7700 900123".utf8).span)
        #expect(Set([number, written]).count == 1)
        #expect(number != PhoneNumber("447700900124"))
    }
}
