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

    private func flow(numbers: [String] = ours) throws -> BuiltInFlow {
        try BuiltInFlow(numbers: numbers.compactMap { PhoneNumber($0) }, inboundUser: try #require(UserName("Alice")))
    }

    @Test(arguments: vectors)
    func `the first rule that holds decides, and its template is valid JSON`(_ vector: Vector) throws {
        let flow = try flow(numbers: vector.hasNumbers ? Self.ours : [])
        let from = vector.from.map { Array($0.utf8) }
        let call = Call(
            callee: vector.to.map { Call.Callee(Array($0.utf8).span) } ?? .missing, isFromUser: vector.isFromUser,
            hasFrom: from != nil && !vector.isFromUser, from: from.flatMap { PhoneNumber(lenient: $0.span) })
        let decision = flow.decide(call)
        #expect(decision.template.flow == vector.flow)
        #expect(decision.template.isRefusal == (vector.flow == "answer#6 cannot-connect"))
        var body: [UInt8] = []
        decision.template.render(decision.gap, into: &body)
        var minified: [UInt8] = []
        _ = try minifyJSON(body.span, into: &minified)
        #expect(minified == body)
        let text = String(decoding: body, as: UTF8.self)
        #expect(!text.contains("999999999999999") && !text.contains("switchboard:gap"))
        if let to = vector.to, decision.template.flow.hasSuffix("connect-phone") || decision.template.flow.hasSuffix("connect-user") {
            #expect(text.contains("\"\(to)\""))
        }
        #expect(text.contains("\"from\":\"14155550100\"") == (vector.hasNumbers && decision.template.flow.hasSuffix("connect-phone")))
    }

    @Test func `the same value may stand in the template and in the gap`() throws {
        let user = try #require(UserName("switchboard:gap"))
        let flow = try BuiltInFlow(numbers: [try #require(PhoneNumber("999999999999999"))], inboundUser: user)
        var body: [UInt8] = []
        let number = try #require(PhoneNumber("447700900123"))
        for (callee, from) in [(Call.Callee.phone(number), nil), (.phone(try #require(PhoneNumber("999999999999999"))), number)] {
            let decision = flow.decide(Call(callee: callee, isFromUser: from == nil, hasFrom: from != nil, from: from))
            body = []
            decision.template.render(decision.gap, into: &body)
            let text = String(decoding: body, as: UTF8.self)
            let expected =
                from == nil
                ? #"[{"action":"talk","text":"Please wait while we connect you."},{"action":"connect","from":"999999999999999","endpoint":[{"type":"phone","number":"447700900123"}]}]"#
                : #"[{"action":"connect","from":"447700900123","timeout":45,"endpoint":[{"type":"app","user":"switchboard:gap"}]},"#
            #expect(text.hasPrefix(expected), "\(text)")
        }
    }

    @Test(arguments: [
        ("447700900123", "phone"), ("+44 (7700) 900-123", "phone"), ("tel:+447700900123", "phone"), ("00447700900123", "phone"),
        ("1234567", "phone"),
        ("123456789012345", "phone"), ("112", "tooShort"), ("+1 1 2", "tooShort"), ("123456", "tooShort"), ("0", "tooShort"),
        ("1234567890123456", "tooLong"),
        ("+", "notUsable"), ("()", "notUsable"), ("0123456789", "notUsable"), ("", "missing"), (" \t ", "missing"), ("Bob", "user"),
        ("112a", "user"), ("sip:a@b", "user"),
        ("a\nb", "notUsable"), ("٤٤٧٧٠٠٩٠٠١٢٣", "notUsable"),
    ])
    func `a text is a number, a name, or has a reason why not`(_ text: String, _ kind: String) {
        let found =
            switch Call.Callee(Array(text.utf8).span) {
            case .phone: "phone"
            case .user: "user"
            case .tooShort: "tooShort"
            case .tooLong: "tooLong"
            case .notUsable: "notUsable"
            case .missing: "missing"
            }
        #expect(found == kind)
    }
}
