// SPDX-License-Identifier: MIT
//
// The endpoint `app`.

extension Endpoint {
    /// A user of the application who is logged in with a Client SDK.
    ///
    /// - Source: Vonage Voice API, NCCO reference, `connect`, endpoint `app`.
    public struct App: Hashable, Sendable {
        /// The user's name, not the id.
        public var user: UserName
        /// Options that this type does not know, from JSON that was read.
        public internal(set) var otherOptions: JSONObject = [:]

        /// The app user of that name.
        public init(user: UserName) { self.user = user }
    }

    /// The app user of that name.
    public static func app(_ user: UserName) -> Endpoint { .app(App(user: user)) }
}

extension Endpoint.App: OptionObject {
    init(from options: inout OptionReader) throws(NCCOError) { user = try options.require("user", UserName.allowed).text() }

    func encode(into output: inout [UInt8]) {
        output.beginEndpoint("app")
        output.appendOption("user", user)
        output.endObject(otherOptions)
    }
}
