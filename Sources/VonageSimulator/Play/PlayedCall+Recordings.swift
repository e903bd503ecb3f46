// SPDX-License-Identifier: MIT
//
// Recordings: when they begin, with which end, and what is told of them then.

import NCCO

extension PlayedCall {
    /// Recordings that go on at one time in a call; what an NCCO asks for beyond is not made.
    private static let mostRecordings = 20

    /// Whether the next action follows at once.
    mutating func record(_ record: Record, _ flow: Int) -> Bool {
        let leg = flows[flow].leg
        let hasEnd = record.timeOut != nil || record.endOnSilence != nil || record.endOnKey != nil
        let format = record.format ?? (record.split?.channels?.value ?? 0 > 2 ? .wav : .mp3)
        note(.records(format.rawValue))
        let events = address(record.eventURL, record.eventMethod)
        begin(
            PlayedRecording(
                began: now, leg: leg, conversation: legs[leg].conversation, step: hasEnd ? (flow, flows[flow].serial) : nil,
                format: format.rawValue, events: events, transcription: address(of: record.transcription, events),
                isTranscribed: record.transcription != nil))
        guard hasEnd else { return true }
        var ends: [Int64] = []
        if let time = record.timeOut { ends.append(now + Int64(time.value) * 1000) }
        if let silence = record.endOnSilence { ends.append(now + Pace.message + Int64(silence.value) * 1000) }
        let spoken = now + Pace.message
        if let key = record.endOnKey, case .press(let keys)? = upcomingEntry(flow), keys.contains(key.description),
            ends.allSatisfy({ spoken <= $0 })
        {
            _ = takeEntry(flow)
            schedule(spoken, .happens(flow: flow, serial: flows[flow].serial, .presses(key.description)))
            ends.append(spoken)
        }
        // With a key alone that nobody presses it goes on until the caller hangs up.
        if let time = ends.min() { endStep(flow, at: time) } else { leaveLater(flow) }
        return false
    }

    /// Records a conversation that a leg has started, where that is wanted.
    mutating func record(_ conversation: Conversation, _ leg: Int) {
        let transcription: Transcription?
        switch conversation.record {
        case .transcribed(let wanted): transcription = wanted
        case .on: transcription = nil
        case .off, nil: return
        }
        let events = address(conversation.eventURL, conversation.eventMethod)
        begin(
            PlayedRecording(
                began: now, leg: leg, conversation: legs[leg].conversation, step: nil, format: "mp3", events: events,
                transcription: address(of: transcription, events), isTranscribed: transcription != nil))
    }

    private func address(of transcription: Transcription?, _ events: WebhookAddress?) -> WebhookAddress? {
        guard let url = transcription?.eventURL else { return events }
        return WebhookAddress(url: url.description, method: transcription?.eventMethod ?? .post)
    }

    private mutating func begin(_ recording: PlayedRecording) {
        guard recordings.count < Self.mostRecordings else {
            if !hasTooManyRecordings {
                complain(.noted, "a recording is not made: \(Self.mostRecordings) go on already", cure: "let one record do")
            }
            hasTooManyRecordings = true
            return
        }
        recordings.append(recording)
    }

    /// Ends recordings, and tells of each and of its transcript.
    mutating func finishRecordings(_ isMeant: (PlayedRecording) -> Bool) {
        let ended = recordings.filter(isMeant)
        guard !ended.isEmpty else { return }
        recordings.removeAll(where: isMeant)
        for recording in ended {
            let id = newID()
            let seconds = max(now - recording.began, 0) / 1000
            // 32 kbit/s of mp3 and ogg, 16 bit at 16 kHz of wav, and a head.
            let size = (recording.format == "wav" ? 32_000 : 4000) * seconds + 44
            tell(
                WebhookFields([
                    "start_time": .text(isoTime(recording.began / 1000 * 1000)), "end_time": .text(isoTime(now / 1000 * 1000)),
                    "size": .number(Int(size)), "recording_url": .text("https://api.nexmo.com/v1/files/\(newID())"),
                    "recording_uuid": .text(id), "conversation_uuid": .text(recording.conversation), "timestamp": timestamp,
                ]), to: recording.events, leg: recording.leg)
            guard recording.isTranscribed else { continue }
            tell(
                WebhookFields([
                    "conversation_uuid": .text(recording.conversation), "type": .text("record"), "recording_uuid": .text(id),
                    "status": .text("transcribed"), "transcription_url": .text("https://api.nexmo.com/v1/files/\(newID())"),
                ]), to: recording.transcription, leg: recording.leg)
        }
    }
}
