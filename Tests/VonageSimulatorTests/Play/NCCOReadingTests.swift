// SPDX-License-Identifier: MIT
//
// What is refused of an NCCO and what is not: what lint says decides.

import NCCO
import Testing

@testable import VonageSimulator

struct NCCOReadingTests {
    private static let long = String(repeating: "a", count: 1600)

    private func read(_ text: String) -> NCCOReading {
        var reader = NCCOReader()
        return reader.read(Array(text.utf8))
    }

    @Test(arguments: [long, "<speak>\(long)<break time='1s'/></speak>"])
    func `a text that is too long is cut and noted, and the call goes on`(text: String) {
        let call = play(ncco: #"[{"action":"wait","timeout":1},{"action":"talk","text":"\#(text)"},{"action":"talk","text":"Bye."}]"#)
        #expect(
            call.complained == [
                "note: NCCO: 1:56: warning NCCO103 $[1].text: the text has 1600 characters to speak, of which Vonage takes 1500; "
                    + "split it into several talk actions"
            ])
        #expect(call.story.contains("hears \(Self.long.prefix(1500)) +1.6") && call.story.contains("hears Bye. +101.6"))
    }

    @Test func `what lint only warns of is not noted elsewhere`() {
        guard case .actions(_, let notes) = read(#"[{"action":"talk","text":"a","colour":"red"}]"#) else {
            Issue.record("it is refused")
            return
        }
        #expect(notes.isEmpty)
    }

    @Test func `what the reader alone refuses is told with its place, and the place once`() {
        // Lint says no more than so much of one NCCO, and what is behind is read all the same.
        let odd = Array(repeating: #"{"action":"talk","text":"a","b":1}"#, count: 1000).joined(separator: ",\n")
        guard case .refused(let findings) = read("[\(odd),\n{\"action\":\"talk\",\"text\":\"a\",\"loop\":-1}]") else {
            Issue.record("it is not refused")
            return
        }
        #expect(
            findings.map(\.description) == [
                "1001:36: error NCCO010 $[1000].loop: talk: loop is \"-1\", but must be 0...2147483647"
            ])
    }
}
