// SPDX-License-Identifier: MIT
//
// The address of a SIP endpoint. Length limits differ between editions of the reference, so that none is set here.

/// A `sip:` or `sips:` URI, such as `sip:reception@pbx.example.com;transport=tls;media=srtp`.
///
/// The scheme may be in either case. A user and its `@` may stand in front of the host, and a port of 0...65535, parameters and headers behind
/// it. All characters are printable ASCII other than the blank.
///
/// - Source: RFC 3261 section 19.1; Vonage Voice API, NCCO reference, `connect`, endpoint `sip`, option `uri`.
public struct SIPURI: TextValue {
    /// The text as it was given.
    public let description: String

    /// The rule in words.
    public static var allowed: String { "a URI such as sip:user@host in printable ASCII" }

    /// The text where it keeps the rule.
    ///
    /// - Throws: `NCCOError` with the text and the rule.
    public init(checking text: String) throws(NCCOError) {
        guard isSIPURI(text) else { throw NCCOError(value: text, allowed: Self.allowed) }
        description = text
    }
}
