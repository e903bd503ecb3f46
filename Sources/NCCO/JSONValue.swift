// SPDX-License-Identifier: MIT
//
// Any JSON, for what Vonage passes on without looking inside: a payload, headers, options that nobody here knows yet.

internal import JSON

/// Any JSON value.
///
/// ```swift
/// let payload: JSONObject = ["step": "survey", "tries": 1, "tags": ["a", "b"]]
/// ```
///
/// - Source: RFC 8259.
public enum JSONValue: Hashable, Sendable {
    /// A text.
    case string(String)
    /// A number, as its text.
    case number(JSONNumber)
    /// True or false.
    case bool(Bool)
    /// Nothing.
    case null
    /// Values in order.
    case array([JSONValue])
    /// Values by name, in order.
    case object(JSONObject)
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Lets a text be written in place.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Lets a whole number be written in place.
    public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
    /// Lets a number be written in place.
    public init(floatLiteral value: Double) { self = .number(JSONNumber(floatLiteral: value)) }
    /// Lets true or false be written in place.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Lets null be written as nil.
    public init(nilLiteral: ()) { self = .null }
    /// Lets an array be written in place.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Lets an object be written in place; of members with equal names the last one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}

extension JSONValue {
    /// Arrays and objects that may be open at once in what is read. Values are copied, compared, written and given back by recursion; an NCCO
    /// of Vonage's own options has 5.
    package static let maximumDepth = 64

    /// - Throws: `NCCOError` at a name that comes twice in one object, and at what is nested too deep.
    init(_ node: JSONNode, action: String?, option: String, path: String) throws(NCCOError) {
        do throws(JSONValueFault) { try self.init(node, depth: 0) } catch {
            let path = path + error.steps.reversed().joined()
            throw NCCOError(action: action, option: option, value: error.value, allowed: error.allowed, path: path)
        }
    }

    private init(_ node: JSONNode, depth: Int) throws(JSONValueFault) {
        guard depth <= Self.maximumDepth else {
            throw JSONValueFault(value: "nested deeper", allowed: "at most \(Self.maximumDepth) levels deep")
        }
        switch node.value {
        case .string(let string): self = .string(string.value)
        case .number(let text): self = .number(JSONNumber(grammatical: text))
        case .bool(let bool): self = .bool(bool)
        case .null: self = .null
        case .array(let elements):
            var values: [JSONValue] = []
            for (index, element) in elements.enumerated() {
                do throws(JSONValueFault) { values.append(try JSONValue(element, depth: depth + 1)) } catch {
                    throw error.below("[\(index)]")
                }
            }
            self = .array(values)
        case .object(let members):
            var names = UniqueNames()
            var values: [JSONObject.Member] = []
            for member in members {
                let name = member.name.value
                do throws(JSONValueFault) {
                    guard names.add(name) else { throw JSONValueFault(value: "given twice", allowed: "given once") }
                    values.append(JSONObject.Member(name: name, value: try JSONValue(member.node, depth: depth + 1)))
                } catch {
                    throw error.below(pathStep(name))
                }
            }
            self = .object(JSONObject(unique: values))
        }
    }

    func encode(into output: inout [UInt8]) {
        switch self {
        case .string(let text): output.appendJSONString(text)
        case .number(let number): output.append(contentsOf: number.description.utf8)
        case .bool(let bool): output.append(contentsOf: (bool ? "true" : "false").utf8)
        case .null: output.append(contentsOf: "null".utf8)
        case .array(let values):
            output.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                value.encode(into: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let object): object.encode(into: &output)
        }
    }
}

/// What is wrong inside a value. Its place is put together on the way out, so that good values pay nothing for it.
private struct JSONValueFault: Error {
    let value: String
    let allowed: String
    /// Steps of the path, the innermost first.
    var steps: [String] = []

    func below(_ step: String) -> JSONValueFault { JSONValueFault(value: value, allowed: allowed, steps: steps + [step]) }
}
