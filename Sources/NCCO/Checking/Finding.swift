// SPDX-License-Identifier: MIT
//
// What lint says about one place of a text, shaped so that it can be printed as compilers do.

/// One thing that is wrong with an NCCO, or worth knowing about it.
public struct Finding: Hashable, Sendable, CustomStringConvertible {
    public let severity: Severity
    /// Names the rule for good, such as `NCCO012`.
    public let code: String
    /// The value's place in the JSON, such as `$[1].endpoint[0].number`.
    public let path: String
    /// What is wrong; one line, safe on any terminal.
    public let message: String
    /// What would be right; empty where the message says it all.
    public let cure: String
    /// Counted from 1.
    public let line: Int
    /// Counted from 1, in Unicode scalars.
    public let column: Int

    /// `LINE:COLUMN: error NCCO012 $[1].endpoint[0].number: what is wrong; what would be right`.
    public var description: String {
        "\(line):\(column): \(severity) \(code) \(path): \(message)\(cure.isEmpty ? "" : "; \(cure)")"
    }

    package init(severity: Severity, code: String, path: String, message: String, cure: String = "", line: Int, column: Int) {
        self.severity = severity
        self.code = code
        self.path = path
        self.message = message
        self.cure = cure
        self.line = line
        self.column = column
    }
}

/// A finding whose place is still an offset: lines are counted once for all of them.
package struct RawFinding: Sendable {
    package let severity: Severity
    package let code: String
    package let path: String
    package let message: String
    package let cure: String
    package let offset: Int

    package init(severity: Severity, code: String, path: String, message: String, cure: String = "", offset: Int) {
        self.severity = severity
        self.code = code
        self.path = path
        self.message = message
        self.cure = cure
        self.offset = offset
    }
}

/// Gives each its line and column, in the order of the text.
package func placed(_ findings: [RawFinding], in text: Span<UInt8>) -> [Finding] {
    var (line, column, at) = (1, 1, 0)
    return findings.sorted { ($0.offset, $0.severity) < ($1.offset, $1.severity) }.map { finding in
        while at < min(finding.offset, text.count) {
            if text[at] == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if text[at] & 0xC0 != 0x80 {
                column += 1
            }
            at += 1
        }
        return Finding(
            severity: finding.severity, code: finding.code, path: finding.path, message: finding.message, cure: finding.cure, line: line,
            column: column)
    }
}
