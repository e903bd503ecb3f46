// SPDX-License-Identifier: MIT
//
// The action `stream`. Foundation has a class of that name: the type lies in `NCCO`, so that `NCCO.Stream` is understood in a file that
// imports both, and `Stream` is short for it anywhere else.

/// Plays a file to the call.
public typealias Stream = NCCO.Stream

extension NCCO {
    /// Plays a file to the call: mp3, or wav with 16 bit.
    ///
    /// - Source: Vonage Voice API, NCCO reference, `stream`.
    public struct Stream: Hashable, Sendable {
        /// The file.
        public var streamURL: WebURL
        /// Loudness, -1...1, in steps of 0.1; Vonage takes 0 when absent.
        public var level: Level?
        /// Whether the listener may cut in with an `input`, which must then be the next action that is not `stream`; Vonage takes false when
        /// absent.
        public var bargeIn: Bool?
        /// Times the file is played, 0 for ever; Vonage takes 1 when absent.
        public var loop: Loop?
        /// Options that this type does not know, from JSON that was read.
        public internal(set) var otherOptions: JSONObject = [:]

        /// Makes an action that plays this file.
        public init(_ streamURL: WebURL, level: Level? = nil, bargeIn: Bool? = nil, loop: Loop? = nil) {
            self.streamURL = streamURL
            self.level = level
            self.bargeIn = bargeIn
            self.loop = loop
        }
    }
}

extension NCCO.Stream: OptionObject {
    init(from options: inout OptionReader) throws(NCCOError) {
        streamURL = try options.require("streamUrl", "an array of one: \(WebURL.allowed)").only(WebURL.allowed).text()
        level = try options.take("level")?.number()
        bargeIn = try options.take("bargeIn")?.bool()
        loop = try options.take("loop")?.whole()
    }

    func encode(into output: inout [UInt8]) {
        output.beginAction("stream")
        output.appendOption("streamUrl", listOfOne: streamURL)
        output.appendOption("level", level)
        output.appendOption("bargeIn", bargeIn)
        output.appendOption("loop", loop)
        output.endObject(otherOptions)
    }
}
