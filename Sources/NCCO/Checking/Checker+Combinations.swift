// SPDX-License-Identifier: MIT
//
// What options ask of each other, and actions of the actions behind them. Whatever is a placeholder may be anything, and is not blamed.

internal import JSON

extension Checker {
    // MARK: One action

    mutating func checkCombinations(_ action: ActionNode) {
        switch action.rule.name {
        case "record":
            exclude(unless: "split", of: "channels", action.options, action.node, action.path)
        case "conversation":
            excludeMute(action)
            if let transcription = action.options.nodes["transcription"], action.options.bool("record") != true,
                !isPlaceholder(action.options.nodes["record"])
            {
                add(
                    .needsOther, action.path.appending("transcription"), transcription, "transcription needs a recording",
                    "add \"record\": true")
            }
        case "transfer": excludeMute(action)
        case "connect": checkConnect(action)
        case "talk": checkVoice(action)
        case "input": checkInput(action)
        default: break
        }
    }

    private mutating func excludeMute(_ action: ActionNode) {
        guard let mute = action.options.nodes["mute"], action.options.has("canSpeak") else { return }
        add(
            .exclude, action.path.appending("mute"), mute, "mute and canSpeak exclude each other",
            "use canSpeak alone: [] is heard by nobody")
    }

    private mutating func exclude(unless other: String, of option: String, _ options: Options, _ node: JSONNode, _ path: JSONPath) {
        guard let value = options.nodes[option], !options.has(other) else { return }
        add(.needsOther, path.appending(option), value, "\(option) needs \(other)", "add \"\(other)\": \"conversation\"")
    }

    private mutating func checkConnect(_ action: ActionNode) {
        let options = action.options
        let isRandom = options.bool("randomFromNumber") == true
        if let from = options.nodes["from"], isRandom {
            add(.exclude, action.path.appending("from"), from, "from and randomFromNumber exclude each other", "remove one of the two")
        }
        if let simple = options.nodes["machineDetection"], options.has("advancedMachineDetection") {
            add(
                .overridden, action.path.appending("machineDetection"), simple, "advancedMachineDetection overrides machineDetection",
                "remove machineDetection")
        }
        guard !options.has("from"), !isRandom, !isPlaceholder(options.nodes["randomFromNumber"]),
            let endpoint = options.elements("endpoint")?.first, case .object(let members) = endpoint.value,
            case .string(let type)? = members.first(where: { $0.name.value == "type" })?.node.value, type.value == "phone"
        else { return }
        add(
            .fromIsMissing, action.path, action.node, "a phone is called without from, so the callee sees no number or is not called",
            "add \"from\" with one of your Vonage numbers, or \"randomFromNumber\": true")
    }

    private mutating func checkVoice(_ action: ActionNode) {
        let options = action.options
        let tag = options.text("language") ?? (options.has("language") ? nil : "en-US")
        guard let tag, LanguageTag(tag) != nil else { return }
        let languageNode = options.nodes["language"] ?? action.node
        guard let language = TextToSpeech.language(tag) else {
            // There is nothing to say about the voices of a code that only SDKs have.
            if TextToSpeech.isKnown(tag) { return }
            let hint = nearest(tag, among: TextToSpeech.languages.map(\.code))
            return add(
                .unknownLanguage, action.path.appending("language"), languageNode,
                "\(printable(tag)) is no language that is known to have a voice",
                hint.map { "did you mean \"\($0)\"?" } ?? "write one such as en-GB")
        }
        // Codes that only SDKs know come without a table of styles.
        guard !language.styles.isEmpty, options.has("style") == false || options.number("style") != nil else { return }
        // What is no style at all has its own finding.
        guard let style = Int(exactly: options.number("style") ?? 0), style >= 0 else { return }
        if let node = options.nodes["style"], !language.styles.contains(style) {
            return add(
                .unknownStyle, action.path.appending("style"), node, "\(language.code) has no style \(style)",
                "its styles are \(runs(language.styles))")
        }
        if let node = options.nodes["premium"], options.bool("premium") == true, !language.premiumStyles.contains(style) {
            add(
                .noPremiumVoice, action.path.appending("premium"), node,
                "style \(style) of \(language.code) has no premium voice: the standard one speaks")
        }
        if let node = options.nodes["text"], case .string(let text) = node.value, text.value.utf8.starts(with: "<speak".utf8),
            language.stylesWithoutSSML.contains(style)
        {
            add(
                .noSSML, action.path.appending("text"), node, "style \(style) of \(language.code) does not understand SSML",
                "write plain text, or choose another style")
        }
    }

    private mutating func checkInput(_ action: ActionNode) {
        guard action.options.text("mode") == "asynchronous" else { return }
        if let dtmf = action.options.nodes["dtmf"], case .object(let members) = dtmf.value, !members.isEmpty {
            add(
                .exclude, action.path.appending("dtmf"), dtmf, "asynchronous mode takes no settings for dtmf: each key is an event",
                "remove dtmf")
        }
        let kinds = action.options.elements("type") ?? []
        for (index, kind) in kinds.enumerated() {
            guard case .string(let string) = kind.value, string.value == "speech" else { continue }
            add(
                .exclude, action.path.appending("type").appending(index), kind, "asynchronous mode is for keys only",
                "remove speech, or the mode")
        }
    }

    /// Objects inside of actions and endpoints.
    mutating func checkSettings(_ rule: ObjectRule, _ options: Options, _ node: JSONNode, _ path: JSONPath) {
        switch rule.name {
        case "authorization":
            let isCustom = options.text("type") == "custom"
            if isCustom, !options.has("value") {
                add(.optionIsMissing, path, node, "authorization of type custom needs value", "add \"value\": \"Bearer …\"")
            } else if let value = options.nodes["value"], !isCustom, !isPlaceholder(options.nodes["type"]) {
                add(
                    .overridden, path.appending("value"), value, "value is not sent: only the type custom sends it",
                    "add \"type\": \"custom\"")
            }
        case "speech":
            if let value = options.number("sensitivity"), (0..<10).contains(value), let node = options.nodes["sensitivity"] {
                add(.otherSpelling, path.appending("sensitivity"), node, "Vonage's documentation begins at 10", "write 10 to 100")
            }
        case "advancedMachineDetection":
            if let value = options.number("beep_timeout"), (30..<45).contains(value), let node = options.nodes["beep_timeout"] {
                add(.otherSpelling, path.appending("beep_timeout"), node, "Vonage's SDKs begin at 45", "write 45 to 120")
            }
        case "standardHeaders":
            if let value = options.text("User-to-User"), value.unicodeScalars.count > 256, let node = options.nodes["User-to-User"] {
                add(.outOfRange, path.appending("User-to-User"), node, "this has more than 256 characters", "write at most 256")
            }
        default: break
        }
    }

    mutating func checkEndpointCombinations(_ rule: ObjectRule, _ options: Options, _ node: JSONNode, _ path: JSONPath) {
        switch rule.name {
        case "sip":
            if let uri = options.nodes["uri"], options.has("user") || options.has("domain") {
                return add(
                    .exclude, path.appending("uri"), uri, "uri and user with domain exclude each other", "remove one of the two forms")
            }
            guard !options.has("uri") else { return }
            for (one, other) in [("user", "domain"), ("domain", "user")] where !options.has(one) {
                if options.has(other) || one == "user" {
                    return add(
                        .optionIsMissing, path, node, "sip needs uri, or user and domain",
                        options.has(other) ? "add \"\(one)\"" : "add \"uri\": \"sip:user@example.com\"")
                }
            }
        case "websocket":
            guard let headers = options.nodes["headers"] else { return }
            var bytes: [UInt8] = []
            headers.encode(into: &bytes)
            if bytes.count > 512 {
                add(
                    .textTooLong, path.appending("headers"), headers, "the headers have \(bytes.count) bytes, of which Vonage takes 512",
                    "send a reference, and let the server look the rest up")
            }
        default: break
        }
    }

    private func isPlaceholder(_ node: JSONNode?) -> Bool {
        if case .string(let string)? = node?.value { string.value.contains("{{") } else { false }
    }

    // MARK: One behind the other

    /// Nil stands for what is no action that there is.
    mutating func checkOrder(_ steps: [ActionNode?], _ root: JSONNode) {
        checkAudible(steps, root)
        checkReached(steps)
        for (index, step) in steps.enumerated() {
            guard let step, ["talk", "stream"].contains(step.rule.name), step.options.bool("bargeIn") == true else { continue }
            let next = steps[(index + 1)...].first { $0?.rule.name != step.rule.name }
            // An unknown action has its own finding.
            if case .some(nil) = next { continue }
            if let next = next ?? nil, next.rule.name == "input" { continue }
            add(
                .bargeInWithoutInput, step.path.appending("bargeIn"), step.options.nodes["bargeIn"] ?? step.node,
                "bargeIn has no input behind it", "let an input be the next action that is not \(step.rule.name), or remove bargeIn")
        }
    }

    private mutating func checkAudible(_ steps: [ActionNode?], _ root: JSONNode) {
        // What an input or a notify is answered with may be heard.
        let audible: Set = ["talk", "stream", "connect", "conversation", "input", "notify", "transfer"]
        guard !steps.contains(where: { $0.map { audible.contains($0.rule.name) } ?? true }) else { return }
        add(
            .nothingAudible, JSONPath(), root,
            steps.isEmpty ? "an empty NCCO ends the call at once" : "the caller hears nothing, and nothing follows",
            "add a talk or a stream")
    }

    private mutating func checkReached(_ steps: [ActionNode?]) {
        var isBehindRoom = false
        for (index, step) in steps.enumerated() {
            guard let step, index + 1 < steps.count else { continue }
            let path = JSONPath().appending(index + 1)
            let offset = steps[index + 1]?.node.range.lowerBound ?? step.node.range.upperBound
            switch step.rule.name {
            case "transfer":
                return add(.neverRuns, path, at: offset, "this never runs: transfer ends the NCCO", "move it in front of the transfer")
            case "conversation":
                guard !isBehindRoom else { continue }
                isBehindRoom = true
                add(
                    .runsAfterRoom, path, at: offset, "this runs only once the caller has left the conversation, or it has ended",
                    "move it in front if the caller shall hear it first")
            case "talk", "stream":
                guard step.options.number("loop") == 0, step.options.bool("bargeIn") != true,
                    !isPlaceholder(step.options.nodes["bargeIn"])
                else { continue }
                return add(
                    .neverRuns, path, at: offset, "this never runs: \(step.rule.name) with \"loop\": 0 goes on for ever",
                    "write how many times, or \"bargeIn\": true with an input behind it")
            default: continue
            }
        }
    }
}

/// Ascending numbers for a message, as in `0 to 7, 9`.
private func runs(_ numbers: [Int]) -> String {
    var runs: [ClosedRange<Int>] = []
    for number in numbers {
        if let last = runs.last, last.upperBound &+ 1 == number {
            runs[runs.count - 1] = last.lowerBound...number
        } else {
            runs.append(number...number)
        }
    }
    return runs.map { run in
        switch run.count {
        case 1: "\(run.lowerBound)"
        case 2: "\(run.lowerBound), \(run.upperBound)"
        default: "\(run.lowerBound) to \(run.upperBound)"
        }
    }.joined(separator: ", ")
}
