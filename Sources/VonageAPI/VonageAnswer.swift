// SPDX-License-Identifier: MIT
//
// What Vonage answers, from bytes to values: JSON or an error. Nothing here knows the network, so each shape that was ever seen is a test.

import JSON

/// The body of a good answer.
struct VonageAnswer {
    let root: JSONNode

    /// Answers are flat; what nests deeper is something else.
    private static let deepest = 32

    /// - Throws: what Vonage said no with, or that its answer cannot be read.
    init(_ answer: WebAnswer, from host: String) throws(VonageError) {
        guard (200..<300).contains(answer.status) else { throw Self.refusal(answer, from: host) }
        guard let node = Self.parse(answer.body) else {
            let what = answer.body.isEmpty ? "nothing" : Self.isPage(answer.body) ? "an HTML page" : "no whole JSON"
            throw VonageError(.unreadable, "\(host) answered \(answer.status) with \(what)")
        }
        root = node
    }

    private static func parse(_ body: [UInt8]) -> JSONNode? {
        body.isEmpty ? nil : try? parseJSON(body.span, maximumDepth: deepest)
    }

    private static func isPage(_ body: [UInt8]) -> Bool { body.first { $0 > 0x20 } == UInt8(ascii: "<") }

    static func refusal(_ answer: WebAnswer, from host: String) -> VonageError {
        let problem = parse(answer.body)
        let code = problem.flatMap { Self.code(of: $0) }
        if answer.status == 429 || code == "http:error:too-many-request" {
            return VonageError(.tooMany(retryAfter: retryAfter(answer)), "\(host) takes no more requests for now")
        }
        guard answer.status >= 400 else {
            return VonageError(.unreadable, "\(host) answered \(answer.status), which is no answer of Vonage's API")
        }
        let what = code ?? (isPage(answer.body) ? "an HTML page" : answer.body.isEmpty ? "an empty body" : "no code")
        // Whoever else stands at the address has pages that are not there, too.
        guard answer.status != 404 || problem != nil || answer.body.isEmpty else {
            return VonageError(.unreadable, "\(host) answered 404, \(what)")
        }
        return VonageError(.refused(status: answer.status, code: code), "\(host) answered \(answer.status), \(what)")
    }

    /// Of a problem document: `code`, else what follows `#` in `type`. What does not look like a code is none, for it is shown to people.
    private static func code(of problem: JSONNode) -> String? {
        func checked(_ text: String?) -> String? {
            guard let text, (1...80).contains(text.utf8.count),
                text.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "-_:.".utf8.contains($0) })
            else { return nil }
            return text
        }
        if let code = checked(problem["code"]?.text) { return code }
        guard let type = problem["type"]?.text, let mark = type.lastIndex(of: "#") else { return nil }
        return checked(String(type[type.index(after: mark)...]))
    }

    /// Whole seconds. A date there would need this machine's clock to be right, and no service of Vonage's sends one.
    private static func retryAfter(_ answer: WebAnswer) -> Int? {
        answer.fields["retry-after"].flatMap { $0.utf8.count <= 6 ? Int($0) : nil }.flatMap { $0 >= 0 ? $0 : nil }
    }
}

extension JSONNode {
    /// The first member of this name.
    subscript(_ name: String) -> JSONNode? {
        guard case .object(let members) = value else { return nil }
        return members.first { $0.name.literal == name || $0.name.value == name }?.node
    }

    var text: String? { if case .string(let string) = value { string.value } else { nil } }
    var elements: [JSONNode]? { if case .array(let elements) = value { elements } else { nil } }
}

/// One page of a list.
package struct VonagePage<Item: Sendable>: Sendable {
    package let items: [Item]
    /// Of the next page; nil behind the last.
    package let cursor: String?

    package init(_ items: [Item], cursor: String? = nil) {
        self.items = items
        self.cursor = cursor
    }
}

extension VonagePage {
    /// - Parameters:
    ///   - name: of the array in `_embedded`, or below `data` in that, as version 0.2 has it.
    ///   - item: nil for an element that is none.
    init(_ answer: VonageAnswer, _ name: String, from host: String, _ item: (JSONNode) -> Item?) throws(VonageError) {
        let embedded = answer.root["_embedded"]
        // The first version of all answered with a bare array.
        guard let elements = (embedded?[name] ?? embedded?["data"]?[name])?.elements ?? answer.root.elements else {
            throw VonageError(.unreadable, "\(host) answered with no list of \(name)")
        }
        items = elements.compactMap(item)
        cursor = answer.root["_links"]?["next"]?["href"]?.text.flatMap { VonageAPI.cursor(inLink: $0) }
    }
}
