// SPDX-License-Identifier: MIT
//
// The action `connect`. Its endpoint is written last of the options, so that what matters most to a reader of a log stands at the end of the line.

/// Dials an endpoint and joins it to the call; the next action runs when the leg has ended, or could not be made.
///
/// - Source: Vonage Voice API, NCCO reference, `connect`.
public struct Connect: Hashable, Sendable {
    /// When Vonage's events about the new leg ask what to do next.
    public enum EventType: String, Hashable, Sendable, CaseIterable {
        /// The response to an event may hold an NCCO that replaces the rest of this one.
        case synchronous
    }

    /// What happens when a machine answers.
    public enum MachineDetection: Hashable, Sendable {
        /// The call goes on, and an event says that it is a machine.
        case `continue`
        /// The leg is ended.
        case hangup
        /// By the newer detection, which can wait for the beep.
        case advanced(AdvancedMachineDetection)
    }

    /// Whole seconds, 1...120.
    public typealias RingTime = Whole<1, 120>
    /// Whole seconds, 1...7200.
    public typealias Limit = Whole<1, 7200>

    /// Who is dialled.
    public var endpoint: Endpoint
    /// The number the callee sees; Vonage decides when absent. Towards an app user it is free.
    public var from: CallerID?
    /// Vonage does not ask when absent.
    public var eventType: EventType?
    /// How long the callee's side may ring, whole seconds, 1...120; Vonage takes 60 when absent.
    public var timeout: RingTime?
    /// How long the joined call may last, whole seconds, 1...7200; Vonage takes 7200 when absent.
    public var limit: Limit?
    /// What happens when a machine answers; nothing is detected when absent.
    public var machineDetection: MachineDetection? {
        // What was read beside it must not be written twice.
        didSet { otherOptions["machineDetection"] = nil }
    }
    /// Where events about the new leg go; to the application's event URL when absent.
    public var eventURL: WebURL?
    /// How they go there; `POST` when absent.
    public var eventMethod: EventMethod?
    /// A file that is looped to the caller until the callee answers; not advised towards phones.
    public var ringbackTone: WebURL?
    /// Options that this type does not know, from JSON that was read.
    public internal(set) var otherOptions: JSONObject = [:]

    /// Makes an action that dials this endpoint.
    public init(
        to endpoint: Endpoint, from: CallerID? = nil, timeout: RingTime? = nil, limit: Limit? = nil, eventType: EventType? = nil,
        machineDetection: MachineDetection? = nil, eventURL: WebURL? = nil, eventMethod: EventMethod? = nil, ringbackTone: WebURL? = nil
    ) {
        self.endpoint = endpoint
        self.from = from
        self.eventType = eventType
        self.timeout = timeout
        self.limit = limit
        self.machineDetection = machineDetection
        self.eventURL = eventURL
        self.eventMethod = eventMethod
        self.ringbackTone = ringbackTone
    }
}

extension Connect: OptionObject {
    private enum Behavior: String, CaseIterable { case `continue`, hangup }

    init(from options: inout OptionReader) throws(NCCOError) {
        let number: PhoneNumber? = try options.take("from")?.text()
        let random = try options.take("randomFromNumber")
        let isRandom = try random?.bool() ?? false
        if let random, isRandom, number != nil { throw random.refusal("left out together with from") }
        from = isRandom ? .random : number.map { .number($0) }
        eventType = try options.take("eventType")?.choice()
        timeout = try options.take("timeout")?.whole()
        limit = try options.take("limit")?.whole()
        if let advanced = try options.take("advancedMachineDetection", or: "advanced_machine_detection") {
            // It overrides `machineDetection`, which is kept among the others where both are there.
            machineDetection = .advanced(try advanced.options())
        } else {
            let behavior: Behavior? = try options.take("machineDetection")?.choice()
            machineDetection = behavior.map { $0 == .hangup ? .hangup : .continue }
        }
        eventURL = try options.takeEventURL()
        eventMethod = try options.take("eventMethod")?.choice()
        ringbackTone = try options.take("ringbackTone")?.onlyOrItself(WebURL.allowed).text()
        let given = try options.require("endpoint", "an array of one endpoint").only("an endpoint")
        endpoint = try Endpoint(given)
    }

    private var behavior: Behavior? {
        switch machineDetection {
        case .continue: .continue
        case .hangup: .hangup
        case .advanced, nil: nil
        }
    }

    private var advanced: AdvancedMachineDetection? { if case .advanced(let advanced) = machineDetection { advanced } else { nil } }

    func encode(into output: inout [UInt8]) {
        output.beginAction("connect")
        switch from {
        case .number(let number): output.appendOption("from", number)
        case .random: output.appendOption("randomFromNumber", true)
        case nil: break
        }
        output.appendOption("eventType", eventType)
        output.appendOption("timeout", timeout)
        output.appendOption("limit", limit)
        output.appendOption("machineDetection", behavior)
        output.appendOption("advancedMachineDetection", advanced)
        output.appendOption("eventUrl", listOfOne: eventURL)
        output.appendOption("eventMethod", eventMethod)
        output.appendOption("ringbackTone", ringbackTone)
        output.appendOption("endpoint", listOfOne: endpoint)
        output.endObject(otherOptions)
    }

    func appendOtherOptionPaths(at path: String, to paths: inout [String]) {
        appendOwnOtherOptionPaths(at: path, to: &paths)
        advanced?.appendOtherOptionPaths(at: path + ".advancedMachineDetection", to: &paths)
        endpoint.appendOtherOptionPaths(at: path + ".endpoint[0]", to: &paths)
    }
}
