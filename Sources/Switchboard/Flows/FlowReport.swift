// SPDX-License-Identifier: MIT
//
// The flows as they are served, for people who look at them: rules in words, templates as they stand in their files with what a caller hears, and
// which flow an action's events lead to. Beside it what lint says of the folder, which may have changed to something that is not served.

import JSON
import NCCO

struct FlowReport {
    /// `{"source","problem","findings":[…],"flows":[{"name","path","rules"}],"templates":[{"name","ncco","explanation","leads_to"}]}`.
    let json: String

    init(_ shown: FlowStore.Shown) {
        var lines = JSONLines()
        lines.open()
        lines.add("source", shown.folder ?? "built-in")
        lines.add("problem", literal: shown.problem.map(JSONLines.quoted) ?? "null")
        lines.open("findings", "[")
        for entry in shown.findings { lines.add(entry.finding, of: entry.file) }
        lines.close("]")
        lines.open("flows", "[")
        for flow in shown.set.flows { Self.add(flow, of: shown.set, to: &lines) }
        lines.close("]")
        lines.open("templates", "[")
        for (name, text) in Self.templates(shown) { Self.add(name, text, among: shown.set.flows.map(\.name), to: &lines) }
        lines.close("]")
        lines.close()
        json = lines.text + "\n"
    }

    private static func add(_ flow: Flow, of set: FlowSet, to lines: inout JSONLines) {
        lines.open()
        lines.add("name", flow.name)
        lines.add("path", "/voice/\(flow.name)")
        lines.open("rules", "[")
        for (index, rule) in flow.rules.enumerated() {
            lines.open()
            lines.add("number", literal: "\(index + 1)")
            lines.add("when", list: rule.conditions.map { $0.words(set, negated: false) })
            lines.add("template", rule.template.name)
            lines.close()
        }
        lines.close("]")
        lines.close()
    }

    /// Those of the folder, and those of the default flow that stand in for what it lacks.
    private static func templates(_ shown: FlowStore.Shown) -> [(name: String, text: [UInt8])] {
        var templates = shown.files.templates.map { (name: $0.name, text: $0.bytes) }
        let own = Set(templates.map(\.name))
        let served = Set(shown.set.flows.flatMap { $0.rules.map(\.template.name) } + [FlowSet.cannotConnectName])
        for name in served.subtracting(own).sorted() {
            if let text = DefaultFlows.templates[name] { templates.append((name, Array(text.utf8))) }
        }
        return templates
    }

    private static func add(_ name: String, _ text: [UInt8], among flows: [String], to lines: inout JSONLines) {
        var ncco: [UInt8] = []
        // What is served has been read without an error.
        guard (try? minifyJSON(text.span, into: &ncco)) != nil, let tree = NCCO.rawFindings(ncco.span).tree else { return }
        lines.open()
        lines.add("name", name)
        lines.add("ncco", literal: String(decoding: ncco, as: UTF8.self))
        lines.add("explanation", Explanation(tree).lines.map { $0 + "\n" }.joined())
        lines.open("leads_to", "[")
        for link in FlowLink.links(of: tree, among: flows) {
            lines.open()
            lines.add("action", literal: "\(link.action)")
            lines.add("option", link.option)
            lines.add("flow", link.flow)
            lines.close()
        }
        lines.close("]")
        lines.close()
    }
}

/// An option of an action whose URL is one of our flows.
struct FlowLink: Hashable {
    /// From 1, as explanations count.
    let action: Int
    /// The member of the action, or of an object in it, that holds the URL.
    let option: String
    let flow: String

    static func links(of tree: JSONNode, among flows: [String]) -> [FlowLink] {
        guard case .array(let actions) = tree.value else { return [] }
        var links: [FlowLink] = []
        for (index, action) in actions.enumerated() {
            var open: [(node: JSONNode, option: String)] = [(action, "")]
            while let (node, option) = open.popLast() {
                switch node.value {
                case .object(let members): open += members.reversed().map { ($0.node, $0.name.value) }
                case .array(let elements): open += elements.reversed().map { ($0, option) }
                case .string(let url):
                    let flow: String
                    switch FlowLint.Target(url.value, among: flows) {
                    case .flow(let name): flow = name
                    case .event where flows.contains("event"): flow = "event"
                    case .event, .unknownFlow, .elsewhere: continue
                    }
                    let link = FlowLink(action: index + 1, option: option, flow: flow)
                    if !links.contains(link) { links.append(link) }
                case .number, .bool, .null: break
                }
            }
        }
        return links
    }
}
