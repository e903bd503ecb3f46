// SPDX-License-Identifier: MIT
//
// Trees of JSON made by hand and taken apart: what is kept and what is answered is small, so that a tree costs nothing that matters.

import JSON

extension JSONNode {
    static func text(_ value: String) -> JSONNode { JSONNode(.string(JSONString(value)), at: 0..<0) }
    static func number(_ value: Int) -> JSONNode { JSONNode(.number("\(value)"), at: 0..<0) }
    static func time(_ value: Int64) -> JSONNode { JSONNode(.number("\(value)"), at: 0..<0) }
    static func bool(_ value: Bool) -> JSONNode { JSONNode(.bool(value), at: 0..<0) }
    static func list(_ elements: [JSONNode]) -> JSONNode { JSONNode(.array(elements), at: 0..<0) }

    /// Members in order; those without a value are left out.
    static func object(_ members: KeyValuePairs<String, JSONNode?>) -> JSONNode {
        JSONNode(.object(members.compactMap { name, value in value.map { Member(name, $0) } }), at: 0..<0)
    }

    static func optionalText(_ value: String?) -> JSONNode? { value.map { .text($0) } }
    static func optionalTime(_ value: Int64?) -> JSONNode? { value.map { .time($0) } }

    /// The first member of this name; nil where there is none, or no object.
    subscript(name: String) -> JSONNode? { members?.first { $0.name.value == name }?.node }

    var members: [Member]? {
        guard case .object(let members) = value else { return nil }
        return members
    }

    var elements: [JSONNode]? {
        guard case .array(let elements) = value else { return nil }
        return elements
    }

    var string: String? {
        guard case .string(let string) = value else { return nil }
        return string.value
    }

    var flag: Bool? {
        guard case .bool(let bool) = value else { return nil }
        return bool
    }

    /// A whole number that fits; nil for fractions and exponents.
    var whole: Int64? {
        guard case .number(let text) = value else { return nil }
        return Int64(text)
    }

    var json: [UInt8] {
        var output: [UInt8] = []
        encode(into: &output)
        return output
    }
}
