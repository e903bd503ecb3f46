// SPDX-License-Identifier: MIT
//
// What the names in placeholders and conditions stand for. What the server knows, and what the flows set themselves, comes before what a
// request says: no caller can put another number in the place of a variable.

import JSON
import NCCO

/// Where a name's value comes from.
enum ValueSource: Sendable {
    /// Known when the flows are read.
    case constant(JSONNode.Value)
    /// One that the server would know, but was not told.
    case missing
    case baseURL
    /// Why the call cannot be made, as a sentence; in `cannot-connect` only.
    case refusal
    /// Of the request.
    case slot(Int)
}

struct FlowNames {
    private let numbers: [PhoneNumber]
    private let inboundUser: UserName
    private(set) var variables: [String: JSONNode.Value] = [:]
    /// What requests are asked for; a place in here is a slot.
    private(set) var paths: [ParameterPath] = []
    private var slots: [String: Int] = [:]

    static let reserved = ["own_number", "inbound_user", "base_url", "refusal"]

    init(numbers: [PhoneNumber], inboundUser: UserName) {
        self.numbers = numbers
        self.inboundUser = inboundUser
    }

    mutating func define(_ name: String, _ value: JSONNode.Value) { variables[name] = value }

    mutating func source(of path: String) -> ValueSource {
        switch path {
        case "own_number": return numbers.first.map { .constant(.string(JSONString($0.description))) } ?? .missing
        case "inbound_user": return .constant(.string(JSONString(inboundUser.description)))
        case "base_url": return .baseURL
        case "refusal": return .refusal
        default: return variable(path).map { .constant($0) } ?? .slot(slot(of: path))
        }
    }

    mutating func slot(of path: String) -> Int {
        if let slot = slots[path] { return slot }
        slots[path] = paths.count
        paths.append(ParameterPath(path))
        return paths.count - 1
    }

    /// A variable, or a part of one; null is none.
    private func variable(_ path: String) -> JSONNode.Value? {
        if let value = variables[path] { return value }
        let parts = path.split(separator: ".").map(String.init)
        guard parts.count > 1, var value = variables[parts[0]] else { return nil }
        for part in parts.dropFirst() {
            switch value {
            case .object(let members):
                guard let member = members.first(where: { $0.name.value == part }) else { return .null }
                value = member.node.value
            case .array(let elements):
                guard let index = Int(part), elements.indices.contains(index) else { return .null }
                value = elements[index].value
            default: return .null
            }
        }
        return value
    }
}
