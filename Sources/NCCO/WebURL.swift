// SPDX-License-Identifier: MIT
//
// A URL that Vonage fetches. Only what any HTTP client must be able to use is asked for; whether somebody answers there is another question.

/// An absolute `http` or `https` URL.
///
/// The scheme may be in either case; a host must follow `//`, with a port of 0...65535 where there is one. All characters are printable ASCII
/// other than the blank: write others percent-encoded. Path, query and fragment are not looked into.
///
/// - Source: RFC 3986; Vonage Voice API, NCCO reference, options `eventUrl`, `streamUrl`, `musicOnHoldUrl`, `ringbackTone`.
public struct WebURL: TextValue {
    /// The text as it was given.
    public let description: String

    /// The rule in words.
    public static var allowed: String { "an absolute http or https URL in printable ASCII" }

    /// The text where it keeps the rule.
    ///
    /// - Throws: `NCCOError` with the text and the rule.
    public init(checking text: String) throws(NCCOError) {
        guard isURL(text, schemes: ["http", "https"]) else { throw NCCOError(value: text, allowed: Self.allowed) }
        description = text
    }
}
