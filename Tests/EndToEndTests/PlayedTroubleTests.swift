// SPDX-License-Identifier: MIT
//
// Whole calls against the whole server, with everything on the way that networks do: doubled, lost, late, out of order, unsigned, cut off,
// answered by somebody else. Whatever the mix, each event that the server took is in the log, and the call that it shows is the one that was
// played.

import Foundation
import HTTPServer
import NCCO
import Testing

@testable import Switchboard
@testable import VonageAuth
@testable import VonageSimulator

struct PlayedTroubleTests {
    private static let secrets = SignatureSecrets(secret: Array("a-signature-secret-of-the-tests".utf8))

    /// An event that the server was brought, so many times.
    private struct Delivered: Hashable {
        let body: String
        let leg: String
        let status: String
        let time: String
    }

    /// As the reference tells states apart that have one time; the order of two legs is open.
    private static let order = ["started", "ringing", "answered", "human", "machine", "busy", "cancelled", "timeout", "unanswered"]

    private static func rank(_ status: String) -> Int {
        ["completed": 20, "rejected": 9, "failed": 9][status] ?? min(order.firstIndex(of: status) ?? 7, 9)
    }

    private func plan(_ seed: UInt64, _ url: String) -> CallPlan {
        let address = { (path: String, method: EventMethod) in WebhookAddress(url: "\(url)/voice/\(path)", method: method) }
        let origin: CallPlan.Origin =
            seed % 3 == 0
            ? .phone(from: "447700900123", to: TestServer.ourNumber)
            : .app(user: "Bob", to: seed % 3 == 1 ? "447700900\(100 + seed)" : "Alice", customData: nil)
        var plan = CallPlan(
            origin, answer: address("answer", seed % 2 == 0 ? .get : .post), event: address("event", .post),
            fallback: address("fallback", .get))
        plan.callee = CallPlan.Callee(CallPlan.Callee.Behavior.allCases[Int(seed) % CallPlan.Callee.Behavior.allCases.count])
        plan.calleeHangsUp = seed % 4 == 1
        if seed % 5 == 4 { plan.callerGivesUpAfter = 4000 }
        plan.sendsEventsFirst = seed % 2 == 1
        return plan
    }

    private func trouble(_ seed: UInt64) -> CallTrouble {
        var random = SplitMix64(seed: seed)
        func isOn() -> Bool { random.next() % 2 == 0 }
        var trouble = CallTrouble()
        trouble.seed = seed
        trouble.duplicate = isOn() ? 0.4 : 0
        trouble.drop = isOn() ? 0.2 : 0
        trouble.reorders = isOn()
        trouble.slow = isOn() ? 6000 : 0
        trouble.isUnsigned = isOn()
        trouble.skew = isOn() ? 120_000 : 0
        trouble.retries = isOn()
        trouble.cuts = isOn()
        trouble.answersWithPage = isOn()
        return trouble
    }

    /// What reached the server and was taken, by what was done to each request.
    private func delivered(_ call: PlayedCall) -> [Delivered: Int] {
        var counts: [Delivered: Int] = [:]
        for case .exchange(let exchange) in call.steps.map(\.what) where exchange.request.kind == .event {
            let words = exchange.trouble
            guard !words.contains("dropped"), !words.contains("answered by a tunnel"), !words.contains("connection cut"),
                !words.contains("unsigned")
            else { continue }
            let fields = exchange.request.fields
            let event = Delivered(
                body: String(decoding: fields.json, as: UTF8.self), leg: fields.text("uuid") ?? fields.text("call_uuid") ?? "",
                status: exchange.request.event ?? "", time: fields.text("timestamp") ?? "")
            counts[event, default: 0] += words.contains("delivered twice") ? 2 : 1
        }
        return counts
    }

    @Test(arguments: [UInt64](0..<40))
    func `whatever happens on the way, the log has all that was taken and shows the call that was played`(_ seed: UInt64) throws {
        let webhooks = try WebhookGuard(WebhookVerifier(secrets: Self.secrets), unsigned: .retry)
        try withServer(webhooks: webhooks) { server in
            let trouble = trouble(seed)
            let player = CallPlayer(
                transport: try LoopTransport(poller: .underTest), signer: try WebhookSigner(secrets: Self.secrets), trouble: trouble)
            var played: [PlayedCall] = []
            for number in 0..<3 as Range<UInt64> {
                let call = PlayedCall(
                    plan(seed &+ number, server.url), began: Clock.system.wall() + trouble.skew,
                    ids: { TokenID().description })
                player.play(call, number: number, done: { played.append($0) })
            }
            player.run()
            #expect(played.count == 3)

            let client = try server.client()
            for call in played {
                let expected = delivered(call)
                let conversation = try #require(call.legs.first?.conversation)
                let answer = try client.ask(
                    get("/calls/\(conversation)?unmasked=1", "Authorization: Bearer \(TestServer.token)\r\n"))
                // All of a call's events may have been lost, and its request answered by a tunnel.
                guard answer.status == 200 else {
                    #expect(expected.isEmpty && answer.status == 404)
                    continue
                }
                let shown = try #require(try answer.json() as? [String: Any])
                let steps = try #require(shown["steps"] as? [[String: Any]]).filter { $0["kind"] as? String == "event" }
                #expect(steps.count == expected.count, "seed \(seed)")
                let wanted = expected.sorted {
                    ($0.key.time, Self.rank($0.key.status), $0.key.leg) < ($1.key.time, Self.rank($1.key.status), $1.key.leg)
                }
                for (step, event) in zip(steps.sortedInTies(), wanted) {
                    #expect(step["leg"] as? String == event.key.leg && step["status"] as? String == event.key.status, "seed \(seed)")
                    #expect(step["repeats"] as? Int == event.value - 1, "seed \(seed): \(event.key.body)")
                }
                // A leg is where its last event that was taken says.
                for leg in try #require(shown["legs"] as? [[String: Any]]) {
                    guard let uuid = leg["uuid"] as? String, let own = call.legs.first(where: { $0.uuid == uuid }) else { continue }
                    let states = Set(expected.keys.filter { $0.leg == uuid }.map(\.status))
                    if states.contains(own.status.rawValue) { #expect(leg["state"] as? String == own.status.rawValue, "seed \(seed)") }
                }
            }
            let bodies = try server.stopAndRead().filter { $0.kind == "event" }.map { record in
                record.text.components(separatedBy: "\"event\":").last.map { String($0.dropLast(18)) } ?? ""
            }
            let all = played.map { delivered($0) }.reduce(into: [Delivered: Int]()) { all, more in all.merge(more) { $0 + $1 } }
            for (event, count) in all {
                #expect(bodies.count { $0 == event.body } == count, "seed \(seed): \(event.body)")
            }
        }
    }

    @Test func `the same seed does the same`() throws {
        func play(_ seed: UInt64) throws -> [String] {
            try withServer { server in
                var trouble = trouble(seed)
                trouble.skew = 0
                let player = CallPlayer(transport: try LoopTransport(poller: .underTest), trouble: trouble)
                var lines: [String] = []
                let call = PlayedCall(
                    plan(seed, server.url), began: 1_796_000_000_000, ids: { TokenID().description })
                player.play(call, number: 7) { call in
                    lines = call.steps.map { step in
                        guard case .exchange(let exchange) = step.what else { return "\(step.at)" }
                        return "\(step.at) \(exchange.request.shownName) \(exchange.request.attempt) \(exchange.trouble)"
                    }
                }
                player.run()
                return lines
            }
        }
        for seed in 0..<6 as Range<UInt64> { #expect(try play(seed) == play(seed)) }
        #expect(try play(1) != play(2))
    }
}

extension [[String: Any]] {
    /// Of steps with one time and one status, those of the lesser leg first: which of two legs is told first is open.
    fileprivate func sortedInTies() -> [[String: Any]] {
        enumerated().sorted { one, other in
            let (left, right) = (one.element, other.element)
            guard left["time"] as? String == right["time"] as? String, left["status"] as? String == right["status"] as? String else {
                return one.offset < other.offset
            }
            return (left["leg"] as? String ?? "") < (right["leg"] as? String ?? "")
        }.map(\.element)
    }
}
