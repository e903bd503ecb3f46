// SPDX-License-Identifier: MIT
//
// What is asked and told: the fields of each request in Vonage's order, one more try where Vonage makes one, then the fallback URL, then the end.
//
// - Source: Vonage, "Voice API Webhooks Reference" and the support article on NCCO fetch failures, for what is tried again: a connection that
//   failed or broke and 429, 503 and 504 once, other statuses, content types and NCCOs that cannot be read not at all. Of an event any status but
//   200 to 205 is tried again.

import JSON
import NCCO

extension PlayedCall {
    /// What a request's outcome is for.
    indirect enum Purpose: Sendable {
        /// The call's first NCCO, or the one in its place.
        case start
        case onAnswer(leg: Int)
        case transfer(leg: Int)
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
        guard requestCount < Self.mostRequests else {
            if requestCount == Self.mostRequests {
                requestCount += 1
                complain(
                    .lost, "the call goes in circles: \(Self.mostRequests) requests, and none of them ends it",
                    cure: "let a flow that asks again give up after some tries")
                for leg in legs.indices { hangUp(leg, byPlatform: false) }
            }
            return
        }
        requestCount += 1
        let request = PlayedRequest(
            number: requestCount, kind: kind, attempt: attempt, address: address, fields: fields,
            leg: legs.indices.contains(leg) ? legs[leg].uuid : nil, at: now, connectLimit: plan.limits.connect,
            answerLimit: kind == .event ? plan.limits.event : plan.limits.answer, mayCarryNCCO: mayCarryNCCO)
        waiting[request.number] = Waiting(request: request, purpose: purpose, original: original, leg: leg)
        enqueue(request)
    }

    /// Tells of something; nothing is sent where the application has no event URL, and the flow goes on as if nobody answered.
    mutating func tell(
        _ fields: WebhookFields, to address: WebhookAddress?, leg: Int, then purpose: Purpose = .told
    ) {
        guard let address = address ?? plan.event else {
            proceed(purpose)
            return
        }
        if case .told = purpose {
            request(.event, address, fields, leg: leg, then: purpose, mayCarryNCCO: false)
        } else {
            request(.event, address, fields, leg: leg, then: purpose, mayCarryNCCO: true)
        }
    }

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
            for header in headers { fields.append("SipHeader_\(header.name)", .text(header.value)) }
        default:
            addParties(&fields, leg)
            addCommon(&fields, leg)
        }
        return fields
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

    var timestamp: WebhookFields.Value { .text(isoTime(now)) }

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
            receive(reply, waiting, &reader)
        }
    }

    private mutating func receive(_ reply: PlayedReply, _ waiting: Waiting, _ reader: inout NCCOReader) {
        let request = waiting.request
        let name = request.shownName
        guard reply.isSuccess else {
            let isRetried =
                if request.kind == .event { request.attempt == 1 } else { request.attempt == 1 && [429, 503, 504].contains(reply.status) }
            if isRetried { return retry(waiting, "HTTP \(reply.status).") }
            if request.kind != .event, ![429, 503, 504].contains(reply.status) {
                complain(
                    .broken, "the \(name) was answered with \(reply.status), which Vonage tries no second time",
                    cure: "answer 200 with an NCCO, also where a call cannot be connected", about: request.number)
            }
            return giveUp(waiting, "HTTP \(reply.status).")
        }
        guard request.mayCarryNCCO else { return proceed(waiting.purpose) }
        let isEvent = request.kind == .event
        if isEvent, !looksLikeNCCO(reply.body) {
            if !reply.body.isEmpty, !looksEmpty(reply.body) {
                complain(
                    .noted, "the answer to the \(name) is no NCCO and counts as none",
                    cure: "answer with an array of actions, or with nothing", about: request.number)
            }
            return proceed(waiting.purpose)
        }
        guard reply.isJSON else {
            complain(
                .broken,
                "the \(name) was answered as \(printable(reply.contentType ?? "no content type")), which Vonage does not take for an NCCO",
                cure: "send Content-Type: application/json", about: request.number)
            return giveUp(waiting, "Wrong content type.")
        }
        switch reader.read(reply.body) {
        case .refused(let findings):
            for finding in findings.prefix(5) { complain(.broken, "NCCO: \(finding)", about: request.number) }
            if findings.count > 5 { complain(.broken, "NCCO: \(findings.count - 5) more errors", about: request.number) }
            tellSyntaxError(waiting.leg)
            giveUp(waiting, "Syntax error in NCCO. Invalid value type or action.")
        case .actions(let actions): take(actions, waiting.purpose)
        }
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

    mutating func tellSyntaxError(_ leg: Int) {
        tell(
            WebhookFields([
                "reason": .text("Syntax error in NCCO. Invalid value type or action."),
                "conversation_uuid": .text(legs[leg].conversation), "timestamp": timestamp,
            ]), to: plan.event, leg: leg)
    }

    private mutating func judgeSpeed(_ reply: PlayedReply, _ request: PlayedRequest) {
        let milliseconds = reply.micros / 1000
        guard milliseconds > request.answerLimit / 2 else { return }
        complain(
            .noted, "the \(request.shownName) was answered after \(milliseconds) ms of \(request.answerLimit)",
            cure: "answer at once, and do slow work behind the answer", about: request.number)
    }

    private mutating func retry(_ waiting: Waiting, _ reason: String) {
        let request = waiting.request
        complain(.noted, "the \(request.shownName) is sent once more: \(reason)", about: request.number)
        self.request(
            request.kind, request.address, request.fields, leg: waiting.leg, then: waiting.purpose, mayCarryNCCO: request.mayCarryNCCO,
            attempt: 2, original: waiting.original)
    }

    /// No answer that counts came: the fallback URL is asked, once per request that it can stand in for, and then the call goes on without.
    private mutating func giveUp(_ waiting: Waiting, _ reason: String) {
        let request = waiting.request
        if request.mayCarryNCCO, waiting.original == nil, request.kind == .answer || request.kind == .event, let fallback = plan.fallback {
            var fields = request.fields
            fields.append("reason", .text(reason))
            var original: [UInt8] = Array("{\"url\":".utf8)
            original.appendJSONString(request.address.url)
            original += ",\"type\":\"\(request.kind.rawValue)\"}".utf8
            fields.append("original_request", .json(original))
            complain(.noted, "the fallback URL is asked in place of the \(request.shownName): \(reason)", about: request.number)
            return self.request(
                .fallback, fallback, fields, leg: waiting.leg, then: waiting.purpose, mayCarryNCCO: true, original: request)
        }
        switch waiting.purpose {
        case .start:
            complain(
                .lost, "the call is dropped: \(reason)",
                cure: plan.fallback == nil ? "a fallback URL would have been asked" : "", about: request.number)
            dropFirstLeg()
        case .onAnswer(let leg):
            complain(.lost, "the callee is dropped, since onAnswer gave no NCCO: \(reason)", about: request.number)
            hangUp(leg, byPlatform: true)
        case .transfer(let leg):
            complain(.lost, "the call is dropped, since its next NCCO could not be had: \(reason)", about: request.number)
            hangUp(leg, byPlatform: true)
        case .told, .step, .replaces:
            complain(
                .lost, "the \(request.shownName) is lost after \(request.attempt == 1 ? "one try" : "two tries"): \(reason)",
                about: request.number)
            proceed(waiting.purpose)
        }
    }

    /// Goes on where an event's answer held no NCCO.
    mutating func proceed(_ purpose: Purpose) {
        if case .step(let flow, let serial) = purpose { endStep(flow, serial) }
    }

    private mutating func take(_ actions: [Action], _ purpose: Purpose) {
        switch purpose {
        case .start: begin(.actions(actions), on: 0, about: nil)
        case .transfer(let leg): begin(.actions(actions), on: leg, about: nil)
        case .onAnswer(let leg): beginWhisper(actions, leg)
        case .step(let flow, let serial): if isCurrent(flow, serial) { replace(flow, by: actions) }
        case .replaces(let flow): if flows.indices.contains(flow), !legs[flows[flow].leg].status.isOver { replace(flow, by: actions) }
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
