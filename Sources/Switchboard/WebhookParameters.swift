// SPDX-License-Identifier: MIT
//
// The parameters of an answer request, wherever they stand: query, JSON body or form body. The body wins on a clash, and the first value where
// a name comes twice, so the body is read first and look-ups take the first match. One value of this type is used for all requests of a worker.

import HTTPWire
import JSON
import NCCO

struct WebhookParameters {
    enum BodyKind { case empty, json, form }

    /// Names and values as decoded text; a JSON object or array as its text.
    private(set) var decoded = Parameters()
    /// Parameters that are JSON and no text in the request, by their place in `decoded.entries`: numbers, booleans, objects, arrays, nulls.
    private var raw: Set<Int> = []
    /// A form body held what is no UTF-8.
    private(set) var bodyIsLossy = false
    private var json: [UInt8] = []
    private var scratch: [UInt8] = []

    /// JSON by its looks, whatever the content type says: proxies relabel it.
    static func kind(of body: Span<UInt8>, contentType: Range<Int>?, in bytes: Span<UInt8>) -> BodyKind {
        var at = 0
        while at < body.count, body[at] == 0x20 || body[at] == 0x09 || body[at] == 0x0A || body[at] == 0x0D { at += 1 }
        guard at < body.count else { return .empty }
        if body[at] == UInt8(ascii: "{") || body[at] == UInt8(ascii: "[") { return .json }
        guard let contentType else { return .json }
        var end = contentType.lowerBound
        while end < contentType.upperBound, bytes[end] != UInt8(ascii: ";"), bytes[end] != UInt8(ascii: " ") { end += 1 }
        return bytes.equalsIgnoringCase("application/x-www-form-urlencoded", at: contentType.lowerBound..<end) ? .form : .json
    }

    /// - Throws: `JSONError` for a body that is neither JSON nor a form; the parameters of the query are there all the same.
    mutating func read(query: Range<Int>?, body: Span<UInt8>, contentType: Range<Int>?, in bytes: Span<UInt8>) throws(JSONError) {
        decoded.removeAll()
        if !raw.isEmpty { raw.removeAll(keepingCapacity: true) }
        bodyIsLossy = false
        defer { if let query { decoded.parse(query, in: bytes) } }
        guard !body.isEmpty else { return }
        switch Self.kind(of: body, contentType: contentType, in: bytes) {
        case .empty: break
        case .form:
            decoded.parse(0..<body.count, in: body)
            bodyIsLossy = isLossy
        case .json: try Self.readJSON(body, into: &decoded, &raw, &json, &scratch)
        }
    }

    /// The buffers are handed in one by one: while one is looked at, another is written to.
    private static func readJSON(
        _ body: Span<UInt8>, into decoded: inout Parameters, _ raw: inout Set<Int>, _ json: inout [UInt8], _ scratch: inout [UInt8]
    ) throws(JSONError) {
        json.removeAll(keepingCapacity: true)
        _ = try minifyJSON(body, into: &json)
        let text = json.span
        var members = JSONMembers(in: text)
        while let member = members.next(in: text) {
            scratch.removeAll(keepingCapacity: true)
            decodeJSONString(member.name, in: text, into: &scratch)
            let nameEnd = scratch.count
            if text[member.value.lowerBound] == UInt8(ascii: "\"") {
                decodeJSONString(member.value.lowerBound + 1..<member.value.upperBound - 1, in: text, into: &scratch)
            } else {
                raw.insert(decoded.entries.count)
                for at in member.value { scratch.append(text[at]) }
            }
            let both = scratch.span
            decoded.append(name: both.extracting(0..<nameEnd), value: both.extracting(nameEnd..<both.count))
        }
    }

    /// The place of a parameter with a value; empty texts and JSON nulls are none.
    func value(of name: StaticString) -> Range<Int>? {
        guard let value = decoded.value(of: name), !value.isEmpty else { return nil }
        if isRaw(value), decoded.bytes.span.equalsExactly("null", at: value) { return nil }
        return value
    }

    /// Whether this was JSON, and no text, in the request: the text `null` is a name, null is none.
    private func isRaw(_ value: Range<Int>) -> Bool { raw.contains { decoded.entries[$0].value == value } }

    /// What the request says of the call. The callee is `to`, else `custom_data.to`.
    mutating func call() -> Call {
        let from = value(of: "from")
        let isFromUser = value(of: "from_user") != nil
        let bytes = decoded.bytes
        var callee =
            value(of: "to").map { value in
                let text = bytes.span.extracting(value)
                return isRaw(value) ? Self.callee(json: text) : Call.Callee(text)
            } ?? .missing
        if case .missing = callee, let data = value(of: "custom_data") {
            callee = Self.callee(in: bytes.span.extracting(data), &json, &scratch)
        }
        return Call(
            callee: callee, isFromUser: isFromUser, hasFrom: from != nil && !isFromUser,
            from: from.flatMap { PhoneNumber(lenient: bytes.span.extracting($0)) })
    }

    /// `custom_data` may be an object, the text of one, or anything else: never a failure.
    private static func callee(in data: Span<UInt8>, _ json: inout [UInt8], _ scratch: inout [UInt8]) -> Call.Callee {
        json.removeAll(keepingCapacity: true)
        guard (try? minifyJSON(data, into: &json)) != nil else { return .missing }
        let text = json.span
        var members = JSONMembers(in: text)
        while let member = members.next(in: text) {
            scratch.removeAll(keepingCapacity: true)
            decodeJSONString(member.name, in: text, into: &scratch)
            guard scratch.span.equalsExactly("to", at: 0..<scratch.count) else { continue }
            if text[member.value.lowerBound] == UInt8(ascii: "\"") {
                scratch.removeAll(keepingCapacity: true)
                decodeJSONString(member.value.lowerBound + 1..<member.value.upperBound - 1, in: text, into: &scratch)
                return Call.Callee(scratch.span)
            }
            return callee(json: text.extracting(member.value))
        }
        return .missing
    }

    /// What a JSON value that is no text can mean: a number is one, null is nobody, and nothing else is dialled.
    private static func callee(json: Span<UInt8>) -> Call.Callee {
        switch json[0] {
        case UInt8(ascii: "n"): .missing
        case 0x30...0x39:
            if case .user = Call.Callee(json) { .notUsable } else { Call.Callee(json) }
        default: .notUsable
        }
    }

    /// Appends the parameters as one JSON object, for the event log; a name that came before is left out unless `keepsRepeats`.
    func appendObject(to output: inout [UInt8], keepsRepeats: Bool = false) {
        let span = decoded.bytes.span
        output.append(UInt8(ascii: "{"))
        var isFirst = true
        for (index, entry) in decoded.entries.enumerated() {
            // Looking for repeats is quadratic: past a number that no webhook has, they are kept.
            if !keepsRepeats, index < 64, decoded.entries[..<index].contains(where: { same($0.name, entry.name) }) { continue }
            if !isFirst { output.append(UInt8(ascii: ",")) }
            isFirst = false
            output.appendJSONString(span.extracting(entry.name))
            output.append(UInt8(ascii: ":"))
            if raw.contains(index) {
                output.append(contentsOf: decoded.bytes[entry.value])
            } else {
                output.appendJSONString(span.extracting(entry.value))
            }
        }
        output.append(UInt8(ascii: "}"))
    }

    private func same(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        one.count == other.count && decoded.bytes[one].elementsEqual(decoded.bytes[other])
    }

    var hasRepeatedName: Bool { Set(decoded.entries.map { decoded.bytes[$0.name] }).count < decoded.entries.count }

    /// Whether a decoded byte sequence is no UTF-8, so that it is shown with U+FFFD.
    var isLossy: Bool { !isValidUTF8(decoded.bytes.span) }

    func appendJSONString(of name: StaticString, to output: inout [UInt8]) {
        if let value = value(of: name) {
            output.appendJSONString(decoded.bytes.span.extracting(value))
        } else {
            output.append("null")
        }
    }
}
