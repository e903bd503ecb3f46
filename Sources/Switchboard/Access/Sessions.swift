// SPDX-License-Identifier: MIT
//
// What a browser keeps of a log-in: a cookie `EXPIRY.NONCE.MAC`, whose MAC is made with the admin token as its key. Nothing is kept here, so a
// session outlives a restart and ends with its time or with the token. The token itself cannot be worked out from it. What is left out is to
// end one session before its time: logging out makes the browser forget it, and another token ends all.

import HTTPWire
import VonageAuth

/// For one thread.
final class Sessions {
    static let cookieName: StaticString = "switchboard"
    /// Seconds: a working day.
    static let lifetime: Int64 = 12 * 3600
    /// The longest value there is has 12 digits, 32 and 64 of two numbers, and two dots.
    private static let longest = 128

    private let key: HMACSHA256

    init(_ token: AdminToken) throws(CryptographyError) { key = try HMACSHA256(key: token.key) }

    /// The cookie's value for a new session.
    ///
    /// - Parameter now: Unix seconds.
    /// - Returns: nil where OpenSSL fails.
    func begin(now: Int64) -> String? {
        var random = SystemRandomNumberGenerator()
        let text = "\(now + Self.lifetime).\(hex(random.next()))\(hex(random.next()))"
        let bytes = Array(text.utf8)
        return mac("session", bytes.span, 0..<bytes.count).map { "\(text).\($0.hex)" }
    }

    /// Whether the value is one that was made here and has not expired.
    func isValid(_ value: Range<Int>, in bytes: Span<UInt8>, now: Int64) -> Bool {
        guard value.count <= Self.longest, let last = value.last(where: { bytes[$0] == UInt8(ascii: ".") }),
            let given = Digest256(hex: bytes.extracting(last + 1..<value.upperBound)),
            let made = mac("session", bytes, value.lowerBound..<last), made.equals(given)
        else { return false }
        let expiry = bytes.text(value).prefix { $0 != "." }
        return Int64(expiry).map { $0 > now } ?? false
    }

    /// What pages of this session send along with whatever changes something: a page of somebody else's may make a browser send the cookie, but
    /// cannot read this.
    func pageToken(of value: Range<Int>, in bytes: Span<UInt8>) -> Digest256? { mac("page", bytes, value) }

    /// The first valid session among the cookies of a field: whoever serves a neighbouring name may have set another one of this name.
    func find(in cookies: Range<Int>?, _ bytes: Span<UInt8>, now: Int64) -> Range<Int>? {
        guard let cookies else { return nil }
        var (start, tries) = (cookies.lowerBound, 0)
        for at in cookies.lowerBound...cookies.upperBound where at == cookies.upperBound || bytes[at] == UInt8(ascii: ";") {
            var low = start
            while low < at, bytes[low] == 0x20 || bytes[low] == 0x09 { low += 1 }
            start = at + 1
            let name = low..<min(low + Self.cookieName.utf8CodeUnitCount, at)
            guard bytes.equalsExactly(Self.cookieName, at: name), name.upperBound < at, bytes[name.upperBound] == UInt8(ascii: "=") else {
                continue
            }
            let value = name.upperBound + 1..<at
            // Other programs of this host may have set cookies of this name; what has not the form of ours costs nothing.
            guard value.count <= Self.longest, value.count > 64, bytes[value.upperBound - 65] == UInt8(ascii: ".") else { continue }
            if isValid(value, in: bytes, now: now) { return value }
            tries += 1
            guard tries < 32 else { return nil }
        }
        return nil
    }

    /// Of what and of which text, so that neither can stand in for the other.
    private func mac(_ purpose: StaticString, _ bytes: Span<UInt8>, _ range: Range<Int>) -> Digest256? {
        var message: [UInt8] = []
        message.append(purpose)
        message.append(0)
        for at in range { message.append(bytes[at]) }
        return key.authenticate(message.span)
    }
}

private func hex(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
}
