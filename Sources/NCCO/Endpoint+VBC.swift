// SPDX-License-Identifier: MIT
//
// The endpoint `vbc`.

extension Endpoint {
    /// An extension of Vonage Business Communications.
    ///
    /// - Source: Vonage Voice API, NCCO reference, `connect`, endpoint `vbc`.
    public struct VBC: Hashable, Sendable {
        /// The extension, such as `204`.
        public var `extension`: NonEmptyText
        /// Options that this type does not know, from JSON that was read.
        public internal(set) var otherOptions: JSONObject = [:]

        /// The extension of that name.
        public init(extension: NonEmptyText) { self.extension = `extension` }
    }

    /// The extension of that name.
    public static func vbc(_ extension: NonEmptyText) -> Endpoint { .vbc(VBC(extension: `extension`)) }
}

extension Endpoint.VBC: OptionObject {
    init(from options: inout OptionReader) throws(NCCOError) {
        `extension` = try options.require("extension", NonEmptyText.allowed).text()
    }

    func encode(into output: inout [UInt8]) {
        output.beginEndpoint("vbc")
        output.appendOption("extension", `extension`)
        output.endObject(otherOptions)
    }
}
