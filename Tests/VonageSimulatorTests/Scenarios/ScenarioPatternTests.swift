// SPDX-License-Identifier: MIT

import Testing

@testable import VonageSimulator

struct ScenarioPatternTests {
    @Test(arguments: [
        ("press [0-9]", "For sales press 1."), ("(one|two) .* (?:three|four)", "one and four"), ("^Welcome.*hours\\.$", "Welcome: hours."),
        ("(?i)WELCOME", "welcome"), ("a{2,3}b?c+", "aabcc"), ("\\d{4}-\\p{L}+", "2026-ab"), ("[^\\]]+\\]", "x]"), ("(?<n>a)b", "ab"),
        (".*one.*", "and one more"), ("colou?r", "color"), ("(ab)*c", "ababc"),
    ])
    func `what people write is taken, and matches`(_ text: String, _ subject: String) throws {
        let pattern = try ScenarioPattern(text)
        #expect(TextTest.matches(pattern).holds(for: subject))
        #expect(!TextTest.matches(pattern).holds(for: "Nothing."))
    }

    @Test(arguments: [
        "", "(", "[a", String(repeating: "a", count: 201), "(a+)+b", "(a*)*", "(a|aa)+b", "((ab?)*c)*", "a*a*a*b", ".*.*.*",
        "(a|b|ab){1,40}c", "(a?){40}b", "a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?aaaaaaaa", "(a)\\1", "(?=a)b", "(?<!a)b", "(?x) a b",
        "a{0,1500}a{0,1500}a{0,9}",
    ])
    func `what could be tried for longer than anybody waits is refused`(_ text: String) {
        #expect(throws: PatternError.self) { try ScenarioPattern(text) }
    }

    @Test func `the worst that is taken ends on the longest text`() throws {
        let pattern = try ScenarioPattern("a*a*b")
        let text = String(repeating: "a", count: 300)
        #expect(!TextTest.matches(pattern).holds(for: text))
    }

    @Test func `a search goes on behind an index`() throws {
        let text = "press 1 or press 2"
        let pattern = try ScenarioPattern("press \\d")
        let first = try #require(pattern.range(in: text, from: text.startIndex))
        let second = try #require(pattern.range(in: text, from: first.upperBound))
        #expect(text[second] == "press 2")
        #expect(pattern.range(in: text, from: second.upperBound) == nil)
    }
}
