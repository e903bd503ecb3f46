// SPDX-License-Identifier: MIT
//
// All that the workers share, and nothing of it changes after the start but counters: settings, the compiled flow, the admin token, the log.

import Dispatch
package import EventLog
package import HTTPServer
import Locking
import NCCO

package final class Application: Service, Sendable {
    let settings: Settings
    let flow: BuiltInFlow
    let admin: AdminToken
    let log: EventLog
    let console: Console
    let errors: Console
    let lineFormat: Settings.LogFormat?
    private let handlerStatistics = Locked<[HandlerStatistics]>([])
    private let server = Locked<(@Sendable () -> ServerStatistics)?>(nil)
    private let startTime: Int64

    package init(
        settings: Settings, log: EventLog, admin: AdminToken, console: Console = .output, errors: Console = .errors, clock: Clock = .system
    ) throws(UsageError) {
        self.settings = settings
        self.log = log
        self.admin = admin
        self.console = console
        self.errors = errors
        lineFormat = settings.isQuiet ? nil : settings.logFormat ?? (console.isTerminal ? .text : nil)
        startTime = clock.wall()
        do {
            flow = try BuiltInFlow(numbers: settings.numbers, inboundUser: settings.inboundUser)
        } catch {
            throw UsageError("the built-in flow cannot be made: \(error)")
        }
    }

    package func makeHandler(mailbox: Mailbox) -> any Handler {
        let statistics = HandlerStatistics()
        handlerStatistics.withLock { $0.append(statistics) }
        return RequestHandler(application: self, mailbox: mailbox, statistics: statistics)
    }

    /// From now on `/metrics` knows the server's counts.
    package func observe(_ statistics: @escaping @Sendable () -> ServerStatistics) { server.withLock { $0 = statistics } }

    var counts: HandlerCounts { handlerStatistics.withLock { $0 }.reduce(into: HandlerCounts()) { $0.add($1) } }
    var serverStatistics: ServerStatistics { server.withLock { $0 }?() ?? ServerStatistics() }
    var startSeconds: Double { Double(startTime) / 1000 }
}
