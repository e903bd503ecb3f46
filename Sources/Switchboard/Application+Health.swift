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
        let flows = flows.problem.map { ["flows are not read anew: \($0)"] } ?? []
        return switch log.status.health {
        case .ok: flows
        case .degraded(let reasons): reasons + flows
        }
    }

    func health(isAdmin: Bool) -> Response {
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
        body.append(contentsOf: "}\n".utf8)
        return Response(.ok, body: body)
    }
}
