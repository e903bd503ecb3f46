// SPDX-License-Identifier: MIT
//
// What proxies say of a request that they pass on: `X-Forwarded-For`, `-Proto`, `-Host`, `-Prefix`, and `Forwarded` (RFC 7239). Each proxy adds
// on the right who asked it, so only the right end was written by somebody known: it is read from there to the left for as long as who was
// named is a trusted proxy. The first other one is the peer; what stands to the left of it came from outside and may be invented. What cannot
// be read ends the walk, and the last good address counts.
//
// Where one of the `X-` fields is there, `Forwarded` is not looked at. Nearly all proxies and tunnels (nginx, Caddy, ngrok, cloudflared, the
// clouds' balancers) write the former and pass the latter on as it came: if it won, anybody could name an address behind them.
// `X-Forwarded-Port` is not read: behind two proxies it is often the port of the inner one, and a public port that is not the scheme's own
// stands in the host already.

import HTTPServer
import HTTPWire

/// Where a request comes from and under which name it was sent, as far as trusted proxies know.
struct Forwarded {
    enum Scheme: String, Sendable { case http, https }

    /// The first that is no trusted proxy.
    private(set) var peer: Peer
    /// Nil where nobody says.
    private(set) var scheme: Scheme?
    /// What is spoken with whoever is connected.
    private let own: Scheme
    /// In lower case, with its port.
    private(set) var host: String?
    /// Begins with a slash and does not end with one; empty where there is none.
    private(set) var prefix = ""
    /// Members of the walk that trusted proxies have written.
    private var hops = 0
    private static let mostHops = 32

    /// - Parameters:
    ///   - direct: who is connected; a stranger's fields are not looked at.
    ///   - own: what is spoken with them.
    init(
        _ head: borrowing RequestHead, _ bytes: Span<UInt8>, from direct: Peer, trusting proxies: TrustedProxies, own: Scheme = .http
    ) {
        peer = direct
        self.own = own
        guard proxies.trusts(direct) else { return }
        if ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"].contains(where: { head.value(of: $0, in: bytes) != nil }) {
            readForwardedFor(head, bytes, proxies)
        } else {
            readForwarded(head, bytes, proxies)
        }
        if let value = value(of: "x-forwarded-prefix", head, bytes) { prefix = safePrefix(value, in: bytes) ?? "" }
    }

    // MARK: X-Forwarded-

    private mutating func readForwardedFor(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ proxies: TrustedProxies) {
        var walk = MembersFromTheRight("x-forwarded-for", isQuoted: false)
        while hops < Self.mostHops, let member = walk.next(head, bytes) {
            guard let address = nodeAddress(member, in: bytes, mayBeBare: true) else { break }
            peer = .address(address)
            hops += 1
            guard proxies.trusts(address) else { break }
        }
        if let value = value(of: "x-forwarded-proto", head, bytes) { scheme = Self.scheme(value, in: bytes) }
        if let value = value(of: "x-forwarded-host", head, bytes) { host = safeHost(value, in: bytes) }
    }

    /// Of a list the last, which the nearest proxy wrote or was sent by one that is trusted: what stands before it may be the client's, and
    /// nothing tells how many proxies add to the list and how many pass it on.
    private func value(of name: StaticString, _ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Range<Int>? {
        var walk = MembersFromTheRight(name, isQuoted: false)
        return walk.next(head, bytes)
    }

    private static func scheme(_ value: Range<Int>, in bytes: Span<UInt8>) -> Scheme? {
        if bytes.equalsIgnoringCase("https", at: value) { return .https }
        return bytes.equalsIgnoringCase("http", at: value) ? .http : nil
    }

    // MARK: Forwarded

    private mutating func readForwarded(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ proxies: TrustedProxies) {
        var walk = MembersFromTheRight("forwarded", isQuoted: true)
        while hops < Self.mostHops, let member = walk.next(head, bytes) {
            guard let element = ForwardedElement(member, in: bytes) else { break }
            hops += 1
            // Further out is nearer to how the request was sent; who does not say leaves what the one inside of it said.
            if let proto = element.proto, let scheme = Self.scheme(0..<proto.count, in: proto.span) { self.scheme = scheme }
            if let text = element.host, let host = safeHost(0..<text.count, in: text.span) { self.host = host }
            guard let node = element.node, let address = nodeAddress(0..<node.count, in: node.span, mayBeBare: false) else { break }
            peer = .address(address)
            guard proxies.trusts(address) else { break }
        }
    }
}

extension Forwarded {
    /// Whether whoever asks does so by TLS, as far as is known.
    var isSecure: Bool { (scheme ?? own) == .https }

    /// Where the request was sent, if a proxy says: `https://calls.example.com/prefix`.
    ///
    /// - Parameter authority: the request's own host, which counts where a proxy passes it on and says the scheme alone, as cloudflared does.
    func baseURL(_ authority: Range<Int>, in bytes: Span<UInt8>) -> String? {
        guard let host = host ?? (scheme == nil ? nil : safeHost(authority, in: bytes)) else { return nil }
        let scheme = scheme ?? own
        return "\(scheme.rawValue)://\(withoutStandardPort(host, scheme))\(prefix)"
    }
}

/// A port that the scheme has anyhow is left out, as browsers do.
func withoutStandardPort(_ host: String, _ scheme: Forwarded.Scheme) -> String {
    let port = scheme == .https ? ":443" : ":80"
    return host.hasSuffix(port) ? String(host.dropLast(port.count)) : host
}

/// One `forwarded-element` of RFC 7239 §4, its values without quotes.
private struct ForwardedElement {
    private(set) var node: [UInt8]?
    private(set) var proto: [UInt8]?
    private(set) var host: [UInt8]?

    /// Nil for what does not fit the grammar, or has a parameter twice. Blanks behind a semicolon are let pass: many write them.
    init?(_ range: Range<Int>, in bytes: Span<UInt8>) {
        var at = range.lowerBound
        let end = range.upperBound
        var seen: Set<[UInt8]> = []
        while at < end {
            while at < end, bytes[at] == 0x20 || bytes[at] == 0x09 { at += 1 }
            if at < end, bytes[at] == UInt8(ascii: ";") {
                at += 1
                continue
            }
            var name: [UInt8] = []
            while at < end, isToken(bytes[at]) {
                name.append(bytes[at].lowercased)
                at += 1
            }
            guard !name.isEmpty, at < end, bytes[at] == UInt8(ascii: "="), seen.insert(name).inserted, seen.count <= 8 else { return nil }
            at += 1
            guard let value = Self.value(&at, end, bytes) else { return nil }
            while at < end, bytes[at] == 0x20 || bytes[at] == 0x09 { at += 1 }
            guard at == end || bytes[at] == UInt8(ascii: ";") else { return nil }
            switch String(decoding: name, as: UTF8.self) {
            case "for": node = value
            case "proto": proto = value
            case "host": host = value
            default: break
            }
        }
    }

    /// A token or a quoted string (RFC 9110 §5.6.4).
    private static func value(_ at: inout Int, _ end: Int, _ bytes: Span<UInt8>) -> [UInt8]? {
        var value: [UInt8] = []
        guard at < end, bytes[at] == UInt8(ascii: "\"") else {
            while at < end, isToken(bytes[at]) {
                value.append(bytes[at])
                at += 1
            }
            return value.isEmpty ? nil : value
        }
        at += 1
        while at < end, bytes[at] != UInt8(ascii: "\"") {
            if bytes[at] == UInt8(ascii: "\\") { at += 1 }
            guard at < end else { return nil }
            value.append(bytes[at])
            at += 1
        }
        guard at < end else { return nil }
        at += 1
        return value
    }
}

/// The members of a list over all field lines of a name, the last one first. Nothing is read that is not asked for.
private struct MembersFromTheRight {
    private let name: StaticString
    /// Whether a comma may stand in a quoted string.
    private let isQuoted: Bool
    /// Field lines from this one on are done.
    private var line = Int.max
    private var value = 0..<0
    /// Empty members are skipped (RFC 9110 §5.6.1), but not without end.
    private var steps = 0
    private static let mostSteps = 128

    init(_ name: StaticString, isQuoted: Bool) {
        self.name = name
        self.isQuoted = isQuoted
    }

    mutating func next(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Range<Int>? {
        while steps < Self.mostSteps {
            steps += 1
            if value.isEmpty {
                line = min(line, head.fields.count)
                while line > 0, !bytes.equalsIgnoringCase(name, at: head.fields[line - 1].name) { line -= 1 }
                guard line > 0 else { return nil }
                line -= 1
                value = head.fields[line].value
            }
            var start = value.upperBound
            var isInside = false
            while start > value.lowerBound {
                let byte = bytes[start - 1]
                if byte == UInt8(ascii: ","), !isInside { break }
                if isQuoted, byte == UInt8(ascii: "\""), !(isInside && isEscaped(start - 1, bytes)) { isInside.toggle() }
                start -= 1
            }
            // A quoted string without a beginning: what is left of this line is one member that no grammar takes.
            var member = start..<value.upperBound
            value = value.lowerBound..<max(start - 1, value.lowerBound)
            while !member.isEmpty, bytes[member.lowerBound] == 0x20 || bytes[member.lowerBound] == 0x09 { member.removeFirst() }
            while !member.isEmpty, bytes[member.upperBound - 1] == 0x20 || bytes[member.upperBound - 1] == 0x09 { member.removeLast() }
            if !member.isEmpty { return member }
        }
        return nil
    }

    /// Whether an odd number of backslashes stands in front.
    private func isEscaped(_ at: Int, _ bytes: Span<UInt8>) -> Bool {
        var start = at
        while start > value.lowerBound, bytes[start - 1] == UInt8(ascii: "\\") { start -= 1 }
        return (at - start) % 2 == 1
    }
}

extension Range<Int> {
    fileprivate mutating func removeFirst() { self = lowerBound + 1..<upperBound }
    fileprivate mutating func removeLast() { self = lowerBound..<upperBound - 1 }
}

private func isToken(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
}

private func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte.lowercased) }

private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

/// `ADDRESS`, `ADDRESS:PORT` or `[ADDRESS]:PORT` (RFC 7239 §6, where IPv6 has brackets); nil also for `unknown` and names made up by a proxy.
///
/// - Parameter mayBeBare: IPv6 without brackets and port, as most proxies write it into `X-Forwarded-For`.
private func nodeAddress(_ range: Range<Int>, in bytes: Span<UInt8>, mayBeBare: Bool) -> IPAddress? {
    guard !range.isEmpty, range.count <= 64 else { return nil }
    if bytes[range.lowerBound] == UInt8(ascii: "[") {
        var close = range.lowerBound + 1
        while close < range.upperBound, bytes[close] != UInt8(ascii: "]") { close += 1 }
        let inside = range.lowerBound + 1..<close
        guard close < range.upperBound, inside.contains(where: { bytes[$0] == UInt8(ascii: ":") }) else { return nil }
        guard close + 1 == range.upperBound || isPort(close + 1..<range.upperBound, in: bytes) else { return nil }
        return IPAddress(inside, in: bytes)
    }
    guard let colon = range.first(where: { bytes[$0] == UInt8(ascii: ":") }) else { return IPAddress(range, in: bytes) }
    if range[(colon + 1)...].contains(where: { bytes[$0] == UInt8(ascii: ":") }) { return mayBeBare ? IPAddress(range, in: bytes) : nil }
    return isPort(colon..<range.upperBound, in: bytes) ? IPAddress(range.lowerBound..<colon, in: bytes) : nil
}

/// A colon and a number up to 65535.
private func isPort(_ range: Range<Int>, in bytes: Span<UInt8>) -> Bool {
    guard (2...6).contains(range.count), bytes[range.lowerBound] == UInt8(ascii: ":") else { return false }
    var port = 0
    for at in range.dropFirst() {
        guard isDigit(bytes[at]) else { return false }
        port = port * 10 + Int(bytes[at] &- 0x30)
    }
    return port <= 65535
}

/// A host that may stand in a URL that we send: a DNS name (RFC 1123 §2.1), an IPv4 address or an IPv6 address in brackets, and perhaps a port
/// from 1 on. In lower case; nil for anything else.
func safeHost(_ range: Range<Int>, in bytes: Span<UInt8>) -> String? {
    guard !range.isEmpty, range.count <= 259 else { return nil }
    var end = range.upperBound
    if bytes[range.lowerBound] == UInt8(ascii: "[") {
        guard let close = range.first(where: { bytes[$0] == UInt8(ascii: "]") }),
            (range.lowerBound..<close).contains(where: { bytes[$0] == UInt8(ascii: ":") }),
            let address = IPAddress(range.lowerBound + 1..<close, in: bytes)
        else { return nil }
        guard close + 1 == end || isPort(close + 1..<end, in: bytes) else { return nil }
        // An IPv4 address in the clothes of IPv6 is written as what it is.
        let port = close + 1 == end ? "" : bytes.text(close + 1..<end)
        guard Int(port.dropFirst()) != 0 else { return nil }
        return (address.isIPv4 ? address.description : "[\(address)]") + port
    }
    if let colon = range.first(where: { bytes[$0] == UInt8(ascii: ":") }) {
        guard isPort(colon..<end, in: bytes), Int(bytes.text(colon + 1..<end)) != 0 else { return nil }
        end = colon
    }
    let name = range.lowerBound..<end
    guard (1...253).contains(name.count) else { return nil }
    var label = name.lowerBound
    for at in name.lowerBound...name.upperBound where at == name.upperBound || bytes[at] == UInt8(ascii: ".") {
        guard (1...63).contains(at - label), bytes[label] != UInt8(ascii: "-"), bytes[at - 1] != UInt8(ascii: "-"),
            (label..<at).allSatisfy({ isLetter(bytes[$0]) || isDigit(bytes[$0]) || bytes[$0] == UInt8(ascii: "-") })
        else { return nil }
        if at < name.upperBound { label = at + 1 }
    }
    // A name whose last label is a number, also a hexadecimal one, is an address to some who read it (WHATWG URL §3.5), and must be one.
    let last = label..<name.upperBound
    let isNumber = last.allSatisfy { isDigit(bytes[$0]) } || last.count > 1 && bytes.equalsIgnoringCase("0x", at: label..<label + 2)
    guard !isNumber || IPAddress(name, in: bytes) != nil else { return nil }
    return String(decoding: range.map { bytes[$0].lowercased }, as: UTF8.self)
}

/// A path below which a proxy shows this server, without a slash at its end: segments of `unreserved` (RFC 3986 §2.3), none of them empty or dots
/// alone. At most 256 bytes.
func safePrefix(_ range: Range<Int>, in bytes: Span<UInt8>) -> String? {
    guard (1...256).contains(range.count), bytes[range.lowerBound] == UInt8(ascii: "/") else { return nil }
    let end = bytes[range.upperBound - 1] == UInt8(ascii: "/") ? range.upperBound - 1 : range.upperBound
    guard end > range.lowerBound else { return "" }
    var (length, dots) = (0, 0)
    for at in range.lowerBound + 1...end {
        if at == end || bytes[at] == UInt8(ascii: "/") {
            guard length > 0, dots < length || length > 2 else { return nil }
            (length, dots) = (0, 0)
        } else {
            guard isLetter(bytes[at]) || isDigit(bytes[at]) || "-._~".utf8.contains(bytes[at]) else { return nil }
            length += 1
            if bytes[at] == UInt8(ascii: ".") { dots += 1 }
        }
    }
    return bytes.text(range.lowerBound..<end)
}
