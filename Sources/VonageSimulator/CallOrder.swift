// SPDX-License-Identifier: MIT
//
// What a request of the REST API wants of whoever plays its calls, as values: the answer goes to the client, and the orders to another thread.

import JSON
import NCCO

/// Something that is to happen to a call that is played.
package struct CallOrder: Sendable {
    package enum What: Sendable {
        case begin(CallPlan)
        case hangUp
        /// The next NCCO, or where it lies; one of the two.
        case transfer(ncco: [UInt8]?, url: String?)
        case talk(String)
        case stream(String)
        case press(String)
        /// Each key is told at that URL; nil: no more.
        case listen(String?)
    }

    /// The leg's uuid.
    package let call: String
    package let what: What
}

extension SimulatedVonage {
    /// Hands on what was accepted, where somebody plays the calls.
    mutating func order(_ what: CallOrder.What, for call: SimulatedCall) {
        if !rules.answersCalls { orders.append(CallOrder(call: call.id, what: what)) }
    }

    /// What a call's request says, and the application's settings where it says nothing. What people do is for whoever plays the call.
    ///
    /// - Parameter regionURL: where the call is controlled.
    func plan(for call: SimulatedCall, regionURL: String) -> CallPlan {
        let request = call.request
        func address(_ url: String, _ method: String, _ usual: EventMethod) -> WebhookAddress? {
            guard let text = request[url]?.elements?.first?.string else { return nil }
            return WebhookAddress(url: text, method: request[method]?.string.flatMap { EventMethod(rawValue: $0.uppercased()) } ?? usual)
        }
        func hook(_ name: String) -> WebhookAddress? {
            application.webhook(name).map { WebhookAddress(url: $0.address, method: EventMethod(rawValue: $0.method) ?? .post) }
        }
        func seconds(_ name: String) -> Int64? { request[name]?.whole.map { $0 * 1000 } }
        let answer = address("answer_url", "answer_method", .get)
        var plan = CallPlan(
            .api(
                to: CallPlan.Party(call.to), from: call.from["number"]?.string.map(plainNumber), ncco: request["ncco"]?.json,
                answer: answer),
            answer: answer ?? hook("answer_url") ?? WebhookAddress(url: "", method: .get),
            event: address("event_url", "event_method", .post) ?? hook("event_url"), fallback: hook("fallback_answer_url"))
        plan.limits = application.limits
        plan.longest = seconds("length_timer") ?? plan.longest
        plan.ringsFor = seconds("ringing_timer") ?? plan.ringsFor
        plan.detection = Connect.MachineDetection(request)
        plan.regionURL = regionURL
        (plan.legID, plan.conversationID) = (call.id, call.conversation)
        return plan
    }
}

/// As events show a number: without `+`.
private func plainNumber(_ text: String) -> String { text.hasPrefix("+") ? String(text.dropFirst()) : text }

extension CallPlan.Party {
    /// An endpoint that was accepted.
    fileprivate init(_ endpoint: JSONNode) {
        func text(_ name: String) -> String { endpoint[name]?.string ?? "" }
        switch text("type").lowercased() {
        case "app": self = .app(text("user"))
        case "sip": self = .sip(text("uri"))
        case "websocket": self = .websocket(text("uri"))
        case "vbc": self = .vbc(text("extension"))
        default: self = .phone(plainNumber(text("number")))
        }
    }
}

extension Connect.MachineDetection {
    /// Nil where a request wants none; of the two kinds the newer one counts.
    fileprivate init?(_ request: JSONNode) {
        if let advanced = request["advanced_machine_detection"] {
            func text(_ name: String) -> String { advanced[name]?.string?.lowercased() ?? "" }
            self = .advanced(
                AdvancedMachineDetection(
                    behavior: AdvancedMachineDetection.Behavior(rawValue: text("behavior")),
                    mode: AdvancedMachineDetection.Mode(rawValue: text("mode")),
                    beepTimeout: advanced["beep_timeout"]?.whole.flatMap { try? AdvancedMachineDetection.BeepTimeout(checking: Int($0)) }))
            return
        }
        switch request["machine_detection"]?.string?.lowercased() {
        case "continue": self = .continue
        case "hangup": self = .hangup
        default: return nil
        }
    }
}
