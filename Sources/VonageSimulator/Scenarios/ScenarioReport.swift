// SPDX-License-Identifier: MIT
//
// What came of scenarios: lines for people as they come, and one document for machines in the end. A scenario that fails shows where, what was
// expected, and the call so far.

import NCCO

package struct ScenarioResult: Sendable {
    package enum Outcome: Sendable {
        case holds
        /// At least one.
        case fails([ScenarioFailure])
        /// It was not played, and why.
        case skipped(String)
    }

    package let scenario: Scenario
    package let outcome: Outcome
    /// A line for each step of a call that failed.
    package let call: [String]
    /// What was done beside, in lines.
    package let notes: [String]
    /// How long playing it took.
    package let milliseconds: Int64

    package init(_ scenario: Scenario, _ outcome: Outcome, steps: [PlayedStep] = [], notes: [String] = [], milliseconds: Int64 = 0) {
        (self.scenario, self.outcome, self.notes, self.milliseconds) = (scenario, outcome, notes, milliseconds)
        if case .fails = outcome { call = steps.compactMap(CallReport.line) } else { call = [] }
    }

    var failures: [ScenarioFailure] { if case .fails(let failures) = outcome { failures } else { [] } }

    /// For people.
    package var lines: [String] {
        let name = "\(scenario.shownPlace): \(shown(text: scenario.name))"
        switch outcome {
        case .holds: return ["ok       \(name)"] + notes.map { "  \($0)" }
        case .skipped(let why): return ["skipped  \(name): \(why)"]
        case .fails: return ["FAILED   \(name)"] + story.map { "  \($0)" } + notes.map { "  \($0)" }
        }
    }

    /// What fails, each with what it shows, and the call.
    fileprivate var story: [String] {
        var lines: [String] = []
        for failure in failures {
            lines.append(place(failure))
            lines += failure.details.map { "    \($0)" }
        }
        return lines + (call.isEmpty ? ["There was no call."] : ["The call:"] + call.map { "  \($0)" })
    }

    private func place(_ failure: ScenarioFailure) -> String { "\(shown(file: scenario.file)):\(failure.finding)" }
}

package struct ScenarioReport: Sendable {
    package private(set) var results: [ScenarioResult] = []

    package init() {}

    package mutating func add(_ result: ScenarioResult) { results.append(result) }

    /// Those that were played.
    package var ran: Int { results.count - skipped }
    package var failed: Int { results.count { !$0.failures.isEmpty } }
    package var skipped: Int { results.count { if case .skipped = $0.outcome { true } else { false } } }
    /// One that ran, and none that failed.
    package var isGood: Bool { ran > 0 && failed == 0 }

    /// `14 scenarios ran, 1 failed`.
    package var summary: String {
        let ran = self.ran == 0 ? "no scenario ran" : self.ran == 1 ? "1 scenario ran" : "\(self.ran) scenarios ran"
        let outcome =
            self.ran == 0 ? ", which is a failure" : failed > 0 ? ", \(failed) failed" : self.ran == 1 ? ", and it holds" : ", and all hold"
        return ran + outcome + (skipped > 0 ? "; \(skipped) skipped" : "")
    }

    /// `{"scenarios":[{"scenario","file","line","outcome","milliseconds","why","failures":[…],"call":[…]}],"ran","failed","skipped"}`.
    package var json: String {
        var lines = JSONLines()
        lines.open()
        lines.open("scenarios", "[")
        for result in results {
            lines.open()
            lines.add("scenario", result.scenario.name)
            lines.add("file", result.scenario.file)
            lines.add("line", literal: "\(result.scenario.line)")
            switch result.outcome {
            case .holds: lines.add("outcome", "holds")
            case .fails: lines.add("outcome", "fails")
            case .skipped(let why):
                lines.add("outcome", "skipped")
                lines.add("why", why)
            }
            lines.add("milliseconds", literal: "\(result.milliseconds)")
            if case .fails(let failures) = result.outcome {
                lines.open("failures", "[")
                for failure in failures {
                    lines.open()
                    lines.add("line", literal: "\(failure.finding.line)")
                    lines.add("column", literal: "\(failure.finding.column)")
                    lines.add("code", failure.finding.code)
                    lines.add("path", failure.finding.path)
                    lines.add("message", failure.finding.message)
                    lines.add("cure", failure.finding.cure)
                    if !failure.details.isEmpty { lines.add("details", list: failure.details) }
                    lines.close()
                }
                lines.close("]")
                lines.add("call", list: result.call)
            }
            lines.close()
        }
        lines.close("]")
        lines.add("ran", literal: "\(ran)")
        lines.add("failed", literal: "\(failed)")
        lines.add("skipped", literal: "\(skipped)")
        lines.close()
        return lines.text
    }

    /// As continuous integration reads it: a suite for each file.
    ///
    /// - Source: the `testsuites` of Ant and JUnit as Jenkins' plugin describes them; there is no standard.
    package var junit: String {
        var files: [String] = []
        var suites: [String: [ScenarioResult]] = [:]
        for result in results {
            if suites[result.scenario.file] == nil { files.append(result.scenario.file) }
            suites[result.scenario.file, default: []].append(result)
        }
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text += "<testsuites name=\"switchboard test\" tests=\"\(results.count)\" failures=\"\(failed)\">\n"
        for file in files { text += Self.suite(file, suites[file] ?? []) }
        return text + "</testsuites>"
    }

    private static func suite(_ file: String, _ results: [ScenarioResult]) -> String {
        let name = xml(file)
        var report = ScenarioReport()
        report.results = results
        let time = seconds(results.reduce(0) { $0 + $1.milliseconds })
        var text = "  <testsuite name=\"\(name)\" tests=\"\(results.count)\" failures=\"\(report.failed)\""
        text += " skipped=\"\(report.skipped)\" time=\"\(time)\">\n"
        for result in results {
            text += "    <testcase classname=\"\(name)\" name=\"\(xml(result.scenario.name))\" file=\"\(name)\""
            text += " line=\"\(result.scenario.line)\" time=\"\(seconds(result.milliseconds))\""
            switch result.outcome {
            case .holds: text += "/>\n"
            case .skipped(let why): text += "><skipped message=\"\(xml(why))\"/></testcase>\n"
            case .fails(let failures):
                let message = failures.map(\.finding.message).joined(separator: "; ")
                text += ">\n      <failure message=\"\(xml(message))\">"
                text += xml(result.story.joined(separator: "\n")) + "</failure>\n    </testcase>\n"
            }
        }
        return text + "  </testsuite>\n"
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.utf8.count))\(rest)"
    }

    /// For text and for attributes in quotes; what XML 1.0 cannot hold is U+FFFD.
    static func xml(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n", "\t", "\u{20}"..."\u{D7FF}", "\u{E000}"..."\u{FFFD}", "\u{10000}"..."\u{10FFFF}":
                escaped.unicodeScalars.append(scalar)
            default: escaped.unicodeScalars.append("\u{FFFD}")
            }
        }
        return escaped
    }
}

/// As it stands and cut, or quoted where it could steer a terminal.
private func shown(text: String, most: Int = 100) -> String {
    guard !text.unicodeScalars.contains(where: steersTerminal) else { return printable(text) }
    return text.unicodeScalars.count > most ? String(text.unicodeScalars.prefix(most)) + "…" : text
}
