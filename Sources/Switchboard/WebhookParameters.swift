// SPDX-License-Identifier: MIT
//
// The parameters of an answer request, wherever they stand: query, JSON body or form body. The body wins on a clash, and the first value where
// a name comes twice, so the body is read first and look-ups take the first match. One value of this type is used for all requests of a worker.

import HTTPWire
import JSON
import VonageAuth

struct WebhookParameters {
    enum BodyKind { case empty, json, form }

    /// Names and values as decoded text; a JSON object or array as its text.
    private(set) var decoded = Parameters()
    /// Parameters that are JSON and no text in the request, by their place in `decoded.entries`: numbers, booleans, objects, arrays, nulls.
    private var raw: Set<Int> = []
    /// A form body held what is no UTF-8.
    private(set) var bodyIsLossy = false
    /// Values from inside of parameters that hold JSON, decoded one behind the other.
    var nested: [UInt8] = []
    /// Parameters whose text has been looked into: where that stands in `decoded.bytes`, and where in `openedBytes` its JSON; nil where it is
    /// none. Each is read once, however many paths lead into it.
    var opened: [(text: Range<Int>, json: Range<Int>?)] = []
    var openedBytes: [UInt8] = []
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

    /// - Parameter vouchesForBody: nothing but the body was signed, so that a query beside it counts only for what nobody could take for a
    ///   parameter of Vonage's.
    /// - Throws: `JSONError` for a body that is neither JSON nor a form; the parameters of the query are there all the same.
    mutating func read(
        query: Range<Int>?, body: Span<UInt8>, contentType: Range<Int>?, in bytes: Span<UInt8>, vouchesForBody: Bool = false
    ) throws(JSONError) {
        decoded.removeAll()
        nested.removeAll(keepingCapacity: true)
        opened.removeAll(keepingCapacity: true)
        openedBytes.removeAll(keepingCapacity: true)
        if !raw.isEmpty { raw.removeAll(keepingCapacity: true) }
        bodyIsLossy = false
        defer { if let query { add(query: query, in: bytes, ownOnly: vouchesForBody && !body.isEmpty) } }
        guard !body.isEmpty else { return }
        switch Self.kind(of: body, contentType: contentType, in: bytes) {
        case .empty: break
        case .form:
            decoded.parse(0..<body.count, in: body)
            bodyIsLossy = isLossy
        case .json: try Self.readJSON(body, into: &decoded, &raw, &json, &scratch)
        }
    }

    /// Adds what a query says beside what has been read; what is there already wins.
    ///
    /// - Parameter ownOnly: leaves out what could be taken for a parameter of Vonage's.
    mutating func add(query: Range<Int>, in bytes: Span<UInt8>, ownOnly: Bool = false) {
        let before = decoded.entries.count
        decoded.parse(query, in: bytes)
        guard ownOnly else { return }
        let names = decoded.bytes
        decoded.remove(from: before) { WebhookParameterNames.mayBeTakenForVonages(names.span.text($0)) }
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

    /// The first parameter of this name.
    func entry(named name: [UInt8]) -> Int? {
        let bytes = decoded.bytes.span
        for (index, entry) in decoded.entries.enumerated() where entry.name.count == name.count {
            var at = 0
            while at < name.count, bytes[entry.name.lowerBound + at] == name[at] { at += 1 }
            if at == name.count { return index }
        }
        return nil
    }

    /// Whether a parameter was JSON, and no text, in the request.
    func isJSON(_ entry: Int) -> Bool { !raw.isEmpty && raw.contains(entry) }

    /// Whether this was JSON, and no text, in the request: the text `null` is a name, null is none.
    private func isRaw(_ value: Range<Int>) -> Bool { raw.contains { decoded.entries[$0].value == value } }

    /// Whether a parameter is there that only events have, or that some have: a first look, which costs next to nothing.
    var mayBeEvent: Bool {
        let bytes = decoded.bytes.span
        for entry in decoded.entries {
            switch entry.name.count {
            case 4 where bytes.equalsExactly("dtmf", at: entry.name) || bytes.equalsExactly("type", at: entry.name): return true
            case 6 where bytes.equalsExactly("status", at: entry.name) || bytes.equalsExactly("speech", at: entry.name): return true
            case 6 where bytes.equalsExactly("reason", at: entry.name): return true
            case 7 where bytes.equalsExactly("payload", at: entry.name): return true
            case 13 where bytes.equalsExactly("recording_url", at: entry.name): return true
            case 22 where bytes.equalsExactly("conversation_uuid_from", at: entry.name): return true
            default: continue
            }
        }
        return false
    }

    /// `explain=1` in the query.
    var asksForExplanation: Bool {
        guard let value = value(of: "explain") else { return false }
        return decoded.bytes.span.equalsExactly("1", at: value)
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
