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

    @Test func `a call to a phone is written as Vonage documents it`() {
        let ncco: NCCO = [
            .talk(Talk("Please wait while we connect you.")),
            .connect(Connect(to: .phone("447700900123"), from: "14155550100")),
        ]
        #expect(
            encoded(ncco) == #"[{"action":"talk","text":"Please wait while we connect you."},"#
                + #"{"action":"connect","from":"14155550100","endpoint":[{"type":"phone","number":"447700900123"}]}]"#)
        #expect(ncco.json == encoded(ncco))
    }

    @Test func `an empty list is an NCCO`() { #expect(encoded([]) == "[]") }

    @Test func `encoding appends`() {
        var output = Array("before".utf8)
        NCCO([]).encode(into: &output)
        #expect(String(decoding: output, as: UTF8.self) == "before[]")
    }

    @Test(arguments: [(0.0, "0"), (-0.0, "0"), (1.0, "1"), (-1.0, "-1"), (0.4, "0.4"), (-0.25, "-0.25"), (1e-7, "1e-07")])
    func `a level is written as a JSON number`(level: Double, text: String) throws {
        let written = encoded([.talk(Talk("x", level: try Level(checking: level)))])
        #expect(written == #"[{"action":"talk","text":"x","level":\#(text)}]"#)
        #expect(minifies(written))
    }

    @Test(arguments: ["\"},{\"action\":\"record\"", "\\", "\u{0}\u{1F}\n", "Zürich 😀", "\u{2028}", "</script>"])
    func `no text can add an action`(text: String) throws {
        let written = encoded([.talk(Talk(try SpokenText(checking: text)))])
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
}
