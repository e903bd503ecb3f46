// SPDX-License-Identifier: MIT
//
// A call as Vonage keeps it: which states follow which, and how it is shown. What happens between them is for whoever plays it.

import JSON

/// The state of a leg.
///
/// - Source: Vonage Voice API, `status` of `GET /v1/calls`.
package enum CallStatus: String, Sendable, CaseIterable {
    case started, ringing, answered, machine, completed, busy, cancelled, failed, rejected, timeout, unanswered

    /// Whether the leg has ended.
    package var isOver: Bool {
        switch self {
        case .started, .ringing, .answered, .machine: false
        case .completed, .busy, .cancelled, .failed, .rejected, .timeout, .unanswered: true
        }
    }

    /// Whether somebody or something listens.
    package var isAnswered: Bool { self == .answered || self == .machine }

    /// Nothing follows an end, and only what was answered is completed.
    func mayBecome(_ next: CallStatus) -> Bool {
        switch (self, next) {
        case (.started, .ringing), (.started, .answered), (.ringing, .answered), (.started, .machine), (.ringing, .machine),
            (.answered, .machine):
            true
        case (.answered, .completed), (.machine, .completed): true
        case (.started, _), (.ringing, _): next.isOver && next != .completed
        default: false
        }
    }
}

/// One leg that was made by the REST API.
struct SimulatedCall: Shelved {
    let id: String
    /// Where it is now.
    var conversation: String
    let to: JSONNode
    let from: JSONNode
    let region: String
    let created: Int64
    private(set) var status = CallStatus.started
    private(set) var answered, ended: Int64?
    var isMuted = false
    var isEarmuffed = false
    /// What is executed: actions, or where they are got from.
    var ncco: JSONNode?
    var answerURL: String?
    /// All that the request said, for whoever plays the call.
    let request: JSONNode
    /// Until when a text is spoken; nil where none is, the far end of time where it is repeated for ever.
    var talkEnds: Int64?
    var isStreaming = false

    var name: String? { nil }

    init(id: String, conversation: String, to: JSONNode, from: JSONNode, region: String, created: Int64, request: JSONNode) {
        (self.id, self.conversation, self.to, self.from) = (id, conversation, to, from)
        (self.region, self.created, self.request) = (region, created, request)
    }

    /// False where this status cannot follow the one it has.
    mutating func advance(to next: CallStatus, at now: Int64) -> Bool {
        guard status.mayBecome(next) else { return false }
        status = next
        if next.isAnswered, answered == nil { answered = now }
        if next.isOver { ended = now }
        return true
    }

    var saved: JSONNode {
        .object([
            "uuid": .text(id), "conversation_uuid": .text(conversation), "to": to, "from": from, "region": .text(region),
            "created": .time(created), "status": .text(status.rawValue), "answered": .optionalTime(answered),
            "ended": .optionalTime(ended), "muted": .bool(isMuted), "earmuffed": .bool(isEarmuffed), "ncco": ncco,
            "answer_url": .optionalText(answerURL), "request": request,
        ])
    }

    init?(saved node: JSONNode) {
        func time(_ name: String) -> Int64? {
            node[name]?.whole.flatMap { SimulatedVonage.times.contains($0) ? $0 : nil }
        }
        guard let id = node["uuid"]?.string, let conversation = node["conversation_uuid"]?.string, let to = node["to"],
            let from = node["from"],
            let region = node["region"]?.string, let created = time("created"),
            let status = node["status"]?.string.flatMap(CallStatus.init), let request = node["request"]
        else { return nil }
        self.init(
            id: id, conversation: conversation, to: to, from: from, region: region, created: created, request: request)
        self.status = status
        (answered, ended) = (time("answered"), time("ended"))
        isMuted = node["muted"]?.flag ?? false
        isEarmuffed = node["earmuffed"]?.flag ?? false
        ncco = node["ncco"]
        answerURL = node["answer_url"]?.string
    }

    /// A hundred-millionth of a euro for each minute: 0.0072.
    private static let rate: Int64 = 720_000

    var shown: JSONNode {
        let seconds = ended.flatMap { ended in answered.map { max(ended - $0, 0) / 1000 } } ?? 0
        let isCompleted = status == .completed
        func money(_ amount: Int64) -> JSONNode {
            let digits = String(amount % 100_000_000)
            return .text("\(amount / 100_000_000).\(String(repeating: "0", count: 8 - digits.utf8.count))\(digits)")
        }
        return .object([
            "_links": .object(["self": .object(["href": .text("/calls/\(id)")])]), "uuid": .text(id),
            "conversation_uuid": .text(conversation), "to": to, "from": from, "status": .text(status.rawValue),
            "direction": .text("outbound"), "rate": isCompleted ? money(Self.rate) : nil,
            // Ten years of seconds times the rate fit many times over.
            "price": isCompleted ? money(Self.rate * min(seconds, 315_360_000) / 60) : nil,
            "duration": isCompleted ? .text("\(seconds)") : nil,
            "start_time": isCompleted ? answered.map { .text(callTime($0)) } : nil,
            "end_time": isCompleted ? ended.map { .text(callTime($0)) } : nil, "network": isCompleted ? .text("US-FIXED") : nil,
        ])
    }
}
