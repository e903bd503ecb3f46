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
                    "events", "replay", "--events", server.events, "--speed", "max", "--to-url", "http://127.0.0.1:\(target.server.port)",
                ]
                let unsigned = try ServerProcess.run(arguments)
                #expect(unsigned.status == 1 && unsigned.output.contains("  503  "))
                let signed = try ServerProcess.run(
                    arguments, environment: ["VONAGE_SIGNATURE_SECRET": "a-signature-secret-of-the-tests"])
                #expect(signed.status == 0, "\(signed.output)\(signed.errors)")
            }
        }
    }
}
