// SPDX-License-Identifier: MIT
//
// What `{{base_url}}` becomes in an NCCO, in the handler without a server.

import HTTPServer
import HTTPWire
import Testing

@testable import Switchboard

struct BaseURLTests {
    private static let files = [
        "flows.json": #"{"flows": {"answer": [{"ncco": "menu"}], "event": [{"ncco": "menu"}], "plain": [{"ncco": "plain"}]}}"#,
        "menu.json": #"[{"action": "input", "type": ["dtmf"], "eventUrl": ["{{base_url}}/voice/menu"]}]"#,
        "plain.json": #"[{"action": "talk", "text": "Hello."}]"#,
    ]

    private func ask(
        _ request: String, from peer: Peer, adjust: (inout Settings) throws -> Void = { _ in }
    ) throws -> String {
        let bench = try HandlerBench(files: Self.files, adjust: adjust)
        bench.peer = peer
        let (ticket, now) = try bench.reply(request)
        if let now { return String(decoding: now.body, as: UTF8.self) }
        _ = bench.handler.flush(now: 0)
        return try String(decoding: bench.wait(for: ticket).body, as: UTF8.self)
    }

    private static let loopback = Peer.address(IPAddress(ipv4: 0x7F00_0001))
    private static let stranger = Peer.address(IPAddress(ipv4: 0xCB00_7109))
    private static let own = "https://calls.example.com/voice/menu"
    private static let hostile =
        "Host: evil.example\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: https\r\nForwarded: host=evil.example\r\n"
    private static let proxied =
        "Host: localhost:3000\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: name.ngrok.app\r\n"
    private static let event = #"{"dtmf": {"digits": "1"}, "uuid": "u", "conversation_uuid": "c"}"#

    @Test func `a stranger's names never get into an NCCO`() throws {
        let answer = try ask("GET /voice/answer?to=1 HTTP/1.1\r\n\(Self.hostile)\r\n", from: Self.stranger)
        #expect(answer.contains(Self.own) && !answer.contains("evil"))
        let absolute = try ask("GET http://evil.example/voice/answer?to=1 HTTP/1.1\r\n\(Self.hostile)\r\n", from: Self.stranger)
        #expect(absolute.contains(Self.own) && !absolute.contains("evil"))
        let own = try ask("GET /voice/answer?to=1 HTTP/1.1\r\nHost: evil.example\r\n\r\n", from: Self.loopback)
        #expect(own.contains(Self.own), "a proxy that says nothing leaves our own address")
    }

    @Test func `what a trusted proxy was asked for does, for answers and for events`() throws {
        let name = "\"https://name.ngrok.app/voice/menu\""
        #expect(try ask("GET /voice/answer?to=1 HTTP/1.1\r\n\(Self.proxied)\r\n", from: Self.loopback).contains(name))
        #expect(try ask("GET /voice/answer?to=1 HTTP/1.1\r\n\(Self.proxied)\r\n", from: .local).contains(name))
        let body = "Content-Length: \(Self.event.utf8.count)\r\n\r\n\(Self.event)"
        for target in ["/voice/event", "/voice/answer"] {
            #expect(try ask("POST \(target) HTTP/1.1\r\n\(Self.proxied)\(body)", from: Self.loopback).contains(name), "\(target)")
            #expect(try ask("POST \(target) HTTP/1.1\r\n\(Self.hostile)\(body)", from: Self.stranger).contains(Self.own), "\(target)")
        }
        let prefixed = "\(Self.proxied)X-Forwarded-Prefix: /calls\r\n"
        #expect(
            try ask("GET /voice/answer?to=1 HTTP/1.1\r\n\(prefixed)\r\n", from: Self.loopback).contains(
                "\"https://name.ngrok.app/calls/voice/menu\""))
    }

    @Test func `the settings win over every proxy, and may trust none`() throws {
        let request = "GET /voice/answer?to=1 HTTP/1.1\r\n\(Self.proxied)\r\n"
        #expect(try ask(request, from: Self.loopback) { $0.publicURL = "https://calls.example.com" }.contains(Self.own))
        #expect(try ask(request, from: Self.loopback) { try $0.trustedProxies.add("none", "") }.contains(Self.own))
        #expect(try ask(request, from: Self.stranger) { try $0.trustedProxies.add("203.0.113.0/24", "") }.contains("name.ngrok.app"))
    }

    @Test func `only a flow that asks for it pays for it`() throws {
        let set = try HandlerBench(files: Self.files).handler.flows.set
        let uses = set.flows.indices.map { (set.flows[$0].name, set.usesBaseURL($0)) }
        #expect(Dictionary(uniqueKeysWithValues: uses) == ["answer": true, "event": true, "plain": false, "fallback": false])
        let standard = try FlowBench.builtIn().set
        #expect(standard.flows.indices.allSatisfy { !standard.usesBaseURL($0) })
    }
}
