// SPDX-License-Identifier: MIT

import JSON
import NCCO
import Testing

struct NCCOTests {
    private func encoded(_ ncco: NCCO) -> String {
        var output: [UInt8] = []
        ncco.encode(into: &output)
        return String(decoding: output, as: UTF8.self)
    }
    private func talk(_ text: String = "Hello.") throws -> Talk { try Talk(text: text) }
    private func phone(_ number: String = "447700900123") throws -> Endpoint {
        .phone(Endpoint.Phone(number: try #require(PhoneNumber(number))))
    }

    @Test func `a call to a phone is written as Vonage documents it`() throws {
        let ncco: NCCO = [
            .talk(try Talk(text: "Please wait while we connect you.")),
            .connect(try Connect(to: phone(), from: PhoneNumber("14155550100"))),
        ]
        #expect(
            encoded(ncco) == #"[{"action":"talk","text":"Please wait while we connect you."},"#
                + #"{"action":"connect","from":"14155550100","endpoint":[{"type":"phone","number":"447700900123"}]}]"#)
    }

    @Test func `an empty list is an NCCO`() { #expect(encoded([]) == "[]") }

    @Test func `encoding appends`() {
        var output = Array("before".utf8)
        NCCO([]).encode(into: &output)
        #expect(String(decoding: output, as: UTF8.self) == "before[]")
    }

    @Test func `each option of talk is written in the order of the reference`() throws {
        let talk = try Talk(
            text: "<speak>Hi</speak>", language: LanguageTag("en-GB"), style: 2, premium: true, level: 0.4, loop: 0, bargeIn: false)
        #expect(
            encoded([.talk(talk)]) == #"[{"action":"talk","text":"<speak>Hi</speak>","language":"en-GB","style":2,"premium":true,"#
                + #""level":0.4,"loop":0,"bargeIn":false}]"#)
    }

    @Test func `each option of connect is written in the order of the reference`() throws {
        let user = try #require(UserName("Alice \"A\" Žižek"))
        let connect = try Connect(
            to: .app(Endpoint.App(user: user)), from: PhoneNumber("14155550100"), timeout: 45, limit: 7200, eventType: .synchronous)
        #expect(
            encoded([.connect(connect)]) == #"[{"action":"connect","from":"14155550100","timeout":45,"limit":7200,"#
                + #""eventType":"synchronous","endpoint":[{"type":"app","user":"Alice \"A\" Žižek"}]}]"#)
    }

    @Test(arguments: [(0.0, "0"), (-0.0, "0"), (1.0, "1"), (-1.0, "-1"), (0.4, "0.4"), (-0.25, "-0.25"), (1e-7, "1e-07")])
    func `a level is written as a JSON number`(level: Double, text: String) throws {
        let written = encoded([.talk(try Talk(text: "x", level: level))])
        #expect(written == #"[{"action":"talk","text":"x","level":\#(text)}]"#)
        #expect(minifies(written))
    }

    @Test(arguments: ["\"},{\"action\":\"record\"", "\\", "\u{0}\u{1F}\n", "Zürich 😀", "\u{2028}", "</script>"])
    func `no text can add an action`(text: String) throws {
        let written = encoded([.talk(try talk(text))])
        #expect(minifies(written))
        let root = try parseJSON(Array(written.utf8).span)
        guard case .array(let actions) = root.value, case .object(let members) = actions.first?.value,
            case .string(let spoken) = members.last?.node.value
        else {
            Issue.record("\(written)")
            return
        }
        #expect(actions.count == 1)
        #expect(members.map(\.name.value) == ["action", "text"])
        #expect(spoken.value == text)
    }

    private func minifies(_ text: String) -> Bool {
        var output: [UInt8] = []
        return (try? minifyJSON(Array(text.utf8).span, into: &output)) != nil && output == Array(text.utf8)
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let message: String
        let make: @Sendable () throws -> Void
        init(_ message: String, _ make: @escaping @Sendable () throws -> Void) {
            self.message = message
            self.make = make
        }
        var testDescription: String { message }

        static let all = [
            Refusal(#"talk: style is "-1", but must be 0 or more"#) { _ = try Talk(text: "x", style: -1) },
            Refusal(#"talk: loop is "-1", but must be 0 or more"#) { _ = try Talk(text: "x", loop: -1) },
            Refusal(#"talk: level is "1.01", but must be -1...1"#) { _ = try Talk(text: "x", level: 1.01) },
            Refusal(#"talk: level is "-2.0", but must be -1...1"#) { _ = try Talk(text: "x", level: -2) },
            Refusal(#"talk: level is "nan", but must be -1...1"#) { _ = try Talk(text: "x", level: .nan) },
            Refusal(#"talk: level is "inf", but must be -1...1"#) { _ = try Talk(text: "x", level: .infinity) },
            Refusal(#"talk: text is "", but must be 1...1500 characters to speak"#) { _ = try Talk(text: "") },
            Refusal(#"talk: text is "<speak></speak>", but must be 1...1500 characters to speak"#) {
                _ = try Talk(text: "<speak></speak>")
            },
            Refusal(#"talk: text is "\#(String(repeating: "a", count: 40))"…, but must be 1...1500 characters to speak"#) {
                _ = try Talk(text: String(repeating: "a", count: 1501))
            },
            Refusal(#"connect: timeout is "0", but must be 1...120"#) { _ = try Connect(to: alice(), timeout: 0) },
            Refusal(#"connect: timeout is "121", but must be 1...120"#) { _ = try Connect(to: alice(), timeout: 121) },
            Refusal(#"connect: limit is "0", but must be 1...7200"#) { _ = try Connect(to: alice(), limit: 0) },
            Refusal(#"connect: limit is "7201", but must be 1...7200"#) { _ = try Connect(to: alice(), limit: 7201) },
        ]
    }

    @Test(arguments: Refusal.all) func `an option outside its range is refused by name`(_ refusal: Refusal) throws {
        let error = try #require(throws: NCCOError.self, performing: refusal.make)
        #expect(error.description == refusal.message)
    }

    @Test func `the ends of each range are accepted`() throws {
        for level in [-1.0, 1] { #expect(try Talk(text: "x", level: level).level == level) }
        #expect(try Talk(text: "x", style: 0, loop: 0).loop == 0)
        for timeout in [1, 120] { #expect(try Connect(to: phone(), timeout: timeout).timeout == timeout) }
        for limit in [1, 7200] { #expect(try Connect(to: phone(), limit: limit).limit == limit) }
    }

    @Test func `tags of SSML do not count towards the length, and tags in plain text do`() throws {
        let letters = String(repeating: "a", count: 1500)
        #expect(try Talk(text: letters).text == letters)
        #expect(try Talk(text: "<speak>\(letters)<break time='500ms'/></speak>").text.hasPrefix("<speak>"))
        #expect(throws: NCCOError.self) { try Talk(text: letters + "<b>") }
        #expect(throws: NCCOError.self) { try Talk(text: "<speak>\(letters)a</speak>") }
        #expect(throws: NCCOError.self, "no tag, since it has no end") { try Talk(text: "<speak>a<\(letters)") }
    }

    @Test(arguments: ["en-GB", "en-gb", "ar", "yue-CN", "cmn-hans-cn", "en-GB-WLS", "fil-PH"])
    func `a language tag is kept as it came`(text: String) { #expect(LanguageTag(text)?.description == text) }

    @Test(arguments: [
        "", "e", "engl", "en-", "-GB", "en--GB", "en_GB", "en-G", "en-GB-", "e1", "en GB", "en-GB\n", "en-é", "en-123456789", "a-b-c-d-e",
    ])
    func `what has not the shape of a language tag is none`(text: String) { #expect(LanguageTag(text) == nil) }
}

private func alice() throws -> Endpoint { .app(Endpoint.App(user: try #require(UserName("Alice")))) }
