// SPDX-License-Identifier: MIT
//
// NCCOs that Vonage's own Python package wrote, with all of its models and options: `Vectors/python.json`, made and kept up by
// `Tests/Interop`. What others send must be read, and what is written again must mean the same.

import JSON
import NCCO
import Testing

struct PythonVectorTests {
    /// One text for each NCCO of the file.
    private static func vectors() throws -> [String] {
        guard case .array(let nccos) = try tree(vector("python.json")).value else { return [] }
        return nccos.map { node in
            var bytes: [UInt8] = []
            node.encode(into: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private static func tree(_ bytes: [UInt8]) throws -> JSONNode { try parseJSON(bytes.span) }

    private static func meaning(_ json: String) throws -> Meaning { Meaning(try tree(Array(json.utf8))) }

    @Test func `there are vectors for every action`() throws {
        let vectors = try Self.vectors()
        #expect(vectors.count > 200)
        for rule in Reference.actions { #expect(vectors.contains { $0.contains("\"action\":\"\(rule.name)\"") }, "\(rule.name)") }
    }

    @Test func `what Python wrote is read, and no option of it is unknown`() throws {
        for json in try Self.vectors() {
            // What Vonage does not look at has no place in a type: machineDetection beside the advanced form, value without the type custom.
            let unknown = try NCCO(json: json).otherOptionPaths.filter {
                !$0.hasSuffix(".machineDetection") && !$0.hasSuffix(".authorization.value")
            }
            #expect(unknown == [], "\(json)")
        }
    }

    @Test func `what is written again means the same, and is read as it was`() throws {
        for json in try Self.vectors() {
            let ncco = try NCCO(json: json)
            let again = try NCCO(json: ncco.json)
            #expect(again == ncco, "\(ncco.json)")
            let (before, after) = (try Self.meaning(json), try Self.meaning(ncco.json))
            #expect(before == after, "\(json) became \(ncco.json)")
        }
    }

    @Test func `lint finds no error before and after`() throws {
        for json in try Self.vectors() {
            for text in [json, try NCCO(json: json).json] {
                let errors = NCCO.check(text).filter { $0.severity == .error }
                #expect(errors == [], "\(text)")
            }
        }
    }
}

/// A JSON value without what makes no difference: the order of members, how a number is written, and the few forms of Python's that are
/// written again in the reference's.
private indirect enum Meaning: Equatable {
    case object([String: Meaning])
    case array([Meaning])
    case string(String)
    case number(Double)
    case bool(Bool)
    case null

    init(_ node: JSONNode) {
        switch node.value {
        case .object(let members):
            var values: [String: Meaning] = [:]
            for member in members { values[member.name.value] = Meaning(member.node) }
            self = .object(values)
            useTheReferencesForms()
        case .array(let elements): self = .array(elements.map { Meaning($0) })
        case .string(let string): self = .string(string.value)
        case .number(let text): self = .number(Double(text) ?? .nan)
        case .bool(let bool): self = .bool(bool)
        case .null: self = .null
        }
    }

    private mutating func useTheReferencesForms() {
        guard case .object(var values) = self, let action = values["action"] else { return }
        if action == .string("connect") {
            // The reference's examples have one text, Python's model a list.
            if case .array(let tones)? = values["ringbackTone"], tones.count == 1 { values["ringbackTone"] = tones[0] }
            // The default, which beside `from` cannot be anything else.
            if values["from"] != nil, values["randomFromNumber"] == .bool(false) { values["randomFromNumber"] = nil }
        } else if action == .string("input") {
            // Which of the two comes first says nothing, and empty settings neither.
            if values["type"] == .array([.string("speech"), .string("dtmf")]) {
                values["type"] = .array([.string("dtmf"), .string("speech")])
            }
            if values["dtmf"] == .object([:]) { values["dtmf"] = nil }
        }
        self = .object(values)
    }
}
