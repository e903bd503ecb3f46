// SPDX-License-Identifier: MIT
//
// The list of actions that there are; what they hold is in the file of each.

internal import JSON

/// One step of an NCCO.
///
/// - Source: Vonage Voice API, NCCO reference, table of actions.
public enum Action: Hashable, Sendable {
    /// Records the call.
    case record(Record)
    /// Joins a named conversation.
    case conversation(Conversation)
    /// Dials an endpoint and joins it to the call.
    case connect(Connect)
    /// Speaks a text.
    case talk(Talk)
    /// Plays a file.
    case stream(Stream)
    /// Takes keys or speech from the caller.
    case input(Input)
    /// Sends a payload to a server.
    case notify(Notify)
    /// Pauses.
    case wait(Wait)
    /// Moves all legs to another conversation.
    case transfer(Transfer)

    /// The action's names as Vonage spells them.
    package enum Name: String, CaseIterable, Sendable { case record, conversation, connect, talk, stream, input, notify, wait, transfer }

    private var options: any OptionObject {
        switch self {
        case .record(let record): record
        case .conversation(let conversation): conversation
        case .connect(let connect): connect
        case .talk(let talk): talk
        case .stream(let stream): stream
        case .input(let input): input
        case .notify(let notify): notify
        case .wait(let wait): wait
        case .transfer(let transfer): transfer
        }
    }

    func encode(into output: inout [UInt8]) { options.encode(into: &output) }

    func appendOtherOptionPaths(at path: String, to paths: inout [String]) { options.appendOtherOptionPaths(at: path, to: &paths) }

    init(_ node: JSONNode, path: String) throws(NCCOError) {
        var unnamed = try OptionReader(node, action: nil, option: nil, path: path)
        let name: Name = try unnamed.require("action", oneOf(Name.allCases.map(\.rawValue))).choice()
        var options = OptionReader(unnamed, of: name.rawValue)
        self =
            switch name {
            case .record: .record(try Record(readingAll: &options))
            case .conversation: .conversation(try Conversation(readingAll: &options))
            case .connect: .connect(try Connect(readingAll: &options))
            case .talk: .talk(try Talk(readingAll: &options))
            case .stream: .stream(try Stream(readingAll: &options))
            case .input: .input(try Input(readingAll: &options))
            case .notify: .notify(try Notify(readingAll: &options))
            case .wait: .wait(try Wait(readingAll: &options))
            case .transfer: .transfer(try Transfer(readingAll: &options))
            }
    }
}
