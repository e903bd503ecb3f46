// SPDX-License-Identifier: MIT
//
// Reads `flows.json`: variables, flows, rules and their conditions. Everything that is wrong is noted with its place; what is left is what could
// be understood.

import JSON
import NCCO
import VonageAuth

/// A rule as it stands in the file.
struct RuleSource {
    let conditions: [Condition]
    let template: String
    /// The conditions' paths, as far as they imply that the value is there.
    let present: Set<String>
    let place: JSONPath
    let offset: Int
    let templateOffset: Int
    let alwaysHolds: Bool
}

struct FlowSource {
    let name: String
    let rules: [RuleSource]
    let offset: Int
}

struct FlowFile {
    private(set) var flows: [FlowSource] = []
    private(set) var notes = FlowNotes()
    /// Parameters that conditions ask for, with where they stand.
    private(set) var used: [(path: String, place: JSONPath, offset: Int)] = []
    private let zone: (String) throws(ZoneError) -> Zone

    static let name = "flows.json"
    static let conditionWords = ["present", "is", "starts_with", "not"]
    static let timeWords = ["between", "zone", "days"]
    private static let mostFlows = 256
    private static let mostRules = 256

    /// - Parameter names: gets the variables, and a slot for each path that a condition asks for.
    init(_ text: Span<UInt8>, names: inout FlowNames, zone: @escaping (String) throws(ZoneError) -> Zone) {
        self.zone = zone
        let tree: JSONNode
        do {
            tree = try parseJSON(text, maximumDepth: NCCO.maximumDepth)
        } catch {
            notes.add(.notJSON, JSONPath(), at: error.offset, "this is not JSON: expected \(error.expected), found \(error.found)")
            return
        }
        checkKeys(tree, JSONPath())
        guard let members = object(tree, JSONPath(), "flows.json holds") else { return }
        var flows: JSONNode?
        for member in members {
            let place = JSONPath().appending(member.name.value)
            switch member.name.value {
            case "vars": readVariables(member.node, place, &names)
            case "flows": flows = flows ?? member.node
            case "$schema", "comment": break
            default: addUnknown(member, place, ["vars", "flows"])
            }
        }
        guard let flows else {
            notes.add(.isMissing, JSONPath(), at: tree.range.lowerBound, "there are no flows", "add \"flows\": { \"answer\": [ … ] }")
            return
        }
        readFlows(flows, JSONPath().appending("flows"), &names)
    }

    // MARK: Variables

    private mutating func readVariables(_ node: JSONNode, _ path: JSONPath, _ names: inout FlowNames) {
        guard let members = object(node, path, "vars is") else { return }
        for member in members {
            let name = member.name.value
            let place = path.appending(name)
            if FlowNames.reserved.contains(name) {
                notes.add(
                    .badName, place, at: member.nameRange.lowerBound, "\(printable(name)) is a name that the server sets", "choose another")
            } else if !isName(name) {
                notes.add(
                    .badName, place, at: member.nameRange.lowerBound, "\(printable(name)) cannot stand in a placeholder",
                    "write letters, digits, _ and - only")
            } else {
                if WebhookParameterNames.isKnown(name) {
                    notes.add(
                        .hidesParameter, place, at: member.nameRange.lowerBound, "\(name) is also a parameter of requests, which it hides",
                        "choose another name")
                }
                if holdsPlaceholder(member.node) {
                    notes.add(
                        .badVariable, place, at: member.node.range.lowerBound, "a variable cannot hold a placeholder",
                        "write the placeholder into the template")
                }
                names.define(name, member.node.value)
            }
        }
    }

    /// Nothing fills it there, and lint would take it for something that is filled.
    private func holdsPlaceholder(_ node: JSONNode) -> Bool {
        switch node.value {
        case .string(let string): string.value.contains("{{")
        case .object(let members): members.contains { holdsPlaceholder($0.node) }
        case .array(let elements): elements.contains(where: holdsPlaceholder)
        case .number, .bool, .null: false
        }
    }

    // MARK: Flows and rules

    private mutating func readFlows(_ node: JSONNode, _ path: JSONPath, _ names: inout FlowNames) {
        guard let members = object(node, path, "flows is") else { return }
        if members.isEmpty {
            notes.add(.isMissing, path, at: node.range.lowerBound, "there are no flows", "add \"answer\": [ … ]")
        }
        if members.count > Self.mostFlows {
            return notes.add(
                .cannotHold, path, at: node.range.lowerBound, "there are \(members.count) flows", "at most \(Self.mostFlows) are possible")
        }
        for member in members {
            let name = member.name.value
            let place = path.appending(name)
            guard isName(name), name.utf8.count <= 64 else {
                notes.add(
                    .badName, place, at: member.nameRange.lowerBound, "\(printable(name)) cannot be the end of /voice/\u{2026}",
                    "write letters, digits, _ and - only, at most 64")
                continue
            }
            guard case .array(let rules) = member.node.value else {
                addType(member.node, place, "a flow is a list of rules", "write [ { \"ncco\": \"…\" } ]")
                continue
            }
            if rules.isEmpty {
                notes.add(.isMissing, place, at: member.node.range.lowerBound, "the flow has no rule", "add { \"ncco\": \"…\" }")
            }
            if rules.count > Self.mostRules {
                notes.add(
                    .cannotHold, place, at: member.node.range.lowerBound, "the flow has \(rules.count) rules",
                    "at most \(Self.mostRules) are possible")
                continue
            }
            let read = rules.enumerated().compactMap { index, rule in readRule(rule, place.appending(index), &names) }
            if let last = read.firstIndex(where: \.alwaysHolds), last + 1 < read.count {
                notes.add(
                    .neverReached, read[last + 1].place, at: read[last + 1].offset,
                    "no request reaches this rule: the one before it always holds",
                    "move the rule without \"when\" to the end")
            }
            flows.append(FlowSource(name: name, rules: read, offset: member.nameRange.lowerBound))
        }
    }

    private mutating func readRule(_ node: JSONNode, _ path: JSONPath, _ names: inout FlowNames) -> RuleSource? {
        guard let members = object(node, path, "a rule is") else { return nil }
        var conditions: [Condition] = []
        var present: Set<String> = []
        var template: (name: String, offset: Int)?
        // A condition that cannot be read is one all the same.
        var asksNothing = true
        for member in members {
            let place = path.appending(member.name.value)
            switch member.name.value {
            case "when":
                guard let tests = object(member.node, place, "when is") else {
                    asksNothing = false
                    continue
                }
                asksNothing = tests.isEmpty
                for test in tests {
                    let place = place.appending(test.name.value)
                    guard let condition = readCondition(test, place, &names) else { continue }
                    conditions.append(condition)
                    if condition.test.impliesPresence { present.insert(test.name.value) }
                }
            case "ncco":
                if case .string(let string) = member.node.value {
                    template = (string.value, member.node.range.lowerBound)
                } else {
                    addType(member.node, place, "ncco is the name of a template", "write the file's name without .json")
                    return nil
                }
            case "comment": break
            default: addUnknown(member, place, ["when", "ncco"])
            }
        }
        if present.contains("from"), present.contains("from_user") {
            notes.add(
                .cannotHold, path, at: node.range.lowerBound, "no request has both from and from_user", "ask for one of the two")
        }
        guard let template else {
            notes.add(.isMissing, path, at: node.range.lowerBound, "the rule has no template", "add \"ncco\": \"…\"")
            return nil
        }
        return RuleSource(
            conditions: conditions, template: template.name, present: present, place: path, offset: node.range.lowerBound,
            templateOffset: template.offset, alwaysHolds: asksNothing)
    }

    // MARK: Conditions

    private mutating func readCondition(_ member: JSONNode.Member, _ path: JSONPath, _ names: inout FlowNames) -> Condition? {
        let name = member.name.value
        if name == "now" { return readTime(member.node, path).map { Condition(slot: nil, test: $0) } }
        guard !name.isEmpty, name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty }) else {
            notes.add(
                .badName, path, at: member.nameRange.lowerBound, "\(printable(name)) is no path of a parameter",
                "write names with a dot between them, such as custom_data.tier")
            return nil
        }
        if FlowNames.reserved.contains(name) || names.variables[name] != nil {
            notes.add(
                .cannotHold, path, at: member.nameRange.lowerBound, "\(printable(name)) is the same for all requests",
                "ask for a parameter of the request")
            return nil
        }
        used.append((name, path, member.nameRange.lowerBound))
        return readTest(member.node, path).map { Condition(slot: names.slot(of: name), test: $0) }
    }

    private mutating func readTest(_ node: JSONNode, _ path: JSONPath) -> Test? {
        switch node.value {
        case .string, .number, .bool: return text(node).map { .equals([ComparedText($0)]) }
        case .array: return readTexts(node, path).map { .equals($0) }
        case .null:
            addType(node, path, "a condition is text, a list or an object", "write { \"present\": false }")
            return nil
        case .object(let members):
            guard members.count == 1, let member = members.first else {
                notes.add(
                    .unknownCondition, path, at: node.range.lowerBound, "a condition has exactly one word, not \(members.count)",
                    "write one of \(Self.conditionWords.joined(separator: ", ")); several rules or parameters make an and")
                return nil
            }
            return readWord(member, path.appending(member.name.value))
        }
    }

    private mutating func readWord(_ member: JSONNode.Member, _ path: JSONPath) -> Test? {
        switch member.name.value {
        case "present":
            guard case .bool(let wanted) = member.node.value else {
                addType(member.node, path, "present is true or false", "write true or false without quotes")
                return nil
            }
            return .present(wanted)
        case "is":
            let kinds = ValueKind.allCases.map(\.rawValue)
            guard case .string(let string) = member.node.value, let kind = ValueKind(rawValue: string.value) else {
                let shown = text(member.node).map { printable($0) } ?? member.node.kind.words
                let hint = text(member.node).flatMap { nearest($0, among: kinds) }.map { "did you mean \"\($0)\"?" }
                notes.add(
                    .unknownKind, path, at: member.node.range.lowerBound, "\(shown) is no kind of value",
                    hint ?? "the kinds are \(kinds.joined(separator: ", "))")
                return nil
            }
            return .kind(kind)
        case "starts_with": return readTexts(member.node, path).map { .startsWith($0) }
        case "not": return readTest(member.node, path).map { .not($0) }
        case let word:
            let hint = nearest(word, among: Self.conditionWords).map { "did you mean \"\($0)\"?" }
            notes.add(
                .unknownCondition, path, at: member.nameRange.lowerBound, "\(printable(word)) is no condition",
                hint ?? "the conditions are text, a list, \(Self.conditionWords.joined(separator: ", "))")
            return nil
        }
    }

    private mutating func readTexts(_ node: JSONNode, _ path: JSONPath) -> [ComparedText]? {
        guard case .array(let elements) = node.value else {
            guard let text = text(node) else {
                addType(node, path, "this is text or a list of texts")
                return nil
            }
            return [ComparedText(text)]
        }
        guard !elements.isEmpty else {
            notes.add(.cannotHold, path, at: node.range.lowerBound, "an empty list holds for no request", "add what it may be")
            return nil
        }
        var texts: [ComparedText] = []
        for (index, element) in elements.enumerated() {
            guard let text = text(element) else {
                addType(element, path.appending(index), "this is text")
                return nil
            }
            texts.append(ComparedText(text))
        }
        return texts
    }

    private func text(_ node: JSONNode) -> String? {
        switch node.value {
        case .string(let string): string.value
        case .number(let text): text
        case .bool(let bool): bool ? "true" : "false"
        case .object, .array, .null: nil
        }
    }

    // MARK: Time

    private mutating func readTime(_ node: JSONNode, _ path: JSONPath) -> Test? {
        guard let members = object(node, path, "now is") else { return nil }
        if members.count == 1, members[0].name.value == "not" {
            return readTime(members[0].node, path.appending("not")).map { .not($0) }
        }
        var between: (start: Int, end: Int)?
        var days: [Weekday] = Weekday.allCases
        var zone: Zone?
        var isGood = true
        if members.isEmpty {
            notes.add(.isMissing, path, at: node.range.lowerBound, "now asks for nothing", "add between, days or both, and zone")
            return nil
        }
        for member in members {
            let place = path.appending(member.name.value)
            switch member.name.value {
            case "between":
                between = readBetween(member.node, place)
                isGood = isGood && between != nil
            case "days":
                if let read = readDays(member.node, place) { days = read } else { isGood = false }
            case "zone":
                zone = readZone(member.node, place)
                isGood = isGood && zone != nil
            case let word:
                let hint = nearest(word, among: Self.timeWords).map { "did you mean \"\($0)\"?" }
                notes.add(
                    .unknownCondition, place, at: member.nameRange.lowerBound, "\(printable(word)) is no condition of now",
                    hint ?? "they are \(Self.timeWords.joined(separator: ", "))")
                isGood = false
            }
        }
        if zone == nil, isGood {
            notes.add(
                .isMissing, path, at: node.range.lowerBound, "now needs a zone, or it would mean another time on each machine",
                "add \"zone\": \"Europe/London\", or \"UTC\"")
        }
        guard isGood, let zone else { return nil }
        let words = members.map { "\($0.name.value) \(shown($0.node))" }.joined(separator: ", ")
        do throws(OpeningHoursError) {
            return .hours(try OpeningHours(between: between, days: days, zone: zone), words)
        } catch {
            notes.add(.badTime, path, at: node.range.lowerBound, "\(error)")
            return nil
        }
    }

    /// A text, or a list of them, as words.
    private func shown(_ node: JSONNode) -> String {
        if case .array(let elements) = node.value { return elements.compactMap { text($0) }.joined(separator: " ") }
        return text(node) ?? ""
    }

    private mutating func readBetween(_ node: JSONNode, _ path: JSONPath) -> (start: Int, end: Int)? {
        guard case .array(let elements) = node.value, elements.count == 2 else {
            addType(node, path, "between is a list of two times", "write [\"09:00\", \"17:30\"]")
            return nil
        }
        var minutes: [Int] = []
        for (index, element) in elements.enumerated() {
            do throws(OpeningHoursError) {
                minutes.append(try OpeningHours.minute(text(element) ?? ""))
            } catch {
                notes.add(.badTime, path.appending(index), at: element.range.lowerBound, "\(error)")
                return nil
            }
        }
        return (minutes[0], minutes[1])
    }

    private mutating func readDays(_ node: JSONNode, _ path: JSONPath) -> [Weekday]? {
        guard case .array(let elements) = node.value, !elements.isEmpty else {
            addType(node, path, "days is a list of days", "write [\"mon\", \"tue\"]")
            return nil
        }
        var days: [Weekday] = []
        for (index, element) in elements.enumerated() {
            do throws(OpeningHoursError) {
                days.append(try OpeningHours.weekday(text(element) ?? ""))
            } catch {
                notes.add(.badTime, path.appending(index), at: element.range.lowerBound, "\(error)")
                return nil
            }
        }
        return days
    }

    private mutating func readZone(_ node: JSONNode, _ path: JSONPath) -> Zone? {
        do throws(ZoneError) {
            return try zone(text(node) ?? "")
        } catch {
            notes.add(.unknownZone, path, at: node.range.lowerBound, "\(error)")
            return nil
        }
    }

    // MARK: Shapes

    private mutating func object(_ node: JSONNode, _ path: JSONPath, _ what: String) -> [JSONNode.Member]? {
        if case .object(let members) = node.value { return members }
        addType(node, path, "\(what) an object")
        return nil
    }

    private mutating func addType(_ node: JSONNode, _ path: JSONPath, _ what: String, _ cure: String = "") {
        notes.add(.wrongType, path, at: node.range.lowerBound, "\(what), not \(node.kind.words)", cure)
    }

    private mutating func addUnknown(_ member: JSONNode.Member, _ path: JSONPath, _ known: [String]) {
        let hint = nearest(member.name.value, among: known).map { "did you mean \"\($0)\"?" }
        notes.add(
            .unknownKey, path, at: member.nameRange.lowerBound, "\(printable(member.name.value)) means nothing here",
            hint ?? "known are \(known.joined(separator: ", ")) and comment")
    }

    private mutating func checkKeys(_ root: JSONNode, _ path: JSONPath) {
        for (key, place, offset) in NCCO.repeatedKeys(in: root, path) {
            notes.add(.repeatedKey, place, at: offset, "the key \(printable(key)) comes twice", "remove one of the two")
        }
    }

    private func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39, UInt8(ascii: "_"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
