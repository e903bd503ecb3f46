// SPDX-License-Identifier: MIT
//
// How Vonage reads an NCCO: the whole of it before the first action runs, and strictly. What `switchboard lint` calls an error is refused. A text
// that is too long to be spoken is none: what exceeds its limit is not heard. Many calls are answered with the same bytes, so the last few are
// kept with what they mean.

import JSON
package import NCCO

/// What a body turned out to be.
package enum NCCOReading: Sendable {
    /// With what is worth knowing: texts that were cut.
    case actions([Action], notes: [Finding])
    /// In the order of the text, at least one.
    case refused([Finding])
}

package struct NCCOReader: Sendable {
    /// Readings that are kept; with more, all of them go.
    private static let mostKept = 256
    /// A longer body is read each time.
    private static let longestKept = 4096

    private var kept: [[UInt8]: NCCOReading] = [:]

    package init() {}

    package mutating func read(_ body: [UInt8]) -> NCCOReading {
        if let reading = kept[body] { return reading }
        let reading = Self.reading(of: body)
        if body.count <= Self.longestKept {
            if kept.count >= Self.mostKept { kept.removeAll(keepingCapacity: true) }
            kept[body] = reading
        }
        return reading
    }

    private static func reading(of body: [UInt8]) -> NCCOReading {
        let (raw, tree) = NCCO.rawFindings(body.span)
        let errors = raw.filter { $0.severity == .error }
        guard errors.isEmpty, let tree else { return .refused(placed(errors, in: body.span)) }
        let (json, isCut) = withShortTexts(tree).map { ($0.json, true) } ?? (body, false)
        do throws(NCCOError) {
            let actions = try NCCO(json: json.span).actions
            return .actions(actions, notes: isCut ? placed(raw.filter { $0.code == Rule.textTooLong.code }, in: body.span) : [])
        } catch {
            let offset = place(of: error.path ?? "$", in: tree)
            let finding = RawFinding(
                severity: .error, code: Rule.outOfRange.code, path: error.path ?? "$", message: words(error), offset: offset)
            return .refused(placed([finding], in: body.span))
        }
    }

    /// The same NCCO with texts that can be spoken; nil where all can be as they are.
    private static func withShortTexts(_ tree: JSONNode) -> JSONNode? {
        guard case .array(var actions) = tree.value else { return nil }
        var isCut = false
        for index in actions.indices {
            guard case .object(var members) = actions[index].value, let place = members.firstIndex(where: { $0.name.value == "text" }),
                let text = members[place].node.string, SpokenText.spokenLength(ofUTF8: Array(text.utf8).span) > SpokenText.range.upperBound
            else { continue }
            // A cut could leave half a tag.
            let spoken = spokenWords(text).words.unicodeScalars.prefix(SpokenText.range.upperBound)
            members[place].node = .text(String(String.UnicodeScalarView(spoken)))
            actions[index].value = .object(members)
            isCut = true
        }
        return isCut ? .list(actions) : nil
    }

    /// Where in the text a path leads, or the last of it that is there.
    private static func place(of path: String, in tree: JSONNode) -> Int {
        var (node, here) = (tree, JSONPath())
        while let (next, there) = children(of: node, here).first(where: { leads(path, through: $0.path) }) { (node, here) = (next, there) }
        return node.range.lowerBound
    }

    private static func children(of node: JSONNode, _ path: JSONPath) -> [(node: JSONNode, path: JSONPath)] {
        switch node.value {
        case .array(let elements): elements.enumerated().map { ($0.element, path.appending($0.offset)) }
        case .object(let members): members.map { ($0.node, path.appending($0.name.value)) }
        default: []
        }
    }

    private static func leads(_ path: String, through step: JSONPath) -> Bool {
        guard path.hasPrefix(step.description) else { return false }
        let rest = path.dropFirst(step.description.count)
        return rest.isEmpty || rest.first == "." || rest.first == "["
    }

    /// Without the place, which a finding has itself.
    private static func words(_ error: NCCOError) -> String {
        let words = "\(error)"
        guard error.path != nil, let place = lastPlace(in: words) else { return words }
        return String(words[..<place])
    }

    private static func lastPlace(in words: String) -> String.Index? {
        words.indices.last { words[$0...].hasPrefix(" (at ") }
    }
}
