// SPDX-License-Identifier: MIT
//
// The steps of an NCCO. An action either lets the next one follow at once, or ends when its time has come, a callee has left, or an event that may
// bring another NCCO has its answer.

import JSON
import NCCO

extension PlayedCall {
    /// How long people take, and what is heard lasts, in milliseconds.
    private enum Pace {
        static let taking: Int64 = 600
        static let reaction: Int64 = 1000
        static let betweenKeys: Int64 = 300
        static let soundFile: Int64 = 5000
        static let eachWord: Int64 = 400
        static let message: Int64 = 4000
        /// Characters that a voice speaks in a second.
        static let speech: Int64 = 15
    }

    // MARK: Flows

    /// Runs an NCCO on the leg that a call goes on for.
    mutating func begin(_ reading: NCCOReading, on leg: Int, about request: Int?) {
        guard !legs[leg].status.isOver else { return }
        switch reading {
        case .refused(let findings):
            for finding in findings.prefix(5) { complain(.broken, "NCCO: \(finding)", about: request) }
            tellSyntaxError(leg)
            complain(.lost, "the call is dropped: it has no NCCO that can be read", about: request)
            hangUp(leg, byPlatform: true)
        case .actions(let actions):
            var flow = PlayedFlow(leg: leg, isWhisper: false)
            flow.actions = actions
            flow.isRunning = true
            flows.append(flow)
            let index = flows.count - 1
            guard legs[leg].answered == nil else { return run(index) }
            // A phone's call is taken a moment after the NCCO has come.
            let isApp = if case .app = legs[leg].party { true } else { false }
            schedule(now + (isApp ? 0 : Pace.taking), .begins(flow: index))
        }
    }

    mutating func begin(_ flow: Int) {
        guard flows[flow].isRunning else { return }
        answerInbound()
        run(flow)
    }

    /// Runs an NCCO on a callee before it is joined.
    mutating func beginWhisper(_ actions: [Action], _ leg: Int) {
        guard legs[leg].status.isAnswered else { return }
        var flow = PlayedFlow(leg: leg, isWhisper: true)
        flow.actions = actions
        flow.isRunning = true
        flows.append(flow)
        run(flows.count - 1)
    }

    mutating func replace(_ flow: Int, by actions: [Action]) {
        flows[flow].actions = actions
        flows[flow].index = 0
        flows[flow].serial += 1
        flows[flow].isRunning = true
        run(flow)
    }

    mutating func stopFlows() {
        for flow in flows.indices {
            flows[flow].isRunning = false
            flows[flow].serial += 1
            flows[flow].keys = nil
        }
    }

    func isCurrent(_ flow: Int, _ serial: Int) -> Bool {
        flows.indices.contains(flow) && flows[flow].isRunning && flows[flow].serial == serial
    }

    /// Whether the flow's step is the call to this leg.
    func isWaiting(_ flow: Int, for leg: Int) -> Bool {
        guard flows[flow].index < flows[flow].actions.count, case .connect(let connect) = flows[flow].actions[flows[flow].index] else {
            return false
        }
        return legs[leg].connect == connect
    }

    /// The step is over: the next one begins.
    mutating func endStep(_ flow: Int, _ serial: Int) {
        guard isCurrent(flow, serial) else { return }
        flows[flow].index += 1
        flows[flow].serial += 1
        run(flow)
    }

    /// Carries out actions until one holds up the next.
    mutating func run(_ flow: Int) {
        while flows[flow].isRunning, flows[flow].index < flows[flow].actions.count {
            let action = flows[flow].actions[flows[flow].index]
            note(
                .action(
                    name: action.name, number: flows[flow].index + 1, of: flows[flow].actions.count,
                    callee: flows[flow].isWhisper ? calleeName(flows[flow].leg) : nil))
            guard carryOut(action, flow) else { return }
            flows[flow].index += 1
            flows[flow].serial += 1
        }
        guard flows[flow].isRunning else { return }
        flows[flow].isRunning = false
        let leg = flows[flow].leg
        if flows[flow].isWhisper { return join(leg) }
        // What is still heard is heard to its end.
        if flows[flow].promptEnds > now, flows[flow].promptEnds < .max {
            flows[flow].isRunning = true
            return schedule(flows[flow].promptEnds, .stepEnds(flow: flow, serial: flows[flow].serial))
        }
        hangUp(leg, byPlatform: true)
    }

    // MARK: Actions

    /// Whether the next action follows at once.
    private mutating func carryOut(_ action: Action, _ flow: Int) -> Bool {
        switch action {
        case .talk(let talk):
            note(.hears(text: spokenWords(talk.text.description).words, callee: listener(flow)))
            let once = max(Int64(talk.text.spokenLength) * 1000 / Pace.speech, 500)
            return play(once, loop: talk.loop, bargeIn: talk.bargeIn, flow)
        case .stream(let stream):
            note(.plays(url: stream.streamURL.description, callee: listener(flow)))
            return play(Pace.soundFile, loop: stream.loop, bargeIn: stream.bargeIn, flow)
        case .wait(let wait):
            end(flow, at: now + Int64((wait.timeout?.value ?? 10) * 1000))
            return false
        case .record(let record): return self.record(record, flow)
        case .conversation(let conversation):
            enter(conversation, flow)
            return false
        case .connect(let connect):
            _ = addLeg(connect, flow: flow)
            return false
        case .input(let input): return listen(input, flow)
        case .notify(let notify):
            let leg = flows[flow].leg
            tell(
                WebhookFields([
                    "payload": .object(notify.payload), "conversation_uuid": .text(legs[leg].conversation),
                    "timestamp": timestamp,
                ]), to: address(notify.eventURL, notify.eventMethod), leg: leg, then: .step(flow: flow, serial: flows[flow].serial))
            return false
        case .transfer(let transfer):
            note(.enters(transfer.conversationID.description))
            for leg in legs.indices where !legs[leg].status.isOver { move(leg, to: transfer.conversationID.description) }
            schedule(now + plan.talkFor, .hangsUp(leg: flows[flow].leg))
            return false
        }
    }

    private func listener(_ flow: Int) -> String? { flows[flow].isWhisper ? calleeName(flows[flow].leg) : nil }

    private func address(_ url: WebURL?, _ method: EventMethod?) -> WebhookAddress? {
        url.map { WebhookAddress(url: $0.description, method: method ?? .post) } ?? plan.event
    }

    private mutating func end(_ flow: Int, at time: Int64) { schedule(time, .stepEnds(flow: flow, serial: flows[flow].serial)) }

    private mutating func play(_ once: Int64, loop: Loop?, bargeIn: Bool?, _ flow: Int) -> Bool {
        let start = max(now, flows[flow].promptEnds)
        let times = Int64(loop?.value ?? 1)
        let duration = times == 0 ? nil : once.multipliedReportingOverflow(by: times)
        let length = duration.map { $0.overflow ? plan.longest : min($0.partialValue, plan.longest) }
        if bargeIn == true {
            flows[flow].promptEnds = length.map { start + $0 } ?? .max
            return true
        }
        if let length {
            end(flow, at: start + length)
        } else {
            // What never ends is heard until the caller has had enough.
            schedule(now + plan.talkFor, .hangsUp(leg: flows[flow].leg))
        }
        return false
    }

    private mutating func record(_ record: Record, _ flow: Int) -> Bool {
        let leg = flows[flow].leg
        let transcription = record.transcription
        let events = address(record.eventURL, record.eventMethod)
        recordings.append(
            PlayedRecording(
                began: now, leg: leg, format: (record.format ?? .mp3).rawValue, events: events,
                transcription: transcription?.eventURL.map {
                    WebhookAddress(url: $0.description, method: transcription?.eventMethod ?? .post)
                }
                    ?? events,
                isTranscribed: transcription != nil))
        note(.records((record.format ?? .mp3).rawValue))
        var ends: [Int64] = []
        if let time = record.timeOut { ends.append(now + Int64(time.value) * 1000) }
        if let silence = record.endOnSilence { ends.append(now + Pace.message + Int64(silence.value) * 1000) }
        if let key = record.endOnKey, case .press(let keys)? = upcomingEntry, keys.contains(key.description) {
            _ = takeEntry()
            ends.append(now + Pace.message)
            schedule(now + Pace.message, .happens(flow: flow, serial: flows[flow].serial, .presses(key.description)))
        }
        guard record.timeOut != nil || record.endOnSilence != nil || record.endOnKey != nil else { return true }
        // With a key alone that nobody presses it goes on until the caller hangs up.
        if let time = ends.min() {
            end(flow, at: time)
        } else {
            schedule(now + plan.talkFor, .hangsUp(leg: leg))
        }
        return false
    }

    /// Ends the recordings of a leg, or all of them.
    mutating func finishRecordings(of leg: Int?) {
        for recording in recordings where leg == nil || recording.leg == leg {
            let id = newID()
            let conversation = legs[recording.leg].conversation
            let seconds = max(now - recording.began, 0) / 1000
            // 32 kbit/s of mp3 and ogg, 16 bit at 16 kHz of wav, and a head.
            let size = (recording.format == "wav" ? 32_000 : 4000) * seconds + 44
            tell(
                WebhookFields([
                    "start_time": .text(isoTime(recording.began / 1000 * 1000)), "end_time": .text(isoTime(now / 1000 * 1000)),
                    "size": .number(Int(size)), "recording_url": .text("https://api.nexmo.com/v1/files/\(newID())"),
                    "recording_uuid": .text(id), "conversation_uuid": .text(conversation), "timestamp": timestamp,
                ]), to: recording.events, leg: recording.leg)
            if recording.isTranscribed {
                tell(
                    WebhookFields([
                        "conversation_uuid": .text(conversation), "type": .text("record"), "recording_uuid": .text(id),
                        "status": .text("transcribed"), "transcription_url": .text("https://api.nexmo.com/v1/files/\(newID())"),
                    ]), to: recording.transcription, leg: recording.leg)
            }
        }
        recordings.removeAll { leg == nil || $0.leg == leg }
    }

    private mutating func enter(_ conversation: Conversation, _ flow: Int) {
        let leg = flows[flow].leg
        let name = conversation.name.description
        note(.enters(name))
        move(leg, to: plan.namedConversations[name] ?? "CON-\(newID())")
        if let music = conversation.musicOnHoldURL, conversation.startOnEnter == false {
            note(.plays(url: music.description, callee: listener(flow)))
        }
        switch conversation.record {
        case .on, .transcribed:
            let events = address(conversation.eventURL, conversation.eventMethod)
            var transcription: Transcription?
            if case .transcribed(let wanted)? = conversation.record { transcription = wanted }
            recordings.append(
                PlayedRecording(
                    began: now, leg: leg, format: "mp3", events: events,
                    transcription: transcription?.eventURL.map {
                        WebhookAddress(url: $0.description, method: transcription?.eventMethod ?? .post)
                    } ?? events, isTranscribed: transcription != nil))
        case .off, nil: break
        }
        schedule(now + plan.talkFor, .hangsUp(leg: leg))
    }

    // MARK: Input

    private mutating func listen(_ input: Input, _ flow: Int) -> Bool {
        let entry = takeEntry()
        switch input.listening {
        case .eachKey:
            flows[flow].keys = address(input.eventURL, input.eventMethod)
            if case .press(let keys) = entry {
                for (index, key) in keys.enumerated() {
                    schedule(now + Pace.reaction + Int64(index) * Pace.betweenKeys, .key(flow: flow, key))
                }
            }
            return true
        case .dtmf(let dtmf): waitForInput(entry, dtmf, nil, flow)
        case .speech(let speech): waitForInput(entry, nil, speech, flow)
        case .dtmfAndSpeech(let dtmf, let speech): waitForInput(entry, dtmf, speech, flow)
        }
        return false
    }

    private mutating func waitForInput(_ entry: CallPlan.Entry, _ dtmf: Input.DTMF?, _ speech: Input.Speech?, _ flow: Int) {
        let serial = flows[flow].serial
        // What is heard for ever is cut off by whoever presses or speaks; nobody waits for its end.
        let base = flows[flow].promptEnds == .max ? now : max(now, flows[flow].promptEnds)
        let start = now + Pace.reaction
        var digits = ""
        var (isTimedOut, results, reason): (Bool, [String], String?) = (false, [], nil)
        var end: Int64
        switch entry {
        case .press(let keys) where dtmf != nil:
            let most = dtmf?.maxDigits?.value ?? 4
            let endsOnHash = dtmf?.submitOnHash ?? false
            let patience = Int64(dtmf?.timeOut?.value ?? 3) * 1000
            var time = start
            var isDone = false
            for (index, key) in keys.enumerated() {
                time = start + Int64(index) * Pace.betweenKeys
                if endsOnHash, key == "#" {
                    isDone = true
                    break
                }
                digits.append(key)
                if digits.count == most {
                    isDone = true
                    break
                }
            }
            schedule(start, .happens(flow: flow, serial: serial, .presses(keys)))
            isTimedOut = !isDone
            end = isDone ? time : time + patience
        case .say(let words) where speech != nil:
            let count = Int64(max(words.split(separator: " ").count, 1))
            var length = max(Pace.reaction, count * Pace.eachWord)
            let most = Int64(speech?.maxDuration?.value ?? 60) * 1000
            results = [words]
            if length > most {
                length = most
                reason = "max_duration"
                end = start + length
            } else {
                reason = "end_on_silence_timeout"
                end = start + length + Int64((speech?.endOnSilence?.value ?? 2) * 1000)
            }
            schedule(start, .happens(flow: flow, serial: serial, .says(words)))
        case .press(let keys):
            schedule(start, .happens(flow: flow, serial: serial, .presses(keys)))
            end = silenceEnds(base, dtmf, speech)
            reason = "start_timeout"
        case .say(let words):
            schedule(start, .happens(flow: flow, serial: serial, .says(words)))
            end = silenceEnds(base, dtmf, speech)
            isTimedOut = true
        case .nothing:
            note(.stays)
            end = silenceEnds(base, dtmf, speech)
            isTimedOut = dtmf != nil
            reason = speech == nil ? nil : "start_timeout"
        }
        end = max(end, now)
        schedule(
            end,
            .inputEnds(flow: flow, serial: serial, inputFields(flow, digits, isTimedOut, dtmf != nil, results, reason, speech)))
    }

    /// When an input ends into which nothing comes: with the longer of its two patiences.
    private func silenceEnds(_ base: Int64, _ dtmf: Input.DTMF?, _ speech: Input.Speech?) -> Int64 {
        let keys = dtmf.map { Int64($0.timeOut?.value ?? 3) * 1000 } ?? 0
        let words = speech.map { Int64($0.startTimeout?.value ?? 10) * 1000 } ?? 0
        return base + max(keys, words)
    }

    private func inputFields(
        _ flow: Int, _ digits: String, _ isTimedOut: Bool, _ takesKeys: Bool, _ results: [String], _ reason: String?,
        _ speech: Input.Speech?
    ) -> WebhookFields {
        var speechJSON: [UInt8] = Array("{".utf8)
        if let reason { speechJSON += "\"timeout_reason\":\"\(reason)\",".utf8 }
        speechJSON += "\"results\":[".utf8
        for (index, text) in results.enumerated() {
            if index > 0 { speechJSON.append(UInt8(ascii: ",")) }
            speechJSON += "{\"text\":".utf8
            speechJSON.appendJSONString(text)
            speechJSON += ",\"confidence\":\"0.9312\"}".utf8
        }
        speechJSON.append(UInt8(ascii: "]"))
        if speech?.saveAudio == true, !results.isEmpty {
            speechJSON += ",\"recording_url\":\"https://api-us.nexmo.com/v1/files/\(newID())\"".utf8
        }
        speechJSON.append(UInt8(ascii: "}"))
        var dtmfJSON: [UInt8] = Array("{\"digits\":".utf8)
        if takesKeys, results.isEmpty { dtmfJSON.appendJSONString(digits) } else { dtmfJSON += "null".utf8 }
        dtmfJSON += ",\"timed_out\":\(isTimedOut && results.isEmpty)}".utf8
        let leg = legs[flows[flow].leg]
        return WebhookFields([
            "speech": .json(speechJSON), "dtmf": .json(dtmfJSON), "from": .textOrNull(leg.from), "to": .textOrNull(leg.to),
            "uuid": .text(leg.uuid), "conversation_uuid": .text(leg.conversation),
        ])
    }

    mutating func endInput(_ flow: Int, _ serial: Int, _ fields: WebhookFields) {
        guard isCurrent(flow, serial), case .input(let input) = flows[flow].actions[flows[flow].index] else { return }
        flows[flow].promptEnds = 0
        var fields = fields
        fields.append("timestamp", timestamp)
        tell(fields, to: address(input.eventURL, input.eventMethod), leg: flows[flow].leg, then: .step(flow: flow, serial: serial))
    }

    /// One key of an input that tells each.
    mutating func pressKey(_ flow: Int, _ key: Character) {
        guard let address = flows[flow].keys, !legs[flows[flow].leg].status.isOver else { return }
        note(.presses(String(key)))
        var fields = inputFields(flow, String(key), false, true, [], nil, nil)
        fields.append("timestamp", timestamp)
        tell(fields, to: address, leg: flows[flow].leg, then: .replaces(flow: flow))
    }
}

extension Action {
    /// As Vonage spells it.
    var name: String {
        switch self {
        case .record: "record"
        case .conversation: "conversation"
        case .connect: "connect"
        case .talk: "talk"
        case .stream: "stream"
        case .input: "input"
        case .notify: "notify"
        case .wait: "wait"
        case .transfer: "transfer"
        }
    }
}
