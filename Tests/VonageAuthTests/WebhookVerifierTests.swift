// SPDX-License-Identifier: MIT

import Testing

@testable import VonageAuth

struct WebhookVerifierTests {
    private let body = Array(#"{"status":"ringing","uuid":"3f1b"}"#.utf8)
    private let query = "to=12025550100&from_user=alice&uuid=2a6f&custom_data=%7B%22note%22%3A%22caf%C3%A9+%26+co%22%7D"
    private let object = #"{"to":"12025550100","from_user":"alice","uuid":"2a6f","custom_data":"{\"note\":\"café & co\"}"}"#

    // MARK: Believed

    @Test func `a POST and a GET as Vonage sends them are believed`() throws {
        let vectors = try WebhookVectors.read()
        let verifier = WebhookVerifier(
            secrets: SignatureSecrets(secret: Array(vectors.secret.utf8)), applicationID: "AAAAAAAA-bbbb-4ccc-8ddd-eeeeeeeeeeee")
        let claims = try verifier.verify(
            authorization: "Bearer \(vectors.post.token)", payload: .post(body: Array(vectors.post.body.utf8)), now: vectors.now)
        #expect(
            claims
                == WebhookClaims(
                    issuedAt: vectors.now, apiKey: "abcd1234", applicationID: "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee",
                    id: "7c0b1f0e-2a56-4a5d-8f2c-1f6f0f0c9d11"))
        #expect(verifier.refusal("bearer  \(vectors.get.token)", .get(query: vectors.get.query), now: vectors.now) == nil)
        // Each with what belongs to the other.
        #expect(
            verifier.refusal("Bearer \(vectors.get.token)", .post(body: Array(vectors.post.body.utf8)), now: vectors.now) == .payloadChanged
        )
        #expect(verifier.refusal("Bearer \(vectors.post.token)", .get(query: vectors.get.query), now: vectors.now) == .payloadChanged)
    }

    @Test func `the object of a query is written as JavaScript does`() throws {
        let vectors = try WebhookVectors.read()
        for (query, object) in [
            (vectors.get.query, vectors.get.object), (query, object), ("", "{}"), ("a", #"{"a":""}"#),
            ("a=%E2%80%A8%7F%1f%00%5C%2F&b=%FF", "{\"a\":\"\u{2028}\u{7F}\\u001f\\u0000\\\\/\",\"b\":\"\u{FFFD}\"}"),
        ] {
            var payload = QueryPayload()
            let bytes = Array(query.utf8)
            payload.read(0..<bytes.count, in: bytes.span)
            #expect(String(decoding: payload.json, as: UTF8.self) == object)
        }
    }

    @Test func `the same webhook again is believed`() throws {
        let checker = try WebhookChecker(.ofTests())
        let bearer = try HandmadeToken().over(body).bearer()
        for _ in 0..<3 { _ = try checker.verify(authorization: bearer, payload: .post(body: body), now: HandmadeToken.now) }
    }

    @Test func `after a refusal the next webhook is judged for itself`() throws {
        let checker = try WebhookChecker(.ofTests())
        let good = try HandmadeToken().over(body).bearer()
        for bad in [nil, "Bearer a.b.c", try HandmadeToken(secret: "another").over(body).bearer(), try HandmadeToken().bearer()] {
            #expect(throws: WebhookRefusal.self) {
                try checker.verify(authorization: bad, payload: .post(body: body), now: HandmadeToken.now)
            }
            _ = try checker.verify(authorization: good, payload: .post(body: body), now: HandmadeToken.now)
        }
    }

    @Test func `parameters of the answer URL itself may be part of the hash or not`() throws {
        let verifier = WebhookVerifier.ofTests()
        let whole = "tenant=7&region=eu&" + query
        let inside = try HandmadeToken().over(object.utf8).bearer()
        #expect(verifier.refusal(inside, .get(query: whole)) == nil)
        let all = try HandmadeToken().over((#"{"tenant":"7","region":"eu","# + object.dropFirst()).utf8).bearer()
        #expect(verifier.refusal(all, .get(query: whole)) == nil)
        // None that comes again, though the hash does not cover it, and none that could be taken for a part of what Vonage sends.
        #expect(verifier.refusal(inside, .get(query: "tenant=7&tenant=8&" + query)) == .repeatedParameter)
        #expect(verifier.refusal(inside, .get(query: "dtmf.digits=1&" + query)) == .payloadChanged)
        // Only in front, and none that Vonage sends itself.
        #expect(verifier.refusal(inside, .get(query: query + "&tenant=7")) == .payloadChanged)
        #expect(verifier.refusal(inside, .get(query: "from=1&" + query)) == .payloadChanged)
    }

    @Test(arguments: ["to=1&to=2", "to=1&%74o=2", "to=1&a=2&a=2"])
    func `a parameter that comes twice never verifies`(query: String) throws {
        var payload = QueryPayload()
        let bytes = Array(query.utf8)
        payload.read(0..<bytes.count, in: bytes.span)
        let bearer = try HandmadeToken().over(payload.json).bearer()
        #expect(WebhookVerifier.ofTests().refusal(bearer, .get(query: query)) == .repeatedParameter)
    }

    @Test func `a POST whose parameters are in its query is hashed like a GET`() throws {
        let verifier = WebhookVerifier.ofTests()
        let asObject = try HandmadeToken().over(object.utf8).bearer()
        #expect(verifier.refusal(asObject, .post(body: [], query: query)) == nil)
        let empty = try HandmadeToken().over([]).bearer()
        #expect(verifier.refusal(empty, .post(body: [], query: query)) == .payloadChanged)
        #expect(verifier.refusal(empty, .post(body: [])) == nil)
        #expect(verifier.refusal(asObject, .post(body: body, query: query)) == .payloadChanged)
    }

    // MARK: The hash

    @Test func `every changed byte of a body is noticed`() throws {
        let verifier = WebhookVerifier.ofTests()
        let bearer = try HandmadeToken().over(body).bearer()
        for index in body.indices {
            var changed = body
            changed[index] ^= 1
            #expect(verifier.refusal(bearer, .post(body: changed)) == .payloadChanged)
        }
        #expect(verifier.refusal(bearer, .post(body: body + [0x0A])) == .payloadChanged)
        #expect(verifier.refusal(bearer, .post(body: [])) == .payloadChanged)
    }

    @Test func `without a hash nothing is believed of a body or query, unless that is asked for`() throws {
        var verifier = WebhookVerifier.ofTests()
        let bearer = try HandmadeToken().bearer()
        #expect(verifier.refusal(bearer, .post(body: body)) == .noPayloadHash)
        #expect(verifier.refusal(bearer, .get(query: query)) == .noPayloadHash)
        #expect(verifier.refusal(bearer, .post(body: [], query: query)) == .noPayloadHash)
        #expect(verifier.refusal(bearer, .get(query: "")) == nil)
        verifier.requiresPayloadHash = false
        #expect(verifier.refusal(bearer, .post(body: body)) == nil)
        // One that is there must fit all the same.
        #expect(verifier.refusal(try HandmadeToken().over([]).bearer(), .post(body: body)) == .payloadChanged)
    }

    // MARK: Time

    @Test func `iat counts within the leeway, either way, and the difference is named`() throws {
        var verifier = WebhookVerifier.ofTests()
        verifier.leeway = 300
        for (age, refusal) in [
            (0, nil), (300, nil), (-300, nil), (301, .stale(seconds: 301, leeway: 300)), (-301, .stale(seconds: -301, leeway: 300)),
        ] as [(Int64, WebhookRefusal?)] {
            let token = try HandmadeToken().with("iat", "\(HandmadeToken.now - age)").bearer()
            #expect(verifier.refusal(token, .get(query: "")) == refusal, "\(age)")
        }
        #expect(WebhookRefusal.stale(seconds: 412, leeway: 300).description.contains("clock is 412 s ahead"))
        #expect(WebhookRefusal.stale(seconds: -412, leeway: 300).description.contains("clock is 412 s behind"))
        let expired = try HandmadeToken().with("exp", "\(HandmadeToken.now - 400)").bearer()
        #expect(verifier.refusal(expired, .get(query: "")) == .notInForce)
        let early = try HandmadeToken().with("nbf", "\(HandmadeToken.now + 400)").bearer()
        #expect(verifier.refusal(early, .get(query: "")) == .notInForce)
    }

    @Test(arguments: [nil, "\"1800000000\"", "null", "true", "1e9", "-1800000000", "9999999999999999", "{}", "[1800000000]"])
    func `an iat that is no time is refused`(json: String?) throws {
        let refusal = WebhookVerifier.ofTests().refusal(try HandmadeToken().with("iat", json).bearer(), .get(query: ""))
        guard case .malformed(let why) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(why.contains("iat"))
    }

    @Test func `a fraction of a second is let pass`() throws {
        #expect(WebhookVerifier.ofTests().refusal(try HandmadeToken().with("iat", "1800000000.25").bearer(), .get(query: "")) == nil)
    }

    // MARK: Whose

    @Test func `the secret is chosen by the api key`() throws {
        let secrets = try SignatureSecrets("abcd1234=first-secret, 00000001=second-secret")
        let verifier = WebhookVerifier(secrets: secrets)
        func refusal(_ key: String?, _ secret: String) throws -> WebhookRefusal? {
            var token = HandmadeToken().with("api_key", key.map { "\"\($0)\"" })
            token.secret = secret
            return verifier.refusal(try token.bearer(), .get(query: ""))
        }
        #expect(try refusal("abcd1234", "first-secret") == nil)
        #expect(try refusal("ABCD1234", "first-secret") == nil)
        #expect(try refusal("00000001", "second-secret") == nil)
        #expect(try refusal("00000001", "first-secret") == .wrongSecret)
        #expect(try refusal("00000002", "first-secret") == .otherAPIKey)
        #expect(try refusal(nil, "first-secret") == .otherAPIKey)
    }

    @Test func `a secret without a key goes with all keys that have none of their own`() throws {
        let verifier = WebhookVerifier(secrets: try SignatureSecrets("abcd1234=first-secret\nfor-all-others"))
        func refusal(_ key: String, _ secret: String) throws -> WebhookRefusal? {
            var token = HandmadeToken().with("api_key", "\"\(key)\"")
            token.secret = secret
            return verifier.refusal(try token.bearer(), .get(query: ""))
        }
        #expect(try refusal("abcd1234", "first-secret") == nil)
        #expect(try refusal("abcd1234", "for-all-others") == .wrongSecret)
        #expect(try refusal("99999999", "for-all-others") == nil)
    }

    @Test func `another application is refused where ours is known`() throws {
        var verifier = WebhookVerifier.ofTests()
        let other = try HandmadeToken().with("application_id", "\"00000000-0000-4000-8000-000000000000\"").bearer()
        #expect(verifier.refusal(other, .get(query: "")) == .otherApplication)
        #expect(verifier.refusal(try HandmadeToken().with("application_id", nil).bearer(), .get(query: "")) == nil)
        verifier.applicationID = nil
        #expect(verifier.refusal(other, .get(query: "")) == nil)
    }

    // MARK: Forged

    @Test(arguments: [
        #"{"alg":"none"}"#, #"{"alg":"None"}"#, #"{"alg":"hs256"}"#, #"{"alg":"HS512"}"#, #"{"alg":"RS256"}"#, #"{"typ":"JWT"}"#,
        #"{"alg":["HS256"]}"#, #"{"alg":null}"#, #"{"alg":"HS256\u0000"}"#,
    ])
    func `no algorithm but HS256 is ever believed, however it is signed`(header: String) throws {
        var token = HandmadeToken()
        token.header = header
        #expect(WebhookVerifier.ofTests().refusal(try token.bearer(), .get(query: "")) == .algorithm)
    }

    @Test(arguments: [
        #"{"alg":"HS256","alg":"none"}"#, #"{"alg":"HS256","crit":["exp"]}"#, #"{"alg":"HS256""#, #"["HS256"]"#, "HS256", "",
        #"{"alg":"HS256","x":[[[[[[[[[]]]]]]]]]}"#,
    ])
    func `a header that is no plain object is refused`(header: String) throws {
        var token = HandmadeToken()
        token.header = header
        guard case .malformed = WebhookVerifier.ofTests().refusal(try token.bearer(), .get(query: "")) else {
            Issue.record("not refused as malformed")
            return
        }
    }

    @Test func `claims that come twice are refused`() throws {
        var token = HandmadeToken()
        token.claims.append(("iat", "1"))
        guard case .malformed(let why) = WebhookVerifier.ofTests().refusal(try token.bearer(), .get(query: "")) else {
            Issue.record("not refused as malformed")
            return
        }
        #expect(why.contains("twice"))
    }

    @Test(arguments: [
        nil, "", "Bearer", "Bearer ", "Bearer    ", "Basic YTpi", "Token abc", "abc",
    ])
    func `no bearer is missing, and nothing else`(field: String?) {
        #expect(WebhookVerifier.ofTests().refusal(field, .get(query: "")) == .missing)
    }

    @Test func `a token that is cut, padded or stretched is refused`() throws {
        let verifier = WebhookVerifier.ofTests()
        let text = try HandmadeToken().text()
        for end in text.indices { #expect(verifier.refusal("Bearer \(text[..<end])", .get(query: "")) != nil) }
        for stray in ["=", "==", ".", ".x", " ", "A", "\n", "é"] {
            #expect(verifier.refusal("Bearer \(text)\(stray)", .get(query: "")) != nil, "\(stray)")
        }
        let long = String(repeating: "A", count: 1_000_000)
        guard case .malformed(let why) = verifier.refusal("Bearer \(long).\(long).\(long)", .get(query: "")) else {
            Issue.record("not refused as malformed")
            return
        }
        #expect(why.contains("bytes"))
    }

    @Test func `every changed character of a token is noticed`() throws {
        let verifier = WebhookVerifier.ofTests()
        let text = Array(try HandmadeToken().text().utf8)
        for index in text.indices {
            var changed = text
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(verifier.refusal("Bearer \(String(decoding: changed, as: UTF8.self))", .get(query: "")) != nil, "\(index)")
        }
    }

    @Test func `no refusal shows the secret or what came`() throws {
        let token = try HandmadeToken(secret: "another").over(body).text()
        let refusals = [
            WebhookVerifier.ofTests().refusal("Bearer \(token)", .post(body: body)),
            WebhookVerifier.ofTests().refusal("Bearer a.\(token)", .post(body: body)),
        ]
        for refusal in refusals.compactMap(\.self) {
            #expect(!refusal.description.contains(HandmadeToken.secret))
            #expect(!refusal.description.contains(token.prefix(20)))
        }
        #expect(refusals.count == 2)
        let secrets = try SignatureSecrets("abcd1234=hidden-secret")
        var dumped = ""
        dump(secrets, to: &dumped)
        for text in ["\(secrets)", String(reflecting: secrets), dumped] { #expect(!text.contains("hidden")) }
    }
}

struct SignatureSecretsTests {
    private func pairs(_ text: String) throws -> [String] {
        try SignatureSecrets(text).entries.map { "\($0.apiKey ?? "*")|\(String(decoding: $0.secret, as: UTF8.self))" }
    }

    @Test func `one secret or pairs, however they are laid out`() throws {
        #expect(try pairs("  s3cret\r\n") == ["*|s3cret"])
        #expect(try pairs("\u{FEFF}abcd1234=x") == ["abcd1234|x"])
        #expect(try pairs("ABCD1234=x,00000000=y") == ["abcd1234|x", "00000000|y"])
        #expect(try pairs("abcd1234=x\n\n 00000000=y \n") == ["abcd1234|x", "00000000|y"])
        #expect(try pairs("abcd1234=a,b,00000000=c=d") == ["abcd1234|a,b", "00000000|c=d"])
    }

    @Test func `what stands before an equals sign is a key only with eight hexadecimal digits`() throws {
        #expect(try pairs("mykey=x") == ["*|mykey=x"])
        #expect(try pairs("abcd123=x") == ["*|abcd123=x"])
        #expect(try pairs("abcd12345=x") == ["*|abcd12345=x"])
        #expect(try pairs("a,b=c,d") == ["*|a,b=c,d"])
    }

    @Test(arguments: ["", " \n ", "abcd1234=", "abcd1234=x,ABCD1234=y", "one\ntwo", String(repeating: "x", count: 1025)])
    func `what holds no usable secret is refused without showing it`(text: String) throws {
        let error = try #require(throws: SignatureSecretsError.self) { try SignatureSecrets(text) }
        #expect(!error.description.isEmpty)
        #expect(!error.description.contains("xxxx"))
    }

    @Test func `what looks like a mistake is said`() throws {
        #expect(try SignatureSecrets("test-signature-secret-0123456789abcdef").warnings.isEmpty)
        #expect(try SignatureSecrets("short").warnings.count == 1)
        #expect(try SignatureSecrets("\"test-signature-secret-0123456789\"").warnings.count == 1)
        #expect(try SignatureSecrets("abcd1234=test-signature secret-0123456789").warnings.first?.contains("abcd1234") == true)
    }
}
