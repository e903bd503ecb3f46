// SPDX-License-Identifier: MIT
//
// The parameters that Vonage's requests are known to have, so that a misspelt one is noticed: a condition on it would never hold.

import NCCO
import VonageAuth

enum ParameterNames {
    /// What the members of some of them are called; the others may hold anything.
    private static let members: [String: [String]] = [
        "dtmf": ["digits", "timed_out"],
        "speech": ["results", "timeout_reason", "error", "recording_url"],
        "original_request": ["url", "type"],
    ]

    /// - Parameter own: names that the flows' own URLs put into their query.
    static func check(_ path: String, own: Set<String>, _ place: JSONPath, at offset: Int, _ notes: inout FlowNotes) {
        let parts = path.split(separator: ".").map(String.init)
        // Looking for what was meant is dear, and a file may be all mistakes.
        guard !notes.isFull, let first = parts.first, !own.contains(path), !own.contains(first) else { return }
        if !WebhookParameterNames.isKnown(first) {
            let hint = nearest(first, among: WebhookParameterNames.all).map { "did you mean \"\($0)\"?" }
            notes.add(
                .unknownParameter, place, at: offset, "no request of Vonage's is known to have \(printable(first))",
                hint ?? "add it to vars, or to the query of the answer URL")
        } else if let known = members[first], parts.count > 1, !known.contains(parts[1]) {
            let hint = nearest(parts[1], among: known).map { "did you mean \"\(first).\($0)\"?" }
            notes.add(
                .unknownParameter, place, at: offset, "\(first) is not known to have \(printable(parts[1]))",
                hint ?? "it has \(known.joined(separator: ", "))")
        }
    }
}
