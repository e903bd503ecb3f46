// SPDX-License-Identifier: MIT
//
// The actions of an NCCO. One either lets the next follow at once, or ends when its time has come, a callee has left, or an event that may bring
// another NCCO has its answer.

import NCCO

extension PlayedCall {
    /// How long people take, and what is heard lasts, in milliseconds.
    enum Pace {
        static let taking: Int64 = 600
        static let reaction: Int64 = 1000
        static let betweenKeys: Int64 = 300
        static let soundFile: Int64 = 5000
        static let eachWord: Int64 = 400
        static let message: Int64 = 4000
        /// Characters that a voice speaks in a second.
        static let speech: Int64 = 15
    }

    /// Whether the next action follows at once.
    mutating func carryOut(_ action: Action, _ flow: Int) -> Bool {
        let leg = flows[flow].leg
        switch action {
        case .talk(let talk):
            note(.hears(text: spokenWords(talk.text.description).words, callee: calleeName(leg)))
            let once = max(Int64(talk.text.spokenLength) * 1000 / Pace.speech, 500)
            return play(once, loop: talk.loop, bargeIn: talk.bargeIn, flow)
        case .stream(let stream):
            note(.plays(url: stream.streamURL.description, callee: calleeName(leg)))
            return play(Pace.soundFile, loop: stream.loop, bargeIn: stream.bargeIn, flow)
        case .wait(let wait): endStep(flow, at: now + milliseconds(wait.timeout?.value ?? 10))
        case .record(let record): return self.record(record, flow)
        case .conversation(let conversation): enter(conversation, flow)
        case .connect(let connect): addLeg(connect, flow: flow)
        case .input(let input): return listen(input, flow)
        case .notify(let notify):
            tell(
                WebhookFields([
                    "payload": .object(notify.payload), "conversation_uuid": .text(legs[leg].conversation), "timestamp": timestamp,
                ]), to: address(notify.eventURL, notify.eventMethod), leg: leg, then: .step(flow: flow, serial: flows[flow].serial))
        case .transfer(let transfer):
            note(.enters(transfer.conversationID.description))
            for leg in legs.indices where !legs[leg].status.isOver { move(leg, to: transfer.conversationID.description) }
            leaveLater(flow)
        }
        return false
    }

    func address(_ url: WebURL?, _ method: EventMethod?) -> WebhookAddress? {
        url.map { WebhookAddress(url: $0.description, method: method ?? .post) } ?? plan.event
    }

    func milliseconds(_ seconds: Double) -> Int64 { Int64((seconds * 1000).rounded()) }

    private mutating func play(_ once: Int64, loop: Loop?, bargeIn: Bool?, _ flow: Int) -> Bool {
        let start = heardUntil(flow)
        let times = Int64(loop?.value ?? 1)
        let duration = once.multipliedReportingOverflow(by: times)
        let length = min(duration.overflow ? .max : duration.partialValue, max(plan.longest, 0))
        // Vonage: once it is true, it stays so until an input.
        if bargeIn == true { flows[flow].isBargeIn = true }
        if flows[flow].isBargeIn {
            flows[flow].promptEnds = times == 0 ? .max : after(start - now + length)
            return true
        }
        flows[flow].promptEnds = 0
        if times == 0 { leaveLater(flow) } else { endStep(flow, at: after(start - now + length)) }
        return false
    }

    /// Until when something is heard already; what is heard for ever gives way to whatever comes next.
    func heardUntil(_ flow: Int) -> Int64 { flows[flow].promptEnds == .max ? now : max(now, flows[flow].promptEnds) }

    private mutating func enter(_ conversation: Conversation, _ flow: Int) {
        let leg = flows[flow].leg
        let name = conversation.name.description
        note(.enters(name))
        move(leg, to: room(named: name))
        // Whoever does not start a conversation waits for a moderator, and none comes: there is music, and nothing to be recorded.
        if conversation.startOnEnter == false {
            if let music = conversation.musicOnHoldURL { note(.plays(url: music.description, callee: calleeName(leg))) }
        } else {
            record(conversation, leg)
        }
        leaveLater(flow)
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
