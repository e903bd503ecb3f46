// SPDX-License-Identifier: MIT
//
// Who speaks or recognises for Vonage. The reference does not list the names and what they take, so that neither is checked.

/// A provider of speech and its own options, such as `google` or `deepgram`.
///
/// - Source: Vonage server SDKs, `talk` and `input`, options `provider` and `providerOptions`.
public struct Provider: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The provider's name.
    public var name: NonEmptyText
    /// What the provider takes besides; Vonage's SDKs differ in whether it may be absent.
    public var options: JSONObject?

    /// A provider by name.
    public init(_ name: NonEmptyText, options: JSONObject? = nil) {
        self.name = name
        self.options = options
    }

    /// Lets a name be written in place; where it is empty the program stops.
    public init(stringLiteral name: String) { self.init(NonEmptyText(stringLiteral: name)) }
}

extension Provider {
    /// Options of no provider stay where they are, among the others.
    init?(from options: inout OptionReader) throws(NCCOError) {
        guard let name = try options.take("provider") else { return nil }
        self.init(try name.text(), options: try options.take("providerOptions")?.object())
    }
}
