// SPDX-License-Identifier: MIT
//
// The handler without a server: requests from text, answers as values, and the log's completions read from the mailbox.

import Foundation
import HTTPWire
import NCCO
import Testing

@testable import EventLog
@testable import HTTPServer
@testable import Switchboard

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

final class HandlerBench {
    let handler: RequestHandler
    let application: Application
    private let clock: Clock
    private let mailbox: Mailbox
    private let folder: String
    private let log: EventLog
    /// Of the event log.
    var events: String { folder }
    /// Milliseconds since 1970 at which requests come in; nil for the time it is.
    var wall: Int64?
    /// Who sends the requests.
    var peer = Peer.address(.unspecified)
    private var serial: UInt32 = 0
    private var late: [Ticket: Response] = [:]

    /// - Parameters:
    ///   - files: of the folder of flows, by name; without any the default flow serves.
    ///   - clock: of the handler and of requests.
    ///   - webhooks: without one they are open.
    ///   - apps: what makes users and rooms, of the log's folder; without one there are none.
    init(
        files: [String: String] = [:], calls: SystemCalls = .real, clock: Clock = .system, logFormat: Settings.LogFormat? = nil,
        webhooks: WebhookGuard? = nil, console: Console = Console(descriptor: -1), adjust: (inout Settings) throws -> Void = { _ in },
        apps: ((_ folder: String, Clock) throws -> AppService)? = nil
    ) throws {
        self.clock = clock
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-\(UUID().uuidString)").path
        var settings = try Settings()
        settings.events = folder
        settings.adminToken = "0123456789abcdef"
        settings.numbers = [PhoneNumber("14155550100")]
        settings.logFormat = logFormat
        try adjust(&settings)
        log = try EventLog(EventLogConfiguration(folder: folder), calls: calls) { _ in }
        try FileManager.default.createDirectory(atPath: folder + "/nccos", withIntermediateDirectories: true)
        for (name, text) in files { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/nccos/\(name)")) }
        let flows = try FlowStore(folder: folder + "/nccos", isNamed: false, settings: settings.flows, baseURL: "https://calls.example.com")
        { _ in }
        application = try Application(
            settings: settings, flows: flows, log: log, admin: AdminToken(settings), webhooks: webhooks, apps: apps?(folder, clock),
            console: console, errors: Console(descriptor: -1), clock: clock)
        mailbox = try Mailbox()
        handler = try #require(application.makeHandler(mailbox: mailbox) as? RequestHandler)
    }

    deinit {
        application.stop()
        _ = log.close(timeoutMilliseconds: 60_000)
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// What is handed to the handler; nil where the answer comes later.
    func reply(_ request: String) throws -> (ticket: Ticket, now: Response?) {
        let bytes = Array(request.utf8)
        var head = RequestHead()
        #expect(try parseRequestHead(bytes.span, into: &head, limits: Limits()))
        let exchange = exchange()
        switch try handler.respond(to: head, bytes: bytes.span, body: bytes.span.extracting(head.end..<bytes.count), exchange: exchange) {
        case .now(let response): return (exchange.ticket, response)
        case .later: return (exchange.ticket, nil)
        case .stream(let response): return (exchange.ticket, response)
        }
    }

    /// The answer, whether it is there at once or later.
    func ask(_ request: String) throws -> Response {
        let (ticket, now) = try reply(request)
        return try now ?? wait(for: ticket)
    }

    func exchange() -> Exchange {
        serial += 1
        return Exchange(ticket: Ticket(slot: 0, serial: serial), began: clock.monotonic(), wall: wall ?? clock.wall(), peer: peer)
    }

    /// What is answered where a request fails by a fault of the server.
    func failure(_ request: String) throws -> Response {
        let bytes = Array(request.utf8)
        var head = RequestHead()
        #expect(try parseRequestHead(bytes.span, into: &head, limits: Limits()))
        return handler.failed(UsageError("x"), head, bytes: bytes.span)
    }

    func refusal(_ request: String) throws -> Status? {
        let bytes = Array(request.utf8)
        var head = RequestHead()
        #expect(try parseRequestHead(bytes.span, into: &head, limits: Limits()))
        return handler.refusal(of: head, bytes: bytes.span, exchange: exchange())?.status
    }

    /// What the mailbox holds now, without waiting.
    func answered(_ ticket: Ticket) -> [Response] {
        var responses: [Response] = []
        for case .complete(let tickets, let response) in mailbox.take() {
            for one in tickets {
                if one == ticket { responses.append(response) } else { late[one] = response }
            }
        }
        return responses
    }

    /// Closes the log, and reads the records that it has kept.
    func records() throws -> [[String: Any]] {
        try #require(log.close(timeoutMilliseconds: 60_000))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".jsonl") }.sorted()
        return try names.flatMap { name in
            try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")).split(separator: 0x0A).map { line in
                try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
            }
        }
    }

    /// The answer that the log's queue gives through the mailbox.
    func wait(for ticket: Ticket) throws -> Response {
        while late[ticket] == nil {
            var entry = pollfd(fd: mailbox.wakeDescriptor, events: Int16(POLLIN), revents: 0)
            try #require(poll(&entry, 1, 60_000) == 1)
            for case .complete(let tickets, let response) in mailbox.take() {
                for ticket in tickets { late[ticket] = response }
            }
        }
        return try #require(late[ticket])
    }
}

func post(_ target: String, _ body: String, _ fields: String = "") -> String {
    "POST \(target) HTTP/1.1\r\nHost: h\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
}
