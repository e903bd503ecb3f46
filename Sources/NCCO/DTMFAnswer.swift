// SPDX-License-Identifier: MIT
//
// The keys that are pressed for the callee once the phone is answered.

/// Keys to press when a phone answers: `0`...`9`, `*`, `#` and `p`, a pause of 500 milliseconds.
///
/// - Source: Vonage Voice API, NCCO reference, `connect`, endpoint `phone`, option `dtmfAnswer`.
public struct DTMFAnswer: TextValue {
    /// The text as it was given.
    public let description: String

    /// The rule in words.
    public static var allowed: String { "keys of 0...9, *, # and p for a pause" }

    /// The text where it keeps the rule.
    ///
    /// - Throws: `NCCOError` with the text and the rule.
    public init(checking text: String) throws(NCCOError) {
        guard !text.isEmpty, text.utf8.allSatisfy({ isKey($0) || $0 == UInt8(ascii: "p") }) else {
            throw NCCOError(value: text, allowed: Self.allowed)
        }
        description = text
    }
}

/// A key of a telephone.
func isKey(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "*") || byte == UInt8(ascii: "#")
}
