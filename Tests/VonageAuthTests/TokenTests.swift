// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import VonageAuth

let applicationID = "11111111-2222-4333-8444-555555555555"
let now: Int64 = 1_760_000_000

/// Numbers that are the same each time.
private struct Counter: RandomNumberGenerator {
    var state: UInt64 = 0
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return state
    }
}

private func id() throws -> ApplicationID { try ApplicationID(checking: applicationID) }

private func tokenID() -> TokenID {
    var counter = Counter()
    return TokenID(using: &counter)
}

/// Header and claims of a token as text, whose signature has been checked.
private func parts(_ token: String) throws -> (header: String, claims: String) {
    let bytes = Array(token.utf8)
    let token = try CompactToken(0..<bytes.count, in: bytes.span)
    var (header, claims, signature): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
    let isRead =
        header.appendDecodedBase64URL(token.header, in: bytes.span) && claims.appendDecodedBase64URL(token.payload, in: bytes.span)
        && signature.appendDecodedBase64URL(token.signature, in: bytes.span)
    try #require(isRead)
    #expect(try privateKey().publicKey.verify(signature, over: Array(bytes[token.signed])))
    return (String(decoding: header, as: UTF8.self), String(decoding: claims, as: UTF8.self))
}

struct TokenTests {
    private let jti = "9e3779b9-7f4a-4c15-bc6e-f372fe94f82a"

    @Test func `an application token has the claims of the reference in their order`() throws {
        let token = try ApplicationToken(applicationID: id()).signed(by: privateKey(), at: now, id: tokenID())
        let (header, claims) = try parts(token)
        #expect(header == "{\"alg\":\"RS256\",\"typ\":\"JWT\"}")
        #expect(claims == "{\"application_id\":\"\(applicationID)\",\"iat\":1760000000,\"exp\":1760000900,\"jti\":\"\(jti)\"}")
    }

    @Test func `a user token has eleven paths, and no slash is escaped`() throws {
        let token = try UserToken(applicationID: id(), user: "Zoë \"/\\").signed(by: privateKey(), at: now, id: tokenID())
        let paths = ["users", "conversations", "sessions", "devices", "image", "media", "applications", "push", "knocking", "legs", "rtc"]
        let acl = paths.map { "\"/*/\($0)/**\":{}" }.joined(separator: ",")
        #expect(
            try parts(token).claims
                == "{\"application_id\":\"\(applicationID)\",\"iat\":1760000000,\"exp\":1760021600,\"jti\":\"\(jti)\",\"sub\":\"Zoë \\\"/\\\\\",\"acl\":{\"paths\":{\(acl)}}}"
        )
    }

    @Test func `a video token has the claims of the reference in their order`() throws {
        let plain = try VideoToken(applicationID: id(), session: "1_MX4").signed(by: privateKey(), at: now, id: tokenID())
        let (front, back) = (
            "{\"application_id\":\"\(applicationID)\",\"scope\":\"session.connect\",\"session_id\":\"1_MX4\"",
            "\"sub\":\"video\",\"acl\":{\"paths\":{\"/session/**\":{}}},\"iat\":1760000000,\"exp\":1760086400,\"jti\":\"\(jti)\"}"
        )
        #expect(try parts(plain).claims == "\(front),\"role\":\"publisher\",\"initial_layout_class_list\":\"\",\(back)")
        let full = try VideoToken(
            applicationID: id(), session: "1_MX4", role: .publisherOnly, connectionData: "a\nb", layoutClasses: ["full", "focus"])
        #expect(
            try parts(full.signed(by: privateKey(), at: now, id: tokenID())).claims
                == "\(front),\"role\":\"publisheronly\",\"connection_data\":\"a\\nb\",\"initial_layout_class_list\":\"full focus\",\(back)")
    }

    @Test func `a lifetime out of range is refused in words, and never clamped`() throws {
        let id = try id()
        for (range, make) in [
            (30...86_400, { try ApplicationToken(applicationID: id, lifetime: $0).lifetime }),
            (60...86_400, { try UserToken(applicationID: id, user: "A", lifetime: $0).lifetime }),
            (60...2_592_000, { try VideoToken(applicationID: id, session: "s", lifetime: $0).lifetime }),
        ] as [(ClosedRange<Int64>, (Int64) throws -> Int64)] {
            for lifetime in [range.lowerBound, range.upperBound] { #expect(try make(lifetime) == lifetime) }
            for lifetime in [range.lowerBound - 1, range.upperBound + 1, 0, -1, .min, .max] {
                #expect(throws: TokenError.self) { try make(lifetime) }
            }
        }
        #expect(throws: TokenError("the lifetime is 5 s; it must be 60 s to 24 h")) {
            try UserToken(applicationID: id, user: "A", lifetime: 5)
        }
        #expect(throws: TokenError("the lifetime is 31 d; it must be 60 s to 30 d")) {
            try VideoToken(applicationID: id, session: "s", lifetime: 2_678_400)
        }
    }

    @Test func `a time without a date is refused`() throws {
        let token = try ApplicationToken(applicationID: id())
        for time in [-1, 253_402_300_800, .max, .min] as [Int64] {
            #expect(throws: TokenError.self) { try token.signed(by: privateKey(), at: time) }
        }
        _ = try token.signed(by: privateKey(), at: 0)
    }

    @Test(arguments: ["", " ", "\u{3000}", "a\nb", "a\u{7F}", String(repeating: "x", count: 101)])
    func `what is no user's name is refused`(_ name: String) throws {
        #expect(throws: TokenError.self) { try UserToken(applicationID: id(), user: name) }
    }

    @Test func `a user's name has up to a hundred characters of any script`() throws {
        for name in ["A", "NAM-77", "447700900123", String(repeating: "é", count: 100), "張偉"] {
            #expect(try UserToken(applicationID: id(), user: name).user == name)
        }
    }

    @Test func `what a video token cannot hold is refused`() throws {
        for session in ["", "a b", "é", String(repeating: "x", count: 501)] {
            #expect(throws: TokenError.self) { try VideoToken(applicationID: id(), session: session) }
        }
        _ = try VideoToken(applicationID: id(), session: "s", connectionData: String(repeating: "é", count: 1000))
        #expect(throws: TokenError("the connection data has 1001 characters; it may have 1000")) {
            try VideoToken(applicationID: id(), session: "s", connectionData: String(repeating: "é", count: 1001))
        }
        #expect(throws: TokenError.self) { try VideoToken(applicationID: id(), session: "s", layoutClasses: ["a b"]) }
        #expect(throws: TokenError.self) { try VideoToken(applicationID: id(), session: "s", layoutClasses: [""]) }
        #expect(throws: TokenError.self) {
            try VideoToken(applicationID: id(), session: "s", layoutClasses: [String](repeating: "abcd", count: 201))
        }
    }

    @Test func `ids are UUIDs of version 4 in lower case, and differ`() {
        var seen: Set<TokenID> = []
        for _ in 0..<1000 {
            let id = TokenID()
            let text = Array(id.description.utf8)
            #expect(isUUID(id.description) && id.description == id.description.lowercased())
            #expect(text[14] == UInt8(ascii: "4") && "89ab".utf8.contains(text[19]))
            seen.insert(id)
        }
        #expect(seen.count == 1000)
    }

    @Test func `each token has an id of its own`() throws {
        let claims = try UserToken(applicationID: id(), user: "A")
        #expect(try claims.signed(by: privateKey(), at: now) != claims.signed(by: privateKey(), at: now))
    }
}

struct ApplicationTokenSourceTests {
    @Test func `a token is kept until a minute before its end`() throws {
        let source = try ApplicationTokenSource(applicationID: id(), key: privateKey())
        let first = try source.token(at: now)
        #expect(try source.token(at: now) == first)
        #expect(try source.token(at: now + 839) == first)
        let second = try source.token(at: now + 840)
        #expect(second != first)
        #expect(try parts(second).claims.contains("\"exp\":1760001740"))
        #expect(try source.token(at: now + 841) == second)
    }

    @Test func `a clock that was put back gets a new one`() throws {
        let source = try ApplicationTokenSource(applicationID: id(), key: privateKey())
        let first = try source.token(at: now)
        let second = try source.token(at: now - 1)
        #expect(first != second)
        #expect(try source.token(at: now - 1) == second)
        #expect(throws: TokenError.self) { try source.token(at: -1) }
    }

    @Test func `many threads get good tokens`() throws {
        let source = try ApplicationTokenSource(applicationID: id(), key: privateKey())
        let key = try privateKey().publicKey
        DispatchQueue.concurrentPerform(iterations: 32) { round in
            let token = (try? source.token(at: now + Int64(round * 60))) ?? ""
            let inspection = TokenInspection(Array(token.utf8), at: now + Int64(round * 60), key: key)
            #expect(inspection.isValid == true)
            #expect((inspection.secondsLeft ?? 0) > 0)
        }
    }
}

struct AccessListTests {
    @Test func `what is given is kept, in order and without white space`() throws {
        #expect(try AccessList(paths: ["/b", "/a/**"]).json == "{\"paths\":{\"/b\":{},\"/a/**\":{}}}")
        let list = try AccessList(json: " {\"paths\": {\"/*/legs/**\": {\"methods\": [\"GET\", \"PATCH\"], \"filters\": {\"to\": 1}}}} ")
        #expect(list.json == "{\"paths\":{\"/*/legs/**\":{\"methods\":[\"GET\",\"PATCH\"],\"filters\":{\"to\":1}}}}")
        #expect(list.paths == ["/*/legs/**"])
        #expect(try AccessList(paths: AccessList.user.paths) == AccessList.user)
        #expect(AccessList.user.paths.count == 11 && AccessList.video.json == "{\"paths\":{\"/session/**\":{}}}")
    }

    @Test(arguments: [
        ("", "no JSON"), ("[]", "no object"), ("{}", "no member paths"), ("{\"/*/legs/**\":{}}", "one level down"),
        ("{\"paths\":{\"/a\":{}},\"x\":1}", "beside paths"), ("{\"paths\":{\"/a\":{}},\"paths\":{}}", "twice"),
        ("{\"paths\":[]}", "no object"),
        ("{\"paths\":{}}", "empty"), ("{\"paths\":{\"a\":{}}}", "begin with /"), ("{\"paths\":{\"/a b\":{}}}", "blanks"),
        ("{\"paths\":{\"/é\":{}}}", "ASCII"), ("{\"paths\":{\"/a\":[]}}", "no object; write {}"),
        ("{\"paths\":{\"/a\":{\"methods\":\"GET\"}}}", "no list"),
        ("{\"paths\":{\"/a\":{\"methods\":[\"get\"]}}}", "GET, POST, PUT, DELETE, PATCH"),
        ("{\"paths\":{\"/a\":{\"methods\":[7]}}}", "GET"), ("{\"paths\":{\"/a\":{\"filters\":7}}}", "filters"),
        ("{\"paths\":{\"/a\":{\"other\":7}}}", "methods and filters"), ("{\"paths\":{\"/a\":{},\"/a\":{}}}", "twice"),
        ("{\"paths\":{\"/a\":{\"methods\":[],\"methods\":[]}}}", "twice"), (String(repeating: " ", count: 8193), "8192"),
    ])
    func `a list that Vonage would not read is refused in words`(_ json: String, _ words: String) {
        let error = #expect(throws: TokenError.self) { try AccessList(json: json) }
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    }

    @Test func `lists have a bound`() throws {
        #expect(try AccessList(paths: (1...100).map { "/\($0)" }).paths.count == 100)
        #expect(throws: TokenError.self) { try AccessList(paths: (1...101).map { "/\($0)" }) }
        #expect(throws: TokenError.self) { try AccessList(paths: []) }
        #expect(throws: TokenError.self) { try AccessList(paths: ["/" + String(repeating: "x", count: 256)]) }
        #expect(throws: TokenError.self) { try AccessList(paths: ["/a", "/a"]) }
    }
}
