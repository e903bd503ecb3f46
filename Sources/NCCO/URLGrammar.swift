// SPDX-License-Identifier: MIT
//
// The little of RFC 3986 and RFC 3261 that tells an address from a slip of the pen: a known scheme, a host, a port that is a number, and no
// character that has to be encoded.

/// `scheme "://" [ userinfo "@" ] host [ ":" port ]` and whatever follows, RFC 3986 section 3.
func isURL(_ text: String, schemes: [String]) -> Bool {
    guard let rest = behindScheme(of: text, schemes), rest.starts(with: "//".utf8) else { return false }
    let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    return isHostWithPort(behindUser(of: authority))
}

/// `( "sip:" / "sips:" ) [ userinfo "@" ] host [ ":" port ]` with parameters and headers, RFC 3261 section 25.1.
package func isSIPURI(_ text: String) -> Bool {
    guard let rest = behindScheme(of: text, ["sip", "sips"]) else { return false }
    let at = rest.lastIndex(of: UInt8(ascii: "@"))
    // An empty user in front of `@` is a slip; parameters may hold neither.
    if at == rest.startIndex { return false }
    let host = at.map { rest[rest.index(after: $0)...] } ?? rest
    return isHostWithPort(host.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "?") })
}

/// What stands behind the scheme and its colon; nil for another scheme and for characters that are not printable ASCII.
private func behindScheme(of text: String, _ schemes: [String]) -> Substring.UTF8View? {
    let bytes = text[...].utf8
    guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }), let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let given = bytes[..<colon]
    // Letters only: setting the bit makes none of what is no letter.
    guard schemes.contains(where: { $0.utf8.elementsEqual(given.lazy.map { $0 | 0x20 }) }) else { return nil }
    return bytes[bytes.index(after: colon)...]
}

private func behindUser(of authority: Substring.UTF8View) -> Substring.UTF8View {
    authority.lastIndex(of: UInt8(ascii: "@")).map { authority[authority.index(after: $0)...] } ?? authority
}

/// A name, an IPv4 address, or an IPv6 address in square brackets, and a port where there is one.
private func isHostWithPort(_ text: Substring.UTF8View) -> Bool {
    let host: Substring.UTF8View
    let port: Substring.UTF8View
    if text.first == UInt8(ascii: "[") {
        guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { return false }
        host = text[text.index(after: text.startIndex)..<end]
        port = text[text.index(after: end)...]
        guard host.allSatisfy({ isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }) else { return false }
    } else {
        host = text.prefix { $0 != UInt8(ascii: ":") }
        port = text[host.endIndex...]
        guard host.allSatisfy(isRegName) else { return false }
    }
    guard !host.isEmpty else { return false }
    guard let colon = port.first else { return true }
    let digits = port.dropFirst()
    guard colon == UInt8(ascii: ":"), digits.count <= 5, digits.allSatisfy(isDigit) else { return false }
    // The grammar allows a colon without a port.
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } <= 65535
}

/// `reg-name = *( unreserved / pct-encoded / sub-delims )`, RFC 3986 section 3.2.2.
private func isRegName(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) || "-._~%!$&'()*+,;=".utf8.contains(byte) }
private func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20) }
