// SPDX-License-Identifier: MIT
//
// The id of a leg. Vonage makes it and its form is not promised, so that it is not taken apart; it is a type so that nothing else is taken
// for it.

/// The id of a leg, as `uuid` in events: any text of at least one character without control characters.
///
/// - Source: Vonage Voice API, NCCO reference, `conversation`, options `canSpeak` and `canHear`.
public struct LegUUID: TextValue {
    /// The text as it was given.
    public let description: String

    /// The rule in words.
    public static var allowed: String { "the uuid of a leg" }

    /// The text where it keeps the rule.
    ///
    /// - Throws: `NCCOError` with the text and the rule.
    public init(checking text: String) throws(NCCOError) {
        guard !text.isEmpty, hasNoControls(text) else { throw NCCOError(value: text, allowed: Self.allowed) }
        description = text
    }
}
