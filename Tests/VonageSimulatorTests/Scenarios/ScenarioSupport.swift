// SPDX-License-Identifier: MIT
//
// Scenarios and calls written down by hand.

import NCCO
import Testing

@testable import VonageSimulator

/// A file with one scenario, whose call is from a phone.
func scenarioText(_ expect: String, more: String = "") -> String {
    "{\"scenario\":\"A phone calls\",\"call\":{\"from\":\"447700900123\",\"to\":\"14155550100\"},\(more)\"expect\":\(expect)}"
}

func scenarioFile(_ text: String) -> ScenarioFile {
    let bytes = Array(text.utf8)
    return ScenarioFile(bytes.span, file: "a.json")
}

func scenario(_ expect: String, more: String = "") throws -> Scenario {
    let file = scenarioFile(scenarioText(expect, more: more))
    #expect(file.findings.isEmpty, "\(file.findings)")
    return try #require(file.scenarios.first)
}

/// A request with its answer.
func exchange(
    _ number: Int, _ kind: PlayedRequest.Kind = .event, _ status: String? = nil, rule: String? = nil, body: String = "",
    attempt: Int = 1, micros: Int64 = 1000, outcome: PlayedOutcome? = nil
) -> PlayedStep {
    let mayCarryNCCO = kind != .event || rule != nil
    let request = PlayedRequest(
        number: number, kind: kind, attempt: attempt, address: WebhookAddress(url: "http://127.0.0.1:1/voice/event", method: .post),
        fields: WebhookFields(["status": status.map { .text($0) }]), leg: nil, at: 0, connectLimit: 1000, answerLimit: 5000,
        mayCarryNCCO: mayCarryNCCO)
    let reply = PlayedReply(status: 200, contentType: "application/json", body: Array(body.utf8), rule: rule, micros: micros)
    return PlayedStep(at: 0, what: .exchange(PlayedExchange(request: request, outcome: outcome ?? .reply(reply))))
}

func step(_ what: PlayedStep.What) -> PlayedStep { PlayedStep(at: 0, what: what) }

/// A caller who presses 1, and a callee who is busy.
let playedSteps: [PlayedStep] = [
    exchange(1, .answer, rule: "ivr#1 ivr-menu"), exchange(2, .event, "started"), exchange(3, .event, "answered"),
    step(.action(name: "talk", number: 1, of: 2, callee: nil)),
    step(.hears(text: "Welcome to\n  Example. For sales press 1.", callee: nil)),
    step(.hears(text: "A caller waits.", callee: "Bob")),
    step(.action(name: "input", number: 2, of: 2, callee: nil)), step(.presses("1")),
    exchange(4, .event, nil, rule: "choice#1 ivr-sales"),
    step(.plays(url: "https://example.com/hold.mp3", callee: nil)), step(.rings(.phone("14155550111"), from: nil)),
    step(.rings(.app("Alice"), from: nil)), exchange(5, .event, "busy"), exchange(6, .event, "busy", attempt: 2),
    step(.hears(text: "Goodbye.", callee: nil)), step(.leg(callee: "14155550111", uuid: "b", status: "busy", detail: nil)),
    step(.leg(callee: nil, uuid: "a", status: "answered", detail: nil)),
    step(.leg(callee: nil, uuid: "a", status: "completed", detail: nil)), exchange(7, .event, "completed"),
]
