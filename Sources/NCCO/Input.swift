// SPDX-License-Identifier: MIT
//
// The action `input`. What is listened for, with the settings of each, is one property: there are no settings for what is not listened for,
// and none for keys that are sent one by one.

/// Takes keys or speech from the caller; an NCCO in the response to its event replaces the rest of this one.
///
/// - Source: Vonage Voice API, NCCO reference, `input`.
public struct Input: Hashable, Sendable {
    /// What is listened for.
    public enum Listening: Hashable, Sendable {
        /// Keys.
        case dtmf(DTMF = DTMF())
        /// Speech.
        case speech(Speech = Speech())
        /// Either, whichever comes first.
        case dtmfAndSpeech(DTMF = DTMF(), Speech = Speech())
        /// Each key, with an event of its own while the call goes on: `mode` is `asynchronous`.
        case eachKey
    }

    /// What is listened for.
    public var listening: Listening {
        // Settings that were read beside it must not be written twice.
        didSet { for name in ["dtmf", "speech"] { otherOptions[name] = nil } }
    }
    /// Where the event goes; to the application's event URL when absent.
    public var eventURL: WebURL?
    /// How it goes there; `POST` when absent.
    public var eventMethod: EventMethod?
    /// Options that this type does not know, from JSON that was read.
    public internal(set) var otherOptions: JSONObject = [:]

    /// Makes an action that listens.
    public init(_ listening: Listening, eventURL: WebURL? = nil, eventMethod: EventMethod? = nil) {
        self.listening = listening
        self.eventURL = eventURL
        self.eventMethod = eventMethod
    }
}

extension Input: OptionObject {
    private enum Kind: String, CaseIterable { case dtmf, speech }
    private enum Mode: String, CaseIterable { case synchronous, asynchronous }

    init(from options: inout OptionReader) throws(NCCOError) {
        let kinds = try Self.kinds(&options)
        let mode = try options.take("mode")
        let chosen: Mode? = try mode?.choice()
        if let mode, chosen == .asynchronous {
            guard kinds == [.dtmf] else { throw mode.refusal("synchronous, since type is not dtmf alone") }
            if let dtmf = try options.take("dtmf") {
                let settings: DTMF = try dtmf.options()
                guard settings == DTMF() else { throw dtmf.refusal("left out or empty in asynchronous mode") }
            }
            listening = .eachKey
        } else {
            // Settings of a kind that is not listened for stay among the others.
            let dtmf: DTMF? = kinds.contains(.dtmf) ? try Self.dtmf(&options) : nil
            let speech: Speech? = kinds.contains(.speech) ? try options.take("speech")?.options() ?? Speech() : nil
            listening =
                switch (dtmf, speech) {
                case (let dtmf?, let speech?): .dtmfAndSpeech(dtmf, speech)
                case (nil, let speech?): .speech(speech)
                case (let dtmf, nil): .dtmf(dtmf ?? DTMF())
                }
        }
        eventURL = try options.takeEventURL()
        eventMethod = try options.take("eventMethod")?.choice()
    }

    /// In the old form, options of keys stand beside the action's own and there is no type.
    private static let oldOptions = ["timeOut", "maxDigits", "submitOnHash"]
    private static let allowedType = "an array of dtmf, speech or both"

    private static func kinds(_ options: inout OptionReader) throws(NCCOError) -> Set<Kind> {
        if !options.has("type"), oldOptions.contains(where: options.has) { return [.dtmf] }
        let type = try options.require("type", allowedType)
        var kinds: Set<Kind> = []
        for element in try type.elements(allowedType) { kinds.insert(try element.choice()) }
        guard !kinds.isEmpty else { throw type.refusal(allowedType) }
        return kinds
    }

    private static func dtmf(_ options: inout OptionReader) throws(NCCOError) -> DTMF {
        if let dtmf = try options.take("dtmf") { return try dtmf.options() }
        return try DTMF(from: &options)
    }

    func encode(into output: inout [UInt8]) {
        var (dtmf, speech): (DTMF?, Speech?) = (nil, nil)
        switch listening {
        case .dtmf(let keys): dtmf = keys
        case .speech(let words): speech = words
        case .dtmfAndSpeech(let keys, let words): (dtmf, speech) = (keys, words)
        case .eachKey: dtmf = DTMF()
        }
        output.beginAction("input")
        let kinds = [dtmf.map { _ in Kind.dtmf }, speech.map { _ in Kind.speech }]
        output.appendOption("type", list: kinds.compactMap { $0?.rawValue })
        output.appendOption("dtmf", dtmf == DTMF() ? nil : dtmf)
        output.appendOption("speech", speech == Speech() ? nil : speech)
        output.appendOption("mode", listening == .eachKey ? Mode.asynchronous : nil)
        output.appendOption("eventUrl", listOfOne: eventURL)
        output.appendOption("eventMethod", eventMethod)
        output.endObject(otherOptions)
    }

    func appendOtherOptionPaths(at path: String, to paths: inout [String]) {
        appendOwnOtherOptionPaths(at: path, to: &paths)
        switch listening {
        case .dtmf(let dtmf): dtmf.appendOtherOptionPaths(at: path + ".dtmf", to: &paths)
        case .speech(let speech): speech.appendOtherOptionPaths(at: path + ".speech", to: &paths)
        case .dtmfAndSpeech(let dtmf, let speech):
            dtmf.appendOtherOptionPaths(at: path + ".dtmf", to: &paths)
            speech.appendOtherOptionPaths(at: path + ".speech", to: &paths)
        case .eachKey: break
        }
    }
}
