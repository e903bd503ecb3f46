// SPDX-License-Identifier: MIT
//
// The endpoint `phone`.

extension Endpoint {
    /// A telephone.
    ///
    /// - Source: Vonage Voice API, NCCO reference, `connect`, endpoint `phone`.
    public struct Phone: Hashable, Sendable {
        /// The number to dial.
        public let number: PhoneNumber

        /// A phone of that number.
        public init(number: PhoneNumber) { self.number = number }

        func encode(into output: inout [UInt8]) {
            output.beginEndpoint("phone")
            output.appendOption("number", number)
            output.endObject()
        }
    }
}
