// SPDX-License-Identifier: MIT
//
// How legs begin, change and end, and the event of each step with Vonage's fields, nulls and order.
//
// - Source: Vonage, "Voice API Webhooks Reference"; the order of events as logs of real calls show it: `ringing` before `started` for a phone that
//   calls in, no `ringing` for app users, `completed` behind each end but `rejected` and `failed`.

import NCCO

extension PlayedCall {
    /// What a minute of a leg to or from a phone costs, in hundred-millionths of a euro.
    private static let rate: Int64 = 720_000

    // MARK: The first leg

    mutating func beginFirstLeg() {
        let conversation = plan.conversationID ?? "CON-\(newID())"
        var leg: PlayedLeg
        switch plan.origin {
        case .phone(let from, let to):
            leg = PlayedLeg(
                uuid: plan.legID ?? hexID(), party: .phone(from), isInbound: true, from: from, to: to, conversation: conversation)
        case .sip(let from, let to, _):
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
        request(.answer, plan.answer, answerFields(0), leg: 0, then: .start, mayCarryNCCO: true)
        if !plan.sendsEventsFirst { tellInbound() }
    }

    private mutating func tellInbound() {
        if case .app = legs[0].party {
            tellState(0, "started")
        } else {
            tellState(0, "ringing")
            tellState(0, "started")
        }
        legs[0].isStartedTold = true
    }

    /// The call has an NCCO: an inbound leg is answered for it.
    mutating func answerInbound() {
        guard !legs[0].status.isOver, legs[0].answered == nil else { return }
        legs[0].status = .answered
        legs[0].answered = now
        noteChange(legs[0].uuid, .answered)
        note(.leg(callee: nil, uuid: legs[0].uuid, status: "answered", detail: nil))
        tellState(0, "answered")
    }

    /// No NCCO was to be had.
    mutating func dropFirstLeg() {
        guard !legs[0].status.isOver else { return }
        if legs[0].status.isAnswered { return hangUp(0, byPlatform: true) }
        fail(0, .failed, detail: "internal_error", sipCode: nil)
    }

    // MARK: Outbound legs

    /// Adds a leg that a `connect` calls, and dials it.
    mutating func addLeg(_ connect: Connect, flow: Int) -> Int {
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
        leg.flow = flow
        legs.append(leg)
        let index = legs.count - 1
        note(.rings(party, from: from))
        dial(index, ringsFor: Int64(connect.timeout?.value ?? 60) * 1000)
        return index
    }

    private mutating func dial(_ index: Int, ringsFor limit: Int64) {
        let callee = legs[index].callee
        let party = legs[index].party
        let rings: Bool
        switch party {
        case .app, .websocket: rings = false
        case .phone, .sip, .vbc: rings = true
        }
        noteChange(legs[index].uuid, .started)
        let answersAfter: Int64 = if case .websocket = party { min(callee.answersAfter, 500) } else { callee.answersAfter }
        // Of an app user who answers nothing is told before.
        if rings || ![.answers, .machine].contains(callee.behavior) || answersAfter > limit { tellStarted(index) }
        let start = now
        if rings, callee.behavior != .badNumber, callee.behavior != .unreachable, answersAfter > 1000 || callee.behavior != .answers {
            schedule(start + 1000, .ringing(leg: index))
        }
        schedule(start + limit, .ringTimeout(leg: index))
        let isApp = if case .app = party { true } else { false }
        switch callee.behavior {
        case .answers, .machine: schedule(start + answersAfter, .answers(leg: index))
        case .busy: schedule(start + 2000, .fails(leg: index, .busy, detail: nil, sipCode: 486))
        case .declines: schedule(start + 4000, .fails(leg: index, .rejected, detail: "declined", sipCode: isApp ? nil : 603))
        case .unreachable: schedule(start + 3000, .fails(leg: index, .unanswered, detail: "unavailable", sipCode: 480))
        case .badNumber: schedule(start + 500, .fails(leg: index, .rejected, detail: "invalid_number", sipCode: isApp ? nil : 404))
        case .noAnswer: break
        }
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
        guard leg > 0 else { return startFirst() }
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
            begin(reader.read(ncco), on: 0, about: nil)
        } else {
            request(.answer, answer ?? plan.answer, answerFields(0), leg: 0, then: .start, mayCarryNCCO: true)
        }
    }

    /// The callee talks with whoever called, until one of them hangs up.
    mutating func join(_ leg: Int) {
        guard legs[leg].status.isAnswered else { return }
        note(.joins(legs[leg].party.name))
        let callee = legs[leg].callee
        let duration = callee.talkFor ?? plan.talkFor
        // A machine hangs up when its time for a message is over.
        let isCallee = callee.hangsUp ?? (plan.calleeHangsUp || callee.behavior == .machine)
        schedule(now + duration, .hangsUp(leg: isCallee ? leg : 0))
    }

    private mutating func scheduleDetection(_ leg: Int) {
        let detection = leg == 0 ? plan.detection : legs[leg].connect?.machineDetection
        guard let detection else { return }
        let isMachine = legs[leg].callee.behavior == .machine
        guard isMachine else { return schedule(now + 2000, .detected(leg: leg, .human)) }
        if case .advanced(let advanced) = detection {
            if advanced.mode != .detectBeep { schedule(now + 4000, .detected(leg: leg, .machine)) }
            if advanced.mode == .detectBeep || advanced.mode == .default { schedule(now + 8000, .detected(leg: leg, .beep)) }
        } else {
            schedule(now + 4000, .detected(leg: leg, .machine))
        }
    }

    mutating func detect(_ index: Int, _ party: DetectedParty) {
        let leg = legs[index]
        guard leg.status.isAnswered else { return }
        let isHuman = if case .human = party { true } else { false }
        let isBeep = if case .beep = party { true } else { false }
        if !isHuman, leg.status != .machine {
            legs[index].status = .machine
            noteChange(leg.uuid, .machine)
        }
        let status = isHuman ? "human" : "machine"
        note(.leg(callee: calleeName(index), uuid: leg.uuid, status: status, detail: isBeep ? "beep_start" : nil))
        var fields = WebhookFields()
        fields.append("call_uuid", .text(leg.uuid))
        fields.append("from", .textOrNull(leg.from))
        fields.append("to", .textOrNull(leg.to))
        fields.append("status", .text(status))
        if isBeep { fields.append("sub_state", .text("beep_start")) }
        fields.append("conversation_uuid", .text(leg.conversation))
        fields.append("timestamp", timestamp)
        let detection = index == 0 ? plan.detection : leg.connect?.machineDetection
        var (hangsUp, mayReplace) = (detection == .hangup, false)
        if case .advanced(let advanced)? = detection {
            hangsUp = advanced.behavior == .hangup
            mayReplace = advanced.mode == .default
        }
        let flow = leg.flow ?? flows.firstIndex { $0.leg == index }
        if mayReplace, let flow {
            tell(fields, to: leg.events, leg: index, then: .replaces(flow: flow))
        } else {
            tell(fields, to: leg.events, leg: index)
        }
        if hangsUp, !isHuman { hangUp(index, byPlatform: true) }
    }

    // MARK: Ends

    /// A leg ends without having been answered.
    mutating func fail(_ index: Int, _ status: CallStatus, detail: String?, sipCode: Int?) {
        guard legs[index].status == .started || legs[index].status == .ringing else { return }
        let leg = legs[index]
        legs[index].status = status
        noteChange(leg.uuid, status)
        note(.leg(callee: calleeName(index), uuid: leg.uuid, status: status.rawValue, detail: detail))
        var purpose = Purpose.told
        let isFlows = leg.flow.map { flows.indices.contains($0) && flows[$0].isRunning } ?? false
        if leg.isSynchronous, let flow = leg.flow, isFlows, status != .cancelled { purpose = .step(flow: flow, serial: flows[flow].serial) }
        var fields = WebhookFields()
        fields.append("from", .textOrNull(leg.from))
        fields.append("to", .textOrNull(leg.to))
        addIDs(&fields, leg)
        fields.append("status", .text(status.rawValue))
        if let detail { fields.append("detail", .text(detail)) }
        if let sipCode { fields.append("sip_code", .number(sipCode)) }
        fields.append("direction", .text(leg.isInbound ? "inbound" : "outbound"))
        fields.append("timestamp", timestamp)
        let hasFollower = ![.rejected, .failed].contains(status)
        if case .step = purpose {
            tell(fields, to: leg.events, leg: index, then: purpose)
            if hasFollower { tellCompleted(index, byPlatform: true) }
        } else {
            tell(fields, to: leg.events, leg: index)
            if hasFollower { tellCompleted(index, byPlatform: status == .timeout || status == .cancelled) }
            if let flow = leg.flow, isFlows { endStep(flow, flows[flow].serial) }
        }
        if index == 0 { endOthers() }
    }

    /// A leg ends: by whoever is at its end, or by Vonage.
    mutating func hangUp(_ index: Int, byPlatform: Bool) {
        guard !legs.isEmpty, !legs[index].status.isOver else { return }
        let leg = legs[index]
        if leg.answered == nil, !leg.isInbound {
            // Whoever called gave up before anybody answered.
            fail(index, .cancelled, detail: nil, sipCode: nil)
            return
        }
        note(.hangsUp(callee: calleeName(index), platform: byPlatform))
        if case .websocket = leg.party, !byPlatform { tellDisconnected(index) }
        finishRecordings(of: index)
        legs[index].status = .completed
        noteChange(leg.uuid, .completed)
        tellCompleted(index, byPlatform: byPlatform)
        if index == 0 {
            endOthers()
        } else if let flow = leg.flow, flows.indices.contains(flow), flows[flow].isRunning, isWaiting(flow, for: index) {
            endStep(flow, flows[flow].serial)
        }
    }

    /// The call is over where its first leg is.
    private mutating func endOthers() {
        stopFlows()
        for other in legs.indices.dropFirst() { hangUp(other, byPlatform: true) }
        finishRecordings(of: nil)
    }

    // MARK: Events

    func calleeName(_ leg: Int) -> String? { leg == 0 ? nil : legs[leg].party.name }

    private func addIDs(_ fields: inout WebhookFields, _ leg: PlayedLeg) {
        fields.append("uuid", .text(leg.uuid))
        fields.append("conversation_uuid", .text(leg.conversation))
    }

    private mutating func tellState(_ index: Int, _ status: String) {
        let leg = legs[index]
        let isAnswered = status == "answered"
        var fields = WebhookFields()
        if isAnswered { fields.append("start_time", .null) }
        fields.append("headers", .emptyObject)
        if isAnswered { fields.append("rate", .null) }
        fields.append("from", .textOrNull(leg.from))
        fields.append("to", .textOrNull(leg.to))
        addIDs(&fields, leg)
        fields.append("status", .text(status))
        fields.append("direction", .text(leg.isInbound ? "inbound" : "outbound"))
        if isAnswered { fields.append("network", .null) }
        fields.append("timestamp", timestamp)
        tell(fields, to: leg.events, leg: index)
    }

    private mutating func tellDisconnected(_ index: Int) {
        let leg = legs[index]
        var headers = WebhookFields.Value.emptyObject
        if case .websocket(let socket)? = leg.connect?.endpoint, let given = socket.headers {
            headers = .object(given)
        }
        let fields = WebhookFields([
            "from": .textOrNull(leg.from), "to": .textOrNull(leg.to), "uuid": .text(leg.uuid),
            "conversation_uuid": .text(leg.conversation), "status": .text("disconnected"), "headers": headers, "timestamp": timestamp,
        ])
        guard let flow = leg.flow, flows.indices.contains(flow), flows[flow].isRunning, isWaiting(flow, for: index) else {
            return tell(fields, to: leg.events, leg: index)
        }
        tell(fields, to: leg.events, leg: index, then: .replaces(flow: flow))
    }

    private mutating func tellCompleted(_ index: Int, byPlatform: Bool) {
        let leg = legs[index]
        let isApp = if case .app = leg.party { true } else { false }
        let seconds = leg.answered.map { max(now - $0, 0) / 1000 } ?? 0
        // Whole seconds, as they are seen in logs.
        let end = isoTime(now / 1000 * 1000)
        var fields = WebhookFields()
        fields.append("headers", .emptyObject)
        fields.append("end_time", .text(end))
        fields.append("uuid", .text(leg.uuid))
        fields.append("network", isApp ? .null : .text("US-FIXED"))
        fields.append("duration", .text("\(seconds)"))
        fields.append("start_time", leg.answered.map { .text(isoTime($0 / 1000 * 1000)) } ?? .null)
        fields.append("rate", .text(isApp ? "0.00" : money(Self.rate)))
        fields.append("price", .text(isApp ? "0" : money(Self.rate * seconds / 60)))
        // To a phone without a caller id Vonage shows, and tells in the end, that it is unknown.
        let isUnknown =
            if case .phone = leg.party, !leg.isInbound, let connect = leg.connect, connect.from == nil { true } else { false }
        fields.append("from", isUnknown ? .text("Unknown") : .textOrNull(leg.from))
        fields.append("to", .textOrNull(leg.to))
        fields.append("conversation_uuid", .text(leg.conversation))
        fields.append("status", .text("completed"))
        fields.append("direction", .text(leg.isInbound ? "inbound" : "outbound"))
        fields.append("disconnected_by", .text(byPlatform ? "platform" : "user"))
        fields.append("timestamp", timestamp)
        note(.leg(callee: calleeName(index), uuid: leg.uuid, status: "completed", detail: nil))
        tell(fields, to: leg.events, leg: index)
    }

    /// A leg is in another conversation from now on.
    mutating func move(_ index: Int, to conversation: String) {
        let fields = WebhookFields([
            "type": .text("transfer"), "conversation_uuid_from": .text(legs[index].conversation),
            "conversation_uuid_to": .text(conversation),
            "uuid": .text(legs[index].uuid), "timestamp": timestamp,
        ])
        legs[index].conversation = conversation
        tell(fields, to: plan.event, leg: index)
    }

    /// A leg's id as legs of phones have it: 32 hexadecimal digits.
    private func hexID() -> String { String(newID().filter { $0 != "-" }) }

    private func money(_ amount: Int64) -> String {
        let digits = String(amount % 100_000_000)
        return "\(amount / 100_000_000).\(String(repeating: "0", count: 8 - digits.utf8.count))\(digits)"
    }
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
}

extension CallPlan.Party {
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
