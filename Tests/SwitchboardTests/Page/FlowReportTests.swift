// SPDX-License-Identifier: MIT

import Foundation
import JSON
import NCCO
import Testing

@testable import Switchboard

struct FlowReportTests {
    private func report(_ store: FlowStore) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(FlowReport(store.shown).json.utf8)) as? [String: Any])
    }

    private func rules(_ report: [String: Any], _ flow: String) throws -> [[String: Any]] {
        let flows = try #require(report["flows"] as? [[String: Any]])
        return try #require(flows.first { $0["name"] as? String == flow }?["rules"] as? [[String: Any]])
    }

    @Test func `the built-in flow is told in words`() throws {
        let bench = try HandlerBench()
        let report = try report(bench.application.flows)
        #expect(report["source"] as? String == "built-in" && report["problem"] is NSNull)
        let rules = try rules(report, "answer")
        #expect(rules.map { $0["template"] as? String }.first == "ring-user")
        #expect(rules[1]["when"] as? [String] == ["from_user has a value", "to is a user name"])
        #expect(rules[5]["number"] as? Int == 6 && rules[5]["when"] as? [String] == [])
        let templates = try #require(report["templates"] as? [[String: Any]])
        #expect(Set(templates.compactMap { $0["name"] as? String }) == Set(DefaultFlows.templates.keys))
        let ring = try #require(templates.first { $0["name"] as? String == "ring-user" })
        #expect((ring["ncco"] as? [[String: Any]])?.first?["from"] as? String == "{{from}}")
        #expect((ring["explanation"] as? String)?.contains("Rings the app user") == true)
    }

    private static let files = [
        "flows.json": #"{"flows":{"answer":[{"when":{"dtmf.digits":"1"},"ncco":"menu"},{"ncco":"menu"}],"choice":[{"ncco":"menu"}]}}"#,
        "menu.json":
            #"[{"action":"talk","text":"<b>Hi"},{"action":"input","type":["dtmf"],"eventUrl":["{{base_url}}/voice/choice?again=1"]}]"#,
    ]

    @Test func `a folder shows which flow an action leads to, and what lint says`() throws {
        let bench = try HandlerBench(files: Self.files)
        let report = try report(bench.application.flows)
        #expect((report["source"] as? String)?.hasSuffix("/nccos") == true)
        #expect(try rules(report, "answer").first?["when"] as? [String] == [#"dtmf.digits is "1""#])
        let templates = try #require(report["templates"] as? [[String: Any]])
        let menu = try #require(templates.first { $0["name"] as? String == "menu" })
        let links = try #require(menu["leads_to"] as? [[String: Any]])
        #expect(links.count == 1 && links[0]["action"] as? Int == 2)
        #expect(links[0]["option"] as? String == "eventUrl" && links[0]["flow"] as? String == "choice")
        #expect(templates.contains { $0["name"] as? String == "apology" }, "what stands in for the fallback")
    }

    @Test func `a folder that is spoilt shows what is served, and the findings against it`() throws {
        let bench = try HandlerBench(files: Self.files)
        let path = "\(bench.events)/nccos/menu.json"
        try Data(#"[{"action":"tolk"}]"#.utf8).write(to: URL(fileURLWithPath: path))
        bench.application.flows.look(isForced: true)
        let report = try report(bench.application.flows)
        #expect((report["problem"] as? String)?.contains("NCCO007") == true)
        let findings = try #require(report["findings"] as? [[String: Any]])
        #expect(findings.contains { $0["code"] as? String == "NCCO007" && $0["line"] as? Int == 1 && $0["file"] as? String == path })
        let templates = try #require(report["templates"] as? [[String: Any]])
        #expect(templates.contains { $0["name"] as? String == "menu" && ($0["explanation"] as? String)?.contains("<b>Hi") == true })
    }

    @Test func `only our own flows are led to`() throws {
        func links(_ ncco: String) throws -> [FlowLink] {
            FlowLink.links(of: try parseJSON(Array(ncco.utf8).span, maximumDepth: 16), among: ["answer", "event", "menu"])
        }
        #expect(
            try links(
                #"[{"action":"record","eventUrl":["https://x.example/voice/menu"]},{"action":"notify","eventUrl":["{{base_url}}/voice/none"]}]"#
            )
            .isEmpty)
        #expect(
            try links(
                #"[{"action":"talk"},{"action":"connect","endpoint":[{"type":"phone","onAnswer":{"url":"{{base_url}}/voice/menu"}}],"eventUrl":["{{base_url}}/voice/event"]}]"#
            ) == [FlowLink(action: 2, option: "url", flow: "menu"), FlowLink(action: 2, option: "eventUrl", flow: "event")])
        #expect(try links("{}").isEmpty)
    }
}
