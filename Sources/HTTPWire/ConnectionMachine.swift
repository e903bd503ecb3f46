// SPDX-License-Identifier: MIT
//
// One connection's life as a state machine without a socket or a clock: it is told what arrived and what time it is, and says what to do.
//
//     handshake → idle                                  TLS, where it is spoken
//     idle → head → body → replying → idle …            a request and its answer
//       any of them → refusing → draining → closed      an error: one answer, the rest of the input read and thrown away
//       replying → streaming → closed                   an answer without an end: input is thrown away, and only its end is looked for
//       any but replying → writing → where it was       the peer does not read: nothing more is read from it either, until it does
//
// Two rules for whoever edits it. Only this file decides whether a connection lives on, and only this file knows deadlines; the owner compares
// `deadline` with the time and calls `timeout`. Bytes are only ever lent: the owner keeps them and drops what `next` says is used.

package struct ConnectionMachine: Sendable {
    package enum Action: Sendable, Hashable {
        /// More bytes are needed; those in `spent` may be dropped (then call `dropSpent`).
        case read
        /// Send 100 Continue, or answer with a final refusal (`refuseBody`) and close; then call `next` again.
        case mayContinue
        /// A whole request: `head` is filled, the body is `body`. After the answer is encoded call `replied`.
        case request
        /// Answer this, then call `replied`.
        case refuse(WireError)
        /// Nothing is to be done with these bytes now: an answer is owed or stuck, or the connection is at its end (`phase` tells).
        case stop
    }

    /// How a connection goes on once an answer has been handed to the socket.
    package enum Persistence: Sendable, Hashable {
        case keep
        /// Close once all is written; nothing unread can be in the way.
        case close
        /// Shut down writing once all is written, read on for a while, then close (RFC 9112 §9.6).
        case drain
    }

    package enum Timeout: Sendable, Hashable {
        case nothing
        /// Answer this and go on as after any refusal.
        case refuse(WireError)
        case close
    }

    package enum Phase: Sendable, Hashable {
        case handshake, idle, head, body, replying, streaming, writing, refusing, draining, closed

        /// Whether input would be used now; while an answer is owed or stuck, a pipelining peer waits in its own buffers.
        package var wantsInput: Bool {
            switch self {
            case .idle, .head, .body, .draining, .streaming, .handshake: true
            case .replying, .writing, .refusing, .closed: false
            }
        }
    }

    private enum Body: Sendable {
        case none
        case length(Int)
        case chunked(ChunkedDecoder, position: Int)
    }

    package let limits: Limits
    private var idleTime: Int64
    /// Stored, as is all that the owner asks for with each request: a computed property of the machine would copy it whole for the call.
    package private(set) var phase = Phase.idle
    private var bodyState = Body.none
    /// Bytes that were looked at, and the count from which a second look is worth it.
    private var seen = 0
    private var lookAgain = 1
    private var headEnd = 0
    /// Bytes of the body that the owner has dropped: offsets of errors count them too.
    private var dropped = 0
    private var continueHandled = false
    /// The peer sends nothing more; it may still read.
    package private(set) var hasPeerClosed = false
    private var drained = 0
    private var phaseAfterWrite = Persistence.keep
    private var phaseBeforeWrite = Phase.idle
    /// When `timeout` must be called, in the owner's milliseconds.
    package private(set) var deadline: Int64
    /// Where in the bytes of the request just given out its body lies; nil for a chunked one, which is in `chunkedBody`.
    package private(set) var body: Range<Int>?
    /// Bytes of the request just given out; the next request begins behind them.
    package private(set) var requestLength = 0

    /// - Parameter handshakes: whether the peer has to agree on TLS first; `handshakeEnded` tells when it has.
    package init(limits: Limits, now: Int64, handshakes: Bool = false) {
        self.limits = limits
        idleTime = limits.idleTime
        phase = handshakes ? .handshake : .idle
        deadline = now + (handshakes ? limits.handshakeTime : limits.headTime)
    }

    /// From here on requests are expected.
    package mutating func handshakeEnded(now: Int64) {
        guard phase == .handshake else { return }
        phase = .idle
        // A server that stops waits for less.
        deadline = now + min(limits.headTime, idleTime)
    }

    /// Decides about all bytes from the start of the current request.
    package mutating func next(_ bytes: Span<UInt8>, head: inout RequestHead, now: Int64) -> Action {
        switch phase {
        case .idle:
            // Empty lines in front begin no request: some clients send one behind a body.
            guard !isOnlyEmptyLines(bytes) else { return ended(.read) }
            phase = .head
            deadline = now + limits.headTime
            return readHead(bytes, &head, now)
        case .head:
            return readHead(bytes, &head, now)
        case .body:
            return readBody(bytes, &head, now, headIsFresh: false)
        default:
            return .stop
        }
    }

    private func isOnlyEmptyLines(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count <= 2 * limits.emptyLines else { return false }
        for at in bytes.indices where bytes[at] != (at % 2 == 0 ? .cr : .lf) { return false }
        return true
    }

    private mutating func readHead(_ bytes: Span<UInt8>, _ head: inout RequestHead, _ now: Int64) -> Action {
        guard worthALook(bytes) else { return ended(.read) }
        do {
            guard try parseRequestHead(bytes, into: &head, limits: limits) else { return ended(.read) }
        } catch {
            return refuse(error)
        }
        headEnd = head.end
        if head.hasUnknownExpectation { return refuse(WireError(.unknownExpectation, at: head.end)) }
        switch head.framing {
        case .none:
            bodyState = .none
            body = headEnd..<headEnd
            requestLength = headEnd
            phase = .replying
            deadline = now + limits.replyTime
            return .request
        case .length(let count): bodyState = .length(count)
        case .chunked: bodyState = .chunked(ChunkedDecoder(), position: headEnd)
        }
        phase = .body
        deadline = now + limits.bodyTime
        continueHandled = !head.expectsContinue
        return readBody(bytes, &head, now, headIsFresh: true)
    }

    private mutating func readBody(_ bytes: Span<UInt8>, _ head: inout RequestHead, _ now: Int64, headIsFresh: Bool) -> Action {
        seen = bytes.count + dropped
        var complete = false
        switch bodyState {
        case .none:
            complete = true
        case .length(let count):
            requestLength = headEnd + count
            body = headEnd..<requestLength
            complete = bytes.count >= requestLength
        case .chunked(var decoder, var position):
            body = nil
            bodyState = .none  // so that the body's buffer has one owner and is not copied
            do {
                complete = try decoder.decode(bytes, from: &position, limits: limits)
            } catch {
                return refuse(WireError(error.fault, at: error.offset + dropped))
            }
            requestLength = position
            bodyState = .chunked(decoder, position: position)
        }
        if !complete {
            // No 100 where the body has begun to arrive (RFC 9110 §10.1.1).
            if !continueHandled {
                continueHandled = true
                if bytes.count == headEnd { return .mayContinue }
            }
            return ended(.read)
        }
        if !headIsFresh {
            // The head was parsed before, from the same bytes: it is parsed again because others have used `head` meanwhile.
            do { _ = try parseRequestHead(bytes, into: &head, limits: limits) } catch { return refuse(error) }
        }
        phase = .replying
        deadline = now + limits.replyTime
        return .request
    }

    /// A head that comes in small pieces is not parsed anew for each: early on yes, then when a line ends or a quarter more has come, and when
    /// no more will come or be taken.
    private mutating func worthALook(_ bytes: Span<UInt8>) -> Bool {
        defer { seen = bytes.count }
        var worth = bytes.count >= min(lookAgain, limits.head) || hasPeerClosed
        var at = seen
        while !worth, at < bytes.count {
            worth = bytes[at] == .lf
            at += 1
        }
        if worth { lookAgain = bytes.count + (bytes.count < 1024 ? 1 : bytes.count / 4) }
        return worth
    }

    /// After the peer's last byte an unfinished request stays unfinished and is not acted on (RFC 9112 §8).
    private mutating func ended(_ action: Action) -> Action {
        guard hasPeerClosed else { return action }
        if phase == .idle {
            phase = .closed
            return .stop
        }
        return refuse(WireError(.cutShort, at: seen))
    }

    private mutating func refuse(_ error: WireError) -> Action {
        phase = .refusing
        return .refuse(error)
    }

    package var chunkedBody: [UInt8] {
        if case .chunked(let decoder, _) = bodyState { decoder.body } else { [] }
    }

    /// Decoded bytes between the head and the rest, which nobody needs any more; empty at 0 unless a chunked body is arriving.
    package var spent: Range<Int> {
        if phase == .body, case .chunked(_, let position) = bodyState { headEnd..<position } else { 0..<0 }
    }

    package mutating func dropSpent() {
        guard case .chunked(let decoder, let position) = bodyState else { return }
        dropped += position - headEnd
        bodyState = .chunked(decoder, position: headEnd)
    }

    /// The answer to the expectation is a final one: no body will be read, so this is the connection's last answer.
    package mutating func refuseBody() { phase = .refusing }

    /// The answer is encoded.
    ///
    /// - Parameters:
    ///   - keepAlive: what the request and the response together say.
    ///   - leftover: whether bytes behind the request have arrived. They are no request after a `close`, and closing plainly with more of
    ///     them unread would reset the connection before the peer has read the answer.
    package mutating func replied(keepAlive: Bool, leftover: Bool, now: Int64) -> Persistence {
        let refused = phase == .refusing
        bodyState = .none
        seen = 0
        lookAgain = 1
        headEnd = 0
        dropped = 0
        guard keepAlive, !refused else {
            phase = .writing
            deadline = now + limits.writeTime
            return refused || leftover ? .drain : .close
        }
        phase = .idle
        deadline = now + idleTime
        return .keep
    }

    /// The head of an answer is encoded whose body comes for as long as the connection lives.
    package mutating func startStreaming() {
        bodyState = .none
        phase = .streaming
        deadline = .max
    }

    /// Output could not all be written, or more was added to what waits. Progress moves the deadline.
    package mutating func blocked(then persistence: Persistence, progress: Bool, now: Int64) {
        phaseAfterWrite = persistence
        // An answer that is owed has its own limit, and its coming is not to be missed; a handshake has one for all of it.
        guard phase != .replying, phase != .handshake else { return }
        if phase != .writing {
            phaseBeforeWrite = phase
            phase = .writing
            deadline = now + limits.writeTime
        } else if progress {
            deadline = now + limits.writeTime
        }
    }

    /// All output is written; what the connection does now. A request that was arriving goes on where it was.
    package mutating func unblocked(now: Int64) -> Persistence {
        if phaseAfterWrite == .keep, phase == .writing {
            phase = phaseBeforeWrite
            switch phase {
            case .idle: deadline = now + idleTime
            case .head: deadline = now + limits.headTime
            case .streaming: deadline = .max
            default: deadline = now + limits.bodyTime
            }
        }
        return phaseAfterWrite
    }

    package mutating func startDraining(now: Int64) {
        phase = .draining
        deadline = now + limits.drainTime
    }

    /// Input while draining or streaming. Returns false once enough was thrown away.
    package mutating func drain(_ count: Int) -> Bool {
        drained += count
        return drained <= limits.drainBytes
    }

    /// The peer sends nothing more; it may still read.
    package mutating func peerClosed() { hasPeerClosed = true }

    /// The deadline has passed.
    package mutating func timeout(now: Int64) -> Timeout {
        guard now >= deadline else { return .nothing }
        switch phase {
        case .handshake, .idle, .streaming, .writing, .refusing, .draining, .closed: return .close
        case .head:
            phase = .refusing
            return .refuse(WireError(.headTimeout, at: seen))
        case .body:
            phase = .refusing
            return .refuse(WireError(.bodyTimeout, at: seen))
        case .replying:
            phase = .refusing
            return .refuse(WireError(.replyTimeout, at: 0))
        }
    }

    /// The server stops: from now on an idle connection, or one that still shakes hands, ends after this time unless a request begins; nothing else is cut short here.
    package mutating func endIdle(after time: Int64, now: Int64) {
        idleTime = time
        if phase == .idle || phase == .handshake { deadline = min(deadline, now + time) }
    }

    /// Too much is kept for unfinished requests: this one, if it is one, is given up. Nil where none is arriving.
    package mutating func shed() -> WireError? {
        guard phase == .head || phase == .body else { return nil }
        phase = .refusing
        return WireError(.overloaded, at: seen)
    }

    /// Bytes of a chunked body that has not ended yet.
    package var decodedBytes: Int {
        if case .chunked(let decoder, _) = bodyState { decoder.body.count } else { 0 }
    }
}
