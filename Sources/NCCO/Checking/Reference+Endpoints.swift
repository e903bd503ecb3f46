// SPDX-License-Identifier: MIT
//
// Whom `connect` can dial, as tables.

extension Reference {
    /// In the order of the reference.
    package static let endpoints: [ObjectRule] = [phone, app, webSocket, sip, vbc]

    static func endpoint(_ type: String) -> ObjectRule? { endpoints.first { $0.name == type } }

    static let onAnswer = ObjectRule(
        "onAnswer", "What the callee hears first",
        [
            OptionRule("url", .url, required: true, "answers with an NCCO that runs for the callee alone before the two are joined"),
            OptionRule("ringbackTone", .url, "sound that the caller hears meanwhile", also: ["ringback"]),
        ])

    static let phone = ObjectRule(
        "phone", "A telephone",
        [
            OptionRule(
                "number", .phoneNumber, required: true, "number to dial: 7 to 15 digits with the country code, without +"),
            OptionRule("dtmfAnswer", .dtmf, "keys to press when answered; p is a pause of half a second"),
            OptionRule("onAnswer", .object(onAnswer), "what the callee hears before being joined"),
            OptionRule("shaken", .text, "identity header of STIR/SHAKEN"),
        ])

    static let app = ObjectRule(
        "app", "A user of the application",
        [OptionRule("user", .userName, required: true, "name of the user, not the id")])

    static let authorization = ObjectRule(
        "authorization", "How the WebSocket's server knows Vonage",
        [
            OptionRule(
                "type", .choice(["vonage", "custom"]), standard: "vonage", "vonage sends the token of signed webhooks, custom sends value"),
            OptionRule("value", .text, "the Authorization header field, with type custom"),
        ])

    static let webSocket = ObjectRule(
        "websocket", "A WebSocket server that hears and speaks",
        [
            OptionRule("uri", .webSocketURL, required: true, "where to connect, ws:// or wss://"),
            OptionRule(
                "content-type", .choice(["audio/l16;rate=8000", "audio/l16;rate=16000", "audio/l16;rate=24000"]), required: true,
                "format of the sound"),
            OptionRule("headers", .freeObject, "sent with the first message, at most 512 bytes"),
            OptionRule("authorization", .object(authorization), "how the server knows Vonage"),
        ])

    static let standardHeaders = ObjectRule(
        "standardHeaders", "Header fields that keep their name", [OptionRule("User-to-User", .text, "RFC 7433, at most 256 characters")])

    static let sip = ObjectRule(
        "sip", "A SIP endpoint: uri, or user and domain",
        [
            OptionRule("uri", .sipURI, "such as sip:user@host; may end with ;transport=tls and ;media=srtp"),
            OptionRule("user", .text, "user at the SIP trunk; needs domain"),
            OptionRule("domain", .text, "name of the SIP trunk in the dashboard; needs user"),
            OptionRule("headers", .textObject, "each is sent as X-NAME"),
            OptionRule(
                "standardHeaders", .object(standardHeaders), "header fields that keep their name", also: ["standard_headers"]),
        ])

    static let vbc = ObjectRule(
        "vbc", "An extension of Vonage Business Communications",
        [OptionRule("extension", .text, required: true, "extension to dial")])
}
