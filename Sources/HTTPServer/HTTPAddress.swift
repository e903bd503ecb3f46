// SPDX-License-Identifier: MIT
//
// Which server a URL means: `http://HOST:PORT` with a path and a query, the same with `https` on this machine, or `unix:PATH`. What is taken here
// is narrower than what RFC 3986 allows, so that no host looks like another one.

/// One server's address, taken out of a URL. Two are the same where host and port are.
package struct HTTPAddress: Hashable, Sendable {
    /// As in the URL, an IPv6 address with its brackets; `unix:PATH` for a Unix domain socket.
    package let host: String
    /// 80 or 443 where the URL has none; 0 for a Unix domain socket.
    package let port: UInt16
    /// Whether TLS is spoken; to this machine alone, since certificates are not checked here.
    package let isSecure: Bool

    /// - Parameter url: `http://HOST:PORT`, also with a path and a query, `https://` and a loopback host, or `unix:PATH`.
    /// - Throws: `usage` with what is wrong and what would be right.
    package init(url: String) throws(HTTPRequestError) { self = try Self.split(url).address }

    private init(host: String, port: UInt16, isSecure: Bool = false) {
        self.host = host
        self.port = port
        self.isSecure = isSecure
    }

    /// Returns the address and what stands behind it: path and query as they are in the URL, or nothing.
    ///
    /// - Throws: as `init(url:)`.
    package static func split(_ url: String) throws(HTTPRequestError) -> (address: HTTPAddress, target: String) {
        if url.hasPrefix("unix:") { return (HTTPAddress(host: url, port: 0), "") }
        let isSecure = url.hasPrefix("https://")
        guard isSecure || url.hasPrefix("http://") else { throw unusable("the URL does not begin with http:// or unix:") }
        let rest = url.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        var name = authority
        var number: UInt16 = isSecure ? 443 : 80
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            let digits = authority[authority.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let parsed = UInt16(digits) else {
                throw unusable("the port is no number up to 65535")
            }
            number = parsed
            name = authority[..<colon]
        }
        // `@` and `#` would let a host look like another one; behind the `?` of a query an `@` is one of its bytes.
        guard !name.isEmpty, rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "\\") }),
            !rest.prefix(while: { $0 != "?" }).contains("@")
        else { throw unusable(oddHost) }
        guard name.hasPrefix("[") == name.hasSuffix("]"), name.hasPrefix("[") || !name.contains(":") else {
            throw unusable("an IPv6 address stands in brackets")
        }
        let address = HTTPAddress(host: String(name), port: number, isSecure: isSecure)
        guard !isSecure || address.isLoopback else { throw unusable("https:// is asked of this machine only here") }
        return (address, String(rest.dropFirst(authority.count)))
    }

    static let oddHost = "the URL has no host, or characters that none has here"

    static func unusable(_ why: String) -> HTTPRequestError {
        HTTPRequestError(fault: .usage, description: "\(why); write http://HOST:PORT or unix:PATH")
    }

    /// Whether it reaches this machine alone: `localhost`, an address of 127.0.0.0/8 in four decimal parts, `[::1]` or `unix:`.
    ///
    /// Names are not looked up: what one means may change between the look and the request.
    package var isLoopback: Bool {
        if host.hasPrefix("unix:") || host.lowercased() == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        // A part with a 0 in front would be octal to some.
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { part in UInt8(part).map { "\($0)" == part } ?? false }
    }

    /// The value of `Host`.
    package var hostField: String { host.hasPrefix("unix:") ? "localhost" : port == (isSecure ? 443 : 80) ? host : "\(host):\(port)" }
}
