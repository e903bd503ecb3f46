// SPDX-License-Identifier: MIT
//
// A webhook that somebody has kept in files, and what is wrong with its signature in full: for a person who asks why it was refused, so that
// everything that can be said is said, where the server says the first reason.

import JSON
import NCCO
package import VonageAuth

/// A request's head as a tunnel's inspector, curl or a proxy shows it: a request line, if there is one, and field lines.
package struct CapturedWebhook: Sendable {
    package private(set) var method: String?
    package private(set) var query: String?
    package private(set) var authorization: String?

    /// Longest head that is read, in bytes.
    package static let largestHead = 64 * 1024

    /// Lines as `Name: value`, also with curl's `> ` in front; the rest is skipped, and of several fields the first counts.
    package init(head: [UInt8]) {
        for line in head.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            var text = String(decoding: line, as: UTF8.self)
            if text.hasPrefix("> ") { text.removeFirst(2) }
            let words = text.split(separator: " ")
            if words.count == 3, words[2].hasPrefix("HTTP/"), method == nil {
                method = String(words[0])
                query = words[1].firstIndex(of: "?").map { String(words[1][words[1].index(after: $0)...]) }
                continue
            }
            guard let colon = text.firstIndex(of: ":"), authorization == nil, text[..<colon].lowercased() == "authorization" else {
                continue
            }
            authorization = String(text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" })
        }
    }
}

package struct WebhookReport: Sendable {
    /// Every finding, a line each; the first is the result.
    package let lines: [String]
    package let isVerified: Bool

    /// - Parameter now: seconds since 1970.
    package init(
        _ verifier: WebhookVerifier, authorization: String?, payload: WebhookVerifier.Payload, now: Int64
    ) throws(CryptographyError) {
        let checker = try WebhookChecker(verifier)
        let first = Self.refusal(checker, authorization, payload, now)
        let claims = checker.lastClaims
        var lines: [String] = []
        // With its own time for now, whatever else is wrong comes out too.
        var rest = first
        if case .stale = first { rest = Self.refusal(checker, authorization, payload, claims.issuedAt) }
        lines.append(first.map { "refused: \($0)" } ?? "verified: signature, time, account, and body or query are right")
        if let rest, rest != first { lines.append("refused: \(rest)") }
        if case .stale = first, rest == nil { lines.append("apart from its time all of it is right") }
        switch rest {
        case .payloadChanged:
            lines.append(
                checker.usualChange(of: payload).map { "it fits \($0)" }
                    ?? "no usual change makes it fit: compare each byte with what Vonage sent")
        case .wrongSecret where claims.apiKey != nil:
            lines.append("it says, unchecked, that its api key is \(printable(claims.apiKey ?? "")): is that the account of the secret?")
        case .otherAPIKey:
            lines.append(
                claims.apiKey.map { "its api key is \(printable($0)); write that key and its secret as api_key=secret" }
                    ?? "it names no api key; set its secret without a key")
        case .otherApplication: lines.append("its application is \(printable(claims.applicationID ?? ""))")
        default: break
        }
        lines += Self.described(claims, rest, now)
        self.lines = lines
        isVerified = first == nil
    }

    private static func refusal(
        _ checker: WebhookChecker, _ authorization: String?, _ payload: WebhookVerifier.Payload, _ now: Int64
    ) -> WebhookRefusal? {
        do throws(WebhookRefusal) {
            _ = try checker.verify(authorization: authorization, payload: payload, now: now)
            return nil
        } catch {
            return error
        }
    }

    /// The claims of a token whose signature is right.
    private static func described(_ claims: WebhookClaims, _ refusal: WebhookRefusal?, _ now: Int64) -> [String] {
        switch refusal {
        case .missing, .malformed, .algorithm, .otherAPIKey, .wrongSecret, .unchecked: return []
        case nil, .stale, .notInForce, .otherApplication, .noPayloadHash, .payloadChanged, .repeatedParameter: break
        }
        let age = now - claims.issuedAt
        var lines = ["iat             \(claims.issuedAt), \(age.magnitude) s \(age < 0 ? "in the future" : "ago")"]
        if let key = claims.apiKey { lines.append("api_key         \(printable(key))") }
        if let id = claims.applicationID { lines.append("application_id  \(printable(id))") }
        if let id = claims.id { lines.append("jti             \(printable(id))") }
        return lines
    }
}
