// SPDX-License-Identifier: MIT
//
// Calls that are played against a closure: no socket, no clock, ids that count, and a start on a noon. What was sent and what happened is written
// a line each, so that a test reads like a log.

import HTTPServer
import NCCO

@testable import VonageSimulator

/// 2026-01-01T12:00:00Z.
let noon: Int64 = 1_767_268_800_000

/// A server that is a closure.
final class ScriptedServer: WebhookTransport {
    private let answer: (PlayedRequest) -> PlayedOutcome

    init(_ answer: @escaping (PlayedRequest) -> PlayedOutcome) { self.answer = answer }

    func send(_ request: PlayedRequest, authorization: String?, isCut: Bool, then: @escaping (PlayedOutcome) -> Void) {
        then(answer(request))
    }

    func turn(milliseconds: Int32) {}
}

/// Plays a call to its end; one that has none is given back as it is.
func play(_ plan: CallPlan, answering answer: @escaping (PlayedRequest) -> PlayedOutcome) -> PlayedCall {
    let player = CallPlayer(transport: ScriptedServer(answer))
    let counter = Counter()
    var call = PlayedCall(plan, began: noon) { counter.next() }
    let handle = player.play(call, done: { call = $0 })
    player.change(handle) { stuck, _ in call = stuck }
    return call
}

/// Plays a call whose requests have these answers, by kind or by the event's name and in order; all others are answered with nothing.
func play(_ plan: CallPlan, _ answers: [String: [PlayedOutcome]]) -> PlayedCall {
    var left = answers
    return play(plan) { request in
        let name = request.event ?? request.kind.rawValue
        guard let next = left[name]?.first else { return .nothing }
        left[name]?.removeFirst()
        return next
    }
}

/// Plays a phone's call with this NCCO.
func play(ncco: String, entries: [CallPlan.Entry] = [], callee: CallPlan.Callee = .init()) -> PlayedCall {
    var plan = phoneCall
    plan.entries = entries
    plan.callee = callee
    return play(plan, ["answer": [.ncco(ncco)]])
}

let answerAddress = WebhookAddress(url: "https://a.example/answer", method: .get)
let eventAddress = WebhookAddress(url: "https://a.example/event", method: .post)
let fallbackAddress = WebhookAddress(url: "https://b.example/fallback", method: .get)

/// From a phone to a number of ours.
let phoneCall = plan(.phone(from: "12025550101", to: "12025550100"))

func plan(_ origin: CallPlan.Origin, fallback: WebhookAddress? = nil) -> CallPlan {
    CallPlan(origin, answer: answerAddress, event: eventAddress, fallback: fallback)
}

extension PlayedOutcome {
    static let nothing = PlayedOutcome.reply(PlayedReply(status: 204))

    static func ncco(_ text: String) -> PlayedOutcome {
        .reply(PlayedReply(status: 200, contentType: "application/json", body: Array(text.utf8)))
    }

    static func status(_ status: Int) -> PlayedOutcome { .reply(PlayedReply(status: status)) }
    static func fails(_ failure: PlayedFailure) -> PlayedOutcome { .failure(failure, micros: 0) }
}

/// A call that a test drives itself, outcome by outcome.
struct HandPlayed {
    private(set) var call: PlayedCall
    private var reader = NCCOReader()
    /// Without an outcome yet.
    private(set) var open: [PlayedRequest] = []

    init(_ plan: CallPlan) {
        let counter = Counter()
        call = PlayedCall(plan, began: noon) { counter.next() }
        call.start()
        open = call.takeRequests()
    }

    mutating func change(_ body: (inout PlayedCall) -> Void) {
        body(&call)
        open += call.takeRequests()
    }

    /// Lets time pass, in milliseconds since the call began.
    mutating func pass(to time: Int64) {
        while let next = call.nextTime, next <= noon + time { change { $0.advance(to: next) } }
        change { $0.advance(to: noon + time) }
    }

    /// Answers the first open request of this name; all others stay open.
    mutating func answer(_ name: String, _ outcome: PlayedOutcome) {
        guard let place = open.firstIndex(where: { ($0.event ?? $0.kind.rawValue) == name }) else { return }
        let request = open.remove(at: place)
        var reader = reader
        change { $0.finish(request.number, outcome, at: $0.now, reader: &reader) }
        self.reader = reader
    }

    var openNames: [String] { open.map { $0.event ?? $0.kind.rawValue } }
}

extension PlayedCall {
    /// Requests in the order in which they were sent.
    var sent: [PlayedExchange] {
        let exchanges = steps.compactMap { step in if case .exchange(let exchange) = step.what { exchange } else { nil } }
        return exchanges.sorted { $0.request.number < $1.request.number }
    }

    /// A line for each request: `in answered +0.6`, `out(Alice) completed user +15.6`, `answer again +0.0 -> 503`.
    var told: [String] {
        sent.map { exchange in
            let request = exchange.request
            var line = request.event.map { "\(name(of: request.leg)) \($0)" } ?? request.kind.rawValue
            for member in ["detail", "sub_state", "disconnected_by"] {
                if let text = request.fields.text(member) { line += " \(text)" }
            }
            if request.attempt > 1 { line += " again" }
            line += " +\(seconds(request.at - began))"
            switch exchange.outcome {
            case .reply(let reply): return reply.isSuccess ? line : "\(line) -> \(reply.status)"
            case .failure(let failure, _): return "\(line) -> \(failure.rawValue)"
            case .lost: return "\(line) -> lost"
            }
        }
    }

    /// A line for each thing that people and actions do.
    var story: [String] { steps.compactMap { step in line(step.what).map { "\($0) +\(seconds(step.at))" } } }

    var complained: [String] { complaints.map { "\($0.severity.text): \($0.text)" } }

    /// Bodies of events of this name, or of requests of this kind.
    func bodies(_ name: String) -> [String] {
        sent.filter { ($0.request.event ?? $0.request.kind.rawValue) == name }
            .map { String(decoding: $0.request.fields.json, as: UTF8.self) }
    }

    private func name(of uuid: String?) -> String {
        guard let index = legs.firstIndex(where: { $0.uuid == uuid }) else { return "?" }
        return legs[index].isInbound ? "in" : index == 0 ? "out" : "out(\(legs[index].party.name))"
    }

    private func seconds(_ milliseconds: Int64) -> String { "\(Double(milliseconds) / 1000)" }

    private func line(_ what: PlayedStep.What) -> String? {
        func who(_ callee: String?) -> String { callee.map { "\($0) " } ?? "" }
        switch what {
        case .exchange, .complaint, .leg: return nil
        case .action(let name, let number, let count, let callee): return "\(who(callee))\(name) \(number)/\(count)"
        case .hears(let text, let callee): return "\(who(callee))hears \(text)"
        case .plays(let url, let callee): return "\(who(callee))plays \(url)"
        case .presses(let keys): return "presses \(keys)"
        case .says(let words): return "says \(words)"
        case .stays: return "stays"
        case .rings(let party, let from): return "rings \(party.type) \(party.name) as \(from ?? "nobody")"
        case .joins(let name): return "joins \(name)"
        case .enters(let name): return "enters \(name)"
        case .hangsUp(let callee, let platform): return "\(who(callee))hangs up\(platform ? " (platform)" : "")"
        case .records(let format): return "records \(format)"
        }
    }
}
