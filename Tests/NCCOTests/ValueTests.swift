// SPDX-License-Identifier: MIT

import NCCO
import Testing

struct ValueTests {
    struct Vector: Decodable, Sendable, CustomTestStringConvertible {
        let type: String
        let text: String
        let isAllowed: Bool
        var testDescription: String { "\(type) \(text.debugDescription.prefix(60))" }
    }

    static let types: [String: any TextValue.Type] = [
        "WebURL": WebURL.self, "WebSocketURL": WebSocketURL.self, "SIPURI": SIPURI.self, "DTMFAnswer": DTMFAnswer.self,
        "DTMFKey": DTMFKey.self, "LegUUID": LegUUID.self, "ConversationID": ConversationID.self, "NonEmptyText": NonEmptyText.self,
        "LanguageTag": LanguageTag.self, "JSONNumber": JSONNumber.self, "PhoneNumber": PhoneNumber.self, "UserName": UserName.self,
    ]

    @Test(arguments: try vectors("texts") as [Vector])
    func `a text is kept as it came, or refused with its rule`(_ vector: Vector) throws {
        let type = try #require(Self.types[vector.type])
        do throws(NCCOError) {
            let value = try type.init(checking: vector.text)
            #expect(value.description == vector.text)
            #expect(vector.isAllowed)
        } catch {
            #expect(!vector.isAllowed, "\(error)")
            #expect(error.value == vector.text)
            #expect(error.allowed == type.allowed)
            #expect(error.description.hasPrefix("value is \""))
        }
    }

    @Test func `each type of text has both sorts of vectors`() throws {
        let all: [Vector] = try vectors("texts")
        for name in Self.types.keys {
            for isAllowed in [true, false] { #expect(all.contains { $0.type == name && $0.isAllowed == isAllowed }, "\(name)") }
        }
    }

    @Test func `each byte of a URL is judged`() {
        for byte in UInt8.min..<0x80 {
            let isAllowed = (try? WebURL(checking: "https://example.com/a\(Unicode.Scalar(byte))b")) != nil
            #expect(isAllowed == (0x21...0x7E).contains(byte), "\(byte)")
        }
        for byte in UInt8(0x80)...0xFF { #expect((try? WebURL(checking: "https://example.com/\(Unicode.Scalar(byte))")) == nil) }
    }

    @Test func `each byte of keys to press is judged`() {
        for byte in UInt8.min..<0x80 {
            let text = String(Unicode.Scalar(byte))
            #expect(((try? DTMFAnswer(checking: text)) != nil) == "0123456789*#p".utf8.contains(byte), "\(byte)")
            #expect(((try? DTMFKey(checking: text)) != nil) == "0123456789*#".utf8.contains(byte), "\(byte)")
        }
    }

    @Test func `a header to the other user has at most 256 characters`() {
        #expect((try? UserToUser(checking: String(repeating: "é", count: 256))) != nil)
        #expect((try? UserToUser(checking: String(repeating: "a", count: 257))) == nil)
        #expect((try? UserToUser(checking: "")) == nil)
        #expect((try? UserToUser(checking: "a\r\nX: y")) == nil)
    }

    private func bounds<let minimum: Int, let maximum: Int>(_: Whole<minimum, maximum>.Type) throws -> ClosedRange<Int> {
        let range = Whole<minimum, maximum>.range
        #expect(try Whole<minimum, maximum>(checking: range.lowerBound).value == range.lowerBound)
        #expect(try Whole<minimum, maximum>(checking: range.upperBound).value == range.upperBound)
        for outside in [range.lowerBound - 1, range.upperBound + 1, .min, .max] {
            let error = #expect(throws: NCCOError.self) { try Whole<minimum, maximum>(checking: outside) }
            #expect(error?.description == "value is \"\(outside)\", but must be \(range)")
        }
        return range
    }

    @Test func `the ends of each range of whole numbers are accepted, and what lies beyond is not`() throws {
        #expect(try bounds(Connect.RingTime.self) == 1...120)
        #expect(try bounds(Connect.Limit.self) == 1...7200)
        #expect(try bounds(AdvancedMachineDetection.BeepTimeout.self) == 30...120)
        #expect(try bounds(Record.Channels.self) == 1...32)
        #expect(try bounds(Record.EndOnSilence.self) == 3...10)
        #expect(try bounds(Record.TimeOut.self) == 3...7200)
        #expect(try bounds(Talk.Style.self) == 0...999)
        #expect(try bounds(Loop.self) == 0...2_147_483_647)
        #expect(try bounds(Input.DTMF.TimeOut.self) == 0...10)
        #expect(try bounds(Input.DTMF.MaxDigits.self) == 1...20)
        #expect(try bounds(Input.Speech.StartTimeout.self) == 1...60)
        #expect(try bounds(Input.Speech.MaxDuration.self) == 1...60)
        #expect(try bounds(Input.Speech.Sensitivity.self) == 10...100)
    }

    private func bounds<let minimum: Int, let maximum: Int>(_: Number<minimum, maximum>.Type) throws -> ClosedRange<Double> {
        let range = Number<minimum, maximum>.range
        #expect(try Number<minimum, maximum>(checking: range.lowerBound).value == range.lowerBound)
        #expect(try Number<minimum, maximum>(checking: range.upperBound).value == range.upperBound)
        for outside in [range.lowerBound.nextDown, range.upperBound.nextUp, .nan, .infinity, -.infinity] {
            #expect(throws: NCCOError.self, "\(outside)") { try Number<minimum, maximum>(checking: outside) }
        }
        return range
    }

    @Test func `the ends of each range of numbers are accepted, and what lies beyond is not`() throws {
        #expect(try bounds(Level.self) == -1...1)
        #expect(try bounds(WaitTime.self) == 0.1...7200)
        #expect(try bounds(Input.Speech.EndOnSilence.self) == 0.4...10)
    }

    @Test func `a number out of range says what may be given`() {
        let error = #expect(throws: NCCOError.self) { try WaitTime(checking: 0) }
        #expect(error?.description == #"value is "0", but must be 0.1...7200"#)
    }

    @Test func `tags of SSML do not count towards the length, and tags in plain text do`() throws {
        let letters = String(repeating: "é", count: 1500)
        #expect(try SpokenText(checking: letters).spokenLength == 1500)
        #expect(try SpokenText(checking: "<speak>\(letters)<break time='500ms'/></speak>").spokenLength == 1500)
        for text in ["", "<speak></speak>", letters + "<b>", "<speak>\(letters)a</speak>", "<speak>a<\(letters)"] {
            #expect(throws: NCCOError.self) { try SpokenText(checking: text) }
        }
    }

    @Test(arguments: [("a", 1), ("😀é", 2), ("<speak>a</speak>", 1), ("<speak>a<b", 3), ("<speak>1 < 2 <b>", 6), ("a<b>", 4), ("<spea", 5)])
    func `a spoken length counts scalars`(text: String, length: Int) throws {
        #expect(try SpokenText(checking: text).spokenLength == length)
        #expect(SpokenText.spokenLength(ofUTF8: Array(text.utf8).span) == length)
    }

    @Test func `an error quotes at most forty characters`() {
        let error = #expect(throws: NCCOError.self) { try SpokenText(checking: String(repeating: "a", count: 1501)) }
        #expect(error?.description == #"value is "\#(String(repeating: "a", count: 40))"…, but must be 1...1500 characters to speak"#)
    }

    @Test func `a literal is a value`() {
        #expect(Connect.RingTime(30).value == 30)
        #expect(([1, 0.5] as [Level]).map(\.value) == [1, 0.5])
        #expect(PhoneNumber("447700900123").description == "447700900123")
        #expect(("14155550100" as CallerID) == .number("14155550100"))
        #expect(("google" as Provider).name.description == "google")
    }

    // Elsewhere a test can't see the program stop.
    #if os(Linux) || os(macOS)
        @Test func `a wrong literal stops the program`() async {
            await #expect(processExitsWith: .failure) { _ = PhoneNumber("12") }
            await #expect(processExitsWith: .failure) { _ = Connect.RingTime(0) }
            await #expect(processExitsWith: .failure) { _ = Level(1.01) }
        }
    #endif
}
