// SPDX-License-Identifier: MIT
//
// The sentences of each action. What they know beyond the tables is what follows: when the next action runs, and what a response replaces.

internal import JSON

/// One action and what is said about it.
struct ExplainedStep {
    /// Of the action; a question mark where there is no such action.
    let name: String
    private let words: OptionWords
    /// Options of `dtmf` that stand in `input` itself.
    private var oldKeys: OptionWords?
    private(set) var sentences: [String] = []
    /// Number of the step that follows, nil behind the last one.
    private var next: Int?
    /// Whether somebody else has been rung before.
    private var isJoined = false

    var options: Options { words.options }

    private init(_ name: String, _ words: OptionWords) {
        self.name = name
        self.words = words
    }

    static func action(_ node: JSONNode) -> ExplainedStep {
        guard case .object(let members) = node.value,
            case .string(let kind)? = members.first(where: { $0.name.value == "action" })?.node.value,
            let rule = Reference.action(kind.value)
        else { return ExplainedStep("?", OptionWords([], ObjectRule("?", "", []))) }
        let old = members.filter { Reference.legacyInput.contains($0.name.value) }
        guard rule.name == "input", !old.isEmpty, !members.contains(where: { $0.name.value == "dtmf" }) else {
            return ExplainedStep(rule.name, OptionWords(members, rule))
        }
        var step = ExplainedStep(rule.name, OptionWords(members, rule))
        step.oldKeys = OptionWords(old, Reference.dtmf)
        return step
    }

    mutating func describe(next: Int?, isJoined: Bool) {
        self.next = next
        self.isJoined = isJoined
        switch name {
        case "talk": talk()
        case "stream": stream()
        case "record": record()
        case "conversation": conversation()
        case "connect": connect()
        case "input": input()
        case "notify":
            say("Sends an event with the payload \(words.plain("payload") ?? "?"); it goes \(words.eventTarget).")
            sayReplaced()
        case "wait": say("Nothing is played for \(words.seconds("timeout")).")
        case "transfer":
            say(
                "Moves all legs of the call to the conversation \(words.plain("conversationId") ?? "?"), whose own NCCO goes on; this one ends."
            )
            sentences += words.hearing()
        default: break
        }
    }

    // MARK: Shared

    private mutating func say(_ sentence: String) { sentences.append(sentence) }

    private var listener: String { isJoined ? "Everybody on the line" : "The caller" }

    private var nextWords: String { next.map { "the next action, step \($0)" } ?? "the next action; there is none, so the call ends" }

    private mutating func sayReplaced() { say("An NCCO in the response replaces the rest. Without one: \(nextWords).") }

    private mutating func sayPlaying() {
        if let times = words.plain("loop") {
            switch words.options.number("loop") {
            case 0: say("This is repeated for ever.")
            case 1: say("This is heard once.")
            default: say("This is heard \(times) times.")
            }
        }
        if let level = words.plain("level") {
            let value = words.options.number("level") ?? 0
            say("Loudness is \(level)\(value > 0 ? ", louder than usual" : value < 0 ? ", quieter than usual" : ""); it goes from -1 to 1.")
        }
        sentences += words.flag("bargeIn", "The caller may cut in: the input that follows listens already.")
    }

    // MARK: Sound

    private mutating func talk() {
        let text: String
        var hasTags = false
        if case .string(let string)? = words.options.nodes["text"]?.value {
            let spoken = spokenWords(string.value)
            text = spokenQuote(spoken.words)
            hasTags = spoken.hasTags
        } else {
            text = "?"
        }
        var voice: [String] = []
        if let name = words.quoted("voiceName") { voice.append("voice \(name)") }
        if voice.isEmpty || words.has("language") || words.has("style") {
            voice.append(words.plain("language") ?? words.standard("language") ?? "?")
            voice.append("style \(words.plain("style") ?? words.standard("style") ?? "?")")
        }
        say("\(listener) hears: \(text) (\(voice.joined(separator: ", ")))")
        if hasTags { say("Its tags of SSML are left out here; they steer how it is spoken.") }
        sentences += words.flag("premium", "The premium form of the voice speaks, where there is one.")
        if let provider = words.quoted("provider") { say("The voice is made by the provider \(provider).") }
        if let wishes = words.plain("providerOptions") { say("The provider is told \(wishes).") }
        sayPlaying()
    }

    private mutating func stream() {
        say("\(listener) hears the sound file \(words.plain("streamUrl") ?? "?").")
        sayPlaying()
    }

    private mutating func record() {
        say("From here on the call is recorded, as \(words.plainOrStandard("format")).")
        sentences += words.flag("beepStart", "A beep tells that it begins.", "No beep tells that it begins.")
        if let split = words.plain("split") {
            let sides = split == "conversation" ? "Each side" : "With split \(split) each side"
            say("\(sides) of the call has a channel of its own\(words.plain("channels").map { ", \($0) channels in all" } ?? "").")
        } else if let channels = words.plain("channels") {
            say("It has \(channels) channels.")
        }
        var ends: [String] = []
        if let silence = words.givenSeconds("endOnSilence") { ends.append("after \(silence) of silence") }
        if let key = words.plain("endOnKey") { ends.append("when the key \(key) is pressed") }
        if let time = words.givenSeconds("timeOut") { ends.append("after \(time)") }
        if ends.isEmpty {
            say("It goes on until the call ends, while the actions behind it run.")
        } else {
            say("It ends \(ends.joined(separator: " or ")), and with the call; then: \(nextWords).")
        }
        say("Vonage keeps the file for 30 days; tell the people on the line where the law asks for it.")
        say("The record event, which has the file's URL, goes \(words.eventTarget).")
        sentences += words.transcribing()
    }

    private mutating func conversation() {
        say("The caller enters the conversation \(words.quoted("name") ?? "?") and talks with all who are in it.")
        sentences += words.flag(
            "startOnEnter", "It starts when the caller enters.", "It does not start by that: the caller waits for somebody who starts it.")
        if let music = words.plain("musicOnHoldUrl") { say("Until it starts the caller hears \(music).") }
        sentences += words.flag("endOnExit", "It ends for all when the caller leaves.", "It goes on for the others when the caller leaves.")
        sentences += words.hearing()
        sentences += words.flag(
            "record", "It is recorded: Vonage keeps the file for 30 days; tell the people in it where the law asks for it.")
        sentences += words.transcribing()
        if words.has("record") || words.has("eventUrl") || words.has("eventMethod") {
            say("Events of recordings and transcriptions go \(words.eventTarget); call states do not.")
        }
    }

    // MARK: What waits for the caller

    private mutating func input() {
        let keys = words.object("dtmf", Reference.dtmf)
        let speech = words.object("speech", Reference.speech)
        let types = words.list("type").map { $0.replacing("\"", with: "").replacing(", ", with: " and ") }
        let isOld = oldKeys != nil && types == nil
        if words.plain("mode") == "asynchronous" {
            say("From here on each key that the caller presses is an event of its own; the next action runs at once.")
        } else {
            switch types {
            case "dtmf": say("Waits for keys of the caller.")
            case "speech": say("Waits for words of the caller.")
            case "dtmf and speech", "speech and dtmf": say("Waits for keys or words of the caller, whichever come first.")
            case let types?: say("Waits for what \(types) says: keys (dtmf), words (speech) or both.")
            case nil: say(isOld ? "Waits for keys of the caller." : "Waits for the caller.")
            }
            if let mode = words.plain("mode"), mode != "synchronous" {
                say("Where \(mode) is asynchronous, each key is an event of its own and the next action runs at once.")
            }
            let takesKeys = isOld || types?.contains("dtmf") == true || types?.contains("‹") == true
            let takesWords = types?.contains("speech") == true || types?.contains("‹") == true
            if let sentence = keys.sentence {
                say(sentence)
            } else if takesKeys || keys.words != nil {
                sayKeys(keys.words ?? oldKeys ?? OptionWords([], Reference.dtmf))
                if !takesKeys { say("That has no effect, since type has no dtmf.") }
            }
            if let sentence = speech.sentence {
                say(sentence)
            } else if takesWords || speech.words != nil {
                saySpeech(speech.words ?? OptionWords([], Reference.speech))
                if !takesWords { say("That has no effect, since type has no speech.") }
            }
        }
        say("The input event goes \(words.eventTarget).")
        sayReplaced()
    }

    private mutating func sayKeys(_ keys: OptionWords) {
        say("Keys: at most \(keys.plainOrStandard("maxDigits")); ends \(keys.seconds("timeOut")) after the last one.")
        sentences += keys.flag("submitOnHash", "Pressing # ends it too.", "Pressing # does not end it.")
    }

    private mutating func saySpeech(_ speech: OptionWords) {
        say("Words: in \(speech.plainOrStandard("language")); gives up when nobody speaks for \(speech.seconds("startTimeout")).")
        say(
            "Ends after \(speech.seconds("endOnSilence")) of silence, at the latest \(speech.seconds("maxDuration")) after speaking began.")
        if let likely = speech.list("context") { say("Likely words: \(likely).") }
        say("Whose words: \(speech.plain("uuid").map { "leg \($0)" } ?? speech.plainOrStandard("uuid")).")
        say("Sensitivity, 10 to 100: \(speech.plainOrStandard("sensitivity")).")
        sentences += speech.flag(
            "saveAudio", "The sound is kept; its URL comes with the event.", "The sound is not kept.")
        if let provider = speech.quoted("provider") { say("The words are recognised by the provider \(provider).") }
        if let wishes = speech.plain("providerOptions") { say("The provider is told \(wishes).") }
    }

    // MARK: Whom it rings

    private mutating func connect() {
        let callee = Callee(words.options.nodes["endpoint"])
        let callerID =
            if let from = words.plain("from") {
                "with \(from) as caller id"
            } else if words.options.bool("randomFromNumber") == true {
                "with one of the application's numbers as caller id"
            } else if let random = words.plain("randomFromNumber"), words.options.bool("randomFromNumber") == nil {
                "with one of the application's numbers as caller id where \(random) is true"
            } else {
                "without caller id"
            }
        say("\(callee.rings), \(callerID), for up to \(words.seconds("timeout")).")
        if let tone = words.plain("ringbackTone") { say("Until it is answered the caller hears \(tone).") }
        sentences += callee.sentences
        sayMachine()
        let limit = words.seconds("limit")
        say(
            (isJoined ? "Answered: joins the call for up to \(limit)" : "Answered: the two talk for up to \(limit)")
                + (next.map { "; step \($0) runs for all who are then on the line." } ?? "."))
        if words.plain("eventType") == nil {
            say("Not answered: \(nextWords).")
        } else {
            let when = words.options.text("eventType") == nil ? " where \(words.plain("eventType") ?? "") is synchronous" : ""
            say("Not answered: an NCCO in the response to the event replaces the rest\(when). Without one: \(nextWords).")
        }
        say("Events of this leg go \(words.eventTarget).")
    }

    private mutating func sayMachine() {
        let (advanced, sentence) = words.object("advancedMachineDetection", Reference.machineDetection)
        if let sentence { return say(sentence) }
        guard let advanced else {
            if let behaviour = words.plain("machineDetection") { say(Self.machine(behaviour)) }
            return
        }
        say(advanced.plain("behavior").map(Self.machine) ?? "Vonage finds out whether a machine answers.")
        let byDefault = advanced.has("mode") ? "" : OptionWords.byDefault
        switch advanced.plain("mode") ?? advanced.standard("mode") ?? "" {
        case "detect": say("The call waits for the verdict, person or machine\(byDefault).")
        case "detect_beep": say("The call waits for the machine's beep\(byDefault).")
        case "default":
            say("The call waits for neither: verdict and beep are events, and an NCCO in the response replaces the rest\(byDefault).")
        case let mode: say("What the call waits for, the verdict or the beep, \(mode) says.")
        }
        if let time = advanced.givenSeconds("beep_timeout") { say("The beep is waited for no longer than \(time).") }
    }

    private static func machine(_ behaviour: String) -> String {
        switch behaviour {
        case "continue": "A machine answers: the call goes on as with a person."
        case "hangup": "A machine answers: Vonage hangs up on it."
        default: "A machine answers: the call goes on or Vonage hangs up on it, as \(behaviour) says."
        }
    }
}
