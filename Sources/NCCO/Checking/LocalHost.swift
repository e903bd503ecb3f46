// SPDX-License-Identifier: MIT
//
// Addresses that somebody tried on his own machine and left in: Vonage's servers cannot reach them.

/// Whether the host is one that only this machine or its network can reach.
func isLocalHost(_ authority: some StringProtocol) -> Bool {
    var host = authority.lowercased()
    if let at = host.lastIndex(of: "@") { host = String(host[host.index(after: at)...]) }
    if host.hasPrefix("[") {
        let inside = host.dropFirst().prefix { $0 != "]" }
        return inside == "::1" || inside.hasPrefix("fe80:") || inside.hasPrefix("fc") || inside.hasPrefix("fd")
    }
    host = String(host.prefix { $0 != ":" })
    if host == "localhost" || host.hasSuffix(".localhost") || host.hasSuffix(".local") || host.hasSuffix(".internal") { return true }
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    guard numbers.count == 4, let first = numbers[0], let second = numbers[1], numbers[2] != nil, numbers[3] != nil else { return false }
    switch (first, second) {
    case (0, _), (10, _), (127, _), (192, 168), (169, 254): return true
    case (172, 16...31): return true
    default: return false
    }
}
