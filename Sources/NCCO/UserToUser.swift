// SPDX-License-Identifier: MIT
//
// What a SIP call hands to the other side in the header `User-to-User`.

/// The value of the SIP header `User-to-User`: 1...256 characters, none of them a control character.
///
/// - Source: Vonage Voice API, NCCO reference, `connect`, endpoint `sip`, option `standardHeaders`; RFC 7433.
public struct UserToUser: TextValue {
    /// The text as it was given.
    public let description: String

    /// The rule in words.
    public static var allowed: String { "a text of 1...256 characters without control characters" }

    /// The text where it keeps the rule.
    ///
    /// - Throws: `NCCOError` with the text and the rule.
    public init(checking text: String) throws(NCCOError) {
        guard (1...256).contains(text.unicodeScalars.count), hasNoControls(text) else {
            throw NCCOError(value: text, allowed: Self.allowed)
        }
        description = text
    }
}
