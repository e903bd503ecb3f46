// SPDX-License-Identifier: MIT

import Foundation
import Testing
import VonageAuth

private func base64URL(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}

/// A token whose parts are any text.
private func token(
    _ claims: String, header: String = #"{"alg":"RS256","typ":"JWT"}"#, key: String = "pkcs8"
) throws -> String {
    let signed = base64URL(header.utf8) + "." + base64URL(claims.utf8)
    return signed + "." + base64URL(try privateKey(key).sign(Array(signed.utf8)))
}

private func verifier() throws -> TokenVerifier {
    TokenVerifier(key: try privateKey().publicKey, applicationID: try #require(ApplicationID(applicationID)))
}

private func claims(_ more: String = "", iat: Int64 = now, exp: Int64? = now + 900) -> String {
    let end = exp.map { ",\"exp\":\($0)" } ?? ""
    return "{\"application_id\":\"\(applicationID)\",\"iat\":\(iat)\(end),\"jti\":\"a\"\(more)}"
}

struct TokenVerifierTests {
    @Test func `an application's token opens everything`() throws {
        let verified = try verifier().verify(Array(try token(claims()).utf8), at: now)
        #expect(verified.issued == now && verified.expires == now + 900)
        #expect(verified.subject == nil && verified.access == nil)
        #expect(verified.allows("DELETE", "/v1/users/USR-1"))
    }

    @Test func `what is made here is taken`() throws {
        let id = try #require(ApplicationID(applicationID))
        let key = try privateKey()
        let application = try ApplicationToken(applicationID: id).signed(by: key, at: now)
        #expect(try verifier().verify(Array(application.utf8), at: now).allows("POST", "/v1/users"))
        let user = try UserToken(applicationID: id, user: "Zoë \"Z\"").signed(by: key, at: now)
        let verified = try verifier().verify(Array(user.utf8), at: now)
        #expect(verified.subject == "Zoë \"Z\"" && verified.allows("GET", "/v1/legs/a") && !verified.allows("GET", "/v1/calls"))
    }

    @Test func `a token without an end is good for 15 minutes`() throws {
        let text = Array(try token(claims(exp: nil)).utf8)
        #expect(try verifier().verify(text, at: now + 899).expires == now + 900)
        let refusal = try #require(throws: TokenRefusal.self) { try verifier().verify(text, at: now + 900) }
        #expect(refusal.fault == .expired)
    }

    @Test func `a user's token opens the paths of its acl, and without one nothing`() throws {
        let access = #","sub":"Alice","acl":{"paths":{"/*/users/**":{},"/*/conversations/*/members/**":{"methods":["GET"],"filters":{}}}}"#
        let verified = try verifier().verify(Array(try token(claims(access)).utf8), at: now)
        #expect(verified.subject == "Alice")
        #expect(verified.allows("POST", "/v1/users"))
        #expect(verified.allows("GET", "/v1/users/USR-1/conversations"))
        #expect(verified.allows("GET", "/v1/conversations/CON-1/members"))
        #expect(!verified.allows("POST", "/v1/conversations/CON-1/members"))
        #expect(!verified.allows("GET", "/v1/conversations"))
        #expect(!verified.allows("GET", "/users"))
        #expect(!verified.allows("GET", "/v1/x/users"))
        let bare = try verifier().verify(Array(try token(claims(#","sub":"Alice""#)).utf8), at: now)
        #expect(!bare.allows("GET", "/v1/users"))
    }

    @Test(arguments: [
        ("/**", "/", true), ("/**", "/a/b", true), ("/*", "/a", true), ("/*", "/a/b", false), ("/a/**/z", "/a/z", true),
        ("/a/**/z", "/a/b/c/z", true), ("/a/**/z", "/a/b", false), ("/a/**/**", "/a/b", false), ("/a", "/a/", true), ("/a", "/b", false),
    ])
    func `stars in a path stand for one segment or for any number`(_ pattern: String, _ path: String, _ opens: Bool) throws {
        let text = try token(claims(",\"acl\":{\"paths\":{\"\(pattern)\":{}}}"))
        #expect(try verifier().verify(Array(text.utf8), at: now).allows("GET", path) == opens)
    }

    static let refused: [(String, TokenRefusal.Fault)] = [
        (claims(exp: now), .claims), (claims(exp: now - 1), .claims), (claims(iat: now - 1000, exp: now - 1), .expired),
        (claims(exp: now + 86_401), .claims), (claims(iat: now + 61, exp: now + 900), .notYetValid),
        (claims(",\"nbf\":\(now + 61)"), .notYetValid), (claims(#","nbf":"soon""#), .claims), (claims(#","sub":"""#), .claims),
        (claims(#","sub":7"#), .claims), (claims(#","acl":{}"#), .claims), (claims(#","acl":{"/*/users/**":{}}"#), .claims),
        (claims(#","acl":{"paths":{"users":{}}}"#), .claims), (claims(#","acl":{"paths":{"/a":[]}}"#), .claims),
        (claims(#","acl":{"paths":{"/a":{"methods":"GET"}}}"#), .claims), (claims(#","acl":{"paths":{"/a":{"other":{}}}}"#), .claims),
        (claims(#","acl":{"paths":{"/a":{},"/a":{}}}"#), .malformed), (claims(#","iat":1"#), .malformed),
        (claims().replacing("11111111", with: "21111111"), .application),
        (claims().replacing("\"jti\":\"a\"", with: "\"jti\":\"\""), .claims),
        (claims().replacing("application_id", with: "application"), .claims), (claims().replacing("\"iat\"", with: "\"at\""), .claims),
        (claims().replacing("\(now),", with: "\(now).5,"), .claims), (claims(iat: -1), .claims), (claims(exp: .max), .claims),
        (claims().replacing("\(now),", with: "99999999999999999999999,"), .claims), ("[]", .malformed), ("{", .malformed),
        ("", .malformed),
        (String(repeating: "[", count: 2000), .malformed),
    ]

    @Test(arguments: refused) func `claims that are wrong are refused with their fault`(_ text: String, _ fault: TokenRefusal.Fault) throws
    {
        let token = try token(text)
        let refusal = try #require(throws: TokenRefusal.self) { try verifier().verify(Array(token.utf8), at: now) }
        #expect(refusal.fault == fault, "\(refusal)")
    }

    @Test(arguments: [
        #"{"alg":"none"}"#, #"{"alg":"None"}"#, #"{"alg":"HS256"}"#, #"{"alg":"RS512"}"#, #"{"alg":"rs256"}"#, #"{"typ":"JWT"}"#,
        #"{"alg":["RS256"]}"#, #"{"alg":"RS256","crit":["exp"]}"#,
    ])
    func `any algorithm but RS256 is refused, whoever signed`(_ header: String) throws {
        let token = try token(claims(), header: header)
        let refusal = try #require(throws: TokenRefusal.self) { try verifier().verify(Array(token.utf8), at: now) }
        #expect(refusal.fault == .algorithm)
    }

    @Test func `another key, a changed payload and a changed signature are refused, and a key inside is not looked at`() throws {
        let good = try token(claims())
        let other = try token(claims(), header: #"{"alg":"RS256","jwk":{"kty":"RSA","n":"AQAB","e":"AQAB"},"kid":"../key"}"#, key: "other")
        var parts = good.split(separator: ".").map(String.init)
        parts[1] = base64URL(claims(#","sub":"Eve""#).utf8)
        let changed = parts.joined(separator: ".")
        for text in [other, changed, good + "AAAA"] {
            let refusal = try #require(throws: TokenRefusal.self) { try verifier().verify(Array(text.utf8), at: now) }
            #expect(refusal.fault == .signature, "\(refusal)")
        }
        _ = try verifier().verify(Array(try token(claims(), header: #"{"alg":"RS256","kid":"x"}"#).utf8), at: now)
    }

    @Test(arguments: [
        "", ".", "..", "...", "a", "a.b", "a.b.c", "a.b.c.d", "====.====.====", " ", "\u{0}.\u{0}.\u{0}", "e30.e30.", "e30.e30.e30",
        String(repeating: ".", count: 100), String(repeating: "a", count: 1_000_000),
    ])
    func `what is no token is refused in words that show nothing of it`(_ text: String) throws {
        let refusal = try #require(throws: TokenRefusal.self) { try verifier().verify(Array(text.utf8), at: now) }
        #expect(refusal.fault == .malformed || refusal.fault == .algorithm)
        #expect(refusal.description.utf8.count < 120)
    }

    @Test func `no prefix of a good token is one`() throws {
        let good = Array(try token(claims()).utf8)
        let verifier = try verifier()
        for count in 0..<good.count {
            #expect(throws: TokenRefusal.self) { try verifier.verify(Array(good.prefix(count)), at: now) }
        }
    }
}
