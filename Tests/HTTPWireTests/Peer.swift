// SPDX-License-Identifier: MIT
//
// A connection's owner without a socket: it keeps what was sent, asks the machine, drops what the machine says is used, and answers at once.
// What came of it is compared between different cuts of the same bytes.

import HTTPWire
import Testing

struct Peer {
    struct Request: Hashable, Sendable {
        var method, form, framing: String
        var target, path: Bytes
        var query: Bytes?
        var authority: Bytes
        var minorVersion: Int
        var keepAlive, expectsContinue: Bool
        var fields: [[Bytes]]
        var body: Bytes
    }

    enum Ending: Hashable, Sendable {
        case waiting
        case refused(WireError)
        case closed(ConnectionMachine.Persistence)
        case stopped
    }

    var machine: ConnectionMachine
    var head = RequestHead()
    var buffer: [UInt8] = []
    var now: Int64
    var requests: [Request] = []
    var ending = Ending.waiting
    var continues = 0
    /// Whether answers go out and the connection lives on; else the first request stays unanswered.
    var answers = true

    init(limits: Limits = Limits(), now: Int64 = 0) {
        machine = ConnectionMachine(limits: limits, now: now)
        self.now = now
    }

    mutating func send(_ bytes: some Sequence<UInt8>) {
        buffer.append(contentsOf: bytes)
        run()
    }

    mutating func send(_ text: String) { send(text.utf8) }

    mutating func halfClose() {
        machine.peerClosed()
        run()
    }

    /// One question to the machine.
    mutating func next() -> ConnectionMachine.Action {
        let lent = buffer
        return machine.next(lent.span, head: &head, now: now)
    }

    mutating func run() {
        guard ending == .waiting else {
            let action = next()
            if action != .stop { Issue.record("\(action) after \(ending)") }
            return
        }
        while true {
            switch next() {
            case .read:
                dropSpent()
                return
            case .mayContinue:
                continues += 1
            case .request:
                requests.append(taken())
                guard answers else { return }
                let persistence = machine.replied(keepAlive: head.keepAlive, leftover: buffer.count > machine.requestLength, now: now)
                buffer.removeFirst(machine.requestLength)
                if persistence != .keep {
                    ending = .closed(persistence)
                    return
                }
            case .refuse(let error):
                ending = .refused(error)
                let persistence = machine.replied(keepAlive: true, leftover: false, now: now)
                if persistence != .drain { Issue.record("\(persistence) after \(error)") }
                return
            case .stop:
                ending = .stopped
                return
            }
        }
    }

    mutating func dropSpent() {
        let spent = machine.spent
        if !spent.isEmpty {
            buffer.removeSubrange(spent)
            machine.dropSpent()
        }
    }

    private func bytes(_ range: Range<Int>) -> Bytes { Bytes(Array(buffer[range])) }

    private func taken() -> Request {
        Request(
            method: head.method.name.description, form: "\(head.form)",
            framing: {
                switch head.framing {
                case .none: "none"
                case .length(let count): "length \(count)"
                case .chunked: "chunked"
                }
            }(),
            target: bytes(head.target), path: bytes(head.path), query: head.query.map(bytes), authority: bytes(head.authority),
            minorVersion: head.minorVersion, keepAlive: head.keepAlive, expectsContinue: head.expectsContinue,
            fields: head.fields.map { [bytes($0.name), bytes($0.value)] },
            body: machine.body.map(bytes) ?? Bytes(machine.chunkedBody))
    }

    /// What of a conversation must not depend on how its bytes were cut.
    struct Outcome: Hashable, Sendable {
        let requests: [Request]
        let ending: Ending
    }
    var outcome: Outcome { Outcome(requests: requests, ending: ending) }
}

func converse(_ pieces: [some Sequence<UInt8>], limits: Limits = Limits(), halfClose: Bool = false) -> Peer.Outcome {
    var peer = Peer(limits: limits)
    for piece in pieces { peer.send(piece) }
    if halfClose { peer.halfClose() }
    return peer.outcome
}

let behind = Array("PUT /behind HTTP/1.1\r\nHost: z\r\nContent-Length: 1\r\n\r\n!".utf8)
let requestBehind = Peer.Request(
    method: "PUT", form: "origin", framing: "length 1", target: "/behind", path: "/behind", query: nil, authority: "z", minorVersion: 1,
    keepAlive: true, expectsContinue: false, fields: [["Host", "z"], ["Content-Length", "1"]], body: "!")

/// Sends the input whole, byte by byte, cut at each place, and with a request behind it; all must come to the same.
///
/// - Returns: what came of the whole input.
@discardableResult
func converseInEveryWay(_ input: [UInt8], limits: Limits = Limits(), sourceLocation: SourceLocation = #_sourceLocation) -> Peer.Outcome {
    let whole = converse([input], limits: limits)
    #expect(whole == converse(input.map { [$0] }, limits: limits), "byte by byte", sourceLocation: sourceLocation)
    for cut in 1..<max(input.count, 1) {
        var peer = Peer(limits: limits)
        peer.send(input[..<cut])
        if case .refused(let error) = whole.ending {
            if peer.ending != .waiting, peer.ending != whole.ending {
                Issue.record("\(peer.ending) instead of \(error) in the first \(cut) bytes", sourceLocation: sourceLocation)
            }
        } else if peer.ending != .waiting {
            Issue.record("\(peer.ending) in the first \(cut) bytes", sourceLocation: sourceLocation)
        }
        if !peer.requests.isEmpty { Issue.record("a request in the first \(cut) bytes", sourceLocation: sourceLocation) }
        peer.send(input[cut...])
        if peer.outcome != whole { Issue.record("cut at \(cut): \(peer.outcome)", sourceLocation: sourceLocation) }
    }
    for pieces in [[input + behind], [input, behind]] {
        let both = converse(pieces, limits: limits)
        switch whole.ending {
        case .waiting:
            #expect(both == Peer.Outcome(requests: whole.requests + [requestBehind], ending: .waiting), sourceLocation: sourceLocation)
        case .closed:
            // Bytes behind the last request are only thrown away.
            #expect(both.requests == whole.requests, sourceLocation: sourceLocation)
            #expect(both.ending == .closed(pieces.count == 1 ? .drain : .close), sourceLocation: sourceLocation)
        case .refused, .stopped:
            #expect(both == whole, sourceLocation: sourceLocation)
        }
    }
    return whole
}

extension Limits {
    /// The defaults with some changed.
    static func with(_ change: (inout Limits) -> Void) -> Limits {
        var limits = Limits()
        change(&limits)
        return limits
    }
}

/// SplitMix64: random numbers that are the same in each run.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
