// SPDX-License-Identifier: MIT
//
// A regular expression that cannot run away. Swift's Regex goes back and tries again, which with `(a+)+` takes longer than anybody waits; so
// before one is taken it is counted in how many ways it could be tried at one place of the longest text, and with too many it is refused. A
// repeat counts as many ways as it may be long, a choice the sum of its branches, what stands in a row the product. Look-around, references back
// and the like are refused, for they are not counted. At worst, with two repeats without end that fit everything and a text of the greatest length,
// what is left takes a minute, where others would take for ever; what people write takes microseconds.

import NCCO

package struct ScenarioPattern: Hashable, Sendable {
    package static let longest = 200
    /// Characters of a text that are looked at: more are not spoken.
    static let longestText = 1500
    /// Two repeats without end in a row.
    private static let mostWays = longestText * longestText

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
        var counter = WayCounter(text, most: Self.mostWays)
        guard let ways = counter.choice() else {
            throw PatternError(
                message: "\(printable(text)) has look-around, a reference back, or an option other than i and s",
                cure: "write it without")
        }
        guard ways <= Self.mostWays else {
            throw PatternError(
                message: "\(printable(text)) could be tried in more than \(Self.mostWays) ways",
                cure: "write fewer * and +, none inside of another, or several patterns")
        }
        self.text = text
    }

    /// The first match from an index on.
    func range(in text: String, from start: String.Index) -> Range<String.Index>? {
        // Compiled here, since a Regex may not be kept where values go from thread to thread.
        guard let regex = try? Regex(self.text) else { return nil }
        return text[start...].prefix(Self.longestText).firstMatch(of: regex)?.range
    }
}

package struct PatternError: Error, Hashable, Sendable {
    package let message: String
    package let cure: String
}

/// Counts in how many ways an expression that Swift takes can be tried at one place, up to `most` and one more.
private struct WayCounter {
    private let characters: [Character]
    private var at = 0
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

    private func capped(_ value: (partialValue: Int, overflow: Bool)) -> Int {
        value.overflow ? most + 1 : min(value.partialValue, most + 1)
    }

    /// Up to a closing bracket or the end; nil where something is not counted. A pattern's length bounds how deep this calls itself.
    mutating func choice() -> Int? {
        var sum = 0
        repeat {
            guard let ways = row() else { return nil }
            sum = capped(sum.addingReportingOverflow(ways))
        } while take("|")
        return sum
    }

    private mutating func row() -> Int? {
        var product = 1
        while let character = next, character != "|", character != ")" {
            guard let one = part() else { return nil }
            product = capped(product.multipliedReportingOverflow(by: repeated(one)))
        }
        return product
    }

    private mutating func part() -> Int? {
        let character = characters[at]
        at += 1
        switch character {
        case "\\": return escape() ? 1 : nil
        case "[":
            skipClass()
            return 1
        case "(":
            guard isPlainGroup() else { return nil }
            let ways = choice()
            _ = take(")")
            return ways
        default: return 1
        }
    }

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

    private mutating func skipClass() {
        var depth = 1
        while depth > 0, let character = next {
            at += 1
            if character == "\\" { at += 1 } else if character == "[" { depth += 1 } else if character == "]" { depth -= 1 }
        }
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
    private mutating func repeated(_ ways: Int) -> Int {
        let longest = ScenarioPattern.longestText
        var range = 1...1
        if take("*") || take("+") {
            range = 1...longest
        } else if take("?") {
            range = 0...1
        } else if next == "{", let end = characters[at...].firstIndex(of: "}") {
            let parts = String(characters[(at + 1)..<end]).split(separator: ",", omittingEmptySubsequences: false)
            let least = parts.first.flatMap { Int($0) } ?? 0
            let greatest = parts.count > 1 ? Int(parts[1]) ?? longest : least
            at = end + 1
            range = min(least, longest)...max(min(greatest, longest), min(least, longest))
        } else {
            return ways
        }
        // Lazy or possessive.
        _ = take("?") || take("+")
        guard ways > 1 else { return range.count }
        var sum = 0
        var power = 1
        for count in 0...range.upperBound where sum <= most {
            if count >= range.lowerBound { sum = capped(sum.addingReportingOverflow(power)) }
            power = capped(power.multipliedReportingOverflow(by: ways))
            if power > most, count < range.upperBound { return most + 1 }
        }
        return sum
    }
}
