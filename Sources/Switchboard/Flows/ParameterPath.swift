// SPDX-License-Identifier: MIT
//
// A value of a request by its dotted path: `from`, `custom_data.tier`, `dtmf.digits`, `speech.results.0.text`. Where the parameter is text that
// holds JSON, as `custom_data` and everything in a GET is, the path goes on inside of it.

import HTTPWire
import JSON

/// A path, cut at its dots once. A class, so that handing one on counts one reference and not three.
final class ParameterPath: Sendable {
    let text: String
    /// The whole path: a parameter may have dots in its name.
    let name: [UInt8]
    let components: [[UInt8]]
    /// Who is called: where `to` is missing or blank, it is looked for in `custom_data`.
    let isCallee: Bool

    init(_ text: String) {
        self.text = text
        name = Array(text.utf8)
        components = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Array($0) }
        isCallee = text == "to"
    }

    static let calleeInCustomData = ParameterPath("custom_data.to")
}

/// A value that a request has; never an empty text, never null.
struct ParameterValue: Sendable {
    enum Place: Sendable { case decoded, nested }

    let place: Place
    let range: Range<Int>
    /// The bytes are JSON: a number, a boolean, an object or an array. Else they are text.
    let isJSON: Bool
}

extension WebhookParameters {
    /// The value at a path; nil for one that is missing, empty or null.
    mutating func value(at path: ParameterPath) -> ParameterValue? {
        let found = value(named: path.name) ?? (path.components.count > 1 ? nestedValue(at: path.components) : nil)
        guard path.isCallee else { return found }
        if let found, found.isJSON || !isBlank(found) { return found }
        return nestedValue(at: ParameterPath.calleeInCustomData.components)
    }

    /// The bytes of a value: text without its escapes, or JSON.
    func bytes(of value: ParameterValue) -> [UInt8] {
        switch value.place {
        case .decoded: decoded.bytes
        case .nested: nested
        }
    }

    private func isBlank(_ value: ParameterValue) -> Bool {
        let bytes = bytes(of: value)
        return bytes[value.range].allSatisfy { $0 == 0x20 || $0 == 0x09 }
    }

    private func value(named name: [UInt8]) -> ParameterValue? {
        guard let index = entry(named: name) else { return nil }
        let range = decoded.entries[index].value
        guard !range.isEmpty else { return nil }
        let isJSON = self.isJSON(index)
        if isJSON, decoded.bytes.span.equalsExactly("null", at: range) { return nil }
        return ParameterValue(place: .decoded, range: range, isJSON: isJSON)
    }

    private mutating func nestedValue(at components: [[UInt8]]) -> ParameterValue? {
        guard let first = components.first, let outer = value(named: first), let (json, whole) = open(outer) else { return nil }
        let text = json.span
        var range = whole
        for component in components.dropFirst() {
            guard let next = member(component, of: range, in: text) else { return nil }
            range = next
        }
        let start = nested.count
        switch text[range.lowerBound] {
        case UInt8(ascii: "\""):
            decodeJSONString(range.lowerBound + 1..<range.upperBound - 1, in: text, into: &nested)
            guard nested.count > start else { return nil }
            return ParameterValue(place: .nested, range: start..<nested.count, isJSON: false)
        case UInt8(ascii: "n"): return nil
        default:
            nested.append(contentsOf: json[range])
            return ParameterValue(place: .nested, range: start..<nested.count, isJSON: true)
        }
    }

    /// The JSON that a parameter is or holds, and the bytes in which that stands.
    private mutating func open(_ outer: ParameterValue) -> (json: [UInt8], range: Range<Int>)? {
        let source = decoded.bytes
        // What is JSON already has been read once; text may be anything.
        if outer.isJSON { return (source, outer.range) }
        if let known = opened.first(where: { $0.text == outer.range }) { return known.json.map { (openedBytes, $0) } }
        let start = openedBytes.count
        var json: Range<Int>?
        if (try? minifyJSON(source.span.extracting(outer.range), into: &openedBytes)) != nil { json = start..<openedBytes.count }
        opened.append((outer.range, json))
        return json.map { (openedBytes, $0) }
    }

    /// A member of an object by its key, or an element of an array by its index.
    private func member(_ name: [UInt8], of range: Range<Int>, in text: Span<UInt8>) -> Range<Int>? {
        if text[range.lowerBound] == UInt8(ascii: "[") {
            guard let index = Int(String(decoding: name, as: UTF8.self)), (0..<10_000).contains(index) else { return nil }
            var at = range.lowerBound + 1
            for place in 0...index {
                guard at < range.upperBound - 1, let end = skipJSONValue(in: text, from: at) else { return nil }
                if place == index { return at..<end }
                at = end + 1
            }
            return nil
        }
        var members = JSONMembers(range, in: text)
        var key: [UInt8] = []
        while let member = members.next(in: text) {
            key.removeAll(keepingCapacity: true)
            decodeJSONString(member.name, in: text, into: &key)
            if key == name { return member.value }
        }
        return nil
    }
}
