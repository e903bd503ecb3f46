// SPDX-License-Identifier: MIT

import HTTPWire
import JSON
import NCCO
import Testing

@testable import Switchboard

struct ParameterTests {
    private static let form = "application/x-www-form-urlencoded"

    private func read(query: String? = nil, body: String = "", type: String? = nil) throws -> WebhookParameters {
        var parameters = WebhookParameters()
        // What was read before leaves nothing behind.
        let old = Array(#"{"old":{"a":1},"to":2}"#.utf8)
        try parameters.read(query: nil, body: old.span, contentType: nil, in: Span())
        let text = Array("\(query ?? "")\(type ?? "")".utf8)
        let split = query?.utf8.count ?? 0
        try parameters.read(
            query: query.map { _ in 0..<split }, body: Array(body.utf8).span, contentType: type.map { _ in split..<text.count },
            in: text.span)
        return parameters
    }

    private func object(_ parameters: WebhookParameters, keepsRepeats: Bool = false) -> String {
        var output: [UInt8] = []
        parameters.appendObject(to: &output, keepsRepeats: keepsRepeats)
        return String(decoding: output, as: UTF8.self)
    }

    @Test func `all places are read, the body wins, and the first of equal names`() throws {
        #expect(object(try read(query: "a=1&b=2&a=3")) == #"{"a":"1","b":"2"}"#)
        #expect(object(try read(query: "a=1&c=%22", body: #"{"a":2,"b":[1 , null]}"#)) == #"{"a":2,"b":[1,null],"c":"\""}"#)
        #expect(object(try read(query: "a=1", body: "a=2&a=3", type: Self.form + "; charset=utf-8")) == #"{"a":"2"}"#)
        #expect(object(try read(query: "a=1&a=2"), keepsRepeats: true) == #"{"a":"1","a":"2"}"#)
        #expect(object(try read(body: #"{"a":"\u0041\n","n":null}"#)) == #"{"a":"A\n","n":null}"#)
        #expect(object(try read()) == "{}")
    }

    @Test func `a body is JSON by its looks, else what the content type says`() throws {
        func kind(_ body: String, _ type: String?) -> WebhookParameters.BodyKind {
            let text = Array((type ?? "").utf8)
            return WebhookParameters.kind(of: Array(body.utf8).span, contentType: type.map { _ in 0..<text.count }, in: text.span)
        }
        #expect(kind("", nil) == .empty)
        #expect(kind(" \r\n\t", Self.form) == .empty)
        #expect(kind(" {", Self.form) == .json)
        #expect(kind("[", "text/plain") == .json)
        #expect(kind("a=1", nil) == .json)
        #expect(kind("a=1", "text/plain") == .json)
        #expect(kind("a=1", "APPLICATION/x-www-form-urlencoded ; charset=x") == .form)
        #expect(kind("a=1", Self.form + "x") == .json)
    }

    @Test func `a query is there although the body cannot be read`() throws {
        var parameters = WebhookParameters()
        let text = Array("uuid=u".utf8)
        #expect(throws: JSONError.self) { try parameters.read(query: 0..<6, body: Array("{".utf8).span, contentType: nil, in: text.span) }
        #expect(object(parameters) == #"{"uuid":"u"}"#)
    }

    @Test func `an empty text and null are no values, the text null is one`() throws {
        let parameters = try read(body: #"{"to":null,"from":"","from_user":"null","x":1}"#)
        #expect(parameters.value(of: "to") == nil)
        #expect(parameters.value(of: "from") == nil)
        #expect(parameters.value(of: "from_user") != nil)
        #expect(parameters.value(of: "nothing") == nil)
    }

    @Test(
        arguments: [
            (#"{"custom_data":{"to":"Bob"}}"#, "Bob"), (#"{"custom_data":"{\"to\":\"Bob\"}"}"#, "Bob"),
            (#"{"to":"Al","custom_data":{"to":"Bob"}}"#, "Al"),
            (#"{"to":"","custom_data":{"to":"Bob"}}"#, "Bob"), (#"{"to":null,"custom_data":{"to":"Bob"}}"#, "Bob"),
            (#"{"custom_data":{"a":{"to":"x"},"to":"\u0042ob"}}"#, "Bob"),
            (#"{"custom_data":[{"to":"Bob"}]}"#, nil), (#"{"custom_data":"to=Bob"}"#, nil), (#"{"custom_data":{"to":null}}"#, nil),
            (#"{"custom_data":{"to":["Bob"]}}"#, nil),
            (#"{"to":{"a":1}}"#, nil), (#"{"to":true}"#, nil),
        ] as [(String, String?)])
    func `the callee is to, else that of the custom data`(_ body: String, _ name: String?) throws {
        var parameters = try read(body: body)
        let value = parameters.value(at: ParameterPath("to"))
        let text = value.flatMap { $0.isJSON ? nil : String(decoding: parameters.bytes(of: $0)[$0.range], as: UTF8.self) }
        #expect(text == name)
    }

    @Test func `many parameters are all kept`() throws {
        let query = (0..<5000).map { "p\($0)=\($0)" }.joined(separator: "&")
        let text = object(try read(query: query + "&p0=again"))
        #expect(text.contains(#""p4999":"4999""#))
        #expect(text.utf8.count > 5000 * 10)
    }

    @Test func `bytes that are no UTF-8 are known, and shown replaced`() throws {
        let lossy = try read(query: "a=%ff")
        #expect(lossy.isLossy)
        #expect(object(lossy) == "{\"a\":\"\u{FFFD}\"}")
        #expect(try !read(query: "a=%C3%A9").isLossy)
    }
}
