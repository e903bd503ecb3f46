// SPDX-License-Identifier: MIT
//
// The list of endpoints that there are; what they hold is in the file of each, with a function that writes it in place.

internal import JSON

/// What `connect` dials.
///
/// - Source: Vonage Voice API, NCCO reference, `connect`, endpoint types.
public enum Endpoint: Hashable, Sendable {
    /// A telephone.
    case phone(Phone)
    /// A user of the application.
    case app(App)
    /// A WebSocket server.
    case websocket(WebSocket)
    /// A SIP endpoint.
    case sip(SIP)
    /// An extension of Vonage Business Communications.
    case vbc(VBC)

    /// The endpoints' types as Vonage spells them.
    package enum Name: String, CaseIterable, Sendable { case phone, app, websocket, sip, vbc }

    private var options: any OptionObject {
        switch self {
        case .phone(let phone): phone
        case .app(let app): app
        case .websocket(let websocket): websocket
        case .sip(let sip): sip
        case .vbc(let vbc): vbc
        }
    }

    func encode(into output: inout [UInt8]) { options.encode(into: &output) }

    func appendOtherOptionPaths(at path: String, to paths: inout [String]) { options.appendOtherOptionPaths(at: path, to: &paths) }

    init(_ given: GivenOption) throws(NCCOError) {
        var options = try OptionReader(given.node, action: given.action, option: given.name, path: given.path)
        let name: Name = try options.require("type", oneOf(Name.allCases.map(\.rawValue))).choice()
        self =
            switch name {
            case .phone: .phone(try Phone(readingAll: &options))
            case .app: .app(try App(readingAll: &options))
            case .websocket: .websocket(try WebSocket(readingAll: &options))
            case .sip: .sip(try SIP(readingAll: &options))
            case .vbc: .vbc(try VBC(readingAll: &options))
            }
    }
}
