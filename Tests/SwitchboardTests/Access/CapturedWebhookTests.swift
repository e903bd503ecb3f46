// SPDX-License-Identifier: MIT

import Testing

@testable import Switchboard
@testable import VonageAuth

struct CapturedWebhookTests {
    private static let secrets = SignatureSecrets(secret: Array("a-signature-secret-of-the-tests".utf8))
    private static let now: Int64 = 1_800_000_000

    private func report(
        _ authorization: String?, _ payload: WebhookVerifier.Payload, _ secrets: SignatureSecrets = secrets, now: Int64 = now
    ) throws -> WebhookReport {
        try WebhookReport(WebhookVerifier(secrets: secrets), authorization: authorization, payload: payload, now: now)
    }

    private func signed(_ payload: WebhookVerifier.Payload) throws -> String {
        let secrets = try SignatureSecrets("abcd1234=a-signature-secret-of-the-tests")
        return try WebhookSigner(secrets: secrets).authorization(for: payload, id: "id-1", now: Self.now)
    }

    @Test(arguments: [
        "POST /voice/event?a=1 HTTP/1.1\r\nHost: h\r\nauthorization:  Bearer x\r\nAuthorization: Bearer y\r\n\r\n",
        "> POST /voice/event?a=1 HTTP/2\n> Authorization: Bearer x\n>\n", "POST /voice/event?a=1 HTTP/1.1\nAuthorization: Bearer x",
    ])
    func `a head is read as tools show it`(head: String) {
        let webhook = CapturedWebhook(head: Array(head.utf8))
        #expect(webhook.method == "POST" && webhook.query == "a=1" && webhook.authorization == "Bearer x")
    }

    @Test func `without a request line the rest is there all the same`() {
        let webhook = CapturedWebhook(head: Array("Host: h\nAuthorization: Bearer x\n".utf8))
        #expect(webhook.method == nil && webhook.query == nil && webhook.authorization == "Bearer x")
        #expect(CapturedWebhook(head: [0xFF, 0x0A, 0x3A]).authorization == nil)
    }

    @Test func `a good one is verified, with its claims`() throws {
        let payload = WebhookVerifier.Payload.post(body: [1])
        let report = try report(try signed(payload), payload, now: Self.now + 12)
        #expect(report.isVerified)
        #expect(report.lines.first?.hasPrefix("verified") == true)
        #expect(report.lines.contains("iat             1800000000, 12 s ago"))
        #expect(report.lines.contains("api_key         \"abcd1234\""))
    }

    @Test func `an old one is told apart from one that is wrong besides`() throws {
        let payload = WebhookVerifier.Payload.post(body: Array("{}".utf8))
        let old = try report(try signed(payload), payload, now: Self.now + 4000)
        #expect(!old.isVerified)
        #expect(old.lines.prefix(2).last == "apart from its time all of it is right")
        let changed = try report(try signed(payload), .post(body: Array("{}\n".utf8)), now: Self.now + 4000)
        #expect(changed.lines[0].contains("4000 s ago"))
        #expect(changed.lines[1].contains("changed on the way"))
        #expect(changed.lines[2].hasPrefix("it fits without the white space at its end"))
        let other = try report(try signed(payload), .post(body: Array("x".utf8)))
        #expect(other.lines[1].hasPrefix("no usual change"))
    }

    @Test func `whose secret it should have been is told, and nothing of it is taken for true`() throws {
        let payload = WebhookVerifier.Payload.get(query: "to=1")
        let wrong = try report(try signed(payload), payload, SignatureSecrets(secret: [1]))
        #expect(wrong.lines.count == 2 && wrong.lines[1].contains("unchecked, that its api key is \"abcd1234\""))
        let other = try report(try signed(payload), payload, try SignatureSecrets("00000001=x"))
        #expect(other.lines.count == 2 && other.lines[1].contains("api_key=secret"))
        #expect(try report(nil, payload).lines == ["refused: there is no bearer token"])
    }
}
