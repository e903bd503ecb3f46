// SPDX-License-Identifier: MIT
//
// A server inside of this process, for commands that play calls: the same handler, flows and event log as `serve` has, on a port that the kernel
// chooses, with a log in a folder that goes with it.

import EventLog
import HTTPServer
import Switchboard
import VonageAuth

/// Milliseconds for a log that nobody keeps.
private let logPatience = 2000

final class InnerServer {
    /// `http://127.0.0.1:PORT`.
    let url: String
    /// Of the event log.
    let folder: String
    private let server: Server
    private let application: Application
    private let log: EventLog

    /// Listens; returns once requests are answered.
    ///
    /// - Parameters:
    ///   - settings: host, port and event folder are replaced.
    ///   - clock: what time flows and signatures are held against.
    /// - Throws: `FlowFolderError` where the flows have errors, and what keeps a server from starting.
    init(_ settings: Settings, secrets: SignatureSecrets? = nil, workers: Int = 1, clock: Clock = .system) throws {
        var settings = settings
        settings.server.host = "127.0.0.1"
        settings.server.port = 0
        settings.server.workers = workers
        // What plays here asks this process alone.
        (settings.tlsCertificateFile, settings.tlsKeyFile, settings.redirectPort) = (nil, nil, nil)
        settings.isQuiet = true
        // Nothing of it is kept.
        settings.sync = .none
        settings.adminToken = "\(TokenID())\(TokenID())"
        let flows = try FlowStore(
            folder: settings.nccos ?? Settings.defaultFlowFolder, isNamed: settings.nccos != nil, settings: settings.flows,
            baseURL: settings.baseURL(port: 0)
        ) { line in Console.errors.print(line) }
        let webhooks = try secrets.map {
            try WebhookGuard(WebhookVerifier(secrets: $0, leeway: settings.webhookLeeway), unsigned: settings.unsigned)
        }
        folder = try TemporaryFolder.make("call", for: "the event log")
        settings.events = "\(folder)/events"
        do {
            let log = try EventLog(EventLogConfiguration(folder: settings.events)) { _ in }
            self.log = log
            TemporaryFolder.closing(folder) { _ = log.close(timeoutMilliseconds: logPatience) }
            application = Application(
                settings: settings, flows: flows, log: log, admin: try AdminToken(settings), webhooks: webhooks, clock: clock)
            server = try Server(settings.server, service: application, clock: clock)
        } catch {
            TemporaryFolder.removeAll()
            throw error
        }
        url = "http://127.0.0.1:\(server.port)"
        flows.setBaseURL(settings.publicURL ?? url)
        let observed = server
        application.observe { observed.statistics }
    }

    /// Stops it, and takes its folder away.
    func stop() {
        server.stop(grace: 1000)
        application.stop()
        _ = log.close(timeoutMilliseconds: logPatience)
        TemporaryFolder.remove("\(folder)/events")
        TemporaryFolder.remove(folder)
    }
}
