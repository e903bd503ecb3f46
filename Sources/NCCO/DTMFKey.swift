// SPDX-License-Identifier: MIT
//
// The one key that ends a recording.

/// A key of a telephone: `0`...`9`, `*` or `#`.
///
/// - Source: Vonage Voice API, NCCO reference, `record`, option `endOnKey`.
public struct DTMFKey: TextValue {
    /// The text as it was given.
    public let description: String

    /// The rule in words.
    public static var allowed: String { "one key of 0...9, * and #" }

    /// The text where it keeps the rule.
    ///
    /// - Throws: `NCCOError` with the text and the rule.
    public init(checking text: String) throws(NCCOError) {
        guard text.utf8.count == 1, text.utf8.allSatisfy(isKey) else { throw NCCOError(value: text, allowed: Self.allowed) }
        description = text
    }
}
