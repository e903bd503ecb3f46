// SPDX-License-Identifier: MIT
//
// `/calls` through the whole server: what webhooks brought is there as calls, at once and after a restart, for the admin alone.

import Foundation
import HTTPServer
import HTTPWire
import Switchboard
import Testing

struct CallRouteTests {
    private static let admin = "Authorization: Bearer \(TestServer.token)\r\n"

    /// Sends what Vonage does for a call of an app user to a phone, and keeps the answers' connection.
    private func play(_ call: String, _ client: Client, to number: String = "447700900123") throws {
        let answer = "/voice/answer?to=\(number)&from_user=Alice&conversation_uuid=\(call)&uuid=in-\(call)"
        #expect(try client.ask(get(answer)).status == 200)
        for (second, status) in ["started", "ringing", "answered", "completed"].enumerated() {
            let extra = status == "completed" ? #","duration":"12","price":"0.01230000""# : ""
            let body =
                #"{"from":"14155550100","to":"\#(number)","uuid":"out-\#(call)","conversation_uuid":"\#(call)","status":"\#(status)","#
                + #""direction":"outbound","timestamp":"2026-11-30T10:00:0\#(second).000Z"\#(extra)}"#
            #expect(try client.ask(post("/voice/event", body)).status == 200)
        }
    }

    private func calls(_ client: Client, _ query: String = "") throws -> (names: [String], next: String?) {
        let answer = try client.ask(get("/calls\(query)", Self.admin))
        #expect(answer.status == 200)
        let object = try #require(try answer.json() as? [String: Any])
        let calls = try #require(object["calls"] as? [[String: Any]])
        return (calls.compactMap { $0["conversation_uuid"] as? String }, object["next"] as? String)
    }

    @Test(arguments: Way.allCases)
    func `calls are there at once, newest first, by page and by filter`(_ way: Way) throws {
        try withServer(way) { server in
            let client = try server.client()
            #expect(try calls(client).names == [])
            for number in 1...5 { try play("CON-\(number)", client, to: "44770090012\(number)") }
            #expect(try calls(client).names == ["CON-5", "CON-4", "CON-3", "CON-2", "CON-1"])
            let first = try calls(client, "?limit=2")
            #expect(first.names == ["CON-5", "CON-4"])
            let second = try calls(client, "?limit=2&after=\(#require(first.next))")
            #expect(second.names == ["CON-3", "CON-2"])
            let third = try calls(client, "?limit=2&after=\(#require(second.next))")
            #expect(third.names == ["CON-1"] && third.next == nil)
            #expect(try calls(client, "?number=%2B44%207700%20900123").names == ["CON-3"])
            #expect(try calls(client, "?user=alice").names.count == 5)
            #expect(try calls(client, "?status=busy").names == [])
            #expect(try calls(client, "?since=2027-01-01").names == [])
            for bad in ["number=x", "since=x", "to=x", "after=x", "limit=0", "limit=201"] {
                #expect(try client.ask(get("/calls?\(bad)", Self.admin)).status == 400, "\(bad)")
            }
        }
    }

    @Test func `one call is told whole, masked unless asked otherwise`() throws {
        try withServer { server in
            let client = try server.client()
            try play("CON-1", client)
            for (query, number) in [("", "*********123"), ("?unmasked=1", "447700900123")] {
                let answer = try client.ask(get("/calls/CON-1\(query)", Self.admin))
                let call = try #require(try answer.json() as? [String: Any])
                #expect(call["to"] as? String == number)
                #expect(call["state"] as? String == "completed")
                #expect(call["seconds"] as? Int == 12)
                #expect(call["price"] as? String == "0.01230000" || call["price"] as? String == "0.0123")
                let steps = try #require(call["steps"] as? [[String: Any]])
                #expect(steps.compactMap { $0["status"] as? String } == ["started", "ringing", "answered", "completed"])
                #expect(steps.allSatisfy { ($0["micros"] is Int) == ($0["kind"] as? String == "answer") }, "answers say how long they took")
                #expect(answer.text.contains("447700900123") == (query != ""))
            }
            #expect(try client.ask(get("/calls/CON-2", Self.admin)).status == 404)
            #expect(try client.ask(get("/calls/", Self.admin)).status == 200, "a slash behind it is the same route")
        }
    }

    @Test func `to others there are no calls`() throws {
        try withServer { server in
            let client = try server.client()
            try play("CON-1", client)
            let nothing = try client.ask(get("/nothing-like-it")).body
            for path in ["/calls", "/calls/CON-1", "/calls/stream"] {
                let answer = try client.ask(get(path))
                #expect(answer.status == 404)
                #expect(answer.body == nothing)
            }
            #expect(try client.ask(post("/calls", "", Self.admin)).status == 405)
            #expect(try client.ask(post("/calls/CON-1", "", Self.admin)).status == 405)
            #expect(try client.ask("HEAD /calls HTTP/1.1\r\nHost: h\r\n\(Self.admin)\r\n").status == 200)
        }
    }

    @Test func `calls outlive the server, and those beyond memory are found in the log`() throws {
        try withFolder { folder in
            func adjust(_ settings: inout Settings) {
                settings.events = "\(folder)/events"
                settings.callsInMemory = 2
            }
            try withServer(adjust: adjust) { server in
                let client = try server.client()
                for number in 1...4 { try play("CON-\(number)", client) }
                #expect(try calls(client).names == ["CON-4", "CON-3"])
            }
            try withServer(adjust: adjust) { server in
                let client = try server.client()
                #expect(try calls(client).names == ["CON-4", "CON-3"])
                let old = try client.ask(get("/calls/CON-1", Self.admin))
                #expect(old.status == 200 && old.text.contains(#""state":"completed""#))
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `the stream tells of each call, and goes on where it was cut off`(_ way: Way) throws {
        try withServer(way) { server in
            let (client, listener) = (try server.client(), try server.client())
            try listener.send(get("/calls/stream", Self.admin))
            #expect(try listener.readText(until: "\r\n\r\n").contains("Content-Type: text/event-stream\r\n"))
            #expect(try listener.readText(until: "event: ready").contains("id: 0\n"))
            try play("CON-1", client)
            let told = try listener.readText(until: #""state":"completed""#)
            #expect(told.contains("event: call\n") && told.contains("CON-1") && !told.contains("447700900123"))
            listener.close()
            try play("CON-2", client)
            let again = try server.client()
            try again.send(get("/calls/stream", Self.admin + "Last-Event-ID: 5\r\n"))
            let rest = try again.readText(until: "CON-2")
            #expect(!rest.contains("CON-1") && rest.contains("id: 10\n"))
            again.close()
            // Of a log that was another one: it is told from where the stream goes on, and then goes on.
            let stranger = try server.client()
            try stranger.send(get("/calls/stream", Self.admin + "Last-Event-ID: 99999\r\n"))
            #expect(try stranger.readText(until: "event: ready").contains("id: 10\n"))
            try play("CON-3", client)
            #expect(try stranger.readText(until: #""state":"completed""#).contains("CON-3"))
        }
    }

    @Test func `nothing on the way keeps what is the admin's`() throws {
        try withServer { server in
            let client = try server.client()
            try play("CON-1", client)
            for path in ["/calls", "/calls/CON-1", "/setup", "/stats", "/flows"] {
                #expect(try client.ask(get(path, Self.admin))["Cache-Control"] == "no-store", "\(path)")
            }
        }
    }
}
