// SPDX-License-Identifier: MIT

import Testing

@testable import VonageSimulator

struct ScenarioPatternTests {
    @Test(arguments: [
        ("press [0-9]", "For sales press 1."), ("(one|two) .* (?:three|four)", "one and four"), ("^Welcome.*hours\\.$", "Welcome: hours."),
        ("(?i)WELCOME", "welcome"), ("a{2,3}b?c+", "aabcc"), ("\\d{4}-\\p{L}+", "2026-ab"), ("[^\\]]+\\]", "x]"), ("(?<n>a)b", "ab"),
        (".*one.*", "and one more"), ("colou?r", "color"), ("(ab)*c", "ababc"), ("press {1,9}or \\d{1,3} .+", "press or 12 now"),
        ("(a|b){-5,-3}", "a{-5,-3}"), ("(a|b){-5}", "b{-5}"), ("^ba{,2}$", "baa"), ("^a{1, 2}$", "aa"), ("^a{}", "a{}"), ("^a{2", "a{2"),
        ("(a|b){2,3}", "ab"),
    ])
    func `what people write is taken, and matches`(_ text: String, _ subject: String) throws {
        let pattern = try ScenarioPattern(text)
        #expect(TextTest.matches(pattern).holds(for: subject))
        #expect(!TextTest.matches(pattern).holds(for: "Nothing."))
    }

    @Test(arguments: [
        "", "(", "[a", String(repeating: "a", count: 201), "(a+)+b", "(a*)*", "(a|aa)+b", "((ab?)*c)*", "a*a*a*b", ".*.*.*",
        "(a|b|ab){1,40}c", "(a?){40}b", "a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?aaaaaaaa", "(a)\\1", "(?=a)b", "(?<!a)b", "(?x) a b",
        "a{0,1500}a{0,1500}a{0,9}", "a*a*b", "a*a{20}b", "a*(a|a|a|a|a|a)b", "(?i)a*(a|a|a)b", "(a|b){20,}", "(a|b){1, 20}", "(a|b){ ,20 }",
        "(a?){8}b",
        "a{9999}{-5}a{9999}b*c",
        "[\\Q[\\E]a*a*b]", "a{99999999999999999999}", "a{3,1}",
    ])
    func `what could be tried for longer than anybody waits is refused`(_ text: String) {
        #expect(throws: PatternError.self) { try ScenarioPattern(text) }
    }

    @Test(arguments: ["a*(a|a|a)b", "(a)*(a){2}b", "(a?){7}b", "(a|a){11}b", "(?i)a*\\wb"])
    func `the worst that is taken ends on the longest text`(_ text: String) throws {
        let pattern = try ScenarioPattern(text)
        #expect(!TextTest.matches(pattern).holds(for: String(repeating: "a", count: ScenarioPattern.longestText)))
    }

    @Test func `no more of a text is looked at than anybody speaks, however few characters its scalars make`() throws {
        let marks = String(repeating: "\u{301}", count: ScenarioPattern.longestText)
        #expect(!TextTest.matches(try ScenarioPattern("b")).holds(for: "a\(marks)b"))
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
