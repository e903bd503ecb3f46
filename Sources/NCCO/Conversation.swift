// SPDX-License-Identifier: MIT
//
// The action `conversation`.

/// Joins the conversation of that name, with up to 200 participants; the next action runs when the leg has left it.
///
/// - Source: Vonage Voice API, NCCO reference, `conversation`.
public struct Conversation: Hashable, Sendable {
    /// Whether the conversation is recorded, and what of it. A transcription needs a recording.
    public enum Recording: Hashable, Sendable {
        /// Not recorded, which is said; the same as when absent.
        case off
        /// Recorded.
        case on
        /// Recorded and transcribed.
        case transcribed(Transcription)
    }

    /// Names the conversation within the application and the region.
    public var name: NonEmptyText
    /// An mp3 file that is played until the conversation starts; silence when absent.
    public var musicOnHoldURL: WebURL?
    /// Whether this leg starts the conversation; true when absent, false for those who wait for a moderator.
    public var startOnEnter: Bool?
    /// Whether the conversation ends when this leg leaves; false when absent.
    public var endOnExit: Bool?
    /// Off when absent; with a moderator it begins with the leg that starts the conversation.
    public var record: Recording?
    /// Whom this leg may speak to; everyone when absent.
    public var speaking: Speaking?
    /// The legs that this leg hears; everyone when absent, nobody when empty.
    public var canHear: [LegUUID]?
    /// Where events about recordings and transcripts go; to the application's event URL when absent. The call's progress never goes here.
    public var eventURL: WebURL?
    /// How they go there; `POST` when absent.
    public var eventMethod: EventMethod?
    /// Options that this type does not know, from JSON that was read.
    public internal(set) var otherOptions: JSONObject = [:]

    /// Makes an action that joins the conversation of that name.
    public init(
        _ name: NonEmptyText, musicOnHoldURL: WebURL? = nil, startOnEnter: Bool? = nil, endOnExit: Bool? = nil, record: Recording? = nil,
        speaking: Speaking? = nil, canHear: [LegUUID]? = nil, eventURL: WebURL? = nil, eventMethod: EventMethod? = nil
    ) {
        self.name = name
        self.musicOnHoldURL = musicOnHoldURL
        self.startOnEnter = startOnEnter
        self.endOnExit = endOnExit
        self.record = record
        self.speaking = speaking
        self.canHear = canHear
        self.eventURL = eventURL
        self.eventMethod = eventMethod
    }
}

extension Conversation: OptionObject {
    init(from options: inout OptionReader) throws(NCCOError) {
        name = try options.require("name", NonEmptyText.allowed).text()
        musicOnHoldURL = try options.take("musicOnHoldUrl")?.onlyOrItself(WebURL.allowed).text()
        startOnEnter = try options.take("startOnEnter")?.bool()
        endOnExit = try options.take("endOnExit")?.bool()
        let isRecorded = try options.take("record")?.bool()
        speaking = try Speaking(from: &options)
        canHear = try options.take("canHear")?.texts()
        if let transcription = try options.take("transcription") {
            guard isRecorded == true else { throw transcription.refusal("left out without record") }
            record = .transcribed(try transcription.options())
        } else {
            record = isRecorded.map { $0 ? .on : .off }
        }
        eventURL = try options.takeEventURL()
        eventMethod = try options.take("eventMethod")?.choice()
    }

    private var transcription: Transcription? { if case .transcribed(let transcription) = record { transcription } else { nil } }

    func encode(into output: inout [UInt8]) {
        output.beginAction("conversation")
        output.appendOption("name", name)
        output.appendOption("musicOnHoldUrl", listOfOne: musicOnHoldURL)
        output.appendOption("startOnEnter", startOnEnter)
        output.appendOption("endOnExit", endOnExit)
        output.appendOption("record", record.map { $0 != .off })
        output.appendOption("canSpeak", list: speaking?.legs)
        output.appendOption("canHear", list: canHear)
        output.appendOption("mute", speaking?.mute)
        output.appendOption("transcription", transcription)
        output.appendOption("eventUrl", listOfOne: eventURL)
        output.appendOption("eventMethod", eventMethod)
        output.endObject(otherOptions)
    }

    func appendOtherOptionPaths(at path: String, to paths: inout [String]) {
        appendOwnOtherOptionPaths(at: path, to: &paths)
        transcription?.appendOtherOptionPaths(at: path + ".transcription", to: &paths)
    }
}
