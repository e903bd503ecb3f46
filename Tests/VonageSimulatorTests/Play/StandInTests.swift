// SPDX-License-Identifier: MIT

import NCCO
import Testing

@testable import VonageSimulator

struct StandInTests {
    @Test(arguments: [
        ("https://calls.example.com", "https://calls.example.com/voice/a?b=1", "/voice/a?b=1"),
        ("https://calls.example.com", "https://calls.example.com", "/"),
        ("https://calls.example.com/below", "https://calls.example.com/below/voice/a", "/voice/a"),
        ("https://calls.example.com", "https://calls.example.com.evil/voice", nil),
        ("https://calls.example.com", "https://other/voice", nil),
    ])
    func `what is for the public address goes to the server, and nothing else`(_ base: String, _ url: String, _ target: String?) {
        let request = PlayedRequest(
            number: 1, kind: .event, attempt: 1, address: WebhookAddress(url: url, method: .post), fields: WebhookFields(), leg: nil, at: 0,
            connectLimit: 1, answerLimit: 1, mayCarryNCCO: false)
        #expect(LoopTransport.StandIn(url: base, instead: "http://h:1").target(request) == target)
    }
}
