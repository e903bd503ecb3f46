// SPDX-License-Identifier: MIT
//
// The list of actions that there are; what they hold is in the file of each.

/// One step of an NCCO.
///
/// - Source: Vonage Voice API, NCCO reference, table of actions.
public enum Action: Hashable, Sendable {
    /// Speaks a text.
    case talk(Talk)
    /// Dials an endpoint and joins it to the call.
    case connect(Connect)

    func encode(into output: inout [UInt8]) {
        switch self {
        case .talk(let talk): talk.encode(into: &output)
        case .connect(let connect): connect.encode(into: &output)
        }
    }
}
