// SPDX-License-Identifier: MIT
//
// The NCCOs that a call was answered with, held against those that a file keeps. Where they differ, people are shown what callers would hear before
// and after, and not JSON. The server's own address, which is another one in each run, stands in the file as `{{base_url}}`, as in a template.

import JSON
import NCCO

package struct GoldenNCCOs: Sendable {
    /// An NCCO, and what it answered.
    package struct Answer: Sendable {
        /// `answer`, `fallback`, or what kind of event it was.
        package let request: String
        /// Nil where the server does not say.
        package let rule: String?
        let ncco: JSONNode

        /// In words; what is no NCCO as JSON.
        fileprivate var words: [String] {
            let explanation = Explanation(ncco).lines
            return ["\(request)\(rule.map { ", \(printable($0))" } ?? ""):"] + explanation.map { "  \($0)" }
        }
    }

    package let answers: [Answer]

    private static let maximumDepth = NCCO.maximumDepth + 4
    /// Lines of which a difference is made.
    private static let mostLines = 2000
    /// Lines around a change that are shown.
    private static let context = 3

    private init(_ answers: [Answer]) { self.answers = answers }

    /// What a call was answered with.
    ///
    /// - Parameter addresses: those of the server, which are replaced.
    package init(of steps: [PlayedStep], server addresses: [String]) {
        answers = PlayedExchange.all(of: steps).compactMap { exchange in
            guard exchange.request.mayCarryNCCO, case .reply(let reply) = exchange.outcome, (200...205).contains(reply.status),
                let tree = try? parseJSON(reply.body.span, maximumDepth: NCCO.maximumDepth), case .array = tree.value
            else { return nil }
            return Answer(
                request: exchange.request.event ?? exchange.request.kind.rawValue, rule: reply.rule, ncco: neutral(tree, addresses))
        }
    }

    /// Reads a file.
    ///
    /// - Throws: what is wrong with it, in one line with the place.
    package init(_ text: Span<UInt8>) throws(SimulatorError) {
        let tree: JSONNode
        do throws(JSONError) { tree = try parseJSON(text, maximumDepth: Self.maximumDepth) } catch {
            throw SimulatorError("it is not JSON: \(error)")
        }
        guard let elements = tree.elements else { throw SimulatorError("it is no list of answers") }
        var answers: [Answer] = []
        for (index, element) in elements.enumerated() {
            guard let request = element["request"]?.string, let ncco = element["ncco"] else {
                throw SimulatorError("[\(index)] has no request and ncco")
            }
            answers.append(Answer(request: request, rule: element["rule"]?.string, ncco: ncco))
        }
        self.init(answers)
    }

    /// As the file has it: a line for each action.
    package var text: [UInt8] {
        var output = Array("[".utf8)
        for (index, answer) in answers.enumerated() {
            output += (index > 0 ? ",\n" : "\n").utf8
            output += "  {\n    \"request\": ".utf8
            output.appendJSONString(answer.request)
            if let rule = answer.rule {
                output += ",\n    \"rule\": ".utf8
                output.appendJSONString(rule)
            }
            output += ",\n    \"ncco\": [".utf8
            for (number, action) in (answer.ncco.elements ?? []).enumerated() {
                output += (number > 0 ? ",\n      " : "\n      ").utf8
                action.encode(into: &output)
            }
            output += "\n    ]\n  }".utf8
        }
        output += "\n]\n".utf8
        return output
    }

    /// What is heard otherwise than before, as lines with `-`, `+` or a blank in front; empty where both are the same.
    package func difference(from before: GoldenNCCOs) -> [String] {
        let isSame =
            answers.count == before.answers.count
            && zip(answers, before.answers).allSatisfy {
                $0.request == $1.request && $0.rule == $1.rule && canonical($0.ncco) == canonical($1.ncco)
            }
        guard !isSame else { return [] }
        let (old, new) = (before.answers.flatMap(\.words), answers.flatMap(\.words))
        guard old != new else { return ["the words are the same:"] + Self.firstDifference(before.answers, answers) }
        return Self.difference(Array(old.prefix(Self.mostLines)), Array(new.prefix(Self.mostLines)))
    }

    /// All of it, as what is heard for the first time.
    package var differenceFromNothing: [String] { answers.flatMap(\.words).prefix(Self.mostLines).map { "+ \($0)" } }

    private static func difference(_ old: [String], _ new: [String]) -> [String] {
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in new.difference(from: old) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var lines: [(mark: Character, text: String)] = []
        var (left, right) = (0, 0)
        while left < old.count || right < new.count {
            if left < old.count, removed.contains(left) {
                lines.append(("-", old[left]))
                left += 1
            } else if right < new.count, inserted.contains(right) {
                lines.append(("+", new[right]))
                right += 1
            } else {
                if left < old.count { lines.append((" ", old[left])) }
                (left, right) = (left + 1, right + 1)
            }
        }
        // What is far from any change is left out.
        let changes = lines.indices.filter { lines[$0].mark != " " }
        let shown = Set(changes.flatMap { max($0 - context, 0)...min($0 + context, lines.count - 1) })
        return lines.indices.compactMap { index in
            if shown.contains(index) { return "\(lines[index].mark) \(lines[index].text)" }
            return index == 0 || shown.contains(index - 1) ? "  …" : nil
        }
    }

    /// The first action that is another one, as JSON.
    private static func firstDifference(_ old: [Answer], _ new: [Answer]) -> [String] {
        for (index, (one, other)) in zip(old, new).enumerated() {
            for (number, (before, after)) in zip(one.ncco.elements ?? [], other.ncco.elements ?? []).enumerated() {
                guard canonical(before) != canonical(after) else { continue }
                let place = "[\(index)].ncco[\(number)]"
                return ["- \(place) \(line(before))", "+ \(place) \(line(after))"]
            }
        }
        return []
    }

    private static func line(_ node: JSONNode) -> String {
        let text = String(decoding: node.json, as: UTF8.self)
        // JSON text has no other controls; the rest of what steers a terminal is left out.
        return String(String.UnicodeScalarView(text.unicodeScalars.filter { !steersTerminal($0) }.prefix(500)))
    }
}

/// The tree with the server's addresses replaced; how deep it is was bounded when it was read.
private func neutral(_ node: JSONNode, _ addresses: [String]) -> JSONNode {
    switch node.value {
    case .string(let string):
        let text = string.value
        let replaced = addresses.reduce(text) { neutral($0, $1) }
        return replaced == text ? node : .text(replaced)
    case .array(let elements): return .list(elements.map { neutral($0, addresses) })
    case .object(let members):
        return JSONNode(.object(members.map { JSONNode.Member($0.name.value, neutral($0.node, addresses)) }), at: node.range)
    case .number, .bool, .null: return node
    }
}

/// The text with an address replaced wherever it stands as a whole: one that goes on with more digits or letters is another server's.
private func neutral(_ text: String, _ address: String) -> String {
    var (result, rest) = ("", text[...])
    while let range = rest.firstRange(of: address) {
        let isWhole = rest[range.upperBound...].first.map { !$0.isLetter && !$0.isNumber && $0 != "." && $0 != "-" } ?? true
        result += rest[..<range.lowerBound] + (isWhole ? "{{base_url}}" : address)
        rest = rest[range.upperBound...]
    }
    return result + rest
}

/// The same bytes for what means the same: keys in order, one spelling of text.
private func canonical(_ node: JSONNode) -> [UInt8] {
    func sorted(_ node: JSONNode) -> JSONNode {
        switch node.value {
        case .string(let string): .text(string.value)
        case .array(let elements): .list(elements.map(sorted))
        case .object(let members):
            JSONNode(
                .object(
                    members.sorted { $0.name.value < $1.name.value }.map { JSONNode.Member($0.name.value, sorted($0.node)) }),
                at: node.range)
        case .number, .bool, .null: node
        }
    }
    return sorted(node).json
}
