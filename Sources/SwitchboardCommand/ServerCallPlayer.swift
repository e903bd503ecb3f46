// SPDX-License-Identifier: MIT
//
// Plays calls against the server of this very process, in virtual time, for its page. Each call has a thread for the milliseconds that it takes;
// few go on at once, and one that does not end is given up. No other machine is asked, whatever an NCCO names, and where the server has a public
// address its webhooks come here all the same, and not around through the tunnel.

import Dispatch
import HTTPServer
import NCCO
import Switchboard
import Synchronization
import VonageAuth
import VonageSimulator

final class ServerCallPlayer: CallPlaying {
    /// At one time: each holds a thread.
    private static let most = 4
    /// Milliseconds of real time: as long as an answer and its fallback that never come.
    private static let patience: Int64 = 30_000
    /// Milliseconds of the call's time: a flow that goes in circles ends here.
    private static let longestCall: Int64 = 600_000

    private let base: String
    private let listening: String
    private let secrets: SignatureSecrets?
    private let applicationID: ApplicationID?
    private let underWay = Atomic<Int>(0)
    private let isStopped = Atomic<Bool>(false)
    private let queue = DispatchQueue(label: "calls-played", qos: .utility, attributes: .concurrent)

    /// - Parameters:
    ///   - settings: of the server, with the port that it has.
    ///   - secrets: with which webhooks are signed; nil where they are not.
    init(_ settings: Settings, secrets: SignatureSecrets?, applicationID: ApplicationID?) {
        base = settings.baseURL()
        listening = settings.listeningURL
        self.secrets = secrets
        self.applicationID = applicationID
    }

    let callees = CallPlan.Callee.Behavior.allCases.map(\.rawValue)

    func play(_ call: CallToPlay) -> String? {
        guard underWay.add(1, ordering: .relaxed).newValue <= Self.most, !isStopped.load(ordering: .relaxed) else {
            underWay.subtract(1, ordering: .relaxed)
            return nil
        }
        let name = "CON-\(TokenID())"
        queue.async {
            do { try self.run(self.plan(call, name)) } catch {
                Console.errors.print("a call could not be played: \(printable("\(error)"))")
            }
            self.underWay.subtract(1, ordering: .relaxed)
        }
        return name
    }

    /// Calls that go on end within a tenth of a second.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    private func run(_ plan: CallPlan) throws {
        let transport = try LoopTransport(
            connections: 4, reach: .standIn, standIn: LoopTransport.StandIn(url: base, instead: listening))
        let signer = try secrets.map { try WebhookSigner(secrets: $0, applicationID: applicationID?.description) }
        let player = CallPlayer(transport: transport, signer: signer)
        let end = Clock.system.monotonic() + Self.patience * 1000
        player.play(PlayedCall(plan, began: Clock.system.wall(), ids: { TokenID().description })) { _ in }
        while player.count > 0, Clock.system.monotonic() < end, !isStopped.load(ordering: .relaxed) { player.turn(milliseconds: 100) }
    }

    private func plan(_ call: CallToPlay, _ name: String) -> CallPlan {
        let origin: CallPlan.Origin =
            switch call.caller {
            case .phone(let number): .phone(from: number, to: call.to)
            case .app(let user): .app(user: user, to: call.to, customData: nil)
            }
        func address(_ flow: String, _ method: EventMethod) -> WebhookAddress {
            WebhookAddress(url: "\(base)/voice/\(flow)", method: method)
        }
        var plan = CallPlan(
            origin, answer: address(call.flow, .get), event: address("event", .post), fallback: address("fallback", .get))
        plan.callee = CallPlan.Callee(CallPlan.Callee.Behavior(rawValue: call.callee) ?? .answers)
        plan.entries = call.entries.map { entry in
            switch entry {
            case .press(let keys): .press(keys)
            case .say(let words): .say(words)
            }
        }
        plan.callerGivesUpAfter = Self.longestCall
        plan.conversationID = name
        return plan
    }
}
