// SPDX-License-Identifier: MIT
//
// What a webhook says, in Vonage's order: written as the body of a POST, or as the query of a GET, where what is nested becomes its JSON text.

import JSON
import NCCO

/// The members of a webhook.
package struct WebhookFields: Sendable {
    package enum Value: Sendable {
        case text(String)
        case number(Int)
        case null
        /// An object or an array, as JSON text.
        case json([UInt8])
    }

    package private(set) var members: [(name: String, value: Value)] = []

    init() {}

    /// Members in order; those that are nil are left out.
    init(_ members: KeyValuePairs<String, Value?>) {
        self.members.reserveCapacity(members.count)
        for (name, value) in members { if let value { self.members.append((name, value)) } }
    }

    mutating func append(_ name: String, _ value: Value) { members.append((name, value)) }

    /// The text of a member; nil where there is none, or it is no text.
    package func text(_ name: String) -> String? {
        for member in members where member.name == name {
            if case .text(let text) = member.value { return text }
        }
        return nil
    }

    /// The body of a POST, without white space.
    package var json: [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(512)
        output.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            output.appendJSONString(member.name)
            output.append(UInt8(ascii: ":"))
            switch member.value {
            case .text(let text): output.appendJSONString(text)
            case .number(let number): output.appendDecimal(number)
            case .null: output += "null".utf8
            case .json(let json): output += json
            }
        }
        output.append(UInt8(ascii: "}"))
        return output
    }

    /// The query of a GET; a null has no place in it and is left out.
    package var query: String {
        var query = ""
        for (name, value) in members {
            let text: String
            switch value {
            case .text(let plain): text = plain
            case .number(let number): text = "\(number)"
            case .null: continue
            case .json(let json): text = String(decoding: json, as: UTF8.self)
            }
            if !query.isEmpty { query += "&" }
            query += "\(percentEncoded(name))=\(percentEncoded(text))"
        }
        return query
    }
}

extension WebhookFields.Value {
    static let emptyObject = WebhookFields.Value.json(Array("{}".utf8))

    /// A text, or null.
    static func textOrNull(_ text: String?) -> WebhookFields.Value { text.map { .text($0) } ?? .null }

    static func object(_ object: JSONObject) -> WebhookFields.Value {
        var json: [UInt8] = []
        object.encode(into: &json)
        return .json(json)
    }
}
