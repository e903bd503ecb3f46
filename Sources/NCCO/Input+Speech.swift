// SPDX-License-Identifier: MIT
//
// The settings `speech` of `input`.

extension Input {
    /// How speech is recognised.
    ///
    /// - Source: Vonage Voice API, NCCO reference, `input`, option `speech`.
    public struct Speech: Hashable, Sendable {
        /// Seconds, 0.4...10.
        public typealias EndOnSilence = Number<4, 100>
        /// Whole seconds, 1...60.
        public typealias StartTimeout = Whole<1, 60>
        /// Whole seconds, 1...60.
        public typealias MaxDuration = Whole<1, 60>
        /// 10...100.
        public typealias Sensitivity = Whole<10, 100>

        /// The leg that is listened to; the first of the call when absent.
        public var uuid: LegUUID?
        /// What is spoken, one of the codes of speech recognition; Vonage takes `en-US` when absent.
        public var language: LanguageTag?
        /// Words that are likely to come.
        public var context: [String]?
        /// How long a silence ends the speech, seconds, 0.4...10; Vonage takes 2 when absent.
        public var endOnSilence: EndOnSilence?
        /// How long the speech may take to begin, whole seconds, 1...60; Vonage takes 10 when absent.
        public var startTimeout: StartTimeout?
        /// How long the speech may last once it has begun, whole seconds, 1...60; Vonage takes 60 when absent.
        public var maxDuration: MaxDuration?
        /// Whether the event names a recording of the speech; Vonage takes false when absent.
        public var saveAudio: Bool?
        /// How easily a sound is taken for speech, 10...100; Vonage takes 90 when absent.
        public var sensitivity: Sensitivity?
        /// Who recognises; Vonage when absent.
        public var provider: Provider? {
            // What was read beside it must not be written twice.
            didSet { otherOptions["providerOptions"] = nil }
        }
        /// Options that this type does not know, from JSON that was read.
        public internal(set) var otherOptions: JSONObject = [:]

        /// Makes settings for speech.
        public init(
            uuid: LegUUID? = nil, language: LanguageTag? = nil, context: [String]? = nil, endOnSilence: EndOnSilence? = nil,
            startTimeout: StartTimeout? = nil, maxDuration: MaxDuration? = nil, saveAudio: Bool? = nil, sensitivity: Sensitivity? = nil,
            provider: Provider? = nil
        ) {
            self.uuid = uuid
            self.language = language
            self.context = context
            self.endOnSilence = endOnSilence
            self.startTimeout = startTimeout
            self.maxDuration = maxDuration
            self.saveAudio = saveAudio
            self.sensitivity = sensitivity
            self.provider = provider
        }
    }
}

extension Input.Speech: OptionObject {
    init(from options: inout OptionReader) throws(NCCOError) {
        uuid = try options.take("uuid")?.only(LegUUID.allowed).text()
        language = try options.take("language")?.text()
        if let given = try options.take("context") {
            var context: [String] = []
            for element in try given.elements("an array of texts") { context.append(try element.string()) }
            self.context = context
        }
        endOnSilence = try options.take("endOnSilence")?.number()
        startTimeout = try options.take("startTimeout")?.whole()
        maxDuration = try options.take("maxDuration")?.whole()
        saveAudio = try options.take("saveAudio")?.bool()
        sensitivity = try options.take("sensitivity")?.whole()
        provider = try Provider(from: &options)
    }

    func encode(into output: inout [UInt8]) {
        output.beginObject()
        output.appendOption("uuid", listOfOne: uuid)
        output.appendOption("language", language)
        output.appendOption("context", list: context)
        output.appendOption("endOnSilence", endOnSilence)
        output.appendOption("startTimeout", startTimeout)
        output.appendOption("maxDuration", maxDuration)
        output.appendOption("saveAudio", saveAudio)
        output.appendOption("sensitivity", sensitivity)
        output.appendOption("provider", provider?.name)
        output.appendOption("providerOptions", provider?.options)
        output.endObject(otherOptions)
    }
}
