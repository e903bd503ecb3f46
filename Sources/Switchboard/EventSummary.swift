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
            switch member.name.count {
            case 2 where json.equalsExactly("to", at: member.name): to = to ?? scalar()
            case 4 where json.equalsExactly("uuid", at: member.name): leg = leg ?? scalar()
            case 4 where json.equalsExactly("from", at: member.name): from = from ?? scalar()
            case 4 where json.equalsExactly("type", at: member.name):
                if json.equalsExactly("\"transfer\"", at: member.value) { isTransfer = true }
            case 4 where json.equalsExactly("dtmf", at: member.name): hasInput = true
            case 6 where json.equalsExactly("status", at: member.name): status = status ?? scalar()
            case 6 where json.equalsExactly("reason", at: member.name): hasReason = true
            case 6 where json.equalsExactly("speech", at: member.name): hasInput = true
            case 7 where json.equalsExactly("payload", at: member.name): hasPayload = true
            case 9 where json.equalsExactly("call_uuid", at: member.name): leg = leg ?? scalar()
            case 13 where json.equalsExactly("recording_url", at: member.name): hasRecording = true
            case 17 where json.equalsExactly("conversation_uuid", at: member.name): call = call ?? scalar()
            case 22 where json.equalsExactly("conversation_uuid_from", at: member.name): isTransfer = true
            default: break
            }
        }
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
