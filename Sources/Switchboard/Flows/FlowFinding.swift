// SPDX-License-Identifier: MIT
//
// What lint says about a folder of flows, beside what it says about each NCCO. As there, a code is never given to another rule.

package import NCCO

enum FlowRuleCode: Int, CaseIterable, Sendable {
    case notJSON = 1
    case wrongType
    case isMissing
    case repeatedKey
    case badName
    case missingTemplate
    case unknownCondition
    case unknownKind
    case unknownZone
    case badTime
    case cannotHold
    case badVariable
    case notReadable

    case unusedTemplate = 101
    case neverReached
    case unknownParameter
    case mayBeMissing
    case unknownFlow
    case deadEnd
    case unknownKey
    case hidesParameter

    var code: String { "FLOW" + String(1000 + rawValue).dropFirst() }
    var severity: Severity { rawValue < 100 ? .error : .warning }
}

/// A finding with the file it is in.
package struct FileFinding: Sendable, CustomStringConvertible {
    package let file: String
    package let finding: Finding

    package init(file: String, finding: Finding) {
        self.file = file
        self.finding = finding
    }

    /// `FILE:LINE:COLUMN: error NCCO012 $[1].endpoint[0].number: what is wrong; what would be right`.
    package var description: String { "\(shownFile):\(finding)" }

    /// A name that could steer a terminal is escaped.
    private var shownFile: String { file.unicodeScalars.contains(where: steersTerminal) ? printable(file) : file }
}

/// Gathers findings of one file.
struct FlowNotes {
    /// As in `Checker`: a file that is all faults must not be answered with a multiple of its size.
    private static let most = 1000

    private(set) var findings: [RawFinding] = []

    mutating func add(_ rule: FlowRuleCode, _ path: JSONPath, at offset: Int, _ message: String, _ cure: String = "") {
        guard !isFull else { return }
        findings.append(
            RawFinding(severity: rule.severity, code: rule.code, path: path.description, message: message, cure: cure, offset: offset))
    }

    mutating func add(_ findings: [RawFinding]) { self.findings += findings.prefix(max(Self.most - self.findings.count, 0)) }

    var isFull: Bool { findings.count >= Self.most }
    var hasErrors: Bool { findings.contains { $0.severity == .error } }
}
