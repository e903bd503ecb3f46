// SPDX-License-Identifier: MIT
//
// The life of a connection: time limits, half-closed peers, pipelines, expectations and how it ends. Time is a number that the tests set.

import HTTPWire
import Testing

private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
private let getClose = "GET /close HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
private let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"
private let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
private let expecting = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"

private let times = Limits.with {
    $0.headTime = 100
    $0.bodyTime = 200
    $0.idleTime = 300
    $0.writeTime = 400
    $0.replyTime = 500
    $0.drainTime = 600
    $0.drainBytes = 1000
}

@Suite struct `Time limits` {
    private var peer = Peer(limits: times, now: 1000)

    private mutating func at(_ now: Int64, _ text: String) {
        peer.now = now
        peer.send(text)
    }

    /// The deadline is exactly here, and then this is what happens.
    private mutating func expectDeadline(_ deadline: Int64, _ timeout: ConnectionMachine.Timeout, _ line: SourceLocation = #_sourceLocation)
    {
        #expect(peer.machine.deadline == deadline, sourceLocation: line)
        #expect(peer.machine.timeout(now: deadline - 1) == .nothing, sourceLocation: line)
        #expect(peer.machine.timeout(now: deadline) == timeout, sourceLocation: line)
    }

    @Test mutating func `a peer that sends nothing is closed without an answer`() { expectDeadline(1100, .close) }

    @Test mutating func `a head has its time in total, not for each read`() {
        at(1050, "G")
        for now in stride(from: Int64(1060), to: 1150, by: 10) { at(now, "E") }
        expectDeadline(1150, .refuse(WireError(.headTimeout, at: 10)))
        #expect(WireError(.headTimeout, at: 0).status == .requestTimeout)
        #expect(peer.next() == .stop)
    }

    @Test mutating func `a body has its time from the end of the head, in total`() {
        at(1010, post)
        at(1100, "he")
        at(1205, "ll")
        expectDeadline(1210, .refuse(WireError(.bodyTimeout, at: post.utf8.count + 4)))
        #expect(WireError(.bodyTimeout, at: 0).status == .requestTimeout)
    }

    @Test mutating func `a chunked body has its time in total`() {
        at(1000, chunked)
        for now in stride(from: Int64(1010), to: 1200, by: 10) { at(now, "1\r\nx\r\n") }
        expectDeadline(1200, .refuse(WireError(.bodyTimeout, at: chunked.utf8.count + 19 * 6)))
    }

    @Test mutating func `an answer that is owed too long becomes 503 and the end`() {
        peer.answers = false
        at(1020, get)
        #expect(peer.machine.phase == .replying)
        expectDeadline(1520, .refuse(WireError(.replyTimeout, at: 0)))
        #expect(WireError(.replyTimeout, at: 0).status == .serviceUnavailable)
        #expect(peer.machine.replied(keepAlive: true, leftover: false, now: 1520) == .drain)
    }

    @Test mutating func `an idle connection is closed without an answer`() {
        at(1020, get)
        #expect(peer.machine.phase == .idle)
        expectDeadline(1320, .close)
    }

    @Test mutating func `an empty line behind a body begins no request`() {
        at(1020, post + "hello\r\n")
        #expect(peer.machine.phase == .idle)
        expectDeadline(1320, .close)
    }

    @Test mutating func `the next head has its own time from its first byte`() {
        at(1020, get)
        at(1300, "G")
        expectDeadline(1400, .refuse(WireError(.headTimeout, at: 1)))
    }

    @Test mutating func `a pipelined head has its own time`() {
        at(1020, get + "G")
        expectDeadline(1120, .refuse(WireError(.headTimeout, at: 1)))
    }

    @Test mutating func `only progress moves the deadline of a write`() {
        at(1000, get)
        peer.machine.blocked(then: .keep, progress: false, now: 1010)
        #expect(peer.machine.deadline == 1410)
        peer.machine.blocked(then: .keep, progress: false, now: 1200)
        #expect(peer.machine.deadline == 1410)
        peer.machine.blocked(then: .keep, progress: true, now: 1400)
        expectDeadline(1800, .close)
    }

    @Test mutating func `after a write that was stuck the connection is idle`() {
        at(1000, get)
        peer.machine.blocked(then: .keep, progress: false, now: 1010)
        #expect(!peer.machine.phase.wantsInput)
        #expect(peer.next() == .stop)
        #expect(peer.machine.unblocked(now: 1100) == .keep)
        #expect(peer.machine.phase.wantsInput)
        expectDeadline(1400, .close)
    }

    @Test(arguments: [("G", 1300), (post + "he", 1400)] as [(String, Int64)])
    mutating func `after a write that was stuck a request goes on where it was`(_ begun: String, _ deadline: Int64) {
        at(1000, get + begun)
        peer.machine.blocked(then: .keep, progress: false, now: 1010)
        #expect(!peer.machine.phase.wantsInput && peer.machine.phase != .idle)
        #expect(peer.machine.unblocked(now: 1200) == .keep)
        #expect(peer.machine.phase.wantsInput && peer.machine.phase != .idle)
        #expect(peer.machine.deadline == deadline)
        peer.now = 1210
        peer.send(begun == "G" ? String(get.dropFirst()) : "llo")
        #expect(peer.requests.count == 2)
        expectDeadline(1510, .close)
    }

    @Test mutating func `an answer that is owed keeps its time while an earlier one is stuck`() {
        peer.answers = false
        at(1000, get)
        peer.machine.blocked(then: .keep, progress: false, now: 1010)
        #expect(peer.machine.phase == .replying)
        #expect(peer.machine.unblocked(now: 1020) == .keep)
        #expect(peer.machine.phase == .replying)
        expectDeadline(1500, .refuse(WireError(.replyTimeout, at: 0)))
    }

    @Test(arguments: [ConnectionMachine.Persistence.close, .drain])
    mutating func `after a last write that was stuck the connection ends as it had to`(_ persistence: ConnectionMachine.Persistence) {
        peer.answers = false
        at(1000, getClose)
        #expect(peer.machine.replied(keepAlive: false, leftover: persistence == .drain, now: 1010) == persistence)
        peer.machine.blocked(then: persistence, progress: false, now: 1020)
        #expect(peer.machine.unblocked(now: 1100) == persistence)
        expectDeadline(1410, .close)
    }

    @Test mutating func `a last write has its time from the answer`() {
        at(1000, getClose)
        expectDeadline(1400, .close)
    }

    @Test mutating func `draining ends by time, not moved by what is read`() {
        at(1000, "\u{1}")
        peer.machine.startDraining(now: 1010)
        #expect(peer.machine.phase == .draining && peer.machine.phase.wantsInput)
        let goesOn = peer.machine.drain(10)
        #expect(goesOn)
        expectDeadline(1610, .close)
    }

    @Test mutating func `draining ends by bytes`() {
        at(1000, "\u{1}")
        peer.machine.startDraining(now: 1010)
        let (first, second, third) = (peer.machine.drain(400), peer.machine.drain(600), peer.machine.drain(1))
        #expect(first && second && !third)
    }

    @Test mutating func `a refusal that is never answered is closed`() {
        peer.buffer = [1]
        #expect(peer.next() == .refuse(WireError(.badMethod, at: 0)))
        #expect(peer.machine.timeout(now: peer.machine.deadline) == .close)
    }

    @Test mutating func `a server that stops ends idle connections sooner, and no others`() {
        at(1000, get)
        peer.machine.endIdle(after: 4000, now: 1000)
        #expect(peer.machine.deadline == 1300)
        peer.machine.endIdle(after: 10, now: 1000)
        #expect(peer.machine.deadline == 1010)
        at(1005, "G")
        peer.machine.endIdle(after: 1, now: 1005)
        #expect(peer.machine.deadline == 1105)
    }

    @Test mutating func `a server that stops ends a connection soon that becomes idle later`() {
        at(1000, get)
        peer.machine.blocked(then: .keep, progress: true, now: 1000)
        peer.machine.endIdle(after: 10, now: 1000)
        #expect(peer.machine.deadline == 1400)
        #expect(peer.machine.unblocked(now: 1100) == .keep)
        #expect(peer.machine.deadline == 1110)
    }

    @Test mutating func `an unfinished request can be given up for want of room, and nothing else can`() {
        #expect(peer.machine.shed() == nil)
        at(1000, chunked + "5\r\nhe")
        #expect(peer.machine.decodedBytes == 2)
        let error = peer.machine.shed()
        #expect(error?.status == .serviceUnavailable)
        #expect(peer.next() == .stop)
        #expect(peer.machine.replied(keepAlive: true, leftover: false, now: 1000) == .drain)
        #expect(peer.machine.shed() == nil)
    }
}

@Suite struct `A peer that sends nothing more` {
    private var peer = Peer()

    @Test mutating func `ends an idle connection`() {
        peer.halfClose()
        #expect(peer.ending == .stopped)
        #expect(!peer.machine.phase.wantsInput)
        #expect(peer.machine.hasPeerClosed && peer.machine.phase == .closed)
        #expect(peer.machine.timeout(now: .max) == .close)
    }

    @Test mutating func `ends an idle connection after its requests`() {
        peer.send(get + get)
        peer.halfClose()
        #expect(peer.ending == .stopped)
        #expect(peer.requests.count == 2)
    }

    @Test mutating func `has what it sent before answered, in order`() {
        peer.answers = false
        peer.send(get + "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
        peer.machine.peerClosed()
        #expect(peer.next() == .stop)
        #expect(peer.machine.phase == .replying)
        #expect(peer.machine.replied(keepAlive: true, leftover: true, now: 0) == .keep)
        peer.buffer.removeFirst(peer.machine.requestLength)
        peer.answers = true
        peer.run()
        #expect(peer.requests.map(\.path) == ["/", "/2"])
        #expect(peer.ending == .stopped)
    }

    @Test mutating func `is told so when the next request is cut short`() {
        peer.send(get + "GET /")
        peer.halfClose()
        #expect(peer.requests.count == 1)
        #expect(peer.ending == .refused(WireError(.cutShort, at: 5)))
        #expect(WireError(.cutShort, at: 5).status == .badRequest)
    }

    @Test mutating func `gets its answer while writing is stuck`() {
        peer.send(get)
        peer.machine.blocked(then: .keep, progress: false, now: 0)
        peer.machine.peerClosed()
        #expect(peer.next() == .stop)
        #expect(peer.machine.unblocked(now: 0) == .keep)
        #expect(peer.next() == .stop)
        #expect(peer.machine.phase != .idle)
    }

    @Test mutating func `does not end a refusal or what follows it`() {
        peer.send("\u{1}")
        peer.halfClose()
        #expect(peer.ending == .refused(WireError(.badMethod, at: 0)))
        peer.machine.startDraining(now: 0)
        #expect(peer.next() == .stop)
        #expect(peer.machine.phase == .draining)
    }

    @Test mutating func `after an expectation gets no body and no request`() {
        peer.send(expecting)
        peer.halfClose()
        #expect(peer.continues == 1)
        #expect(peer.requests == [])
        #expect(peer.ending == .refused(WireError(.cutShort, at: expecting.utf8.count)))
    }

    @Test(arguments: try Accepted.all("accepted")) func `in the middle of a request is refused at its last byte`(_ vector: Accepted) {
        let input = vector.input.all
        for count in 1..<input.count {
            // Empty lines alone begin no request.
            let isNothing = input[..<count].allSatisfy { $0 == 0x0D || $0 == 0x0A }
            let expected = Peer.Outcome(requests: [], ending: isNothing ? .stopped : .refused(WireError(.cutShort, at: count)))
            let whole = converse([input[..<count]], halfClose: true)
            let bytewise = converse(input[..<count].map { [$0] }, halfClose: true)
            if whole != expected || bytewise != expected { Issue.record("\(count) bytes: \(whole), \(bytewise)") }
        }
    }

    @Test func `has its fault found though no line has ended since the last look`() {
        let input = Array("GET /\(String(repeating: "a", count: 3000))\u{1}bc".utf8)
        let whole = converse([input], halfClose: true)
        #expect(whole.ending == .refused(WireError(.badTarget, at: 3005)))
        #expect(converse(input.map { [$0] }, halfClose: true) == whole)
    }
}

@Suite struct `A pipeline` {
    private var peer = Peer()

    @Test func `of twenty requests is taken one by one, in order`() {
        var input: [UInt8] = []
        var expected: [[Bytes]] = []
        for index in 0..<20 {
            let body = String(repeating: "b", count: index)
            let size = String(index, radix: 16)
            switch index % 3 {
            case 0: input += "GET /\(index) HTTP/1.1\r\nHost: a\r\n\r\n".utf8
            case 1: input += "POST /\(index) HTTP/1.1\r\nHost: a\r\nContent-Length: \(index)\r\n\r\n\(body)".utf8
            default:
                input +=
                    "POST /\(index) HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\n\(body)\r\n0\r\nX: y\r\n\r\n".utf8
            }
            expected.append([Bytes(Array("/\(index)".utf8)), index % 3 == 0 ? "" : Bytes(Array(body.utf8))])
        }
        let whole = converse([input])
        #expect(whole.requests.map { [$0.path, $0.body] } == expected)
        #expect(whole.ending == .waiting)
        #expect(converse(input.map { [$0] }) == whole)
        for size in [2, 3, 7, 50, 333] {
            let pieces = stride(from: 0, to: input.count, by: size).map { input[$0..<min($0 + size, input.count)] }
            #expect(converse(pieces) == whole, "pieces of \(size)")
        }
    }

    @Test mutating func `is answered up to the bad request in it`() {
        peer.send(get + post + "hello" + get + "GET\u{1}" + get + get)
        #expect(peer.requests.map(\.method) == ["GET", "POST", "GET"])
        #expect(peer.ending == .refused(WireError(.badMethod, at: 3)))
        peer.send(get)
        #expect(peer.requests.count == 3)
    }

    @Test mutating func `ends with the request that says close`() {
        peer.send(get + getClose + get)
        #expect(peer.requests.map(\.path) == ["/", "/close"])
        #expect(peer.ending == .closed(.drain))
        peer.send(get)
        #expect(peer.requests.count == 2)
    }

    @Test mutating func `waits while an answer is owed`() {
        peer.answers = false
        peer.send(get + get)
        #expect(!peer.machine.phase.wantsInput)
        #expect(peer.machine.requestLength == get.utf8.count)
        #expect(peer.next() == .stop)
        #expect(peer.machine.phase == .replying)
    }

    @Test mutating func `of 20,000 requests leaves nothing behind`() {
        let piece = Array(String(repeating: get, count: 100).utf8)
        for _ in 0..<200 {
            peer.send(piece)
            peer.requests.removeAll()
        }
        #expect(peer.ending == .waiting)
        #expect(peer.buffer == [])
        #expect(peer.machine.phase == .idle)
    }
}

@Suite struct `After an answer the connection` {
    @Test(arguments: [
        (true, false, ConnectionMachine.Persistence.keep), (true, true, .keep), (false, false, .close), (false, true, .drain),
    ]) func `stays, closes, or reads on`(_ keepAlive: Bool, _ leftover: Bool, _ expected: ConnectionMachine.Persistence) {
        var peer = Peer()
        peer.answers = false
        peer.send(post + "hello")
        #expect(peer.machine.replied(keepAlive: keepAlive, leftover: leftover, now: 0) == expected)
        #expect(peer.machine.phase.wantsInput == keepAlive)
        peer.buffer = Array(get.utf8)
        #expect((peer.next() == .request) == keepAlive)
    }

    @Test(arguments: [true, false], [true, false]) func `reads on if it was a refusal`(_ keepAlive: Bool, _ leftover: Bool) {
        var peer = Peer()
        peer.buffer = Array("GET / HTTP/1.1\r\n\r\n\(get)".utf8)
        #expect(peer.next() == .refuse(WireError(.missingHost, at: 18)))
        #expect(peer.next() == .stop)
        #expect(peer.machine.replied(keepAlive: keepAlive, leftover: leftover, now: 0) == .drain)
        #expect(peer.next() == .stop)
        #expect(!peer.machine.phase.wantsInput)
    }

    @Test(arguments: [true, false]) func `reads on if its body was refused`(_ keepAlive: Bool) {
        var peer = Peer()
        peer.buffer = Array(expecting.utf8)
        #expect(peer.next() == .mayContinue)
        peer.machine.refuseBody()
        #expect(peer.next() == .stop)
        #expect(peer.machine.replied(keepAlive: keepAlive, leftover: false, now: 0) == .drain)
        peer.buffer += Array("hello\(get)".utf8)
        #expect(peer.next() == .stop)
    }

    @Test func `looks at the next request from its first byte, however long the last one was`() {
        var peer = Peer()
        peer.send("GET /\(String(repeating: "a", count: 5000)) HTTP/1.1\r\nHost: a\r\n\r\n")
        peer.send("\u{1}")
        #expect(peer.requests.count == 1)
        #expect(peer.ending == .refused(WireError(.badMethod, at: 0)))
    }

    @Test func `has forgotten the last request`() {
        var peer = Peer()
        peer.send(chunked + "5\r\nhello\r\n0\r\n\r\n")
        peer.send(expecting)
        peer.send("world")
        peer.send(get)
        #expect(peer.requests.map(\.body) == ["hello", "world", ""])
        #expect(peer.continues == 1)
        #expect(peer.machine.chunkedBody == [])
        #expect(peer.machine.spent.isEmpty)
    }
}

@Suite struct `An expectation` {
    private var peer = Peer()

    @Test mutating func `is met once`() {
        peer.buffer = Array(expecting.utf8)
        #expect(peer.next() == .mayContinue)
        #expect(peer.next() == .read)
        peer.send("hel")
        peer.send("lo")
        #expect(peer.continues == 0)
        #expect(peer.requests.map(\.body) == ["hello"])
    }

    @Test mutating func `is met however the head came`() {
        for byte in expecting.utf8 { peer.send([byte]) }
        #expect(peer.continues == 1)
        for byte in "hello".utf8 { peer.send([byte]) }
        #expect(peer.continues == 1)
        #expect(peer.requests.map(\.body) == ["hello"])
        #expect(peer.ending == .waiting)
    }

    @Test mutating func `lapses once the body has begun, though its beginning was dropped`() {
        peer.send(chunked.replacing("Host: a", with: "Host: a\r\nExpect: 100-continue") + "1\r\n")
        #expect(peer.buffer.count == peer.head.end)
        #expect(peer.next() == .read)
        peer.send("x\r\n0\r\n\r\n")
        #expect(peer.continues == 0)
        #expect(peer.requests.map(\.body) == ["x"])
    }

    @Test mutating func `whose 100 could not be written at once still has its body to come`() {
        peer.now = 10
        peer.send(expecting)
        peer.machine.blocked(then: .keep, progress: false, now: 20)
        #expect(peer.machine.deadline == 20 + peer.machine.limits.writeTime)
        #expect(peer.next() == .stop)
        #expect(peer.machine.unblocked(now: 30) == .keep)
        #expect(peer.machine.phase != .idle && peer.machine.phase.wantsInput)
        #expect(peer.machine.deadline == 30 + peer.machine.limits.bodyTime)
        peer.send("hello")
        #expect(peer.continues == 1)
        #expect(peer.requests.map(\.body) == ["hello"])
    }
}

@Suite struct `What a chunked body has used up` {
    private var peer = Peer()

    @Test mutating func `is counted up to the last byte that was decided on`() {
        let end = chunked.utf8.count
        var expected = ""
        for (piece, used) in [
            ("", 0), ("3", 0), ("\r", 0), ("\n", 3), ("ab", 5), ("c", 6), ("\r", 6), ("\n", 8), ("2;x\r\nhe\r\n0", 17), ("\r\n", 20),
            ("X: y", 20),
        ] {
            expected += piece
            peer.buffer = Array((chunked + expected).utf8)
            #expect(peer.next() == .read)
            #expect(peer.machine.spent == end..<end + used, "\(piece.debugDescription)")
        }
        peer.buffer += Array("\r\n\r\n\(get)".utf8)
        #expect(peer.next() == .request)
        #expect(peer.machine.chunkedBody == Array("abche".utf8))
        #expect(peer.machine.body == nil)
        #expect(peer.machine.requestLength == end + 28)
    }

    @Test mutating func `may be dropped at any time`() {
        let end = chunked.utf8.count
        for byte in (chunked + "3\r\nabc\r\n").utf8 {
            peer.buffer.append(byte)
            #expect(peer.next() == .read)
            peer.dropSpent()
            #expect(peer.machine.spent == min(end, peer.buffer.count)..<min(end, peer.buffer.count) || peer.machine.spent.isEmpty)
        }
        #expect(peer.buffer.count == end)
        peer.buffer += Array("0\r\n\r\n\(get)".utf8)
        #expect(peer.next() == .request)
        #expect(peer.machine.requestLength == end + 5)
        #expect(peer.machine.chunkedBody == Array("abc".utf8))
        #expect(peer.head.fields.count == 2)
    }

    @Test mutating func `is nothing in a body of known length`() {
        peer.send(post + "hel")
        #expect(peer.machine.spent.isEmpty)
        #expect(peer.buffer.count == post.utf8.count + 3)
        peer.answers = false
        peer.send("lo")
        #expect(peer.machine.body == post.utf8.count..<post.utf8.count + 5)
        #expect(peer.machine.requestLength == post.utf8.count + 5)
        #expect(peer.machine.chunkedBody == [])
    }
}
