// SPDX-License-Identifier: MIT
//
// From the files of a folder to a set of flows, or to the reasons why not. Pure: bytes in, a set and findings out, so that lint, the start, a
// reload and the tests do exactly the same.

import JSON
package import NCCO

/// What lies in a folder of flows.
package struct FlowFiles: Sendable {
    /// Nil where there is no such file.
    package var flows: [UInt8]?
    /// Names without `.json`, sorted.
    package var templates: [(name: String, bytes: [UInt8])]

    package init(flows: [UInt8]?, templates: [(name: String, bytes: [UInt8])]) {
        self.flows = flows
        self.templates = templates
    }

    static let builtIn = FlowFiles(
        flows: Array(DefaultFlows.flows.utf8),
        templates: DefaultFlows.templates.sorted { $0.key < $1.key }.map { ($0.key, Array($0.value.utf8)) })
}

/// What templates can be filled with besides requests and variables.
package struct FlowSettings: Sendable {
    package var numbers: [PhoneNumber]
    package var inboundUser: UserName
    package var dialPlan: DialPlan

    package init(numbers: [PhoneNumber], inboundUser: UserName, dialPlan: DialPlan = .standard) {
        self.numbers = numbers
        self.inboundUser = inboundUser
        self.dialPlan = dialPlan
    }
}

package struct FlowCompilation: Sendable {
    /// Nil where there is an error.
    let flows: FlowSet?
    /// By file, each in the order of its text.
    package let findings: [FileFinding]

    package var hasErrors: Bool { flows == nil }
}

struct FlowCompiler {
    private struct Compiled {
        let template: Template
        let notes: TemplateCompiler
        let tree: JSONNode
    }

    private let files: FlowFiles
    private let zone: (String) throws(ZoneError) -> Zone
    private var names: FlowNames
    private var findings: [FileFinding] = []
    private var compiled: [String: Compiled] = [:]
    /// What lint notes of a template besides its NCCO rules; they are placed together.
    private var templateNotes: [String: FlowNotes] = [:]
    private var hasErrors = false

    /// - Parameter prefix: put in front of each file's name in findings.
    static func compile(
        _ files: FlowFiles, _ settings: FlowSettings, prefix: String = "",
        zone: @escaping (String) throws(ZoneError) -> Zone = { name throws(ZoneError) in try Zone.named(name) }
    ) -> FlowCompilation {
        var compiler = FlowCompiler(files, settings, zone)
        let set = compiler.compile(prefix, settings)
        return FlowCompilation(flows: compiler.hasErrors ? nil : set, findings: compiler.findings)
    }

    private init(_ files: FlowFiles, _ settings: FlowSettings, _ zone: @escaping (String) throws(ZoneError) -> Zone) {
        self.files = files
        self.zone = zone
        names = FlowNames(numbers: settings.numbers, inboundUser: settings.inboundUser)
        for path in FlowSet.knownPaths { _ = names.slot(of: path) }
    }

    private mutating func compile(_ prefix: String, _ settings: FlowSettings) -> FlowSet? {
        guard let text = files.flows else {
            var notes = FlowNotes()
            notes.add(
                .notReadable, JSONPath(), at: 0, "there is no flows.json", "add one that says when each template is served")
            place(notes.findings, FlowFile.name, [], prefix)
            return nil
        }
        let file = FlowFile(text.span, names: &names, zone: zone)
        var notes = file.notes
        for (name, bytes) in files.templates { readTemplate(name, bytes) }
        let known = Set(files.templates.map(\.name))
        for flow in file.flows {
            for rule in flow.rules where !known.contains(rule.template) && DefaultFlows.templates[rule.template] == nil {
                let hint = nearest(rule.template, among: known.sorted()).map { "did you mean \"\($0)\"?" }
                notes.add(
                    .missingTemplate, rule.place.appending("ncco"), at: rule.templateOffset,
                    "there is no template \(printable(rule.template))",
                    hint ?? "add \(printable(rule.template + ".json")) beside flows.json")
            }
        }
        // A rule that could not be read may serve what seems to be of no use.
        if !file.notes.hasErrors {
            FlowLint(
                flows: file.flows, used: file.used, files: files, trees: compiled.mapValues(\.tree), templates: compiled.mapValues(\.notes)
            )
            .check(&notes, &templateNotes)
        }
        place(notes.findings, FlowFile.name, text, prefix)
        for (name, bytes) in files.templates {
            if let notes = templateNotes[name] { place(notes.findings, name + ".json", bytes, prefix) }
        }
        return hasErrors ? nil : makeSet(file.flows, settings)
    }

    private mutating func readTemplate(_ name: String, _ bytes: [UInt8]) {
        var notes = FlowNotes()
        let (raw, tree) = NCCO.rawFindings(bytes.span)
        notes.add(raw)
        if let tree, !notes.hasErrors {
            let (template, compiler) = TemplateCompiler.compile(name, tree, &names)
            for (path, place, offset, isDefault) in compiler.misfits {
                notes.add(
                    .badVariable, place, at: offset, "the \(isDefault ? "default" : "value") of \(printable(path)) does not fit here",
                    isDefault ? "write another behind the |" : "change it in vars, or use another name")
            }
            // One that fits alone may not fit what stands beside it.
            if compiler.misfits.isEmpty,
                let finding = NCCO.rawFindings(template.sample.span).findings.first(where: { $0.severity == .error })
            {
                let action = finding.path.prefix { $0 != "]" }
                let variable = compiler.used.first { compiler.isConstant($0.path) && $0.place.description.hasPrefix(action) }
                notes.add([
                    RawFinding(
                        severity: .error, code: FlowRuleCode.badVariable.code, path: finding.path,
                        message: "with the variables filled in: \(finding.message)", cure: finding.cure, offset: variable?.offset ?? 0)
                ])
            }
            compiled[name] = Compiled(template: template, notes: compiler, tree: tree)
        }
        templateNotes[name] = notes
    }

    private mutating func place(_ raw: [RawFinding], _ file: String, _ text: [UInt8], _ prefix: String) {
        findings += placed(raw, in: text.span).map { FileFinding(file: prefix + file, finding: $0) }
        hasErrors = hasErrors || raw.contains { $0.severity == .error }
    }

    private mutating func makeSet(_ sources: [FlowSource], _ settings: FlowSettings) -> FlowSet? {
        guard let lastResort = builtIn(FlowSet.cannotConnectName) else { return nil }
        var flows = sources.map { source in
            Flow(
                name: source.name,
                rules: source.rules.enumerated().compactMap { index, rule in
                    template(rule.template).map {
                        FlowRule(flow: source.name, number: index + 1, conditions: rule.conditions, template: $0)
                    }
                })
        }
        // Those of the default flow stand in for a flow that must be there.
        if !["answer", "fallback"].allSatisfy({ name in flows.contains { $0.name == name } }) {
            let standard = FlowFile(Array(DefaultFlows.flows.utf8).span, names: &names, zone: zone)
            for source in standard.flows where !flows.contains(where: { $0.name == source.name }) {
                let rules = source.rules.enumerated().compactMap { index, rule in
                    builtIn(rule.template).map { FlowRule(flow: source.name, number: index + 1, conditions: rule.conditions, template: $0) }
                }
                flows.append(Flow(name: source.name, rules: rules))
            }
        }
        let order = ["answer", "fallback"]
        flows = order.compactMap { name in flows.first { $0.name == name } } + flows.filter { !order.contains($0.name) }
        let cannotConnect = compiled[FlowSet.cannotConnectName]?.template ?? lastResort
        return FlowSet(
            numbers: settings.numbers, dialPlan: settings.dialPlan, paths: names.paths, flows: flows, cannotConnect: cannotConnect,
            lastResort: lastResort)
    }

    private mutating func template(_ name: String) -> Template? { compiled[name]?.template ?? builtIn(name) }

    /// A template of the default flow, whatever the folder has under that name.
    private mutating func builtIn(_ name: String) -> Template? {
        guard let text = DefaultFlows.templates[name], let tree = NCCO.rawFindings(Array(text.utf8).span).tree else { return nil }
        return TemplateCompiler.compile(name, tree, &names).template
    }
}
