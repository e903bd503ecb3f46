// SPDX-License-Identifier: MIT
//
// The endpoint `app`.

extension Endpoint {
    /// A user of the application who is logged in with a Client SDK.
    ///
    /// - Source: Vonage Voice API, NCCO reference, `connect`, endpoint `app`.
    public struct App: Hashable, Sendable {
        /// The user's name, not the id.
        public let user: UserName

        /// The app user of that name.
        public init(user: UserName) { self.user = user }

        func encode(into output: inout [UInt8]) {
            output.beginEndpoint("app")
            output.appendOption("user", user.description)
            output.endObject()
        }
    }
}
