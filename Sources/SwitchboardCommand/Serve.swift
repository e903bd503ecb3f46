// SPDX-License-Identifier: MIT
//
// `switchboard serve`: reads the settings, opens log and listeners, waits for a signal, and stops in order: first the connections, then the log.

import Dispatch
import EventLog
import HTTPServer
import NCCO
import Switchboard
import VonageAuth
import VonageSimulator

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

enum Serve {
    /// What a stop leaves for the log after the connections: this much (ms), or a fifth of a short grace time.
    private static let logShare: Int64 = 1500

    static func run(_ arguments: [String], environment: [String: String]) {
        // A reader that went away, and a file at its size limit, are errors to be handled and no reason to end.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        // As process 1 of a container it inherits processes that others left behind; ignored, they vanish when they end (waitpid(2)).
        signal(SIGCHLD, SIG_IGN)
        let stop = StopSignals()
        do {
            var settings = try settings(arguments, environment)
            var credentials = try ApplicationCredentials(settings, environment: environment)
            let simulator = try simulator(&settings, &credentials, environment)
            let log = try openLog(settings)
            let admin = try AdminToken(settings)
            let webhooks = try webhookGuard(settings, environment, applicationID: credentials.applicationID)
            let flows = try FlowStore(
                folder: settings.nccos ?? Settings.defaultFlowFolder, isNamed: settings.nccos != nil, settings: settings.flows,
                baseURL: settings.baseURL()
            ) { line in Console.errors.print(line) }
            let apps = try AppService(settings, credentials: credentials, rooms: rooms(settings))
            let certificates = try CertificateStore(settings) { line in Console.errors.print(line) }
            settings.server.tls = certificates?.current
            let application = Application(
                settings: settings, flows: flows, log: log, admin: admin, webhooks: webhooks, apps: apps, certificates: certificates)
            settings.server.reservedDescriptors = settings.redirectPort == nil ? 0 : redirectConnections + 16
            let server = try Server(settings.server, service: application)
            let redirect = try redirect(settings, to: server.port)
            certificates?.watch { server.replaceCertificate(by: $0) }
            application.observe { server.statistics }
            // Port 0 has become another.
            if server.port != settings.server.port { flows.setBaseURL(settings.baseURL(port: server.port)) }
            flows.watch()
            if let simulator {
                var local = settings
                local.server.port = server.port
                // Who listens at a path alone has no URL that a webhook could go to.
                if !local.listeningURL.hasPrefix("unix:") { simulator.withSimulation { $0.setWebhooks(origin: local.listeningURL) } }
            }
            application.watchStatistics()
            let player = player(settings, port: server.port, webhooks, credentials)
            application.playCalls(by: player)
            if !settings.isQuiet {
                // Where lines are for machines, what is for people goes the other way.
                let console = settings.logFormat == .json ? Console.errors : Console.output
                let banner = Banner(
                    settings: settings, addresses: server.addresses, port: server.port, flows: flows.summary, admin: admin,
                    credentials: credentials, secrets: webhooks?.verifier.secrets, certificate: certificates?.summary,
                    redirects: redirect?.addresses ?? [], isTerminal: console.isTerminal)
                for line in banner.lines { console.print(line) }
                if let simulator {
                    console.print("  vonage       played here, at \(simulator.baseURL): what is made there is gone with this process")
                    console.print("               calls that are made there ask this server, or whatever URL they name")
                }
            }
            for line in credentials.warnings { Console.errors.print("warning: \(line)") }
            if settings.numbers.isEmpty {
                Console.errors.print("warning: no number is set, so calls go out without a caller id (--number)")
            }
            for warning in webhooks?.verifier.secrets.warnings ?? [] { Console.errors.print("warning: \(warning)") }
            if webhooks == nil {
                Console.errors.print("warning: no signature secret is set, so webhooks are taken from anybody (--signature-secret-file)")
            }
            if let warning = certificates?.warning { Console.errors.print("warning: \(warning)") }
            if certificates != nil, settings.publicURL?.hasPrefix("http://") == true {
                Console.errors.print("warning: --public-url begins with http://, where the port answers by TLS alone; write https://")
            }
            if settings.opensApps, settings.allowPrefixes.isEmpty {
                Console.errors.print(
                    "warning: --open-apps lets anybody who finds the address call at your cost; say with --allow-prefixes where to")
            }
            if settings.server.poller == .dispatch, PollerKind.preferred == .epoll {
                Console.errors.print("warning: --poller dispatch is for tests here: Dispatch on Linux can crash under a flood of resets")
            }
            stop.wait(reopen: {
                log.reopen()
                flows.reload()
                certificates?.reload()
            })
            redirect?.stop(grace: 0)
            simulator?.stop(grace: 0)
            player.stop()
            end(server, application, log, grace: settings.grace)
        } catch let error as UsageError {
            SwitchboardCommand.finish(64, "switchboard serve: \(error)")
        } catch let error as FlowFolderError {
            SwitchboardCommand.finish(64, "\(error)\nswitchboard serve: the flows have errors; nothing is served until they are mended")
        } catch let error as EventLogError {
            SwitchboardCommand.finish(73, "switchboard serve: \(error)")
        } catch ServerError.inUse(let address) {
            SwitchboardCommand.finish(69, "switchboard serve: \(ServerError.inUse(address))")
        } catch {
            SwitchboardCommand.finish(error is ServerError ? 64 : 70, "switchboard serve: \(error)")
        }
    }

    private static func settings(_ arguments: [String], _ environment: [String: String]) throws(UsageError) -> Settings {
        var settings = try Settings(arguments: arguments, environment: environment)
        let token = environment["SWITCHBOARD_ADMIN_TOKEN"] ?? ""
        settings.adminToken = token.isEmpty ? nil : token
        if !arguments.contains(where: { $0.hasPrefix("--workers") }), (environment["WORKERS"] ?? "").isEmpty {
            // Each holds a thread of Dispatch's for good, of which there are not many more.
            settings.server.workers = min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), 64)
        }
        return settings
    }

    /// Connections of browsers that are sent on; each lives as long as its answer.
    private static let redirectConnections = 256

    /// The plain port beside TLS, where one is asked for.
    private static func redirect(_ settings: Settings, to port: UInt16) throws(UsageError) -> Server? {
        guard let plainPort = settings.redirectPort else { return nil }
        var configuration = settings.server
        configuration.port = plainPort
        configuration.tls = nil
        configuration.workers = 1
        configuration.maxConnections = redirectConnections
        do throws(ServerError) {
            return try Server(configuration, service: Redirection(settings, port: port))
        } catch {
            if case .inUse(let address) = error {
                SwitchboardCommand.finish(
                    69, "switchboard serve: --redirect-from: \(address) is in use by another program; stop that one or choose another port")
            }
            throw UsageError("--redirect-from: \(error)")
        }
    }

    private static func player(
        _ settings: Settings, port: UInt16, _ webhooks: WebhookGuard?, _ credentials: ApplicationCredentials
    ) -> ServerCallPlayer {
        var settings = settings
        settings.server.port = port
        return ServerCallPlayer(settings, secrets: webhooks?.verifier.secrets, applicationID: credentials.applicationID)
    }

    /// Nil where no signature secret is set.
    private static func webhookGuard(
        _ settings: Settings, _ environment: [String: String], applicationID: ApplicationID?
    ) throws -> WebhookGuard? {
        guard let secrets = try SignatureSecrets(file: settings.signatureSecretFile, environment: environment) else { return nil }
        let verifier = WebhookVerifier(
            secrets: secrets, applicationID: applicationID?.description, leeway: settings.webhookLeeway,
            requiresPayloadHash: settings.requiresPayloadHash)
        return try WebhookGuard(verifier, unsigned: settings.unsigned)
    }

    /// Vonage's API on a port of its own, where that is asked for; from then on settings and credentials lead there.
    private static func simulator(
        _ settings: inout Settings, _ credentials: inout ApplicationCredentials, _ environment: [String: String]
    ) throws -> SimulatedVonageServer? {
        guard settings.simulates else { return nil }
        guard settings.apiURL == nil, settings.videoURL == nil else {
            throw UsageError("--simulate plays Vonage's API itself; leave out --api-url and --video-url (VONAGE_API_URL, VONAGE_VIDEO_URL)")
        }
        var configuration = SimulatedVonageServer.Configuration()
        configuration.port = 0
        configuration.applicationID = credentials.applicationID
        configuration.privateKey = credentials.key
        var play = PlayedCalls.Configuration()
        play.secrets = try SignatureSecrets(file: settings.signatureSecretFile, environment: environment)
        play.secure = SecureWebhooks().sender
        if !settings.isQuiet {
            let console = settings.logFormat == .json ? Console.errors : Console.output
            play.report = { console.print($0) }
        }
        configuration.play = play
        let simulator = try SimulatedVonageServer(configuration)
        (settings.apiURL, settings.videoURL) = (simulator.baseURL, simulator.baseURL)
        credentials = ApplicationCredentials(
            applicationID: simulator.applicationID, key: simulator.privateKey,
            source: credentials.key == nil ? "--simulate, made for this run" : credentials.keySource)
        return simulator
    }

    /// Nil where what is kept of them cannot be read: calls go on.
    private static func rooms(_ settings: Settings) -> RoomBook? {
        do throws(KeptLinesError) {
            let rooms = try RoomBook(folder: settings.events)
            if let warning = rooms.warning { Console.errors.print("warning: \(warning)") }
            return rooms
        } catch {
            Console.errors.print("warning: there are no rooms: \(error)")
            return nil
        }
    }

    private static func openLog(_ settings: Settings) throws(EventLogError) -> EventLog {
        var configuration = EventLogConfiguration(folder: settings.events)
        configuration.sync = settings.sync
        configuration.rotateSize = settings.rotateSize ?? configuration.rotateSize
        configuration.keepFor = settings.keepFor
        configuration.keepSize = settings.keepSize
        return try EventLog(configuration) { notice in Console.errors.print("event log: \(notice)") }
    }

    private static func end(_ server: Server, _ application: Application, _ log: EventLog, grace: Int64) {
        let began = DispatchTime.now().uptimeNanoseconds
        // The last tenth of the time, or half a second, is for what has yet to be printed.
        let grace = grace - min(500, grace / 10)
        // Who waits for Vonage is told so now, and not kept until the end of the time.
        application.stopAsking()
        server.stop(grace: grace - min(logShare, grace / 5))
        application.stop()
        let spent = Int64((DispatchTime.now().uptimeNanoseconds - began) / 1_000_000)
        let waiting = log.status.queuedBytes
        if !log.close(timeoutMilliseconds: Int(max(grace - spent, 100))), waiting > 0 {
            Console.errors.print("warning: \(waiting) bytes of records could not be written to the event log before the end")
        }
        SwitchboardCommand.finish(0)
    }
}
