// SPDX-License-Identifier: MIT
//
// What an NCCO does, in plain words: what the caller hears, whom it rings and what follows. Limits and defaults are those of `Reference`, and
// what never runs or falls silent is said by the findings of lint, so the two cannot disagree. Any tree has an explanation, also one with
// errors or placeholders: a placeholder is shown as ‹name›, an error where it stands.

package import JSON

extension NCCO {
    /// What a call with this NCCO is like, in plain English, wrapped at 100 columns, with an LF behind each line.
    ///
    /// The same as `switchboard explain` prints. Strings may hold placeholders, `{{name}}`.
    ///
    /// - Throws: `InvalidNCCO` where `check` finds an error.
    public static func explanation(of json: String) throws(InvalidNCCO) -> String { try explanation(of: Array(json.utf8).span) }

    /// What a call with this NCCO is like, in plain English, for text that is still bytes.
    public static func explanation(of json: Span<UInt8>) throws(InvalidNCCO) -> String {
        let (findings, tree) = rawFindings(json)
        guard let tree, !findings.contains(where: { $0.severity == .error }) else {
            throw InvalidNCCO(findings: placed(findings, in: json))
        }
        return Explanation(tree, findings).lines.map { $0 + "\n" }.joined()
    }
}

/// Why a text has no explanation.
public struct InvalidNCCO: Error, Hashable, CustomStringConvertible {
    /// In the order of the text, at least one of them an error.
    public let findings: [Finding]

    /// One line for each error, as `switchboard lint` prints them.
    public var description: String { findings.filter { $0.severity == .error }.map(\.description).joined(separator: "\n") }
}

/// What an NCCO does, step by step.
package struct Explanation: Hashable, Sendable {
    /// Safe on any terminal, at most 100 columns each.
    package let lines: [String]

    /// Explains a text that has been read; what lint says against it stands in its place.
    package init(_ tree: JSONNode) {
        var checker = Checker()
        checker.checkNCCO(tree)
        self.init(tree, checker.findings)
    }

    init(_ tree: JSONNode, _ findings: [RawFinding]) {
        let remarks = Remarks(findings)
        guard case .array(let actions) = tree.value else {
            lines = remarks.ofAll.flatMap { wrapped($0, indent: 0, first: 0) }
            return
        }
        let end = min(remarks.firstUnreached ?? actions.count, actions.count)
        let steps = actions.map(ExplainedStep.action)
        var page = Page(names: steps.map(\.name))
        var isJoined = false
        for (index, step) in steps.enumerated() {
            guard index < end else {
                page.add(step.name, remarks.ofStep(index) + (index == end ? [] : ["Never runs."]))
                continue
            }
            var step = step
            step.describe(next: index + 1 < end ? index + 2 : nil, isJoined: isJoined)
            page.add(step.name, step.sentences + remarks.ofStep(index))
            isJoined = isJoined || step.name == "connect"
        }
        lines = page.lines + (remarks.ofAll + [Self.ending(steps.prefix(end))]).flatMap { wrapped($0, indent: 0, first: 0) }
    }

    private static func ending(_ steps: ArraySlice<ExplainedStep>) -> String {
        guard let last = steps.last else { return "The call ends at once." }
        switch last.name {
        case "transfer": return "The call goes on in the other conversation."
        case "conversation": return "The call ends when the caller leaves the conversation, or the conversation ends."
        case "talk", "stream":
            if last.options.number("loop") == 0, last.options.bool("bargeIn") != true {
                return "The call ends when the caller hangs up."
            }
        case "connect":
            if steps.count(where: { $0.name == "connect" }) == 1 {
                return "Behind the last action the call ends: where one of the two hangs up, so does Vonage on the other."
            }
        default: break
        }
        return "Behind the last action the call ends."
    }
}

/// What lint says, as sentences by step: errors, and of the rest what changes the call.
private struct Remarks {
    private static let codes = Set(
        ([
            .unknownOption, .textTooLong, .notReachable, .nothingAudible, .neverRuns, .runsAfterRoom, .unknownStyle, .unknownLanguage,
            .fromIsMissing, .clamped, .brokenSSML, .noSSML, .overridden, .noPremiumVoice,
        ] as [Rule]).map(\.code))

    /// About no single step.
    private(set) var ofAll: [String] = []
    private var steps: [Int: [String]] = [:]
    /// Index of the first action that never runs.
    private(set) var firstUnreached: Int?

    init(_ findings: [RawFinding]) {
        for finding in findings.sorted(by: { ($0.offset, $0.severity) < ($1.offset, $1.severity) }) {
            let step = Self.step(finding.path)
            if finding.code == Rule.neverRuns.code { firstUnreached = step }
            guard finding.severity == .error || Self.codes.contains(finding.code) else { continue }
            let grade =
                switch finding.severity {
                case .error: "Error"
                case .warning: "Warning"
                case .note: "Note"
                }
            let sentence = "\(grade): \(finding.message) (\(finding.code))."
            if let step { steps[step, default: []].append(sentence) } else { ofAll.append(sentence) }
        }
    }

    func ofStep(_ index: Int) -> [String] { steps[index] ?? [] }

    /// The index in `$[INDEX]…`.
    private static func step(_ path: String) -> Int? { path.hasPrefix("$[") ? Int(path.dropFirst(2).prefix { $0 != "]" }) : nil }
}

/// Numbered paragraphs whose text stands in one column behind their names.
private struct Page {
    private let numberWidth: Int
    private let nameWidth: Int
    private var count = 0
    private(set) var lines: [String] = []

    init(names: [String]) {
        numberWidth = "\(names.count). ".count
        nameWidth = max((names.map(\.count).max() ?? 0) + 3, 10)
    }

    mutating func add(_ name: String, _ sentences: [String]) {
        count += 1
        let number = "\(count). "
        let head =
            String(repeating: " ", count: max(numberWidth - number.count, 0)) + number + name
            + String(repeating: " ", count: max(nameWidth - name.count, 1))
        let text = sentences.flatMap { wrapped($0, indent: 2, first: numberWidth + nameWidth) }
        for (index, line) in text.enumerated() {
            lines.append((index == 0 ? head : String(repeating: " ", count: numberWidth + nameWidth)) + line)
        }
        if text.isEmpty { lines.append(name.isEmpty ? number : head) }
    }
}

/// Lines that leave `first` of 100 columns free in front; all but the first begin with so many blanks. A word that is too long is cut.
private func wrapped(_ text: String, indent: Int, first: Int) -> [String] {
    let width = max(100 - first, 40)
    var lines: [String] = []
    var line: [Unicode.Scalar] = []
    var lineIsEmpty = true
    func blanks() -> [Unicode.Scalar] { Array(repeating: " ", count: lines.isEmpty ? 0 : indent) }
    func close() {
        var string = String.UnicodeScalarView()
        string.append(contentsOf: line)
        lines.append(String(string))
        line = blanks()
        lineIsEmpty = true
    }
    for word in text.unicodeScalars.split(separator: " ", omittingEmptySubsequences: false) {
        if !lineIsEmpty, line.count + 1 + word.count > width { close() } else if !lineIsEmpty { line.append(" ") }
        for scalar in word {
            if line.count == width { close() }
            line.append(scalar)
        }
        lineIsEmpty = false
    }
    close()
    return lines
}
