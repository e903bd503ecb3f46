// SPDX-License-Identifier: MIT
//
// The endpoint `phone`.

extension Endpoint {
    /// A telephone.
    ///
    /// - Source: Vonage Voice API, NCCO reference, `connect`, endpoint `phone`.
    public struct Phone: Hashable, Sendable {
        /// An NCCO that runs on the callee's leg before it is joined.
        public struct OnAnswer: Hashable, Sendable {
            /// Where the NCCO is fetched.
            public var url: WebURL
            /// A file that is looped to the caller meanwhile; Vonage's tone when absent.
            public var ringbackTone: WebURL?
            /// Options that this type does not know, from JSON that was read.
            public internal(set) var otherOptions: JSONObject = [:]

            /// An NCCO at that URL.
            public init(url: WebURL, ringbackTone: WebURL? = nil) {
                self.url = url
                self.ringbackTone = ringbackTone
            }
        }

        /// The number to dial.
        public var number: PhoneNumber
        /// Keys to press when the phone answers; none when absent.
        public var dtmfAnswer: DTMFAnswer?
        /// What the callee hears before joining; nothing when absent.
        public var onAnswer: OnAnswer?
        /// A STIR/SHAKEN identity header, for accounts that asked for it.
        public var shaken: NonEmptyText?
        /// Options that this type does not know, from JSON that was read.
        public internal(set) var otherOptions: JSONObject = [:]

        /// A phone of that number.
        public init(number: PhoneNumber, dtmfAnswer: DTMFAnswer? = nil, onAnswer: OnAnswer? = nil, shaken: NonEmptyText? = nil) {
            self.number = number
            self.dtmfAnswer = dtmfAnswer
            self.onAnswer = onAnswer
            self.shaken = shaken
        }
    }

    /// A phone of that number.
    public static func phone(
        _ number: PhoneNumber, dtmfAnswer: DTMFAnswer? = nil, onAnswer: Phone.OnAnswer? = nil, shaken: NonEmptyText? = nil
    ) -> Endpoint {
        .phone(Phone(number: number, dtmfAnswer: dtmfAnswer, onAnswer: onAnswer, shaken: shaken))
    }
}

extension Endpoint.Phone: OptionObject {
    init(from options: inout OptionReader) throws(NCCOError) {
        number = try options.require("number", PhoneNumber.allowed).text()
        dtmfAnswer = try options.take("dtmfAnswer")?.text()
        onAnswer = try options.take("onAnswer")?.options()
        shaken = try options.take("shaken")?.text()
    }

    func encode(into output: inout [UInt8]) {
        output.beginEndpoint("phone")
        output.appendOption("number", number)
        output.appendOption("dtmfAnswer", dtmfAnswer)
        output.appendOption("onAnswer", onAnswer)
        output.appendOption("shaken", shaken)
        output.endObject(otherOptions)
    }

    func appendOtherOptionPaths(at path: String, to paths: inout [String]) {
        appendOwnOtherOptionPaths(at: path, to: &paths)
        onAnswer?.appendOtherOptionPaths(at: path + ".onAnswer", to: &paths)
    }
}

extension Endpoint.Phone.OnAnswer: OptionObject {
    init(from options: inout OptionReader) throws(NCCOError) {
        url = try options.require("url", WebURL.allowed).text()
        ringbackTone = try options.take("ringbackTone", or: "ringback")?.onlyOrItself(WebURL.allowed).text()
    }

    func encode(into output: inout [UInt8]) {
        output.beginObject()
        output.appendOption("url", url)
        output.appendOption("ringbackTone", ringbackTone)
        output.endObject(otherOptions)
    }
}
