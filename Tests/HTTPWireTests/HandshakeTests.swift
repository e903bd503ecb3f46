// SPDX-License-Identifier: MIT
//
// The time of a connection before its first request, where TLS has to be agreed on. Time is a number that the tests set.

import HTTPWire
import Testing

@Suite struct `A handshake` {
    private static let times = Limits.with {
        $0.handshakeTime = 100
        $0.headTime = 200
        $0.idleTime = 300
    }
    private var machine = ConnectionMachine(limits: times, now: 1000, handshakes: true)

    @Test mutating func `has its time in total, and then the connection is closed without a word`() {
        #expect(machine.phase == .handshake && machine.phase.wantsInput && machine.deadline == 1100)
        #expect(machine.timeout(now: 1099) == .nothing)
        #expect(machine.timeout(now: 1100) == .close)
    }

    @Test mutating func `is followed by the time for a head`() {
        machine.handshakeEnded(now: 1050)
        #expect(machine.phase == .idle && machine.deadline == 1250)
        machine.handshakeEnded(now: 1100)
        #expect(machine.deadline == 1250, "it ends once")
    }

    @Test mutating func `is no request, whatever comes`() {
        var head = RequestHead()
        let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        #expect(machine.next(bytes.span, head: &head, now: 1000) == .stop)
        #expect(machine.phase == .handshake && machine.deadline == 1100)
    }

    @Test mutating func `gets no more time by a peer that does not read`() {
        machine.blocked(then: .keep, progress: true, now: 1090)
        #expect(machine.phase == .handshake && machine.deadline == 1100)
        #expect(machine.unblocked(now: 1095) == .keep)
        #expect(machine.phase == .handshake && machine.deadline == 1100)
    }

    @Test mutating func `is cut short by a stop, and what follows it, too`() {
        machine.endIdle(after: 20, now: 1010)
        #expect(machine.deadline == 1030)
        machine.handshakeEnded(now: 1020)
        #expect(machine.phase == .idle && machine.deadline == 1040)
    }

    @Test func `is none on a plain connection`() {
        let plain = ConnectionMachine(limits: Self.times, now: 1000)
        #expect(plain.phase == .idle && plain.deadline == 1200)
    }

    @Test mutating func `keeps nothing that could be shed`() { #expect(machine.shed() == nil) }
}
