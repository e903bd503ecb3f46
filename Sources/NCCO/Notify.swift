// SPDX-License-Identifier: MIT
//
// The action `notify`.

/// Sends a payload to a server; an NCCO in the response replaces the rest of this one, an empty response changes nothing.
///
/// - Source: Vonage Voice API, NCCO reference, `notify`.
public struct Notify: Hashable, Sendable {
    /// What is sent under `payload`; with `GET` as JSON text.
    public var payload: JSONObject
    /// Where it is sent.
    public var eventURL: WebURL
    /// How it is sent; `POST` when absent.
    public var eventMethod: EventMethod?
    /// Options that this type does not know, from JSON that was read.
    public internal(set) var otherOptions: JSONObject = [:]

    /// Makes an action that sends this payload.
    public init(_ payload: JSONObject, eventURL: WebURL, eventMethod: EventMethod? = nil) {
        self.payload = payload
        self.eventURL = eventURL
        self.eventMethod = eventMethod
    }
}

extension Notify: OptionObject {
    init(from options: inout OptionReader) throws(NCCOError) {
        payload = try options.require("payload", "an object").object()
        eventURL = try options.require("eventUrl", "an array of one: \(WebURL.allowed)").only(WebURL.allowed).text()
        eventMethod = try options.take("eventMethod")?.choice()
    }

    func encode(into output: inout [UInt8]) {
        output.beginAction("notify")
        output.appendOption("payload", payload)
        output.appendOption("eventUrl", listOfOne: eventURL)
        output.appendOption("eventMethod", eventMethod)
        output.endObject(otherOptions)
    }
}
