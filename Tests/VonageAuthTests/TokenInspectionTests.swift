// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import VonageAuth

private func encoded(_ text: String) -> String {
    var output: [UInt8] = []
    output.appendBase64URL(Array(text.utf8).span)
    return String(decoding: output, as: UTF8.self)
}

/// A token with any claims and header, signed by the throw-away key.
private func token(_ claims: String, header: String = "{\"alg\":\"RS256\",\"typ\":\"JWT\"}", key: String = "pkcs8") throws -> String {
    let signed = "\(encoded(header)).\(encoded(claims))"
    var output = Array("\(signed).".utf8)
    let signature = try privateKey(key).sign(Array(signed.utf8))
    output.appendBase64URL(signature.span)
    return String(decoding: output, as: UTF8.self)
}

private func inspect(_ token: String, at time: Int64 = now, withKey: Bool = true) throws -> TokenInspection {
    let key = try privateKey().publicKey
    let id = ApplicationID(applicationID)
    guard withKey else { return TokenInspection(Array(token.utf8), at: time, applicationID: id) }
    return TokenInspection(Array(token.utf8), at: time, key: key, applicationID: id)
}

/// Claims of a good user token, one of them replaced, left out (nil) or added.
private func claims(_ name: String = "", _ value: String? = nil, of kind: String = "user") -> String {
    var members = [
        ("application_id", "\"\(applicationID)\""), ("iat", "1760000000"), ("exp", "1760000900"), ("jti", "\"x\""),
    ]
    if kind == "user" { members += [("sub", "\"Alice\""), ("acl", AccessList.user.json)] }
    if kind == "video" {
        members += [
            ("scope", "\"session.connect\""), ("session_id", "\"s\""), ("role", "\"publisher\""), ("initial_layout_class_list", "\"\""),
            ("sub", "\"video\""), ("acl", AccessList.video.json),
        ]
    }
    if let at = members.firstIndex(where: { $0.0 == name }) {
        if let value { members[at].1 = value } else { members.remove(at: at) }
    } else if let value {
        members.append((name, value))
    }
    return "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
}

struct TokenInspectionTests {
    @Test func `tokens that are made here are valid, and of their kinds`() throws {
        let (id, key) = (try ApplicationID(checking: applicationID), try privateKey())
        let application = try ApplicationToken(applicationID: id).signed(by: key, at: now)
        let user = try UserToken(applicationID: id, user: "Alice").signed(by: key, at: now)
        let video = try VideoToken(applicationID: id, session: "s").signed(by: key, at: now)
        for (token, kind, words) in [
            (application, .application, "ends Thu, 09 Oct 2025 09:08:20 GMT, in 15 min"), (user, .user, "sessions (log in)"),
            (video, .video, "may watch, publish and signal"),
        ] as [(String, TokenInspection.Kind, String)] {
            let found = try inspect(token)
            #expect(found.kind == kind)
            #expect((found.isValid, found.signature, found.findings) == (true, .verified, []))
            #expect(found.text.contains(words) && found.json.contains("\"valid\":true"))
            // Without a key nothing is called valid.
            let unchecked = try inspect(token, withKey: false)
            #expect((unchecked.isValid, unchecked.signature) == (nil, .notChecked))
            #expect(unchecked.verdict.hasPrefix("not verified"))
            #expect(unchecked.json.contains("\"valid\":null"))
            // Nor with any byte changed.
            var changed = Array(token.utf8)
            changed[changed.count - 10] ^= 1
            #expect(TokenInspection(changed, at: now, key: key.publicKey).isValid == false)
        }
    }

    @Test func `what was copied along is taken off`() throws {
        let good = try token(claims())
        for text in ["\(good)\n", "  \(good)  ", "\"\(good)\"", "Bearer \(good)", "Authorization: Bearer \(good)\r\n", "bearer  '\(good)'"]
        {
            #expect(try inspect(text).isValid == true, "\(text.prefix(20))")
        }
    }

    @Test func `another key's token is refused, and so is one for another application`() throws {
        let found = try inspect(try token(claims(), key: "other"))
        #expect((found.isValid, found.signature) == (false, .wrong))
        #expect(found.findings.contains { $0.message.contains("not by this key") })
        #expect(try inspect(token(claims(), key: "4096")).findings.contains { $0.message.contains("512 bytes") })
        let other = try inspect(try token(claims("application_id", "\"99999999-2222-4333-8444-555555555555\"")))
        #expect((other.isValid, other.signature) == (false, .verified))
        #expect(other.findings.contains { $0.name == "application_id" && $0.message.contains("another application") })
        #expect(try inspect(token(claims("application_id", "\"\(applicationID.uppercased())\""))).isValid == true)
    }

    @Test(
        arguments: [
            ("iat", nil, "missing"), ("iat", "\"1760000000\"", "it is text"), ("iat", "1760000000.5", "no whole number"),
            ("iat", "1.76e9", "no whole number"), ("iat", "-1", "no whole number"), ("iat", "1760000061", "61 s in the future"),
            ("iat", "null", "no number"), ("exp", "\"1760000900\"", "it is text"), ("exp", "1760000000", "ended 0 s ago"),
            ("exp", "1759990000", "ended 2 h 46 min ago"), ("exp", "1760086401", "made for 24 h 1 s"),
            ("exp", "1760000029", "30 s at least"),
            ("exp", "99999999999999", "seconds, not milliseconds"), ("exp", "9223372036854775807", "Vonage takes 24 h at most"),
            ("exp", "9223372036854775808", "no whole number"), ("exp", "1\(String(repeating: "0", count: 400))", "no whole number"),
            ("exp", "[]", "no number"), ("nbf", "1760000100", "not good yet"), ("jti", nil, "missing"), ("jti", "7", "must be text"),
            ("application_id", nil, "missing"), ("application_id", "7", "no UUID"), ("sub", "\"\"", "1 to 100"),
            ("sub", "7", "must be text"),
            ("sub", "\"a\\u0000b\"", "control"), ("subject", "\"Alice\"", "named sub"), ("acl", nil, "missing"),
            ("acl", "{\"/*/legs/**\":{}}", "one level down"), ("acl", "{}", "no member paths"), ("acl", "{\"paths\":[]}", "no object"),
            ("acl", "{\"paths\":{\"legs\":{}}}", "begin with /"), ("acl", "{\"paths\":{\"/a\":{\"methods\":[\"GTE\"]}}}", "in capitals"),
        ] as [(String, String?, String)])
    func `a claim that Vonage would not take is an error`(_ name: String, _ value: String?, _ words: String) throws {
        let found = try inspect(try token(claims(name, value)))
        #expect((found.isValid, found.signature) == (false, .verified))
        #expect(found.findings.contains { $0.severity == .error && $0.name == name && $0.message.contains(words) }, "\(found.findings)")
        #expect(!found.text.contains("\nvalid"))
    }

    @Test(
        arguments: [
            ("scope", "\"x\"", "session.connect"), ("session_id", nil, "missing"), ("role", "\"owner\"", "subscriber, publisher"),
            ("subject", "\"video\"", "named sub"), ("data", "\"x\"", "connection_data"),
            ("initial_layout_class_list", "[\"a\"]", "it is a list"),
            ("connection_data", "\"\(String(repeating: "x", count: 1001))\"", "1000"), ("exp", "1762592001", "30 d at most"),
        ] as [(String, String?, String)])
    func `a video claim that is not as documented is an error`(_ name: String, _ value: String?, _ words: String) throws {
        let found = try inspect(try token(claims(name, value, of: "video")))
        #expect(found.kind == .video)
        #expect(found.findings.contains { $0.severity == .error && $0.name == name && $0.message.contains(words) }, "\(found.findings)")
    }

    @Test(
        arguments: [
            ("exp", nil, "user", "15 min"), ("iat", "1760000003", "user", "3 s in the future"), ("sub", nil, "user", "no user's token"),
            ("sub", "\"USR-1\"", "user", "id"), ("sub", "\"video\"", "user", "session_id"), ("sub", nil, "video", "\"video\""),
            ("acl", "{\"paths\":{\"/*/users/**\":{}}}", "user", "cannot log in"),
        ] as [(String, String?, String, String)])
    func `what may work all the same is a warning`(_ name: String, _ value: String?, _ kind: String, _ words: String) throws {
        let found = try inspect(try token(claims(name, value, of: kind)))
        #expect(found.isValid == true)
        #expect(found.findings.contains { $0.severity == .warning && $0.name == name && $0.message.contains(words) }, "\(found.findings)")
    }

    @Test func `without exp a token ends 15 minutes after its issue`() throws {
        let text = try token(claims("exp", nil))
        #expect(try inspect(text, at: now + 899).secondsLeft == 1)
        #expect(try inspect(text, at: now + 899).isValid == true)
        #expect(try inspect(text, at: now + 900).isValid == false)
    }

    @Test(arguments: [
        ("{\"alg\":\"none\"}", "no signature"), ("{\"alg\":\"None\"}", "no signature"), ("{\"alg\":\"nOnE\"}", "no signature"),
        ("{\"alg\":\"HS256\"}", "made with a secret"), ("{\"alg\":\"HS512\"}", "made with a secret"),
        ("{\"alg\":\"RS512\"}", "must be RS256"),
        ("{\"alg\":\"PS256\"}", "must be RS256"), ("{\"alg\":\"ES256\"}", "must be RS256"), ("{\"alg\":\"rs256\"}", "must be RS256"),
        ("{\"alg\":7}", "no algorithm"), ("{}", "no algorithm"), ("{\"alg\":\"RS256\",\"alg\":\"RS256\"}", "twice"),
        ("{\"alg\":\"RS256\",\"crit\":[\"b64\"],\"b64\":false}", "extensions"),
    ])
    func `an algorithm other than RS256 is refused though the signature would fit`(_ header: String, _ words: String) throws {
        let found = try inspect(try token(claims(), header: header))
        #expect((found.isValid, found.signature) == (false, .refused))
        #expect(found.findings.contains { $0.message.contains(words) }, "\(found.findings)")
    }

    @Test(arguments: ["jwk", "jku", "x5c", "x5u", "kid"])
    func `a key inside of a token is named and not followed`(_ name: String) throws {
        let header = "{\"alg\":\"RS256\",\"\(name)\":\"http://localhost/key\"}"
        #expect(try inspect(token(claims(), header: header, key: "other")).signature == .wrong)
        let found = try inspect(token(claims(), header: header))
        #expect(found.signature == .verified)
        #expect(found.findings.map(\.name) == [name])
    }

    @Test func `tokens that are signed with a secret are pointed to where they are checked`() throws {
        let webhook = "{\"iss\":\"Vonage\",\"iat\":1760000000,\"jti\":\"x\",\"api_key\":\"abcd1234\",\"payload_hash\":\"00\"}"
        let found = try inspect("\(encoded("{\"alg\":\"HS256\"}")).\(encoded(webhook)).c2ln")
        #expect((found.kind, found.isValid) == (.webhook, false))
        #expect(found.findings.count == 1 && found.findings[0].message.contains("switchboard token verify-webhook"))
        #expect(try inspect(token(webhook)).isValid == false)
        let old = try inspect("\(encoded("{\"alg\":\"HS256\"}")).\(encoded("{\"iss\":\"1\",\"ist\":\"project\"}")).c2ln")
        #expect(old.kind == .openTok)
        #expect(try inspect("T1==cGFydG5lcl9pZD0x").kind == .openTok)
    }

    @Test func `what is no token is refused in words and shows nothing`() throws {
        let good = try token(claims())
        let parts = good.split(separator: ".").map(String.init)
        for (text, words) in [
            ("", "three parts"), (".", "three parts"), ("..", "empty"), ("...", "more than three"), ("a.b.c", "not base64url"),
            ("\(parts[0]).\(parts[1])", "three parts"), ("\(parts[0]).\(parts[1]).", "signature is missing"),
            (good + ".x", "more than three"),
            ("\(parts[0])=.\(parts[1]).\(parts[2])", "padding"), ("\(parts[0]).\(parts[1])==.\(parts[2])", "padding"),
            ("\(good)=", "not base64url"), (good + "\u{0}", "not base64url"), ("ab+/.\(parts[1]).x", "plain alphabet"),
            ("\(encoded("{")).\(parts[1]).x", "not JSON"),
            ("\(encoded("[]")).\(parts[1]).x", "no object"), ("\(parts[0]).\(encoded("7")).x", "no object"),
            ("\(parts[0]).\(encoded(String(repeating: "[", count: 17))).x", "nesting"),
            (String(repeating: "A", count: 1_000_000), "1000000 bytes"),
            (String(repeating: ".", count: 16_000), "more than three"), ("\u{0}", "three parts"),
        ] {
            let found = try inspect(text)
            #expect(found.isValid == false)
            #expect(found.findings.contains { $0.message.contains(words) }, "\(text.prefix(40)): \(found.findings)")
            #expect(found.verdict.hasPrefix("not valid"))
        }
    }

    @Test func `duplicate claims are refused at any depth`() throws {
        for text in [
            claims().dropLast() + ",\"sub\":\"Bob\"}", claims().dropLast() + ",\"s\\u0075b\":\"Bob\"}",
            claims().dropLast() + ",\"x\":[{\"a\":1,\"a\":2}]}",
        ] {
            let found = try inspect(try token(String(text)))
            #expect(found.isValid == false && found.findings.contains { $0.message.contains("twice") })
        }
    }

    @Test func `what is shown is bounded and steers no terminal`() throws {
        let many = (0..<200).map { "\"c\($0)\":\"\\u001b[2J\u{202E}\"" }.joined(separator: ",")
        let found = try inspect(try token("{\(many),\"\\u001b]0;x\":1}"))
        #expect(found.claims.count == 64 && found.findings.count <= 32)
        for text in [found.text, found.json] {
            #expect(!text.unicodeScalars.contains { $0 != "\n" && ($0.value < 0x20 || $0.value == 0x202E) })
        }
        let long = try inspect(try token(claims("x", "\"\(String(repeating: "y", count: 5000))\"")))
        #expect(long.claims.allSatisfy { $0.value.count <= 202 })
    }

    @Test func `no beginning of a token, and none with a changed byte, is valid`() throws {
        let good = Array(try token(claims()).utf8)
        let key = try privateKey().publicKey
        for end in stride(from: 0, to: good.count, by: 3) {
            #expect(TokenInspection(Array(good[..<end]), at: now, key: key).isValid == false)
        }
        for at in stride(from: 0, to: good.count, by: 7) {
            var changed = good
            changed[at] = changed[at] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(TokenInspection(changed, at: now, key: key).isValid == false, "\(at)")
        }
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func `any time is borne`(_ time: Int64) throws {
        for text in [claims(), claims("exp", nil), claims("iat", "9223372036854775807"), claims("exp", "9223372036854775807")] {
            #expect(try inspect(token(text), at: time).isValid == false)
        }
    }
}

struct DurationTests {
    @Test(
        arguments: [
            (0, "0 s"), (1, "1 s"), (119, "119 s"), (120, "2 min"), (125, "2 min 5 s"), (900, "15 min"), (3600, "1 h"),
            (9960, "2 h 46 min"),
            (86_400, "24 h"), (90_000, "25 h"), (86_401, "24 h 1 s"), (180_000, "2 d 2 h"), (2_592_000, "30 d"), (-900, "-15 min"),
            (-5, "-5 s"), (.min, "-106751991167300 d 15 h"),
        ] as [(Int64, String)])
    func `a time is said in at most two units`(_ seconds: Int64, _ text: String) { #expect(duration(seconds) == text) }
}
