// SPDX-License-Identifier: MIT

import NCCO
import Testing

@testable import VonageSimulator

struct RedirectedTransportTests {
    private final class Recorder: WebhookTransport {
        var urls: [String] = []

        func send(_ request: PlayedRequest, authorization: String?, isCut: Bool, then: @escaping (PlayedOutcome) -> Void) {
            urls.append(request.address.url)
            then(.lost)
        }

        func turn(milliseconds: Int32) {}
    }

    @Test(arguments: [
        ("https://calls.example.com/voice/a?b=1", "http://h:1/voice/a?b=1"), ("https://calls.example.com", "http://h:1"),
        ("https://calls.example.com.evil/voice", "https://calls.example.com.evil/voice"), ("https://other/voice", "https://other/voice"),
    ])
    func `what is for the public address goes to the server, and nothing else`(_ url: String, _ sent: String) {
        let recorder = Recorder()
        let transport = RedirectedTransport(recorder, from: "https://calls.example.com", to: "http://h:1")
        let request = PlayedRequest(
            number: 1, kind: .event, attempt: 1, address: WebhookAddress(url: url, method: .post), fields: WebhookFields(), leg: nil, at: 0,
            connectLimit: 1, answerLimit: 1, mayCarryNCCO: false)
        transport.send(request, authorization: nil, isCut: false) { _ in }
        #expect(recorder.urls == [sent])
    }
}
