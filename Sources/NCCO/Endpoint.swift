// SPDX-License-Identifier: MIT
//
// The list of endpoints that there are; what they hold is in the file of each.

/// What `connect` dials.
///
/// - Source: Vonage Voice API, NCCO reference, `connect`, endpoint types.
public enum Endpoint: Hashable, Sendable {
    /// A telephone.
    case phone(Phone)
    /// A user of the application.
    case app(App)

    func encode(into output: inout [UInt8]) {
        switch self {
        case .phone(let phone): phone.encode(into: &output)
        case .app(let app): app.encode(into: &output)
        }
    }
}
