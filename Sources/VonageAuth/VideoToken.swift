// SPDX-License-Identifier: MIT
//
// The token by which a client connects to a video session. No request is needed for it.

/// The claims of a client token of Vonage Video.
///
/// ```swift
/// let token = try VideoToken(applicationID: id, session: sessionID, role: .moderator).signed(by: key, at: now)
/// ```
///
/// - Source: Vonage Video, "Create a token"; Vonage's server libraries for Node and Java.
public struct VideoToken: Sendable {
    /// What the client may do.
    public enum Role: String, Hashable, Sendable, CaseIterable {
        /// Subscribes only.
        case subscriber
        /// Subscribes, publishes and signals.
        case publisher
        /// Publishes only.
        case publisherOnly = "publisheronly"
        /// What a publisher may, and forces others out and mutes them.
        case moderator

        /// What it may do, in words.
        var words: String {
            switch self {
            case .subscriber: "may watch"
            case .publisher: "may watch, publish and signal"
            case .publisherOnly: "may publish"
            case .moderator: "may watch, publish, signal, mute others and force them out"
            }
        }
    }

    /// Seconds from 60 to 30 days, longer than for other tokens.
    public static let lifetimes: ClosedRange<Int64> = 60...2_592_000
    /// 24 hours.
    public static let defaultLifetime: Int64 = 86_400
    /// Characters (Unicode scalars) of the connection data, and of the layout classes together.
    public static let longestText = 1000

    /// The application that the session belongs to.
    public let applicationID: ApplicationID
    /// The session's id.
    public let session: String
    /// What the client may do.
    public let role: Role
    /// What other clients can read of this one.
    public let connectionData: String?
    /// Names of layout classes, joined by a blank in the token.
    public let layoutClasses: [String]
    /// Seconds from `iat` to `exp`.
    public let lifetime: Int64

    /// - Parameters:
    ///   - session: as Vonage made it: 1...500 printable ASCII characters without blanks.
    ///   - connectionData: at most 1000 characters (Unicode scalars); other clients can read it.
    ///   - layoutClasses: names without blanks, with the blanks between at most 1000 characters together.
    ///   - lifetime: seconds, 60...2592000 (30 days).
    /// - Throws: `TokenError` with the rule or range.
    public init(
        applicationID: ApplicationID, session: String, role: Role = .publisher, connectionData: String? = nil, layoutClasses: [String] = [],
        lifetime: Int64 = defaultLifetime
    ) throws(TokenError) {
        guard (1...500).contains(session.utf8.count), session.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw TokenError("a session id has 1 to 500 printable ASCII characters without blanks, such as 1_MX4…")
        }
        if let connectionData, connectionData.unicodeScalars.count > Self.longestText {
            throw TokenError("the connection data has \(connectionData.unicodeScalars.count) characters; it may have \(Self.longestText)")
        }
        guard layoutClasses.allSatisfy({ name in !name.isEmpty && !name.unicodeScalars.contains { $0.properties.isWhitespace } }) else {
            throw TokenError("a layout class is a name without blanks")
        }
        let length = layoutClasses.joined(separator: " ").unicodeScalars.count
        guard length <= Self.longestText else {
            throw TokenError("the layout classes have \(length) characters; together they may have \(Self.longestText)")
        }
        try TokenRule.checkLifetime(lifetime, in: Self.lifetimes)
        self.applicationID = applicationID
        self.session = session
        self.role = role
        self.connectionData = connectionData
        self.layoutClasses = layoutClasses
        self.lifetime = lifetime
    }

    /// The compact token, some 800 characters with a short session id.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970, within the years to 9999; becomes `iat`.
    ///   - id: becomes `jti`; each token needs one of its own.
    /// - Throws: `TokenError`, where the time is out of range or OpenSSL fails.
    public func signed(by key: PrivateKey, at now: Int64, id: TokenID = TokenID()) throws(TokenError) -> String {
        try TokenRule.checkTime(now)
        var claims = TokenWriter()
        claims.text("application_id", applicationID.description)
        claims.text("scope", "session.connect")
        claims.text("session_id", session)
        claims.text("role", role.rawValue)
        if let connectionData { claims.text("connection_data", connectionData) }
        claims.text("initial_layout_class_list", layoutClasses.joined(separator: " "))
        claims.text("sub", "video")
        claims.json("acl", AccessList.video.json)
        claims.number("iat", now)
        claims.number("exp", now + lifetime)
        claims.text("jti", id.description)
        return try claims.signed(by: key)
    }
}
