// SPDX-License-Identifier: MIT
//
// Lint against files: `Vectors/lint` holds one for each way to break a rule, with what is said about each in `expected.txt`; `Vectors/valid`
// holds what must pass, the examples of Vonage's reference among them. Of those, the ones with `pay` are in `lint`, since Vonage took it back.

import Foundation
import JSON
import NCCO
import Testing

struct CheckerTests {
    private func findings(_ path: String) throws -> [Finding] {
        let text = try vector(path)
        return NCCO.check(text.span)
    }

    // MARK: Files

    @Test func `each file breaks its rule as the expected lines say`() throws {
        let expected = try String(decoding: vector("lint/expected.txt"), as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(expected == expected.sorted())
        var found: [String] = []
        for file in try vectorFiles("lint") {
            for finding in try self.findings("lint/\(file)") { found.append("\(file):\(finding)") }
        }
        found.sort()
        for line in Set(found).subtracting(expected).sorted() { Issue.record("not expected: \(line)") }
        for line in Set(expected).subtracting(found).sorted() { Issue.record("not said: \(line)") }
        #expect(found.count == expected.count)
    }

    @Test(arguments: try vectorFiles("lint")) func `a file breaks the rule in its name and no other`(file: String) throws {
        let findings = try self.findings("lint/\(file)")
        #expect(!findings.isEmpty)
        for finding in findings { #expect(file.hasPrefix(finding.code + "-"), "\(finding)") }
    }

    @Test func `every rule has a file`() throws {
        let files = try vectorFiles("lint")
        for rule in Rule.allCases { #expect(files.contains { $0.hasPrefix(rule.code + "-") }, "\(rule)") }
    }

    @Test(arguments: try vectorFiles("valid")) func `what is valid has no error`(file: String) throws {
        #expect(try findings("valid/\(file)").filter { $0.severity == .error } == [])
    }

    @Test(arguments: try vectorFiles("valid").filter { $0.hasPrefix("template") }) func `placeholders pass where they may stand`(
        file: String
    ) throws {
        #expect(try findings("valid/\(file)") == [])
    }

    // MARK: Rules

    @Test func `codes are unique, and their numbers tell the severity`() {
        #expect(Set(Rule.allCases.map(\.code)).count == Rule.allCases.count)
        #expect(Rule.badNumber.code == "NCCO012")
        #expect(Rule.unknownOption.severity == .warning)
        #expect(Rule.overridden.severity == .note)
        #expect(Rule.allCases.filter { $0.severity == .error }.allSatisfy { $0.code < "NCCO100" })
    }

    @Test(arguments: Reference.actions.map(\.name)) func `every action there is has a name that lint knows`(name: String) {
        #expect(!NCCO.check(#"[{"action": "\#(name)"}]"#).contains { $0.code == Rule.unknownAction.code })
    }

    @Test func `several faults are told in the order of the text`() {
        let findings = NCCO.check(
            """
            [{"action": "tlak"},
             {"action": "talk", "text": 5, "level": 2},
             {"action": "connect", "endpoint": [{"type": "app", "user": ""}]}]
            """)
        #expect(findings.map(\.code) == ["NCCO007", "NCCO009", "NCCO010", "NCCO021"])
        #expect(findings.map(\.line) == [1, 2, 2, 3])
        #expect(findings.map(\.path) == ["$[0].action", "$[1].text", "$[1].level", "$[2].endpoint[0].user"])
    }

    @Test func `columns count Unicode scalars`() {
        let findings = NCCO.check(#"[{"action": "talk", "text": "Zürich 😀", "level": 2}]"#)
        #expect(findings.map(\.column) == [50])
    }

    @Test func `a message is one line that no terminal obeys`() {
        let findings = NCCO.check(#"[{"action": "\u001b[2J\u202e\n"}, {"action": "talk", "text": "x", "\u0007\u2028": 1}]"#)
        #expect(findings.count == 2)
        for finding in findings { #expect(!finding.description.unicodeScalars.contains(where: steersTerminal), "\(finding)") }
    }

    @Test func `a long value does not make a long message`() {
        let long = String(repeating: "1", count: 100_000)
        for value in [long, "0.\(long)", "\"\(long)\"", "-\(long)", "\"\(long)x\""] {
            for option in ["timeout", "from", "limit", "eventType"] {
                let text = #"[{"action": "connect", "\#(option)": \#(value), "endpoint": [{"type": "vbc", "extension": "1"}]}]"#
                for finding in NCCO.check(text) { #expect(finding.description.utf8.count < 400) }
            }
        }
    }

    // MARK: Bounds

    @Test func `a text that is all faults gets a bounded number of findings`() {
        #expect(NCCO.check("[" + String(repeating: "1,", count: 5000) + "1]").count == 1000)
        let keys = String(repeating: #""a":1,"#, count: 5000)
        #expect(NCCO.check(#"[{"action":"talk","text":"x",\#(keys)"a":1}]"#).count == 1000)
    }

    @Test func `what is deep and wide is looked at to its end, and its place is cut`() throws {
        let key = #""\u202e\u202e\u202e\u202e":"#
        let (open, close) = (String(repeating: "{\(key)[", count: 28), String(repeating: "]}", count: 28))
        let wide = String(repeating: "{},", count: 50_000) + #"{"a":1,"a":"{{"}"#
        let text =
            #"[{"action":"notify","eventUrl":["https://calls.example.com/e"],"payload":{"deep":\#(open)\#(wide)\#(close)}}]"#
        let findings = NCCO.check(text)
        #expect(findings.map(\.code) == [Rule.repeatedKey.code, Rule.badPlaceholder.code])
        for finding in findings {
            #expect(finding.path.hasPrefix("$[0].payload.deep[\"") && finding.path.hasSuffix("…") && finding.path.utf8.count < 1200)
        }
    }

    @Test(arguments: 0..<8) func `mutated texts never trap`(seed: Int) throws {
        let seeds = try vectorFiles("valid").map { try vector("valid/\($0)") } + vectorFiles("lint").map { try vector("lint/\($0)") }
        let spice = ["{", "}", "[", "]", "\"", ",", ":", "{{", "}}", "|", "0", "-", "1e9", "true", "null", "\\u0000", "<speak>", "+", "é"]
            .map { Array($0.utf8) }
        var random = SplitMix64(state: UInt64(seed))
        var silent = 0
        for _ in 0..<300 {
            var text = seeds[Int.random(in: 0..<seeds.count, using: &random)]
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let at = Int.random(in: 0...text.count, using: &random)
                let end = min(text.count, at + Int.random(in: 0...12, using: &random))
                text.replaceSubrange(at..<end, with: spice[Int.random(in: 0..<spice.count, using: &random)])
            }
            let findings = NCCO.check(text.span)
            if findings.isEmpty { silent += 1 }
            #expect(findings.count <= 1000)
            let lines = text.count { $0 == UInt8(ascii: "\n") } + 1
            for finding in findings {
                #expect((1...lines).contains(finding.line) && finding.column >= 1 && finding.path.hasPrefix("$"), "\(finding)")
                #expect(!finding.message.isEmpty && !finding.description.unicodeScalars.contains(where: steersTerminal), "\(finding)")
            }
            if let tree = try? parseJSON(text.span) {
                for line in Explanation(tree).lines { #expect(!line.unicodeScalars.contains(where: steersTerminal), "\(line)") }
            }
            #expect(findings.contains { $0.code == Rule.notJSON.code } == isNoJSON(text), "\(String(decoding: text, as: UTF8.self))")
        }
        #expect(silent < 300)
    }

    /// But for a second array, which has a rule of its own.
    private func isNoJSON(_ text: [UInt8]) -> Bool {
        do throws(JSONError) {
            _ = try parseJSON(text.span)
            return false
        } catch { return error.reason != .secondValue || text[error.offset] != UInt8(ascii: "[") }
    }
}

/// The same numbers in every run.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
