// SPDX-License-Identifier: MIT
//
// All flows, compiled: which rule holds, and what is sent for it. Nothing in here changes once it is made; a folder that has changed becomes
// another set. Every text of a header field is made beforehand, so choosing and filling allocate nothing but what grows.

import HTTPWire
import JSON
import NCCO

/// What is said about one answer: in the header fields, on the log, on the console.
final class AnswerLabel: Sendable {
    /// `answer#3 connect-phone`.
    let flow: String
    let fields: FieldBlock
    /// `,"flow":"answer#3 connect-phone","ncco":`, as in a record.
    let members: [UInt8]
    /// What was off, in fixed words.
    let warning: String?

    init(_ flow: String, warning: String? = nil) {
        self.flow = flow
        self.warning = warning
        // A template's name is that of its file, which may be anything.
        var members = Array(#","flow":"#.utf8)
        members.appendJSONString(flow)
        members.append(#","ncco":"#)
        self.members = members
        var fields = FieldBlock()
        fields.append("X-Switchboard-Flow", flow)
        if let warning { fields.append("X-Switchboard-Warning", warning) }
        self.fields = fields
    }
}

/// What was appended to the body, and why.
struct Served {
    enum Cause {
        /// The flow has it so.
        case rule
        /// A template could not be filled.
        case fault
        case denied(DeniedNumber)
        case overLimit(CallLimits.Kind)
    }

    let label: AnswerLabel
    /// From 1; 0 where none held.
    let rule: Int
    /// It says why the call cannot be made.
    let isRefusal: Bool
    let cause: Cause
    /// It holds a `connect`.
    let dials: Bool

    var isFault: Bool { if case .fault = cause { true } else { false } }

    /// Why something else was served than the flow has; nil where that was served.
    var problem: String? { if case .rule = cause { nil } else { label.warning } }
}

final class FlowRule: Sendable {
    let conditions: [Condition]
    let template: Template
    let label: AnswerLabel
    let isRefusal: Bool
    /// The conditions, those first that cost least.
    fileprivate let quick: [QuickTest]
    fileprivate let slow: [Condition]
    fileprivate let leftOut: AnswerLabel
    /// By gap, and one more for a rule that only the whole NCCO can break.
    fileprivate let failures: [AnswerLabel]
    /// By refusal.
    fileprivate let refusals: [AnswerLabel]
    fileprivate let denied: AnswerLabel
    fileprivate let overUserLimit: AnswerLabel
    fileprivate let overCallLimit: AnswerLabel

    init(flow: String, number: Int, conditions: [Condition], template: Template) {
        self.conditions = conditions
        quick = conditions.compactMap { QuickTest($0) }
        slow = conditions.filter { QuickTest($0) == nil }
        self.template = template
        isRefusal = template.name == FlowSet.cannotConnectName
        let name = "\(flow)#\(number) \(template.name)"
        label = AnswerLabel(name)
        leftOut = AnswerLabel(name, warning: "from is not a phone number and is left out")
        let failed = "\(flow)#\(number) \(FlowSet.cannotConnectName)"
        failures =
            template.gaps.map { AnswerLabel(failed, warning: "\(template.name) cannot be filled: \($0.option) is missing or not valid") }
            + [AnswerLabel(failed, warning: "\(template.name) cannot be filled: it would break a rule of NCCOs")]
        denied = AnswerLabel(failed, warning: Refusal.deniedNumber.warning)
        overUserLimit = AnswerLabel(failed, warning: Refusal.userLimit.warning)
        overCallLimit = AnswerLabel(failed, warning: Refusal.callLimit.warning)
        refusals = isRefusal ? Refusal.allCases.map { AnswerLabel(name, warning: $0.warning) } : []
    }
}

extension FlowRule {
    fileprivate func holds(_ request: inout FlowRequest, _ flows: FlowSet) -> Bool {
        for index in quick.indices where !quick[index].holds(&request, flows) { return false }
        for index in slow.indices where !slow[index].holds(&request, flows) { return false }
        return true
    }
}

final class Flow: Sendable {
    let name: String
    let bytes: [UInt8]
    let rules: [FlowRule]
    fileprivate let usesBaseURL: Bool
    fileprivate let noRule: AnswerLabel

    init(name: String, rules: [FlowRule]) {
        self.name = name
        bytes = Array(name.utf8)
        self.rules = rules
        usesBaseURL = rules.contains { $0.template.usesBaseURL }
        noRule = AnswerLabel("\(name)#0 \(FlowSet.cannotConnectName)", warning: Refusal.noRule.warning)
    }
}

final class FlowSet: Sendable {
    static let cannotConnectName = "cannot-connect"

    let numbers: [PhoneNumber]
    /// For numbers that a request brings.
    let dialPlan: DialPlan
    let paths: [ParameterPath]
    /// `answer` and `fallback` are the first two and always there.
    let flows: [Flow]
    /// The flow that answers `/voice/event`.
    let event: Int?
    /// What callers hear where a template cannot be filled, and what they hear where that one cannot.
    private let cannotConnect: Template
    private let lastResort: Template

    static let answer = 0
    static let fallback = 1
    /// Slots that are always there, in this order.
    static let knownPaths = ["to", "from", "from_user"]
    private static let callee = 0
    private static let caller = 1
    private static let user = 2

    init(
        numbers: [PhoneNumber], dialPlan: DialPlan, paths: [ParameterPath], flows: [Flow], cannotConnect: Template, lastResort: Template
    ) {
        self.numbers = numbers
        self.dialPlan = dialPlan
        self.paths = paths
        self.flows = flows
        event = flows.firstIndex { $0.name == "event" }
        self.cannotConnect = cannotConnect
        self.lastResort = lastResort
    }

    /// The flow of `/voice/NAME`.
    func index(ofFlow name: Range<Int>, in bytes: Span<UInt8>) -> Int? {
        for (index, flow) in flows.enumerated() where flow.bytes.count == name.count {
            var isEqual = true
            for (offset, byte) in flow.bytes.enumerated() where bytes[name.lowerBound + offset] != byte {
                isEqual = false
                break
            }
            if isEqual { return index }
        }
        return nil
    }

    /// Whether anything that this flow may serve asks for `base_url`.
    func usesBaseURL(_ flow: Int) -> Bool { flows[flow].usesBaseURL || cannotConnect.usesBaseURL }

    /// The first rule of a flow that holds.
    func rule(of flow: Int, _ request: inout FlowRequest) -> Int? {
        let rules = flows[flow].rules
        for (index, rule) in rules.enumerated() {
            if rule.holds(&request, self) { return index }
        }
        return nil
    }

    /// Appends the NCCO of the first rule that holds; nil, and nothing is appended, where none does.
    func serve(_ flow: Int, _ request: inout FlowRequest, baseURL: [UInt8], into output: inout [UInt8]) -> Served? {
        guard let index = rule(of: flow, &request) else { return nil }
        let rule = flows[flow].rules[index]
        var context = RenderContext(baseURL: baseURL)
        let refusal = rule.isRefusal ? self.refusal(&request) : nil
        if let refusal { context.refusal = refusal.sentence }
        let start = output.count
        switch rule.template.render(&request, paths, dialPlan, context, into: &output) {
        case .filled(let leftOut):
            let label = refusal.map { rule.refusals[$0.rawValue] } ?? (leftOut ? rule.leftOut : rule.label)
            return Served(label: label, rule: index + 1, isRefusal: rule.isRefusal, cause: .rule, dials: rule.template.dials)
        case .failed(let gap):
            return serveRefusal(.unfillable, .fault, rule.failures[gap], index + 1, start, &request, context, into: &output)
        case .breaksRule:
            let label = rule.failures[rule.failures.count - 1]
            return serveRefusal(.unfillable, .fault, label, index + 1, start, &request, context, into: &output)
        case .denied(let number):
            return serveRefusal(.deniedNumber, .denied(number), rule.denied, index + 1, start, &request, context, into: &output)
        }
    }

    /// Puts what a caller hears who is past a limit in the place of what was served, all that stands in the output.
    func refuse(
        _ served: Served, past limit: CallLimits.Kind, _ flow: Int, _ request: inout FlowRequest, baseURL: [UInt8],
        into output: inout [UInt8]
    ) -> Served {
        let rules = flows[flow].rules
        let rule = rules.indices.contains(served.rule - 1) ? rules[served.rule - 1] : nil
        let (refusal, label): (Refusal, AnswerLabel?) =
            switch limit {
            case .user: (.userLimit, rule?.overUserLimit)
            case .all: (.callLimit, rule?.overCallLimit)
            }
        return serveRefusal(
            refusal, .overLimit(limit), label ?? flows[flow].noRule, served.rule, 0, &request, RenderContext(baseURL: baseURL),
            into: &output)
    }

    /// Whose call a request is about, as a number that stands for the user, else for the caller: none of them is one as well.
    func party(_ request: inout FlowRequest) -> Int {
        var hasher = Hasher()
        let slot = request.value(Self.user, paths) != nil ? Self.user : Self.caller
        if let value = request.value(slot, paths) {
            hasher.combine(slot)
            if let number = request.number(slot, paths) {
                hasher.combine(number)
            } else {
                // What is longer is no name, and sharing a limit is no harm to it.
                request.withBytes(value) { for at in 0..<min($0.count, 512) { hasher.combine($0[at]) } }
            }
        }
        return hasher.finalize()
    }

    /// Appends what a caller hears for whom no rule holds.
    func serveNoRule(_ flow: Int, _ request: inout FlowRequest, baseURL: [UInt8], into output: inout [UInt8]) -> Served {
        let context = RenderContext(baseURL: baseURL)
        return serveRefusal(.noRule, .fault, flows[flow].noRule, 0, output.count, &request, context, into: &output)
    }

    private func serveRefusal(
        _ refusal: Refusal, _ cause: Served.Cause, _ label: AnswerLabel, _ rule: Int, _ start: Int, _ request: inout FlowRequest,
        _ context: RenderContext, into output: inout [UInt8]
    ) -> Served {
        var context = context
        context.refusal = refusal.sentence
        output.removeLast(output.count - start)
        // Who is past a limit is not connected to somebody else instead.
        if case .overLimit = cause, cannotConnect.dials {
        } else if case .filled = cannotConnect.render(&request, paths, dialPlan, context, into: &output) {
            return Served(label: label, rule: rule, isRefusal: true, cause: cause, dials: cannotConnect.dials)
        }
        output.removeLast(output.count - start)
        _ = lastResort.render(&request, paths, dialPlan, context, into: &output)
        return Served(label: label, rule: rule, isRefusal: true, cause: cause, dials: false)
    }

    private func refusal(_ request: inout FlowRequest) -> Refusal {
        guard let value = request.value(Self.callee, paths) else { return .noCallee }
        return request.withBytes(value) { Refusal(callee: $0, isJSON: value.isJSON) }
    }
}
