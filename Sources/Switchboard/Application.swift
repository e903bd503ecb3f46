// SPDX-License-Identifier: MIT
//
// All that the workers share, and nothing of it changes after the start but counters: settings, the admin token, the log, and the store of flows.

import Dispatch
package import EventLog
package import HTTPServer
import Locking
import NCCO

package final class Application: Service, Sendable {
    let settings: Settings
    let flows: FlowStore
    let admin: AdminToken
    /// Nil where webhooks are open.
    let webhooks: WebhookGuard?
    /// Nil where plain HTTP is spoken.
    let certificates: CertificateStore?
    let calls: CallFeed
    /// Nil where there are neither users nor rooms.
    let apps: AppService?
    let vonageNotice = SpacedNotice()
    let proof = HealthProof()
    let log: EventLog
    let console: Console
    let errors: Console
    let lineFormat: Settings.LogFormat?
    /// Nil where there are none.
    let callLimits: CallLimits?
    let callsPerUser: RateLimit?
    let deniedNumberNotice = SpacedNotice()
    let userLimitNotice = SpacedNotice()
    let callLimitNotice = SpacedNotice()
    /// Whoever guesses has the same few tries whichever worker is asked.
    let loginLimiter = RateLimiter(RateLimit(clamping: 10, per: .minute))
    let openAppsLimiter: RateLimiter
    let history: StatisticsHistory
    let diskLook = Locked(DiskLook())
    let diskQueue = DispatchQueue(label: "disk-use", qos: .utility)
    private let handlerStatistics = Locked<[HandlerStatistics]>([])
    private let timer = Locked<(any DispatchSourceTimer)?>(nil)
    private let callPlayer = Locked<(any CallPlaying)?>(nil)
    private let asideQueue = DispatchQueue(label: "aside", qos: .utility)
    private let asideCount = Locked(0)
    /// What may wait on that queue.
    private static let mostAside = 32
    private let server = Locked<(@Sendable () -> ServerStatistics)?>(nil)
    private let clock: Clock
    private let startTime: Int64

    package init(
        settings: Settings, flows: FlowStore, log: EventLog, admin: AdminToken, webhooks: WebhookGuard? = nil,
        apps: AppService? = nil, certificates: CertificateStore? = nil, console: Console = .output,
        errors: Console = .errors,
        clock: Clock = .system
    ) {
        self.settings = settings
        self.flows = flows
        self.log = log
        self.admin = admin
        self.webhooks = webhooks
        self.apps = apps
        self.certificates = certificates
        calls = CallFeed(folder: settings.events, callsInMemory: settings.callsInMemory, clock: clock)
        openAppsLimiter = RateLimiter(settings.openAppsLimit)
        self.console = console
        self.errors = errors
        lineFormat = settings.isQuiet ? nil : settings.logFormat ?? (console.isTerminal ? .text : nil)
        callsPerUser = settings.callsPerUser
        callLimits = CallLimits(perUser: callsPerUser, all: settings.maxCalls)
        self.clock = clock
        startTime = clock.wall()
        history = StatisticsHistory(StatisticsSnapshot(time: clock.monotonic(), wall: startTime))
        // Compressing takes some milliseconds, which neither the start nor the first that asks should wait for.
        DispatchQueue.global(qos: .utility).async { _ = PageFiles.all }
    }

    package func makeHandler(mailbox: Mailbox) -> any Handler {
        let statistics = HandlerStatistics()
        handlerStatistics.withLock { $0.append(statistics) }
        return RequestHandler(application: self, mailbox: mailbox, statistics: statistics, clock: clock)
    }

    /// What runs besides the server ends.
    package func stop() {
        calls.stop()
        stopAsking()
        timer.withLock { timer in
            timer?.cancel()
            timer = nil
        }
    }

    /// The timer ends with the application.
    func keep(_ source: any DispatchSourceTimer) { timer.withLock { $0 = source } }

    /// Requests to Vonage end, and whoever waits for one is answered.
    package func stopAsking() { apps?.stop() }

    /// From now on `/metrics` knows the server's counts.
    package func observe(_ statistics: @escaping @Sendable () -> ServerStatistics) { server.withLock { $0 = statistics } }

    /// From now on the admin can have calls played.
    package func playCalls(by player: any CallPlaying) { callPlayer.withLock { $0 = player } }

    /// Nil where none can be played.
    var player: (any CallPlaying)? { callPlayer.withLock { $0 } }

    /// Does what would hold up a worker, one after the other; false, and it is not done, where too much waits.
    func aside(_ work: @escaping @Sendable () -> Void) -> Bool {
        let isTaken = asideCount.withLock { count in
            guard count < Self.mostAside else { return false }
            count += 1
            return true
        }
        guard isTaken else { return false }
        asideQueue.async { [asideCount] in
            work()
            asideCount.withLock { $0 -= 1 }
        }
        return true
    }

    var handlers: [HandlerStatistics] { handlerStatistics.withLock { $0 } }
    var counts: HandlerCounts { handlers.reduce(into: HandlerCounts()) { $0.add($1) } }
    /// Milliseconds since 1970.
    var now: Int64 { clock.wall() }
    /// Microseconds.
    var monotonic: Int64 { clock.monotonic() }
    var serverStatistics: ServerStatistics { server.withLock { $0 }?() ?? ServerStatistics() }
    var startSeconds: Double { Double(startTime) / 1000 }
}
