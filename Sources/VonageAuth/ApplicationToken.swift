// SPDX-License-Identifier: MIT
//
// The token by which a server speaks for its application, and a source that keeps one for as long as it is good.

internal import Locking

/// The claims of an application token, with which a server calls Vonage's APIs. It has no `sub` and no `acl`, and so opens everything.
///
/// ```swift
/// let token = try ApplicationToken(applicationID: id).signed(by: key, at: now)
/// ```
///
/// - Source: Vonage, "Authentication", section JSON Web Tokens.
public struct ApplicationToken: Sendable {
    /// Seconds from 30 to 24 hours: what Vonage takes.
    public static let lifetimes: ClosedRange<Int64> = 30...86_400
    /// 15 minutes, which Vonage takes for a token without `exp`.
    public static let defaultLifetime: Int64 = 900

    /// Whom the token speaks for.
    public let applicationID: ApplicationID
    /// Seconds from `iat` to `exp`.
    public let lifetime: Int64

    /// - Parameter lifetime: seconds, 30...86400.
    /// - Throws: `TokenError` with the range.
    public init(applicationID: ApplicationID, lifetime: Int64 = defaultLifetime) throws(TokenError) {
        try TokenRule.checkLifetime(lifetime, in: Self.lifetimes)
        self.applicationID = applicationID
        self.lifetime = lifetime
    }

    /// The compact token, some 600 characters.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970, within the years to 9999; becomes `iat`.
    ///   - id: becomes `jti`; each token needs one of its own.
    /// - Throws: `TokenError`, where the time is out of range or OpenSSL fails.
    public func signed(by key: PrivateKey, at now: Int64, id: TokenID = TokenID()) throws(TokenError) -> String {
        try TokenRule.checkTime(now)
        var claims = TokenWriter()
        claims.text("application_id", applicationID.description)
        claims.number("iat", now)
        claims.number("exp", now + lifetime)
        claims.text("jti", id.description)
        return try claims.signed(by: key)
    }
}

/// Application tokens for one request after another: one is kept and renewed a minute before it ends. For any number of threads.
public final class ApplicationTokenSource: Sendable {
    private struct Kept {
        let token: String
        let issued: Int64
        let renewed: Int64
    }

    /// Seconds before its end from which on a token is not given out any more: it must be good when Vonage reads it.
    public static let margin: Int64 = 60

    private let claims: ApplicationToken
    private let key: PrivateKey
    private let kept = Locked<Kept?>(nil)

    /// Tokens of 15 minutes each.
    public init(applicationID: ApplicationID, key: PrivateKey) throws(TokenError) {
        claims = try ApplicationToken(applicationID: applicationID)
        self.key = key
    }

    /// A token that is good for another minute at least.
    ///
    /// - Parameter now: seconds since 1970, within the years to 9999. Where the clock was put back behind the kept token's `iat`, a new one is made.
    /// - Throws: `TokenError`, where the time is out of range or OpenSSL fails.
    public func token(at now: Int64) throws(TokenError) -> String {
        let good = kept.withLock { kept in kept.flatMap { $0.issued <= now && now < $0.renewed ? $0.token : nil } }
        if let good { return good }
        // Signing takes a millisecond and is not done under the lock: where two threads sign at once, either token is good.
        let token = try claims.signed(by: key, at: now)
        kept.withLock { $0 = Kept(token: token, issued: now, renewed: now + claims.lifetime - Self.margin) }
        return token
    }
}
