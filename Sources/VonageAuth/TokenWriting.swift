// SPDX-License-Identifier: MIT
//
// From claims to a compact token (RFC 7515 §3.1). The claims' order is the one of Vonage's examples, slashes are not escaped, and the header is
// the same for all: other libraries read any order, but people compare tokens by eye.

internal import JSON
internal import NCCO

/// Claims being written.
struct TokenWriter {
    private var claims = Array("{".utf8)

    mutating func text(_ name: String, _ value: String) {
        begin(name)
        claims.appendJSONString(value)
    }

    mutating func number(_ name: String, _ value: Int64) {
        begin(name)
        claims.appendDecimal(Int(value))
    }

    mutating func json(_ name: String, _ value: String) {
        begin(name)
        claims += value.utf8
    }

    private mutating func begin(_ name: String) {
        if claims.count > 1 { claims.append(UInt8(ascii: ",")) }
        claims.appendJSONString(name)
        claims.append(UInt8(ascii: ":"))
    }

    /// `header.payload.signature` by RS256.
    consuming func signed(by key: PrivateKey) throws(TokenError) -> String {
        claims.append(UInt8(ascii: "}"))
        var token: [UInt8] = []
        token.appendBase64URL(Array("{\"alg\":\"RS256\",\"typ\":\"JWT\"}".utf8).span)
        token.append(UInt8(ascii: "."))
        token.appendBase64URL(claims.span)
        let signature: [UInt8]
        do throws(CryptographyError) { signature = try key.sign(token) } catch { throw TokenError(error.description) }
        token.append(UInt8(ascii: "."))
        token.appendBase64URL(signature.span)
        return String(decoding: token, as: UTF8.self)
    }
}

/// Rules that several kinds of tokens share.
enum TokenRule {
    /// Seconds since 1970 up to the end of the year 9999: what dates are written of.
    static let times: ClosedRange<Int64> = 0...253_402_300_799

    static func checkTime(_ now: Int64) throws(TokenError) {
        guard times.contains(now) else { throw TokenError("the time is not within the years 1970 to 9999; it is seconds since 1970") }
    }

    static func checkLifetime(_ seconds: Int64, in range: ClosedRange<Int64>) throws(TokenError) {
        guard range.contains(seconds) else {
            throw TokenError(
                "the lifetime is \(duration(seconds)); it must be \(duration(range.lowerBound)) to \(duration(range.upperBound))")
        }
    }

    /// What is wrong with a user's name as `sub`; nil where nothing is.
    static func faultOfName(_ name: String) -> String? {
        let scalars = name.unicodeScalars
        // As far as anybody would count.
        let count = scalars.prefix(101).count
        guard (1...100).contains(count) else {
            return "a user's name has 1 to 100 characters, and this one \(count == 0 ? "none" : "more")"
        }
        guard !scalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }) else {
            return "a user's name has no control characters"
        }
        guard scalars.contains(where: { !$0.properties.isWhitespace }) else { return "a user's name is more than blanks" }
        return nil
    }
}

/// `6 h`, `3 d 2 h`, `90 s`: at most two units, days from two on.
func duration(_ seconds: Int64) -> String {
    let magnitude = seconds.magnitude
    let units: [(UInt64, String)] = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")]
    // Up to two of a unit the smaller one says more.
    guard let first = units.firstIndex(where: { magnitude >= 2 * $0.0 || $0.0 == 3600 && magnitude >= 3600 }) else { return "\(seconds) s" }
    let (size, name) = units[first]
    var text = "\(seconds < 0 ? "-" : "")\(magnitude / size) \(name)"
    let rest = magnitude % size
    if let next = units.first(where: { rest >= $0.0 }) { text += " \(rest / next.0) \(next.1)" }
    return text
}
