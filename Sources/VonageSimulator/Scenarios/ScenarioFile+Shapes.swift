// SPDX-License-Identifier: MIT
//
// Objects, lists, texts, choices and times of a file of scenarios, each with the fault that is noted where it is something else.

import JSON
import NCCO

extension ScenarioFile {
    /// Members of an object, `comment` left out.
    struct Members {
        let members: [(name: String, node: JSONNode)]

        var count: Int { members.count }

        subscript(name: String) -> JSONNode? { members.first { $0.name == name }?.node }
    }

    /// - Parameter known: keys that mean something; nil: any does.
    mutating func object(_ node: JSONNode, _ path: JSONPath, _ what: String, _ known: [String]?) -> Members? {
        guard case .object(let members) = node.value else {
            type(node, path, "\(what) an object")
            return nil
        }
        guard let known else { return Members(members: members.map { ($0.name.value, $0.node) }) }
        for member in members where !known.contains(member.name.value) && member.name.value != "comment" {
            let name = member.name.value
            let hint = nearest(name, among: known).map { "did you mean \"\($0)\"?" }
            fault(
                .unknownKey, path.appending(name), member.nameRange.lowerBound, "\(printable(name)) means nothing here",
                hint ?? "known are \(known.joined(separator: ", ")) and comment")
        }
        return Members(members: members.map { ($0.name.value, $0.node) }.filter { known.contains($0.0) })
    }

    mutating func list<Element>(
        _ node: JSONNode, _ path: JSONPath, _ what: String, _ read: (inout ScenarioFile, JSONNode, JSONPath) -> Element?
    ) -> [Element] {
        guard case .array(let elements) = node.value else {
            type(node, path, "\(what) a list", "write [ … ]")
            return []
        }
        guard elements.count <= Self.mostElements else {
            fault(
                .cannotHold, path, node.range.lowerBound, "the list has \(elements.count) elements",
                "at most \(Self.mostElements) are possible")
            return []
        }
        return elements.enumerated().compactMap { index, element in read(&self, element, path.appending(index)) }
    }

    /// A text with something in it.
    mutating func words(_ node: JSONNode, _ path: JSONPath, most: Int = longestText) -> String? {
        guard case .string(let string) = node.value else {
            type(node, path, "this is text")
            return nil
        }
        let text = string.value
        guard !text.isEmpty, text.unicodeScalars.count <= most else {
            fault(
                .badValue, path, node.range.lowerBound,
                text.isEmpty ? "this is empty" : "this has \(text.unicodeScalars.count) characters",
                "write 1 to \(most) characters")
            return nil
        }
        return text
    }

    mutating func choice(_ node: JSONNode, _ path: JSONPath, _ known: [String], _ what: String) -> String? {
        guard let text = words(node, path) else { return nil }
        guard known.contains(text) else {
            let hint = nearest(text, among: known).map { "did you mean \"\($0)\"?" }
            fault(
                .badValue, path, node.range.lowerBound, "\(printable(text)) is nothing that \(what) can be",
                hint ?? "write one of \(known.joined(separator: ", "))")
            return nil
        }
        return text
    }

    /// In milliseconds.
    mutating func time(_ node: JSONNode, _ path: JSONPath) -> Int64? {
        guard let text = words(node, path, most: 20) else { return nil }
        let time: Int64
        do throws(TimeError) { time = try duration(text, in: Self.times) } catch {
            switch error {
            case .isNone: fault(.badValue, path, node.range.lowerBound, "\(printable(text)) is no time", "write 500ms, 10s, 2m or 1h")
            case .isOutside:
                fault(.badValue, path, node.range.lowerBound, "\(printable(text)) is longer than a call can be", "write at most 2h")
            }
            return nil
        }
        return time
    }

    mutating func type(_ node: JSONNode, _ path: JSONPath, _ what: String, _ cure: String = "") {
        fault(.wrongType, path, node.range.lowerBound, "\(what), not \(node.kind.words)", cure)
    }

    mutating func missing(_ node: JSONNode, _ path: JSONPath, _ what: String, _ cure: String) {
        fault(.isMissing, path, node.range.lowerBound, what, cure)
    }
}
