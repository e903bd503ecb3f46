// SPDX-License-Identifier: MIT
//
// The request that a record of the log came from, made again: what asked for an NCCO as GET with the logged parameters, an event as POST with the
// logged bytes. The log holds parameters without saying whether they came in a query or in a body; a flow reads both alike.

import HTTPServer
import HTTPWire
import JSON
import NCCO
package import VonageAuth

package struct ReplayRequest: Sendable {
    package let seq: UInt64
    /// When it arrived, in milliseconds since 1970.
    package let at: Int64
    package let call: String?
    /// `GET` or `POST`.
    package let method: String
    /// Without its query.
    package let path: String
    /// With its query.
    package let target: String
    /// nil for a GET.
    package let body: [UInt8]?
    /// What was sent for it, with its numbers swapped; nil where that was no NCCO.
    package let ncco: [UInt8]?
    /// Who called whom, and an event's status, with numbers swapped.
    let status: String?
    let from: String?
    let to: String?

    /// Nil for a record that nothing can be made of again: another kind, or bytes that were no text, which the log shows with U+FFFD.
    package init?(_ record: CallRecord, _ swap: inout NumberSwap) {
        guard let kind = record.text(.kind).flatMap(RecordKind.init), kind != .malformed, !record.hasRaw else { return nil }
        let isEvent = kind == .event
        guard let logged = record.json(isEvent ? .event : .request), logged.first == UInt8(ascii: "{") || isEvent else { return nil }
        seq = record.seq
        at = record.at
        call = record.call
        let json = swap.swap(Array(logged))
        // `answer#3 connect-phone` is what the flow `answer` said.
        let flow = record.text(.flow).map { String($0.prefix { $0 != "#" }) }
        let name = flow ?? (isEvent ? "event" : kind.rawValue)
        path = "/voice/" + Self.escaped(Array(name.utf8))
        method = isEvent ? "POST" : "GET"
        body = isEvent ? json : nil
        target = isEvent ? path : path + Self.query(json)
        ncco = record.json(.ncco).map { swap.swap(Array($0)) }
        status = isEvent ? record.text(.status) : nil
        from = Self.text("from_user", in: json) ?? Self.text("from", in: json)
        to = Self.text("to", in: json)
    }

    /// The field that signs it as Vonage does, at this time; nil where OpenSSL fails.
    package func authorization(by signer: WebhookSigner) -> String? {
        let query = String(target.drop { $0 != "?" }.dropFirst())
        return try? signer.authorization(
            for: body.map { .post(body: $0, query: query) } ?? .get(query: query), id: "replay-\(seq)", now: Clock.system.wall() / 1000)
    }

    /// `POST /voice/event answered ********100 → ********101`.
    package func line(_ masking: Masking = .masked) -> String {
        var parts = ["\(method) \(path)"]
        if let status { parts.append(word(masking.shown(status))) }
        if from != nil || to != nil { parts.append("\(party(from, masking)) → \(party(to, masking))") }
        return parts.joined(separator: " ")
    }

    /// Whether an answer is the NCCO that was sent then; nil where none was.
    package func isSameNCCO(_ answer: [UInt8], _ swap: NumberSwap) -> Bool? {
        guard let ncco else { return nil }
        var minified: [UInt8] = []
        guard (try? minifyJSON(answer.span, into: &minified)) != nil else { return false }
        return swap.swap(answer: minified) == ncco
    }

    /// A parameter that is JSON is sent as its text, which a flow looks into all the same; null means that there is none, and is left out.
    private static func query(_ json: [UInt8]) -> String {
        var query = ""
        var members = JSONMembers(in: json.span)
        while let member = members.next(in: json.span) {
            guard json[member.value.lowerBound] != UInt8(ascii: "n") else { continue }
            var name: [UInt8] = []
            decodeJSONString(member.name, in: json.span, into: &name)
            query += "\(query.isEmpty ? "?" : "&")\(escaped(name))=\(escaped(plain(member.value, in: json)))"
        }
        return query
    }

    /// What a string means, else the JSON text.
    private static func plain(_ value: Range<Int>, in json: [UInt8]) -> [UInt8] {
        guard json[value.lowerBound] == UInt8(ascii: "\"") else { return Array(json[value]) }
        var text: [UInt8] = []
        decodeJSONString(value.lowerBound + 1..<value.upperBound - 1, in: json.span, into: &text)
        return text
    }

    /// The first member of this name that is a text or a number, and not empty.
    private static func text(_ name: String, in json: [UInt8]) -> String? {
        var members = JSONMembers(in: json.span)
        while let member = members.next(in: json.span) {
            guard json[member.name].elementsEqual(name.utf8) else { continue }
            guard json[member.value.lowerBound] == UInt8(ascii: "\"") || json[member.value.lowerBound].isDecimalDigit else { return nil }
            let text = plain(member.value, in: json)
            return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
        }
        return nil
    }

    /// Percent escapes for all but the `unreserved` of RFC 3986 §2.3.
    private static func escaped(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                text.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension CallRecord {
    /// The bytes were no text, or could not be read, and stand beside what was understood of them.
    fileprivate var hasRaw: Bool {
        var members = JSONMembers(in: line.span)
        while let member = members.next(in: line.span) {
            if line.span.equalsExactly("raw", at: member.name) || line.span.equalsExactly("raw_base64", at: member.name) { return true }
        }
        return false
    }
}
