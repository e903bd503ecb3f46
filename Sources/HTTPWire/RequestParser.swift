// SPDX-License-Identifier: MIT
//
// Bytes to a request head: RFC 9112 §2 to §7 and RFC 9110 §5. One pass, strict: what the RFC lets a server either refuse or repair is refused,
// because every repair is a difference to some proxy in front, and differences are how requests are smuggled.
//
// The parser keeps nothing between calls. It is given all bytes of the request so far and says "complete", "more" or "refused"; the connection
// decides when asking again is worth it. Rules about framing (Content-Length, Transfer-Encoding) are at the end, in one function.

/// Parses the head at the start of `bytes` into `head`. Returns false while more bytes are needed.
///
/// - Throws: `WireError`, as soon as the bytes can no longer become a request that is served.
package func parseRequestHead(_ bytes: Span<UInt8>, into head: inout RequestHead, limits: Limits) throws(WireError) -> Bool {
    var parser = RequestParser(limits: limits)
    // Bytes behind the limit are never looked at, so that the outcome does not depend on how many of them have come.
    return try parser.parse(bytes.extracting(first: limits.head), into: &head)
}

struct RequestParser {
    let limits: Limits
    var at = 0
    private var host: Range<Int>?
    private var length: Range<Int>?
    private var coding = false
    private var connection = false
    private var expectation = false

    init(limits: Limits) { self.limits = limits }

    mutating func parse(_ bytes: Span<UInt8>, into head: inout RequestHead) throws(WireError) -> Bool {
        head.fields.removeAll(keepingCapacity: true)
        head.contentType = nil
        head.isEncoded = false
        head.authorization = nil
        head.cookie = nil
        guard try skipEmptyLines(bytes), try requestLine(bytes, &head) else { return try more(bytes) }
        while true {
            guard at < bytes.count else { return try more(bytes) }
            if bytes[at] == .cr {
                guard at + 1 < bytes.count else { return try more(bytes) }
                guard bytes[at + 1] == .lf else { throw WireError(.badLineEnd, at: at) }
                at += 2
                break
            }
            guard let field = try fieldLine(bytes) else { return try more(bytes) }
            guard head.fields.count < limits.fields else { throw WireError(.tooManyFields, at: field.name.lowerBound) }
            head.fields.append(field)
            try note(field, bytes, &head)
        }
        head.end = at
        try decideHost(bytes, &head)
        try decideFraming(bytes, &head)
        decidePersistence(bytes, &head)
        return true
    }

    /// A head that is unfinished at the limit will not be finished.
    private func more(_ bytes: Span<UInt8>) throws(WireError) -> Bool {
        guard bytes.count < limits.head else { throw WireError(.headTooLarge, at: limits.head) }
        return false
    }

    /// RFC 9112 §2.2: empty lines before a request line are ignored, here a few.
    private mutating func skipEmptyLines(_ bytes: Span<UInt8>) throws(WireError) -> Bool {
        var lines = 0
        while at < bytes.count, bytes[at] == .cr {
            guard at + 1 < bytes.count else { return false }
            guard bytes[at + 1] == .lf else { throw WireError(.badLineEnd, at: at) }
            guard lines < limits.emptyLines else { throw WireError(.badRequestLine, at: at) }
            lines += 1
            at += 2
        }
        return at < bytes.count
    }

    /// `request-line = method SP request-target SP HTTP-version CRLF` (RFC 9112 §3).
    private mutating func requestLine(_ bytes: Span<UInt8>, _ head: inout RequestHead) throws(WireError) -> Bool {
        let methodStart = at
        while at < bytes.count, bytes[at].isToken { at += 1 }
        // A method longer than any is answered with 501 too (RFC 9112 §3).
        guard at - methodStart <= 32 else { throw WireError(.unknownMethod, at: methodStart) }
        guard at < bytes.count else { return false }
        guard at > methodStart, bytes[at] == .space else { throw WireError(.badMethod, at: at) }
        let token = methodStart..<at
        at += 1

        let targetStart = at
        var question: Int?
        while at < bytes.count {
            let byte = bytes[at]
            if byte == UInt8(ascii: "?"), question == nil { question = at }
            // No blank, control, DEL or high byte is repaired; a fragment is never sent (RFC 9110 §7.1).
            guard byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "#") else { break }
            at += 1
        }
        guard at - targetStart <= limits.target else { throw WireError(.targetTooLong, at: targetStart + limits.target) }
        guard at < bytes.count else { return false }
        guard bytes[at] == .space else {
            throw WireError(bytes[at] == .cr || bytes[at] == .lf ? .badRequestLine : .badTarget, at: at)
        }
        guard at > targetStart else { throw WireError(.badRequestLine, at: at) }
        head.target = targetStart..<at
        at += 1

        guard try version(bytes, &head), try lineEnd(bytes) else { return false }
        guard let method = Method(token, in: bytes) else { throw WireError(.unknownMethod, at: methodStart) }
        head.method = method
        try decideTarget(bytes, &head, question: question)
        return true
    }

    /// `HTTP-version = "HTTP/" DIGIT "." DIGIT`, case-sensitive (RFC 9112 §2.3).
    private mutating func version(_ bytes: Span<UInt8>, _ head: inout RequestHead) throws(WireError) -> Bool {
        let start = at
        for literal in "HTTP/".utf8 {
            guard at < bytes.count else { return false }
            guard bytes[at] == literal else { throw WireError(.badVersion, at: at) }
            at += 1
        }
        guard at < bytes.count else { return false }
        let major = bytes[at]
        guard major.isDigit else { throw WireError(.badVersion, at: at) }
        guard at + 1 < bytes.count else { return false }
        guard bytes[at + 1] == UInt8(ascii: ".") else { throw WireError(.badVersion, at: at + 1) }
        guard at + 2 < bytes.count else { return false }
        let minor = bytes[at + 2]
        guard minor.isDigit else { throw WireError(.badVersion, at: at + 2) }
        guard at + 3 < bytes.count else { return false }
        guard bytes[at + 3] == .cr else {
            throw WireError(bytes[at + 3] == .lf ? .badLineEnd : .badVersion, at: at + 3)
        }
        guard major == UInt8(ascii: "1") else { throw WireError(.unsupportedVersion, at: start) }
        head.minorVersion = minor == UInt8(ascii: "0") ? 0 : 1
        at += 3
        return true
    }

    private mutating func lineEnd(_ bytes: Span<UInt8>) throws(WireError) -> Bool {
        guard at < bytes.count else { return false }
        guard bytes[at] == .cr else { throw WireError(.badLineEnd, at: at) }
        guard at + 1 < bytes.count else { return false }
        guard bytes[at + 1] == .lf else { throw WireError(.badLineEnd, at: at + 1) }
        at += 2
        return true
    }

    /// `field-line = field-name ":" OWS field-value OWS CRLF` (RFC 9112 §5). Returns nil while the line is unfinished.
    mutating func fieldLine(_ bytes: Span<UInt8>) throws(WireError) -> Field? {
        let start = at
        while at < bytes.count, bytes[at].isToken { at += 1 }
        guard at < bytes.count else { return nil }
        guard at > start, bytes[at] == .colon else {
            throw WireError(at == start && bytes[at].isBlank ? .foldedField : .badFieldName, at: at)
        }
        let name = start..<at
        at += 1
        let valueStart = at
        while at < bytes.count, bytes[at].isFieldValue { at += 1 }
        let valueEnd = at
        guard at < bytes.count else { return nil }
        guard bytes[at] == .cr || bytes[at] == .lf else { throw WireError(.badFieldValue, at: at) }
        guard try lineEnd(bytes) else { return nil }
        return Field(name: name, value: bytes.trimmed(valueStart..<valueEnd))
    }

    /// Keeps the fields that decide how the request is read.
    private mutating func note(_ field: Field, _ bytes: Span<UInt8>, _ head: inout RequestHead) throws(WireError) {
        switch field.name.count {
        case 4 where bytes.equalsIgnoringCase("host", at: field.name):
            guard host == nil else { throw WireError(.repeatedHost, at: field.name.lowerBound) }
            host = field.value
        case 6 where bytes.equalsIgnoringCase("expect", at: field.name):
            expectation = true
        case 6 where bytes.equalsIgnoringCase("cookie", at: field.name):
            head.cookie = head.cookie ?? field.value
        case 10 where bytes.equalsIgnoringCase("connection", at: field.name):
            connection = true
        case 12 where bytes.equalsIgnoringCase("content-type", at: field.name):
            head.contentType = head.contentType ?? field.value
        case 13 where bytes.equalsIgnoringCase("authorization", at: field.name):
            // One server behind another could believe another one of them.
            guard head.authorization == nil else { throw WireError(.repeatedAuthorization, at: field.name.lowerBound) }
            head.authorization = field.value
        case 14 where bytes.equalsIgnoringCase("content-length", at: field.name):
            // Even equal ones: nobody honest repeats it (RFC 9112 §6.3).
            guard length == nil else { throw WireError(.repeatedLength, at: field.name.lowerBound) }
            length = field.value
        case 16 where bytes.equalsIgnoringCase("content-encoding", at: field.name):
            bytes.forEachMember(of: field.value) { member in
                if !bytes.equalsIgnoringCase("identity", at: member) { head.isEncoded = true }
            }
        case 17 where bytes.equalsIgnoringCase("transfer-encoding", at: field.name):
            coding = true
        default: break
        }
    }

    /// RFC 9112 §3.2: origin-form, absolute-form, authority-form for CONNECT only, asterisk-form for OPTIONS only.
    private func decideTarget(_ bytes: Span<UInt8>, _ head: inout RequestHead, question: Int?) throws(WireError) {
        let target = head.target
        head.authority = 0..<0
        head.query = question.map { ($0 + 1)..<target.upperBound }
        let pathEnd = question ?? target.upperBound
        if head.method == .connect {
            // The port is required (RFC 9110 §9.3.6); digits alone may be the end of a name or an address.
            var port = target.upperBound
            while port > target.lowerBound, bytes[port - 1].isDigit { port -= 1 }
            guard isAuthority(target, in: bytes), port < target.upperBound, port > target.lowerBound, bytes[port - 1] == .colon else {
                throw WireError(.badTarget, at: target.lowerBound)
            }
            head.form = .authority
            head.path = target.upperBound..<target.upperBound
            head.query = nil
            head.authority = target
        } else if bytes[target.lowerBound] == .slash {
            head.form = .origin
            head.path = target.lowerBound..<pathEnd
        } else if target.count == 1, bytes[target.lowerBound] == UInt8(ascii: "*"), head.method == .options {
            head.form = .asterisk
            head.path = target
        } else {
            var start = target.lowerBound
            if target.count > 7, bytes.equalsIgnoringCase("http://", at: start..<start + 7) {
                start += 7
            } else if target.count > 8, bytes.equalsIgnoringCase("https://", at: start..<start + 8) {
                start += 8
            } else {
                throw WireError(.badTarget, at: target.lowerBound)
            }
            var end = start
            while end < pathEnd, bytes[end] != .slash { end += 1 }
            guard isAuthority(start..<end, in: bytes) else { throw WireError(.badTarget, at: start) }
            head.form = .absolute
            head.authority = start..<end
            head.path = end..<pathEnd
        }
    }

    /// RFC 9112 §3.2: exactly one valid Host in HTTP/1.1, also beside an absolute target, whose authority then wins.
    private func decideHost(_ bytes: Span<UInt8>, _ head: inout RequestHead) throws(WireError) {
        guard let host else {
            guard head.minorVersion == 0 else { throw WireError(.missingHost, at: head.end) }
            return
        }
        guard isAuthority(host, in: bytes) else { throw WireError(.badHost, at: host.lowerBound) }
        if head.form == .origin || head.form == .asterisk { head.authority = host }
    }

    /// RFC 9112 §6.3: Transfer-Encoding, then Content-Length, then no body; what is doubtful is refused.
    private func decideFraming(_ bytes: Span<UInt8>, _ head: inout RequestHead) throws(WireError) {
        head.framing = .none
        if coding {
            guard length == nil else { throw WireError(.lengthAndCoding, at: head.end) }
            guard head.minorVersion == 1 else { throw WireError(.codingInHTTP10, at: head.end) }
            var (codings, chunked, last) = (0, 0, false)
            for field in head.fields where bytes.equalsIgnoringCase("transfer-encoding", at: field.name) {
                bytes.forEachMember(of: field.value) { member in
                    last = bytes.equalsIgnoringCase("chunked", at: member)
                    codings += 1
                    if last { chunked += 1 }
                }
            }
            guard last, chunked == 1 else { throw WireError(.badCoding, at: head.end) }
            guard codings == 1 else { throw WireError(.unknownCoding, at: head.end) }
            head.framing = .chunked
        } else if let length {
            guard !length.isEmpty else { throw WireError(.badLength, at: length.lowerBound) }
            var (value, tooLarge) = (0, false)
            for at in length {
                guard bytes[at].isDigit else { throw WireError(.badLength, at: at) }
                if value > limits.body { tooLarge = true } else { value = value * 10 + Int(bytes[at] &- 0x30) }
            }
            guard !tooLarge, value <= limits.body else { throw WireError(.bodyTooLarge, at: length.lowerBound) }
            head.framing = value == 0 ? .none : .length(value)
        }
    }

    /// RFC 9112 §9.3 and RFC 9110 §10.1.1.
    private func decidePersistence(_ bytes: Span<UInt8>, _ head: inout RequestHead) {
        head.keepAlive = head.minorVersion == 1
        head.expectsContinue = false
        if connection {
            var (close, keep) = (false, false)
            for field in head.fields where bytes.equalsIgnoringCase("connection", at: field.name) {
                bytes.forEachMember(of: field.value) { member in
                    if bytes.equalsIgnoringCase("close", at: member) { close = true }
                    if bytes.equalsIgnoringCase("keep-alive", at: member) { keep = true }
                }
            }
            head.keepAlive = !close && (keep || head.minorVersion == 1)
        }
        // HTTP/1.0 knows no expectations: they are ignored there.
        head.hasUnknownExpectation = false
        if expectation, head.minorVersion == 1 {
            for field in head.fields where bytes.equalsIgnoringCase("expect", at: field.name) {
                bytes.forEachMember(of: field.value) { member in
                    if bytes.equalsIgnoringCase("100-continue", at: member) {
                        head.expectsContinue = head.framing != .none
                    } else {
                        head.hasUnknownExpectation = true
                    }
                }
            }
        }
    }
}

/// Whether the range is `uri-host [ ":" port ]` (RFC 9110 §7.2, RFC 3986 §3.2.2) with a port up to 65535. User information is not allowed.
package func isAuthority(_ range: Range<Int>, in bytes: Span<UInt8>) -> Bool {
    var at = range.lowerBound
    guard at < range.upperBound else { return false }
    if bytes[at] == UInt8(ascii: "[") {
        at += 1
        let start = at
        while at < range.upperBound, bytes[at] != UInt8(ascii: "]") { at += 1 }
        guard at < range.upperBound, isIPv6Address(start..<at, in: bytes) else { return false }
        at += 1
    } else {
        let start = at
        while at < range.upperBound, bytes[at] != .colon {
            if bytes[at] == .percent {
                guard at + 2 < range.upperBound, bytes[at + 1].hexValue != nil, bytes[at + 2].hexValue != nil else { return false }
                at += 3
            } else {
                guard bytes[at].isHostName else { return false }
                at += 1
            }
        }
        guard at > start else { return false }
    }
    guard at < range.upperBound else { return true }
    guard bytes[at] == .colon, range.upperBound - at <= 6 else { return false }
    var port = 0
    for digit in at + 1..<range.upperBound {
        guard bytes[digit].isDigit else { return false }
        port = port * 10 + Int(bytes[digit] &- 0x30)
    }
    return port <= 65535
}

/// `IPv6address` of RFC 3986 §3.2.2: eight groups, or fewer around one `::`, the last two perhaps written as an IPv4 address.
private func isIPv6Address(_ range: Range<Int>, in bytes: Span<UInt8>) -> Bool {
    var (at, groups, gap) = (range.lowerBound, 0, false)
    if range.count >= 2, bytes[at] == .colon, bytes[at + 1] == .colon { (at, gap) = (at + 2, true) }
    while at < range.upperBound {
        let start = at
        while at < range.upperBound, at - start < 4, bytes[at].hexValue != nil { at += 1 }
        guard at > start else { return false }
        if at < range.upperBound, bytes[at] == UInt8(ascii: ".") {
            guard isIPv4Address(start..<range.upperBound, in: bytes) else { return false }
            groups += 2
            break
        }
        groups += 1
        guard at < range.upperBound else { break }
        guard bytes[at] == .colon, at + 1 < range.upperBound else { return false }
        at += 1
        if bytes[at] == .colon {
            guard !gap else { return false }
            (at, gap) = (at + 1, true)
        }
    }
    return gap ? groups < 8 : groups == 8
}

/// `IPv4address` of RFC 3986 §3.2.2: four numbers up to 255 without leading zeros.
private func isIPv4Address(_ range: Range<Int>, in bytes: Span<UInt8>) -> Bool {
    var (numbers, start, value) = (0, range.lowerBound, 0)
    for at in range.lowerBound...range.upperBound {
        if at == range.upperBound || bytes[at] == UInt8(ascii: ".") {
            guard at > start, at - start == 1 || bytes[start] != UInt8(ascii: "0") else { return false }
            (numbers, start, value) = (numbers + 1, at + 1, 0)
        } else {
            guard bytes[at].isDigit else { return false }
            value = value * 10 + Int(bytes[at] &- 0x30)
            guard value <= 255 else { return false }
        }
    }
    return numbers == 4
}
