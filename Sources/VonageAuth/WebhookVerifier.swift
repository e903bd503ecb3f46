// SPDX-License-Identifier: MIT
//
// Whether a webhook comes from Vonage. Vonage signs each with a JSON Web Token in `Authorization`: HS256 over claims that name account and
// application, the time, and the hash of the body or the query. The check takes texts and bytes and knows nothing of HTTP messages, files or
// clocks: any server can call it.
//
// `WebhookVerifier` says what is ours and is shared; `WebhookChecker` does the work, with buffers and contexts that it uses again. A server with
// threads makes one for each of them; `WebhookVerifier.verify` makes one for a single call.

internal import HTTPWire
internal import JSON

/// What a webhook must show to be believed.
///
/// ```swift
/// let verifier = WebhookVerifier(secrets: try SignatureSecrets(environment["VONAGE_SIGNATURE_SECRET"] ?? ""))
/// let claims = try verifier.verify(
///     authorization: request.headers["authorization"], method: .post(body: bytes), now: Int64(Date().timeIntervalSince1970))
/// ```
///
/// - Source: Vonage, "Signed webhooks"; RFC 7515, RFC 7518 §3.2, RFC 7519.
public struct WebhookVerifier: Sendable {
    public var secrets: SignatureSecrets
    /// Ours, if it is known; a token of another application is refused. Case is not compared.
    public var applicationID: String?
    /// How far `iat` may lie from the clock, in seconds, either way; `exp` and `nbf`, which Vonage does not send, are held to the same.
    public var leeway: Int64
    /// Whether a token must vouch for the body or query it comes with.
    public var requiresPayloadHash: Bool

    /// - Parameters:
    ///   - leeway: seconds, 0 or more. Vonage publishes no figure.
    public init(secrets: SignatureSecrets, applicationID: String? = nil, leeway: Int64 = 300, requiresPayloadHash: Bool = true) {
        self.secrets = secrets
        self.applicationID = applicationID
        self.leeway = max(leeway, 0)
        self.requiresPayloadHash = requiresPayloadHash
    }

    /// What came beside the token.
    public enum Payload: Sendable {
        /// The bytes of a POST as they were received, before any decoding; and the query of its URL, which no hash covers.
        case post(body: [UInt8], query: String = "")
        /// The query of a GET as it was received, behind `?`, still encoded.
        case get(query: String)
    }

    /// Checks one webhook. The same one twice is let pass: Vonage sends again what was not answered.
    ///
    /// - Parameters:
    ///   - authorization: the field's value, with its scheme.
    ///   - now: seconds since 1970 in UTC.
    /// - Throws: `WebhookRefusal`.
    public func verify(authorization: String?, payload: Payload, now: Int64) throws(WebhookRefusal) -> WebhookClaims {
        guard let checker = try? WebhookChecker(self) else { throw .unchecked }
        return try checker.verify(authorization: authorization, payload: payload, now: now)
    }
}

/// The claims of a webhook's token.
public struct WebhookClaims: Hashable, Sendable {
    /// When it was issued, in seconds since 1970.
    public var issuedAt: Int64
    public var apiKey: String?
    public var applicationID: String?
    /// Names the token; a webhook that is sent again has another.
    public var id: String?
}
