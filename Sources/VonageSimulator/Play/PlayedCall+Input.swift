// SPDX-License-Identifier: MIT
//
// The action `input`: what whoever listens presses or says, when that is over, and what is told of it.

import JSON
import NCCO

extension PlayedCall {
    /// What an input heard.
    struct Heard {
        /// Nil where keys are of no interest, or words came first.
        var digits: String?
        var isTimedOut = false
        var words: String?
        /// Why listening for words ended, as `timeout_reason` has it.
        var reason: String?
        /// Words were listened for too, and a key came first.
        var isOverridden = false
        var savesAudio = false
    }

    /// Whether the next action follows at once.
    mutating func listen(_ input: Input, _ flow: Int) -> Bool {
        let entry = takeEntry(flow)
        flows[flow].isBargeIn = false
        switch input.listening {
        case .eachKey:
            tellEachKey(of: entry, flow, to: address(input.eventURL, input.eventMethod))
            return true
        case .dtmf(let dtmf): wait(for: entry, dtmf, nil, flow)
        case .speech(let speech): wait(for: entry, nil, speech, flow)
        case .dtmfAndSpeech(let dtmf, let speech): wait(for: entry, dtmf, speech, flow)
        }
        return false
    }

    private mutating func wait(for entry: CallPlan.Entry, _ dtmf: Input.DTMF?, _ speech: Input.Speech?, _ flow: Int) {
        // Whoever presses or speaks cuts off what is heard; who does neither hears it to its end before patience begins to run out.
        let start = now + Pace.reaction
        var heard = Heard(digits: dtmf.map { _ in "" }, isTimedOut: dtmf != nil, reason: speech.map { _ in "start_timeout" })
        var ends = silenceEnds(flow, dtmf, speech)
        switch entry {
        case .press(let keys):
            schedule(start, .happens(flow: flow, serial: flows[flow].serial, .presses(keys)))
            if let dtmf { (heard, ends) = hear(keys: keys, dtmf, isOverriding: speech != nil) }
        case .say(let words):
            schedule(start, .happens(flow: flow, serial: flows[flow].serial, .says(words)))
            if let speech { (heard, ends) = hear(words: words, speech) }
        case .nothing: note(.stays)
        }
        schedule(ends, .inputEnds(flow: flow, serial: flows[flow].serial, heard))
    }

    private func hear(keys: String, _ dtmf: Input.DTMF, isOverriding: Bool) -> (Heard, ends: Int64) {
        let most = dtmf.maxDigits?.value ?? 4
        var heard = Heard(digits: "", isTimedOut: true, isOverridden: isOverriding)
        var digits = ""
        var time = now + Pace.reaction
        for (index, key) in keys.enumerated() {
            time = now + Pace.reaction + Int64(index) * Pace.betweenKeys
            // The key that sends the others is none of them.
            let submits = key == "#" && dtmf.submitOnHash == true
            if !submits { digits.append(key) }
            guard !submits, digits.count < most else {
                heard.isTimedOut = false
                break
            }
        }
        heard.digits = digits
        return (heard, heard.isTimedOut ? time + Int64(dtmf.timeOut?.value ?? 3) * 1000 : time)
    }

    private func hear(words: String, _ speech: Input.Speech) -> (Heard, ends: Int64) {
        let spoken = words.split(separator: " ")
        let length = max(Pace.reaction, Int64(spoken.count) * Pace.eachWord)
        let most = Int64(speech.maxDuration?.value ?? 60) * 1000
        let start = now + Pace.reaction
        var heard = Heard(words: words, reason: "end_on_silence_timeout", savesAudio: speech.saveAudio == true)
        guard length > most else { return (heard, start + length + milliseconds(speech.endOnSilence?.value ?? 2)) }
        heard.words = spoken.prefix(Int(most / Pace.eachWord)).joined(separator: " ")
        heard.reason = "max_duration"
        return (heard, start + most)
    }

    /// When an input ends into which nothing comes: with the longer of its two patiences.
    private func silenceEnds(_ flow: Int, _ dtmf: Input.DTMF?, _ speech: Input.Speech?) -> Int64 {
        let keys = dtmf.map { Int64($0.timeOut?.value ?? 3) * 1000 } ?? 0
        let words = speech.map { Int64($0.startTimeout?.value ?? 10) * 1000 } ?? 0
        return heardUntil(flow) + max(keys, words)
    }

    mutating func endInput(_ flow: Int, _ serial: Int, _ heard: Heard) {
        guard isCurrent(flow, serial), case .input(let input) = flows[flow].actions[flows[flow].index] else { return }
        flows[flow].promptEnds = 0
        tell(
            inputFields(flow, heard), to: address(input.eventURL, input.eventMethod), leg: flows[flow].leg,
            then: .step(flow: flow, serial: serial))
    }

    /// From now on keys are told as they are pressed, those of `entry` first.
    mutating func tellEachKey(of entry: CallPlan.Entry, _ flow: Int, to address: WebhookAddress?) {
        flows[flow].keys = address
        guard case .press(let keys) = entry else { return }
        for (index, key) in keys.enumerated() {
            schedule(now + Pace.reaction + Int64(index) * Pace.betweenKeys, .key(flow: flow, key))
        }
    }

    /// One key of an input that tells each, for as long as the flow runs.
    mutating func pressKey(_ flow: Int, _ key: Character) {
        guard let address = flows[flow].keys, flows[flow].isRunning else { return }
        note(.presses(String(key)))
        tell(inputFields(flow, Heard(digits: String(key))), to: address, leg: flows[flow].leg, then: .replaces(flow: flow))
    }

    private func inputFields(_ flow: Int, _ heard: Heard) -> WebhookFields {
        var speech: [UInt8] = Array("{".utf8)
        if let reason = heard.reason { speech += "\"timeout_reason\":\"\(reason)\",".utf8 }
        if heard.isOverridden { speech += "\"error\":\"Speech overridden by DTMF\",".utf8 }
        speech += "\"results\":[".utf8
        if let words = heard.words {
            speech += "{\"text\":".utf8
            speech.appendJSONString(words)
            speech += ",\"confidence\":\"0.9312\"}".utf8
        }
        speech.append(UInt8(ascii: "]"))
        if heard.savesAudio { speech += ",\"recording_url\":\"https://api-us.nexmo.com/v1/files/\(newID())\"".utf8 }
        speech.append(UInt8(ascii: "}"))
        var dtmf: [UInt8] = Array("{\"digits\":".utf8)
        if let digits = heard.digits { dtmf.appendJSONString(digits) } else { dtmf += "null".utf8 }
        dtmf += ",\"timed_out\":\(heard.isTimedOut)}".utf8
        let leg = legs[flows[flow].leg]
        return WebhookFields([
            "speech": .json(speech), "dtmf": .json(dtmf), "from": .textOrNull(leg.from), "to": .textOrNull(leg.to),
            "uuid": .text(leg.uuid), "conversation_uuid": .text(leg.conversation), "timestamp": timestamp,
        ])
    }
}
