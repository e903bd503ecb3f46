// SPDX-License-Identifier: MIT
//
// The token by which an app user logs in with the Client SDK.

/// The claims of a user token: `sub` is the user's name, which is not the id that begins with `USR-`.
///
/// ```swift
/// let token = try UserToken(applicationID: id, user: "Alice").signed(by: key, at: now)
/// ```
///
/// - Source: Vonage, "JWT and ACL"; the Client SDK's guides.
public struct UserToken: Sendable {
    /// Seconds from 60 to 24 hours. Vonage's own limit below is 30 s, too short to log in with.
    public static let lifetimes: ClosedRange<Int64> = 60...86_400
    /// 6 hours.
    public static let defaultLifetime: Int64 = 21_600

    /// The application that the user belongs to.
    public let applicationID: ApplicationID
    /// The user's name.
    public let user: String
    /// What the token opens.
    public let access: AccessList
    /// Seconds from `iat` to `exp`.
    public let lifetime: Int64

    /// - Parameters:
    ///   - user: the name, 1...100 characters (Unicode scalars), no control characters, not only blanks.
    ///   - access: by default all that the Client SDK needs.
    ///   - lifetime: seconds, 60...86400.
    /// - Throws: `TokenError` with the rule or range.
    public init(
        applicationID: ApplicationID, user: String, access: AccessList = .user, lifetime: Int64 = defaultLifetime
    ) throws(TokenError) {
        if let fault = TokenRule.faultOfName(user) { throw TokenError(fault) }
        try TokenRule.checkLifetime(lifetime, in: Self.lifetimes)
        self.applicationID = applicationID
        self.user = user
        self.access = access
        self.lifetime = lifetime
    }

    /// The compact token, some 1,000 characters.
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
        claims.text("sub", user)
        claims.json("acl", access.json)
        return try claims.signed(by: key)
    }
}
