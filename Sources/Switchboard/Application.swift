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
    private let handlerStatistics = Locked<[HandlerStatistics]>([])
    private let server = Locked<(@Sendable () -> ServerStatistics)?>(nil)
    private let clock: Clock
    private let startTime: Int64

    package init(
        settings: Settings, flows: FlowStore, log: EventLog, admin: AdminToken, webhooks: WebhookGuard? = nil,
        apps: AppService? = nil, console: Console = .output,
        errors: Console = .errors,
        clock: Clock = .system
    ) {
        self.settings = settings
        self.flows = flows
        self.log = log
        self.admin = admin
        self.webhooks = webhooks
        self.apps = apps
        calls = CallFeed(folder: settings.events, callsInMemory: settings.callsInMemory, clock: clock)
        openAppsLimiter = RateLimiter(settings.openAppsLimit)
        self.console = console
        self.errors = errors
        lineFormat = settings.isQuiet ? nil : settings.logFormat ?? (console.isTerminal ? .text : nil)
        callsPerUser = settings.callsPerUser
        callLimits = CallLimits(perUser: callsPerUser, all: settings.maxCalls)
        self.clock = clock
        startTime = clock.wall()
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
    }

    /// Requests to Vonage end, and whoever waits for one is answered.
    package func stopAsking() { apps?.stop() }

    /// From now on `/metrics` knows the server's counts.
    package func observe(_ statistics: @escaping @Sendable () -> ServerStatistics) { server.withLock { $0 = statistics } }

    var counts: HandlerCounts { handlerStatistics.withLock { $0 }.reduce(into: HandlerCounts()) { $0.add($1) } }
    var serverStatistics: ServerStatistics { server.withLock { $0 }?() ?? ServerStatistics() }
    var startSeconds: Double { Double(startTime) / 1000 }
}
