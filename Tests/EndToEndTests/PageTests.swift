// SPDX-License-Identifier: MIT
//
// The page's routes over real sockets, and calls that a running server plays against itself.

import Foundation
import HTTPServer
import Testing

struct PageTests {
    private static let admin = "Authorization: Bearer \(TestServer.token)\r\n"

    @Test func `a file comes compressed and is asked for again without its body`() throws {
        try withServer { server in
            let client = try server.client()
            let plain = try client.ask(get("/page/style.css"))
            #expect(
                plain.status == 200 && plain["Content-Type"] == "text/css; charset=utf-8" && plain["X-Content-Type-Options"] == "nosniff")
            let tag = try #require(plain["ETag"])
            // It has no body and no length, and the connection goes on.
            let same = try client.ask(get("/page/style.css", "If-None-Match: \(tag)\r\n"))
            #expect(same.status == 304 && same["ETag"] == tag && same["Content-Type"] == nil)
            #expect(try client.ask(get("/")).status == 404)
            #expect(try client.ask(get("/", Self.admin)).text.contains("<!doctype html>"))
        }
    }

    private struct Shown {
        let state: String
        let steps: [[String: Any]]
    }

    /// The call once it is over; each question is answered with what was in the log when it came.
    private func ended(_ name: String, _ client: Client) throws -> Shown {
        for _ in 0..<2000 {
            let answer = try client.ask(get("/calls/\(name)?unmasked=1", Self.admin))
            guard answer.status == 200, let call = try answer.json() as? [String: Any], call["ended"] as? Bool == true,
                let state = call["state"] as? String, state != "unknown"
            else { continue }
            return Shown(state: state, steps: try #require(call["steps"] as? [[String: Any]]))
        }
        throw ClientError(description: "the call \(name) did not end")
    }

    /// The timer has had its first turn.
    private func waitForDisk(_ client: Client) throws {
        for _ in 0..<2000 {
            let stats = try client.ask(get("/stats", Self.admin)).json() as? [String: Any]
            if let now = stats?["now"] as? [String: Any], let free = now["disk_free_bytes"] as? Int, free > 0, now["log_bytes"] is Int {
                return
            }
        }
        throw ClientError(description: "nobody looked at the disk")
    }

    private func play(_ body: String, _ client: Client) throws -> String {
        let answer = try client.ask(post("/play", body, Self.admin))
        #expect(answer.status == 202)
        return try #require((try answer.json() as? [String: Any])?["conversation_uuid"] as? String)
    }

    @Test func `a call that is played is among the calls, signed and at the public address, and is played again`() throws {
        let environment = [
            "SWITCHBOARD_ADMIN_TOKEN": TestServer.token, "VONAGE_SIGNATURE_SECRET": "a-secret-of-more-than-thirty-two-characters",
        ]
        try withProcess(["--public-url", "https://calls.example.com/x"], environment: environment) { server in
            let client = try server.client()
            let setUp = try #require(try client.ask(get("/setup", Self.admin)).json() as? [String: Any])
            #expect(setUp["can_play"] as? Bool == true && setUp["is_public"] as? Bool == true)
            try waitForDisk(client)
            let name = try play(#"{"kind":"app","from_user":"Alice","to":"447700900123","callee":"busy"}"#, client)
            let call = try ended(name, client)
            #expect(call.state == "busy")
            let request = try #require(call.steps.first { $0["flow"] as? String == "answer#3 connect-phone" })
            let seq = try #require(request["seq"] as? Int)
            let again = try client.ask(post("/calls/\(name)/again", #"{"seq":\#(seq)}"#, Self.admin))
            #expect((try again.json() as? [String: Any])?["same"] as? Bool == true)
            let replayed = try client.ask(post("/calls/\(name)/again", #"{"seq":\#(seq),"play":true}"#, Self.admin))
            let other = try #require((try replayed.json() as? [String: Any])?["conversation_uuid"] as? String)
            #expect(other != name && replayed.status == 202)
            #expect(try ended(other, client).state == "completed")
            #expect(try client.ask(get("/calls", Self.admin)).text.contains(other))
        }
    }

    @Test func `a menu goes its way through a flow behind the public address`() throws {
        try withFolder { folder in
            try #"{"flows":{"answer":[{"ncco":"menu"}],"choice":[{"when":{"dtmf.digits":"1"},"ncco":"sales"},{"ncco":"bye"}]}}"#
                .write(toFile: "\(folder)/flows.json", atomically: true, encoding: .utf8)
            let menu =
                #"[{"action":"input","type":["dtmf"],"dtmf":{"maxDigits":1},"eventUrl":["{{base_url}}/voice/choice"]}]"#
            for (file, text) in [
                ("menu", menu), ("sales", #"[{"action":"talk","text":"Sales"}]"#), ("bye", #"[{"action":"talk","text":"Bye"}]"#),
            ] { try text.write(toFile: "\(folder)/\(file).json", atomically: true, encoding: .utf8) }
            let flags = ["--nccos", folder, "--public-url", "https://calls.example.com/x"]
            try withProcess(flags, environment: ["SWITCHBOARD_ADMIN_TOKEN": TestServer.token]) { server in
                let client = try server.client()
                let call = try ended(try play(#"{"press":["1"]}"#, client), client)
                #expect(call.steps.compactMap { $0["flow"] as? String } == ["answer#1 menu", "choice#1 sales"])
            }
        }
    }
}
