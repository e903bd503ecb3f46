// SPDX-License-Identifier: MIT
//
// The action `talk`. The language's shape and the numbers' ranges are checked; which styles a language has is not, since Vonage adds voices.

/// Speaks a text to the call.
///
/// - Source: Vonage Voice API, NCCO reference, `talk`.
public struct Talk: Hashable, Sendable {
    /// The voice among those of a language, 0...999. The reference has no upper bound; no language has more than 24 voices.
    public typealias Style = Whole<0, 999>

    /// What is spoken.
    public var text: SpokenText
    /// Whether the listener may cut in with an `input`, which must then be the next action that is not `talk`; Vonage takes false when absent.
    public var bargeIn: Bool?
    /// Times the text is spoken, 0 for ever; Vonage takes 1 when absent.
    public var loop: Loop?
    /// Loudness, -1...1; Vonage takes 0 when absent.
    public var level: Level?
    /// The voice's language, as BCP 47 has it; Vonage takes `en-US` when absent.
    public var language: LanguageTag?
    /// The voice among those of the language, from 0; Vonage takes 0 when absent.
    public var style: Style?
    /// Whether the premium form of the voice speaks, where there is one; Vonage takes false when absent.
    public var premium: Bool?
    /// Who speaks; Vonage when absent.
    public var provider: Provider? {
        // What was read beside it must not be written twice.
        didSet { otherOptions["providerOptions"] = nil }
    }
    /// Options that this type does not know, from JSON that was read.
    public internal(set) var otherOptions: JSONObject = [:]

    /// Makes an action that speaks this text.
    public init(
        _ text: SpokenText, language: LanguageTag? = nil, style: Style? = nil, premium: Bool? = nil, level: Level? = nil,
        loop: Loop? = nil, bargeIn: Bool? = nil, provider: Provider? = nil
    ) {
        self.text = text
        self.bargeIn = bargeIn
        self.loop = loop
        self.level = level
        self.language = language
        self.style = style
        self.premium = premium
        self.provider = provider
    }
}

extension Talk: OptionObject {
    init(from options: inout OptionReader) throws(NCCOError) {
        text = try options.require("text", SpokenText.allowed).text()
        bargeIn = try options.take("bargeIn")?.bool()
        loop = try options.take("loop")?.whole()
        level = try options.take("level")?.number()
        language = try options.take("language")?.text()
        style = try options.take("style")?.whole()
        premium = try options.take("premium")?.bool()
        provider = try Provider(from: &options)
    }

    func encode(into output: inout [UInt8]) {
        output.beginAction("talk")
        output.appendOption("text", text)
        output.appendOption("bargeIn", bargeIn)
        output.appendOption("loop", loop)
        output.appendOption("level", level)
        output.appendOption("language", language)
        output.appendOption("style", style)
        output.appendOption("premium", premium)
        output.appendOption("provider", provider?.name)
        output.appendOption("providerOptions", provider?.options)
        output.endObject(otherOptions)
    }
}
