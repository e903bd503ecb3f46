// SPDX-License-Identifier: MIT
//
// A request of a call, put once more to the flows as they are now, so that what a change did to it can be seen. Nothing is logged, counted or
// limited. Rules on the time are asked for the time of the request, and `base_url` is what it was then as far as the NCCO shows it: else every
// NCCO of another tunnel would look like another answer.

import HTTPWire
import JSON
import NCCO

struct AnswerAgain {
    /// Why there is nothing to be put again, in fixed words.
    enum Fault: Error, Hashable {
        case noStep, noRequest, noFlow

        var response: Response {
            switch self {
            case .noStep: .problem(.notFound, "The call has no step of this seq.")
            case .noRequest: .problem(.conflict, "This step is no request that was answered by an NCCO, or could not be read.")
            case .noFlow: .problem(.conflict, "The flow that answered this step is not served any more.")
            }
        }
    }

    /// As `X-Switchboard-Flow` has it; nil where no rule holds for an event, which is then answered by nothing.
    let rule: String?
    let warning: String?
    /// Minified; nil where a call was answered by what was not kept.
    let before: [UInt8]?
    let after: [UInt8]?

    var isSame: Bool { before == after }

    init(_ call: Call, seq: UInt64, _ flows: ServedFlows) throws(Fault) {
        guard let step = call.steps.first(where: { $0.seq == seq }) else { throw .noStep }
        guard let asked = step.request ?? step.event, asked.first == UInt8(ascii: "{"), step.request != nil || step.ncco != nil else {
            throw .noRequest
        }
        guard let flow = Self.flow(of: step, flows.set) else { throw .noFlow }
        before = step.ncco
        var request = FlowRequest()
        do { try request.parameters.read(query: nil, body: asked.span, contentType: nil, in: Span()) } catch { throw .noRequest }
        func serve(_ baseURL: [UInt8]) -> (Served?, [UInt8]) {
            request.begin(slots: flows.set.paths.count, now: step.at / 1000)
            request.baseURL = baseURL
            var ncco: [UInt8] = []
            var served = flows.set.serve(flow, &request, baseURL: baseURL, into: &ncco)
            if served == nil, step.request != nil { served = flows.set.serveNoRule(flow, &request, baseURL: baseURL, into: &ncco) }
            return (served, ncco)
        }
        var (served, ncco) = serve(flows.baseURL)
        if served != nil, ncco != step.ncco, flows.set.usesBaseURL(flow), let baseURL = step.ncco.flatMap(Self.baseURL) {
            (served, ncco) = serve(baseURL)
        }
        rule = served?.label.flow
        warning = served?.label.warning
        after = served == nil ? nil : ncco
    }

    private static func flow(of step: CallStep, _ set: FlowSet) -> Int? {
        // `answer#3 connect-phone` is what the flow `answer` said.
        let name = step.flow.map { String($0.prefix { $0 != "#" }) } ?? step.kind
        return set.flows.firstIndex { $0.name == name }
    }

    /// What stands before `/voice/` in the first URL that has it.
    private static func baseURL(in ncco: [UInt8]) -> [UInt8]? {
        let text = ncco.span
        guard let route = Array("/voice/".utf8).firstPlace(in: text) else { return nil }
        var start = route
        while start > 0, text[start - 1] != UInt8(ascii: "\"") { start -= 1 }
        let url = Array(ncco[start..<route])
        return url.starts(with: "http://".utf8) || url.starts(with: "https://".utf8) ? url : nil
    }

    /// `{"rule","warning","same","before","after","before_text","after_text"}`.
    func json(_ masking: Masking) -> [UInt8] {
        var json: [UInt8] = []
        var object = ObjectWriter(.unmasked)
        object.begin(&json)
        object.plain("rule", rule, &json)
        object.plain("warning", warning, &json)
        object.raw("same", "\(isSame)", &json)
        for (name, ncco) in [("before", before), ("after", after)] as [(StaticString, [UInt8]?)] {
            object.name(name, &json)
            if let ncco { masking.append(ncco, to: &json) } else { json += "null".utf8 }
        }
        for (name, ncco) in [("before_text", before), ("after_text", after)] as [(StaticString, [UInt8]?)] {
            let tree = ncco.flatMap { NCCO.rawFindings($0.span).tree }
            object.plain(name, tree.map { masking.shown(Explanation($0).lines.map { $0 + "\n" }.joined()) }, &json)
        }
        json += "}\n".utf8
        return json
    }
}

extension [UInt8] {
    /// The place at which these bytes first stand in a text.
    fileprivate func firstPlace(in text: Span<UInt8>) -> Int? {
        guard text.count >= count else { return nil }
        return (0...text.count - count).first { start in indices.allSatisfy { text[start + $0] == self[$0] } }
    }
}
