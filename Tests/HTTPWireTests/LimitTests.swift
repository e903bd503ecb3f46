// SPDX-License-Identifier: MIT
//
// Each limit met exactly and passed by one, and never decided by how the bytes were cut.

import HTTPWire
import Testing

private func fault(_ outcome: Peer.Outcome) -> WireError.Fault? {
    if case .refused(let error) = outcome.ending { error.fault } else { nil }
}

private func bytes(_ parts: String...) -> [UInt8] { Array(parts.joined().utf8) }

private func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }

@Suite struct `A head` {
    private func head(_ size: Int) -> [UInt8] {
        let frame = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n".utf8.count
        return bytes("GET / HTTP/1.1\r\nHost: a\r\nX: ", times(size - frame, "b"), "\r\n\r\n")
    }

    @Test func `may be as long as the limit`() {
        let limits = Limits.with { $0.head = 100 }
        #expect(head(100).count == 100)
        #expect(converseInEveryWay(head(100), limits: limits).requests.count == 1)
        #expect(converseInEveryWay(head(101), limits: limits).ending == .refused(WireError(.headTooLarge, at: 100)))
        #expect(WireError(.headTooLarge, at: 100).status == .requestHeaderFieldsTooLarge)
    }

    @Test(arguments: [Limits().head, 3000]) func `unfinished at the limit is refused with its last byte`(limit: Int) {
        var peer = Peer(limits: .with { $0.head = limit })
        for byte in head(limit + 100).prefix(limit - 1) { peer.send([byte]) }
        #expect(peer.ending == .waiting)
        peer.send("b")
        #expect(peer.ending == .refused(WireError(.headTooLarge, at: limit)))
    }

    @Test(arguments: [
        "BREW /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a/\r\nX: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: x\r\nX: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n\r\n",
        "GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa HTTP/2.0\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: bbbbbbbbbbbbbbbbbbb\r\n\rx",
        "GET / HTTP/1.1\r\nHost: a\r\nX: bbbbbbbbbbbbbbbbbbbbb\rx",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ]) func `with a fault that shows only behind the limit comes to the same however it is cut`(_ input: String) {
        for limit in 30...56 {
            let outcome = converseInEveryWay(Array(input.utf8), limits: .with { $0.head = limit })
            #expect(outcome.requests == [])
            #expect(fault(outcome) != nil, "\(limit)")
        }
    }

    @Test func `has a target as long as the limit`() {
        let limits = Limits.with { $0.target = 20 }
        #expect(converseInEveryWay(bytes("GET /", times(19, "a"), " HTTP/1.1\r\nHost: a\r\n\r\n"), limits: limits).requests.count == 1)
        let over = converseInEveryWay(bytes("GET /", times(20, "a"), " HTTP/1.1\r\nHost: a\r\n\r\n"), limits: limits)
        #expect(over.ending == .refused(WireError(.targetTooLong, at: 24)))
        #expect(WireError(.targetTooLong, at: 24).status == .uriTooLong)
        #expect(converse([bytes("GET /", times(20, "a"))], limits: limits) == over)
    }

    @Test func `has a target of 16 KiB where nothing else is set`() {
        let outcome = converse([bytes("GET /", times(16 * 1024 - 1, "a"), " HTTP/1.1\r\nHost: a\r\n\r\n")])
        #expect(outcome.requests.map(\.target.all.count) == [16 * 1024])
    }

    @Test(arguments: [1, 3, 100]) func `has as many fields as the limit`(limit: Int) {
        let limits = Limits.with { $0.fields = limit }
        let start = "GET / HTTP/1.1\r\nHost: a\r\n"
        let exact = converse([bytes(start, times(limit - 1, "X: b\r\n"), "\r\n")], limits: limits)
        #expect(exact.requests.map(\.fields.count) == [limit])
        let over = converse([bytes(start, times(limit, "X: b\r\n"), "\r\n")], limits: limits)
        #expect(over.ending == .refused(WireError(.tooManyFields, at: start.utf8.count + 6 * (limit - 1))))
        if limit < 100 { converseInEveryWay(bytes(start, times(limit, "X: b\r\n"), "\r\n"), limits: limits) }
        #expect(WireError(.tooManyFields, at: 0).status == .requestHeaderFieldsTooLarge)
    }

    @Test(arguments: 0...3) func `has as many empty lines before it as the limit`(limit: Int) {
        let limits = Limits.with { $0.emptyLines = limit }
        let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(converseInEveryWay(bytes(times(limit, "\r\n"), request), limits: limits).requests.count == 1)
        let over = converseInEveryWay(bytes(times(limit + 1, "\r\n"), request), limits: limits)
        #expect(over.ending == .refused(WireError(.badRequestLine, at: 2 * limit)))
    }
}

@Suite struct `A body` {
    private let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    private func counted(_ length: String, _ body: String) -> [UInt8] {
        bytes("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ", length, "\r\n\r\n", body)
    }

    @Test func `of known length may be as long as the limit`() {
        let limits = Limits.with { $0.body = 20 }
        #expect(converseInEveryWay(counted("20", times(20, "x")), limits: limits).requests.map(\.body.all.count) == [20])
        #expect(converseInEveryWay(counted("21", times(21, "x")), limits: limits).ending == .refused(WireError(.bodyTooLarge, at: 42)))
        #expect(converseInEveryWay(counted("200", ""), limits: limits).ending == .refused(WireError(.bodyTooLarge, at: 42)))
        #expect(WireError(.bodyTooLarge, at: 0).status == .contentTooLarge)
    }

    @Test func `of no length passes a limit of zero`() {
        let limits = Limits.with { $0.body = 0 }
        #expect(converse([counted("0", "")], limits: limits).requests.count == 1)
        #expect(fault(converse([counted("1", "x")], limits: limits)) == .bodyTooLarge)
        #expect(converse([bytes(chunked, "0\r\n\r\n")], limits: limits).requests.count == 1)
        #expect(fault(converse([bytes(chunked, "1\r\nx\r\n0\r\n\r\n")], limits: limits)) == .bodyTooLarge)
    }

    @Test func `in chunks may be as long as the limit`() {
        let limits = Limits.with { $0.body = 20 }
        let data = times(20, "x")
        #expect(converseInEveryWay(bytes(chunked, "14\r\n", data, "\r\n0\r\n\r\n"), limits: limits).requests.map(\.body.all.count) == [20])
        #expect(
            converseInEveryWay(bytes(chunked, times(20, "1\r\nx\r\n"), "0\r\n\r\n"), limits: limits).requests.map(\.body.all.count) == [20])
        let one = converseInEveryWay(bytes(chunked, "15\r\nx", data, "\r\n0\r\n\r\n"), limits: limits)
        #expect(one.ending == .refused(WireError(.bodyTooLarge, at: chunked.utf8.count)))
        let sum = converseInEveryWay(bytes(chunked, "14\r\n", data, "\r\n1\r\nx\r\n0\r\n\r\n"), limits: limits)
        #expect(sum.ending == .refused(WireError(.bodyTooLarge, at: chunked.utf8.count + 26)))
    }

    @Test func `has size lines as long as the limit`() {
        let limits = Limits.with { $0.chunkLine = 10 }
        #expect(converseInEveryWay(bytes(chunked, "1;", times(8, "a"), "\r\nx\r\n0\r\n\r\n"), limits: limits).requests.count == 1)
        let over = converseInEveryWay(bytes(chunked, "1;", times(9, "a"), "\r\nx\r\n0\r\n\r\n"), limits: limits)
        #expect(over.ending == .refused(WireError(.badChunk, at: chunked.utf8.count + 10)))
        #expect(converse([bytes(chunked, "1;", times(9, "a"))], limits: limits) == over)
    }

    @Test func `has trailer lines as long as a head`() {
        let limits = Limits.with { $0.head = 100 }
        #expect(converseInEveryWay(bytes(chunked, "0\r\nX:", times(98, "a"), "\r\n\r\n"), limits: limits).requests.count == 1)
        let over = converseInEveryWay(bytes(chunked, "0\r\nX:", times(99, "a"), "\r\n\r\n"), limits: limits)
        #expect(over.ending == .refused(WireError(.badTrailer, at: chunked.utf8.count + 103)))
    }

    @Test func `has as many trailers as a head has fields`() {
        let limits = Limits.with { $0.fields = 3 }
        #expect(converseInEveryWay(bytes(chunked, "0\r\n", times(3, "X: a\r\n"), "\r\n"), limits: limits).requests.count == 1)
        let over = converseInEveryWay(bytes(chunked, "0\r\n", times(4, "X: a\r\n"), "\r\n"), limits: limits)
        #expect(over.ending == .refused(WireError(.tooManyFields, at: chunked.utf8.count + 21)))
    }

    @Test(arguments: [
        // 3 for the size line, 2 behind the data, 5 for the end; one byte of data pays for one of them.
        ("1\r\nx\r\n0\r\n\r\n", 9), ("1\r\nx\r\n1\r\nx\r\n0\r\n\r\n", 13), ("0\r\n\r\n", 5), ("5;a=bc\r\nhello\r\n0\r\nX: y\r\n\r\n", 16),
        ("0\r\nX: y\r\n\r\n", 11),
    ]) func `has as much overhead as the limit and the data together`(_ chunks: String, _ least: Int) {
        #expect(converseInEveryWay(bytes(chunked, chunks), limits: .with { $0.chunkOverhead = least }).requests.count == 1)
        let over = converseInEveryWay(bytes(chunked, chunks), limits: .with { $0.chunkOverhead = least - 1 })
        #expect(fault(over) == .chunkOverhead)
        #expect(over.requests == [])
    }

    @Test func `of many chunks of one byte is refused as overhead`() {
        let input = bytes(chunked, times(256 * 1024, "1\r\nx\r\n"), "0\r\n\r\n")
        let whole = converse([input])
        #expect(fault(whole) == .chunkOverhead)
        #expect(WireError(.chunkOverhead, at: 0).status == .badRequest)
        let pieces = stride(from: 0, to: input.count, by: 1400).map { input[$0..<min($0 + 1400, input.count)] }
        #expect(converse(pieces) == whole)
    }

    @Test func `of the largest size in large chunks passes`() {
        let chunk = bytes("1000\r\n", times(4096, "x"), "\r\n")
        let outcome = converse([bytes(chunked)] + Array(repeating: chunk, count: 64) + [bytes("0\r\n\r\n")])
        #expect(outcome.requests.map(\.body.all.count) == [256 * 1024])
    }
}

@Suite(.serialized) struct `Bytes that come one by one` {
    /// Generous, so that a busy machine passes: work that grows with the square of the length takes many times as long.
    private func quick(_ input: [UInt8]) -> Peer {
        var peer = Peer()
        let elapsed = ContinuousClock().measure { for byte in input { peer.send(CollectionOfOne(byte)) } }
        print("\(input.count) bytes one by one: \(elapsed)")
        #expect(elapsed < .seconds(4))
        return peer
    }

    @Test func `cost bounded work in a head of many fields`() {
        let field = "X-Field: " + times(310, "b") + "\r\n"
        #expect(quick(bytes("GET / HTTP/1.1\r\nHost: a\r\n", times(99, field), "\r\n")).requests.count == 1)
    }

    @Test func `cost bounded work in one long field`() {
        #expect(quick(bytes("GET / HTTP/1.1\r\nHost: a\r\nX: ", times(32 * 1024 - 40, "b"), "\r\n\r\n")).requests.count == 1)
    }

    @Test func `cost bounded work in chunk extensions`() {
        let line = "1;" + times(1000, "a") + "\r\nx\r\n"
        #expect(
            quick(bytes("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", times(60, line), "0\r\n\r\n")).requests.count
                == 1)
    }

    @Test func `cost bounded work in a trailer`() {
        let trailer = "X: " + times(32 * 1024 - 10, "b") + "\r\n"
        #expect(quick(bytes("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", trailer, "\r\n")).requests.count == 1)
    }
}
