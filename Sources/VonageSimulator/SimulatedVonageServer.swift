// SPDX-License-Identifier: MIT
//
// The simulated Vonage on a port. One worker answers, since nothing waits: an answer that is to be slow is handed to a timer, and the file with
// the state is written by a queue, after the answer and not for each one.

import Dispatch
package import HTTPServer
import HTTPWire
import Locking
package import VonageAuth

/// A running simulator.
package final class SimulatedVonageServer: Sendable {
    package struct Configuration: Sendable {
        package var host = "localhost"
        /// 0 lets the kernel choose.
        package var port: UInt16 = 3001
        /// Nil takes that of the saved state, or a new one.
        package var applicationID: ApplicationID?
        /// The application's private key. Where neither half is given, a new one is made.
        package var privateKey: PrivateKey?
        /// Its public half, where the private one is elsewhere.
        package var publicKey: PublicKey?
        package var rules = SimulatedVonage.Rules()
        package var trouble: Trouble?
        /// How calls are played; nil lets whoever is called answer at once, and nothing more happen.
        package var play: PlayedCalls.Configuration?
        /// What is gone on with.
        package var savedState: SavedState?
        /// Where the state is kept; nil keeps it in memory alone.
        package var stateFile: String?
        /// Is told, in one line, where the state cannot be kept.
        package var report: @Sendable (String) -> Void = { _ in }

        package init() {}
    }

    package let applicationID: ApplicationID
    /// Nil where only the public half was given.
    package let privateKey: PrivateKey?
    /// Where a program reaches it, without a slash at the end: `http://localhost:3001`.
    package let baseURL: String
    /// Where it listens, for people.
    package let addresses: [String]
    private let server: Server
    private let shared: SharedSimulation
    private let calls: PlayedCalls?
    private let clock: Clock

    /// Listens; returns once requests are answered.
    package init(_ configuration: Configuration, clock: Clock = .system) throws {
        var privateKey = configuration.privateKey
        if privateKey == nil, configuration.publicKey == nil { privateKey = try PrivateKey.generate() }
        guard let publicKey = privateKey?.publicKey ?? configuration.publicKey,
            let id = configuration.applicationID ?? configuration.savedState?.applicationID ?? ApplicationID(TokenID().description)
        else { throw SimulatorError("there is no key to check tokens with") }
        var rules = configuration.rules
        if configuration.play != nil { rules.answersCalls = false }
        var vonage = SimulatedVonage(
            applicationID: id, publicKey: publicKey, rules: rules, trouble: configuration.trouble,
            ids: { TokenID().description })
        if let state = configuration.savedState { vonage.restore(state) }
        applicationID = id
        self.privateKey = privateKey
        if let file = configuration.stateFile {
            // What cannot be kept is said now, and not after an hour's work.
            do throws(SimulatorError) { try writeWhole(vonage.savedState, to: file) } catch {
                throw SimulatorError("the state file: \(error)")
            }
        }
        shared = SharedSimulation(vonage, file: configuration.stateFile, report: configuration.report)
        var settings = ServerConfiguration()
        settings.host = configuration.host
        settings.port = configuration.port
        settings.maxConnections = 2000
        settings.limits.body = 64 * 1024
        settings.limits.replyTime = max(settings.limits.replyTime, (configuration.trouble?.longestDelay ?? 0) + 10_000)
        self.clock = clock
        let simulation = shared
        let calls = try configuration.play.map { try PlayedCalls($0, simulation: simulation, applicationID: id, clock: clock) }
        self.calls = calls
        do {
            server = try Server(settings, service: SimulatorService(shared: shared, calls: calls))
        } catch {
            calls?.stop()
            throw error
        }
        addresses = server.addresses
        let everywhere = ["localhost", "0.0.0.0", "::", "[::]"].contains(configuration.host)
        let host = configuration.host
        baseURL = "http://\(everywhere ? "localhost" : host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host):\(server.port)"
    }

    package var port: UInt16 { server.port }

    /// Ends connections within `grace` milliseconds, breaks calls off, and keeps the state.
    package func stop(grace: Int64) {
        server.stop(grace: grace)
        if let calls {
            calls.stop()
            let now = clock.wall()
            shared.use { $0.endCalls(at: now) }
        }
        shared.finish()
    }

    /// Lends what is simulated, to whoever plays its calls.
    package func withSimulation<Result: Sendable>(_ body: (inout SimulatedVonage) -> Result) -> Result { shared.use(body) }
}

/// What all connections share.
final class SharedSimulation: Sendable {
    /// Changes within this many milliseconds are written together.
    private static let gatherTime = 100
    /// Slow answers that wait at one time; beyond it they come at once.
    private static let mostWaiting = 2000

    private struct State {
        var vonage: SimulatedVonage
        var isWritePlanned = false
        var waiting = 0
    }

    private let state: Locked<State>
    private let file: String?
    private let report: @Sendable (String) -> Void
    private let queue = DispatchQueue(label: "switchboard.simulator-state")
    private let timers = DispatchQueue(label: "switchboard.simulator-timers")

    init(_ vonage: SimulatedVonage, file: String?, report: @escaping @Sendable (String) -> Void) {
        state = Locked(State(vonage: vonage))
        self.file = file
        self.report = report
    }

    /// - Parameter calls: get the orders, in the order in which they were accepted on whatever connection.
    func answer(_ request: SimulatedRequest, at now: Int64, calls: PlayedCalls? = nil) -> SimulatedAnswer {
        let answer = state.withLock { state in
            let answer = state.vonage.answer(request, at: now)
            for order in calls?.takeOn(answer.orders) ?? [] {
                // Nobody will play it.
                if case .begin = order.what { _ = state.vonage.advance(call: order.call, to: .failed, at: now) }
            }
            return answer
        }
        if answer.hasChanged { changed() }
        return answer
    }

    func use<Result: Sendable>(_ body: (inout SimulatedVonage) -> Result) -> Result {
        let result = state.withLock { body(&$0.vonage) }
        changed()
        return result
    }

    /// Calls `body` after a time; false where too many wait.
    func after(_ milliseconds: Int64, _ body: @escaping @Sendable () -> Void) -> Bool {
        let mayWait = state.withLock { state in
            guard state.waiting < Self.mostWaiting else { return false }
            state.waiting += 1
            return true
        }
        guard mayWait else { return false }
        timers.asyncAfter(deadline: .now() + .milliseconds(Int(milliseconds))) {
            self.state.withLock { $0.waiting -= 1 }
            body()
        }
        return true
    }

    /// Plans that the state is written, if that is not planned already.
    func changed() {
        guard file != nil else { return }
        let isPlanned = state.withLock { state in
            defer { state.isWritePlanned = true }
            return state.isWritePlanned
        }
        if !isPlanned { queue.asyncAfter(deadline: .now() + .milliseconds(Self.gatherTime)) { self.write() } }
    }

    /// Writes at once what is not yet written.
    func finish() {
        guard file != nil else { return }
        queue.sync { write() }
    }

    private func write() {
        guard let file else { return }
        // A copy is taken under the lock, and made to text outside of it.
        let vonage: SimulatedVonage? = state.withLock { state in
            defer { state.isWritePlanned = false }
            return state.isWritePlanned ? state.vonage : nil
        }
        guard let vonage else { return }
        do throws(SimulatorError) { try writeWhole(vonage.savedState, to: file) } catch { report("the state file: \(error)") }
    }
}

private struct SimulatorService: Service {
    let shared: SharedSimulation
    let calls: PlayedCalls?

    func makeHandler(mailbox: Mailbox) -> any Handler { SimulatorHandler(shared, calls, mailbox) }
}

private final class SimulatorHandler: Handler {
    private let shared: SharedSimulation
    private let calls: PlayedCalls?
    private let mailbox: Mailbox

    init(_ shared: SharedSimulation, _ calls: PlayedCalls?, _ mailbox: Mailbox) {
        (self.shared, self.calls, self.mailbox) = (shared, calls, mailbox)
    }

    func respond(to head: borrowing RequestHead, bytes: Span<UInt8>, body: Span<UInt8>, exchange: Exchange) throws -> Reply {
        var target = bytes.text(head.path)
        if target.isEmpty { target = "/" }
        if let query = head.query { target += "?" + bytes.text(query) }
        let request = SimulatedRequest(
            head.method, target, authority: bytes.text(head.authority), authorization: head.authorization.map { bytes.text($0) },
            contentType: head.contentType.map { bytes.text($0) }, body: body.indices.map { body[$0] })
        let answer = shared.answer(request, at: exchange.wall, calls: calls)
        guard answer.delay > 0 else { return .now(answer.response) }
        let (mailbox, ticket) = (mailbox, exchange.ticket)
        let isPromised = shared.after(answer.delay) { mailbox.complete([ticket], with: answer.response) }
        return isPromised ? .later : .now(answer.response)
    }

    func refusal(of head: borrowing RequestHead, bytes: Span<UInt8>, exchange: Exchange) -> Response? { nil }
    func refused(_ error: WireError) {}
    func failed(_ error: any Error, _ head: borrowing RequestHead, bytes: Span<UInt8>) -> Response {
        .problem(.internalServerError, "The simulator failed.")
    }
    func flush(now: Int64) -> Int64? { nil }
}
