// SPDX-License-Identifier: MIT
//
// What a request would be answered with, in words: which rule holds and why the ones before it do not, which template it serves, and what the
// caller then hears.

import HTTPWire
import JSON
import NCCO

package struct FlowExplanation {
    /// Lines, each with an LF behind it.
    package let text: String

    /// The request's parameters have been read, and its slots begun.
    init(flow index: Int, _ set: FlowSet, baseURL: [UInt8], _ request: inout FlowRequest) {
        let flow = set.flows[index]
        var lines: [String] = []
        let holding = set.rule(of: index, &request)
        for (number, rule) in flow.rules.enumerated() where number < holding ?? flow.rules.count {
            guard let failing = rule.conditions.first(where: { !$0.holds(&request, set) }) else { continue }
            lines.append("Rule \(number + 1) (\(rule.template.name)) does not hold: \(failing.words(set, negated: true)).")
        }
        if let holding {
            let rule = flow.rules[holding]
            let why = rule.conditions.map { $0.words(set, negated: false) }.joined(separator: ", and ")
            lines.append("Rule \(holding + 1) of the flow \(flow.name) holds: \(why.isEmpty ? "it always does" : why).")
        } else {
            lines.append("No rule of the flow \(flow.name) holds. An answer request is told so; an event is answered by nothing.")
        }
        var body: [UInt8] = []
        let served =
            set.serve(index, &request, baseURL: baseURL, into: &body)
            ?? set.serveNoRule(index, &request, baseURL: baseURL, into: &body)
        if let warning = served.label.warning { lines.append("Warning: \(warning).") }
        if case .denied(let denied) = served.cause {
            lines.append("The number \(denied.number.masked): \(set.dialPlan.words(denied.denial)).")
        }
        lines.append("The answer is \(served.label.flow):")
        lines.append("")
        if let tree = NCCO.rawFindings(body.span).tree { lines += Explanation(tree).lines }
        text = lines.map { $0 + "\n" }.joined()
    }

    /// Explains what a flow does with these parameters, without a server.
    ///
    /// - Parameters:
    ///   - query: as in the URL of a request.
    ///   - time: Unix seconds.
    /// - Throws: `UsageError` for a flow that there is not.
    package init(flow name: String, query: String, at time: Int64, _ store: FlowStore) throws(UsageError) {
        let flows = store.current
        guard let index = flows.set.flows.firstIndex(where: { $0.name == name }) else {
            let names = flows.set.flows.map(\.name)
            let hint = nearest(name, among: names).map { "did you mean \($0)?" } ?? "the flows are \(names.joined(separator: ", "))"
            throw UsageError("\(printable(name)) is no flow; \(hint)")
        }
        var request = FlowRequest()
        let text = Array(query.utf8)
        // Without a body there is no JSON to be wrong.
        try? request.parameters.read(query: 0..<text.count, body: Span(), contentType: nil, in: text.span)
        request.begin(slots: flows.set.paths.count, now: time)
        self.init(flow: index, flows.set, baseURL: flows.baseURL, &request)
    }
}

extension Condition {
    /// `to is a phone number`, or that it is not.
    func words(_ set: FlowSet, negated: Bool) -> String {
        let subject = slot.map { set.paths[$0].text } ?? "the time"
        return "\(subject) \(test.words(negated: negated))"
    }
}

extension Test {
    fileprivate func words(negated: Bool) -> String {
        let not = negated ? "is not" : "is"
        func list(_ texts: [ComparedText]) -> String {
            texts.map { printable(String(decoding: $0.bytes, as: UTF8.self)) }.joined(separator: " or ")
        }
        return switch self {
        case .equals(let texts): "\(not) \(list(texts))"
        case .startsWith(let texts): "\(negated ? "does not begin" : "begins") with \(list(texts))"
        case .present(let wanted): wanted != negated ? "has a value" : "has no value"
        case .kind(let kind): "\(not) \(kind.words)"
        case .not(let test): test.words(negated: !negated)
        case .hours(_, let words): "\(not) \(words)"
        }
    }
}

extension ValueKind {
    fileprivate var words: String {
        switch self {
        case .phoneNumber: "a phone number"
        case .ownNumber: "one of our numbers"
        case .userName: "a user name"
        case .sipURI: "a SIP URI"
        }
    }
}
