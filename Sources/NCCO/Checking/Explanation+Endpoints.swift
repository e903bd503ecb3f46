// SPDX-License-Identifier: MIT
//
// Whom `connect` rings. Secrets are not shown: neither the header field of a WebSocket's authorization nor the identity of STIR/SHAKEN.

internal import JSON

/// An endpoint in words.
struct Callee {
    /// As in `Rings the phone 447700900123`.
    private(set) var rings: String
    /// What else its options say.
    private(set) var sentences: [String] = []

    /// The option `endpoint`: a list of one, in a template maybe a placeholder.
    init(_ option: JSONNode?) {
        rings = "Rings nobody"
        guard let option else { return }
        guard case .array(let elements) = option.value else {
            rings = "Rings whom \(plainWords(option)) names"
            return
        }
        guard let node = elements.first else { return }
        guard case .object(let members) = node.value,
            case .string(let type)? = members.first(where: { $0.name.value == "type" })?.node.value,
            let rule = Reference.endpoint(type.value)
        else {
            rings = "Rings whom \(plainWords(node)) names"
            return
        }
        let words = OptionWords(members, rule)
        switch rule.name {
        case "phone": phone(words)
        case "app": rings = "Rings the app user \(words.quoted("user") ?? "?")"
        case "websocket": webSocket(words)
        case "sip": sip(words)
        default: rings = "Rings the extension \(words.quoted("extension") ?? "?") of Vonage Business Communications"
        }
    }

    private mutating func phone(_ words: OptionWords) {
        rings = "Rings the phone \(words.plain("number") ?? "?")"
        if let keys = words.plain("dtmfAnswer") {
            sentences.append("When answered the keys \(keys) are pressed; p is a pause of half a second.")
        }
        let (onAnswer, sentence) = words.object("onAnswer", Reference.onAnswer)
        if let sentence { sentences.append(sentence) }
        if let onAnswer {
            sentences.append("The callee first hears, alone, the NCCO that \(onAnswer.plain("url") ?? "?") answers with.")
            if let tone = onAnswer.plain("ringbackTone") { sentences.append("Meanwhile the caller hears \(tone).") }
        }
        if words.has("shaken") { sentences.append("The call carries an identity of STIR/SHAKEN, which is not shown here.") }
    }

    private mutating func webSocket(_ words: OptionWords) {
        rings = "Opens the WebSocket \(words.plain("uri") ?? "?"), which hears and speaks \(words.plain("content-type") ?? "?")"
        if let headers = words.plain("headers") { sentences.append("Its first message carries \(headers).") }
        let (authorization, sentence) = words.object("authorization", Reference.authorization)
        if let sentence { sentences.append(sentence) }
        guard let authorization else { return }
        let type = authorization.plainOrStandard("type")
        sentences.append(
            "It knows Vonage by an authorization of the type \(type)\(authorization.has("value") ? ", whose value is not shown here" : "")."
        )
    }

    private mutating func sip(_ words: OptionWords) {
        if let uri = words.plain("uri") {
            rings = "Rings the SIP address \(uri)"
        } else {
            rings = "Rings the user \(words.quoted("user") ?? "?") at the SIP trunk \(words.quoted("domain") ?? "?")"
        }
        if let headers = words.plain("headers") {
            sentences.append("It is sent, each with X- in front of its name, the header fields \(headers).")
        }
        if let headers = words.plain("standardHeaders") { sentences.append("It is sent the header fields \(headers).") }
    }
}
