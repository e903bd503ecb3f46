// SPDX-License-Identifier: MIT
//
// `/health` is 200 as long as calls are answered, also when events cannot be kept: who restarts a degraded server ends its calls. Strangers see
// one word; the admin sees why.

import EventLog
import HTTPWire
import JSON

extension Application {
    /// Reasons why the server is degraded; empty while all is well.
    package var degradation: [String] {
        var reasons: [String] = []
        if case .degraded(let ofLog) = log.status.health { reasons = ofLog }
        if let problem = flows.problem { reasons.append("flows are not read anew: \(problem)") }
        if let apps, apps.rooms == nil { reasons.append("rooms are not kept: rooms.jsonl could not be read at the start") }
        if let problem = webhooks?.problem { reasons.append(problem) }
        if let problem = certificates?.problem { reasons.append(problem) }
        return reasons
    }

    /// - Parameter proof: of the nonce that was sent, if one was.
    func health(isAdmin: Bool, proof: String? = nil) -> Response {
        let reasons = degradation
        var body = Array("{\"status\":\"\(reasons.isEmpty ? "ok" : "degraded")\"".utf8)
        if isAdmin {
            body.append(contentsOf: ",\"reasons\":[".utf8)
            for (index, reason) in reasons.enumerated() {
                if index > 0 { body.append(UInt8(ascii: ",")) }
                body.appendJSONString(reason)
            }
            body.append(contentsOf: "]".utf8)
        }
        if let proof { body.append(contentsOf: ",\"proof\":\"\(proof)\"".utf8) }
        body.append(contentsOf: "}\n".utf8)
        return Response(.ok, body: body)
    }
}
