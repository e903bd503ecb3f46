// SPDX-License-Identifier: MIT
//
// Whether a token opens a door, as Vonage's side decides it: RS256 by the application's key and nothing else, for this application, at this
// time, and for this path. Nothing inside of a token says how it is to be checked (RFC 8725 §3.1, §3.10), no claim is put right, and what
// cannot be read is refused. How long a check takes is bounded by the token's length.

internal import JSON

/// Why a token was refused.
public struct TokenRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// What tells one refusal from another without reading its words.
    public enum Fault: String, Hashable, Sendable, CaseIterable {
        /// No token, or one that cannot be read.
        case malformed
        /// Anything but RS256, or an extension that is not known.
        case algorithm
        /// Made by another key, or changed.
        case signature
        /// Of another application.
        case application
        /// A claim that is missing, of the wrong type or out of range.
        case claims
        /// `iat` or `nbf` lie ahead.
        case notYetValid
        /// Over.
        case expired
    }

    /// What is wrong.
    public let fault: Fault
    /// One line that shows nothing of the token.
    public let description: String

    init(_ fault: Fault, _ description: String) {
        self.fault = fault
        self.description = description
    }
}

/// What a token that was checked says.
public struct VerifiedToken: Hashable, Sendable {
    /// `iat`, seconds since 1970.
    public let issued: Int64
    /// `exp`, seconds since 1970; 15 minutes after `issued` where the token has none.
    public let expires: Int64
    /// `sub`: the name of the app user who has the token; nil for an application's own.
    public let subject: String?
    /// `acl`; nil where the token has none.
    public let access: TokenAccess?

    /// Whether the token opens a path to a method. One without `acl` opens everything to an application, and nothing to a user.
    ///
    /// - Parameters:
    ///   - method: in capitals, such as `GET`.
    ///   - path: from its slash on, without a query, such as `/v1/users`.
    public func allows(_ method: String, _ path: String) -> Bool { access.map { $0.allows(method, path) } ?? (subject == nil) }
}

/// The paths that the claim `acl` opens.
///
/// In a path `*` stands for one segment and `**` for any number of them, none included: `/*/users/**` opens `/v1/users` and all below it.
///
/// - Source: Vonage, "JWT and ACL".
public struct TokenAccess: Hashable, Sendable {
    /// One path and its methods; nil: all of them.
    struct Path: Hashable, Sendable {
        let segments: [String]
        let methods: Set<String>?
    }

    let paths: [Path]

    /// Most paths that are read; a token with more is refused.
    static let mostPaths = 100
    private static let mostSegments = 32

    func allows(_ method: String, _ path: String) -> Bool {
        let segments = Self.segments(path)
        return paths.contains { entry in
            (entry.methods?.contains(method) ?? true) && Self.matches(entry.segments[...], segments[...])
        }
    }

    private static func segments(_ path: String) -> [String] { path.split(separator: "/").prefix(mostSegments).map(String.init) }

    /// As deep as a path has segments; what follows `**` must match one end of the path, whichever.
    private static func matches(_ pattern: ArraySlice<String>, _ path: ArraySlice<String>) -> Bool {
        guard let first = pattern.first else { return path.isEmpty }
        if first == "**" {
            // Where nothing follows, as in every list that is known, all that is left matches.
            guard pattern.count > 1 else { return true }
            // A second `**` would make the work grow with each one: it opens nothing.
            guard !pattern.dropFirst().contains("**"), path.count >= pattern.count - 1 else { return false }
            return matches(pattern.dropFirst(), path.suffix(pattern.count - 1))
        }
        guard let segment = path.first, first == "*" || first == segment else { return false }
        return matches(pattern.dropFirst(), path.dropFirst())
    }

    /// Nil for anything but an object whose only member `paths` is an object of rights.
    init?(_ node: JSONNode) {
        guard case .object(let members) = node.value, members.count == 1, members[0].name.value == "paths",
            case .object(let entries) = members[0].node.value, entries.count <= Self.mostPaths
        else { return nil }
        var paths: [Path] = []
        for entry in entries {
            let name = entry.name.value
            guard name.hasPrefix("/"), name.utf8.count <= 256, case .object(let rights) = entry.node.value else { return nil }
            var methods: Set<String>?
            for right in rights {
                switch (right.name.value, right.node.value) {
                case ("methods", .array(let elements)) where elements.count <= 16:
                    let names = elements.compactMap(\.plainText)
                    guard names.count == elements.count else { return nil }
                    methods = Set(names)
                case ("filters", .object): break
                default: return nil
                }
            }
            paths.append(Path(segments: Self.segments(name), methods: methods))
        }
        self.paths = paths
    }
}

/// Checks the tokens of one application, on any thread.
///
/// ```swift
/// let token = try TokenVerifier(key: publicKey, applicationID: id).verify(Array(text.utf8), at: now)
/// guard token.allows("GET", "/v1/users") else { … }
/// ```
///
/// - Source: RFC 7515, RFC 7519, RFC 8725; Vonage, "Authentication" and "JWT and ACL".
public struct TokenVerifier: Sendable {
    /// Seconds from `iat` to `exp` at most: 24 hours.
    public static let longestLifetime: Int64 = 86_400
    /// Seconds that a token without `exp` is good for: 15 minutes.
    public static let defaultLifetime: Int64 = 900
    /// Seconds that `iat` and `nbf` may lie ahead, since clocks differ. The end is never moved.
    public static let leeway: Int64 = 60
    /// Seconds since 1970 up to the end of the year 9999.
    private static let times: ClosedRange<Int64> = 0...253_402_300_799

    private let key: PublicKey
    private let applicationID: ApplicationID

    /// - Parameters:
    ///   - key: the public half of the application's key.
    ///   - applicationID: what the tokens must be for.
    public init(key: PublicKey, applicationID: ApplicationID) {
        self.key = key
        self.applicationID = applicationID
    }

    /// What a token says, once everything about it was found right.
    ///
    /// - Parameters:
    ///   - token: the compact form and nothing around it, at most 16 KiB.
    ///   - now: seconds since 1970.
    /// - Throws: `TokenRefusal` with the first fault, the signature before the claims.
    public func verify(_ token: [UInt8], at now: Int64) throws(TokenRefusal) -> VerifiedToken {
        let parts: CompactToken
        do throws(CompactTokenError) { parts = try CompactToken(0..<token.count, in: token.span) } catch {
            throw TokenRefusal(.malformed, "this is no token: \(error)")
        }
        try Self.checkHeader(Self.object(parts.header, of: token, "header"))
        var signature: [UInt8] = []
        guard signature.appendDecodedBase64URL(parts.signature, in: token.span) else {
            throw TokenRefusal(.malformed, "the signature is not base64url")
        }
        guard key.verify(signature, over: Array(token[parts.signed])) else {
            throw TokenRefusal(.signature, "the signature is not by this application's key")
        }
        return try check(Self.object(parts.payload, of: token, "payload"), at: now)
    }

    /// The members of an object in JSON in base64url, in which no key comes twice at any depth.
    private static func object(_ range: Range<Int>, of token: [UInt8], _ name: String) throws(TokenRefusal) -> [String: JSONNode] {
        var bytes: [UInt8] = []
        guard bytes.appendDecodedBase64URL(range, in: token.span) else {
            throw TokenRefusal(.malformed, "the \(name) is not base64url")
        }
        var copy: [UInt8] = []
        let root: JSONNode
        let isUnambiguous: Bool
        do throws(JSONError) {
            isUnambiguous = try minifyJSON(bytes.span, into: &copy, maximumDepth: 16).duplicateKey == nil
            root = try parseJSON(bytes.span, maximumDepth: 16)
        } catch {
            throw TokenRefusal(.malformed, "the \(name) is not JSON")
        }
        guard isUnambiguous else { throw TokenRefusal(.malformed, "the \(name) has a key twice") }
        guard case .object(let members) = root.value else { throw TokenRefusal(.malformed, "the \(name) is no object") }
        return Dictionary(members.map { ($0.name.value, $0.node) }) { first, _ in first }
    }

    private static func checkHeader(_ header: [String: JSONNode]) throws(TokenRefusal) {
        guard header["alg"]?.plainText == "RS256" else { throw TokenRefusal(.algorithm, "the algorithm is not RS256") }
        // RFC 7515 §4.1.11: what is not understood must be refused. A key that a token brings along is not looked at.
        guard header["crit"] == nil else { throw TokenRefusal(.algorithm, "it asks for extensions (crit)") }
        if let type = header["typ"] {
            guard type.plainText?.uppercased() == "JWT" else { throw TokenRefusal(.malformed, "its type (typ) is not JWT") }
        }
    }

    private func check(_ claims: [String: JSONNode], at now: Int64) throws(TokenRefusal) -> VerifiedToken {
        func time(_ name: String) throws(TokenRefusal) -> Int64? {
            guard let node = claims[name] else { return nil }
            guard case .number(let text) = node.value, let seconds = Int64(text), Self.times.contains(seconds) else {
                throw TokenRefusal(.claims, "\(name) is not whole seconds since 1970")
            }
            return seconds
        }
        guard let id = claims["application_id"]?.plainText else { throw TokenRefusal(.claims, "application_id is missing") }
        guard ApplicationID(id) == applicationID else { throw TokenRefusal(.application, "it is for another application") }
        guard let issued = try time("iat") else { throw TokenRefusal(.claims, "iat is missing") }
        guard let jti = claims["jti"]?.plainText, !jti.isEmpty else { throw TokenRefusal(.claims, "jti is missing") }
        let expires = try time("exp") ?? issued + Self.defaultLifetime
        guard expires > issued, expires - issued <= Self.longestLifetime else {
            throw TokenRefusal(.claims, "exp is not within the 24 hours after iat")
        }
        guard issued <= now + Self.leeway else { throw TokenRefusal(.notYetValid, "iat lies ahead: a clock is wrong") }
        if let start = try time("nbf"), start > now + Self.leeway { throw TokenRefusal(.notYetValid, "nbf lies ahead") }
        guard now < expires else { throw TokenRefusal(.expired, "it has expired") }
        var subject: String?
        if let node = claims["sub"] {
            guard let name = node.plainText, !name.isEmpty else { throw TokenRefusal(.claims, "sub is no name") }
            subject = name
        }
        var access: TokenAccess?
        if let node = claims["acl"] {
            access = TokenAccess(node)
            guard access != nil else { throw TokenRefusal(.claims, "acl is not {\"paths\":{…}} with its paths inside") }
        }
        return VerifiedToken(issued: issued, expires: expires, subject: subject, access: access)
    }
}

extension JSONNode {
    /// The text of a string; nil for anything else.
    fileprivate var plainText: String? {
        guard case .string(let string) = value else { return nil }
        return string.value
    }
}
