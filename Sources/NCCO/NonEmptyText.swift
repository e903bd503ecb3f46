// SPDX-License-Identifier: MIT
//
// A text whose inside is not ours to judge: a room, an extension, the name of a trunk. What is empty means nothing, and a control character
// is always an accident or an attack, in a header most of all.

/// A text of at least one character, none of them a control character.
///
/// - Source: Vonage Voice API, NCCO reference, options of type string without a stated form.
public struct NonEmptyText: TextValue {
    /// The text as it was given.
    public let description: String

    /// The rule in words.
    public static var allowed: String { "a text of at least one character without control characters" }

    /// The text where it keeps the rule.
    ///
    /// - Throws: `NCCOError` with the text and the rule.
    public init(checking text: String) throws(NCCOError) {
        guard !text.isEmpty, hasNoControls(text) else { throw NCCOError(value: text, allowed: Self.allowed) }
        description = text
    }
}
