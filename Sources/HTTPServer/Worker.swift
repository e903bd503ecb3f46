// SPDX-License-Identifier: MIT
//
// One event loop with its own listeners, connections and buffers; nothing of it is shared with another worker. A round of the loop waits, reads
// and answers whatever is ready, lets the handler hand over what it gathered, and looks at time limits.
//
// The common request costs two system calls besides its share of the wait: one read into a buffer that all connections of the worker use, and
// one write of the encoded answer. Bytes are copied to the connection only when a request is unfinished at the end of the buffer, and answers only
// when the socket has no room. A connection is read at once when it is accepted, since its first request is often there already; it is
// given to the poller only if it lives on.
//
// TLS stands between the socket and all this: what is read is decrypted before anything else sees it, and what is to be sent is encrypted at the
// last moment (`flush`), so that what waits for room in the socket is the same bytes either way.

import HTTPWire

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One event loop.
///
/// A structure and not a class: what it holds is then checked for exclusive access by the compiler, and not again at each access.
struct Worker: ~Copyable {
    /// Poller tokens: listeners and the wake-up descriptor have no connection behind them.
    private enum Token {
        static let wake = UInt64.max
        static let listener = UInt64(UInt32.max) << 32
    }
    /// A connection that always has more to say lets others speak after this many reads.
    private static let readsInARow = 8
    /// Reads of handshakes, each of which may sign (RSA: 1 ms), before all others have had another turn.
    private static let handshakesInARow = 8
    /// Answers are written when this much has gathered, also in the middle of a pipeline.
    private static let outputChunk = 256 * 1024
    /// So much of a stream may wait for its reader; an event of a call has some 500 bytes.
    private static let streamBacklog = 256 * 1024
    /// Time limits are looked at this often at most (ms): with 10,000 connections a look costs some 0.1 ms.
    private static let timerGrain: Int64 = 20
    /// Connections accepted in one go; then those that are open have their turn.
    private static let acceptsInARow = 256
    /// How soon a listener that found no free descriptor tries again (ms).
    private static let acceptPause: Int64 = 100

    private let configuration: ServerConfiguration
    private let clock: Clock
    private let mailbox: Mailbox
    private let statistics: WorkerStatistics
    private let poller: any Poller
    private let handler: any Handler
    private let wake: Int32
    private let maxConnections: Int

    private var listeners: [Int32]
    private var connections: [Connection?] = []
    private var free: [Int] = []
    private var open = 0
    /// Bytes of unfinished requests.
    private var kept = 0
    private var nextSerial: UInt32 = 0
    private var lastTicket: UInt32 = 0

    /// Nil where plain HTTP is spoken.
    private var tls: TLSContext?
    private let wire = TLSWire()
    private let readBuffer = ReadBuffer()
    private var output: [UInt8] = []
    private var head = RequestHead()
    private var date: [UInt8] = []
    private var dateSecond: Int64 = -1

    private var now: Int64 = 0
    private var wall: Int64 = 0
    private var nextTimer = Int64.max
    private var handlerTimer: Int64?
    private var acceptAgain: Int64?
    /// Connections that stopped reading only to let others speak.
    private var unfinished: [Connection] = []
    private var handshakesLeft = handshakesInARow
    private var stopDeadline: Int64?

    /// Makes the poller and the handler, on the thread that the worker will never leave.
    static func make(
        configuration: ServerConfiguration, clock: Clock, listeners: [Int32], mailbox: Mailbox, statistics: WorkerStatistics,
        service: any Service,
        maxConnections: Int
    ) throws(SocketError) -> Worker {
        let poller = try configuration.poller.makePoller()
        // A duplicate of its own, which the poller may close when and how it must.
        let wake = fcntl(mailbox.wakeDescriptor, F_DUPFD_CLOEXEC, 0)
        guard wake >= 0 else { throw SocketError("fcntl", "worker") }
        try poller.add(wake, token: Token.wake)
        for (index, listener) in listeners.enumerated() { try poller.add(listener, token: Token.listener | UInt64(index)) }
        return Worker(
            configuration: configuration, clock: clock, mailbox: mailbox, statistics: statistics, poller: poller,
            handler: service.makeHandler(mailbox: mailbox), wake: wake, maxConnections: maxConnections, listeners: listeners)
    }

    private init(
        configuration: ServerConfiguration, clock: Clock, mailbox: Mailbox, statistics: WorkerStatistics, poller: any Poller,
        handler: any Handler, wake: Int32, maxConnections: Int, listeners: [Int32]
    ) {
        self.configuration = configuration
        self.clock = clock
        self.mailbox = mailbox
        self.statistics = statistics
        self.poller = poller
        self.handler = handler
        self.wake = wake
        self.maxConnections = maxConnections
        self.listeners = listeners
        tls = configuration.tls
    }

    // MARK: The loop

    /// Serves until it is told to stop and the last connection has ended.
    mutating func run() {
        var events: [PollEvent] = []
        readClock()
        while !isFinished {
            poller.wait(milliseconds: waitTime(), into: &events)
            readClock()
            handshakesLeft = Self.handshakesInARow
            for event in events { handle(event) }
            if !unfinished.isEmpty { resumeUnfinished() }
            if let time = acceptAgain, now >= time { acceptAll() }
            handlerTimer = handler.flush(now: now)
            if now >= nextTimer { checkTimers() }
        }
        for case .some(let connection) in connections { close(connection) }
        _ = handler.flush(now: .max)
        poller.removeAndClose(wake)
    }

    private var isFinished: Bool {
        guard let stopDeadline else { return false }
        return open == 0 || now >= stopDeadline
    }

    private mutating func readClock() {
        now = clock.monotonic() / 1000
        wall = clock.wall()
        let second = wall / 1000
        guard second != dateSecond else { return }
        dateSecond = second
        date.removeAll(keepingCapacity: true)
        appendHTTPDate(second, to: &date)
    }

    private mutating func waitTime() -> Int32 {
        guard unfinished.isEmpty else { return 0 }
        var next = nextTimer
        if let handlerTimer { next = min(next, handlerTimer) }
        if let acceptAgain { next = min(next, acceptAgain) }
        if let stopDeadline { next = min(next, stopDeadline) }
        return next == .max ? -1 : Int32(clamping: max(next - now, 0))
    }

    private mutating func handle(_ event: PollEvent) {
        if event.token == Token.wake {
            for message in mailbox.take() { receive(message) }
            poller.rearmRead(wake)
        } else if event.token & Token.listener == Token.listener {
            acceptAll()
        } else {
            let slot = Int(event.token & 0xFFFF_FFFF)
            guard slot < connections.count, let connection = connections[slot], connection.token == event.token else { return }
            if event.mayHaveEnded { connection.mayHaveEnded = true }
            // Who is gone takes no more: a hang-up may be told to the reading side alone, where nothing is read now.
            if event.writable || event.mayHaveEnded, !connection.output.isEmpty { writeOn(connection) }
            if event.readable {
                connection.mayRead = true
                read(connection)
            }
        }
    }

    private mutating func receive(_ message: Message) {
        switch message {
        case .complete(let tickets, let response):
            for ticket in tickets { complete(ticket, response) }
        case .stream(let tickets, let bytes):
            for ticket in tickets { sendOn(ticket, bytes) }
        case .endStream(let tickets):
            for ticket in tickets {
                if let connection = streaming(ticket) { endStream(connection) }
            }
        case .certificate(let context):
            if tls != nil { tls = context }
        case .stop(let idle, let deadline):
            guard stopDeadline == nil else { return }
            // Who is in the backlog has been told that we listen: serve them, then close the door.
            acceptAll(atMost: 2 * Int(configuration.backlog))
            for listener in listeners { poller.removeAndClose(listener) }
            listeners = []
            acceptAgain = nil
            stopDeadline = deadline
            for slot in connections.indices {
                guard let connection = connections[slot] else { continue }
                if connection.isStreaming {
                    endStream(connection)
                    continue
                }
                connection.machine.endIdle(after: idle, now: now)
                watch(connection)
            }
        }
    }

    // MARK: Accepting

    private mutating func acceptAll(atMost limit: Int = acceptsInARow) {
        acceptAgain = nil
        listening: for listener in listeners {
            var accepted = 0
            accepting: while true {
                guard accepted < limit else {
                    acceptAgain = now
                    continue listening
                }
                accepted += 1
                guard open < maxConnections else {
                    acceptAgain = now + Self.acceptPause
                    return
                }
                switch Socket.accept(listener) {
                case .connection(let descriptor, let peer): adopt(descriptor, peer)
                case .none: break accepting
                case .exhausted:
                    // The backlog keeps them. No readiness comes again for what is waiting already, hence the timer.
                    acceptAgain = now + Self.acceptPause
                    return
                }
            }
            poller.rearmRead(listener)
        }
    }

    private mutating func adopt(_ descriptor: Int32, _ peer: Peer) {
        let slot = free.popLast() ?? connections.count
        if slot == connections.count { connections.append(nil) }
        nextSerial = (nextSerial &+ 1) & 0x7FFF_FFFF  // never all ones: that is the listeners' mark
        let connection = Connection(
            descriptor: descriptor, peer: peer, token: UInt64(nextSerial) << 32 | UInt64(slot),
            machine: ConnectionMachine(limits: configuration.limits, now: now, handshakes: tls != nil))
        connections[slot] = connection
        open += 1
        statistics.accepted()
        read(connection)
        guard !connection.isClosed else { return }
        watch(connection)
    }

    /// From now on the poller tells of the connection, and the timer looks at it.
    private mutating func watch(_ connection: Connection) {
        if !connection.isRegistered {
            connection.isRegistered = true
            do {
                try poller.add(connection.descriptor, token: connection.token)
            } catch {
                return close(connection)
            }
        }
        nextTimer = min(nextTimer, connection.machine.deadline)
    }

    private mutating func close(_ connection: Connection) {
        guard !connection.isClosed else { return }
        connection.isClosed = true
        if let session = connection.session { endTLS(session, of: connection) }
        if connection.isRegistered {
            poller.removeAndClose(connection.descriptor)
        } else {
            Socket.close(connection.descriptor)
        }
        if connection.counted > 0 { count(connection) }
        if connection.isStreaming, let ticket = connection.ticket { handler.streamEnded(ticket) }
        let slot = Int(connection.token & 0xFFFF_FFFF)
        connections[slot] = nil
        free.append(slot)
        open -= 1
        statistics.closed()
        if acceptAgain != nil { acceptAgain = now }
    }

    // MARK: Reading and answering

    private mutating func read(_ connection: Connection) {
        var reads = 0
        let buffer = readBuffer.bytes
        while connection.mayRead, !connection.isClosed, connection.machine.phase.wantsInput {
            let isShaking = connection.machine.phase == .handshake
            guard reads < Self.readsInARow, !isShaking || handshakesLeft > 0 else {
                if !connection.isUnfinished {
                    connection.isUnfinished = true
                    unfinished.append(connection)
                }
                return
            }
            reads += 1
            if isShaking { handshakesLeft -= 1 }
            switch Socket.receive(connection.descriptor, into: buffer) {
            case .bytes(let count):
                // A short read has emptied the socket, unless there is an end behind it to be read.
                if count < buffer.count, !connection.mayHaveEnded { connection.mayRead = false }
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                if connection.session != nil || connection.machine.phase == .handshake {
                    receivedEncrypted(bytes, on: connection)
                } else {
                    received(bytes, on: connection)
                }
            case .wouldBlock:
                connection.mayRead = false
            case .end:
                return peerEnded(connection)
            case .failed:
                return close(connection)
            }
        }
        if !connection.mayRead, !connection.isClosed, connection.isRegistered { poller.rearmRead(connection.descriptor) }
    }

    /// The peer sends nothing more.
    private mutating func peerEnded(_ connection: Connection) {
        connection.mayRead = false
        connection.machine.peerClosed()
        switch connection.machine.phase {
        case .handshake, .draining, .streaming: close(connection)
        default: process(connection)
        }
    }

    private mutating func resumeUnfinished() {
        let waiting = unfinished
        unfinished = []
        // Else a flood of new ones would leave nothing for those that wait.
        handshakesLeft = Self.handshakesInARow
        for connection in waiting {
            connection.isUnfinished = false
            if !connection.isClosed { read(connection) }
        }
    }

    private mutating func received(_ bytes: UnsafeRawBufferPointer, on connection: Connection) {
        if connection.machine.phase == .draining || connection.machine.phase == .streaming {
            if !connection.machine.drain(bytes.count) { close(connection) }
        } else if connection.input.isEmpty {
            // The buffer is not written to again before this call returns.
            let new = bytes.assumingMemoryBound(to: UInt8.self)
            let used = serve(new.span, on: connection)
            if used < new.count {
                let spent = connection.machine.spent
                connection.input.append(contentsOf: new[used..<used + spent.lowerBound])
                connection.input.append(contentsOf: new[(used + spent.upperBound)...])
                connection.machine.dropSpent()
            }
            finishRound(connection)
        } else {
            connection.input.append(contentsOf: bytes)
            process(connection)
        }
        // Where all was served nothing is kept, and there is nothing to count.
        if !connection.input.isEmpty || connection.counted > 0 { shedLoad(connection) }
    }

    /// Unfinished requests of all connections together have a bound: past it, whoever makes it grow is asked to come back.
    private mutating func shedLoad(_ connection: Connection) {
        count(connection)
        guard kept > configuration.limits.keptBytes, !connection.isClosed, let error = connection.machine.shed() else { return }
        let input = connection.input
        connection.input = []
        refuse(error, isHead: Method.isHead(input.span), on: connection)
        finishRound(connection)
        if !connection.isClosed { count(connection) }
    }

    private mutating func count(_ connection: Connection) {
        let bytes = connection.isClosed ? 0 : connection.input.count + connection.machine.decodedBytes
        kept += bytes - connection.counted
        connection.counted = bytes
    }

    /// Serves what has arrived and is still unused.
    private mutating func process(_ connection: Connection) {
        var input: [UInt8] = []
        swap(&input, &connection.input)
        let used = serve(input.span, on: connection)
        if used < input.count {
            let spent = connection.machine.spent
            input.removeSubrange(used + spent.lowerBound..<used + spent.upperBound)
            input.removeFirst(used)
            connection.machine.dropSpent()
            connection.input = input
        }
        finishRound(connection)
    }

    /// Answers every whole request in `bytes`. Returns how many bytes need not be kept.
    private mutating func serve(_ bytes: Span<UInt8>, on connection: Connection) -> Int {
        var start = 0
        while !connection.isClosed {
            let rest = bytes.extracting(start..<bytes.count)
            switch connection.machine.next(rest, head: &head, now: now) {
            case .read:
                return start
            case .mayContinue:
                let exchange = Exchange(ticket: nextTicket(on: connection), began: clock.monotonic(), wall: wall, peer: connection.peer)
                if let refusal = handler.refusal(of: head, bytes: rest, exchange: exchange) {
                    connection.machine.refuseBody()
                    answer(refusal, on: connection, context: context(mayKeep: false), leftover: true)
                    return bytes.count
                }
                encodeContinue(into: &output)
            case .request:
                start += connection.machine.requestLength
                statistics.requested()
                connection.context = context(mayKeep: !connection.machine.hasPeerClosed || start < bytes.count)
                let response: Response
                switch respond(to: rest, on: connection) {
                case .now(let whole): response = whole
                case .later: return start
                case .stream(let head):
                    startStream(head, on: connection)
                    return bytes.count
                }
                answer(response, on: connection, context: connection.context, leftover: start < bytes.count)
                if connection.afterOutput != .keep { return bytes.count }
                if output.count >= Self.outputChunk { flush(connection) }
            case .refuse(let error):
                refuse(error, isHead: Method.isHead(rest), on: connection)
                return bytes.count
            case .stop:
                if connection.machine.phase == .closed { connection.afterOutput = .close }
                return start
            }
        }
        return bytes.count
    }

    private mutating func nextTicket(on connection: Connection) -> Ticket {
        lastTicket &+= 1
        return Ticket(slot: UInt32(truncatingIfNeeded: connection.token), serial: lastTicket)
    }

    private mutating func respond(to bytes: Span<UInt8>, on connection: Connection) -> Reply {
        let ticket = nextTicket(on: connection)
        connection.ticket = ticket
        let exchange = Exchange(ticket: ticket, began: clock.monotonic(), wall: wall, peer: connection.peer)
        do {
            if let body = connection.machine.body {
                return try handler.respond(to: head, bytes: bytes, body: bytes.extracting(body), exchange: exchange)
            }
            let body = connection.machine.chunkedBody
            return try handler.respond(to: head, bytes: bytes, body: body.span, exchange: exchange)
        } catch {
            return .now(handler.failed(error, head, bytes: bytes))
        }
    }

    private mutating func refuse(_ error: WireError, isHead: Bool, on connection: Connection) {
        statistics.refused()
        handler.refused(error)
        answer(Response(refusing: error), on: connection, context: ResponseContext(isHead: isHead, keepAlive: false), leftover: true)
    }

    private mutating func context(mayKeep: Bool) -> ResponseContext {
        ResponseContext(
            isHead: head.method == .head, minorVersion: head.minorVersion, keepAlive: head.keepAlive && mayKeep && stopDeadline == nil)
    }

    /// Encodes an answer and decides how the connection goes on; the bytes leave at the end of the round.
    private mutating func answer(_ response: Response, on connection: Connection, context: ResponseContext, leftover: Bool) {
        encode(response, for: context, date: date, into: &output)
        connection.afterOutput = connection.machine.replied(keepAlive: context.keepAlive && !response.close, leftover: leftover, now: now)
    }

    /// An answer that was owed has come.
    private mutating func complete(_ ticket: Ticket, _ response: Response) {
        let slot = Int(ticket.slot)
        guard slot < connections.count, let connection = connections[slot], connection.machine.phase == .replying,
            connection.ticket == ticket
        else { return }
        // A stop that began meanwhile makes this answer the connection's last.
        if stopDeadline != nil { connection.context.keepAlive = false }
        answer(response, on: connection, context: connection.context, leftover: !connection.input.isEmpty)
        // Who does not read its answers gets no more of them made: the write limit runs, and what was pipelined waits.
        let isStuck = !connection.output.isEmpty
        if !isStuck, connection.afterOutput == .keep, !connection.input.isEmpty || connection.machine.hasPeerClosed {
            process(connection)
        } else {
            finishRound(connection)
        }
        if !connection.isClosed, connection.mayRead { read(connection) }
    }

    // MARK: TLS

    /// Decrypts what was read, and serves what the peer said in it.
    private mutating func receivedEncrypted(_ bytes: UnsafeRawBufferPointer, on connection: Connection) {
        guard let session = connection.session ?? startTLS(bytes, on: connection) else { return }
        // Nothing else reads before this call returns: the bytes stay as they are.
        session.lend(bytes)
        defer { session.returnArrived() }
        while !connection.isClosed {
            let transfer = session.read()
            if session.hasShaken, connection.machine.phase == .handshake {
                connection.machine.handshakeEnded(now: now)
                statistics.shook(resumed: session.isResumed)
            }
            switch transfer {
            case .bytes(let count): received(UnsafeRawBufferPointer(rebasing: wire.plain[..<count]), on: connection)
            case .wouldBlock:
                // A handshake's next flight, or what the protocol itself answers.
                return finishRound(connection)
            case .end:
                return peerEnded(connection)
            case .failed:
                // The alert that says why.
                flush(connection)
                return close(connection)
            }
        }
    }

    /// The first bytes of a connection: a handshake, or the request of somebody who does not know that TLS is spoken here.
    private mutating func startTLS(_ bytes: UnsafeRawBufferPointer, on connection: Connection) -> TLSSession? {
        guard let first = bytes.first, let tls else { return nil }
        // A handshake begins with byte 22, and the name of a method with a letter.
        if UInt8(ascii: "A")...UInt8(ascii: "z") ~= first {
            statistics.failedHandshake()
            connection.machine.handshakeEnded(now: now)
            let isHead = Method.isHead(bytes.assumingMemoryBound(to: UInt8.self).span)
            refuse(WireError(.plainOnTLS, at: 0), isHead: isHead, on: connection)
            finishRound(connection)
            return nil
        }
        guard let session = TLSSession(tls, on: wire) else {
            close(connection)
            return nil
        }
        connection.session = session
        return session
    }

    /// Encrypts what this round has encoded; `output` is then what goes to the socket. False where the session is broken.
    private mutating func encrypt(_ session: TLSSession, for connection: Connection) -> Bool {
        if !output.isEmpty {
            let isWhole = output.withUnsafeBytes { session.write($0) }
            output.removeAll(keepingCapacity: output.capacity <= 4 * Self.outputChunk)
            guard isWhole else { return false }
            // The last answer and the end leave together.
            if connection.afterOutput != .keep { session.end() }
        }
        wire.exchangeLeaving(&output)
        return true
    }

    /// The peer is told that this was the end, unless what it is still owed lies in between; whether it hears so is its own matter.
    private mutating func endTLS(_ session: TLSSession, of connection: Connection) {
        connection.session = nil
        if !session.hasShaken { statistics.failedHandshake() }
        if connection.output.isEmpty { session.end() }
        wire.sendLeaving(to: connection.descriptor)
    }

    // MARK: Streams

    private mutating func startStream(_ response: Response, on connection: Connection) {
        // A server that stops begins nothing that does not end.
        guard stopDeadline == nil else {
            var response = response
            response.close = true
            return answer(response, on: connection, context: connection.context, leftover: true)
        }
        encodeStreamHead(response, for: connection.context, date: date, into: &output)
        connection.isStreaming = true
        connection.afterOutput = .keep
        connection.machine.startStreaming()
    }

    private func streaming(_ ticket: Ticket) -> Connection? {
        let slot = Int(ticket.slot)
        guard slot < connections.count, let connection = connections[slot], connection.isStreaming, connection.ticket == ticket,
            connection.afterOutput == .keep
        else { return nil }
        return connection
    }

    private mutating func sendOn(_ ticket: Ticket, _ bytes: [UInt8]) {
        guard let connection = streaming(ticket) else { return }
        guard connection.output.count - connection.sent + bytes.count <= Self.streamBacklog else { return close(connection) }
        encodeChunk(bytes, isChunked: connection.context.minorVersion > 0, into: &output)
        finishRound(connection)
    }

    private mutating func endStream(_ connection: Connection) {
        encodeLastChunk(isChunked: connection.context.minorVersion > 0, into: &output)
        connection.afterOutput = .close
        if output.isEmpty, connection.output.isEmpty { return close(connection) }
        finishRound(connection)
    }

    // MARK: Writing

    /// Sends what this round has encoded, and does what is due then.
    private mutating func finishRound(_ connection: Connection) {
        flush(connection)
        guard !connection.isClosed else { return }
        if connection.output.isEmpty { conclude(connection) }
        if !connection.isClosed { nextTimer = min(nextTimer, connection.machine.deadline) }
    }

    private mutating func flush(_ connection: Connection) {
        if let session = connection.session, !connection.isClosed {
            guard encrypt(session, for: connection) else { return close(connection) }
        }
        guard !output.isEmpty, !connection.isClosed else { return }
        defer { output.removeAll(keepingCapacity: output.capacity <= 4 * Self.outputChunk) }
        guard connection.output.isEmpty else {
            connection.output.append(contentsOf: output)
            connection.machine.blocked(then: connection.afterOutput, progress: false, now: now)
            return
        }
        var sent = 0
        while sent < output.count {
            switch output.withUnsafeBytes({ Socket.send(connection.descriptor, UnsafeRawBufferPointer(rebasing: $0[sent...])) }) {
            case .bytes(let count): sent += count
            case .wouldBlock:
                connection.output = Array(output[sent...])
                connection.sent = 0
                connection.machine.blocked(then: connection.afterOutput, progress: true, now: now)
                watch(connection)
                if !connection.isClosed { poller.rearmWrite(connection.descriptor) }
                return
            case .end, .failed: return close(connection)
            }
        }
    }

    /// The socket has room again.
    private mutating func writeOn(_ connection: Connection) {
        var progress = false
        while connection.sent < connection.output.count {
            let result = connection.output.withUnsafeBytes {
                Socket.send(connection.descriptor, UnsafeRawBufferPointer(rebasing: $0[connection.sent...]))
            }
            switch result {
            case .bytes(let count):
                connection.sent += count
                progress = true
            case .wouldBlock:
                connection.machine.blocked(then: connection.afterOutput, progress: progress, now: now)
                poller.rearmWrite(connection.descriptor)
                return
            case .end, .failed: return close(connection)
            }
        }
        connection.output = []
        connection.sent = 0
        if connection.machine.unblocked(now: now) == .keep { process(connection) } else { conclude(connection) }
        // What came while nothing was read may be there without another word from the poller.
        if !connection.isClosed { read(connection) }
    }

    /// All output is written.
    private mutating func conclude(_ connection: Connection) {
        switch connection.afterOutput {
        case .keep: break
        case .close: close(connection)
        case .drain:
            guard connection.machine.phase != .draining else { return }
            guard !connection.machine.hasPeerClosed else { return close(connection) }
            Socket.shutdownWriting(connection.descriptor)
            connection.machine.startDraining(now: now)
            connection.input = []
            nextTimer = min(nextTimer, connection.machine.deadline)
            if !connection.mayRead, connection.isRegistered { poller.rearmRead(connection.descriptor) }
        }
    }

    // MARK: Time limits

    private mutating func checkTimers() {
        var next = Int64.max
        for slot in connections.indices {
            guard let connection = connections[slot] else { continue }
            switch connection.machine.timeout(now: now) {
            case .nothing: break
            case .close:
                statistics.timedOut()
                close(connection)
            case .refuse(let error):
                statistics.timedOut()
                let input = connection.input
                connection.input = []
                // A request whose answer is owed is no longer in the input.
                let isHead = error.fault == .replyTimeout ? connection.context.isHead : Method.isHead(input.span)
                refuse(error, isHead: isHead, on: connection)
                finishRound(connection)
                if !connection.isClosed { read(connection) }
            }
            if !connection.isClosed { next = min(next, connection.machine.deadline) }
        }
        nextTimer = next == .max ? next : max(next, now + Self.timerGrain)
    }
}

/// What one read of a worker can bring.
private final class ReadBuffer {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 64)
    deinit { bytes.deallocate() }
}
