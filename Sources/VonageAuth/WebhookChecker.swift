// SPDX-License-Identifier: MIT
//
// The check itself, for one thread. Everything that comes is bounded and nothing is believed before the signature fits: claims are read first only
// to know whose secret it should be. OpenSSL's contexts and all buffers are used again, and the texts of a refusal are made by who shows them.

internal import HTTPWire
internal import JSON

/// Checks webhooks one after another; for one thread.
public final class WebhookChecker {
    /// Places in the claims' text, and numbers.
    private struct Claims {
        var issuedAt: Int64?
        var expires: Int64?
        var notBefore: Int64?
        var apiKey: Range<Int>?
        var applicationID: Range<Int>?
        var id: Range<Int>?
        var payloadHash: Digest256?
    }

    /// One part of a token, decoded; JSON must be whole and without repeats.
    private struct Part {
        var decoded: [UInt8] = []
        var json: [UInt8] = []

        mutating func read(_ range: Range<Int>, in text: Span<UInt8>, _ name: StaticString) throws(WebhookRefusal) {
            decoded.removeAll(keepingCapacity: true)
            json.removeAll(keepingCapacity: true)
            guard decoded.appendDecodedBase64URL(range, in: text) else { throw .malformed("its \(name) is not base64url") }
            // A reference for the time of the call, so that the other buffer may be written to.
            let bytes = decoded
            guard let summary = try? minifyJSON(bytes.span, into: &json, maximumDepth: 8), summary.kind == .object else {
                throw .malformed("its \(name) is no JSON object")
            }
            guard summary.duplicateKey == nil else { throw .malformed("its \(name) has a name twice") }
        }
    }

    /// Vonage's tokens have some 600 bytes; claims are read before it is known whose they are.
    private static let longestToken = 4096

    private let verifier: WebhookVerifier
    private let hash: SHA256
    /// In the order of the secrets.
    private let macs: [HMACSHA256]
    private var header = Part()
    private var goodHeader: [UInt8] = []
    private var payload = Part()
    private var signature: [UInt8] = []
    private var query = QueryPayload()
    private var claims = Claims()

    /// - Throws: `CryptographyError` where OpenSSL is not what it should be.
    public init(_ verifier: WebhookVerifier) throws(CryptographyError) {
        self.verifier = verifier
        hash = try SHA256()
        var macs: [HMACSHA256] = []
        for entry in verifier.secrets.entries { macs.append(try HMACSHA256(key: entry.secret)) }
        self.macs = macs
    }

    /// As `WebhookVerifier.verify`.
    public func verify(
        authorization: String?, payload: WebhookVerifier.Payload, now: Int64
    ) throws(WebhookRefusal) -> WebhookClaims {
        // One text with both, as in a request's head.
        let field = Array((authorization ?? "").utf8)
        switch payload {
        case .post(let body, let query):
            let text = field + Array(query.utf8)
            try check(
                authorization: authorization == nil ? nil : 0..<field.count, query: field.count..<text.count, in: text.span,
                body: body.span,
                isPost: true, now: now)
        case .get(let query):
            let text = field + Array(query.utf8)
            try check(
                authorization: authorization == nil ? nil : 0..<field.count, query: field.count..<text.count, in: text.span, body: Span(),
                isPost: false, now: now)
        }
        return lastClaims
    }

    /// The claims of the token that was checked last.
    public var lastClaims: WebhookClaims {
        func text(_ range: Range<Int>?) -> String? {
            range.map { range in
                let json = self.payload.json
                var plain: [UInt8] = []
                decodeJSONString(range, in: json.span, into: &plain)
                return String(decoding: plain, as: UTF8.self)
            }
        }
        return WebhookClaims(
            issuedAt: claims.issuedAt ?? 0, apiKey: text(claims.apiKey), applicationID: text(claims.applicationID), id: text(claims.id))
    }

    /// Checks one webhook whose parts lie in a request's bytes.
    ///
    /// - Parameters:
    ///   - authorization: the value of the field.
    ///   - query: what stands behind `?`.
    ///   - isPost: whether the body, and not the query, is what Vonage sent.
    ///   - now: seconds since 1970 in UTC.
    package func check(
        authorization: Range<Int>?, query: Range<Int>?, in text: Span<UInt8>, body: Span<UInt8>, isPost: Bool, now: Int64
    ) throws(WebhookRefusal) {
        claims = Claims()
        guard let token = authorization.flatMap({ bearer($0, in: text) }) else { throw .missing }
        guard token.count <= Self.longestToken else { throw .malformed("it has more than \(Self.longestToken) bytes") }
        let parts: CompactToken
        do throws(CompactTokenError) { parts = try CompactToken(token, in: text) } catch { throw .malformed(error.description) }

        try readHeader(parts.header, in: text)
        signature.removeAll(keepingCapacity: true)
        guard signature.appendDecodedBase64URL(parts.signature, in: text), let sent = Digest256(signature.span) else {
            throw .malformed("its signature has not the 32 bytes of HS256")
        }
        try readClaims(parts.payload, in: text)
        guard let made = try mac(for: claims.apiKey).authenticate(text.extracting(parts.signed)) else { throw .unchecked }
        guard made.equals(sent) else { throw .wrongSecret }

        try checkApplication()
        try checkTime(now)
        try checkPayload(query.flatMap { $0.isEmpty ? nil : $0 }, in: text, body, isPost: isPost)
    }

    private func bearer(_ field: Range<Int>, in text: Span<UInt8>) -> Range<Int>? {
        var start = field.lowerBound + 7
        guard start < field.upperBound, text.equalsIgnoringCase("bearer ", at: field.lowerBound..<start) else { return nil }
        while start < field.upperBound, text[start] == UInt8(ascii: " ") { start += 1 }
        return start < field.upperBound ? start..<field.upperBound : nil
    }

    private func readHeader(_ range: Range<Int>, in text: Span<UInt8>) throws(WebhookRefusal) {
        // Vonage's header is always the same text: one that was found good is not read again.
        let known = goodHeader
        if constantTimeEquals(text.extracting(range), known.span) { return }
        try header.read(range, in: text, "header")
        let json = header.json
        let bytes = json.span
        var members = JSONMembers(in: bytes)
        var isHS256 = false
        while let member = members.next(in: bytes) {
            if bytes.equalsExactly("alg", at: member.name) {
                isHS256 = bytes.equalsExactly("\"HS256\"", at: member.value)
            } else if bytes.equalsExactly("crit", at: member.name) {
                // RFC 7515 §4.1.11: what must be understood and is not.
                throw .malformed("its header asks for extensions")
            }
        }
        guard isHS256 else { throw .algorithm }
        goodHeader = Array(copying: text.extracting(range))
    }

    private func readClaims(_ range: Range<Int>, in text: Span<UInt8>) throws(WebhookRefusal) {
        try payload.read(range, in: text, "payload")
        let json = payload.json
        let bytes = json.span
        var found = Claims()
        var members = JSONMembers(in: bytes)
        while let member = members.next(in: bytes) {
            let (name, value) = (member.name, member.value)
            switch name.count {
            case 3 where bytes.equalsExactly("iat", at: name): found.issuedAt = try seconds(value, in: bytes, "iat")
            case 3 where bytes.equalsExactly("exp", at: name): found.expires = try seconds(value, in: bytes, "exp")
            case 3 where bytes.equalsExactly("nbf", at: name): found.notBefore = try seconds(value, in: bytes, "nbf")
            case 3 where bytes.equalsExactly("jti", at: name): found.id = try string(value, in: bytes, "jti")
            case 7 where bytes.equalsExactly("api_key", at: name): found.apiKey = try string(value, in: bytes, "api_key")
            case 12 where bytes.equalsExactly("payload_hash", at: name):
                guard let hash = Digest256(hex: bytes.extracting(try string(value, in: bytes, "payload_hash"))) else {
                    throw .malformed("its claim payload_hash is not the 64 hexadecimal digits of a SHA-256")
                }
                found.payloadHash = hash
            case 14 where bytes.equalsExactly("application_id", at: name):
                found.applicationID = try string(value, in: bytes, "application_id")
            default: continue
            }
        }
        claims = found
    }

    /// A NumericDate (RFC 7519 §2); a fraction is let pass and not counted.
    private func seconds(_ value: Range<Int>, in text: Span<UInt8>, _ name: StaticString) throws(WebhookRefusal) -> Int64 {
        var number: Int64 = 0
        var at = value.lowerBound
        // More digits than these are no time.
        while at < value.upperBound, at - value.lowerBound < 15, case let digit = text[at] &- 0x30, digit < 10 {
            number = number * 10 + Int64(digit)
            at += 1
        }
        let isWhole = at == value.upperBound && at > value.lowerBound
        let hasFraction = at > value.lowerBound && at < value.upperBound && text[at] == UInt8(ascii: ".")
        guard isWhole || hasFraction else { throw .malformed("its claim \(name) is no time in seconds") }
        return number
    }

    /// Inside of the quotes.
    private func string(_ value: Range<Int>, in text: Span<UInt8>, _ name: StaticString) throws(WebhookRefusal) -> Range<Int> {
        guard text[value.lowerBound] == UInt8(ascii: "\"") else { throw .malformed("its claim \(name) is no text") }
        return value.lowerBound + 1..<value.upperBound - 1
    }

    /// The secret of the account that the token names; one that is set without a key goes with all others.
    private func mac(for apiKey: Range<Int>?) throws(WebhookRefusal) -> HMACSHA256 {
        let json = payload.json
        let bytes = json.span
        var any: Int?
        for (index, entry) in verifier.secrets.entries.enumerated() {
            guard let key = entry.apiKey else {
                any = index
                continue
            }
            if let apiKey, isEqual(apiKey, key, in: bytes) { return macs[index] }
        }
        guard let any else { throw .otherAPIKey }
        return macs[any]
    }

    private func checkApplication() throws(WebhookRefusal) {
        guard let ours = verifier.applicationID, let theirs = claims.applicationID else { return }
        let json = payload.json
        guard isEqual(theirs, ours, in: json.span) else { throw .otherApplication }
    }

    /// Without regard to case, as both UUIDs and keys are hexadecimal digits.
    private func isEqual(_ range: Range<Int>, _ text: String, in bytes: Span<UInt8>) -> Bool {
        guard range.count == text.utf8.count else { return false }
        var at = range.lowerBound
        for byte in text.utf8 {
            if bytes[at].lowercased != byte.lowercased { return false }
            at += 1
        }
        return true
    }

    private func checkTime(_ now: Int64) throws(WebhookRefusal) {
        guard let issuedAt = claims.issuedAt else { throw .malformed("it has no claim iat") }
        // Both have at most 15 digits.
        let age = now &- issuedAt
        guard age.magnitude <= verifier.leeway.magnitude else { throw .stale(seconds: age, leeway: verifier.leeway) }
        if let expires = claims.expires, now &- expires > verifier.leeway { throw .notInForce }
        if let start = claims.notBefore, start &- now > verifier.leeway { throw .notInForce }
    }

    private func checkPayload(
        _ query: Range<Int>?, in text: Span<UInt8>, _ body: Span<UInt8>, isPost: Bool
    ) throws(WebhookRefusal) {
        let hasPayload = isPost && body.count > 0 || query != nil
        guard let expected = claims.payloadHash else {
            guard hasPayload, verifier.requiresPayloadHash else { return }
            throw .noPayloadHash
        }
        let hasBody = isPost && body.count > 0
        if hasBody || query == nil {
            guard let made = hash.digest(hasBody ? body : Span()) else { throw .unchecked }
            if made.equals(expected) { return }
        }
        // Without a body a query, also that of a POST, must be vouched for itself.
        guard !hasBody else { throw .payloadChanged }
        self.query.read(query ?? 0..<0, in: text)
        for skipped in 0..<2 {
            if skipped == 1 {
                let own = self.query.ownCount
                guard own > 0 else { break }
                self.query.write(skipping: own)
            }
            let json = self.query.json
            guard let made = hash.digest(json.span) else { throw .unchecked }
            guard made.equals(expected) else { continue }
            // Also one of the URL's own that comes again: whoever reads them takes the first.
            if skipped == 1 { self.query.write(skipping: 0) }
            guard !self.query.hasRepeatedName else { throw .repeatedParameter }
            return
        }
        throw .payloadChanged
    }

    /// After a check that found the payload changed: which usual change it fits, in words. Costs much more than a check.
    ///
    /// The parameters are those of that check.
    package func usualChange(query: Range<Int>?, in text: Span<UInt8>, body: Span<UInt8>, isPost: Bool) -> String? {
        guard let expected = claims.payloadHash else { return nil }
        let changes = isPost ? PayloadChange.ofBodies : PayloadChange.ofQueries
        let (bodyBytes, queryBytes) = (Array(copying: body), Array(copying: text.extracting(query ?? 0..<0)))
        let (received, other) = isPost ? (bodyBytes, queryBytes) : (queryBytes, bodyBytes)
        for change in changes {
            for candidate in change.originals(received, other) {
                if hash.digest(candidate.span)?.equals(expected) == true { return change.words }
            }
        }
        return nil
    }

    /// The same for texts and bytes: see `usualChange`.
    public func usualChange(of payload: WebhookVerifier.Payload) -> String? {
        switch payload {
        case .post(let body, let query):
            let text = Array(query.utf8)
            return usualChange(query: 0..<text.count, in: text.span, body: body.span, isPost: true)
        case .get(let query):
            let text = Array(query.utf8)
            return usualChange(query: 0..<text.count, in: text.span, body: Span(), isPost: false)
        }
    }
}
