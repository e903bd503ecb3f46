// SPDX-License-Identifier: MIT
//
// The calls of the REST API, played as they go: one thread has the player and its connections; requests leave their orders in a list and wake it.
// What a call comes to is written into the simulation before anybody is told of it, so that whoever looks up a call at its event finds it in that
// state. Of a call that is over nothing is kept here.

import Dispatch
import HTTPServer
import Locking
import NCCO
package import VonageAuth

package final class PlayedCalls: Sendable {
    /// What people do, and how they are told of.
    package struct Configuration: Sendable {
        /// Whoever is called.
        package var callee = CallPlan.Callee()
        /// What whoever is called by the REST API does at each input, in order.
        package var entries: [CallPlan.Entry] = []
        /// How long people talk with each other, in milliseconds.
        package var talkFor: Int64 = 12_000
        /// Signs webhooks; nil leaves them unsigned.
        package var secrets: SignatureSecrets?
        /// For webhooks with TLS; nil where that is not to be had, and they fail.
        package var secure: SecureSender?
        /// Is told each thing that happens, a line each.
        package var report: @Sendable (String) -> Void = { _ in }

        package init() {}
    }

    /// Orders that wait for the thread; more only where it is held up.
    static let mostOrders = 10_000

    private let inbox: OrderInbox
    private let running = DispatchGroup()

    /// Starts the thread.
    ///
    /// - Throws: where there are no descriptors for it, or webhooks cannot be signed.
    init(_ configuration: Configuration, simulation: SharedSimulation, applicationID: ApplicationID, clock: Clock) throws {
        let inbox = OrderInbox()
        self.inbox = inbox
        let failure = Locked<(any Error)?>(nil)
        let (ready, running) = (DispatchGroup(), running)
        ready.enter()
        running.enter()
        DispatchQueue(label: "switchboard.simulator-calls").async {
            defer { running.leave() }
            do {
                let stage = try CallStage(configuration, simulation, applicationID, clock)
                inbox.wake(by: stage.waker)
                ready.leave()
                stage.run(inbox)
            } catch {
                failure.withLock { $0 = error }
                ready.leave()
            }
        }
        ready.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// Leaves orders for the thread, which carries them out in this order. Callable from any thread, and waits for nothing.
    ///
    /// - Returns: those that will not be carried out.
    func takeOn(_ orders: [CallOrder]) -> [CallOrder] { orders.isEmpty ? [] : inbox.add(orders) }

    /// Plays no further. What is under way breaks off; calls that are not over are left as they are.
    ///
    /// - Parameter milliseconds: how long the thread may take: it can be in the middle of looking up a name.
    func stop(milliseconds: Int = 2000) {
        inbox.stop()
        _ = running.wait(timeout: .now() + .milliseconds(milliseconds))
    }
}

/// Orders on their way to the thread.
final class OrderInbox: Sendable {
    private struct State {
        var orders: [CallOrder] = []
        var isStopped = false
        var waker: Waker?
    }

    private let state = Locked(State())

    func wake(by waker: Waker) { state.withLock { $0.waker = waker } }

    /// Returns those that there was no room for.
    func add(_ orders: [CallOrder]) -> [CallOrder] {
        let (refused, waker) = state.withLock { state in
            guard !state.isStopped, state.orders.count + orders.count <= PlayedCalls.mostOrders else { return (orders, Waker?.none) }
            state.orders += orders
            return ([], state.waker)
        }
        waker?.wake()
        return refused
    }

    /// Nil once it is stopped.
    func take() -> [CallOrder]? {
        state.withLock { state in
            defer { state.orders = [] }
            return state.isStopped ? nil : state.orders
        }
    }

    func stop() {
        let waker = state.withLock { state in
            state.isStopped = true
            return state.waker
        }
        waker?.wake()
    }
}

/// What the thread alone touches.
private final class CallStage {
    /// Nobody is woken by time alone; this only bounds the wait.
    private static let longestTurn: Int32 = 1000

    let waker: Waker
    private let configuration: PlayedCalls.Configuration
    private let simulation: SharedSimulation
    private let clock: Clock
    private let player: CallPlayer
    private var reader = NCCOReader()
    /// By the uuid of the call's first leg.
    private var handles: [String: PlayedCallHandle] = [:]

    init(
        _ configuration: PlayedCalls.Configuration, _ simulation: SharedSimulation, _ applicationID: ApplicationID, _ clock: Clock
    ) throws {
        (self.configuration, self.simulation, self.clock) = (configuration, simulation, clock)
        let transport = try LoopTransport(secure: configuration.secure)
        waker = transport.waker
        let signer = try configuration.secrets.map { try WebhookSigner(secrets: $0, applicationID: applicationID.description) }
        player = CallPlayer(transport: transport, pace: .real, signer: signer, clock: clock)
    }

    func run(_ inbox: OrderInbox) {
        while let orders = inbox.take() {
            for order in orders { carryOut(order) }
            player.turn(milliseconds: Self.longestTurn)
        }
    }

    private func carryOut(_ order: CallOrder) {
        let uuid = order.call
        switch order.what {
        case .begin(let plan): begin(uuid, plan)
        case .hangUp: change(uuid) { call, now in call.hangUp(uuid: uuid, at: now) }
        case .transfer(let ncco, let url):
            let reading = ncco.map { reader.read($0) }
            change(uuid) { call, now in call.transfer(uuid: uuid, ncco: reading, url: url, at: now) }
        case .talk(let text): change(uuid) { call, now in call.talk(text, uuid: uuid, at: now) }
        case .stream(let url): change(uuid) { call, now in call.stream(url, uuid: uuid, at: now) }
        case .press(let digits): change(uuid) { call, now in call.press(digits, uuid: uuid, at: now) }
        case .listen(let url): change(uuid) { call, now in call.listen(at: url, uuid: uuid, at: now) }
        }
    }

    private func change(_ uuid: String, _ body: (inout PlayedCall, _ now: Int64) -> Void) {
        if let handle = handles[uuid] { player.change(handle, body) }
    }

    private func begin(_ uuid: String, _ plan: CallPlan) {
        var plan = plan
        plan.callee = configuration.callee
        plan.entries = configuration.entries
        plan.talkFor = configuration.talkFor
        let follower = CallFollower(uuid, plan, simulation, configuration.report)
        let (simulation, clock) = (simulation, clock)
        let call = PlayedCall(
            plan, began: clock.wall(), ids: { TokenID().description },
            rooms: { name in simulation.use { $0.room(named: name, for: uuid, at: clock.wall()) } })
        let handle = player.play(
            call, changed: { follower.follow(&$0) },
            done: { [weak self] _ in
                follower.isOver = true
                self?.handles[uuid] = nil
            })
        if !follower.isOver { handles[uuid] = handle }
    }
}

/// Writes down what becomes of one call, for the simulation and for people.
private final class CallFollower {
    var isOver = false
    private let uuid: String
    private let simulation: SharedSimulation
    private let report: @Sendable (String) -> Void
    private var conversation: String?
    private var stepCount = 0

    init(_ uuid: String, _ plan: CallPlan, _ simulation: SharedSimulation, _ report: @escaping @Sendable (String) -> Void) {
        (self.uuid, self.simulation, self.report) = (uuid, simulation, report)
        conversation = plan.conversationID
        guard case .api(let party, let from, _, let answer) = plan.origin else { return }
        tell(PlayedStep(at: 0, what: .rings(party, from: from)))
        func shown(_ address: WebhookAddress) -> String {
            "\(address.method.rawValue) \(CallReport.plain(address.url))"
        }
        // Whom a call asks comes from whoever made it, and not from this command line.
        report(
            "\(mark)            events: \(plan.event.map(shown) ?? "nobody is told")\(answer.map { ", NCCO: \(shown($0))" } ?? "")")
    }

    /// Tells calls apart whose lines are mixed.
    private var mark: Substring { uuid.suffix(6) }

    func follow(_ call: inout PlayedCall) {
        let now = call.now
        let statuses = call.takeLegChanges().filter { $0.uuid == uuid }.map(\.status)
        let place = call.conversation(of: uuid)
        if !statuses.isEmpty || place != conversation {
            conversation = place
            simulation.use { vonage in
                if let place { vonage.move(call: uuid, to: place, at: now) }
                for status in statuses { _ = vonage.advance(call: uuid, to: status, at: now) }
            }
        }
        for step in call.steps.dropFirst(stepCount) { tell(step) }
        stepCount = call.steps.count
    }

    private func tell(_ step: PlayedStep) {
        if let line = CallReport.line(step) { report("\(mark) \(line)") }
    }
}
