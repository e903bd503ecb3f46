// SPDX-License-Identifier: MIT
//
// One line of the log as the model of calls needs it: the bytes, and the places of what is looked at. It is read once and without a tree.
// Keys are compared as they are meant, whether or not they are written with escapes, and the first value counts where a key comes twice, as
// when the line was written.

import EventLog
import HTTPWire
import JSON

/// A record of the log.
package struct CallRecord: Sendable {
    /// Values that are looked at: those of the line, then those of its event or request.
    enum Field: Int, CaseIterable, Sendable {
        case kind, call, leg, status, event, request, flow, ncco, error, micros
        case timestamp, from, to, fromUser, direction, detail, sipCode, duration, price, rate, network
        case disconnectedBy, startTime, endTime, subState, reason, conversationFrom, conversationTo
    }

    /// The line, without its line feed.
    package let line: [UInt8]
    /// The number of the line, which tells it from all others.
    package let seq: UInt64
    /// Arrival, in milliseconds since 1970 in UTC.
    package let at: Int64
    /// The event's own time; nil where it has none, or none that can be read.
    package let time: Int64?
    private let places: [Place]

    /// Values of a line fit 32 bits: a line has 4 MiB at most.
    private struct Place {
        var start: UInt32 = 0
        var end: UInt32 = 0
    }

    /// Nil for what is no record: no object, or one without a number and an arrival time.
    ///
    /// - Parameter line: one line of the log without its line feed. Its check is the reader's business.
    package init?(_ line: [UInt8]) {
        let text = line.span
        guard text.count <= Int(UInt32.max) else { return nil }
        var places = [Place](repeating: Place(), count: Field.allCases.count)
        func note(_ field: Field, _ range: Range<Int>) {
            guard places[field.rawValue].end == 0 else { return }
            places[field.rawValue] = Place(start: UInt32(range.lowerBound), end: UInt32(range.upperBound))
        }
        var seq: UInt64?
        var at: Int64?
        var members = JSONMembers(in: text)
        while let member = members.next(in: text) {
            switch Name(member.name, in: text) {
            case .seq: seq = seq ?? number(member.value, in: text)
            case .at where member.value.count > 2:
                at = at ?? LogTime.milliseconds(text.extracting(member.value.lowerBound + 1..<member.value.upperBound - 1))
            case .field(let field) where field.rawValue < Field.timestamp.rawValue: note(field, member.value)
            default: break
            }
        }
        guard let seq, let at else { return nil }
        let body = places[Field.event.rawValue].end > 0 ? places[Field.event.rawValue] : places[Field.request.rawValue]
        if body.end > 0 {
            members = JSONMembers(Int(body.start)..<Int(body.end), in: text)
            while let member = members.next(in: text) {
                switch Name(member.name, in: text) {
                case .field(let field) where field.rawValue >= Field.timestamp.rawValue: note(field, member.value)
                default: break
                }
            }
        }
        let stamp = places[Field.timestamp.rawValue]
        var time: Int64?
        if stamp.end > stamp.start + 2 { time = LogTime.milliseconds(text.extracting(Int(stamp.start) + 1..<Int(stamp.end) - 1)) }
        self.line = line
        self.seq = seq
        self.at = at
        // Only an event has a time of its own; an answer request may have a parameter of that name from anybody.
        self.time = places[Field.event.rawValue].end > 0 ? time : nil
        self.places = places
    }

    /// The value's JSON text; nil where there is none, or null.
    func range(_ field: Field) -> Range<Int>? {
        let place = places[field.rawValue]
        guard place.end > place.start, line[Int(place.start)] != UInt8(ascii: "n") else { return nil }
        return Int(place.start)..<Int(place.end)
    }

    /// The value's JSON text.
    func json(_ field: Field) -> ArraySlice<UInt8>? { range(field).map { line[$0] } }

    /// What a string means, or the digits of a number; nil for anything else, and for a text without letters.
    func text(_ field: Field) -> String? {
        guard let range = range(field) else { return nil }
        switch line[range.lowerBound] {
        case UInt8(ascii: "\"") where !hasEscape(range):
            return range.count > 2 ? String(decoding: line[range.lowerBound + 1..<range.upperBound - 1], as: UTF8.self) : nil
        case UInt8(ascii: "\""):
            var bytes: [UInt8] = []
            decodeJSONString(range.lowerBound + 1..<range.upperBound - 1, in: line.span, into: &bytes)
            let text = String(decoding: bytes, as: UTF8.self)
            return text.isEmpty ? nil : text
        case UInt8(ascii: "-"), 0x30...0x39: return String(decoding: line[range], as: UTF8.self)
        default: return nil
        }
    }

    private func hasEscape(_ range: Range<Int>) -> Bool {
        for at in range where line[at] == UInt8(ascii: "\\") { return true }
        return false
    }

    /// What makes two records the same event or request.
    var content: ArraySlice<UInt8> { json(.event) ?? json(.request) ?? [] }
}

private func number(_ range: Range<Int>, in text: Span<UInt8>) -> UInt64? {
    // 19 digits fit 64 bits.
    guard range.count <= 19 else { return nil }
    var number: UInt64 = 0
    for at in range {
        guard text[at].isDecimalDigit else { return nil }
        number = number * 10 + UInt64(text[at] - 0x30)
    }
    return number
}

extension UInt8 {
    var isDecimalDigit: Bool { self &- 0x30 < 10 }
}

/// The keys that are looked at.
private enum Name {
    case seq, at
    case field(CallRecord.Field)

    init?(_ range: Range<Int>, in text: Span<UInt8>) {
        for at in range where text[at] == UInt8(ascii: "\\") {
            var decoded: [UInt8] = []
            decodeJSONString(range, in: text, into: &decoded)
            self.init(plain: 0..<decoded.count, in: decoded.span)
            return
        }
        self.init(plain: range, in: text)
    }

    private init?(plain name: Range<Int>, in text: Span<UInt8>) {
        switch name.count {
        case 2 where text.equalsExactly("at", at: name): self = .at
        case 2 where text.equalsExactly("to", at: name): self = .field(.to)
        case 3 where text.equalsExactly("seq", at: name): self = .seq
        case 3 where text.equalsExactly("leg", at: name): self = .field(.leg)
        case 4 where text.equalsExactly("kind", at: name): self = .field(.kind)
        case 4 where text.equalsExactly("call", at: name): self = .field(.call)
        case 4 where text.equalsExactly("from", at: name): self = .field(.from)
        case 4 where text.equalsExactly("flow", at: name): self = .field(.flow)
        case 4 where text.equalsExactly("ncco", at: name): self = .field(.ncco)
        case 4 where text.equalsExactly("rate", at: name): self = .field(.rate)
        case 5 where text.equalsExactly("event", at: name): self = .field(.event)
        case 5 where text.equalsExactly("error", at: name): self = .field(.error)
        case 5 where text.equalsExactly("price", at: name): self = .field(.price)
        case 6 where text.equalsExactly("status", at: name): self = .field(.status)
        case 6 where text.equalsExactly("detail", at: name): self = .field(.detail)
        case 6 where text.equalsExactly("reason", at: name): self = .field(.reason)
        case 6 where text.equalsExactly("micros", at: name): self = .field(.micros)
        case 7 where text.equalsExactly("request", at: name): self = .field(.request)
        case 7 where text.equalsExactly("network", at: name): self = .field(.network)
        case 8 where text.equalsExactly("sip_code", at: name): self = .field(.sipCode)
        case 8 where text.equalsExactly("duration", at: name): self = .field(.duration)
        case 8 where text.equalsExactly("end_time", at: name): self = .field(.endTime)
        case 9 where text.equalsExactly("timestamp", at: name): self = .field(.timestamp)
        case 9 where text.equalsExactly("direction", at: name): self = .field(.direction)
        case 9 where text.equalsExactly("from_user", at: name): self = .field(.fromUser)
        case 9 where text.equalsExactly("sub_state", at: name): self = .field(.subState)
        case 10 where text.equalsExactly("start_time", at: name): self = .field(.startTime)
        case 15 where text.equalsExactly("disconnected_by", at: name): self = .field(.disconnectedBy)
        case 20 where text.equalsExactly("conversation_uuid_to", at: name): self = .field(.conversationTo)
        case 22 where text.equalsExactly("conversation_uuid_from", at: name): self = .field(.conversationFrom)
        default: return nil
        }
    }
}
