// SPDX-License-Identifier: MIT

import Foundation
import NCCO
import Testing

@testable import VonageSimulator

#if canImport(FoundationXML)
    import FoundationXML
#endif

struct ScenarioReportTests {
    private func report() throws -> ScenarioReport {
        let file = scenarioFile(
            scenarioText(#"{"heard":["<b> & \"c\" ]]>\u0007"]}"#).replacing("A phone calls", with: "a < b & \\\"c\\\"\\u0001"))
        let scenario = try #require(file.scenarios.first, "\(file.findings)")
        var report = ScenarioReport()
        report.add(ScenarioResult(scenario, .holds, milliseconds: 12))
        report.add(
            ScenarioResult(scenario, .fails(Expectations.failures(of: scenario, playedSteps)), steps: playedSteps, milliseconds: 1005))
        report.add(ScenarioResult(scenario, .skipped("it says at")))
        return report
    }

    @Test func `JUnit's document is well-formed, and counts what failed`() throws {
        final class Reader: NSObject, XMLParserDelegate {
            var elements: [(name: String, attributes: [String: String])] = []
            var text = ""

            func parser(
                _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
                attributes: [String: String]
            ) { elements.append((name, attributes)) }

            func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
        }
        let reader = Reader()
        let parser = XMLParser(data: Data(try report().junit.utf8))
        parser.delegate = reader
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        #expect(reader.elements.map(\.name) == ["testsuites", "testsuite", "testcase", "testcase", "failure", "testcase", "skipped"])
        #expect(reader.elements[0].attributes["failures"] == "1")
        #expect(reader.elements[1].attributes["skipped"] == "1")
        #expect(reader.elements[3].attributes["name"] == "a < b & \"c\"\u{FFFD}")
        #expect(reader.elements[3].attributes["time"] == "1.005")
        #expect(reader.text.contains("<b> & \\\"c\\\" ]]>"))
        #expect(reader.text.contains("Welcome to"))
    }

    @Test func `the JSON document says for each scenario what came of it`() throws {
        let root = try #require(try JSONSerialization.jsonObject(with: Data(try report().json.utf8)) as? [String: Any])
        let scenarios = try #require(root["scenarios"] as? [[String: Any]])
        #expect(scenarios.map { $0["outcome"] as? String } == ["holds", "fails", "skipped"])
        let failures = try #require(scenarios[1]["failures"] as? [[String: Any]])
        #expect(failures.first?["path"] as? String == "$.expect.heard[0]")
        #expect(root["ran"] as? Int == 2)
    }

    @Test func `a failure shows its place and the call, and no line steers a terminal`() throws {
        let lines = try report().results[1].lines
        #expect(lines.first == #"FAILED   a.json:1: "a < b & \"c\"\u{1}""#)
        #expect(lines[1].hasPrefix("  a.json:1:"))
        #expect(lines.contains("  The call:"))
        #expect(lines.contains { $0.contains("presses 1") })
        #expect(!lines.joined().unicodeScalars.contains { $0.value < 0x20 })
    }

    @Test(arguments: ["\u{202E}", "\u{1B}[2J", "\u{200B}"]) func `a name that would steer a terminal is quoted`(_ text: String) throws {
        var scenario = try scenario(#"{"rung":[]}"#)
        scenario.name = "a\(text)b"
        let lines = ScenarioResult(scenario, .holds).lines
        #expect(lines == ["ok       a.json:1: \(printable(scenario.name))"])
    }

    @Test func `none that ran is a failure, and so is one that fails`() throws {
        var report = ScenarioReport()
        #expect(!report.isGood)
        #expect(report.summary == "no scenario ran, which is a failure")
        let scenario = try scenario(#"{"rung":[]}"#)
        report.add(ScenarioResult(scenario, .skipped("why")))
        #expect(!report.isGood)
        report.add(ScenarioResult(scenario, .holds))
        #expect(report.isGood)
        #expect(report.summary == "1 scenario ran, and it holds; 1 skipped")
        report.add(ScenarioResult(scenario, .fails([ScenarioFailure(endless: scenario, seconds: 60)])))
        #expect(!report.isGood)
        #expect(report.summary == "2 scenarios ran, 1 failed; 1 skipped")
    }
}
