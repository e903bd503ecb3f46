// SPDX-License-Identifier: MIT

import Testing

@testable import VonageAuth

struct PayloadChangeTests {
    /// What was sent, and what arrived; `words` is a part of what must be said.
    struct Change: Sendable, CustomTestStringConvertible {
        let sent, arrived, words: String
        var query = ""
        var testDescription: String { words }
    }

    private static let json = #"{"from":"1202","url":"https://a/b","note":"café","n":0.0045}"#

    @Test(arguments: [
        Change(sent: json, arrived: json + "\n", words: "appended a line end"),
        Change(sent: json + "\n", arrived: json, words: "took that away"),
        Change(sent: json, arrived: "\u{FEFF}" + json, words: "byte order mark"),
        Change(sent: "{\n\"a\":1}", arrived: "{\r\n\"a\":1}", words: "CRLF"),
        Change(
            sent: json, arrived: "{\n  \"from\": \"1202\", \"url\": \"https://a/b\", \"note\": \"café\", \"n\": 0.0045\n}",
            words: "white space between"),
        Change(sent: #"{"a": "x,y:z", "b": [1, 2]}"#, arrived: #"{"a":"x,y:z","b":[1,2]}"#, words: "Python's json.dumps"),
        Change(sent: json, arrived: #"{"from":"1202","url":"https:\/\/a\/b","note":"café","n":0.0045}"#, words: "escapes slashes"),
        Change(sent: #"{"url":"https:\/\/a\/b"}"#, arrived: #"{"url":"https://a/b"}"#, words: "took the escapes away"),
        Change(sent: json, arrived: #"{"from":"1202","url":"https://a/b","note":"caf\u00e9","n":0.0045}"#, words: "in ASCII"),
        Change(sent: #"{"note":"caf\u00e9 \ud83d\ude00"}"#, arrived: #"{"note":"café 😀"}"#, words: "something decoded them"),
        Change(sent: #"{"note":"café"}"#, arrived: #"{"note":"cafÃ©"}"#, words: "Latin-1"),
        Change(sent: "from=1202&note=caf%C3%A9+%26", arrived: #"{"from":"1202","note":"café &"}"#, words: "as a form"),
        Change(sent: #"{"from":"1202","note":"café &"}"#, arrived: "from=1202&note=caf%C3%A9+%26", words: "form fields"),
        Change(sent: #"{"t":"7","from":"1202"}"#, arrived: #"{"from":"1202"}"#, words: "query's parameters", query: "t=7"),
        Change(sent: #"{"from":"1202","t":"7"}"#, arrived: #"{"from":"1202"}"#, words: "query's parameters", query: "t=7"),
        Change(sent: "", arrived: "{}", words: "no body at all"),
    ])
    func `the usual change of a body is named`(change: Change) throws {
        let payload = WebhookVerifier.Payload.post(body: Array(change.arrived.utf8), query: change.query)
        try expect(change, payload)
    }

    @Test(arguments: [
        Change(sent: "to=1&from=2", arrived: "to=1&from=2", words: "before decoding"),
        Change(sent: #"{"to":"a\/b"}"#, arrived: "to=a/b", words: "\\/ for /"),
        Change(sent: #"{"to":"caf\u00e9"}"#, arrived: "to=caf%C3%A9", words: "\\u escapes"),
        Change(sent: #"{"to":"a+b"}"#, arrived: "to=a+b", words: "plus signs"),
        Change(sent: #"{"to":"a&b"}"#, arrived: "to=a%2526b", words: "decoded once more"),
        Change(sent: #"{"to":"1","from":"2","uuid":"3"}"#, arrived: "from=2&to=1&uuid=3", words: "another order"),
        Change(sent: #"{"to":"1","from":"2"}"#, arrived: "to=1&from=2&utm=x", words: "added one"),
    ])
    func `the usual change of a query is named`(change: Change) throws { try expect(change, .get(query: change.arrived)) }

    @Test func `a change that is not usual has no name`() throws {
        try expect(Change(sent: #"{"a":1}"#, arrived: #"{"a":2}"#, words: ""), .post(body: Array(#"{"a":2}"#.utf8)))
        try expect(Change(sent: "to=1", arrived: "", words: ""), .get(query: "to=2"))
    }

    private func expect(_ change: Change, _ payload: WebhookVerifier.Payload) throws {
        let checker = try WebhookChecker(.ofTests())
        let bearer = try HandmadeToken().over(change.sent.utf8).bearer()
        #expect(throws: WebhookRefusal.payloadChanged) {
            try checker.verify(authorization: bearer, payload: payload, now: HandmadeToken.now)
        }
        let found = checker.usualChange(of: payload)
        #expect(change.words.isEmpty ? found == nil : found?.contains(change.words) == true, "\(found ?? "nothing")")
    }
}
