// SPDX-License-Identifier: MIT
//
// Whose word counts on who asks and under which name: the proxies and tunnels of the operator, by their addresses. Everybody else's forwarded
// fields are as good as not there, since anybody can send them.

package import HTTPServer
import NCCO

package struct TrustedProxies: Sendable, Hashable {
    private struct Network: Sendable, Hashable {
        let prefix: IPAddress
        /// Of the 128 that an address has here.
        let bits: Int
    }

    private var networks: [Network]
    /// Whether a peer on a Unix domain socket is one: it runs on this machine, as a peer on loopback does.
    private var trustsLocal: Bool
    private var isStandard: Bool

    /// Whoever runs on this machine, as a tunnel's client does.
    package init() {
        networks = Self.loopback
        trustsLocal = true
        isStandard = true
    }

    /// Far more than anybody has; each is compared for each request that asks.
    private static let most = 64

    private static let loopback = networks("127.0.0.0/8", "::1/128")
    /// RFC 1918 and RFC 4193.
    private static let ofPrivateUse = networks("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")

    private static func networks(_ texts: String...) -> [Network] { texts.compactMap { network($0).value } }

    /// Adds the members of a list with commas; the first list replaces what holds without any.
    ///
    /// - Throws: `UsageError` for what is neither an address, a network nor one of the words.
    package mutating func add(_ list: String, _ source: String) throws(UsageError) {
        let words = list.split(separator: ",", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
        if isStandard { (networks, trustsLocal) = ([], false) }
        for word in words {
            switch word {
            case "loopback":
                networks += Self.loopback
                trustsLocal = true
            case "private": networks += Self.ofPrivateUse
            case "none":
                guard words.count == 1, isStandard else { throw UsageError("\(source): none stands alone; leave out the others, or none") }
            default:
                let (network, hint) = Self.network(word)
                guard let network else {
                    throw UsageError(
                        "\(source): \(printable(word)) is no address or network\(hint); write a list like 10.0.0.0/8,2001:db8::1, loopback, private or none"
                    )
                }
                networks.append(network)
            }
        }
        isStandard = false
        guard networks.count <= Self.most else { throw UsageError("\(source): more than \(Self.most) networks; write larger ones") }
    }

    private static func network(_ text: String) -> (value: Network?, hint: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = IPAddress(String(parts[0])) else { return (nil, "") }
        // Written with colons, an IPv4 address has all 128 bits.
        let first = address.isIPv4 && !parts[0].contains(":") ? 96 : 0
        var bits = 128
        if parts.count == 2 {
            guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let given = Int(parts[1]),
                given <= 128 - first
            else { return (nil, ": behind the slash stands a number of bits up to \(128 - first)") }
            bits = first + given
        }
        let prefix = address.prefix(bits)
        // Somebody means one of the two, and which one is not to be guessed.
        guard prefix == address else { return (nil, ": its network is \(prefix)/\(bits - first)") }
        return (Network(prefix: prefix, bits: bits), "")
    }

    package func trusts(_ peer: Peer) -> Bool {
        switch peer {
        case .local: trustsLocal
        case .address(let address): trusts(address)
        }
    }

    func trusts(_ address: IPAddress) -> Bool {
        // `::/0` means IPv6, though the IPv4 addresses lie in it here.
        networks.contains { address.prefix($0.bits) == $0.prefix && ($0.bits >= 96 || !address.isIPv4) }
    }
}
