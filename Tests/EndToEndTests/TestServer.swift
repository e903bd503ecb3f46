// SPDX-License-Identifier: MIT
//
// The whole server inside the test's process: Application, EventLog and Server on port 0, with a folder of its own. It lives as long as the
// closure that it is lent to.

import Foundation
import HTTPServer
import HTTPWire
import NCCO
import Switchboard
import TestSupport
import VonageAuth

@testable import EventLog

final class TestServer {
    static let token = "the-admin-token-of-the-tests"
    static let ourNumber = "14155550100"

    let server: Server
    /// Of the event log; nil for a server with another handler.
    let events: String
    let speaksTLS: Bool
    /// How commands reach it.
    var url: String { "\(speaksTLS ? "https" : "http")://127.0.0.1:\(server.port)" }
    private let log: EventLog?
    private let application: Application?

    fileprivate init(server: Server, events: String, log: EventLog?, application: Application? = nil, speaksTLS: Bool) {
        self.speaksTLS = speaksTLS
        self.application = application
        self.server = server
        self.events = events
        self.log = log
    }

    func client(host: String = "127.0.0.1", receiveBuffer: Int32? = nil) throws -> Client {
        if let address = server.addresses.first, address.hasPrefix("unix:") {
            return try Client(path: String(address.dropFirst(5)), speaksTLS: speaksTLS)
        }
        return try Client(port: server.port, host: host, receiveBuffer: receiveBuffer, speaksTLS: speaksTLS)
    }

    /// One request on a connection of its own.
    func ask(_ request: String) throws -> Answer { try client().ask(request) }

    /// Stops in order, and reads what was kept.
    func stopAndRead() throws -> [Record] {
        server.stop(grace: 5000)
        guard log?.close(timeoutMilliseconds: 60_000) ?? true else { throw ClientError(description: "the log was not closed in time") }
        return try records(in: events)
    }

    fileprivate func stop() {
        server.stop(grace: 0)
        application?.stop()
        _ = log?.close(timeoutMilliseconds: 60_000)
    }

    /// Waits, with requests to the server itself, until only the asking connection is open.
    func waitUntilAlone() throws {
        let client = try client()
        for _ in 0..<2000 {
            _ = try client.ask(get("/health"))
            if server.statistics.open == 1 { return }
            _ = client.waitForInput(milliseconds: 5)
        }
        throw ClientError(description: "\(server.statistics.open) connections are still open")
    }
}

/// How a server waits and what it speaks.
enum Way: String, CaseIterable, Sendable {
    case epoll, dispatch
    /// TLS, with the platform's poller.
    case tls

    static let allCases: [Way] = PollerKind.allCases.compactMap { Way(rawValue: $0.rawValue) } + [.tls]

    /// Of the tests that are not run in each way: the platform's poller, or what WAY names, so that further runs cover them all.
    static var underTest: Way {
        ProcessInfo.processInfo.environment["WAY"].flatMap { Way(rawValue: $0) } ?? .plain
    }

    /// Of the tests whose subject does without TLS.
    static var plain: Way { Way(rawValue: PollerKind.preferred.rawValue) ?? .dispatch }

    var poller: PollerKind { PollerKind(rawValue: rawValue) ?? .preferred }

    fileprivate var tls: TLSContext? {
        get throws { self == .tls ? try Self.tls(.shared) : nil }
    }

    static func tls(_ pair: TestCertificate) throws -> TLSContext {
        try TLSContext(
            certificate: Array(pair.certificate.utf8), key: try serverKey(in: Array(pair.key.utf8)), tickets: TicketKeys(),
            now: Clock.system.wall() / 1000)
    }
}

extension PollerKind {
    static var underTest: PollerKind { Way.underTest.poller }
}

/// Lends a server with the application.
func withServer<Result>(
    _ way: Way = .underTest, limits: Limits = Limits(), console: Console = Console(descriptor: -1),
    errors: Console = Console(descriptor: -1), clock: Clock = .system, calls: SystemCalls = .real,
    webhooks: WebhookGuard? = nil, apps: ((_ folder: String) throws -> AppService)? = nil,
    adjust: (inout Settings) throws -> Void = { _ in }, _ body: (TestServer) throws -> Result
) throws -> Result {
    try withFolder { folder in
        var settings = try Settings()
        settings.server.host = "127.0.0.1"
        settings.server.port = 0
        settings.server.poller = way.poller
        settings.server.tls = try way.tls
        settings.server.limits = limits
        settings.server.maxConnections = 4000
        settings.events = "\(folder)/events"
        settings.adminToken = TestServer.token
        settings.numbers = PhoneNumber(TestServer.ourNumber).map { [$0] } ?? []
        try adjust(&settings)
        let log = try EventLog(EventLogConfiguration(folder: settings.events), calls: calls) { _ in }
        let flows = try FlowStore(
            folder: settings.nccos ?? "\(folder)/nccos", isNamed: settings.nccos != nil, settings: settings.flows,
            baseURL: settings.baseURL(port: 0)
        ) { errors.print($0) }
        let application = try Application(
            settings: settings, flows: flows, log: log, admin: AdminToken(settings), webhooks: webhooks, apps: apps?(settings.events),
            console: console, errors: errors, clock: clock)
        let server = try Server(settings.server, service: application, clock: clock)
        flows.setBaseURL(settings.baseURL(port: server.port))
        flows.watch()
        application.observe { server.statistics }
        let test = TestServer(
            server: server, events: settings.events, log: log, application: application, speaksTLS: settings.server.tls != nil)
        defer { test.stop() }
        return try body(test)
    }
}

/// Lends a server with another handler.
func withServer<Result>(
    _ way: Way, serving service: any Service, limits: Limits = Limits(), _ body: (TestServer) throws -> Result
) throws -> Result {
    var configuration = ServerConfiguration()
    configuration.host = "127.0.0.1"
    configuration.port = 0
    configuration.poller = way.poller
    configuration.tls = try way.tls
    configuration.limits = limits
    configuration.maxConnections = 4000
    let test = TestServer(server: try Server(configuration, service: service), events: "", log: nil, speaksTLS: way == .tls)
    defer { test.stop() }
    return try body(test)
}
