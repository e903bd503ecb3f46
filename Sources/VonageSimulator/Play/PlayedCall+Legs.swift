// SPDX-License-Identifier: MIT
//
// How legs begin, change and end.
//
// - Source: Vonage, "Voice API Webhooks Reference"; the order of events as logs of real calls show it: `ringing` before `started` for a phone that
//   calls in, no `ringing` for app users, a callee's `completed` before the caller's, `completed` behind each end but `rejected` and `failed`.

import NCCO

extension PlayedCall {
    // MARK: The first leg

    mutating func beginFirstLeg() {
        let conversation = plan.conversationID ?? "CON-\(newID())"
        var leg: PlayedLeg
        switch plan.origin {
        case .phone(let from, let to):
            leg = PlayedLeg(
                uuid: plan.legID ?? hexID(), party: .phone(from), isInbound: true, from: from, to: to, conversation: conversation)
        case .sip(let from, let to, let headers):
            for header in headers where !isPassedOn(header.name) {
                complain(
                    .noted, "the SIP header \(printable(header.name)) is not passed on",
                    cure: "Vonage passes on those that begin with X-, but not with X-Nexmo, and User-to-User")
            }
            leg = PlayedLeg(uuid: plan.legID ?? hexID(), party: .sip(from), isInbound: true, from: from, to: to, conversation: conversation)
        case .app(let user, _, _):
            // The leg of an app user has no `from`, and their own name as `to`.
            leg = PlayedLeg(
                uuid: plan.legID ?? newID(), party: .app(user), isInbound: true, from: nil, to: user, conversation: conversation)
        case .api(let party, let from, _, _):
            leg = PlayedLeg(
                uuid: plan.legID ?? newID(), party: party, isInbound: false, from: from, to: party.name, conversation: conversation)
            leg.callee = plan.callee(party)
        }
        leg.events = plan.event
        legs.append(leg)
        guard leg.isInbound else {
            dial(0, ringsFor: plan.ringsFor)
            return
        }
        if plan.sendsEventsFirst { tellInbound() }
        request(.answer, plan.answer, answerFields(0), leg: 0, then: .ncco(leg: 0, turn: 0), mayCarryNCCO: true)
        if !plan.sendsEventsFirst { tellInbound() }
    }

    private mutating func tellInbound() {
        let isApp = if case .app = legs[0].party { true } else { false }
        if !isApp { tellState(0, "ringing") }
        tellState(0, "started")
        legs[0].isStartedTold = true
    }

    /// The call has an NCCO: an inbound leg is answered for it.
    mutating func answerInbound() {
        guard !legs[0].status.isOver, legs[0].answered == nil else { return }
        legs[0].status = .answered
        legs[0].answered = now
        noteChange(legs[0].uuid, .answered)
        note(.leg(callee: nil, uuid: legs[0].uuid, status: "answered", detail: nil))
        schedule(after(plan.longest), .ends(byPlatform: true))
        tellState(0, "answered")
    }

    /// No NCCO was to be had for a leg.
    mutating func drop(_ leg: Int) {
        if legs[leg].status.isAnswered { return hangUp(leg, byPlatform: true) }
        fail(leg, .failed, detail: "internal_error", sipCode: nil)
    }

    // MARK: Outbound legs

    /// Adds a leg that a `connect` calls, and dials it.
    mutating func addLeg(_ connect: Connect, flow: Int) {
        let party = CallPlan.Party(connect.endpoint)
        let isApp = if case .app = party { true } else { false }
        var from: String?
        switch connect.from {
        case .number(let number): from = number.description
        case .random: from = plan.ownNumber
        case nil:
            // An app user who calls is shown by name.
            if case .app(let user, _, _) = plan.origin { from = user }
        }
        var leg = PlayedLeg(
            uuid: isApp ? newID() : hexID(), party: party, isInbound: false, from: from, to: party.name,
            conversation: legs[flows[flow].leg].conversation)
        leg.events = connect.eventURL.map { WebhookAddress(url: $0.description, method: connect.eventMethod ?? .post) } ?? plan.event
        leg.isSynchronous = connect.eventType == .synchronous
        leg.callee = plan.callee(party)
        leg.connect = connect
        (leg.flow, leg.serial) = (flow, flows[flow].serial)
        legs.append(leg)
        note(.rings(party, from: from))
        if case .phone = party { judgeCallerID(connect.from) }
        dial(legs.count - 1, ringsFor: Int64(connect.timeout?.value ?? 60) * 1000)
    }

    /// Which numbers an account has cannot be known here: what may be wrong is noted, and the call goes on.
    private mutating func judgeCallerID(_ from: CallerID?) {
        var text = "a phone is called without a from: whoever is called sees an unknown number"
        if case .random? = from { return }
        if case .number(let number)? = from {
            let known = plan.knownNumbers
            guard !known.isEmpty, !known.contains(number.description) else { return }
            text = "a phone is called from \(number), which is not known as a number of ours and is not the caller's"
        }
        guard !complaints.contains(where: { $0.text == text }) else { return }
        complain(
            .noted, text,
            cure: "give connect one of your Vonage numbers as from: with another the call is not connected, or comes from an unknown number"
        )
    }

    private mutating func dial(_ index: Int, ringsFor limit: Int64) {
        let callee = legs[index].callee
        let party = legs[index].party
        noteChange(legs[index].uuid, .started)
        let answersAfter: Int64 = if case .websocket = party { min(callee.answersAfter, 500) } else { callee.answersAfter }
        let answers = [.answers, .machine].contains(callee.behavior)
        // Of an app user who answers nothing is told before.
        if party.rings || !answers || answersAfter > limit { tellStarted(index) }
        let isReached = ![.badNumber, .unreachable].contains(callee.behavior)
        if party.rings, isReached, answersAfter > 1000 || !answers { schedule(now + 1000, .ringing(leg: index)) }
        func sip(_ code: Int) -> Int? { party.rings ? code : nil }
        switch callee.behavior {
        case .answers, .machine: schedule(after(answersAfter), .answers(leg: index))
        case .busy: schedule(now + 2000, .fails(leg: index, .busy, detail: nil, sipCode: sip(486)))
        case .declines: schedule(now + 4000, .fails(leg: index, .rejected, detail: "declined", sipCode: sip(603)))
        case .unreachable: schedule(now + 3000, .fails(leg: index, .unanswered, detail: "unavailable", sipCode: sip(480)))
        case .badNumber: schedule(now + 500, .fails(leg: index, .rejected, detail: "invalid_number", sipCode: sip(404)))
        case .noAnswer: break
        }
        schedule(after(limit), .ringTimeout(leg: index))
    }

    private mutating func tellStarted(_ leg: Int) {
        guard !legs[leg].isStartedTold else { return }
        legs[leg].isStartedTold = true
        note(.leg(callee: calleeName(leg), uuid: legs[leg].uuid, status: "started", detail: nil))
        tellState(leg, "started")
    }

    mutating func ring(_ leg: Int) {
        guard legs[leg].status == .started else { return }
        legs[leg].status = .ringing
        noteChange(legs[leg].uuid, .ringing)
        note(.leg(callee: calleeName(leg), uuid: legs[leg].uuid, status: "ringing", detail: nil))
        tellState(leg, "ringing")
    }

    mutating func answer(_ leg: Int) {
        guard legs[leg].status == .started || legs[leg].status == .ringing else { return }
        tellStarted(leg)
        legs[leg].status = .answered
        legs[leg].answered = now
        noteChange(legs[leg].uuid, .answered)
        note(.leg(callee: calleeName(leg), uuid: legs[leg].uuid, status: "answered", detail: nil))
        tellState(leg, "answered")
        scheduleDetection(leg)
        guard leg > 0 else {
            schedule(after(plan.longest), .ends(byPlatform: true))
            return startFirst()
        }
        guard let connect = legs[leg].connect else { return }
        schedule(now + Int64(connect.limit?.value ?? 7200) * 1000, .limit(leg: leg))
        if case .phone(let phone) = connect.endpoint {
            if let digits = phone.dtmfAnswer { note(.presses(digits.description)) }
            if let whisper = phone.onAnswer {
                return request(
                    .onAnswer, WebhookAddress(url: whisper.url.description, method: .get), answerFields(leg), leg: leg,
                    then: .onAnswer(leg: leg), mayCarryNCCO: true)
            }
        }
        join(leg)
    }

    /// A call of the REST API was answered: its NCCO runs, or is asked for.
    private mutating func startFirst() {
        guard case .api(_, _, let ncco, let answer) = plan.origin else { return }
        if let ncco {
            var reader = NCCOReader()
            begin(reader.read(ncco), on: 0)
        } else {
            request(
                .answer, answer ?? plan.answer, answerFields(0), leg: 0, then: .ncco(leg: 0, turn: legs[0].turn), mayCarryNCCO: true)
        }
    }

    /// Whether a leg is on and belongs to the flow that called it; the REST API may have given it another NCCO.
    func isCallee(_ leg: Int) -> Bool { legs[leg].status.isAnswered && legs[leg].flow != nil }

    /// The callee talks with whoever's flow called it, until one of them hangs up.
    mutating func join(_ leg: Int) {
        guard isCallee(leg), let flow = legs[leg].flow else { return }
        note(.joins(legs[leg].party.name))
        let callee = legs[leg].callee
        // A machine hangs up when its time for a message is over.
        let isCallee = callee.hangsUp ?? (plan.calleeHangsUp || callee.behavior == .machine)
        schedule(after(callee.talkFor ?? plan.talkFor), .partsFrom(callee: leg, leg: isCallee ? leg : flows[flow].leg))
    }

    // MARK: Ends

    /// A leg ends without having been answered.
    mutating func fail(_ index: Int, _ status: CallStatus, detail: String?, sipCode: Int?) {
        guard legs[index].status == .started || legs[index].status == .ringing else { return }
        if !legs[index].isInbound { tellStarted(index) }
        legs[index].status = status
        noteChange(legs[index].uuid, status)
        note(.leg(callee: calleeName(index), uuid: legs[index].uuid, status: status.rawValue, detail: detail))
        let leg = legs[index]
        let asks = leg.isSynchronous && status != .cancelled
        tellFailure(index, detail: detail, sipCode: sipCode, then: asks ? step(of: index) : .told)
        let isVonages = status == .timeout || status == .cancelled
        if ![.rejected, .failed].contains(status) { tellCompleted(index, byPlatform: isVonages, sipCode: sipCode) }
        stopFlows(of: index)
        if !asks, let flow = leg.flow { endStep(flow, leg.serial) }
        judgeEntries()
    }

    /// A leg ends: by whoever is at its end, or by Vonage.
    mutating func hangUp(_ index: Int, byPlatform: Bool) {
        guard !legs[index].status.isOver else { return }
        let leg = legs[index]
        // Whoever called gave up before anybody answered.
        if leg.answered == nil, !leg.isInbound { return fail(index, .cancelled, detail: nil, sipCode: nil) }
        note(.hangsUp(callee: calleeName(index), platform: byPlatform))
        legs[index].status = .completed
        noteChange(leg.uuid, .completed)
        stopFlows(of: index)
        for other in legs.indices where legs[other].flow.map({ flows[$0].leg == index }) ?? false { hangUp(other, byPlatform: true) }
        var asks = false
        if case .websocket = leg.party, !byPlatform {
            asks = isAwaited(index)
            tellDisconnected(index, then: asks ? step(of: index) : .told)
        }
        finishRecordings { $0.leg == index }
        tellCompleted(index, byPlatform: byPlatform, sipCode: leg.party.rings && leg.answered != nil ? 200 : nil)
        if !asks, let flow = leg.flow { endStep(flow, leg.serial) }
        judgeEntries()
    }

    /// What the answer to an event about a leg may replace: the step that called it.
    private func step(of leg: Int) -> Purpose { legs[leg].flow.map { .step(flow: $0, serial: legs[leg].serial) } ?? .told }

    func calleeName(_ leg: Int) -> String? { leg == 0 ? nil : legs[leg].party.name }

    /// A leg's id as legs of phones have it: 32 hexadecimal digits.
    private func hexID() -> String { String(newID().filter { $0 != "-" }) }
}

extension CallPlan {
    /// A number of ours, where the call shows one.
    var ownNumber: String? {
        switch origin {
        case .phone(_, let to), .sip(_, let to, _): to
        case .api(_, let from, _, _): from
        case .app: nil
        }
    }

    /// Numbers that a phone may be called from without a doubt, the caller's own among them; empty where no number of ours is known.
    var knownNumbers: Set<String> {
        guard var known = ownNumber.map({ ownNumbers.union([$0]) }) ?? (ownNumbers.isEmpty ? nil : ownNumbers) else { return [] }
        if case .phone(let from, _) = origin { known.insert(from) }
        return Set(known.map { $0.hasPrefix("+") ? String($0.dropFirst()) : $0 })
    }
}

extension CallPlan.Party {
    /// Whether the leg goes through SIP, where it rings and has SIP's codes.
    var rings: Bool {
        switch self {
        case .phone, .sip, .vbc: true
        case .app, .websocket: false
        }
    }

    init(_ endpoint: Endpoint) {
        switch endpoint {
        case .phone(let phone): self = .phone(phone.number.description)
        case .app(let app): self = .app(app.user.description)
        case .websocket(let socket): self = .websocket(socket.uri.description)
        case .sip(let sip):
            switch sip.address {
            case .uri(let uri): self = .sip(uri.description)
            case .trunk(let user, let domain): self = .sip("\(user)@\(domain)")
            }
        case .vbc(let vbc): self = .vbc(vbc.extension.description)
        }
    }
}
