// SPDX-License-Identifier: MIT
//
// What a replay says: of each request what was sent and how it was answered, and at the end how many of each there were and which number became
// which.

package import HTTPServer
import JSON
import NCCO

/// One request and its answer.
package struct ReplayResult: Sendable {
    private let request: ReplayRequest
    /// Milliseconds from the first request to this one.
    private let offset: Int64
    private let status: Int?
    private let flow: String?
    private let problem: String?
    /// Whether the NCCO is the logged one; nil where none was logged, or nothing was answered.
    package let isSameNCCO: Bool?

    /// Whether it was answered 2xx.
    package var isGood: Bool { status.map { (200..<300).contains($0) } ?? false }

    package init(_ request: ReplayRequest, at offset: Int64, _ answer: HTTPAnswer, _ swap: NumberSwap) {
        self.request = request
        self.offset = offset
        status = answer.status
        flow = answer.field("x-switchboard-flow")
        problem = nil
        isSameNCCO = request.isSameNCCO(answer.body, swap)
    }

    package init(_ request: ReplayRequest, at offset: Int64, _ error: HTTPRequestError) {
        self.request = request
        self.offset = offset
        (status, flow, problem, isSameNCCO) = (nil, nil, error.description, nil)
    }

    /// `+1.200 s  GET /voice/answer ********100 → ********101  200  answer#2 ring-user  same NCCO`.
    package func line(_ masking: Masking = .masked) -> String {
        let rest = String(offset % 1000 + 1000).dropFirst()
        var parts = ["+\(offset / 1000).\(rest) s", request.line(masking)]
        if let status { parts.append("\(status)") }
        if let flow { parts.append(plain(flow)) }
        if let problem { parts.append("failed: \(problem)") }
        if let isSameNCCO { parts.append(isSameNCCO ? "same NCCO" : "other NCCO") }
        return parts.joined(separator: "  ")
    }

    /// Appends `{"seq","offset","call","method","path","status","from","to","answer","flow","ncco","error"}`.
    ///
    /// `offset` is in milliseconds, `status` the event's, `answer` the HTTP status, `ncco` is `same` or `other`. What is not there is left out.
    package func appendJSON(to output: inout [UInt8], masking: Masking = .masked) {
        var object = ObjectWriter(masking)
        object.begin(&output)
        object.raw("seq", "\(request.seq)", &output)
        object.raw("offset", "\(offset)", &output)
        object.plain("call", request.call, &output)
        object.plain("method", request.method, &output)
        object.plain("path", request.path, &output)
        object.optional("status", request.status, &output)
        object.optional("from", request.from, &output)
        object.optional("to", request.to, &output)
        if let status { object.raw("answer", "\(status)", &output) }
        object.optional("flow", flow, &output)
        object.optional("ncco", isSameNCCO.map { $0 ? "same" : "other" }, &output)
        if let problem { object.plain("error", problem, &output) }
        output.append(UInt8(ascii: "}"))
    }
}

/// How a replay went.
package struct ReplaySummary: Sendable {
    private var sent = 0
    /// Requests that were not answered 2xx.
    package private(set) var failed = 0
    private var same = 0
    private var other = 0
    /// Records that no request can be made of.
    package var skipped = 0
    /// Requests that were not sent, since nobody listens.
    package var unsent = 0

    package init() {}

    package mutating func add(_ result: ReplayResult) {
        sent += 1
        if !result.isGood { failed += 1 }
        if let isSame = result.isSameNCCO { if isSame { same += 1 } else { other += 1 } }
    }

    /// For people; the logged numbers are masked, those that were sent are not: nobody has them.
    package func text(_ swap: NumberSwap, _ masking: Masking = .masked) -> [String] {
        var lines = swap.swapped.prefix(Self.mostNumbers).map { "\(masking.shown($0.logged.description)) is \($0.sent)" }
        if swap.swapped.count > Self.mostNumbers { lines.append("\(swap.swapped.count - Self.mostNumbers) more numbers") }
        if swap.shared > 0 { lines.append("\(swap.shared) numbers share theirs with another: there are no more") }
        let unsent = unsent > 0 ? ", \(unsent) not sent" : ""
        lines.append("\(sent) sent, \(failed) failed\(unsent), \(same) same and \(other) other NCCOs, \(skipped) records skipped")
        return lines
    }

    /// Appends `{"sent","failed","unsent","same","other","skipped","shared","numbers":[{"logged","sent"}]}`.
    package func appendJSON(to output: inout [UInt8], _ swap: NumberSwap, _ masking: Masking = .masked) {
        let counts = [
            ("sent", sent), ("failed", failed), ("unsent", unsent), ("same", same), ("other", other), ("skipped", skipped),
            ("shared", swap.shared),
        ]
        output += "{\(counts.map { "\"\($0)\":\($1)" }.joined(separator: ",")),\"numbers\":[".utf8
        for (index, pair) in swap.swapped.enumerated() {
            output += "\(index > 0 ? "," : ""){\"logged\":".utf8
            masking.append(text: pair.logged.description, to: &output)
            output += ",\"sent\":\"\(pair.sent)\"}".utf8
        }
        output += "]}".utf8
    }

    private static let mostNumbers = 20
}
