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
    /// It has `original_request`.
    private(set) var isFallback = false
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
            case .originalRequest: isFallback = true
            case nil: break
            }
        }
        leg = leg ?? callUUID
        guard status == nil else { return }
        kind =
            isTransfer ? "transfer" : hasRecording ? "record" : hasReason ? "error" : hasPayload ? "notify" : hasInput ? "input" : nil
    }

    /// Whether a request to a flow is an event, and no answer request that has a parameter of an event's name, such as somebody's own `status`.
    /// A fallback request has the fields of what failed, which may be an event's, but it asks what to do with the call.
    func isEvent(_ json: Span<UInt8>) -> Bool {
        if isFallback { return false }
        if let status { return CallStatus.isKnown(status, in: json) || (to == nil && from == nil) }
        switch kind.map({ "\($0)" }) {
        case "input", "notify", "transfer", "record": return true
        case "error": return to == nil && from == nil
        default: return false
        }
    }

    /// Whether what it is answered with may be an NCCO.
    ///
    /// - Source: Vonage Voice API, webhook reference: input, notify, the states of a synchronous connect that failed, a WebSocket that was
    ///   disconnected, and machine detection. What Vonage does not ask for it ignores.
    func mayCarryNCCO(_ json: Span<UInt8>) -> Bool {
        if let status { return CallStatus.asksForNext(status, in: json) }
        return kind.map { "\($0)" == "input" || "\($0)" == "notify" } ?? false
    }

    /// Appends `"kind":"event","call":…,"leg":…,"status":…,"signature":…`.
    func appendHead(json: Span<UInt8>, _ signature: WebhookSignature, to output: inout [UInt8]) {
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
        output.append(signature.member)
    }
}

/// What `status` says in events of Vonage's.
private enum CallStatus {
    private static let asking: [StaticString] = [
        "\"busy\"", "\"cancelled\"", "\"timeout\"", "\"unanswered\"", "\"rejected\"", "\"failed\"", "\"disconnected\"", "\"human\"",
        "\"machine\"",
    ]
    private static let others: [StaticString] = [
        "\"started\"", "\"ringing\"", "\"answered\"", "\"completed\"", "\"transcribed\"", "\"success\"", "\"failure\"",
    ]

    static func asksForNext(_ status: Range<Int>, in json: Span<UInt8>) -> Bool {
        for word in asking where json.equalsExactly(word, at: status) { return true }
        return false
    }

    static func isKnown(_ status: Range<Int>, in json: Span<UInt8>) -> Bool {
        if asksForNext(status, in: json) { return true }
        for word in others where json.equalsExactly(word, at: status) { return true }
        return false
    }
}

/// The keys of an event that are looked at.
private enum Name {
    case to, uuid, from, type, dtmf, status, reason, speech, payload
    case callUUID, recordingURL, originalRequest, conversationUUID, conversationUUIDFrom

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
        case 16 where json.equalsExactly("original_request", at: name): self = .originalRequest
        case 17 where json.equalsExactly("conversation_uuid", at: name): self = .conversationUUID
        case 22 where json.equalsExactly("conversation_uuid_from", at: name): self = .conversationUUIDFrom
        default: return nil
        }
    }
}
