// SPDX-License-Identifier: MIT
//
// The id of a conversation. Vonage makes it, with `CON-` in front as a rule; its form is not promised, so that it is not taken apart.

/// The id of a conversation, such as `CON-0d6d4d2e-…`: any text of at least one character without control characters.
///
/// - Source: Vonage Voice API, NCCO reference, `transfer`, option `conversationId`.
public struct ConversationID: TextValue {
    /// The text as it was given.
    public let description: String

    /// The rule in words.
    public static var allowed: String { "the id of a conversation" }

    /// The text where it keeps the rule.
    ///
    /// - Throws: `NCCOError` with the text and the rule.
    public init(checking text: String) throws(NCCOError) {
        guard !text.isEmpty, hasNoControls(text) else { throw NCCOError(value: text, allowed: Self.allowed) }
        description = text
    }
}
