// SPDX-License-Identifier: MIT
//
// Calls of the simulated REST API against a server: what it is asked and told, over sockets on both sides.

import Foundation
import HTTPServer
import Locking
import Switchboard
import Testing
import VonageAuth
import VonageSimulator

struct PlayedCallTests {
    private static let secrets = SignatureSecrets(secret: Array("a-signature-secret-of-the-tests".utf8))

    /// A simulator that plays, and somebody who asks it.
    private final class Stage {
        let simulator: SimulatedVonageServer
        private let client: Client
        private let authorization: String
        private let told = Locked<[String]>([])

        init(secrets: SignatureSecrets? = nil, adjust: (inout PlayedCalls.Configuration) -> Void = { _ in }) throws {
            var configuration = SimulatedVonageServer.Configuration()
            configuration.host = "127.0.0.1"
            configuration.port = 0
            configuration.rules.limitsCallRate = false
            var play = PlayedCalls.Configuration()
            play.callee.answersAfter = 0
            play.talkFor = 100
            play.secrets = secrets
            let told = told
            play.report = { line in told.withLock { $0.append(line) } }
            adjust(&play)
            configuration.play = play
            simulator = try SimulatedVonageServer(configuration)
            client = try Client(port: simulator.port)
            let token = try ApplicationToken(applicationID: simulator.applicationID)
            let signed = try token.signed(by: #require(simulator.privateKey), at: Int64(Date().timeIntervalSince1970))
            authorization = "Authorization: Bearer \(signed)\r\n"
        }

        var lines: [String] { told.withLock { $0 } }

        func call(_ more: String) throws -> String {
            let body = #"{"to":[{"type":"phone","number":"12025550142"}],"random_from_number":true,\#(more)}"#
            let made = try client.ask(post("/v1/calls", body, authorization))
            #expect(made.status == 201, "\(made)")
            return String(try #require(made.text.firstMatch(of: /"uuid":"([^"]+)"/)).1)
        }

        func put(_ target: String, _ body: String) throws -> Int {
            let request = post(target, body, authorization).replacing("POST ", with: "PUT ", maxReplacements: 1)
            return try client.ask(request).status
        }

        /// Until the API shows a call in a state.
        func wait(_ uuid: String, for status: String) throws {
            for _ in 0..<4000 {
                let text = try client.ask(get("/v1/calls/\(uuid)", authorization)).text
                if text.contains("\"status\":\"\(status)\"") { return }
                _ = client.waitForInput(milliseconds: 5)
            }
            throw ClientError(description: "the call did not become \(status): \(lines)")
        }

        func waitForLine(_ words: String, count: Int = 1) throws {
            for _ in 0..<4000 {
                if lines.count(where: { $0.contains(words) }) >= count { return }
                _ = client.waitForInput(milliseconds: 5)
            }
            throw ClientError(description: "nothing was said of \(words): \(lines)")
        }
    }

    private func events(_ records: [Record], _ uuid: String) -> [String] {
        records.compactMap { record in
            guard let event = record.event, event["uuid"] as? String == uuid else { return nil }
            return event["status"] as? String ?? event["type"] as? String ?? "input"
        }
    }

    @Test func `a server is asked for the NCCO, and told each state in order, signed`() throws {
        let webhooks = try WebhookGuard(WebhookVerifier(secrets: Self.secrets), unsigned: .refuse)
        try withServer(webhooks: webhooks) { server in
            let stage = try Stage(secrets: Self.secrets)
            defer { stage.simulator.stop(grace: 0) }
            let origin = server.url
            stage.simulator.withSimulation { $0.setWebhooks(origin: origin) }
            let uuid = try stage.call(#""answer_url":["\#(origin)/voice/answer"]"#)
            try stage.wait(uuid, for: "completed")
            // Of the leg, and of the one that the flow has called in turn.
            try stage.waitForLine("event completed (12025550142) → 200", count: 2)
            let records = try server.stopAndRead()
            #expect(Set(records.map { $0.members["signature"] as? String }) == ["verified"])
            // The answer request and the first events are under way at the same time.
            #expect(records.map(\.kind).sorted() == ["answer"] + Array(repeating: "event", count: 6))
            #expect(events(records, uuid) == ["started", "answered", "completed"])
            try stage.waitForLine("\(uuid.suffix(6))            events: POST \(origin)/voice/event, NCCO: GET \(origin)/voice/answer")
            try stage.waitForLine("talks with 12025550142")
        }
    }

    @Test func `a call is transferred, spoken to and hung up on while it goes on`() throws {
        try withServer { server in
            let stage = try Stage {
                $0.talkFor = 60_000
                $0.entries = [.press("7")]
            }
            defer { stage.simulator.stop(grace: 0) }
            let origin = server.url
            let hold = #"[{"action":"stream","streamUrl":["https://a.example/hold.mp3"],"loop":0}]"#
            let uuid = try stage.call(#""ncco":\#(hold),"event_url":["\#(origin)/voice/event"]"#)
            let path = "/v1/calls/\(uuid)"
            try stage.wait(uuid, for: "answered")
            #expect(try stage.put(path + "/talk", #"{"text":"One moment."}"#) == 200)
            #expect(try stage.put(path + "/dtmf", #"{"digits":"1p2"}"#) == 200)
            #expect(try stage.put(path, #"{"action":"mute"}"#) == 204)
            #expect(try stage.put(path, #"{"action":"transfer","destination":{"type":"ncco","ncco":\#(hold)}}"#) == 204)
            #expect(try stage.put(path + "/input/dtmf", #"{"event_url":["\#(origin)/voice/event"]}"#) == 200)
            try stage.waitForLine("event input → 200")
            #expect(try stage.put(path, #"{"action":"hangup"}"#) == 204)
            try stage.waitForLine("event completed (12025550142) → 200")
            #expect(try stage.put(path, #"{"action":"hangup"}"#) == 404)
            let records = try server.stopAndRead()
            #expect(events(records, uuid) == ["started", "answered", "transfer", "input", "completed"])
            #expect(records.last?.event?["disconnected_by"] as? String == "platform")
            let heard = stage.lines.map { String($0.dropFirst(18)) }
            #expect(Set(heard).isSuperset(of: [#"hears "One moment.""#, "presses 1p2", "presses 7"]), "\(heard)")
        }
    }

    @Test func `whoever is called may be busy, and a server that is not there ends no call`() throws {
        let stage = try Stage { $0.callee = .init(.busy) }
        defer { stage.simulator.stop(grace: 0) }
        // A port that was free a moment ago.
        let port = try withServer { $0.server.port }
        let uuid = try stage.call(#""ncco":[{"action":"talk","text":"a"}],"event_url":["http://127.0.0.1:\#(port)/"]"#)
        try stage.wait(uuid, for: "busy")
        try stage.waitForLine("the busy event is lost after two tries: Connection refused.")
    }

    @Test func `calls that go on when it stops are over in what is kept`() throws {
        let stage = try Stage { $0.talkFor = 600_000 }
        let uuid = try stage.call(#""ncco":[{"action":"stream","streamUrl":["https://a.example/hold.mp3"],"loop":0}]"#)
        try stage.wait(uuid, for: "answered")
        stage.simulator.stop(grace: 0)
        let kept = stage.simulator.withSimulation { String(decoding: $0.savedState, as: UTF8.self) }
        #expect(kept.contains(uuid) && kept.contains(#""status":"completed""#))
    }
}

struct PlayedCallCommandTests {
    @Test func `serve plays the calls that are made at its simulated Vonage, and is asked and told by itself`() throws {
        try withFolder { folder in
            let key = try PrivateKey.generate()
            try key.pem().write(toFile: "\(folder)/private.key", atomically: true, encoding: .utf8)
            let id = try ApplicationID(checking: "11111111-2222-4333-8444-555555555555")
            let environment = [
                "VONAGE_APPLICATION_ID": id.description, "VONAGE_PRIVATE_KEY": "\(folder)/private.key",
                "VONAGE_SIGNATURE_SECRET": "a-signature-secret-of-the-tests",
            ]
            try withProcess(["--simulate"], environment: environment) { server in
                let banner = try server.read { $0.contains("calls that are made there ask this server") }
                let port = try #require(banner.firstMatch(of: /played here, at http:\/\/localhost:(\d+)/).flatMap { UInt16($0.1) })
                let token = try ApplicationToken(applicationID: id).signed(by: key, at: Int64(Date().timeIntervalSince1970))
                let call = #"{"to":[{"type":"app","user":"Bob"}],"random_from_number":true,"ncco":[{"action":"talk","text":"Hi."}]}"#
                let made = try Client(port: port).ask(post("/v1/calls", call, "Authorization: Bearer \(token)\r\n"))
                #expect(made.status == 201)
                try server.read { $0.contains(#"hears "Hi.""#) && $0.contains("event completed (Bob) → 200") }
            }
        }
    }

    @Test func `what people do is said by flags, and wrong ones stop the start`() throws {
        let lines: [([String], String)] = [
            (["--callee", "bussy"], "did you mean busy?"), (["--answers-after", "3min"], "--answers-after"),
            (["--talk-for", "x"], "--talk-for"), (["--press", "1,x"], "--press"), (["--secret-file", "/none"], "--secret-file: \"/none\""),
            (["--no-play", "--callee", "busy"], "--callee is for calls that are played"),
        ]
        for (flags, words) in lines {
            let end = try ServerProcess.run(["simulate", "--port", "0"] + flags)
            #expect(end.status == 64 && end.output.isEmpty, "\(flags)")
            #expect(end.errors.hasPrefix("switchboard simulate: ") && end.errors.contains(words), "\(flags): \(end.errors)")
        }
        let help = try ServerProcess.run(["simulate", "--help"])
        for flag in ["--callee", "--answers-after", "--talk-for", "--press", "--say", "--secret-file", "--no-play"] {
            #expect(help.output.contains(flag))
        }
    }
}
