// SPDX-License-Identifier: MIT
//
// The action `connect`. The options that it does not have yet stand between `eventType` and `endpoint` when written, in the reference's order.

/// Dials an endpoint and joins it to the call.
///
/// - Source: Vonage Voice API, NCCO reference, `connect`.
public struct Connect: Hashable, Sendable {
    /// When Vonage's events about the new leg ask what to do next.
    public enum EventType: String, Hashable, Sendable {
        /// The response to an event may hold an NCCO that replaces the rest of this one.
        case synchronous
    }

    /// Who is dialled.
    public let endpoint: Endpoint
    /// The number the callee sees. Towards a phone it must be one of yours at Vonage, else the call is not connected; towards an app user it
    /// is free.
    public let from: PhoneNumber?
    /// How long the callee's side may ring, whole seconds, 1...120; Vonage takes 60 when absent.
    public let timeout: Int?
    /// How long the joined call may last, whole seconds, 1...7200; Vonage takes 7200 when absent.
    public let limit: Int?
    /// Vonage does not ask when absent.
    public let eventType: EventType?

    /// Makes an action that dials this endpoint.
    ///
    /// - Throws: `NCCOError`, naming option, value and what is allowed, for the first option outside its range.
    public init(
        to endpoint: Endpoint, from: PhoneNumber? = nil, timeout: Int? = nil, limit: Int? = nil, eventType: EventType? = nil
    ) throws(NCCOError) {
        try NCCOError.check(timeout, in: 1...120, action: "connect", option: "timeout")
        try NCCOError.check(limit, in: 1...7200, action: "connect", option: "limit")
        self.endpoint = endpoint
        self.from = from
        self.timeout = timeout
        self.limit = limit
        self.eventType = eventType
    }

    func encode(into output: inout [UInt8]) {
        output.beginAction("connect")
        output.appendOption("from", from)
        output.appendOption("timeout", timeout)
        output.appendOption("limit", limit)
        output.appendOption("eventType", eventType?.rawValue)
        output.appendOption("endpoint", endpoint)
        output.endObject()
    }
}
