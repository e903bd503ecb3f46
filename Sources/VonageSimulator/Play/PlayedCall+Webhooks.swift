// SPDX-License-Identifier: MIT
//
// What is asked: the fields of an answer request in Vonage's order, one more try where Vonage makes one, then the fallback URL, then the end. An
// event goes the same way where its answer may hold an NCCO. What nobody waits for any more, the caller having hung up, is not asked again.
//
// - Source: Vonage, "Voice API Webhooks Reference" and the support article on NCCO fetch failures, for what is tried again: a connection that
//   failed or broke and 429, 503 and 504 once, other statuses, content types and NCCOs that cannot be read not at all. Of an event any status but
//   200 to 205 is tried again.

import JSON
import NCCO

extension PlayedCall {
    /// What a request's outcome is for.
    enum Purpose: Sendable {
        /// The NCCO of a leg, unless it has had another turn since.
        case ncco(leg: Int, turn: Int)
        case onAnswer(leg: Int)
        /// An event whose answer is of no interest.
        case told
        /// An event whose answer may replace the rest of a flow, if it still is at that step.
        case step(flow: Int, serial: Int)
        /// An event about a callee whose answer may replace the flow that called it.
        case replaces(flow: Int)
    }

    /// A request that has no outcome yet.
    struct Waiting: Sendable {
        let request: PlayedRequest
        let purpose: Purpose
        /// The request that the fallback URL stands in for.
        let original: PlayedRequest?
        let leg: Int
    }

    // MARK: Sending

    mutating func request(
        _ kind: PlayedRequest.Kind, _ address: WebhookAddress, _ fields: WebhookFields, leg: Int, then purpose: Purpose,
        mayCarryNCCO: Bool, attempt: Int = 1, original: PlayedRequest? = nil
    ) {
        if !isCircling, requestCount + needsToEnd >= Self.mostRequests {
            endCircle("\(requestCount) requests")
        }
        // From then on only what is told of the end goes out, and nothing twice.
        guard requestCount < Self.mostRequests, !isCircling || kind == .event && !mayCarryNCCO && attempt == 1 else { return }
        requestCount += 1
        let request = PlayedRequest(
            number: requestCount, kind: kind, attempt: attempt, address: address, fields: fields,
            leg: legs.indices.contains(leg) ? legs[leg].uuid : nil, at: now, connectLimit: plan.limits.connect,
            answerLimit: kind == .event ? plan.limits.event : plan.limits.answer, mayCarryNCCO: mayCarryNCCO)
        waiting[request.number] = Waiting(request: request, purpose: purpose, original: original, leg: leg)
        enqueue(request)
    }

    /// Requests that the end of the call takes: two for each leg and each recording, and some that come meanwhile.
    private var needsToEnd: Int { legs.count { !$0.status.isOver } * 2 + recordings.count * 2 + 50 }

    /// What an answer request says.
    func answerFields(_ index: Int) -> WebhookFields {
        let leg = legs[index]
        var fields = WebhookFields()
        switch plan.origin {
        case .app(let user, let to, let customData) where index == 0:
            if let to { fields.append("to", .text(to)) }
            fields.append("from_user", .text(user))
            addCommon(&fields, leg)
            if let customData { fields.append("custom_data", .text(String(decoding: customData.json, as: UTF8.self))) }
        case .sip(_, _, let headers) where index == 0:
            addParties(&fields, leg)
            addCommon(&fields, leg)
            for header in headers where isPassedOn(header.name) { fields.append("SipHeader_\(header.name)", .text(header.value)) }
        default:
            addParties(&fields, leg)
            addCommon(&fields, leg)
        }
        return fields
    }

    func isPassedOn(_ header: String) -> Bool {
        let name = header.lowercased()
        return name == "user-to-user" || name.hasPrefix("x-") && !name.hasPrefix("x-nexmo")
    }

    private func addParties(_ fields: inout WebhookFields, _ leg: PlayedLeg) {
        if let to = leg.to { fields.append("to", .text(to)) }
        if let from = leg.from { fields.append("from", .text(from)) }
    }

    private func addCommon(_ fields: inout WebhookFields, _ leg: PlayedLeg) {
        fields.append("endpoint_type", .text(leg.party.type))
        fields.append("conversation_uuid", .text(leg.conversation))
        fields.append("uuid", .text(leg.uuid))
        fields.append("region_url", .text(plan.regionURL))
    }

    // MARK: Outcomes

    /// Tells what became of a request that was taken.
    ///
    /// - Parameters:
    ///   - time: when that was, milliseconds since 1970.
    ///   - trouble: what was done to it on the way, in fixed words.
    package mutating func finish(
        _ number: Int, _ outcome: PlayedOutcome, trouble: [String] = [], at time: Int64, reader: inout NCCOReader
    ) {
        guard let waiting = waiting.removeValue(forKey: number) else { return }
        now = max(now, time)
        let request = waiting.request
        note(.exchange(PlayedExchange(request: request, outcome: outcome, trouble: trouble)), at: request.at)
        let name = request.shownName
        switch outcome {
        case .lost:
            complain(.noted, "the \(name) got lost on Vonage's side", about: number)
            proceed(waiting.purpose)
        case .failure(let failure, _):
            if failure.isRetried, request.attempt == 1 { return retry(waiting, failure.text) }
            giveUp(waiting, failure.text)
        case .reply(let reply):
            judgeSpeed(reply, request)
            // An answer that trouble has touched is no fault of the server's.
            receive(reply, waiting, fault: trouble.contains(where: Self.touchesAnswer) ? .noted : .broken, &reader)
        }
    }

    private mutating func receive(
        _ reply: PlayedReply, _ waiting: Waiting, fault: Complaint.Severity, _ reader: inout NCCOReader
    ) {
        let request = waiting.request
        let name = request.shownName
        guard reply.isSuccess else {
            let isBusy = [429, 503, 504].contains(reply.status)
            if request.attempt == 1, isBusy || request.kind == .event { return retry(waiting, "HTTP \(reply.status).") }
            if request.kind != .event, !isBusy {
                complain(
                    fault, "the \(name) was answered with \(reply.status), which Vonage tries no second time",
                    cure: "answer 200 with an NCCO, also where a call cannot be connected", about: request.number)
            }
            return giveUp(waiting, "HTTP \(reply.status).")
        }
        guard request.mayCarryNCCO, isAwaited(waiting.purpose) else { return proceed(waiting.purpose) }
        let isEvent = (waiting.original ?? request).kind == .event
        if isEvent, !looksLikeNCCO(reply.body) {
            if !looksEmpty(reply.body) {
                complain(
                    .noted, "the answer to the \(name) is no NCCO and counts as none",
                    cure: "answer with an array of actions, or with nothing", about: request.number)
            }
            return proceed(waiting.purpose)
        }
        guard reply.isJSON else {
            complain(
                fault,
                "the \(name) was answered as \(printable(reply.contentType ?? "no content type")), which Vonage does not take for an NCCO",
                cure: "send Content-Type: application/json", about: request.number)
            return giveUp(waiting, "Wrong content type.")
        }
        switch reader.read(reply.body) {
        case .refused(let findings):
            complain(about: findings, fault, request.number)
            tellSyntaxError(waiting.leg)
            giveUp(waiting, "Syntax error in NCCO. Invalid value type or action.")
        case .actions(let actions, let notes):
            complain(about: notes, .noted, request.number)
            take(actions, waiting.purpose)
        }
    }

    /// At most five of what is wrong with an NCCO.
    mutating func complain(about findings: [Finding], _ severity: Complaint.Severity = .broken, _ request: Int? = nil) {
        for finding in findings.prefix(5) { complain(severity, "NCCO: \(finding)", about: request) }
        if findings.count > 5 { complain(severity, "NCCO: \(findings.count - 5) more of that kind", about: request) }
    }

    /// Whether this trouble changes what is answered, and not only how often or how late.
    private static func touchesAnswer(_ trouble: String) -> Bool {
        ["answered by a tunnel", "answer lost", "unsigned"].contains(trouble)
    }

    /// What starts as an array does.
    private func looksLikeNCCO(_ body: [UInt8]) -> Bool {
        body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "[")
    }

    /// What servers say that have nothing to say.
    private func looksEmpty(_ body: [UInt8]) -> Bool {
        body.allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
            || ["{}", "null", "OK", "ok", "\"\""].contains { body.elementsEqual($0.utf8) }
    }

    private mutating func judgeSpeed(_ reply: PlayedReply, _ request: PlayedRequest) {
        let milliseconds = reply.micros / 1000
        guard milliseconds > request.answerLimit / 2 else { return }
        complain(
            .noted, "the \(request.shownName) was answered after \(milliseconds) ms of \(request.answerLimit)",
            cure: "answer at once, and do slow work behind the answer", about: request.number)
    }

    /// Whether what an answer says still matters: whoever it is for is there, and goes on waiting for it.
    private func isAwaited(_ purpose: Purpose) -> Bool {
        switch purpose {
        case .ncco(let leg, let turn): !legs[leg].status.isOver && legs[leg].turn == turn
        case .onAnswer(let leg): isCallee(leg)
        case .told: false
        case .step(let flow, let serial): isCurrent(flow, serial)
        case .replaces(let flow): flows[flow].isRunning
        }
    }

    private mutating func retry(_ waiting: Waiting, _ reason: String) {
        let request = waiting.request
        guard !isCircling else { return giveUp(waiting, reason) }
        // An event is told also where nobody waits for its answer.
        guard request.kind == .event || isAwaited(waiting.purpose) else { return }
        complain(.noted, "the \(request.shownName) is sent once more: \(reason)", about: request.number)
        self.request(
            request.kind, request.address, request.fields, leg: waiting.leg, then: waiting.purpose, mayCarryNCCO: request.mayCarryNCCO,
            attempt: 2, original: waiting.original)
    }

    /// No answer that counts came: the fallback URL is asked, once per request that it can stand in for, and then the call goes on without.
    private mutating func giveUp(_ waiting: Waiting, _ reason: String) {
        let request = waiting.request
        let isAwaited = isAwaited(waiting.purpose)
        if isAwaited, waiting.original == nil, request.kind == .answer || request.kind == .event, let fallback = plan.fallback {
            return ask(fallback, inPlaceOf: waiting, reason)
        }
        switch waiting.purpose {
        case .ncco(let leg, _):
            guard isAwaited else { return }
            complain(
                .lost, "the call is dropped: \(reason)",
                cure: plan.fallback == nil && request.kind == .answer ? "a fallback URL would have been asked" : "", about: request.number)
            drop(leg)
        case .onAnswer(let leg):
            guard isAwaited else { return }
            complain(.lost, "the callee is dropped, since onAnswer gave no NCCO: \(reason)", about: request.number)
            hangUp(leg, byPlatform: true)
        case .told, .step, .replaces:
            complain(
                .lost, "the \(request.shownName) is lost after \(request.attempt == 1 ? "one try" : "two tries"): \(reason)",
                about: request.number)
            proceed(waiting.purpose)
        }
    }

    private mutating func ask(_ fallback: WebhookAddress, inPlaceOf waiting: Waiting, _ reason: String) {
        let request = waiting.request
        var original: [UInt8] = Array("{\"url\":".utf8)
        original.appendJSONString(request.address.url)
        original += ",\"type\":\"\(request.kind.rawValue)\"}".utf8
        var fields = request.fields
        fields.append("reason", .text(reason))
        fields.append("original_request", .json(original))
        complain(.noted, "the fallback URL is asked in place of the \(request.shownName): \(reason)", about: request.number)
        self.request(.fallback, fallback, fields, leg: waiting.leg, then: waiting.purpose, mayCarryNCCO: true, original: request)
    }

    /// Goes on where an event's answer held no NCCO.
    mutating func proceed(_ purpose: Purpose) {
        if case .step(let flow, let serial) = purpose { endStep(flow, serial) }
    }

    /// Only of what is still awaited.
    private mutating func take(_ actions: [Action], _ purpose: Purpose) {
        switch purpose {
        case .ncco(let leg, _): begin(actions, on: leg)
        case .onAnswer(let leg): beginWhisper(actions, leg)
        case .step(let flow, _), .replaces(let flow): replace(flow, by: actions)
        case .told: break
        }
    }
}

extension PlayedRequest {
    /// For messages: `answer request`, `busy event`.
    package var shownName: String {
        switch kind {
        case .answer: "answer request"
        case .event: "\(event ?? "") event"
        case .fallback: "fallback request"
        case .onAnswer: "onAnswer request"
        case .transfer: "transfer request"
        }
    }
}
