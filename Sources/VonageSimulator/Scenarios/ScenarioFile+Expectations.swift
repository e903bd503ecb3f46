// SPDX-License-Identifier: MIT
//
// What must hold, as a file has it. A list that would hold whatever happens is a fault.

import JSON
import NCCO

extension ScenarioFile {
    mutating func readExpectations(_ node: JSONNode, _ path: JSONPath, _ scenario: inout Scenario) {
        let before = faults.count
        guard let members = object(node, path, "expect is", Self.expectKeys) else { return }
        mark(node, path)
        // A key that was misspelt is told, and enough.
        if members.members.isEmpty, faults.count == before {
            missing(node, path, "the scenario expects nothing", "add \"heard\": [\"…\"]")
        }
        for (key, node) in members.members {
            let place = path.appending(key)
            mark(node, place)
            let what: Expectation.What? =
                switch key {
                case "heard": filled(tests(node, place), node, place).map { .heard($0) }
                case "not_heard": filled(tests(node, place), node, place).map { .notHeard($0) }
                case "rung": .rung(texts(node, place))
                case "events": filled(texts(node, place, among: Self.eventNames, "event"), node, place).map { .events($0) }
                case "never": filled(texts(node, place, among: Self.actionNames, "action"), node, place).map { .never($0) }
                case "rules": filled(texts(node, place), node, place).map { .rules($0) }
                case "answer_within": time(node, place).map { .answerWithin($0) }
                case "state":
                    choice(node, place, CallStatus.allCases.filter(\.isOver).map(\.rawValue), key).flatMap { CallStatus(rawValue: $0) }
                        .map { .state($0) }
                case "complaints": .complaints(tests(node, place))
                default: readGolden(node, place).map { .nccos($0) }
                }
            if let what { scenario.expectations.append(Expectation(what: what, path: place)) }
        }
    }

    /// A list that would hold whatever happens is a fault.
    private mutating func filled<Element>(_ list: [Element], _ node: JSONNode, _ path: JSONPath) -> [Element]? {
        if list.isEmpty, case .array(let elements) = node.value, elements.isEmpty {
            fault(.cannotHold, path, node.range.lowerBound, "an empty list expects nothing", "add what is expected, or remove the key")
        }
        return list
    }

    private mutating func tests(_ node: JSONNode, _ path: JSONPath) -> [TextTest] {
        list(node, path, "this is") { file, node, place in
            file.mark(node, place)
            if case .string = node.value {
                guard let text = file.words(node, place).map(normalized) else { return nil }
                if text.isEmpty { file.fault(.badValue, place, node.range.lowerBound, "a blank is in every text", "write words") }
                return .contains(text)
            }
            guard let members = file.object(node, place, "this is text or", ["matches"]) else { return nil }
            guard let pattern = members["matches"] else {
                file.missing(node, place, "there is no pattern", "write { \"matches\": \"press [0-9]\" }")
                return nil
            }
            guard let text = file.words(pattern, place.appending("matches")) else { return nil }
            do throws(PatternError) { return .matches(try ScenarioPattern(text)) } catch {
                file.fault(.badPattern, place.appending("matches"), pattern.range.lowerBound, error.message, error.cure)
                return nil
            }
        }
    }

    private mutating func texts(_ node: JSONNode, _ path: JSONPath) -> [String] {
        list(node, path, "this is") { file, node, place in
            file.mark(node, place)
            return file.words(node, place)
        }
    }

    private mutating func texts(_ node: JSONNode, _ path: JSONPath, among known: [String], _ what: String) -> [String] {
        list(node, path, "this is") { file, node, place in
            file.mark(node, place)
            return file.choice(node, place, known, what)
        }
    }

    /// In a folder below the scenario's own: it is written by `--update`, and beside the scenarios it would be read as one.
    private mutating func readGolden(_ node: JSONNode, _ path: JSONPath) -> String? {
        guard let name = words(node, path, most: 200) else { return nil }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isSafe = parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") } && !name.unicodeScalars.contains(where: steersTerminal)
        guard isSafe, name.hasSuffix(".json"), parts.count == 2 else {
            fault(
                .badValue, path, node.range.lowerBound, "\(printable(name)) is no file beside the scenarios",
                "write FOLDER/NAME.json, such as golden/sales-busy.json")
            return nil
        }
        return name
    }
}
