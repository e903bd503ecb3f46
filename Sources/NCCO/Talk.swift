// SPDX-License-Identifier: MIT
//
// The action `talk`. The language's shape and the numbers' ranges are checked; which styles a language has is not, since Vonage adds voices.

/// Speaks a text to the call.
///
/// - Source: Vonage Voice API, NCCO reference, `talk`.
public struct Talk: Hashable, Sendable {
    /// What is spoken, plain or as SSML within `<speak>`: 1...1500 Unicode scalars, the tags of SSML not counted.
    public let text: String
    /// The voice's language, as BCP 47 has it; Vonage takes `en-US` when absent.
    public let language: LanguageTag?
    /// The voice among those of the language, from 0; Vonage takes 0 when absent.
    public let style: Int?
    /// Whether the premium form of the voice speaks, where there is one; Vonage takes false when absent.
    public let premium: Bool?
    /// Loudness, -1...1; Vonage takes 0 when absent.
    public let level: Double?
    /// Times the text is spoken, 0 for ever; Vonage takes 1 when absent.
    public let loop: Int?
    /// Whether the listener may cut in with an `input`, which must then be the next action that is not `talk`; Vonage takes false when absent.
    public let bargeIn: Bool?

    /// Makes an action that speaks this text.
    ///
    /// - Throws: `NCCOError`, naming option, value and what is allowed, for the first option outside its range.
    public init(
        text: String, language: LanguageTag? = nil, style: Int? = nil, premium: Bool? = nil, level: Double? = nil, loop: Int? = nil,
        bargeIn: Bool? = nil
    ) throws(NCCOError) {
        guard (1...1500).contains(Self.spokenLength(of: text)) else {
            throw NCCOError(action: "talk", option: "text", value: text, allowed: "1...1500 characters to speak")
        }
        try NCCOError.check(style, atLeast: 0, action: "talk", option: "style")
        if let level, !(-1...1).contains(level) {
            throw NCCOError(action: "talk", option: "level", value: "\(level)", allowed: "-1...1")
        }
        try NCCOError.check(loop, atLeast: 0, action: "talk", option: "loop")
        self.text = text
        self.language = language
        self.style = style
        self.premium = premium
        self.level = level
        self.loop = loop
        self.bargeIn = bargeIn
    }

    /// Unicode scalars outside SSML tags. What only looks like a tag in plain text is spoken, and counts.
    private static func spokenLength(of text: String) -> Int {
        guard text.utf8.starts(with: "<speak".utf8) else { return text.unicodeScalars.count }
        var count = 0
        // What stands behind a `<` counts as well until its `>` has shown it to be a tag.
        var tag: Int?
        for scalar in text.unicodeScalars {
            if scalar == "<" {
                count += tag ?? 0
                tag = 1
            } else if let length = tag {
                tag = scalar == ">" ? nil : length + 1
            } else {
                count += 1
            }
        }
        return count + (tag ?? 0)
    }

    func encode(into output: inout [UInt8]) {
        output.beginAction("talk")
        output.appendOption("text", text)
        output.appendOption("language", language?.description)
        output.appendOption("style", style)
        output.appendOption("premium", premium)
        output.appendOption("level", level)
        output.appendOption("loop", loop)
        output.appendOption("bargeIn", bargeIn)
        output.endObject()
    }
}
