// SPDX-License-Identifier: MIT
//
// Lint: walks the tree of a text beside the tables of `Reference` and notes what does not fit. It never stops at the first fault; a place that
// is wrong is not looked into further. Templates are read as well: a string that is nothing but a placeholder may become anything and passes,
// and of one that holds placeholders only what surely stays is checked.

package import JSON

extension NCCO {
    /// What is wrong with this text as an NCCO, and what is worth knowing about it, in the order of the text; empty where it is perfect.
    ///
    /// The same as `switchboard lint` prints. Strings may hold placeholders, `{{name}}`.
    public static func check(_ json: Span<UInt8>) -> [Finding] { placed(rawFindings(json).findings, in: json) }

    /// What is wrong with this text as an NCCO, and what is worth knowing about it.
    public static func check(_ json: String) -> [Finding] { check(Array(json.utf8).span) }

    /// Whether a value alone is one that an option of this shape may hold.
    package static func fits(_ value: JSONNode, _ shape: Shape) -> Bool {
        var checker = Checker()
        checker.check(value, shape, JSONPath())
        return !checker.findings.contains { $0.severity == .error }
    }

    /// Deeper texts are refused: nothing that Vonage takes comes near, and compiling a template recurses.
    package static var maximumDepth: Int { 64 }

    /// The findings with the tree, where there is one.
    package static func rawFindings(_ json: Span<UInt8>) -> (findings: [RawFinding], tree: JSONNode?) {
        var checker = Checker()
        let tree: JSONNode
        do {
            tree = try parseJSON(json, maximumDepth: maximumDepth)
        } catch {
            checker.add(error, in: json)
            return (checker.findings, nil)
        }
        checker.checkNCCO(tree)
        return (checker.findings, tree)
    }
}

struct Checker {
    /// A text that is all faults would otherwise be answered with a multiple of its size.
    static let mostFindings = 1000

    private(set) var findings: [RawFinding] = []
    var isFull: Bool { findings.count >= Self.mostFindings }

    // MARK: Noting

    mutating func add(_ rule: Rule, _ path: JSONPath, at offset: Int, _ message: String, _ cure: String = "") {
        guard !isFull else { return }
        findings.append(
            RawFinding(severity: rule.severity, code: rule.code, path: path.description, message: message, cure: cure, offset: offset))
    }

    mutating func add(_ rule: Rule, _ path: JSONPath, _ node: JSONNode, _ message: String, _ cure: String = "") {
        add(rule, path, at: node.range.lowerBound, message, cure)
    }

    mutating func add(_ error: JSONError, in text: Span<UInt8>) {
        if error.reason == .secondValue, text[error.offset] == UInt8(ascii: "[") {
            return add(
                .secondArray, JSONPath(), at: error.offset, "a second array begins here",
                "put all actions into one array, or each array into a file of its own")
        }
        add(.notJSON, JSONPath(), at: error.offset, "this is not JSON: expected \(error.expected), found \(error.found)")
    }

    // MARK: The array

    mutating func checkNCCO(_ root: JSONNode) {
        let path = JSONPath()
        checkKeys(root, path)
        guard case .array(let actions) = root.value else {
            let cure =
                if case .object(let members) = root.value, members.contains(where: { $0.name.value == "action" }) {
                    "put [ and ] around it"
                } else {
                    "write a list of actions, such as [{\"action\": \"talk\", \"text\": \"Hello.\"}]"
                }
            return add(.notAnArray, path, root, "an NCCO is an array, not \(root.kind.words)", cure)
        }
        var steps: [ActionNode?] = []
        for (index, action) in actions.enumerated() { steps.append(checkAction(action, path.appending(index))) }
        checkOrder(steps, root)
    }

    /// Nil where it is no action that there is.
    private mutating func checkAction(_ node: JSONNode, _ path: JSONPath) -> ActionNode? {
        guard case .object(let members) = node.value else {
            add(.actionIsNoObject, path, node, "an action is an object, not \(node.kind.words)", "write {\"action\": …}")
            return nil
        }
        guard let kind = members.first(where: { $0.name.value == "action" })?.node else {
            let meant = members.first { nearest($0.name.value.lowercased(), among: ["action"]) != nil }
            add(
                .actionIsMissing, path, at: meant?.nameRange.lowerBound ?? node.range.lowerBound, "this object has no action",
                meant.map { "did you mean \"action\" for \(printable($0.name.value))?" } ?? "add \"action\", such as \"action\": \"talk\"")
            return nil
        }
        let kindPath = path.appending("action")
        guard case .string(let string) = kind.value else {
            add(.wrongType, kindPath, kind, "the name of an action is text, not \(kind.kind.words)", "write one such as \"talk\"")
            return nil
        }
        let name = string.value
        guard let rule = Reference.action(name) else {
            addUnknownAction(name, kindPath, kind)
            return nil
        }
        let object = checkObject(members, rule, node, path, kindKey: "action")
        let action = ActionNode(rule: rule, options: object, node: node, path: path)
        checkCombinations(action)
        return action
    }

    private mutating func addUnknownAction(_ name: String, _ path: JSONPath, _ node: JSONNode) {
        if name.contains("{{") {
            return add(
                .badPlaceholder, path, node, "the name of an action cannot be a placeholder",
                "choose the template by a rule, and write the action out")
        }
        let names = Reference.actions.map(\.name)
        if let cure = Reference.strangers[name.lowercased()] {
            return add(.unknownAction, path, node, "\(printable(name)) is no action", cure)
        }
        let hint = nearest(name.lowercased(), among: names).map { "did you mean \"\($0)\"?" }
        add(.unknownAction, path, node, "\(printable(name)) is no action", hint ?? "the actions are \(names.joined(separator: ", "))")
    }

    // MARK: Objects

    /// Checks each option against its rule, and gives the known ones back under the name of the reference.
    mutating func checkObject(
        _ members: [JSONNode.Member], _ rule: ObjectRule, _ node: JSONNode, _ path: JSONPath, kindKey: String? = nil
    ) -> Options {
        var options = Options()
        for member in members {
            let name = member.name.value
            guard name != kindKey else { continue }
            let place = path.appending(name)
            guard let option = rule.option(name) else {
                if rule.name == "input", Reference.legacyInput.contains(name) {
                    options.legacy.append(name)
                    _ = Reference.dtmf.option(name).map { check(member.node, $0.shape, place) }
                    add(
                        .otherSpelling, place, at: member.nameRange.lowerBound, "\(name) directly in input is an old form",
                        "write it inside \"dtmf\", and \"type\": [\"dtmf\"]")
                    continue
                }
                addUnknownOption(name, rule, place, at: member.nameRange.lowerBound)
                continue
            }
            if option.name != name {
                add(
                    .otherSpelling, place, at: member.nameRange.lowerBound,
                    "\(name) is one of two spellings in Vonage's documentation", "prefer \(option.name)")
            }
            if let instead = option.deprecation {
                add(.deprecated, place, at: member.nameRange.lowerBound, "\(name) is deprecated", instead)
            }
            if option.isRequired, member.node.kind == .null {
                add(.wrongType, place, member.node, "this must be \(option.shape.words), not null", "write \(option.shape.example)")
            } else {
                check(member.node, option.shape, place)
            }
            if options.nodes[option.name] == nil { options.nodes[option.name] = member.node }
        }
        for option in rule.options where option.isRequired && options.nodes[option.name] == nil {
            if option.name == "type", !options.legacy.isEmpty { continue }
            add(
                .optionIsMissing, path, node, "\(rule.name) needs \(option.name): \(option.summary)",
                "add \"\(option.name)\": \(option.shape.example)")
        }
        return options
    }

    private mutating func addUnknownOption(_ name: String, _ rule: ObjectRule, _ path: JSONPath, at offset: Int) {
        let names = rule.options.map(\.name)
        let folded = name.lowercased().replacing("_", with: "")
        let hint = names.first { $0.lowercased().replacing("_", with: "") == folded } ?? nearest(name, among: names)
        add(
            .unknownOption, path, at: offset, "\(rule.name) has no option \(printable(name))",
            hint.map { "did you mean \"\($0)\"?" }
                ?? (names.isEmpty ? "" : "it has \(rule.options.filter { $0.deprecation == nil }.map(\.name).joined(separator: ", "))"))
    }

    mutating func checkEndpoint(_ node: JSONNode, _ path: JSONPath) {
        guard case .object(let members) = node.value else {
            if case .string(let string) = node.value, isWholePlaceholder(string.value) { return }
            return add(
                .wrongType, path, node, "an endpoint is an object, not \(node.kind.words)",
                "write {\"type\": \"phone\", \"number\": \"447700900123\"}")
        }
        let types = Reference.endpoints.map(\.name)
        guard let kind = members.first(where: { $0.name.value == "type" })?.node else {
            return add(
                .optionIsMissing, path, node, "an endpoint needs type: \(types.joined(separator: ", "))", "add \"type\": \"phone\"")
        }
        let kindPath = path.appending("type")
        guard case .string(let string) = kind.value else {
            return add(
                .wrongType, kindPath, kind, "the type of an endpoint is text, not \(kind.kind.words)", "write one such as \"phone\"")
        }
        guard let rule = Reference.endpoint(string.value) else {
            if string.value.contains("{{") {
                return add(
                    .badPlaceholder, kindPath, kind, "the type of an endpoint cannot be a placeholder",
                    "choose the template by a rule, and write the type out")
            }
            let hint = nearest(string.value.lowercased(), among: types).map { "did you mean \"\($0)\"?" }
            return add(
                .unknownEndpoint, kindPath, kind, "\(printable(string.value)) is no type of endpoint",
                hint ?? "the types are \(types.joined(separator: ", "))")
        }
        let options = checkObject(members, rule, node, path, kindKey: "type")
        checkEndpointCombinations(rule, options, node, path)
    }

    // MARK: Keys

    private mutating func checkKeys(_ root: JSONNode, _ path: JSONPath) {
        for (key, place, offset) in NCCO.repeatedKeys(in: root, path) {
            add(.repeatedKey, place, at: offset, "the key \(printable(key)) comes twice", "remove one of the two")
        }
    }
}

extension NCCO {
    /// Keys that come twice in any object of a text; no more than there may be findings.
    package static func repeatedKeys(in root: JSONNode, _ path: JSONPath) -> [(key: String, place: JSONPath, offset: Int)] {
        var repeated: [(key: String, place: JSONPath, offset: Int)] = []
        var walk = TreeWalk(root)
        while let node = walk.next() {
            guard case .object(let members) = node.value else { continue }
            var seen: Set<String> = []
            for member in members where !seen.insert(member.name.value).inserted {
                guard repeated.count < Checker.mostFindings else { return repeated }
                let name = member.name.value
                repeated.append((name, walk.path(from: path).appending(name), member.nameRange.lowerBound))
            }
        }
        return repeated
    }
}

/// The options of an object by the reference's names; the first value where one comes twice.
struct Options {
    var nodes: [String: JSONNode] = [:]
    /// Options of `input` from before it had `type`.
    var legacy: [String] = []

    func has(_ name: String) -> Bool { nodes[name] != nil }

    /// What a boolean option says, also as text; nil where it is absent or a placeholder.
    func bool(_ name: String) -> Bool? {
        switch nodes[name]?.value {
        case .bool(let bool): bool
        case .string(let string): string.value == "true" ? true : string.value == "false" ? false : nil
        default: nil
        }
    }

    /// A text option's text; nil also for anything that holds a placeholder.
    func text(_ name: String) -> String? {
        guard case .string(let string)? = nodes[name]?.value, !string.value.contains("{{") else { return nil }
        return string.value
    }

    /// A number option's value, also from text.
    func number(_ name: String) -> Double? {
        switch nodes[name]?.value {
        case .number(let text): Double(text)
        case .string(let string): Double(string.value)
        default: nil
        }
    }

    func elements(_ name: String) -> [JSONNode]? {
        if case .array(let elements)? = nodes[name]?.value { elements } else { nil }
    }
}

/// An action whose name is known.
struct ActionNode {
    let rule: ObjectRule
    let options: Options
    let node: JSONNode
    let path: JSONPath
}

extension JSONKind {
    /// With its article, for a message.
    package var words: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "text"
        case .number: "a number"
        case .bool: "true or false"
        case .null: "null"
        }
    }
}
