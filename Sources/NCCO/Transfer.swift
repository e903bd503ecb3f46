// SPDX-License-Identifier: MIT
//
// The action `transfer`. The reference spells its required option in two ways: both are read, and the one of its example is written.

/// Moves all legs to another conversation, whose NCCO goes on; nothing behind it runs.
///
/// - Source: Vonage Voice API, NCCO reference, `transfer`.
public struct Transfer: Hashable, Sendable {
    /// The conversation, which must exist.
    public var conversationID: ConversationID
    /// The legs that the moved ones hear; everyone when absent, nobody when empty.
    public var canHear: [LegUUID]?
    /// Whom the moved legs may speak to; everyone when absent.
    public var speaking: Speaking?
    /// Options that this type does not know, from JSON that was read.
    public internal(set) var otherOptions: JSONObject = [:]

    /// Makes an action that moves all legs to this conversation.
    public init(to conversationID: ConversationID, canHear: [LegUUID]? = nil, speaking: Speaking? = nil) {
        self.conversationID = conversationID
        self.canHear = canHear
        self.speaking = speaking
    }
}

extension Transfer: OptionObject {
    init(from options: inout OptionReader) throws(NCCOError) {
        conversationID = try options.require("conversationId", or: "conversation_id", ConversationID.allowed).text()
        canHear = try options.take("canHear")?.texts()
        speaking = try Speaking(from: &options)
    }

    func encode(into output: inout [UInt8]) {
        output.beginAction("transfer")
        output.appendOption("conversationId", conversationID)
        output.appendOption("canHear", list: canHear)
        output.appendOption("canSpeak", list: speaking?.legs)
        output.appendOption("mute", speaking?.mute)
        output.endObject(otherOptions)
    }
}
