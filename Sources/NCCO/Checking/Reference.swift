// SPDX-License-Identifier: MIT
//
// The NCCO reference as tables: every action with its options, in the order in which they are written. What a single option may hold stands
// here, with the ranges of the types that cannot hold anything else; what options ask of each other, and actions of the actions behind
// them, is code in `Checker+Combinations.swift`.

/// What Vonage's NCCO reference says.
package enum Reference {
    /// In the order of the reference.
    package static let actions: [ObjectRule] = [record, conversation, connect, talk, stream, input, notify, wait, transfer]

    package static func action(_ name: String) -> ObjectRule? { actions.first { $0.name == name } }

    /// What people write in place of an action that there is, and what does it.
    package static let strangers: [String: String] = [
        "hangup": "leave it out: a call ends behind its last action",
        "hang_up": "leave it out: a call ends behind its last action",
        "reject": "write one talk that says why: the call ends behind it",
        "dial": "write connect with one endpoint",
        "call": "write connect with one endpoint",
        "gather": "write input with \"type\": [\"dtmf\"]",
        "ask": "write talk and then input",
        "say": "write talk",
        "speak": "write talk",
        "play": "write stream with streamUrl",
        "redirect": "write notify or input, whose event URL answers with the next NCCO",
        "conference": "write conversation",
        "queue": "write conversation with \"startOnEnter\": false and musicOnHoldUrl",
        "pause": "write wait",
        "sleep": "write wait",
        "pay": "Vonage has removed it; take payments outside of the call, for example by a link in a message",
    ]

    static let eventMethod = OptionRule(
        "eventMethod", .choice(["POST", "GET"]), standard: "POST", "HTTP method of the requests to eventUrl")

    static func eventURL(_ summary: String, required: Bool = false, standard: String = "the application's event URL") -> OptionRule {
        OptionRule(
            "eventUrl", .list(.url, count: 1...1), required: required, standard: required ? nil : standard, summary)
    }

    static let legs = Shape.list(.text, count: 0...200)

    static let transcription = ObjectRule(
        "transcription", "Writes down what was said",
        [
            OptionRule("language", .speechLanguage, standard: "en-US", "language that is spoken"),
            eventURL("where the transcription event goes", standard: "the recording's event URL"),
            eventMethod,
            OptionRule("sentimentAnalysis", .bool, standard: "false", "adds how positive each part sounds, -1 to 1"),
        ])

    static let record = ObjectRule(
        "record", "Records the call",
        [
            OptionRule("format", .choice(["mp3", "wav", "ogg"]), standard: "mp3, or wav with more than two channels", "file format"),
            OptionRule("split", .choice(["conversation"]), "gives each side of the call a channel of its own"),
            OptionRule("channels", .whole(Record.Channels.range), "number of channels; needs split"),
            OptionRule("endOnSilence", .whole(Record.EndOnSilence.range), "ends after so many seconds of silence"),
            OptionRule(
                "endOnKey", .choice(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "*", "#"]), "ends when this key is pressed"),
            OptionRule("timeOut", .whole(Record.TimeOut.range), "ends after so many seconds"),
            OptionRule("beepStart", .bool, standard: "false", "plays a beep when it begins"),
            eventURL("where the record event goes"),
            eventMethod,
            OptionRule("transcription", .object(transcription), "writes down what was said; {} takes all defaults"),
        ])

    static let conversation = ObjectRule(
        "conversation", "Puts the caller into a room with others",
        [
            OptionRule("name", .text, required: true, "name of the room, within the application and region"),
            OptionRule(
                "musicOnHoldUrl", .oneOrList(.url, prefersList: true), "mp3 file that is played until the conversation starts"),
            OptionRule("startOnEnter", .bool, standard: "true", "whether the conversation starts when this caller enters"),
            OptionRule("endOnExit", .bool, standard: "false", "whether the room ends when this caller leaves"),
            OptionRule("record", .bool, standard: "false", "records the conversation"),
            OptionRule("canSpeak", legs, standard: "everyone", "legs that can hear this caller; [] is nobody"),
            OptionRule("canHear", legs, standard: "everyone", "legs that this caller can hear; [] is nobody"),
            OptionRule("mute", .bool, standard: "false", "whether the caller is muted; not with canSpeak"),
            OptionRule("transcription", .object(transcription), "writes down what was said; needs record"),
            eventURL("where recording and transcription events go"),
            eventMethod,
        ])

    static let machineDetection = ObjectRule(
        "advancedMachineDetection", "Finds out whether a machine answers",
        [
            OptionRule("behavior", .choice(["continue", "hangup"]), "what to do when it is a machine"),
            OptionRule(
                "mode", .choice(["detect", "detect_beep", "default"]), standard: "detect",
                "what to wait for: the verdict, the beep, or neither (both then come as events that an NCCO may answer)"),
            OptionRule(
                "beep_timeout", .whole(AdvancedMachineDetection.BeepTimeout.range), "longest wait for the beep, seconds",
                also: ["beepTimeout"]),
        ])

    static let connect = ObjectRule(
        "connect", "Dials an endpoint and joins it to the call",
        [
            OptionRule("from", .phoneNumber, "caller id; towards a phone it must be one of your Vonage numbers"),
            OptionRule(
                "randomFromNumber", .bool, standard: "false", "takes one of the application's numbers as caller id; not with from"),
            OptionRule(
                "eventType", .choice(["synchronous"]), "lets the response to an event of the new leg replace the rest of the NCCO"),
            OptionRule("timeout", .whole(Connect.RingTime.range), standard: "60", "how long the callee's side may ring, seconds"),
            OptionRule("limit", .whole(Connect.Limit.range), standard: "7200", "how long the joined call may last, seconds"),
            OptionRule("machineDetection", .choice(["continue", "hangup"]), "what to do when a machine answers"),
            OptionRule(
                "advancedMachineDetection", .object(machineDetection), "finer control than machineDetection, which it overrides",
                also: ["advanced_machine_detection"]),
            eventURL("where the events of the new leg go"),
            eventMethod,
            OptionRule("ringbackTone", .oneOrList(.url, prefersList: false), "sound that the caller hears until the callee answers"),
            OptionRule("endpoint", .list(.endpoint, count: 1...1), required: true, "who is dialled: a list of exactly one endpoint"),
        ])

    static let level = OptionRule("level", .number(Level.range, clamps: false), standard: "0", "loudness, -1 to 1")
    static let loop = OptionRule("loop", .whole(Loop.range), standard: "1", "how many times it is played, 0 for ever")

    static let talk = ObjectRule(
        "talk", "Speaks a text",
        [
            OptionRule(
                "text", .spokenText, required: true, "what is spoken, at most 1500 characters without the tags of SSML"),
            OptionRule("language", .voiceLanguage, standard: "en-US", "language of the voice"),
            OptionRule("style", .whole(Talk.Style.range), standard: "0", "the voice among those of the language"),
            OptionRule("premium", .bool, standard: "false", "takes the premium form of the voice where there is one"),
            level,
            loop,
            OptionRule("bargeIn", .bool, standard: "false", "lets the caller cut in; an input must follow"),
            OptionRule("provider", .text, "who makes the voice"),
            OptionRule("providerOptions", .freeObject, "what that provider wants to know"),
            OptionRule(
                "voiceName", .text, "name of a voice", deprecated: "use language and style, which choose among all voices"),
        ])

    static let stream = ObjectRule(
        "stream", "Plays a sound file",
        [
            OptionRule("streamUrl", .list(.url, count: 1...1), required: true, "mp3 or 16-bit wav file: a list of exactly one URL"),
            level,
            OptionRule("bargeIn", .bool, standard: "false", "lets the caller cut in; an input must follow"),
            loop,
        ])

    static let dtmf = ObjectRule(
        "dtmf", "Keys that are pressed",
        [
            OptionRule("timeOut", .whole(Input.DTMF.TimeOut.range), standard: "3", "ends so many seconds after the last key"),
            OptionRule("maxDigits", .whole(Input.DTMF.MaxDigits.range), standard: "4", "ends after so many keys"),
            OptionRule("submitOnHash", .bool, standard: "false", "ends when # is pressed"),
        ])

    static let speech = ObjectRule(
        "speech", "Words that are spoken",
        [
            OptionRule("uuid", .list(.text, count: 1...1), standard: "the first leg of the call", "leg that is listened to"),
            OptionRule("language", .speechLanguage, standard: "en-US", "language that is spoken"),
            OptionRule("context", .list(.text, count: 0...1000), "words that are likely to be said"),
            OptionRule(
                "endOnSilence", .number(Input.Speech.EndOnSilence.range, clamps: false), standard: "2",
                "ends after so many seconds of silence"),
            OptionRule(
                "startTimeout", .whole(Input.Speech.StartTimeout.range), standard: "10", "gives up when nobody speaks for so many seconds"),
            OptionRule("maxDuration", .whole(Input.Speech.MaxDuration.range), standard: "60", "ends so many seconds after speaking began"),
            OptionRule("saveAudio", .bool, standard: "false", "keeps the sound; its URL comes with the event"),
            OptionRule("sensitivity", .whole(0...100), standard: "90", "how easily sound counts as speech, 10 to 100"),
            OptionRule("provider", .text, "who recognises the speech"),
            OptionRule("providerOptions", .freeObject, "what that provider wants to know"),
        ])

    static let input = ObjectRule(
        "input", "Waits for keys or words of the caller",
        [
            OptionRule(
                "type", .list(.choice(["dtmf", "speech"]), count: 1...2), required: true, "what is waited for: dtmf, speech or both"),
            OptionRule("dtmf", .object(dtmf), "how keys are taken"),
            OptionRule("speech", .object(speech), "how speech is taken"),
            OptionRule(
                "mode", .choice(["synchronous", "asynchronous"]), standard: "synchronous",
                "asynchronous sends one event for each key and goes on at once"),
            eventURL("where the input event goes; its response may hold the next NCCO"),
            eventMethod,
        ])

    /// Options that `input` had before it had `type`, which Vonage's own examples still show.
    static let legacyInput = dtmf.options.map(\.name)

    static let notify = ObjectRule(
        "notify", "Sends an event of your own",
        [
            OptionRule("payload", .freeObject, required: true, "what the event carries"),
            eventURL("where the event goes; its response may hold the next NCCO", required: true),
            eventMethod,
        ])

    static let wait = ObjectRule(
        "wait", "Stays silent",
        [OptionRule("timeout", .number(WaitTime.range, clamps: true), standard: "10", "how long, seconds")])

    static let transfer = ObjectRule(
        "transfer", "Moves all legs of the call to another conversation",
        [
            OptionRule(
                "conversationId", .text, required: true, "conversation to move to, such as CON-…; it must exist",
                also: ["conversation_id"]),
            OptionRule("canHear", legs, standard: "everyone", "legs that this caller can hear; [] is nobody"),
            OptionRule("canSpeak", legs, standard: "everyone", "legs that can hear this caller; [] is nobody"),
            OptionRule("mute", .bool, standard: "false", "whether the caller is muted; not with canSpeak"),
        ])
}
