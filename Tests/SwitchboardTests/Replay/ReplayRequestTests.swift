// SPDX-License-Identifier: MIT

import Testing

@testable import Switchboard

struct ReplayRequestTests {
    private func request(_ arrival: Arrival, keepsNumbers: Bool = true) throws -> ReplayRequest? {
        var swap = NumberSwap(keepsNumbers: keepsNumbers)
        return ReplayRequest(try #require(arrival.record(7, at: Arrival.noon)), &swap)
    }

    private func answer(_ request: String, flow: String = "answer#1 ring-user", kind: String = "answer") throws -> ReplayRequest {
        try #require(try self.request(.answer(at: 0, call: "CON-1", leg: "3f1b", kind: kind, request: request, flow: flow)))
    }

    @Test func `an answer request is a GET with what was logged, names and values escaped`() throws {
        let one = try answer(#""to":"+44 7","x&y":"ä=","n":1.50,"o":{"a":[1]},"t":true,"z":null"#)
        #expect(one.method == "GET" && one.body == nil && one.path == "/voice/answer" && one.seq == 7 && one.at == Arrival.noon)
        let query = "to=%2B44%207&x%26y=%C3%A4%3D&n=1.50&o=%7B%22a%22%3A%5B1%5D%7D&t=true&uuid=3f1b&conversation_uuid=CON-1"
        #expect(one.target == "/voice/answer?" + query)
    }

    @Test(arguments: [
        ("fallback#1 apology", "fallback", "/voice/fallback"), ("menu#0 cannot-connect", "answer", "/voice/menu"),
        ("a/../b?#1 x", "answer", "/voice/a%2F..%2Fb%3F"),
    ]) func `the path is the flow's`(_ flow: String, _ kind: String, _ path: String) throws {
        #expect(try answer(#""to":"1""#, flow: flow, kind: kind).path == path)
    }

    @Test func `an event is a POST of its bytes, to its flow where it has one`() throws {
        let event = #"{"a":1.0,"b":"\u0041","from":"12025550101"}"#
        let head = #""kind":"event","call":null,"leg":null,"status":"ringing","signature":"off","event":"#
        let plain = try #require(try request(Arrival(members: head + event, time: nil)))
        #expect(plain.method == "POST" && plain.target == "/voice/event" && plain.ncco == nil)
        #expect(plain.body == Array(event.utf8))
        let flow = try #require(try request(Arrival(members: head + event + #","flow":"choice#2 x","ncco":[]"#, time: nil)))
        #expect(flow.target == "/voice/choice" && flow.body == Array(event.utf8))
        #expect(flow.isSameNCCO(Array(" [ ]".utf8), NumberSwap()) == true)
        #expect(plain.isSameNCCO([], NumberSwap()) == nil)
        #expect(flow.line() == "POST /voice/choice ringing ********101 → -")
    }

    @Test(arguments: [
        #""kind":"malformed","call":null,"leg":null,"status":null,"signature":"off","raw":"x","error":"e""#,
        #""kind":"answer","call":null,"leg":null,"status":null,"signature":"off","request":{},"flow":"fallback#1 apology","ncco":[],"raw":"x""#,
        #""kind":"event","call":null,"leg":null,"status":"x","signature":"off","event":{"a":"\ufffd"},"raw_base64":"/w==""#,
        #""kind":"event","call":null,"leg":null,"status":"x","signature":"off","event":null"#,
        #""kind":"answer","call":null,"leg":null,"status":null,"signature":"off","request":[]"#,
        #""kind":"other","call":null,"leg":null,"status":null,"signature":"off","event":{}"#,
    ]) func `nothing is made of what cannot be sent as it came`(_ members: String) throws {
        #expect(try request(Arrival(members: members, time: nil)) == nil)
    }

    @Test func `an NCCO is compared with the numbers that were sent, and with those of the log`() throws {
        var swap = NumberSwap()
        let ncco = #"[{"action":"connect","from":"12025550100","endpoint":[{"type":"phone","number":"49301234567"}]}]"#
        let record = try #require(Arrival.answer(at: 0, ncco: ncco).record(1, at: 0))
        let request = try #require(ReplayRequest(record, &swap))
        #expect(request.target.hasPrefix("/voice/answer?from=14155550100&to=14155550101&"))
        func isSame(_ from: String, _ to: String) -> Bool? {
            let answer = #"[{"action":"connect", "from":"\#(from)","endpoint":[{"type":"phone","number":"\#(to)"}]}]"#
            return request.isSameNCCO(Array(answer.utf8), swap)
        }
        #expect(isSame("14155550101", "447700900000") == true)
        #expect(isSame("12025550100", "447700900000") == true)
        #expect(isSame("14155550100", "447700900000") == false)
        #expect(request.isSameNCCO(Array("no JSON".utf8), swap) == false)
    }
}
