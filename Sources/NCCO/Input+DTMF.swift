// SPDX-License-Identifier: MIT
//
// The settings `dtmf` of `input`.

extension Input {
    /// How keys are taken.
    ///
    /// - Source: Vonage Voice API, NCCO reference, `input`, option `dtmf`.
    public struct DTMF: Hashable, Sendable {
        /// Whole seconds, 0...10. Vonage's SDKs differ in whether 0 may be given.
        public typealias TimeOut = Whole<0, 10>
        /// 1...20.
        public typealias MaxDigits = Whole<1, 20>

        /// How long after the last key the keys are sent, whole seconds, 0...10; Vonage takes 3 when absent.
        public var timeOut: TimeOut?
        /// How many keys are taken, 1...20; Vonage takes 4 when absent.
        public var maxDigits: MaxDigits?
        /// Whether `#` sends the keys at once; Vonage takes false when absent.
        public var submitOnHash: Bool?
        /// Options that this type does not know, from JSON that was read.
        public internal(set) var otherOptions: JSONObject = [:]

        /// Makes settings for keys.
        public init(timeOut: TimeOut? = nil, maxDigits: MaxDigits? = nil, submitOnHash: Bool? = nil) {
            self.timeOut = timeOut
            self.maxDigits = maxDigits
            self.submitOnHash = submitOnHash
        }
    }
}

extension Input.DTMF: OptionObject {
    init(from options: inout OptionReader) throws(NCCOError) {
        timeOut = try options.take("timeOut")?.whole()
        maxDigits = try options.take("maxDigits")?.whole()
        submitOnHash = try options.take("submitOnHash")?.bool()
    }

    func encode(into output: inout [UInt8]) {
        output.beginObject()
        output.appendOption("timeOut", timeOut)
        output.appendOption("maxDigits", maxDigits)
        output.appendOption("submitOnHash", submitOnHash)
        output.endObject(otherOptions)
    }
}
