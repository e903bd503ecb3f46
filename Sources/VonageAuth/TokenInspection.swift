// SPDX-License-Identifier: MIT
//
// What a token says, in words, and what is wrong with it: for people whose log-in fails. The signature is checked against a key that the asker
// has, by RS256 and nothing else; a key, an address or a name of one inside of the token is named and never followed (RFC 8725 §3.1, §3.10).
// No token is called valid unless its signature was checked. `TokenInspection+Claims.swift` holds what is known of each claim.

internal import JSON
internal import NCCO

/// A token that somebody was given or has made, looked at.
///
/// - Source: RFC 7515, RFC 7519, RFC 8725; Vonage, "Authentication" and "JWT and ACL".
public struct TokenInspection: Sendable {
    /// What a token is for, as far as its claims say.
    public enum Kind: String, Hashable, Sendable {
        /// A server's own calls of Vonage's APIs.
        case application
        /// A log-in with the Client SDK.
        case user
        /// A video session.
        case video
        /// Sent by Vonage with a signed webhook; this inspection does not check those.
        case webhook
        /// OpenTok's, from before Vonage's applications.
        case openTok = "opentok"
        /// Not a token, or one of somebody else's.
        case unknown
    }

    /// What is known of the signature.
    public enum Signature: String, Hashable, Sendable {
        /// Made by the private half of the given key.
        case verified
        /// Made by another key, or the text was changed.
        case wrong
        /// No key was given, so anybody may have written the token.
        case notChecked = "not checked"
        /// Not RS256, or no signature at all: refused whatever the key.
        case refused
    }

    /// How much a finding matters.
    public enum Severity: String, Hashable, Sendable {
        /// Vonage refuses the token, or it does not do what it should.
        case error
        /// It may work, and is not as documented.
        case warning
    }

    /// Something that is wrong.
    public struct Finding: Hashable, Sendable, CustomStringConvertible {
        /// How much it matters.
        public let severity: Severity
        /// The claim or field of the header that it is about; nil for the token as a whole.
        public let name: String?
        /// What is wrong and what would be right, in one line.
        public let message: String
        /// `error exp: …`, in one line.
        public var description: String { "\(severity.rawValue)\(name.map { " \($0)" } ?? ""): \(message)" }
    }

    /// One claim or field of the header.
    public struct Claim: Hashable, Sendable {
        /// Its name, with anything that could steer a terminal escaped.
        public let name: String
        /// Its value as JSON on one line, cut after some 200 characters.
        public let value: String
        /// What it means; empty where nothing is known of it.
        public let words: String
    }

    /// What the token is for.
    public private(set) var kind = Kind.unknown
    /// What is known of its signature.
    public private(set) var signature = Signature.notChecked
    /// Fields of the header and claims, in the order of the token; at most 64 of each.
    public private(set) var header: [Claim] = []
    /// See `header`.
    public private(set) var claims: [Claim] = []
    /// What is wrong, at most 32 things; the first ones say most.
    public private(set) var findings: [Finding] = []
    /// Seconds from the given time until the token ends, negative since it ended; nil where that cannot be said.
    public private(set) var secondsLeft: Int64?

    /// Whether nothing is wrong and the signature was checked. Nil where no key was given and nothing is wrong: then nobody can say.
    public var isValid: Bool? {
        if findings.contains(where: { $0.severity == .error }) { return false }
        return signature == .verified ? true : nil
    }

    static let mostClaims = 64
    private static let mostFindings = 32

    /// Looks at a token.
    ///
    /// - Parameters:
    ///   - token: the compact form; white space around, quotes, and `Bearer` in front are taken off. Of more than 16 KiB nothing is read.
    ///   - now: seconds since 1970.
    ///   - key: checks the signature.
    ///   - applicationID: what the token should be for.
    public init(_ token: [UInt8], at now: Int64, key: PublicKey? = nil, applicationID: ApplicationID? = nil) {
        let text = Self.unwrapped(token)
        if text.starts(with: "T1==".utf8) {
            kind = .openTok
            signature = .refused
            add(.error, nil, "this is a token of OpenTok's old form; Vonage Video takes a JWT: switchboard token video SESSION")
            return
        }
        let parts: CompactToken
        do throws(CompactTokenError) { parts = try CompactToken(0..<text.count, in: text.span) } catch {
            signature = .refused
            add(.error, nil, "this is no token: \(error); a token is HEADER.PAYLOAD.SIGNATURE, some 1000 characters")
            return
        }
        guard let header = part(parts.header, of: text, "header"), let payload = part(parts.payload, of: text, "payload") else {
            signature = .refused
            return
        }
        self.header = header.prefix(Self.mostClaims).map { Claim($0, words: Self.words(ofHeader: $0)) }
        let names = Claims(payload)
        kind = names.kind
        checkHeader(header, names)
        checkSignature(parts, text, key)
        guard kind != .webhook, kind != .openTok else {
            claims = payload.prefix(Self.mostClaims).map { Claim($0, words: "") }
            return
        }
        var check = ClaimCheck(claims: names, kind: kind, now: now, applicationID: applicationID)
        claims = payload.prefix(Self.mostClaims).map { Claim($0, words: check.words(of: $0)) }
        check.run()
        secondsLeft = check.secondsLeft
        for finding in check.findings { add(finding.severity, finding.name, finding.message) }
    }

    private mutating func add(_ severity: Severity, _ name: String?, _ message: String) {
        guard findings.count < Self.mostFindings else { return }
        findings.append(Finding(severity: severity, name: name, message: message))
    }

    /// Without what came along when it was copied.
    private static func unwrapped(_ token: [UInt8]) -> [UInt8] {
        // Long texts are refused by their length, and not copied around before.
        guard token.count <= 2 * CompactToken.longest else { return token }
        var text = token[...]
        func isAround(_ byte: UInt8) -> Bool {
            byte == 0x20 || (0x09...0x0D).contains(byte) || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
        }
        func trim() {
            text = text.drop(while: isAround)
            while let last = text.last, isAround(last) { text = text.dropLast() }
        }
        trim()
        for word in ["authorization:", "bearer "] where text.count > word.utf8.count {
            if String(decoding: text.prefix(word.utf8.count), as: UTF8.self).lowercased() == word {
                text = text.dropFirst(word.utf8.count)
                trim()
            }
        }
        return Array(text)
    }

    /// The members of one part, which is an object in JSON in base64url.
    private mutating func part(_ range: Range<Int>, of text: [UInt8], _ name: String) -> [JSONNode.Member]? {
        var bytes: [UInt8] = []
        guard bytes.appendDecodedBase64URL(range, in: text.span) else {
            let part = text[range]
            let why =
                part.contains(UInt8(ascii: "="))
                ? "it has padding (=), and tokens have none"
                : part.contains(UInt8(ascii: "+")) || part.contains(UInt8(ascii: "/"))
                    ? "it is in the plain alphabet of base64, with + and /"
                    : "a character is missing, or none of its alphabet"
            add(.error, nil, "the \(name) is not base64url: \(why)")
            return nil
        }
        let root: JSONNode
        do throws(JSONError) { root = try parseJSON(bytes.span, maximumDepth: 16) } catch {
            add(.error, nil, "the \(name) is not JSON: \(error)")
            return nil
        }
        guard case .object(let members) = root.value else {
            add(.error, nil, "the \(name) is JSON, but no object")
            return nil
        }
        if let twice = Self.duplicate(in: root) {
            add(.error, nil, "the \(name) has \(printable(twice)) twice; readers differ in which one they take")
        }
        return members
    }

    /// The first key that comes twice in one object, at any depth.
    private static func duplicate(in root: JSONNode) -> String? {
        var open = [root]
        while let node = open.popLast() {
            switch node.value {
            case .object(let members):
                var seen: Set<String> = []
                for member in members where !seen.insert(member.name.value).inserted { return member.name.value }
                open += members.map(\.node)
            case .array(let elements): open += elements
            default: break
            }
        }
        return nil
    }

    private mutating func checkHeader(_ header: [JSONNode.Member], _ claims: Claims) {
        let algorithms = header.filter { $0.name.value == "alg" }
        let algorithm = algorithms.first?.node.text
        if algorithm != "RS256" || algorithms.count > 1 { signature = .refused }
        switch algorithm {
        case "RS256" where kind == .webhook || kind == .openTok:
            signature = .refused
            add(.error, "alg", "the claims are those of a token that is signed with a secret, and this one is not; nobody takes it")
        case "RS256": break
        case "HS256" where kind == .webhook:
            add(
                .error, "alg",
                "this came with a signed webhook of Vonage's and is signed with the signature secret; check it with switchboard token verify-webhook"
            )
        case "HS256" where kind == .openTok:
            add(
                .error, "alg",
                "this is a token of OpenTok's, signed with an API secret; Vonage Video takes one of an application: switchboard token video SESSION"
            )
        case nil: add(.error, "alg", "the header names no algorithm; it must be RS256")
        case let name? where name.lowercased() == "none":
            add(.error, "alg", "\(printable(name)) means no signature: anybody can write such a token")
        case let name? where name.hasPrefix("HS"):
            add(
                .error, "alg",
                "\(printable(name)) is made with a secret, and Vonage takes RS256, which is made with the application's private key")
        case let name?: add(.error, "alg", "\(printable(name)) is not what Vonage takes; it must be RS256")
        }
        for member in header {
            switch member.name.value {
            case "typ":
                if member.node.text?.uppercased() != "JWT" { add(.warning, "typ", "it should be JWT") }
            case "crit":
                // RFC 7515 §4.1.11: what is not understood must be refused.
                signature = .refused
                add(.error, "crit", "it asks for extensions that Vonage's tokens do not have")
            case "jwk", "jku", "x5c", "x5u":
                add(
                    .warning, member.name.value,
                    "the token brings a key of its own, which proves nothing and is not looked at; Vonage's tokens have no such field")
            case "kid", "x5t", "x5t#S256":
                add(.warning, member.name.value, "the token names a key, which is not looked for; Vonage's tokens have no such field")
            case "enc", "zip": add(.error, member.name.value, "this is for encrypted tokens, and Vonage's are signed")
            default: break
            }
        }
    }

    private mutating func checkSignature(_ parts: CompactToken, _ text: [UInt8], _ key: PublicKey?) {
        guard signature != .refused else { return }
        var bytes: [UInt8] = []
        guard !parts.signature.isEmpty, bytes.appendDecodedBase64URL(parts.signature, in: text.span) else {
            signature = .refused
            add(.error, nil, parts.signature.isEmpty ? "the signature is missing" : "the signature is not base64url; copy the token whole")
            return
        }
        guard let key else { return }
        if key.verify(bytes, over: Array(text[parts.signed])) {
            signature = .verified
        } else {
            signature = .wrong
            let size = (key.bits + 7) / 8
            add(
                .error, nil,
                bytes.count == size
                    ? "the signature is not by this key: the key belongs to another application, was replaced, or the token was changed"
                    : "the signature has \(bytes.count) bytes, and one by this key \(size): another key, or the token was cut")
        }
    }

    private static func words(ofHeader member: JSONNode.Member) -> String {
        switch member.name.value {
        case "alg": member.node.text == "RS256" ? "signed with an RSA key and SHA-256" : ""
        default: ""
        }
    }
}

extension TokenInspection.Claim {
    init(_ member: JSONNode.Member, words: String) {
        name = String(printable(member.name.value).dropFirst().dropLast())
        var output: [UInt8] = []
        member.node.encode(into: &output)
        var shown = ""
        for (count, scalar) in String(decoding: output, as: UTF8.self).unicodeScalars.enumerated() {
            guard count < 200 else {
                shown += "…"
                break
            }
            if steersTerminal(scalar) { shown += "\\u{\(String(scalar.value, radix: 16))}" } else { shown.unicodeScalars.append(scalar) }
        }
        value = shown
        self.words = words
    }
}

extension JSONNode {
    /// The text of a string; nil for anything else.
    var text: String? {
        guard case .string(let string) = value else { return nil }
        return string.value
    }

    /// Whole seconds that fit; nil for text, fractions, exponents and whatever is larger.
    var seconds: Int64? {
        guard case .number(let text) = value, text.utf8.count <= 19 else { return nil }
        return Int64(text)
    }
}
