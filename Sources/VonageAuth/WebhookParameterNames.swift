// SPDX-License-Identifier: MIT
//
// The parameters that Vonage's webhooks are known to have. What stands in a query before the first of them is the answer URL's own.

/// Names of the parameters in answer requests, fallback requests and events.
public enum WebhookParameterNames {
    /// All that are known, without the SIP header fields.
    ///
    /// - Source: Vonage Voice API, webhook reference.
    public static let all = [
        "to", "from", "from_user", "endpoint_type", "uuid", "conversation_uuid", "region_url", "custom_data", "reason", "original_request",
        "status", "direction", "timestamp", "sip_code", "detail", "call_uuid", "sub_state", "start_time", "end_time", "duration", "rate",
        "price", "network", "disconnected_by", "recording_url", "recording_uuid", "size", "type", "transcription_url", "dtmf", "speech",
        "payload", "conversation_uuid_from", "conversation_uuid_to", "headers", "client_ref", "client_reference",
    ]

    /// Whether Vonage sends a parameter of this name; `SipHeader_…` stands for each header field of a SIP call.
    public static func isKnown(_ name: String) -> Bool { all.contains(name) || name.hasPrefix("SipHeader_") }

    /// Whether somebody who looks for what Vonage sends would find this: a known name, or one with a member of it behind a dot.
    package static func mayBeTakenForVonages(_ name: String) -> Bool {
        isKnown(name) || isKnown(String(name.prefix { $0 != "." && $0 != "[" }))
    }
}
