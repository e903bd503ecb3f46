// SPDX-License-Identifier: MIT

/// Why a webhook is not believed. The description names the reason and, where it is not plain, the cure; nothing of the request is in it.
public enum WebhookRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// No `Authorization: Bearer` came. Vonage calls this a rare fault of its own and asks for a status of 5xx, on which it tries again.
    case missing
    /// The bearer is no token of the form that Vonage sends; why.
    case malformed(String)
    /// `alg` is not HS256. No other algorithm is ever tried.
    case algorithm
    /// No secret is set for the account that the claim `api_key` names.
    case otherAPIKey
    /// The signature does not fit: another secret, or a forged token.
    case wrongSecret
    /// Issued too long ago (positive) or in the future (negative), in seconds by the given clock; and the leeway that was given.
    case stale(seconds: Int64, leeway: Int64)
    /// By `exp` or `nbf`, which Vonage does not send, it does not count now.
    case notInForce
    /// `application_id` is another application.
    case otherApplication
    /// The token says nothing of the body or query that came with it.
    case noPayloadHash
    /// Body or query are not those that the token was made for.
    case payloadChanged
    /// A parameter of the query comes twice, which no `payload_hash` can cover.
    case repeatedParameter
    /// OpenSSL failed.
    case unchecked

    /// A short name that stays the same, for logs and metrics.
    public var name: String {
        switch self {
        case .missing: "missing"
        case .malformed: "malformed"
        case .algorithm: "algorithm"
        case .otherAPIKey: "other-api-key"
        case .wrongSecret: "wrong-secret"
        case .stale: "stale"
        case .notInForce: "not-in-force"
        case .otherApplication: "other-application"
        case .noPayloadHash: "no-payload-hash"
        case .payloadChanged: "payload-changed"
        case .repeatedParameter: "repeated-parameter"
        case .unchecked: "unchecked"
        }
    }

    public var description: String {
        switch self {
        case .missing: "there is no bearer token"
        case .malformed(let why): "the bearer is no token of a signed webhook: \(why)"
        case .algorithm: "the token does not say that it is signed with HS256"
        case .otherAPIKey: "the token is of an account (claim api_key) for which no signature secret is set"
        case .wrongSecret: "the token is signed with another secret than ours"
        case .stale(let seconds, let leeway) where seconds > 0:
            "the token was issued \(seconds) s ago and counts for \(leeway) s; if the request is new, this machine's clock is \(seconds) s ahead"
        case .stale(let seconds, let leeway):
            "the token was issued \(seconds.magnitude) s in the future, and \(leeway) s are let pass; this machine's clock is \(seconds.magnitude) s behind"
        case .notInForce: "by its claim exp or nbf the token does not count now"
        case .otherApplication: "the token is of another application (claim application_id)"
        case .noPayloadHash: "the token has no claim payload_hash, so that nothing vouches for body and query"
        case .payloadChanged: "body or query changed on the way: their hash is not the token's payload_hash"
        case .repeatedParameter: "a parameter of the query comes twice, which no payload_hash can vouch for"
        case .unchecked: "the signature could not be checked: OpenSSL failed"
        }
    }

    /// Whether the token was signed with our secret, so that nobody else can have made it.
    public var isSigned: Bool {
        switch self {
        case .missing, .malformed, .algorithm, .otherAPIKey, .wrongSecret, .unchecked: false
        case .stale, .notInForce, .otherApplication, .noPayloadHash, .payloadChanged, .repeatedParameter: true
        }
    }
}
