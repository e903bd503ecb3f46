// SPDX-License-Identifier: MIT
//
// The action `record`.

/// Records the call.
///
/// With none of `endOnSilence`, `endOnKey` and `timeOut` the next action runs at once and the recording goes on until the call ends; with
/// one of them the next action waits for it.
///
/// - Source: Vonage Voice API, NCCO reference, `record`.
public struct Record: Hashable, Sendable {
    /// The form of the file.
    public enum Format: String, Hashable, Sendable, CaseIterable { case mp3, wav, ogg }

    /// Sides of the call in channels of their own.
    public struct Split: Hashable, Sendable {
        /// How many channels there are, 1...32; speakers beyond share the last one. Vonage decides when absent.
        public let channels: Channels?

        /// One channel for each side.
        public static var conversation: Split { Split(channels: nil) }

        /// This many channels.
        public static func conversation(channels: Channels) -> Split { Split(channels: channels) }
    }

    /// 1...32.
    public typealias Channels = Whole<1, 32>
    /// Whole seconds, 3...10.
    public typealias EndOnSilence = Whole<3, 10>
    /// Whole seconds, 3...7200.
    public typealias TimeOut = Whole<3, 7200>

    /// The form of the file; Vonage takes `mp3` when absent, `wav` with more than two channels.
    public var format: Format?
    /// Whether the sides of the call have channels of their own; all in one when absent.
    public var split: Split?
    /// Ends the recording after so many seconds of silence, 3...10; silence ends nothing when absent.
    public var endOnSilence: EndOnSilence?
    /// Ends the recording when this key is pressed; no key does when absent.
    public var endOnKey: DTMFKey?
    /// Ends the recording after so many seconds, 3...7200; only the end of the call does when absent.
    public var timeOut: TimeOut?
    /// Whether a beep marks the beginning; false when absent.
    public var beepStart: Bool?
    /// Where the event about the file goes; to the application's event URL when absent.
    public var eventURL: WebURL?
    /// How the event goes there; `POST` when absent.
    public var eventMethod: EventMethod?
    /// Has the recording transcribed, which is charged for, two hours at most.
    public var transcription: Transcription?
    /// Options that this type does not know, from JSON that was read.
    public internal(set) var otherOptions: JSONObject = [:]

    /// Makes an action that records the call.
    public init(
        format: Format? = nil, split: Split? = nil, endOnSilence: EndOnSilence? = nil, endOnKey: DTMFKey? = nil, timeOut: TimeOut? = nil,
        beepStart: Bool? = nil, eventURL: WebURL? = nil, eventMethod: EventMethod? = nil, transcription: Transcription? = nil
    ) {
        self.format = format
        self.split = split
        self.endOnSilence = endOnSilence
        self.endOnKey = endOnKey
        self.timeOut = timeOut
        self.beepStart = beepStart
        self.eventURL = eventURL
        self.eventMethod = eventMethod
        self.transcription = transcription
    }
}

extension Record: OptionObject {
    private enum SplitName: String, CaseIterable { case conversation }

    init(from options: inout OptionReader) throws(NCCOError) {
        format = try options.take("format")?.choice()
        let isSplit: SplitName? = try options.take("split")?.choice()
        let channels = try options.take("channels")
        switch (isSplit, channels) {
        case (nil, nil): split = nil
        case (nil, let channels?): throw channels.refusal("left out without split")
        case (_?, let channels): split = Split(channels: try channels?.whole())
        }
        endOnSilence = try options.take("endOnSilence")?.whole()
        endOnKey = try options.take("endOnKey")?.text()
        timeOut = try options.take("timeOut")?.whole()
        beepStart = try options.take("beepStart")?.bool()
        eventURL = try options.takeEventURL()
        eventMethod = try options.take("eventMethod")?.choice()
        transcription = try options.take("transcription")?.options()
    }

    func encode(into output: inout [UInt8]) {
        output.beginAction("record")
        output.appendOption("format", format)
        output.appendOption("split", split.map { _ in SplitName.conversation })
        output.appendOption("channels", split?.channels)
        output.appendOption("endOnSilence", endOnSilence)
        output.appendOption("endOnKey", endOnKey)
        output.appendOption("timeOut", timeOut)
        output.appendOption("beepStart", beepStart)
        output.appendOption("eventUrl", listOfOne: eventURL)
        output.appendOption("eventMethod", eventMethod)
        output.appendOption("transcription", transcription)
        output.endObject(otherOptions)
    }

    func appendOtherOptionPaths(at path: String, to paths: inout [String]) {
        appendOwnOtherOptionPaths(at: path, to: &paths)
        transcription?.appendOtherOptionPaths(at: path + ".transcription", to: &paths)
    }
}
