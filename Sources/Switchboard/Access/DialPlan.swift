// SPDX-License-Identifier: MIT
//
// Which phone numbers of a request may be dialled. Whoever can reach the answer route, or take over an app user, could otherwise have calls
// placed to numbers that pay their owner, at the cost of the account.
//
// The longest prefix that a number begins with decides. Where lists have the same one, a prefix denied by the settings comes before one
// allowed by them, and that before one that is denied by default. What no prefix covers is allowed, unless the settings allow any: then those
// are all that may be dialled. All lists are one sorted array, so that asking costs a few searches and no memory.

import JSON
package import NCCO

package final class DialPlan: Sendable {
    /// Why a number may not be dialled.
    package struct Denial: Sendable, Hashable {
        package enum Reason: Sendable, Hashable {
            /// Of those that are denied by default.
            case standard
            /// Of those that the settings deny.
            case setting
            /// The settings allow some, and not this.
            case notAllowed
        }

        package let reason: Reason
        /// The prefix that decided; for one that is not allowed its country code.
        package let prefix: DialPrefix
    }

    package enum Verdict: Sendable, Hashable {
        case allowed
        case denied(Denial)
    }

    private enum Rule { case allowed, denied, deniedByDefault }

    private struct Entry {
        let key: UInt64
        let rule: Rule
    }

    /// Sorted by key, no two of which are the same.
    private let entries: [Entry]
    /// A bit for each length that an entry has.
    private let lengths: UInt32
    /// Only what is allowed may be dialled.
    private let isClosed: Bool

    /// What holds where the settings say nothing.
    package static let standard = DialPlan()

    /// - Parameter deniesByDefault: whether `DeniedPrefixes` count.
    package init(allowed: [DialPrefix] = [], denied: [DialPrefix] = [], deniesByDefault: Bool = true) {
        var rules: [DialPrefix: Rule] = [:]
        // In the order in which each list overrules the one before.
        if deniesByDefault { for prefix in DeniedPrefixes.all { rules[prefix] = .deniedByDefault } }
        for prefix in allowed { rules[prefix] = .allowed }
        for prefix in denied { rules[prefix] = .denied }
        entries = rules.map { Entry(key: Self.key($0.key), rule: $0.value) }.sorted { $0.key < $1.key }
        lengths = rules.keys.reduce(0) { $0 | 1 << UInt32($1.length) }
        isClosed = !allowed.isEmpty
    }

    /// 15 digits take 50 bits.
    private static func key(_ prefix: DialPrefix) -> UInt64 { prefix.value << 4 | UInt64(prefix.length) }

    /// The verdict on a number as it is written and, since a carrier may read it so, on what it is without the trunk prefix that people write
    /// behind the country code, as in +44 (0)906: who denies one denies the other.
    package func verdict(for number: PhoneNumber) -> Verdict {
        let verdict = plainVerdict(for: number)
        guard verdict == .allowed, let other = number.withoutTrunkPrefix else { return verdict }
        return plainVerdict(for: other)
    }

    private func plainVerdict(for number: PhoneNumber) -> Verdict {
        let digits = number.length
        var (length, rest) = (digits, number.value)
        while length >= 0 {
            if lengths & 1 << UInt32(length) != 0 {
                let key = rest << 4 | UInt64(length)
                switch rule(key) {
                case .allowed?: return .allowed
                case .denied?: return .denied(Denial(reason: .setting, prefix: number.prefix(length)))
                case .deniedByDefault?: return .denied(Denial(reason: .standard, prefix: number.prefix(length)))
                case nil: break
                }
            }
            length -= 1
            rest /= 10
        }
        return isClosed ? .denied(Denial(reason: .notAllowed, prefix: number.countryCode)) : .allowed
    }

    private func rule(_ key: UInt64) -> Rule? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].key == key ? entries[low].rule : nil
    }

    /// The number of a phone endpoint, or of one in a list, that may not be dialled; nil where there is none. What is no endpoint at all, or
    /// has a key twice, is for lint to refuse.
    func deniedNumber(in json: Span<UInt8>) -> DeniedNumber? {
        guard let root = try? parseJSON(json, maximumDepth: NCCO.maximumDepth) else { return nil }
        let endpoints: [JSONNode] = if case .array(let elements) = root.value { elements } else { [root] }
        for case .object(let members) in endpoints.map(\.value) {
            func text(_ name: String) -> String? {
                guard case .string(let string)? = members.first(where: { $0.name.value == name })?.node.value else { return nil }
                return string.value
            }
            if text("type") == "phone", let number = text("number").flatMap({ PhoneNumber(lenient: $0) }),
                case .denied(let denial) = verdict(for: number)
            {
                return DeniedNumber(number: number, denial: denial)
            }
        }
        return nil
    }

    /// Why, and what would allow it, for who runs the server.
    package func words(_ denial: Denial) -> String {
        let prefix = denial.prefix
        switch denial.reason {
        case .standard:
            // The first prefix that is allowed closes all others.
            let cure = isClosed ? "--allow-prefixes \(prefix)" : "--allow-prefixes all,\(prefix)"
            let what = DeniedPrefixes.group(of: prefix).map { " (\($0.name))" } ?? ""
            return "\(prefix)\(what) is denied by default; \(cure) would allow it"
        case .setting:
            // A long one would be the number.
            return prefix.length > 8
                ? "its prefix is denied by --deny-prefixes, and would have to be taken out there"
                : "\(prefix) is denied by --deny-prefixes, and would have to be taken out there"
        case .notAllowed: return "--allow-prefixes has no prefix of it; --allow-prefixes \(prefix) would allow it"
        }
    }
}

/// A number of a request that may not be dialled.
package struct DeniedNumber: Sendable, Hashable {
    let number: PhoneNumber
    let denial: DialPlan.Denial
}
