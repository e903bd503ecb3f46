// SPDX-License-Identifier: MIT
//
// What a played call comes to: whether Vonage would have refused, lost or sent again anything, and how near to its limits the answers came.

import JSON

package struct CallVerdict: Sendable {
    /// The gravest complaint; nil where there is none.
    package private(set) var severity: Complaint.Severity?
    package private(set) var complaints = 0
    /// Milliseconds from the beginning to the end of the call.
    package private(set) var lasted: Int64 = 0
    package private(set) var requests = 0
    package private(set) var events = 0
    /// The slowest answer to a request that an NCCO came of, or should have, and to an event, in microseconds.
    package private(set) var slowestAnswer: Int64 = 0
    package private(set) var slowestEvent: Int64 = 0
    private var limits = WebhookLimits()

    package init(_ call: PlayedCall) {
        limits = call.plan.limits
        lasted = call.now - call.began
        severity = call.severity
        complaints = call.complaintCount
        for step in call.steps {
            guard case .exchange(let exchange) = step.what, case .reply(let reply) = exchange.outcome else { continue }
            if exchange.request.kind == .event {
                events += 1
                slowestEvent = max(slowestEvent, reply.micros)
            } else {
                requests += 1
                slowestAnswer = max(slowestAnswer, reply.micros)
            }
        }
    }

    /// 0 where nothing got lost and no rule was broken, 1 where the call or an event was lost, 2 where the server broke a rule.
    package var exitCode: Int32 {
        switch severity {
        case .broken: 2
        case .lost: 1
        case .noted, nil: 0
        }
    }

    /// Lines for people.
    package var lines: [String] {
        let judgement =
            switch severity {
            case nil: "Clean: Vonage would have taken every answer at once."
            case .noted: "The call went well; see the notes above."
            case .lost: "Something was lost; see above."
            case .broken: "The server broke a rule of Vonage's; see above."
            }
        let seconds = lasted / 100
        return [
            "",
            "The call took \(seconds / 10).\(seconds % 10) s. Answers: \(requests), the slowest \(CallReport.shown(slowestAnswer)) of "
                + "\(limits.answer) ms. Events: \(events), the slowest \(CallReport.shown(slowestEvent)) of \(limits.event) ms.",
            judgement,
        ]
    }

    /// `{"verdict":"clean",…}`.
    package var json: [UInt8] {
        JSONNode.object([
            "verdict": .text(severity.map(\.text) ?? "clean"), "complaints": .number(complaints), "ms": .time(lasted),
            "answers": .number(requests), "events": .number(events), "slowest_answer_us": .time(slowestAnswer),
            "slowest_event_us": .time(slowestEvent),
        ]).json
    }
}
