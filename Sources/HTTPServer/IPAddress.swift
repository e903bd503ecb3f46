// SPDX-License-Identifier: MIT
//
// Internet addresses as 128 bits, and who is at the other end of a connection. An IPv4 address is kept in the form in which a socket of both
// families reports it, `::ffff:a.b.c.d` (RFC 4291 §2.5.5.2), so that one peer is one value however it came in. Read and printed without the
// resolver: text from a header field must never become a question to a name server.

import HTTPWire

/// An IPv4 or IPv6 address without a zone.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// In the order of the wire: the first byte of the address is the highest.
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// - Parameter ipv4: its first byte is the highest.
    package init(ipv4: UInt32) { self.init(high: 0, low: Self.mapped | UInt64(ipv4)) }

    /// `::`, which is nobody's address.
    package static let unspecified = IPAddress(high: 0, low: 0)

    private static let mapped: UInt64 = 0xFFFF_0000_0000

    package var isIPv4: Bool { high == 0 && low &>> 32 == 0xFFFF }

    /// The address with only the first `bits` of its 128 kept; an IPv4 address begins at bit 96.
    package func prefix(_ bits: Int) -> IPAddress {
        func mask(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : bits >= 64 ? .max : ~(UInt64.max &>> UInt64(bits)) }
        return IPAddress(high: high & mask(bits), low: low & mask(bits - 64))
    }

    // MARK: Text

    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(0..<bytes.count, in: bytes.span)
    }

    /// Reads `IPv4address` or `IPv6address` of RFC 3986 §3.2.2; nil for anything else, so also with brackets, a port, a zone or a leading zero.
    package init?(_ range: Range<Int>, in bytes: Span<UInt8>) {
        // The longest is `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255`.
        guard !range.isEmpty, range.count <= 45, range.upperBound <= bytes.count else { return nil }
        if let address = Self.ipv4(range, in: bytes) {
            self.init(ipv4: address)
        } else if let address = Self.ipv6(range, in: bytes) {
            self = address
        } else {
            return nil
        }
    }

    private static func ipv4(_ range: Range<Int>, in bytes: Span<UInt8>) -> UInt32? {
        var (address, numbers, digits, value): (UInt32, Int, Int, UInt32) = (0, 0, 0, 0)
        for at in range.lowerBound...range.upperBound {
            if at == range.upperBound || bytes[at] == UInt8(ascii: ".") {
                guard digits > 0, numbers < 4 else { return nil }
                (address, numbers, digits, value) = (address &<< 8 | value, numbers + 1, 0, 0)
            } else {
                // A leading zero means octal to some and not to others.
                guard (0x30...0x39).contains(bytes[at]), digits < 3, digits == 0 || value > 0 else { return nil }
                value = value * 10 + UInt32(bytes[at] &- 0x30)
                guard value <= 255 else { return nil }
                digits += 1
            }
        }
        return numbers == 4 ? address : nil
    }

    private static func ipv6(_ range: Range<Int>, in bytes: Span<UInt8>) -> IPAddress? {
        var groups = InlineArray<8, UInt16>(repeating: 0)
        var (count, gap): (Int, Int?) = (0, nil)
        var at = range.lowerBound
        let end = range.upperBound
        if end - at >= 2, bytes[at] == UInt8(ascii: ":"), bytes[at + 1] == UInt8(ascii: ":") { (at, gap) = (at + 2, 0) }
        while at < end {
            guard count < 8 else { return nil }
            let start = at
            var value: UInt16 = 0
            while at < end, at - start < 4, let digit = bytes[at].hexValue { (at, value) = (at + 1, value &<< 4 | UInt16(digit)) }
            if at > start, at < end, bytes[at] == UInt8(ascii: ".") {
                guard count <= 6, let tail = ipv4(start..<end, in: bytes) else { return nil }
                groups[count] = UInt16(truncatingIfNeeded: tail &>> 16)
                groups[count + 1] = UInt16(truncatingIfNeeded: tail)
                (count, at) = (count + 2, end)
                break
            }
            guard at > start else { return nil }
            groups[count] = value
            count += 1
            guard at < end else { break }
            // One colon stands between two groups; a second one behind it is the gap, of which there is one.
            guard bytes[at] == UInt8(ascii: ":"), at + 1 < end else { return nil }
            at += 1
            if bytes[at] == UInt8(ascii: ":") {
                guard gap == nil else { return nil }
                (at, gap) = (at + 1, count)
            }
        }
        guard gap == nil ? count == 8 : count < 8 else { return nil }
        var words: (UInt64, UInt64) = (0, 0)
        for index in 0..<8 {
            let behind = gap.map { index - ($0 + 8 - count) } ?? -1
            let group =
                if let gap, index >= gap { behind >= 0 ? groups[gap + behind] : 0 } else { groups[index] }
            if index < 4 { words.0 = words.0 &<< 16 | UInt64(group) } else { words.1 = words.1 &<< 16 | UInt64(group) }
        }
        return IPAddress(high: words.0, low: words.1)
    }

    /// As RFC 5952 §4 wants it, and an IPv4 address with dots.
    package var description: String {
        if isIPv4 { return [24, 16, 8, 0].map { String(UInt8(truncatingIfNeeded: low &>> $0)) }.joined(separator: ".") }
        let groups =
            [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: high &>> $0) }
            + [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: low &>> $0) }
        // The first of the longest runs of at least two zeros is left out.
        var (longest, run) = (0..<0, 0)
        for index in groups.indices {
            run = groups[index] == 0 ? run + 1 : 0
            if run > max(longest.count, 1) { longest = index + 1 - run..<index + 1 }
        }
        func text(_ part: ArraySlice<UInt16>) -> String { part.map { String($0, radix: 16) }.joined(separator: ":") }
        return longest.isEmpty ? text(groups[...]) : "\(text(groups[..<longest.lowerBound]))::\(text(groups[longest.upperBound...]))"
    }
}

/// Who is at the other end of a connection.
package enum Peer: Sendable, Hashable {
    case address(IPAddress)
    /// Of a Unix domain socket: whoever may open its file.
    case local
}
