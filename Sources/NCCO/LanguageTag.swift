// SPDX-License-Identifier: MIT
//
// A language as `talk` names it. The shape is checked, not the list: Vonage adds languages, and takes them in either case.

/// A language with its region or variant, such as `en-GB` or `yue-CN`.
///
/// - Source: RFC 5646 section 2.1; Vonage Voice API, text-to-speech guide, supported languages.
public struct LanguageTag: TextValue, LosslessStringConvertible {
    /// The tag as it was given.
    public let description: String

    /// The rule in words.
    public static var allowed: String { "a language code such as en-GB" }

    /// Two or three letters, then parts of 2...8 letters or digits behind a hyphen each, at most three; nil for anything else.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard let language = parts.first, (2...3).contains(language.count), language.allSatisfy(isLetter), parts.count <= 4,
            parts.dropFirst().allSatisfy({ (2...8).contains($0.count) && $0.allSatisfy { isLetter($0) || isDigit($0) } })
        else { return nil }
        description = text
    }

    /// The tag where it has the shape of one.
    ///
    /// - Throws: `NCCOError` with the text and the rule.
    public init(checking text: String) throws(NCCOError) {
        guard let tag = Self(text) else { throw NCCOError(value: text, allowed: Self.allowed) }
        self = tag
    }
}

func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
