// SPDX-License-Identifier: MIT
//
// Signed webhooks on sockets: as Vonage sends them, as a replay does, and as a tunnel garbles them.

import Foundation
import HTTPServer
import Testing

@testable import Switchboard
@testable import VonageAuth

struct SignedWebhookTests {
    private static let secrets = SignatureSecrets(secret: Array("a-signature-secret-of-the-tests".utf8))

    private func withSignedServer<Result>(_ body: (TestServer, WebhookSigner, Int64) throws -> Result) throws -> Result {
        let webhooks = try WebhookGuard(WebhookVerifier(secrets: Self.secrets), unsigned: .retry)
        return try withServer(webhooks: webhooks) {
            try body($0, try WebhookSigner(secrets: Self.secrets), Int64(Date().timeIntervalSince1970))
        }
    }

    @Test func `a call's requests are taken, twice and in pieces`() throws {
        try withSignedServer { server, signer, now throws in
            let query = "to=447700900123&from_user=Alice&custom_data=%7B%22note%22%3A%22caf%C3%A9+%26+co%22%7D"
            let event = #"{ "status" : "answered", "conversation_uuid":"CON-1" }"#
            let answer = try signer.authorization(for: .get(query: query), id: "1", now: now)
            let kept = try signer.authorization(for: .post(body: Array(event.utf8)), id: "2", now: now)
            let client = try server.client()
            for _ in 0..<2 {
                #expect(try client.ask(get("/voice/answer?\(query)", "Authorization: \(answer)\r\n")).status == 200)
                #expect(try client.ask(post("/voice/event", event, "Authorization: \(kept)\r\n")).status == 200)
            }
            #expect(
                try client.ask(chunkedPost("/voice/event", ["{ \"status\" : ", String(event.dropFirst(13))], "Authorization: \(kept)\r\n"))
                    .status == 200)
            #expect(try client.ask(post("/voice/event", event + "\n", "Authorization: \(kept)\r\n")).status == 401)
            #expect(try client.ask(post("/voice/event", event)).status == 503)
            let records = try server.stopAndRead()
            #expect(records.count == 5)
            #expect(records.allSatisfy { $0.members["signature"] as? String == "verified" })
        }
    }

    @Test func `a replay signs its requests anew`() throws {
        try withSignedServer { server, signer, now throws in
            let query = "to=447700900123&from_user=Alice"
            let answer = try signer.authorization(for: .get(query: query), id: "1", now: now)
            #expect(try server.ask(get("/voice/answer?\(query)", "Authorization: \(answer)\r\n")).status == 200)
            _ = try server.stopAndRead()
            try withSignedServer { target, _, _ throws in
                let arguments = [
                    "events", "replay", "--events", server.events, "--speed", "max", "--to-url", target.url,
                ]
                let unsigned = try ServerProcess.run(arguments)
                #expect(unsigned.status == 1 && unsigned.output.contains("  503  "))
                let signed = try ServerProcess.run(
                    arguments, environment: ["VONAGE_SIGNATURE_SECRET": "a-signature-secret-of-the-tests"])
                #expect(signed.status == 0, "\(signed.output)\(signed.errors)")
            }
        }
    }

    @Test func `a webhook that was kept in files is judged, with the reason and the cure`() throws {
        try withFolder { folder in
            let (head, body) = ("\(folder)/head", "\(folder)/body")
            let event = #"{"status":"answered"}"#
            let signer = try WebhookSigner(secrets: Self.secrets)
            let authorization = try signer.authorization(for: .post(body: Array(event.utf8)), id: "1", now: 1_796_032_800)
            try Data("POST /voice/event HTTP/1.1\r\nAuthorization: \(authorization)\r\n".utf8).write(to: URL(fileURLWithPath: head))
            func verify(_ arguments: String..., secret: String = "a-signature-secret-of-the-tests") throws -> ServerProcess.End {
                try ServerProcess.run(
                    ["token", "verify-webhook", "--headers", head] + arguments, environment: ["VONAGE_SIGNATURE_SECRET": secret])
            }
            try Data(event.utf8).write(to: URL(fileURLWithPath: body))
            let good = try verify("--body", body, "--at", "2026-11-30T10:01Z")
            #expect(good.status == 0 && good.output.hasPrefix("verified"), "\(good.output)\(good.errors)")
            #expect(try verify("--body", body).output.contains("apart from its time all of it is right"))
            try Data((event + "\n").utf8).write(to: URL(fileURLWithPath: body))
            let changed = try verify("--body", body, "--at", "2026-11-30T10:01Z")
            #expect(changed.status == 1 && changed.output.contains("something appended a line end"))
            #expect(try verify("--body", body, secret: "another").output.contains("another secret than ours"))
            for (arguments, words) in [
                (["--body", "\(folder)/none"], "cannot be read"), (["--method", "PUT"], "GET or POST"), (["--at", "soon"], "is no time"),
                (["extra"], "takes --headers"),
            ] {
                let end = try ServerProcess.run(
                    ["token", "verify-webhook", "--headers", head] + arguments, environment: ["VONAGE_SIGNATURE_SECRET": "x"])
                #expect(end.status == 64 && end.errors.contains(words), "\(end.errors)")
            }
            #expect(try ServerProcess.run(["token", "verify-webhook", "--headers", head]).errors.contains("no secret to check with"))
        }
    }
}
