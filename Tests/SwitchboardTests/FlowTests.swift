// SPDX-License-Identifier: MIT

import Foundation
import JSON
import NCCO
import Testing

@testable import Switchboard

struct FlowTests {
    private static let ours = ["14155550100", "14155550111"]

    /// `from` and `to` as texts; the flow has two numbers of its own.
    struct Vector: Sendable, CustomTestStringConvertible {
        let to, from: String?
        let isFromUser: Bool
        let flow: String
        var hasNumbers = true
        var testDescription: String {
            "\(isFromUser ? "user" : from ?? "nobody") to \(to ?? "nobody")\(hasNumbers ? "" : ", no number of ours")"
        }

        init(_ to: String?, from: String? = nil, user: Bool = false, _ flow: String, numbers: Bool = true) {
            (self.to, self.from, isFromUser, self.flow, hasNumbers) = (to, from, user, flow, numbers)
        }
    }

    private static let vectors = [
        Vector("14155550100", from: "447700900999", "answer#1 ring-user"),
        Vector("14155550111", from: "447700900999", "answer#1 ring-user"),
        Vector("14155550100", from: "anonymous", "answer#1 ring-user"), Vector("14155550100", from: "14155550111", "answer#1 ring-user"),
        Vector("447700900123", from: "447700900999", "answer#1 ring-user", numbers: false),
        Vector(nil, from: "447700900999", "answer#1 ring-user", numbers: false),
        Vector("Bob", user: true, "answer#2 connect-user"), Vector("Bob", from: "447700900999", user: true, "answer#2 connect-user"),
        Vector("447700900123", user: true, "answer#3 connect-phone"), Vector("14155550100", user: true, "answer#3 connect-phone"),
        Vector("447700900123", "answer#4 connect-phone"), Vector("447700900123", from: "14155550100", "answer#5 connect-phone"),
        Vector("447700900123", from: "447700900999", "answer#6 cannot-connect"), Vector("Bob", "answer#6 cannot-connect"),
        Vector("Bob", from: "447700900999", "answer#6 cannot-connect"), Vector(nil, user: true, "answer#6 cannot-connect"),
        Vector(nil, "answer#6 cannot-connect"),
        Vector("911", user: true, "answer#6 cannot-connect"), Vector("1234567890123456", user: true, "answer#6 cannot-connect"),
        Vector("\u{0}", user: true, "answer#6 cannot-connect"),
    ]

    @Test(arguments: vectors)
    func `the first rule that holds decides, and its template is a valid NCCO`(_ vector: Vector) throws {
        let bench = try FlowBench.builtIn(numbers: vector.hasNumbers ? Self.ours : [])
        func member(_ name: String, _ value: String?) -> String? {
            value.map { "\"\(name)\":\"\($0 == "\u{0}" ? "\\u0000" : $0)\"" }
        }
        let members = [member("to", vector.to), member("from", vector.from), vector.isFromUser ? #""from_user":"Carol""# : nil]
        let answer = try #require(try bench.ask(body: "{" + members.compactMap(\.self).joined(separator: ",") + "}"))
        #expect(answer.flow == vector.flow)
        #expect(answer.isRefusal == (vector.flow == "answer#6 cannot-connect"))
        #expect(answer.isRefusal == (answer.warning != nil && vector.from != "anonymous"))
        #expect(NCCO.check(answer.ncco).allSatisfy { $0.severity != .error }, "\(answer.ncco)")
        var minified: [UInt8] = []
        _ = try minifyJSON(Array(answer.ncco.utf8).span, into: &minified)
        #expect(minified == Array(answer.ncco.utf8))
        if let to = vector.to, answer.flow.hasSuffix("connect-phone") || answer.flow.hasSuffix("connect-user") {
            #expect(answer.ncco.contains("\"\(to)\""))
        }
        #expect(answer.ncco.contains("\"from\":\"14155550100\"") == (vector.hasNumbers && answer.flow.hasSuffix("connect-phone")))
    }

    @Test(
        arguments: [
            ("447700900123", .stranger), ("+44 (7700) 900-123", .stranger), ("tel:+447700900123", .stranger), ("1234567", .stranger),
            ("112", .shortNumber), ("+1 1 2", .shortNumber), ("123456", .shortNumber), ("0", .shortNumber),
            ("1234567890123456", .longNumber), ("+", .notUsable), ("()", .notUsable), ("0123456789", .notUsable), ("Bob", .userByPhone),
            ("112a", .userByPhone), ("sip:a@b", .userByPhone), ("a\nb", .notUsable), ("٤٤٧٧٠٠٩٠٠١٢٣", .notUsable),
        ] as [(String, Refusal)])
    func `a callee that cannot be called has a reason`(_ text: String, _ refusal: Refusal) {
        #expect(Refusal(callee: Array(text.utf8).span, isJSON: false) == refusal)
        #expect(Refusal(callee: nil, isJSON: false) == .noCallee)
        #expect(Refusal(callee: Array("{}".utf8).span, isJSON: true) == .notUsable)
    }

    @Test func `the shipped folder holds the built-in flow`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../nccos")
        func text(_ name: String) throws -> String { try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8) }
        for (name, template) in DefaultFlows.templates { #expect(try text("\(name).json") == template + "\n", "\(name)") }
        func rules(_ text: String, _ flow: String) throws -> String {
            let tree = try parseJSON(Array(text.utf8).span)
            guard case .object(let members) = tree.value,
                case .object(let flows)? = members.first(where: { $0.name.value == "flows" })?.node.value,
                let node = flows.first(where: { $0.name.value == flow })?.node
            else { return "none" }
            var bytes: [UInt8] = []
            node.encode(into: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
        for flow in ["answer", "fallback"] {
            #expect(try rules(text("flows.json"), flow) == rules(DefaultFlows.flows, flow))
        }
    }
}
