// SPDX-License-Identifier: MIT
//
// What all texts with rules have in common: they are checked at birth, can be written as literals, and say in words what they allow. There
// is deliberately no failable `init(_:)` here: a nil that it gave would silently leave an option out.

/// A text that some option takes.
///
/// A literal that breaks the rule is a mistake of whoever wrote it and stops the program; for text from outside use `init(checking:)`.
///
/// ```swift
/// let url: WebURL = "https://example.com/voice/event"
/// let other = try WebURL(checking: textFromTheSettings)
/// ```
public protocol TextValue: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral
where StringLiteralType == String, ExtendedGraphemeClusterLiteralType == String, UnicodeScalarLiteralType == String {
    /// The rule in words that fit behind "must be".
    static var allowed: String { get }

    /// The text where it keeps the rule.
    ///
    /// - Throws: `NCCOError` with the text and the rule.
    init(checking text: String) throws(NCCOError)
}

extension TextValue {
    /// Lets a text be written in place; where it breaks the rule the program stops.
    public init(stringLiteral text: String) {
        // A literal is part of the program, never something from outside: `init(checking:)` is for that, and throws. The protocol leaves an
        // initialiser no other way to refuse.
        do throws(NCCOError) { try self.init(checking: text) } catch { preconditionFailure("\(error)") }
    }
}

/// Whether no scalar is a control character, U+0000...U+001F and U+007F...U+009F.
func hasNoControls(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
}
