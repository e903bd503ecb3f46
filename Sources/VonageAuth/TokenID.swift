// SPDX-License-Identifier: MIT
//
// What makes each token another one: claim `jti`.

/// The unique id of a token, a random UUID of version 4 in lower case.
///
/// - Source: RFC 7519 §4.1.7; RFC 9562 §5.4; Vonage, "Authentication": required in every token.
public struct TokenID: Hashable, Sendable, CustomStringConvertible {
    /// 36 characters, such as `0b0f0e6e-7f52-4f0e-9d6f-3a1c2f6a9e10`.
    public let description: String

    /// A new id.
    public init() {
        var generator = SystemRandomNumberGenerator()
        self.init(using: &generator)
    }

    /// A new id from this source of random numbers, which must be a cryptographic one outside of tests.
    public init(using generator: inout some RandomNumberGenerator) {
        // Version 4, and the variant in the two highest bits of the second half.
        let high: UInt64 = generator.next() & ~0xF000 | 0x4000
        let low: UInt64 = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        func digits(_ number: UInt64) -> String {
            let text = String(number, radix: 16)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }
        var text = ""
        for (place, digit) in (digits(high) + digits(low)).enumerated() {
            if [8, 12, 16, 20].contains(place) { text += "-" }
            text.append(digit)
        }
        description = text
    }
}
