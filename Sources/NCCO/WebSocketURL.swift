// SPDX-License-Identifier: MIT
//
// The URL of a WebSocket server that Vonage connects to.

/// An absolute `ws` or `wss` URL; otherwise as `WebURL`.
///
/// - Source: RFC 6455 section 3; Vonage Voice API, NCCO reference, `connect`, endpoint `websocket`, option `uri`.
public struct WebSocketURL: TextValue {
    /// The text as it was given.
    public let description: String

    /// The rule in words.
    public static var allowed: String { "an absolute ws or wss URL in printable ASCII" }

    /// The text where it keeps the rule.
    ///
    /// - Throws: `NCCOError` with the text and the rule.
    public init(checking text: String) throws(NCCOError) {
        guard isURL(text, schemes: ["ws", "wss"]) else { throw NCCOError(value: text, allowed: Self.allowed) }
        description = text
    }
}
