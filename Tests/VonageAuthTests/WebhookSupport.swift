// SPDX-License-Identifier: MIT
//
// A webhook from a file, and tokens made by hand: what a test is about is changed, all else is as Vonage sends it.

import Foundation
import Testing

@testable import VonageAuth

/// A webhook with its token, as Vonage sends it.
struct WebhookVectors: Decodable, Sendable {
    struct Post: Decodable, Sendable {
        let body, token: String
    }
    struct Get: Decodable, Sendable {
        let query, object, token: String
    }
    let secret: String
    let now: Int64
    let post: Post
    let get: Get

    static func read() throws -> WebhookVectors { try JSONDecoder().decode(WebhookVectors.self, from: Data(vector("webhooks.json"))) }
}

/// A token of HS256 over any header and claims.
struct HandmadeToken {
    static let secret = "a-signature-secret-of-the-tests"
    static let apiKey = "abcd1234"
    static let applicationID = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
    static let now: Int64 = 1_800_000_000

    var header = #"{"alg":"HS256","typ":"JWT"}"#
    /// Names and JSON texts, in this order.
    var claims: [(name: String, json: String)] = [
        ("iat", "\(now)"), ("jti", "\"7c0b1f0e-2a56-4a5d-8f2c-1f6f0f0c9d11\""), ("iss", "\"Vonage\""), ("api_key", "\"\(apiKey)\""),
        ("application_id", "\"\(applicationID)\""),
    ]
    var secret = HandmadeToken.secret

    func with(_ name: String, _ json: String?) -> HandmadeToken {
        var copy = self
        copy.claims.removeAll { $0.name == name }
        if let json { copy.claims.append((name, json)) }
        return copy
    }

    func over(_ payload: some Sequence<UInt8>) throws -> HandmadeToken {
        let digest = try #require(try SHA256().digest(Array(payload).span))
        return with("payload_hash", "\"\(digest.hex)\"")
    }

    var claimsText: String { "{" + claims.map { "\"\($0.name)\":\($0.json)" }.joined(separator: ",") + "}" }

    func text() throws -> String {
        var token: [UInt8] = []
        token.appendBase64URL(Array(header.utf8).span)
        token.append(UInt8(ascii: "."))
        token.appendBase64URL(Array(claimsText.utf8).span)
        let signature = try #require(try HMACSHA256(key: Array(secret.utf8)).authenticate(token.span))
        token.append(UInt8(ascii: "."))
        token.appendBase64URL(signature.array.span)
        return String(decoding: token, as: UTF8.self)
    }

    func bearer() throws -> String { "Bearer \(try text())" }
}

extension WebhookVerifier {
    static func ofTests() -> WebhookVerifier {
        WebhookVerifier(secrets: SignatureSecrets(secret: Array(HandmadeToken.secret.utf8)), applicationID: HandmadeToken.applicationID)
    }

    /// Nil where it is believed.
    func refusal(_ authorization: String?, _ payload: Payload, now: Int64 = HandmadeToken.now) -> WebhookRefusal? {
        do throws(WebhookRefusal) {
            _ = try verify(authorization: authorization, payload: payload, now: now)
            return nil
        } catch {
            return error
        }
    }
}
