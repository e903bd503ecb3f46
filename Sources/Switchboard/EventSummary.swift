// SPDX-License-Identifier: MIT
//
// What of an event stands in front of its log line, read from the minified body without a tree. How the kinds are told apart is what Vonage's
// server SDKs do: an event with a status is a call state; the others are known by a field that only they have.

import HTTPWire
import JSON

struct EventSummary {
    /// Raw JSON text of a string or number; nil where not sent, null, or nothing a name could be.
    private(set) var call: Range<Int>?
    private(set) var leg: Range<Int>?
    private(set) var status: Range<Int>?
    private(set) var from: Range<Int>?
    private(set) var to: Range<Int>?
    /// Without a status, the kind that was worked out.
    private(set) var kind: StaticString?

    init(_ json: Span<UInt8>) {
        var callUUID: Range<Int>?
        var (hasRecording, hasReason, hasPayload, hasInput, isTransfer) = (false, false, false, false, false)
        var members = JSONMembers(in: json)
        while let member = members.next(in: json) {
            func scalar() -> Range<Int>? {
                switch json[member.value.lowerBound] {
                case UInt8(ascii: "\""), UInt8(ascii: "-"), 0x30...0x39: member.value
                default: nil
                }
            }
            // The first value counts where a key comes twice.
            switch Name(member.name, in: json) {
            case .to: to = to ?? scalar()
            case .uuid: leg = leg ?? scalar()
            case .callUUID: callUUID = callUUID ?? scalar()
            case .from: from = from ?? scalar()
            case .status: status = status ?? scalar()
            case .conversationUUID: call = call ?? scalar()
            case .type: isTransfer = isTransfer || json.equalsExactly("\"transfer\"", at: member.value)
            case .conversationUUIDFrom: isTransfer = true
            case .dtmf, .speech: hasInput = true
            case .reason: hasReason = true
            case .payload: hasPayload = true
            case .recordingURL: hasRecording = true
            case nil: break
            }
        }
        leg = leg ?? callUUID
        guard status == nil else { return }
        kind =
            isTransfer ? "transfer" : hasRecording ? "record" : hasReason ? "error" : hasPayload ? "notify" : hasInput ? "input" : nil
    }

    /// Appends `"kind":"event","call":…,"leg":…,"status":…,"signature":"off"`.
    func appendHead(json: Span<UInt8>, to output: inout [UInt8]) {
        func append(_ value: Range<Int>?) {
            guard let value else { return output.append("null") }
            // A number becomes the text of it, so that readers find one type.
            let quoted = json[value.lowerBound] == UInt8(ascii: "\"")
            if !quoted { output.append(UInt8(ascii: "\"")) }
            for at in value { output.append(json[at]) }
            if !quoted { output.append(UInt8(ascii: "\"")) }
        }
        output.append(RecordKind.event.opening)
        append(call)
        output.append(#","leg":"#)
        append(leg)
        output.append(#","status":"#)
        if status == nil, let kind { output.appendJSONString("\(kind)") } else { append(status) }
        output.append(#","signature":"off""#)
    }
}

/// The keys of an event that are looked at.
private enum Name {
    case to, uuid, from, type, dtmf, status, reason, speech, payload
    case callUUID, recordingURL, conversationUUID, conversationUUIDFrom

    /// Nil for any other key. `range` lies inside the quotes; a key that is written with escapes is the key that it means.
    init?(_ range: Range<Int>, in json: Span<UInt8>) {
        for at in range where json[at] == UInt8(ascii: "\\") {
            var decoded: [UInt8] = []
            decodeJSONString(range, in: json, into: &decoded)
            self.init(plain: 0..<decoded.count, in: decoded.span)
            return
        }
        self.init(plain: range, in: json)
    }

    private init?(plain name: Range<Int>, in json: Span<UInt8>) {
        switch name.count {
        case 2 where json.equalsExactly("to", at: name): self = .to
        case 4 where json.equalsExactly("uuid", at: name): self = .uuid
        case 4 where json.equalsExactly("from", at: name): self = .from
        case 4 where json.equalsExactly("type", at: name): self = .type
        case 4 where json.equalsExactly("dtmf", at: name): self = .dtmf
        case 6 where json.equalsExactly("status", at: name): self = .status
        case 6 where json.equalsExactly("reason", at: name): self = .reason
        case 6 where json.equalsExactly("speech", at: name): self = .speech
        case 7 where json.equalsExactly("payload", at: name): self = .payload
        case 9 where json.equalsExactly("call_uuid", at: name): self = .callUUID
        case 13 where json.equalsExactly("recording_url", at: name): self = .recordingURL
        case 17 where json.equalsExactly("conversation_uuid", at: name): self = .conversationUUID
        case 22 where json.equalsExactly("conversation_uuid_from", at: name): self = .conversationUUIDFrom
        default: return nil
        }
    }
}
