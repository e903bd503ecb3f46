// SPDX-License-Identifier: MIT
//
// What is told of legs: the event of each state, with Vonage's fields, nulls and order.
//
// - Source: Vonage, "Voice API Webhooks Reference"; members that only logs of real calls show, such as `headers`, are there too.

import NCCO

extension PlayedCall {
    /// What a minute of a leg to or from a phone costs, in hundred-millionths of a euro.
    private static let rate: Int64 = 720_000

    var timestamp: WebhookFields.Value { .text(isoTime(now)) }

    /// Tells of something; nothing is sent where the application has no event URL, and the flow goes on as if nobody answered.
    mutating func tell(_ fields: WebhookFields, to address: WebhookAddress?, leg: Int, then purpose: Purpose = .told) {
        guard let address = address ?? plan.event else { return proceed(purpose) }
        let isTold = if case .told = purpose { true } else { false }
        request(.event, address, fields, leg: leg, then: purpose, mayCarryNCCO: !isTold)
    }

    mutating func tellState(_ index: Int, _ status: String) {
        let leg = legs[index]
        let nullIfAnswered: WebhookFields.Value? = status == "answered" ? .null : nil
        tell(
            WebhookFields([
                "start_time": nullIfAnswered, "headers": .emptyObject, "rate": nullIfAnswered, "from": .textOrNull(leg.from),
                "to": .textOrNull(leg.to), "uuid": .text(leg.uuid), "conversation_uuid": .text(leg.conversation), "status": .text(status),
                "direction": .text(leg.direction), "network": nullIfAnswered, "timestamp": timestamp,
            ]), to: leg.events, leg: index)
    }

    /// `busy`, `cancelled`, `timeout`, `unanswered`, `rejected` or `failed`, whichever state the leg has.
    mutating func tellFailure(_ index: Int, detail: String?, sipCode: Int?, then purpose: Purpose) {
        let leg = legs[index]
        tell(
            WebhookFields([
                "from": .textOrNull(leg.from), "to": .textOrNull(leg.to), "uuid": .text(leg.uuid),
                "conversation_uuid": .text(leg.conversation), "status": .text(leg.status.rawValue), "detail": detail.map { .text($0) },
                "sip_code": sipCode.map { .number($0) }, "direction": .text(leg.direction), "timestamp": timestamp,
            ]), to: leg.events, leg: index, then: purpose)
    }

    /// A WebSocket's other side has closed it.
    mutating func tellDisconnected(_ index: Int, then purpose: Purpose) {
        let leg = legs[index]
        var headers = WebhookFields.Value.emptyObject
        if case .websocket(let socket)? = leg.connect?.endpoint, let given = socket.headers { headers = .object(given) }
        tell(
            WebhookFields([
                "from": .textOrNull(leg.from), "to": .textOrNull(leg.to), "uuid": .text(leg.uuid),
                "conversation_uuid": .text(leg.conversation), "status": .text("disconnected"), "headers": headers, "timestamp": timestamp,
            ]), to: leg.events, leg: index, then: purpose)
    }

    /// `human` or `machine`, by the id's other name.
    mutating func tellDetected(_ index: Int, _ status: String, subState: String?, then purpose: Purpose) {
        let leg = legs[index]
        tell(
            WebhookFields([
                "call_uuid": .text(leg.uuid), "from": .textOrNull(leg.from), "to": .textOrNull(leg.to), "status": .text(status),
                "sub_state": subState.map { .text($0) }, "conversation_uuid": .text(leg.conversation), "timestamp": timestamp,
            ]), to: leg.events, leg: index, then: purpose)
    }

    mutating func tellCompleted(_ index: Int, byPlatform: Bool, sipCode: Int?) {
        let leg = legs[index]
        // Only legs that go through SIP have a network, and are paid for by the minute.
        let isPaid = leg.party.rings
        let seconds = leg.answered.map { max(now - $0, 0) / 1000 } ?? 0
        // To a phone without a caller id Vonage shows, and tells in the end, that it is unknown.
        let isUnknown =
            if case .phone = leg.party, let connect = leg.connect, connect.from == nil { true } else { false }
        note(.leg(callee: calleeName(index), uuid: leg.uuid, status: "completed", detail: nil))
        tell(
            WebhookFields([
                // Whole seconds, as they are seen in logs.
                "headers": .emptyObject, "end_time": .text(isoTime(now / 1000 * 1000)), "uuid": .text(leg.uuid),
                "network": isPaid ? .text("US-FIXED") : .null, "duration": .text("\(seconds)"),
                "start_time": .textOrNull(leg.answered.map { isoTime($0 / 1000 * 1000) }),
                "rate": .text(isPaid ? money(Self.rate) : "0.00"), "price": .text(isPaid ? money(Self.rate * seconds / 60) : "0"),
                "from": isUnknown ? .text("Unknown") : .textOrNull(leg.from), "to": .textOrNull(leg.to),
                "conversation_uuid": .text(leg.conversation), "status": .text("completed"), "direction": .text(leg.direction),
                "disconnected_by": .text(byPlatform ? "platform" : "user"), "sip_code": sipCode.map { .number($0) },
                "timestamp": timestamp,
            ]), to: leg.events, leg: index)
    }

    /// A leg is in another conversation from now on.
    mutating func move(_ index: Int, to conversation: String) {
        let fields = WebhookFields([
            "type": .text("transfer"), "conversation_uuid_from": .text(legs[index].conversation),
            "conversation_uuid_to": .text(conversation), "uuid": .text(legs[index].uuid), "timestamp": timestamp,
        ])
        legs[index].conversation = conversation
        tell(fields, to: plan.event, leg: index)
    }

    mutating func tellSyntaxError(_ leg: Int) {
        tell(
            WebhookFields([
                "reason": .text("Syntax error in NCCO. Invalid value type or action."),
                "conversation_uuid": .text(legs[leg].conversation), "timestamp": timestamp,
            ]), to: plan.event, leg: leg)
    }

    private func money(_ amount: Int64) -> String {
        let digits = String(amount % 100_000_000)
        return "\(amount / 100_000_000).\(String(repeating: "0", count: 8 - digits.utf8.count))\(digits)"
    }
}

extension PlayedLeg {
    fileprivate var direction: String { isInbound ? "inbound" : "outbound" }
}
