// SPDX-License-Identifier: MIT
//
// Signs webhooks as Vonage does, for whoever stands in Vonage's place: a replay of logged requests, and tests of a server.

internal import JSON

/// Makes the tokens of webhooks; for one thread.
///
/// The claims are those of Vonage, in its order: `iat`, `jti`, `iss`, `payload_hash`, `api_key`, `application_id`.
public final class WebhookSigner {
    private let mac: HMACSHA256
    private let hash: SHA256
    private let apiKey: String?
    private let applicationID: String?

    /// - Parameters:
    ///   - secrets: of several the first signs.
    ///   - applicationID: goes into the token as it is; nil leaves the claim out.
    /// - Throws: `CryptographyError` where OpenSSL is not what it should be.
    public init(secrets: SignatureSecrets, applicationID: String? = nil) throws(CryptographyError) {
        let first = secrets.entries.first
        mac = try HMACSHA256(key: first?.secret ?? [])
        hash = try SHA256()
        apiKey = first?.apiKey
        self.applicationID = applicationID
    }

    /// The value of `Authorization` for one webhook.
    ///
    /// - Parameters:
    ///   - id: the claim `jti`; each request has another.
    ///   - now: seconds since 1970 in UTC.
    public func authorization(for payload: WebhookVerifier.Payload, id: String, now: Int64) throws(CryptographyError) -> String {
        let hashed = Self.hashed(payload)
        guard let payloadHash = hash.digest(hashed.span) else { throw CryptographyError("SHA-256") }
        var claims: [UInt8] = []
        claims += "{\"iat\":\(now),\"jti\":".utf8
        claims.appendJSONString(id)
        claims += ",\"iss\":\"Vonage\",\"payload_hash\":\"\(payloadHash.hex)\"".utf8
        for (name, value) in [("api_key", apiKey), ("application_id", applicationID)] {
            guard let value else { continue }
            claims += ",\"\(name)\":".utf8
            claims.appendJSONString(value)
        }
        claims += "}".utf8

        var token: [UInt8] = []
        token.appendBase64URL(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8).span)
        token.append(UInt8(ascii: "."))
        token.appendBase64URL(claims.span)
        guard let signature = mac.authenticate(token.span) else { throw CryptographyError("HMAC-SHA256") }
        token.append(UInt8(ascii: "."))
        token.appendBase64URL(signature.array.span)
        return "Bearer \(String(decoding: token, as: UTF8.self))"
    }

    private static func hashed(_ payload: WebhookVerifier.Payload) -> [UInt8] {
        switch payload {
        case .post(let body, _): return body
        case .get(let query):
            let text = Array(query.utf8)
            var object = QueryPayload()
            object.read(0..<text.count, in: text.span)
            return object.json
        }
    }
}
