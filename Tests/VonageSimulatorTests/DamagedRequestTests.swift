// SPDX-License-Identifier: MIT
//
// Requests as they should be, damaged in every way that a seed draws: each has an answer, and what is kept stays a state that can be read.

import Foundation
import HTTPWire
import JSON
import Testing

@testable import VonageSimulator

struct DamagedRequestTests {
    private static let pieces = [
        "{", "}", "[", "]", ",", ":", "\"", "null", "true", "-1", "1e999", "99999999999999999999", "\"\"", "\\u0000", "\\ud800", "é", "😀",
        "\u{0}", "/", "%", "%2B",
        "&", "=", "?", "..", "users", "conversations", "calls", "members", "USR-", "name", "ncco", "cursor=", "page_size=", "v0.1", "v0.2",
        "eu/",
    ]

    private func damaged(_ text: String, _ random: inout SplitMix64) -> String {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.removeSubrange(place..<min(place + Int.random(in: 1...12, using: &random), bytes.count))
            case 1: bytes.insert(contentsOf: (Self.pieces.randomElement(using: &random) ?? "").utf8, at: place)
            case 2 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &random)
            default: bytes.insert(contentsOf: bytes[min(place, 20)..<place], at: place)
            }
            bytes.removeLast(max(bytes.count - 4000, 0))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>) func `every damaged request has an answer that can be read`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let simulation = try Simulation { $0.hasRegionTrap = seed % 2 == 0 }
        let alice = try simulation.makeUser("Alice")
        let room = try simulation.ask(.post, "/v1/conversations", #"{"properties":{"ttl":300}}"#)["id"]
        let call = try simulation.makeCall()
        let requests: [(HTTPWire.Method, String, String)] = [
            (
                .post, "/v1/users",
                #"{"name":"Bob","display_name":"B","image_url":"https://a.example/","channels":{"pstn":[{"number":"1"}]},"properties":{"custom_data":{"a":1}}}"#
            ),
            (.get, "/v1/users?page_size=2&order=desc&cursor=%2B%2F8x&name=Alice", ""),
            (.patch, "/v1/users/\(alice)", #"{"display_name":"A"}"#),
            (
                .post, "/v1/conversations",
                #"{"name":"r","display_name":"R","properties":{"ttl":300,"type":"x"},"callback":{"url":"https://a.example/"}}"#
            ),
            (.get, "/v0.2/conversations?date_start=2026-01-01T00:00:00Z", ""),
            (.put, "/v1/conversations/\(room)", #"{"display_name":"S"}"#),
            (.post, "/v1/conversations/\(room)/members", #"{"state":"joined","user":{"name":"Alice"},"channel":{"type":"app"}}"#),
            (.get, "/v1/conversations/\(room)/members?order=desc", ""), (.get, "/v0.1/users", ""), (.post, "/v1/calls", Simulation.call),
            (.get, "/v1/calls?status=answered&record_index=1", ""),
            (.put, "/v1/calls/\(call)", #"{"action":"transfer","destination":{"type":"ncco","url":["https://a.example/"]}}"#),
            (.put, "/v1/calls/\(call)/talk", #"{"text":"a","loop":2,"level":"0.5"}"#),
            (.put, "/v1/calls/\(call)/dtmf", #"{"digits":"12"}"#),
            (.post, "/session/create", "p2p.preference=disabled&archiveMode=manual&location=10.1.2.3"),
        ]
        let authorization = "Bearer " + (try simulation.token())
        var taken = 0
        for _ in 0..<600 {
            let (method, target, body) = requests.randomElement(using: &random) ?? (.get, "/", "")
            let answer = try simulation.ask(method, damaged(target, &random), damaged(body, &random), authorization: authorization)
            #expect([200, 201, 204, 400, 403, 404, 405, 415].contains(answer.status), "\(answer.text)")
            var copy: [UInt8] = []
            if !answer.text.isEmpty { _ = try minifyJSON(answer.response.body.span, into: &copy) }
            if answer.status < 300 { taken += 1 }
        }
        #expect(taken > 50, "some are still whole")
        _ = try SavedState(simulation.vonage.savedState)
    }
}
