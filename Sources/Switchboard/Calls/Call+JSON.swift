// SPDX-License-Identifier: MIT
//
// A call as JSON, for the command line and for pages. Members that say nothing are left out, but for those of the call and its legs that a
// reader looks for: they are null.

import EventLog
import JSON

extension Call {
    /// Appends `{"conversation_uuid","began","from","to","state","seconds","price","legs":[…],"steps":[…]}`.
    ///
    /// Times are ISO 8601 in UTC, `price` is decimal text in EUR. Further members: `ended` (whether it is over), `answered_by`,
    /// `disconnected_by`, `transferred_to`, `transferred_from`, `omitted_steps`.
    ///
    /// - Parameter steps: false for a line of a list.
    package func appendJSON(to output: inout [UInt8], masking: Masking = .masked, steps hasSteps: Bool = true) {
        var object = ObjectWriter(masking)
        object.begin(&output)
        object.plain("conversation_uuid", conversationUUID, &output)
        object.time("began", began, &output)
        object.party("from", from, &output)
        object.party("to", to, &output)
        object.plain("state", state.text, &output)
        if case .open = state { object.raw("ended", "false", &output) } else { object.raw("ended", "true", &output) }
        object.raw("seconds", seconds.map { "\($0)" } ?? "null", &output)
        object.plain("price", price?.description, &output)
        object.optional("answered_by", answeredBy, &output)
        object.optional("disconnected_by", disconnectedBy, &output)
        object.list("transferred_to", transferredTo, &output)
        object.list("transferred_from", transferredFrom, &output)
        if omitted > 0 { object.raw("omitted_steps", "\(omitted)", &output) }
        object.name("legs", &output)
        output.append(UInt8(ascii: "["))
        for (index, leg) in legs.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            leg.appendJSON(to: &output, masking)
        }
        output.append(UInt8(ascii: "]"))
        if hasSteps {
            object.name("steps", &output)
            output.append(UInt8(ascii: "["))
            for (index, step) in steps.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                step.appendJSON(to: &output, masking: masking)
            }
            output.append(UInt8(ascii: "]"))
        }
        output.append(UInt8(ascii: "}"))
    }
}

extension Call.Leg {
    fileprivate func appendJSON(to output: inout [UInt8], _ masking: Masking) {
        var object = ObjectWriter(masking)
        object.begin(&output)
        object.plain("uuid", uuid, &output)
        object.plain("state", state?.rawValue, &output)
        object.plain("direction", direction, &output)
        object.party("from", from, &output)
        object.party("to", to, &output)
        object.time("began", began, &output)
        if let answered { object.time("answered", answered, &output) }
        object.plain("completed", completed.rawValue, &output)
        object.raw("seconds", seconds.map { "\($0)" } ?? "null", &output)
        object.plain("price", price?.description, &output)
        object.optional("rate", rate, &output)
        object.optional("network", network, &output)
        object.optional("detail", detail, &output)
        object.optional("sip_code", sipCode, &output)
        object.optional("answered_by", answeredBy, &output)
        object.optional("disconnected_by", disconnectedBy, &output)
        output.append(UInt8(ascii: "}"))
    }
}

extension CallStep {
    /// Appends `{"kind","status","leg","time","at","seq","repeats","event" or "request","flow","ncco"}`.
    ///
    /// Further members, each only where it says something: `time_is_arrival`, `micros` (from the request to its answer), `reason`, `error`, `about` (the `seq` of the step whose NCCO an
    /// error event complains about), `again` (the same was asked before).
    package func appendJSON(to output: inout [UInt8], masking: Masking = .masked) {
        var object = ObjectWriter(masking)
        object.begin(&output)
        object.plain("kind", kind, &output)
        object.plain("status", status, &output)
        object.plain("leg", leg, &output)
        object.time("time", time, &output)
        if isTimeOfArrival { object.raw("time_is_arrival", "true", &output) }
        object.time("at", at, &output)
        object.raw("seq", "\(seq)", &output)
        object.raw("repeats", "\(repeats)", &output)
        for (name, json) in [("event", event), ("request", request)] as [(StaticString, [UInt8]?)] {
            guard let json else { continue }
            object.name(name, &output)
            masking.append(json, to: &output)
        }
        object.optional("flow", flow, &output)
        if let ncco {
            object.name("ncco", &output)
            masking.append(ncco, to: &output)
        }
        if let micros { object.raw("micros", "\(micros)", &output) }
        object.optional("reason", reason, &output)
        object.optional("error", error, &output)
        if let about { object.raw("about", "\(about)", &output) }
        if isAgain { object.raw("again", "true", &output) }
        output.append(UInt8(ascii: "}"))
    }
}

/// Members with the commas between them. The buffer is lent to each call.
struct ObjectWriter {
    private let masking: Masking
    private var isFirst = true

    init(_ masking: Masking) { self.masking = masking }

    func begin(_ output: inout [UInt8]) { output.append(UInt8(ascii: "{")) }

    mutating func name(_ name: StaticString, _ output: inout [UInt8]) {
        if !isFirst { output.append(UInt8(ascii: ",")) }
        isFirst = false
        output.appendJSONString("\(name)")
        output.append(UInt8(ascii: ":"))
    }

    /// An id or a word.
    mutating func plain(_ name: StaticString, _ text: String?, _ output: inout [UInt8]) {
        self.name(name, &output)
        if let text { Masking.unmasked.append(text: text, to: &output) } else { output += "null".utf8 }
    }

    mutating func party(_ name: StaticString, _ text: String?, _ output: inout [UInt8]) {
        self.name(name, &output)
        if let text { masking.append(text: text, to: &output) } else { output += "null".utf8 }
    }

    mutating func optional(_ name: StaticString, _ text: String?, _ output: inout [UInt8]) {
        if let text {
            self.name(name, &output)
            // Prices for a minute have more digits than a number.
            (name.description == "rate" ? .unmasked : masking).append(text: text, to: &output)
        }
    }

    mutating func raw(_ name: StaticString, _ json: String, _ output: inout [UInt8]) {
        self.name(name, &output)
        output += json.utf8
    }

    mutating func time(_ name: StaticString, _ milliseconds: Int64, _ output: inout [UInt8]) {
        self.name(name, &output)
        output.append(UInt8(ascii: "\""))
        LogTime.append(milliseconds, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    mutating func list(_ name: StaticString, _ texts: [String], _ output: inout [UInt8]) {
        guard !texts.isEmpty else { return }
        self.name(name, &output)
        output.append(UInt8(ascii: "["))
        for (index, text) in texts.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            Masking.unmasked.append(text: text, to: &output)
        }
        output.append(UInt8(ascii: "]"))
    }
}
