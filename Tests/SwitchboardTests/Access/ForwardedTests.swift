// SPDX-License-Identifier: MIT

import Foundation
import HTTPServer
import HTTPWire
import Testing

@testable import Switchboard

private struct ForwardedVector: Decodable, Sendable, CustomTestStringConvertible {
    struct Expectation: Decodable, Sendable {
        let peer: String
        let scheme, host, base: String?
        let prefix: String
    }

    let name, direct, trusted, host: String
    let fields: [[String]]
    let expect: Expectation

    var testDescription: String { name }

    static func all() throws -> [ForwardedVector] {
        let file = try #require(Bundle.module.url(forResource: "Vectors/forwarded", withExtension: "json"))
        return try JSONDecoder().decode([ForwardedVector].self, from: Data(contentsOf: file))
    }
}

private func peer(_ text: String) -> Peer? { text == "unix" ? .local : IPAddress(text).map { .address($0) } }

private func trusted(_ lists: String...) throws -> TrustedProxies {
    var proxies = TrustedProxies()
    for list in lists { try proxies.add(list, "--trusted-proxies") }
    return proxies
}

/// What is made of field lines, and the URL that goes into an NCCO.
private func forwarded(_ fields: [[String]], host: String = "h", from direct: Peer, _ proxies: TrustedProxies) throws -> (
    Forwarded, String?
) {
    let lines = fields.map { "\($0[0]): \($0[1])\r\n" }.joined()
    let bytes = Array("GET /voice/answer HTTP/1.1\r\nHost: \(host)\r\n\(lines)\r\n".utf8)
    var head = RequestHead()
    try #require(try parseRequestHead(bytes.span, into: &head, limits: Limits()))
    let forwarded = Forwarded(head, bytes.span, from: direct, trusting: proxies)
    return (forwarded, forwarded.baseURL(head.authority, in: bytes.span))
}

struct ForwardedTests {
    @Test(arguments: try ForwardedVector.all()) fileprivate func `fields count as far as who wrote them is trusted`(
        _ vector: ForwardedVector
    ) throws {
        let (forwarded, base) = try forwarded(
            vector.fields, host: vector.host, from: #require(peer(vector.direct)), trusted(vector.trusted))
        #expect(forwarded.peer == peer(vector.expect.peer))
        #expect(forwarded.scheme?.rawValue == vector.expect.scheme)
        #expect(forwarded.host == vector.expect.host)
        #expect(forwarded.prefix == vector.expect.prefix)
        #expect(base == vector.expect.base)
    }

    /// The rule said in another way: the right-most that is not trusted, else the left-most; and a stranger's own address.
    @Test(arguments: 0..<200) func `the peer is the right-most that is no trusted proxy`(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let proxies = try trusted("loopback,10.0.0.0/8,2001:db8:1::/48")
        let some = [
            "127.0.0.1", "10.1.2.3", "2001:db8:1::7", "::1", "192.0.2.1", "2001:db8:2::7", "11.0.0.1", "10.255.255.255", "203.0.113.5",
        ]
        let chain = (0..<Int.random(in: 1...20, using: &random)).compactMap { _ in some.randomElement(using: &random) }
        let direct = try #require(peer(some.randomElement(using: &random) ?? ""))
        let peers = chain.compactMap { peer($0) }
        let expected = proxies.trusts(direct) ? peers.last { !proxies.trusts($0) } ?? peers[0] : direct

        // The chain over some lines of either kind.
        var (lines, quoted): ([[String]], [[String]]) = ([], [])
        var at = 0
        while at < chain.count {
            let count = Int.random(in: 1...chain.count - at, using: &random)
            let members = chain[at..<at + count]
            lines.append(["X-Forwarded-For", members.joined(separator: Bool.random(using: &random) ? "," : ", ")])
            quoted.append(["Forwarded", members.map { "for=\"\($0.contains(":") ? "[\($0)]" : $0)\"" }.joined(separator: ", ")])
            at += count
        }
        #expect(try forwarded(lines, from: direct, proxies).0.peer == expected)
        #expect(try forwarded(quoted, from: direct, proxies).0.peer == expected)
    }

    /// Whatever stands there, nothing traps, and a host is one that can be asked.
    @Test(arguments: 0..<50) func `any bytes are read`(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let pieces = [
            "for=", "host=", "proto=", "\"", "\\", ",", ";", " ", "[", "]", "::1", "127.0.0.1", ":", "80", "https", "a.b", "/", "..", "%",
            "\t", "é",
        ]
        let names = ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix"]
        for _ in 0..<200 {
            let fields = (0..<3).map { _ in
                [
                    names.randomElement(using: &random) ?? "",
                    (0..<Int.random(in: 0...30, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined(),
                ]
            }
            let (_, base) = try forwarded(fields, from: .local, TrustedProxies())
            if let base {
                #expect(base.hasPrefix("http") && base.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"\\{}<>".utf8.contains($0) })
            }
        }
    }
}

struct TrustedProxiesTests {
    @Test(
        arguments: [
            ("loopback", ["127.0.0.1", "127.255.255.255", "::1", "unix"], ["128.0.0.1", "::2", "10.0.0.1", "0.0.0.0", "::"]),
            (
                "private", ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fdff::1"],
                ["127.0.0.1", "::1", "unix", "172.32.0.1", "192.169.0.1", "fe80::1", "100.64.0.1"]
            ),
            ("none", [], ["127.0.0.1", "::1", "unix"]),
            ("10.0.0.0/8", ["10.255.255.255", "::ffff:10.0.0.1"], ["11.0.0.0", "127.0.0.1", "unix", "a00::"]),
            ("192.0.2.1", ["192.0.2.1"], ["192.0.2.2"]), ("192.0.2.1/32", ["192.0.2.1"], ["192.0.2.0"]),
            ("2001:db8::/32", ["2001:db8::1", "2001:db8:ffff::"], ["2001:db9::"]), ("2001:db8::1", ["2001:db8::1"], ["2001:db8::2"]),
            ("0.0.0.0/0", ["0.0.0.0", "255.255.255.255"], ["::1", "::"]), ("::/0", ["::", "::1", "ffff::"], ["127.0.0.1", "0.0.0.0"]),
            ("::ffff:10.0.0.0/104", ["10.1.1.1"], ["11.0.0.0", "::1"]),
            ("192.0.2.128/25", ["192.0.2.128", "192.0.2.255"], ["192.0.2.127"]),
            (" loopback , 10.0.0.0/8 ", ["127.0.0.1", "10.0.0.1", "unix"], ["192.168.0.1"]),
        ] as [(String, [String], [String])])
    func `a list trusts whom it names`(_ list: String, _ trustedPeers: [String], _ others: [String]) throws {
        let proxies = try trusted(list)
        for text in trustedPeers { #expect(try proxies.trusts(#require(peer(text))), "\(text)") }
        for text in others { #expect(try !proxies.trusts(#require(peer(text))), "\(text)") }
    }

    @Test func `without a list it is loopback, and the first list replaces it`() throws {
        #expect(TrustedProxies().trusts(.local) && TrustedProxies().trusts(.address(IPAddress(ipv4: 0x7F00_0001))))
        let both = try trusted("10.0.0.0/8", "192.0.2.1")
        for (text, isTrusted) in [("10.0.0.1", true), ("192.0.2.1", true), ("127.0.0.1", false), ("unix", false)] {
            #expect(try both.trusts(#require(peer(text))) == isTrusted)
        }
    }

    @Test(arguments: [
        ("", "is no address"), (",", "is no address"), ("loopback,", "is no address"), ("local", "is no address"),
        ("Loopback", "is no address"),
        ("10.0.0.0/33", "up to 32"), ("::/129", "up to 128"), ("10.0.0.0/", "up to 32"), ("10.0.0.0/8/8", "is no address"),
        ("10.0.0.0/-1", "up to 32"), ("10.0.0.0/+8", "up to 32"), ("10.0.0.0/255.0.0.0", "up to 32"),
        ("10.1.2.3/8", "its network is 10.0.0.0/8"),
        ("2001:db8::1/32", "its network is 2001:db8::/32"), ("fe80::1%eth0", "is no address"), ("none,loopback", "none stands alone"),
        ("10.0.0.0/8,none", "none stands alone"), ("\u{1B}[2J", "is no address"), ("proxy.example.com", "is no address"),
    ])
    func `what is no list says what would be`(_ list: String, _ words: String) {
        let error = #expect(throws: UsageError.self) { try trusted(list) }
        #expect(error?.description.contains(words) == true && error?.description.hasPrefix("--trusted-proxies: ") == true)
        #expect(error?.description.contains("\u{1B}") == false)
    }

    @Test func `none stands alone over all flags, and a list has an end`() throws {
        #expect(throws: UsageError.self) { try trusted("10.0.0.0/8", "none") }
        let many = (0..<65).map { "192.0.2.\($0)" }.joined(separator: ",")
        #expect(throws: UsageError.self) { try trusted(many) }
    }
}
