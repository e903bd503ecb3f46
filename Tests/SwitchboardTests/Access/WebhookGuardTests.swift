// SPDX-License-Identifier: MIT
//
// Signed webhooks through the handler: what is taken, what it is answered, what the log and the metrics say.

import Foundation
import HTTPWire
import Testing

@testable import Switchboard
@testable import VonageAuth

struct WebhookGuardTests {
    private static let secret = "a-signature-secret-of-the-tests"
    private static let now: Int64 = 1_800_000_000
    private static let body = #"{"uuid":"3f1b","conversation_uuid":"CON-1","status":"ringing"}"#
    private static let query = "to=447700900123&from_user=Alice&uuid=3f1b&conversation_uuid=CON-1"

    private func bench(_ unsigned: UnsignedPolicy = .retry, requiresPayloadHash: Bool = true) throws -> HandlerBench {
        let verifier = WebhookVerifier(
            secrets: SignatureSecrets(secret: Array(Self.secret.utf8)), requiresPayloadHash: requiresPayloadHash)
        let bench = try HandlerBench(webhooks: WebhookGuard(verifier, unsigned: unsigned))
        bench.wall = Self.now * 1000
        return bench
    }

    private func signed(
        _ payload: WebhookVerifier.Payload, secret: String = Self.secret, at time: Int64 = Self.now
    ) throws -> String {
        let signer = try WebhookSigner(secrets: SignatureSecrets(secret: Array(secret.utf8)))
        return "Authorization: \(try signer.authorization(for: payload, id: "1", now: time))\r\n"
    }

    private func answer(_ query: String, _ field: String) -> String { "GET /voice/answer?\(query) HTTP/1.1\r\nHost: h\r\n\(field)\r\n" }

    @Test func `signed requests and events are served and kept as verified`() throws {
        let bench = try bench()
        let get = try bench.reply(answer(Self.query, try signed(.get(query: Self.query)))).now
        #expect(get?.status == .ok && get?.contentType == .json)
        let asked = #"{"to":"447700900123","from_user":"Alice"}"#
        #expect(try bench.reply(post("/voice/answer", asked, try signed(.post(body: Array(asked.utf8))))).now?.status == .ok)
        let (ticket, _) = try bench.reply(post("/voice/event", Self.body, try signed(.post(body: Array(Self.body.utf8)))))
        #expect(bench.handler.flush(now: 0) == nil)
        #expect(try bench.wait(for: ticket).status == .ok)
        let broken = "{"
        #expect(try bench.reply(post("/voice/event", broken, try signed(.post(body: Array(broken.utf8))))).now?.status == .badRequest)
        _ = bench.handler.flush(now: .max)
        #expect(bench.application.counts.verifiedWebhooks == 4)
        #expect(try bench.records().compactMap { $0["signature"] as? String } == ["verified", "verified", "verified", "verified"])
    }

    @Test func `what is not signed right is refused with the reason, and leaves nothing behind`() throws {
        let bench = try bench()
        let payload = WebhookVerifier.Payload.post(body: Array(Self.body.utf8))
        for (field, words) in [
            (try signed(payload, secret: "another-secret"), "another secret"),
            (try signed(payload, at: Self.now - 412), "412 s ahead"),
            (try signed(payload, at: Self.now + 412), "412 s behind"),
            (try signed(.post(body: [0])), "changed on the way"),
            ("Authorization: Bearer nonsense\r\n", "three parts"),
        ] {
            let response = try bench.reply(post("/voice/event", Self.body, field)).now
            #expect(response?.status == .unauthorized && response?.contentType == .problem)
            let detail = String(decoding: response?.body ?? [], as: UTF8.self)
            #expect(detail.contains(words), "\(detail)")
            #expect(!detail.contains(Self.secret) && !detail.contains("eyJ"))
            #expect(response?.fields.bytes == Array("WWW-Authenticate: Bearer error=\"invalid_token\"\r\n".utf8))
        }
        let metrics = String(decoding: bench.application.metrics().body, as: UTF8.self)
        for line in [
            "{reason=\"wrong-secret\"} 1\n", "{reason=\"stale\"} 2\n", "{reason=\"payload-changed\"} 1\n", "{reason=\"malformed\"} 1\n",
        ] { #expect(metrics.contains("switchboard_webhooks_refused_total" + line)) }
        #expect(try bench.records().isEmpty)
    }

    @Test(arguments: [
        (UnsignedPolicy.retry, Status.serviceUnavailable, "Retry-After: 1\r\n"),
        (.refuse, .unauthorized, "WWW-Authenticate: Bearer\r\n"),
    ])
    func `a webhook without a token is answered as it is set`(_ policy: UnsignedPolicy, _ status: Status, _ field: String) throws {
        let bench = try bench(policy)
        for request in [
            answer(Self.query, ""), post("/voice/event", Self.body), post("/voice/fallback", "{}"),
            answer(Self.query, "Authorization: Basic YTpi\r\n"), "HEAD /voice/answer HTTP/1.1\r\nHost: h\r\n\r\n",
        ] {
            let response = try bench.reply(request).now
            #expect(response?.status == status)
            #expect(response.map { String(decoding: $0.fields.bytes, as: UTF8.self) } == field)
        }
    }

    @Test func `a webhook without a token may be taken, and then is kept as such`() throws {
        let bench = try bench(.accept)
        #expect(try bench.reply(answer(Self.query, "")).now?.status == .ok)
        // A wrong token is no missing one.
        #expect(try bench.reply(answer(Self.query, "Authorization: Bearer x.y.z\r\n")).now?.status == .unauthorized)
        _ = bench.handler.flush(now: .max)
        #expect(bench.application.counts.unsignedWebhooks == 1)
        #expect(try bench.records().compactMap { $0["signature"] as? String } == ["missing"])
    }

    @Test func `the admin may try the server out, and health and metrics need no signature`() throws {
        let bench = try bench()
        let admin = "Authorization: Bearer 0123456789abcdef\r\n"
        #expect(try bench.reply(answer(Self.query, admin)).now?.status == .ok)
        #expect(try bench.reply("GET /health HTTP/1.1\r\nHost: h\r\n\r\n").now?.status == .ok)
        #expect(try bench.reply("GET /metrics HTTP/1.1\r\nHost: h\r\n\(admin)\r\n").now?.status == .ok)
    }

    @Test func `ten webhooks in a row with a wrong time degrade health, until one is right`() throws {
        let bench = try bench()
        func late(_ number: Int64) throws -> String {
            answer(Self.query, try signed(.get(query: Self.query), at: Self.now - 4000 + number))
        }
        // The same one again says nothing.
        for _ in 0..<20 { _ = try bench.reply(try late(0)) }
        #expect(bench.application.degradation.isEmpty)
        for number in 1..<9 { _ = try bench.reply(try late(Int64(number))) }
        #expect(bench.application.degradation.isEmpty)
        // Without the secret nobody can make it degraded, or well.
        _ = try bench.reply(answer(Self.query, try signed(.get(query: Self.query), secret: "another", at: Self.now - 4000)))
        #expect(bench.application.degradation.isEmpty)
        _ = try bench.reply(try late(9))
        #expect(bench.application.degradation.first?.contains("3991 s ahead") == true)
        _ = try bench.reply(answer(Self.query, try signed(.get(query: Self.query), secret: "another")))
        #expect(!bench.application.degradation.isEmpty)
        _ = try bench.reply(answer(Self.query, try signed(.get(query: Self.query))))
        #expect(bench.application.degradation.isEmpty)
    }

    @Test func `a changed body is looked into once a minute, and no longer one`() throws {
        let webhooks = try WebhookGuard(WebhookVerifier(secrets: SignatureSecrets(secret: [1])), unsigned: .retry)
        #expect(!webhooks.mayLookInto(bytes: 16 * 1024 + 1, now: 0))
        #expect(webhooks.mayLookInto(bytes: 16 * 1024, now: 0))
        #expect(!webhooks.mayLookInto(bytes: 1, now: 59_999))
        #expect(webhooks.mayLookInto(bytes: 1, now: 60_000))
    }

    @Test func `a reason is told at once, then with the number of those that were not`() throws {
        let webhooks = try WebhookGuard(WebhookVerifier(secrets: SignatureSecrets(secret: [1])), unsigned: .retry)
        #expect(webhooks.refused(.wrongSecret, wall: 0, now: 0) == 0)
        #expect(webhooks.refused(.wrongSecret, wall: 0, now: 1) == nil)
        #expect(webhooks.refused(.missing, wall: 0, now: 2) == 0)
        #expect(webhooks.refused(.wrongSecret, wall: 0, now: 9999) == nil)
        #expect(webhooks.refused(.wrongSecret, wall: 0, now: 10_000) == 2)
        #expect(webhooks.refused(.wrongSecret, wall: 0, now: 20_000) == 0)
        #expect(webhooks.counts.map(\.count) == [1, 5])
    }

    @Test func `beside a signed body a query counts only for names of one's own`() throws {
        let flows = """
            {"vars": {}, "flows": {"answer": [
              {"when": {"tenant": "7", "dtmf.digits": {"present": false}, "from_user": {"present": false}}, "ncco": "own"},
              {"ncco": "other"}], "fallback": [{"ncco": "other"}]}}
            """
        let verifier = WebhookVerifier(secrets: SignatureSecrets(secret: Array(Self.secret.utf8)))
        let bench = try HandlerBench(
            files: [
                "flows.json": flows, "own.json": #"[{"action":"talk","text":"own"}]"#, "other.json": #"[{"action":"talk","text":"other"}]"#,
            ], webhooks: WebhookGuard(verifier, unsigned: .retry))
        bench.wall = Self.now * 1000
        let body = #"{"to":"14155550100","from":"447700900123"}"#
        let field = try signed(.post(body: Array(body.utf8)))
        func text(_ query: String) throws -> String {
            String(decoding: try #require(try bench.reply(post("/voice/answer?\(query)", body, field)).now).body, as: UTF8.self)
        }
        #expect(try text("tenant=7").contains("own"))
        #expect(try text("tenant=7&from_user=Eve&dtmf.digits=1&SipHeader_X-A=1").contains("own"))
        #expect(try text("tenant=8").contains("other"))
    }

    @Test func `nothing vouches for the query of a POST without a body but its own hash`() throws {
        let bench = try bench()
        let empty = try signed(.post(body: []))
        #expect(try bench.reply(post("/voice/answer?\(Self.query)", "", empty)).now?.status == .unauthorized)
        #expect(try bench.reply(post("/voice/answer?\(Self.query)", "", try signed(.get(query: Self.query)))).now?.status == .ok)
        #expect(try bench.reply(post("/voice/answer", "", empty)).now?.status == .ok)
    }

    @Test func `an unsigned webhook is refused before its body is sent`() throws {
        #expect(try bench().refusal(post("/voice/event", "{}")) == .serviceUnavailable)
        #expect(try bench(.refuse).refusal(post("/voice/answer", "{}")) == .unauthorized)
        #expect(try bench(.accept).refusal(post("/voice/event", "{}")) == nil)
        #expect(try bench().refusal(post("/voice/event", "{}", "Authorization: Bearer 0123456789abcdef\r\n")) == nil)
        #expect(try bench().refusal(post("/voice/event", "{}", "Authorization: Bearer x\r\n")) == nil)
    }
}
