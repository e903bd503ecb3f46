// SPDX-License-Identifier: MIT
//
// The vectors with a few bytes changed: whatever they become, whole and cut come to the same, and nothing traps. Each case has a seed, so a
// failure can be run again.

import HTTPWire
import Testing

private let small = Limits.with {
    $0.head = 90
    $0.fields = 3
    $0.target = 30
    $0.emptyLines = 1
    $0.body = 12
    $0.chunkLine = 12
    $0.chunkOverhead = 30
}

private let telling = [
    "\r\n", "\r", "\n", "\0", " ", "\t", ":", ";", "=", "\"", "\\", ",", "%", "#", "?", "[", "0", "f", "chunked", "Host: a\r\n",
]

private func mutate(_ input: inout [UInt8], with others: [[UInt8]], _ random: inout Seeded) {
    for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0...input.count, using: &random)
        let end = min(input.count, place + Int.random(in: 0...12, using: &random))
        switch Int.random(in: 0..<7, using: &random) {
        case 0: if place < input.count { input[place] = .random(in: 0...255, using: &random) }
        case 1: if place < input.count { input[place] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
        case 2: input.removeSubrange(place..<end)
        case 3: input.insert(contentsOf: input[place..<end], at: place)
        case 4: input.insert(contentsOf: (telling.randomElement(using: &random) ?? "").utf8, at: place)
        case 5: input.replaceSubrange(place..<end, with: (telling.randomElement(using: &random) ?? "").utf8)
        default: input.replaceSubrange(place..., with: (others.randomElement(using: &random) ?? []).suffix(input.count - place + 20))
        }
    }
}

@Test(arguments: 0..<8) func `changed vectors come to the same however they are cut`(seed: UInt64) throws {
    let chunkedHead = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
    let vectors =
        try Accepted.all("accepted").map(\.input.all) + Refused.all("refused").map(\.input.all)
        + ChunkedAccepted.all("chunked-accepted").map { chunkedHead + $0.chunks.all }
        + ChunkedRefused.all("chunked-refused").map { chunkedHead + $0.chunks.all }
        + Expectation.all("expect").map(\.input.all)
    var random = Seeded(state: seed)
    for round in 0..<1000 {
        var input = try #require(vectors.randomElement(using: &random))
        if Bool.random(using: &random) { input += try #require(vectors.randomElement(using: &random)) }
        mutate(&input, with: vectors, &random)
        let limits = Bool.random(using: &random) ? small : Limits()
        let halfClose = Bool.random(using: &random)
        var pieces: [ArraySlice<UInt8>] = []
        var rest = input[...]
        let largest = [1, 3, 20, 200].randomElement(using: &random) ?? 1
        while !rest.isEmpty {
            pieces.append(rest.prefix(Int.random(in: 1...largest, using: &random)))
            rest = rest.dropFirst(pieces.last?.count ?? 1)
        }
        let whole = converse([input], limits: limits, halfClose: halfClose).settled
        let cut = converse(pieces, limits: limits, halfClose: halfClose).settled
        if whole != cut {
            Issue.record("round \(round): \(Bytes(input)) whole: \(whole) cut \(pieces.map(\.count)): \(cut)")
        }
    }
}

extension Peer.Outcome {
    /// Whether a closed connection reads on depends on what has come behind its last request by then.
    var settled: Peer.Outcome {
        if case .closed = ending { Peer.Outcome(requests: requests, ending: .closed(.close)) } else { self }
    }
}
