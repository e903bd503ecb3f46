// SPDX-License-Identifier: MIT
//
// Many HTTP requests at one time on kept connections, from one thread: the side of somebody who calls webhooks, also as fast as a load generator
// must. The common exchange costs two system calls besides its share of the wait: one send of a request that was written into a buffer for all,
// and one receive into another.
//
// Each request is bound to a connection from the start: an idle one, else a new one; it waits only where all there may be are busy. What fails
// is told in the next turn and not inside `send`, so that a callback that sends again cannot call itself without end.
//
// TLS is spoken with this machine alone (`HTTPAddress`), and until it is agreed on a connection counts as one that is being made.
//
// Left out: TLS with others, pipelining, redirects (answers like others), HEAD, and a thread for name resolution: the first request to a server waits
// for the resolver.

import HTTPWire

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Why a request got no answer.
package enum HTTPClientFailure: String, Sendable, Hashable, CaseIterable {
    /// The name of the host is not known.
    case unresolved
    /// No address takes the connection; also where this machine has no descriptor left for it, or a Unix domain socket's backlog is full.
    case refused
    /// There was no connection in time: the server did not take one, or all there may be were busy.
    case connectTimeout
    case responseTimeout
    /// Whoever took the connection speaks no TLS that we do.
    case tls
    /// The connection ended before the answer was whole.
    case closed
    case notHTTP
    case tooLarge
    /// As the request wished.
    case cut
}

/// Sends requests and calls back with their results. It belongs to the thread that made it; where it goes, what has no result gets none.
package final class HTTPClientLoop {
    package struct Request {
        /// `GET` or `POST`.
        package var method: String
        /// Path and query; bytes that none may have are sent as percent escapes.
        package var target: String
        /// The value of that field.
        package var authorization: String?
        /// Goes out as JSON.
        package var body: [UInt8]?
        /// From `send` to a connection, 0...86,400,000.
        package var connectMilliseconds: Int64
        /// From the first byte sent to the last one received, 0...86,400,000.
        package var responseMilliseconds: Int64
        /// Sends only half of the request's bytes and closes: how a connection looks that broke.
        package var cut: Bool

        /// The limits are Vonage's for an answer URL.
        package init(
            method: String = "GET", target: String, authorization: String? = nil, body: [UInt8]? = nil, connectMilliseconds: Int64 = 1000,
            responseMilliseconds: Int64 = 5000, cut: Bool = false
        ) {
            self.method = method
            self.target = target
            self.authorization = authorization
            self.body = body
            self.connectMilliseconds = connectMilliseconds
            self.responseMilliseconds = responseMilliseconds
            self.cut = cut
        }
    }

    package enum Result: Sendable {
        /// A whole answer, whatever its status; microseconds from the first byte sent to the last one received.
        case answer(HTTPAnswer, micros: Int64)
        /// Microseconds from the first byte sent, or from `send` where none was.
        case failed(HTTPClientFailure, micros: Int64)
    }

    /// Servers whose addresses are kept.
    static let maximumServers = 64
    /// How long a name that is not known is not asked for again, in microseconds.
    private static let resolvePause: Int64 = 5_000_000
    /// So far behind the first waiting request one is looked for that can have a connection as it is. What was taken still counts, so the first
    /// lets fewer than that go before it; then a connection is closed for it.
    private static let mostAhead = 16
    private static let longestLimit: Int64 = 86_400_000
    private static let wakeToken = UInt64.max

    /// Connections that were made, also in vain.
    package private(set) var connectionsMade = 0
    /// Connections that there are, idle ones too.
    package private(set) var openConnections = 0
    /// Requests that have no result yet.
    package private(set) var pending = 0
    package let waker: Waker

    private let poller: any Poller
    private let clock: Clock
    private let maximumConnections: Int
    private let maximumAnswer: Int
    private let wake: Int32

    /// The oldest first.
    private var servers: [HTTPClientServer] = []
    private var serverOf: [HTTPAddress: HTTPClientServer] = [:]
    private var connections: [HTTPClientConnection?] = []
    private var free: [Int] = []
    private var serial: UInt32 = 0
    /// Requests without a connection in the order of their coming, from `firstWaiting` on; some have none to wait for any more.
    private var waiting: [HTTPClientWaiting] = []
    private var firstWaiting = 0
    private var deadlines = Deadlines()
    /// What failed and has not been told.
    private var failures: [(exchange: HTTPClientExchange, failure: HTTPClientFailure, micros: Int64)] = []
    /// A send failed; an answer may be there all the same.
    private var broken: [HTTPClientConnection] = []
    private var events: [PollEvent] = []
    private var isTurning = false
    private var isUsingRoom = false
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 64)
    private var output: [UInt8] = []
    /// What a server said by TLS.
    private var plain: [UInt8] = []

    /// - Parameters:
    ///   - maximumConnections: to all servers together, at least 1; requests beyond wait.
    ///   - maximumAnswer: bytes of an answer's head and decoded body.
    package init(
        poller kind: PollerKind = .preferred, clock: Clock = .system, maximumConnections: Int = 256, maximumAnswer: Int = 1024 * 1024
    ) throws(SocketError) {
        self.clock = clock
        self.maximumConnections = max(maximumConnections, 1)
        self.maximumAnswer = max(maximumAnswer, 0)
        poller = try kind.makePoller()
        waker = try Waker("client")
        wake = fcntl(waker.descriptor, F_DUPFD_CLOEXEC, 0)
        guard wake >= 0 else { throw SocketError("fcntl", "client") }
        do {
            try poller.add(wake, token: Self.wakeToken)
        } catch {
            Socket.close(wake)
            throw error
        }
    }

    deinit {
        for case .some(let connection) in connections { poller.removeAndClose(connection.descriptor) }
        for server in servers { server.idle = [] }
        poller.removeAndClose(wake)
        input.deallocate()
    }

    // MARK: For the owner

    /// Sends a request as soon as there is a connection for it; `then` is called once, from `turn` or `close`.
    ///
    /// How many may wait is the caller's to bound: each keeps its bytes until `connectMilliseconds` are over.
    package func send(_ request: Request, to address: HTTPAddress, then: @escaping (Result) -> Void) {
        let now = clock.monotonic()
        let exchange = HTTPClientExchange(request: request, then: then, began: now)
        pending += 1
        let server = server(at: address, now)
        guard !server.addresses.isEmpty else { return fail(exchange, .unresolved, now) }
        if let connection = server.idle.popLast() { return start(exchange, on: connection, now) }
        guard openConnections < maximumConnections || closeIdleOne() else {
            let entry = HTTPClientWaiting(exchange, to: server)
            entry.deadline = Self.deadline(now, request.connectMilliseconds)
            deadlines.watch(entry)
            waiting.append(entry)
            return
        }
        connect(to: server, for: exchange, now)
    }

    /// Waits for something to happen, moves bytes and calls back. Callbacks may call all of this class but `turn`, which then does nothing.
    ///
    /// - Parameter milliseconds: the longest wait; 0 only looks, and less waits for as long as it takes.
    package func turn(milliseconds: Int32) {
        guard !isTurning else { return }
        isTurning = true
        defer { isTurning = false }
        poller.wait(milliseconds: waitTime(milliseconds), into: &events)
        for event in events { handle(event) }
        if !broken.isEmpty { readBroken() }
        if deadlines.next < .max { expire() }
        if !failures.isEmpty { tellFailures() }
    }

    /// Ends the connections that do nothing.
    package func closeIdle() {
        for server in servers { closeIdle(of: server) }
    }

    /// Ends all connections. What has no result yet fails as `closed`, before this returns. The loop can be used again.
    package func close() {
        let now = clock.monotonic()
        for entry in waiting[firstWaiting...] {
            if let exchange = entry.exchange { fail(exchange, .closed, now) }
            deadlines.remove(entry)
            entry.exchange = nil
        }
        (waiting, firstWaiting) = ([], 0)
        for case .some(let connection) in connections {
            if let exchange = connection.exchange { fail(exchange, .closed, now) }
            close(connection)
        }
        closeIdle()
        tellFailures()
    }

    // MARK: Servers

    private func server(at address: HTTPAddress, _ now: Int64) -> HTTPClientServer {
        // Most requests go where the last one went.
        if let last = servers.last, last.address == address, !last.addresses.isEmpty, !last.hasRefused { return last }
        let server = serverOf[address] ?? add(address)
        // Where nobody listens any more, the name may mean another machine by now.
        if server.addresses.isEmpty || server.hasRefused, now >= server.resolvesAgain {
            server.addresses = (try? SocketAddress.resolve(host: address.host, port: address.port)) ?? server.addresses
            server.hasRefused = false
            server.resolvesAgain = clock.monotonic() + Self.resolvePause
        }
        return server
    }

    private func add(_ address: HTTPAddress) -> HTTPClientServer {
        if servers.count >= Self.maximumServers {
            let oldest = servers.removeFirst()
            serverOf[oldest.address] = nil
            oldest.isForgotten = true
            closeIdle(of: oldest)
        }
        let server = HTTPClientServer(address)
        servers.append(server)
        serverOf[address] = server
        return server
    }

    private func closeIdle(of server: HTTPClientServer) {
        for connection in server.idle { close(connection) }
    }

    /// Makes room for a connection to another server.
    private func closeIdleOne() -> Bool {
        guard let connection = servers.first(where: { !$0.idle.isEmpty })?.idle.first else { return false }
        close(connection)
        return true
    }

    // MARK: Connections

    private func connect(to server: HTTPClientServer, for exchange: HTTPClientExchange, _ now: Int64) {
        let slot = free.popLast() ?? connections.count
        if slot == connections.count { connections.append(nil) }
        serial = (serial &+ 1) & 0x7FFF_FFFF  // never all ones, as the waker's
        let connection = HTTPClientConnection(to: server, token: UInt64(serial) << 32 | UInt64(slot), maximumAnswer: maximumAnswer)
        connections[slot] = connection
        openConnections += 1
        connectionsMade += 1
        connection.exchange = exchange
        connection.deadline = Self.deadline(exchange.began, exchange.request.connectMilliseconds)
        deadlines.watch(connection)
        tryNextAddress(connection, now)
    }

    /// Connects to one address after the other until one does not refuse at once.
    private func tryNextAddress(_ connection: HTTPClientConnection, _ now: Int64) {
        if !connection.isClosed {
            poller.removeAndClose(connection.descriptor)
            connection.descriptor = -1
        }
        while !connection.untried.isEmpty {
            let address = connection.untried.removeFirst()
            guard let (descriptor, isConnected) = Socket.startConnecting(to: address) else { continue }
            do { try poller.add(descriptor, token: connection.token) } catch {
                Socket.close(descriptor)
                continue
            }
            connection.descriptor = descriptor
            if isConnected { connected(connection, now) } else { poller.rearmWrite(descriptor) }
            return
        }
        connection.server.hasRefused = true
        fail(connection, .refused, now)
    }

    private func connected(_ connection: HTTPClientConnection, _ now: Int64) {
        connection.isConnecting = false
        let count = connection.server.addresses.count
        connection.server.preferred = (connection.firstTried + count - 1 - connection.untried.count) % max(count, 1)
        connection.untried = []
        guard connection.server.address.isSecure else { return startFirst(on: connection, now) }
        guard let tls = TLSEnd(to: connection.server.address.host) else { return fail(connection, .refused, now) }
        (connection.tls, connection.isShaking) = (tls, true)
        send(tls.takeLeaving(), connection)
    }

    /// The request that the connection was made for.
    private func startFirst(on connection: HTTPClientConnection, _ now: Int64) {
        guard let exchange = connection.exchange else { return close(connection) }
        start(exchange, on: connection, now)
    }

    /// Also one that has no descriptor yet.
    private func close(_ connection: HTTPClientConnection) {
        let slot = Int(connection.token & 0xFFFF_FFFF)
        guard connections[slot] === connection else { return }
        connections[slot] = nil
        free.append(slot)
        openConnections -= 1
        if connection.exchange == nil { connection.server.idle.removeAll { $0 === connection } }
        connection.exchange = nil
        deadlines.remove(connection)
        guard !connection.isClosed else { return }
        poller.removeAndClose(connection.descriptor)
        connection.descriptor = -1
    }

    /// The connection has done its work: the next request has it, or the next one has its place.
    private func release(_ connection: HTTPClientConnection, keep: Bool, _ now: Int64) {
        connection.exchange = nil
        connection.deadline = .max
        if keep, !connection.server.isForgotten {
            guard let next = nextWaiting(for: connection.server) else { return connection.server.idle.append(connection) }
            if next.server === connection.server { return start(next.exchange, on: connection, now) }
            close(connection)
            connect(to: next.server, for: next.exchange, now)
        } else {
            close(connection)
            useRoom(now)
        }
    }

    /// Connects for those who wait, as long as there is room. One that fails at once makes room again, which the loop that runs already sees:
    /// a call in a call for each would have no bound.
    private func useRoom(_ now: Int64) {
        guard !isUsingRoom else { return }
        isUsingRoom = true
        defer { isUsingRoom = false }
        while openConnections < maximumConnections, let next = nextWaiting(for: nil) { connect(to: next.server, for: next.exchange, now) }
    }

    /// Takes out the first waiting request, or one close behind it that a connection to `server` can serve as it is.
    private func nextWaiting(for server: HTTPClientServer?) -> (server: HTTPClientServer, exchange: HTTPClientExchange)? {
        while firstWaiting < waiting.count, waiting[firstWaiting].exchange == nil { firstWaiting += 1 }
        guard firstWaiting < waiting.count else {
            waiting.removeAll(keepingCapacity: waiting.capacity <= 4096)
            firstWaiting = 0
            return nil
        }
        // What was taken goes once it is the most of it: a small cost for each request.
        if firstWaiting >= 1024, firstWaiting * 2 >= waiting.count {
            waiting.removeFirst(firstWaiting)
            firstWaiting = 0
        }
        var chosen = waiting[firstWaiting]
        if let server, chosen.server !== server,
            let other = waiting[firstWaiting...].prefix(Self.mostAhead).first(where: { $0.exchange != nil && $0.server === server })
        {
            chosen = other
        }
        guard let exchange = chosen.exchange else { return nil }
        chosen.exchange = nil
        deadlines.remove(chosen)
        return (chosen.server, exchange)
    }

    // MARK: Writing

    private func start(_ exchange: HTTPClientExchange, on connection: HTTPClientConnection, _ now: Int64) {
        connection.exchange = exchange
        connection.exchange?.began = now
        connection.deadline = Self.deadline(now, exchange.request.responseMilliseconds)
        deadlines.watch(connection)
        encode(exchange.request, connection.server)
        let count = exchange.request.cut ? output.count / 2 : output.count
        if let tls = connection.tls {
            // Unsafe: lends the bytes to the session.
            guard output.withUnsafeBytes({ tls.write(UnsafeRawBufferPointer(rebasing: $0[..<count])) }) else {
                return broken.append(connection)
            }
            return send(tls.takeLeaving(), connection)
        }
        // Unsafe: lends the bytes to send(2).
        switch output.withUnsafeBytes({ Socket.send(connection.descriptor, UnsafeRawBufferPointer(rebasing: $0[..<count])) }) {
        case .bytes(count): sentAll(connection)
        case .bytes(let part): send(Array(output[part..<count]), connection)
        case .wouldBlock: send(Array(output[..<count]), connection)
        case .end, .failed: broken.append(connection)
        }
    }

    /// Sends behind what waits already, as far as there is room, and the rest once there is.
    private func send(_ bytes: [UInt8], _ connection: HTTPClientConnection) {
        if connection.output.isEmpty {
            (connection.output, connection.sent) = (bytes, 0)
        } else {
            connection.output += bytes
        }
        writeOn(connection)
    }

    private func writeOn(_ connection: HTTPClientConnection) {
        while connection.sent < connection.output.count {
            let result = connection.output.withUnsafeBytes {
                Socket.send(connection.descriptor, UnsafeRawBufferPointer(rebasing: $0[connection.sent...]))
            }
            switch result {
            case .bytes(let count): connection.sent += count
            case .wouldBlock: return poller.rearmWrite(connection.descriptor)
            case .end, .failed: return broken.append(connection)
            }
        }
        connection.output = []
        sentAll(connection)
    }

    private func sentAll(_ connection: HTTPClientConnection) {
        if !connection.isShaking, connection.exchange?.request.cut == true { fail(connection, .cut, clock.monotonic()) }
    }

    private func encode(_ request: Request, _ server: HTTPClientServer) {
        output.removeAll(keepingCapacity: output.capacity <= 1024 * 1024)
        output.append(contentsOf: request.method.utf8)
        output.append(UInt8(ascii: " "))
        if request.target.utf8.first != UInt8(ascii: "/") { output.append(UInt8(ascii: "/")) }
        if request.target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
            output.append(contentsOf: request.target.utf8)
        } else {
            for byte in request.target.utf8 {
                if byte > 0x20, byte < 0x7F {
                    output.append(byte)
                } else {
                    output.append(contentsOf: (byte < 0x10 ? "%0" : "%").utf8)
                    output.append(contentsOf: String(byte, radix: 16, uppercase: true).utf8)
                }
            }
        }
        output.append(contentsOf: server.fields)
        if let authorization = request.authorization {
            var block = FieldBlock()
            block.append("Authorization", authorization)
            output.append(contentsOf: block.bytes)
        }
        // RFC 9110 §8.6: a POST without a body says so.
        if request.body != nil || request.method == "POST" {
            if request.body != nil { output.append("Content-Type: application/json\r\n") }
            output.append("Content-Length: ")
            output.append(contentsOf: String(request.body?.count ?? 0).utf8)
            output.append("\r\n")
        }
        output.append("\r\n")
        if let body = request.body { output.append(contentsOf: body) }
    }

    // MARK: Reading

    private func handle(_ event: PollEvent) {
        guard event.token != Self.wakeToken else {
            waker.drain()
            return poller.rearmRead(wake)
        }
        let slot = Int(event.token & 0xFFFF_FFFF)
        guard slot < connections.count, let connection = connections[slot], connection.token == event.token else { return }
        if connection.isConnecting {
            let code = Socket.error(of: connection.descriptor)
            if code != 0 {
                tryNextAddress(connection, clock.monotonic())
            } else if event.writable {
                connected(connection, clock.monotonic())
            } else {
                poller.rearmRead(connection.descriptor)
            }
            // What has come meanwhile is told by no other event.
            guard event.readable, !connection.isConnecting, !connection.isClosed else { return }
        }
        if event.writable || event.mayHaveEnded, !connection.output.isEmpty { writeOn(connection) }
        if event.readable, !connection.isClosed { read(connection, mayHaveEnded: event.mayHaveEnded) }
    }

    /// Reads until nothing is left or the answer is whole. The bytes of one answer are bounded, and so is the loop.
    private func read(_ connection: HTTPClientConnection, mayHaveEnded: Bool) {
        while true {
            switch Socket.receive(connection.descriptor, into: input) {
            case .bytes(let count):
                // A short read has emptied the socket, unless there is an end behind it.
                let isDrained = count < input.count && !mayHaveEnded
                let bytes = UnsafeRawBufferPointer(rebasing: input[..<count])
                let taken =
                    connection.tls.map { open(bytes, connection, $0) }
                    ?? take(bytes.assumingMemoryBound(to: UInt8.self).span, connection)
                guard let taken else { return }
                switch taken {
                case .more: if isDrained { return poller.rearmRead(connection.descriptor) }
                case .whole(let answer, let keepsAlive):
                    return finish(connection, answer, keep: keepsAlive && connection.output.isEmpty && (isDrained || isSilent(connection)))
                case .notHTTP: return fail(connection, .notHTTP, clock.monotonic())
                case .tooLarge: return fail(connection, .tooLarge, clock.monotonic())
                }
            case .wouldBlock: return poller.rearmRead(connection.descriptor)
            case .end: return ended(connection, inOrder: true)
            case .failed: return ended(connection, inOrder: false)
            }
        }
    }

    /// Nil where the connection has ended.
    private func take(_ bytes: Span<UInt8>, _ connection: HTTPClientConnection) -> AnswerReader.Progress? {
        // What comes while nothing was asked is no answer.
        guard connection.exchange != nil else {
            close(connection)
            return nil
        }
        return connection.reader.take(bytes)
    }

    /// The same by TLS: on the way there it is agreed on, and then the request goes out.
    private func open(
        _ bytes: UnsafeRawBufferPointer, _ connection: HTTPClientConnection, _ tls: TLSEnd
    ) -> AnswerReader.Progress? {
        var said: [UInt8] = []
        swap(&said, &plain)
        said.removeAll(keepingCapacity: said.capacity <= 1024 * 1024)
        defer { plain = said }
        let transfer = tls.open(bytes, into: &said)
        let leaving = tls.takeLeaving()
        if !leaving.isEmpty { send(leaving, connection) }
        if connection.isShaking {
            guard tls.hasShaken else {
                if case .wouldBlock = transfer { return .more }
                fail(connection, .tls, clock.monotonic())
                return nil
            }
            connection.isShaking = false
            startFirst(on: connection, clock.monotonic())
            guard !connection.isClosed else { return nil }
        }
        // Tickets for later come at any time, and say nothing.
        let progress = said.isEmpty ? .more : take(said.span, connection)
        switch (progress, transfer) {
        case (.more, .wouldBlock): return .more
        case (.more, _):
            ended(connection, inOrder: transfer.isEnd)
            return nil
        default: return progress
        }
    }

    /// Whether nothing, not even an end, is behind an answer.
    private func isSilent(_ connection: HTTPClientConnection) -> Bool {
        if case .wouldBlock = Socket.receive(connection.descriptor, into: input) { true } else { false }
    }

    private func finish(_ connection: HTTPClientConnection, _ answer: HTTPAnswer, keep: Bool) {
        guard let exchange = connection.exchange else { return close(connection) }
        let now = clock.monotonic()
        connection.wasUsed = true
        if keep { poller.rearmRead(connection.descriptor) }
        release(connection, keep: keep, now)
        pending -= 1
        exchange.then(.answer(answer, micros: now - exchange.began))
    }

    /// The peer has ended the connection.
    private func ended(_ connection: HTTPClientConnection, inOrder: Bool) {
        guard let exchange = connection.exchange else { return close(connection) }
        // Taken first: the end of an answer is the end of what has begun.
        let isUntouched = !connection.reader.hasBegun
        if inOrder, let answer = connection.reader.end() { return finish(connection, answer, keep: false) }
        let now = clock.monotonic()
        // RFC 9112 §9.3.1: a server may close a kept connection while a request is on its way to it. Nothing of an answer has come, so it is
        // most likely unread. A POST is repeated too: Vonage repeats webhooks itself, and who takes them must know them again. The new
        // connection is no kept one, so this happens once.
        guard connection.wasUsed, isUntouched else { return fail(connection, .closed, now) }
        close(connection)
        var again = exchange
        again.began = now
        connect(to: connection.server, for: again, now)
    }

    /// A send that failed may have met a server that had heard enough and has answered.
    private func readBroken() {
        let connections = broken
        broken = []
        for connection in connections where !connection.isClosed {
            connection.output = []
            connection.sent = 0
            if connection.exchange == nil { close(connection) } else { readRest(connection) }
        }
    }

    private func readRest(_ connection: HTTPClientConnection) {
        let token = connection.token
        read(connection, mayHaveEnded: true)
        // Read to the end without one: there will be no more.
        let slot = Int(token & 0xFFFF_FFFF)
        guard connections[slot] === connection, connection.exchange != nil, !connection.isConnecting else { return }
        ended(connection, inOrder: false)
    }

    // MARK: Failures

    private func fail(_ connection: HTTPClientConnection, _ failure: HTTPClientFailure, _ now: Int64) {
        if let exchange = connection.exchange { fail(exchange, failure, now) }
        close(connection)
        useRoom(now)
    }

    private func fail(_ exchange: HTTPClientExchange, _ failure: HTTPClientFailure, _ now: Int64) {
        failures.append((exchange, failure, now - exchange.began))
    }

    /// Those that come meanwhile are told in the next turn.
    private func tellFailures() {
        let told = failures
        failures = []
        for (exchange, failure, micros) in told {
            pending -= 1
            exchange.then(.failed(failure, micros: micros))
        }
    }

    // MARK: Time

    private func expire() {
        let now = clock.monotonic()
        while let item = deadlines.expired(now) {
            if let connection = item as? HTTPClientConnection {
                fail(connection, connection.isConnecting || connection.isShaking ? .connectTimeout : .responseTimeout, now)
            } else if let entry = item as? HTTPClientWaiting, let exchange = entry.exchange {
                entry.exchange = nil
                fail(exchange, .connectTimeout, now)
            }
        }
    }

    private static func deadline(_ from: Int64, _ milliseconds: Int64) -> Int64 {
        from + min(max(milliseconds, 0), longestLimit) * 1000
    }

    /// Up to the next deadline, rounded up.
    private func waitTime(_ milliseconds: Int32) -> Int32 {
        guard failures.isEmpty, broken.isEmpty else { return 0 }
        guard milliseconds != 0, deadlines.next < .max else { return milliseconds }
        let left = Int32(clamping: max(deadlines.next - clock.monotonic() + 999, 0) / 1000)
        return milliseconds < 0 ? left : min(left, milliseconds)
    }
}
