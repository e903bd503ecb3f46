// SPDX-License-Identifier: MIT
//
// A regular expression that cannot run away. Swift's Regex goes back and tries again, which with `(a+)+` takes longer than anybody waits; so
// before one is taken the steps are counted that it may need at one place of the longest text, and with too many it is refused. A repeat tries
// as many ways as it may be long, a choice the sum of its branches; what stands behind is gone through once for each way before it. Look-around,
// references back and the like are refused, for they are not counted. The worst that were found among those taken needed one to two seconds for the
// longest text, with other work on the machine; what people write needs microseconds.

import NCCO

package struct ScenarioPattern: Hashable, Sendable {
    package static let longest = 200
    /// Unicode scalars of a text that are looked at: more are not spoken.
    static let longestText = 1500
    /// At one place: enough for one repeat without end that few things follow.
    private static let mostSteps = 12_500

    package let text: String

    /// - Throws: what is wrong with it, and what would be right.
    package init(_ text: String) throws(PatternError) {
        guard !text.isEmpty, text.unicodeScalars.count <= Self.longest else {
            throw PatternError(
                message: "a pattern has 1 to \(Self.longest) characters", cure: "write several, each is looked for on its own")
        }
        guard (try? Regex(text)) != nil else {
            throw PatternError(
                message: "\(printable(text)) is no regular expression", cure: "put \\ in front of what is meant as it stands")
        }
        var counter = StepCounter(text, most: Self.mostSteps)
        guard let steps = counter.all() else {
            throw PatternError(
                message: "\(printable(text)) has look-around, a reference back, or an option other than i and s",
                cure: "write it without")
        }
        guard steps <= Self.mostSteps else {
            throw PatternError(
                message: "\(printable(text)) could need more than \(Self.mostSteps) steps at each place of a text",
                cure: "write one * or + at most, or {1,9} in its place, or several patterns")
        }
        self.text = text
    }

    /// The first match from an index on.
    func range(in text: String, from start: String.Index) -> Range<String.Index>? {
        // Compiled here, since a Regex may not be kept where values go from thread to thread.
        guard let regex = try? Regex(self.text) else { return nil }
        return Substring(text[start...].unicodeScalars.prefix(Self.longestText)).firstMatch(of: regex)?.range
    }
}

package struct PatternError: Error, Hashable, Sendable {
    package let message: String
    package let cure: String
}

/// Counts the steps that an expression which Swift takes may need at one place, up to `most` and one more.
private struct StepCounter {
    /// In how many ways something can match, and the steps that trying all of them takes.
    private struct Cost {
        var ways = 1
        var steps = 0
    }

    private let characters: [Character]
    private var at = 0
    /// Open brackets.
    private var depth = 0
    private let most: Int

    init(_ text: String, most: Int) {
        characters = Array(text)
        self.most = most
    }

    private var next: Character? { at < characters.count ? characters[at] : nil }

    private mutating func take(_ character: Character) -> Bool {
        guard next == character else { return false }
        at += 1
        return true
    }

    // Neither overflows: what is added and multiplied is at most `most` and one more.
    private func sum(_ one: Int, _ other: Int) -> Int { min(one + other, most + 1) }
    private func product(_ one: Int, _ other: Int) -> Int { min(one * other, most + 1) }

    /// Of the whole; nil where something is not counted.
    mutating func all() -> Int? {
        guard let cost = choice() else { return nil }
        // Letters of both cases are compared in about twice the time.
        return characters.indices.contains { characters[$0...].starts(with: "(?i") } ? product(cost.steps, 2) : cost.steps
    }

    /// Up to a closing bracket or the end. A pattern's length bounds how deep this calls itself.
    private mutating func choice() -> Cost? {
        var all = Cost(ways: 0)
        repeat {
            guard let one = row() else { return nil }
            all = Cost(ways: sum(all.ways, one.ways), steps: sum(all.steps, one.steps))
        } while take("|")
        return all
    }

    private mutating func row() -> Cost? {
        var all = Cost()
        while let character = next, character != "|", character != ")" {
            let isGroup = character == "("
            guard let part = part(), let one = repeated(part, isGroup: isGroup) else { return nil }
            all.steps = sum(all.steps, product(all.ways, one.steps))
            all.ways = product(all.ways, one.ways)
        }
        return all
    }

    private mutating func part() -> Cost? {
        let character = characters[at]
        at += 1
        switch character {
        // What stands for a kind of characters is looked up, in about twice the time.
        case "\\": return escape() ? Cost(steps: 2) : nil
        case "[": return skipClass() ? Cost(steps: 1) : nil
        case "(":
            guard isPlainGroup() else { return nil }
            depth += 1
            defer { depth -= 1 }
            let cost = choice()
            _ = take(")")
            return cost
        case ".": return Cost(steps: 1)
        default:
            // Plain characters are compared all at once; the last belongs to a repeat that follows.
            while let plain = next, Self.isPlain(plain), at + 1 >= characters.count || !"*+?{".contains(characters[at + 1]) { at += 1 }
            return Cost(steps: 1)
        }
    }

    private static func isPlain(_ character: Character) -> Bool { !"\\[](){}.|*+?^$".contains(character) }

    private mutating func escape() -> Bool {
        guard let character = next else { return true }
        at += 1
        if ("1"..."9").contains(character) || "kgQ".contains(character) { return false }
        // Such as \\p{L}: the brackets are no repeat.
        if "pPxuNo".contains(character), next == "{" {
            while let inner = next {
                at += 1
                if inner == "}" { break }
            }
        }
        return true
    }

    /// Whether its end is known: in a quotation brackets are none.
    private mutating func skipClass() -> Bool {
        var depth = 1
        while depth > 0, let character = next {
            at += 1
            if character == "\\" {
                if next == "Q" { return false }
                at += 1
            } else if character == "[" {
                depth += 1
            } else if character == "]" {
                depth -= 1
            }
        }
        return true
    }

    /// Behind the opening bracket; what it may have in front is taken.
    private mutating func isPlainGroup() -> Bool {
        guard next == "?" || next == "*" else { return true }
        for head in ["?:", "?i:", "?s:", "?i)", "?s)"] where characters[at...].starts(with: head) {
            // An option for the rest ends at once.
            at += head.count - (head.hasSuffix(")") ? 1 : 0)
            return true
        }
        guard characters[at...].starts(with: "?<"), let name = characters[at...].dropFirst(2).first, name.isLetter else { return false }
        while let character = next {
            at += 1
            if character == ">" { break }
        }
        return true
    }

    /// With the repeat that may follow.
    private mutating func repeated(_ one: Cost, isGroup: Bool) -> Cost? {
        guard let range = range() else { return one }
        let isGreedy = !(take("?") || take("+"))
        var all = Cost(ways: 0)
        var ways = 1
        // What is in brackets is kept, too.
        let steps = isGroup ? sum(one.steps, 1) : one.steps
        for count in 0...range.upperBound {
            if count >= range.lowerBound { all.ways = sum(all.ways, ways) }
            guard count < range.upperBound, all.steps <= most else { break }
            all.steps = sum(all.steps, product(ways, steps))
            ways = product(ways, one.ways)
        }
        // At least once, should Swift read braces with blanks in them as text.
        all = Cost(ways: max(all.ways, one.ways), steps: max(all.steps, one.steps))
        // Swift's Regex goes back to the longest twice: `a?` ten times in a row was seen to be tried in three to the tenth ways.
        all.ways = sum(all.ways, 1)
        // At the very end a repeat that wants one at most takes what is there, and nothing behind it can fail: it is gone through once.
        if isGreedy, depth == 0, next == nil, one.ways == 1, range.lowerBound <= 1 { return one }
        return all
    }

    /// How often something may come; nil where no repeat follows.
    private mutating func range() -> ClosedRange<Int>? {
        let longest = ScenarioPattern.longestText
        if take("*") || take("+") { return 0...longest }
        if take("?") { return 0...1 }
        // As Swift reads it: `{2}`, `{2,}`, `{,5}` or `{2, 5}`, in digits and blanks alone; all else stands for itself.
        guard next == "{", let end = characters[at...].firstIndex(of: "}") else { return nil }
        let inside = characters[(at + 1)..<end].filter { !$0.isWhitespace }
        guard inside.allSatisfy({ ("0"..."9").contains($0) && $0.isASCII || $0 == "," }) else { return nil }
        let parts = inside.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.contains(where: { !$0.isEmpty }) else { return nil }
        // More digits than an Int has are many.
        let numbers = parts.map { $0.isEmpty ? nil : min(Int(String($0)) ?? longest, longest) }
        let least = numbers.first.flatMap { $0 } ?? 0
        let greatest = numbers.count == 1 ? least : numbers.last.flatMap { $0 } ?? longest
        at = end + 1
        return least...max(least, greatest)
    }
}
