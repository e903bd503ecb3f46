// SPDX-License-Identifier: MIT
//
// `POST /session/create` of the Video API: a form goes in, an array of one comes out. Nothing of a session is kept, since nothing asks for it:
// its id says whose it is.

import HTTPWire
import JSON
import VonageAuth

extension SimulatedVonage {
    func answerSession(_ request: SimulatedRequest, _ place: Place, at now: Int64) throws(APIProblem) -> Response {
        guard request.method == .post else { throw wrongMethod("POST") }
        // The body decides, and not what it is called: Vonage's own Python package names a form JSON once it has sent any.
        guard request.body.first(where: { $0 > 0x20 }) != UInt8(ascii: "{") else {
            throw APIProblem(.unsupportedMediaType, "", "The body must be a form, application/x-www-form-urlencoded.")
        }
        let choices = [
            // `always` is what old clients send for relayed.
            "p2p.preference": ["disabled", "enabled", "always"], "archiveMode": ["manual", "always"], "e2ee": ["true", "false"],
        ]
        var form: [String: String] = [:]
        for (name, value) in SimulatedRequest.pairs(0..<request.body.count, in: request.body.span) where form[name] == nil {
            if let values = choices[name] {
                guard values.contains(value.lowercased()) else { throw .invalid(name, "must be \(values.joined(separator: " or "))") }
            } else if name == "location" {
                guard value.isEmpty || isIPv4(value) else { throw .invalid(name, "must be an IPv4 address") }
            }
            // All else is passed over: Vonage's own Python package sends a `media_mode` that means nothing.
            form[name] = value.lowercased()
        }
        let isRouted = form["p2p.preference"] == "disabled"
        if form["archiveMode"] == "always", !isRouted { throw .invalid("archiveMode", "always needs p2p.preference=disabled") }
        if form["e2ee"] == "true", !isRouted { throw .invalid("e2ee", "needs p2p.preference=disabled") }
        var id = Array((isRouted ? "2_" : "1_").utf8)
        id.appendBase64URL(Array("1~\(applicationID)~~\(now)~\(newID())~".utf8).span)
        return reply(
            .list([
                .object([
                    "session_id": .text(String(decoding: id, as: UTF8.self)), "project_id": .text(applicationID.description),
                    "partner_id": .text(applicationID.description), "create_dt": .text(sessionTime(now)), "media_server_url": .text(""),
                ])
            ]))
    }

    private func isIPv4(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { part in UInt8(part).map { "\($0)" == part } ?? false }
    }
}
