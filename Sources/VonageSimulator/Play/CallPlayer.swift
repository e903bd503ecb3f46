// SPDX-License-Identifier: MIT
//
// Plays calls: gives each its time, sends what it asks for, and brings the outcomes back; all on one thread, any number of calls at once.
//
// Time is virtual unless it is said to be real: while a call waits for no answer its clock jumps to the next thing that happens, so a call of an
// hour takes as long as its requests do. A call's requests go out one after the other, so that the same call is the same each time; an answer
// takes no time of the call unless it takes a second or more, or runs into a limit, which passes as it does. In real time requests that may
// bring an NCCO go out at once, and events one behind the other.

package import HTTPServer
import NCCO
package import VonageAuth

package final class CallPlayer {
    package enum Pace: Sendable { case virtual, real }

    private let transport: any WebhookTransport
    private let pace: Pace
    private let clock: Clock
    private let signer: WebhookSigner?
    /// How far Vonage's clock is ahead of ours, in milliseconds.
    private let skew: Int64
    private let trouble: CallTrouble?
    private var reader = NCCOReader()
    private var tracks: [UInt64: Track] = [:]
    private var begun: UInt64 = 0

    /// - Parameters:
    ///   - signer: nil where webhooks are not signed.
    ///   - trouble: what is done to webhooks on their way.
    package init(
        transport: any WebhookTransport, pace: Pace = .virtual, signer: WebhookSigner? = nil, trouble: CallTrouble? = nil,
        clock: Clock = .system
    ) {
        self.transport = transport
        self.pace = pace
        self.signer = signer
        self.trouble = trouble
        skew = trouble?.skew ?? 0
        self.clock = clock
    }

    /// Calls that are not over.
    package var count: Int { tracks.count }

    /// Begins a call.
    ///
    /// - Parameters:
    ///   - number: tells it from others for its trouble.
    ///   - changed: is lent the call each time something has happened in it.
    ///   - done: is lent the call once it is over.
    /// - Returns: a handle by which others may change it.
    @discardableResult
    package func play(
        _ call: PlayedCall, number: UInt64 = 0, changed: ((inout PlayedCall) -> Void)? = nil, done: @escaping (PlayedCall) -> Void
    ) -> PlayedCallHandle {
        begun += 1
        let track = Track(begun, call, trouble: trouble?.plan(forCall: number), changed: changed, done: done)
        tracks[begun] = track
        track.call.start()
        pump(track)
        return PlayedCallHandle(id: track.id)
    }

    /// Changes a call that is not over.
    package func change(_ handle: PlayedCallHandle, _ body: (inout PlayedCall, _ now: Int64) -> Void) {
        guard let track = tracks[handle.id] else { return }
        body(&track.call, pace == .real ? wall : track.call.now)
        pump(track)
    }

    /// Waits at most so many milliseconds, and does what is due.
    package func turn(milliseconds: Int32) {
        var wait = milliseconds
        if pace == .real {
            let now = wall
            for track in tracks.values {
                guard let next = track.nextTime else { continue }
                wait = min(wait, Int32(clamping: max(next - now, 0)))
            }
        }
        transport.turn(milliseconds: wait)
        guard pace == .real else { return }
        let now = wall
        for track in tracks.values where track.nextTime.map({ $0 <= now }) ?? false { pump(track) }
    }

    /// Plays until all calls are over.
    package func run() { while count > 0 { turn(milliseconds: 1000) } }

    private var wall: Int64 { clock.wall() + skew }

    // MARK: One call

    private final class Track {
        let id: UInt64
        var call: PlayedCall
        var trouble: CallTrouble.Plan?
        let changed: ((inout PlayedCall) -> Void)?
        let done: (PlayedCall) -> Void
        var queue: [PlayedRequest] = []
        /// Held back, to be overtaken.
        var held: [PlayedRequest] = []
        var overtaken: Set<Int> = []
        var isSending = false
        var isPumping = false
        var outcomes: [(number: Int, outcome: PlayedOutcome, trouble: [String], at: Int64)] = []

        init(
            _ id: UInt64, _ call: PlayedCall, trouble: CallTrouble.Plan?, changed: ((inout PlayedCall) -> Void)?,
            done: @escaping (PlayedCall) -> Void
        ) {
            (self.id, self.call, self.trouble, self.changed, self.done) = (id, call, trouble, changed, done)
        }

        /// When something is due, whether of the call's own or an answer that is late.
        var nextTime: Int64? {
            guard let outcome = outcomes.map(\.at).min() else { return call.nextTime }
            return min(outcome, call.nextTime ?? .max)
        }
    }

    private func pump(_ track: Track) {
        // An answer that comes at once would call this again from inside.
        guard !track.isPumping else { return }
        track.isPumping = true
        defer { track.isPumping = false }
        while step(track) {}
        track.changed?(&track.call)
        if track.call.isOver, !track.isSending, tracks.removeValue(forKey: track.id) != nil { track.done(track.call) }
    }

    /// Whether something was done, and more may follow.
    private func step(_ track: Track) -> Bool {
        if pace == .real { track.call.advance(to: wall) }
        // Whoever is told of a state, and looks the call up at once, is to find it there.
        if track.call.hasRequests { track.changed?(&track.call) }
        for request in track.call.takeRequests() {
            if pace == .real, request.mayCarryNCCO { send(request, track, isAlone: false) } else { track.queue.append(request) }
        }
        if let place = track.outcomes.indices.min(by: { track.outcomes[$0].at < track.outcomes[$1].at }) {
            let outcome = track.outcomes[place]
            let isDue = outcome.at <= (pace == .real ? wall : track.call.now) || pace == .virtual && !track.isSending && track.queue.isEmpty
            if isDue, pace == .real || outcome.at <= track.call.nextTime ?? .max {
                track.outcomes.remove(at: place)
                track.call.finish(outcome.number, outcome.outcome, trouble: outcome.trouble, at: outcome.at, reader: &reader)
                return true
            }
        }
        guard !track.isSending else { return false }
        if !track.queue.isEmpty {
            let request = track.queue.removeFirst()
            if !request.mayCarryNCCO, track.trouble?.holdsBack() ?? false {
                track.held.append(request)
                track.overtaken.insert(request.number)
                return true
            }
            send(request, track, isAlone: true)
            track.queue += track.held
            track.held = []
            return true
        }
        if pace == .virtual, let next = track.call.nextTime {
            track.call.advance(to: next)
            return true
        }
        guard !track.held.isEmpty else { return false }
        track.queue = track.held
        track.held = []
        // What was held back long enough goes out now.
        let request = track.queue.removeFirst()
        send(request, track, isAlone: true)
        return true
    }

    private func send(_ request: PlayedRequest, _ track: Track, isAlone: Bool) {
        var handling = track.trouble?.handling(of: request) ?? CallTrouble.Handling()
        if track.overtaken.remove(request.number) != nil { handling.words.append("held back") }
        if isAlone { track.isSending = true }
        func finish(_ outcome: PlayedOutcome) {
            // What is late in real time arrives then; in virtual time the outcome says how late it is.
            var time = pace == .real ? wall + min(handling.delay, request.answerLimit) : request.at
            if pace == .virtual { time += outcome.virtualTime(of: request) }
            track.outcomes.append((request.number, outcome, handling.words, time))
            if isAlone { track.isSending = false }
            pump(track)
        }
        if let instead = handling.instead { return finish(instead) }
        let authorization = handling.isUnsigned ? nil : authorization(for: request)
        let transport = transport
        transport.send(request, authorization: authorization, isCut: handling.isCut) { outcome in
            let outcome = handling.spoil(outcome, of: request)
            guard handling.isRepeated else { return finish(outcome) }
            // The second copy has the same signature: it is the same delivery.
            transport.send(request, authorization: authorization, isCut: false) { _ in finish(outcome) }
        }
    }

    private func authorization(for request: PlayedRequest) -> String? {
        guard let signer else { return nil }
        let query = String(request.target.drop { $0 != "?" }.dropFirst())
        let payload: WebhookVerifier.Payload = request.body.map { .post(body: $0, query: query) } ?? .get(query: query)
        return try? signer.authorization(for: payload, id: TokenID().description, now: wall / 1000)
    }
}

/// Names one call of a player.
package struct PlayedCallHandle: Hashable, Sendable {
    fileprivate let id: UInt64
}

extension PlayedOutcome {
    /// What the wait for it takes of the call's time, in milliseconds: nothing below a second, so that a call is the same each time.
    fileprivate func virtualTime(of request: PlayedRequest) -> Int64 {
        switch self {
        case .reply(let reply): reply.micros / 1_000_000 * 1000
        case .failure(.connectTimeout, _): request.connectLimit
        case .failure(.responseTimeout, _): request.answerLimit
        case .failure(_, let micros): micros / 1_000_000 * 1000
        case .lost: 0
        }
    }
}
