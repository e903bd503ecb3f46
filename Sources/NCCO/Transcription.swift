// SPDX-License-Identifier: MIT
//
// How a recording is turned into text; `record` and `conversation` take it.

/// Has a recording transcribed; without options Vonage's defaults hold.
///
/// - Source: Vonage Voice API, NCCO reference, `record`, option `transcription`.
public struct Transcription: Hashable, Sendable {
    /// What is spoken, one of the codes of speech recognition; Vonage takes `en-US` when absent.
    public var language: LanguageTag?
    /// Where the event about the transcript goes; to the recording's event URL when absent, else to the application's.
    public var eventURL: WebURL?
    /// How the event goes there; `POST` when absent.
    public var eventMethod: EventMethod?
    /// Whether each segment is given a value of -1...1 for its mood; false when absent. A developer preview.
    public var sentimentAnalysis: Bool?
    /// Options that this type does not know, from JSON that was read.
    public internal(set) var otherOptions: JSONObject = [:]

    /// Makes the settings of a transcription.
    public init(
        language: LanguageTag? = nil, eventURL: WebURL? = nil, eventMethod: EventMethod? = nil, sentimentAnalysis: Bool? = nil
    ) {
        self.language = language
        self.eventURL = eventURL
        self.eventMethod = eventMethod
        self.sentimentAnalysis = sentimentAnalysis
    }
}

extension Transcription: OptionObject {
    init(from options: inout OptionReader) throws(NCCOError) {
        language = try options.take("language")?.text()
        eventURL = try options.takeEventURL()
        eventMethod = try options.take("eventMethod")?.choice()
        sentimentAnalysis = try options.take("sentimentAnalysis")?.bool()
    }

    func encode(into output: inout [UInt8]) {
        output.beginObject()
        output.appendOption("language", language)
        output.appendOption("eventUrl", listOfOne: eventURL)
        output.appendOption("eventMethod", eventMethod)
        output.appendOption("sentimentAnalysis", sentimentAnalysis)
        output.endObject(otherOptions)
    }
}
