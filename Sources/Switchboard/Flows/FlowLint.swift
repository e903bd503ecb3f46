// SPDX-License-Identifier: MIT
//
// What can be seen only when flows and templates are looked at together. All of it is warnings: a folder that has them is served.

import JSON
import NCCO

struct FlowLint {
    let flows: [FlowSource]
    /// Parameters that conditions ask for.
    let used: [(path: String, place: JSONPath, offset: Int)]
    let files: FlowFiles
    let trees: [String: JSONNode]
    let templates: [String: TemplateCompiler]

    /// Answer requests have these whatever the rule asks for.
    private static let alwaysThere: Set = ["uuid", "conversation_uuid"]

    func check(_ notes: inout FlowNotes, _ templateNotes: inout [String: FlowNotes]) {
        let own = ownParameters()
        for (path, place, offset) in used { ParameterNames.check(path, own: own, place, at: offset, &notes) }
        let served = Set(flows.flatMap { $0.rules.map(\.template) } + [FlowSet.cannotConnectName, "apology"])
        for (name, _) in files.templates {
            var noted = templateNotes[name] ?? FlowNotes()
            if !served.contains(name) {
                noted.add(
                    .unusedTemplate, JSONPath(), at: 0, "no rule serves this template", "add a rule to flows.json, or remove the file")
            }
            if let template = templates[name] { checkPlaceholders(template, name, own, &noted) }
            if let tree = trees[name] {
                checkURLs(tree, JSONPath(), &noted)
                checkDeadEnd(tree, &noted)
            }
            templateNotes[name] = noted
        }
    }

    // MARK: Placeholders

    private func checkPlaceholders(_ template: TemplateCompiler, _ name: String, _ own: Set<String>, _ notes: inout FlowNotes) {
        for (path, place, offset) in template.used {
            if path == "refusal", name != FlowSet.cannotConnectName {
                notes.add(
                    .mayBeMissing, place, at: offset, "refusal has a value in \(FlowSet.cannotConnectName) only",
                    "give a default: {{refusal|…}}")
            }
            let isVariable = FlowNames.reserved.contains(path) || template.isConstant(path)
            if !isVariable { ParameterNames.check(path, own: own, place, at: offset, &notes) }
        }
        let rules = flows.flatMap(\.rules).filter { $0.template == name }
        for placeholder in template.required where !Self.alwaysThere.contains(placeholder.path) {
            if placeholder.slot != nil, !rules.isEmpty, rules.allSatisfy({ $0.present.contains(placeholder.path) }) { continue }
            let cure =
                placeholder.slot == nil
                ? "set it, or give a default: {{\(placeholder.path)|…}}"
                : "let every rule that serves this ask for it, or give a default: {{\(placeholder.path)|…}}"
            notes.add(
                .mayBeMissing, placeholder.place, at: placeholder.offset,
                "\(placeholder.option) is required, but \(printable(placeholder.path)) may have no value", cure)
        }
    }

    /// Names in the queries of our own URLs, such as `again` in `{{base_url}}/voice/choice?again=1`.
    private func ownParameters() -> Set<String> {
        var names: Set<String> = []
        for tree in trees.values {
            var open = [tree]
            while let node = open.popLast() {
                switch node.value {
                case .object(let members): open += members.map(\.node)
                case .array(let elements): open += elements
                case .string(let string):
                    let text = string.value
                    guard text.hasPrefix("{{base_url}}"), let query = text.firstIndex(of: "?") else { continue }
                    for pair in text[text.index(after: query)...].split(separator: "&") { names.insert(String(pair.prefix { $0 != "=" })) }
                case .number, .bool, .null: break
                }
            }
        }
        return names
    }

    // MARK: Where events go

    enum Target: Equatable {
        case flow(String)
        case unknownFlow(String)
        case event
        case elsewhere

        /// - Parameter flows: names of those that there are.
        init(_ url: String, among flows: [String]) {
            guard let parts = try? templateParts(url), case .placeholder("base_url", _)? = parts.first, parts.count > 1,
                case .literal(let path) = parts[1], path.hasPrefix("/voice/")
            else {
                self = .elsewhere
                return
            }
            let name = String(path.dropFirst(7).prefix { $0 != "?" && $0 != "#" && $0 != "/" })
            if name == "event" {
                self = .event
            } else if ["answer", "fallback"].contains(name), !flows.contains(name) {
                // A flow that the folder lacks, but that is always there.
                self = .elsewhere
            } else {
                self = flows.contains(name) ? .flow(name) : .unknownFlow(name)
            }
        }
    }

    /// Events of a recording's transcription go to a flow as well, and `onAnswer` asks one.
    private func checkURLs(_ node: JSONNode, _ place: JSONPath, _ notes: inout FlowNotes) {
        switch node.value {
        case .object(let members): for member in members { checkURLs(member.node, place.appending(member.name.value), &notes) }
        case .array(let elements): for (index, element) in elements.enumerated() { checkURLs(element, place.appending(index), &notes) }
        case .string(let url):
            guard case .unknownFlow(let name) = target(url.value) else { return }
            let hint = nearest(name, among: flows.map(\.name)).map { "did you mean /voice/\($0)?" }
            notes.add(
                .unknownFlow, place, at: node.range.lowerBound, "there is no flow \(printable(name))",
                hint ?? "the flows are \(flows.map(\.name).joined(separator: ", "))")
        case .number, .bool, .null: break
        }
    }

    /// An `input` that is the last action needs somebody who answers what is entered.
    private func checkDeadEnd(_ tree: JSONNode, _ notes: inout FlowNotes) {
        guard case .array(let actions) = tree.value, let action = actions.last, case .object(let members) = action.value,
            case .string(let kind)? = value("action", members)?.value, kind.value == "input"
        else { return }
        var target = Target.event
        if case .array(let elements)? = value("eventUrl", members)?.value, case .string(let url)? = elements.first?.value {
            target = self.target(url.value)
        }
        checkDeadEnd(target, JSONPath().appending(actions.count - 1), action.range.lowerBound, &notes)
    }

    /// What follows an `input` that is the last action.
    private func checkDeadEnd(_ target: Target, _ place: JSONPath, _ offset: Int, _ notes: inout FlowNotes) {
        switch target {
        case .elsewhere, .unknownFlow: break
        case .event:
            guard !flows.contains(where: { $0.name == "event" }) else { return checkDeadEnd(.flow("event"), place, offset, &notes) }
            notes.add(
                .deadEnd, place, at: offset, "nothing answers what the caller enters, so the call ends",
                "add \"eventUrl\": [\"{{base_url}}/voice/…\"], an action behind it, or a flow named event")
        case .flow(let name):
            guard let flow = flows.first(where: { $0.name == name }), !flow.rules.contains(where: \.alwaysHolds) else { return }
            notes.add(
                .deadEnd, place, at: offset, "where no rule of \(name) holds nothing follows, so the call ends",
                "end \(name) with a rule without \"when\", or add an action behind this one")
        }
    }

    private func target(_ url: String) -> Target { Target(url, among: flows.map(\.name)) }

    private func value(_ name: String, _ members: [JSONNode.Member]) -> JSONNode? {
        members.first { $0.name.value == name }?.node
    }
}
