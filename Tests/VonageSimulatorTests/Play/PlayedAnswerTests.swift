// SPDX-License-Identifier: MIT
//
// Answer and fallback requests byte by byte, for each kind of call.

import JSON
import NCCO
import Testing

@testable import VonageSimulator

struct PlayedAnswerTests {
    private static let id = "00000000-0000-4000-8000-00000000000"
    private static let hex = "0000000000004000800000000000000"
    private static let region = "https%3A%2F%2Fapi-us-3.vonage.com"

    private func first(
        _ kind: PlayedRequest.Kind, of plan: CallPlan, by method: EventMethod, answer: PlayedOutcome = .nothing
    ) -> PlayedRequest? {
        var plan = plan
        plan.answer.method = method
        plan.fallback?.method = method
        return play(plan) { $0.kind == .answer ? answer : .nothing }.sent.first { $0.request.kind == kind }?.request
    }

    private static func plans() throws -> [(plan: CallPlan, query: String, json: String)] {
        let data = try parseJSON(Array(#"{"callType":"phone","note":"é"}"#.utf8).span)
        return [
            (
                phoneCall,
                "to=12025550100&from=12025550101&endpoint_type=phone&conversation_uuid=CON-\(id)1&uuid=\(hex)2&region_url=\(region)",
                #"{"to":"12025550100","from":"12025550101","endpoint_type":"phone","conversation_uuid":"CON-\#(id)1","uuid":"\#(hex)2","region_url":"https://api-us-3.vonage.com"}"#
            ),
            (
                plan(.app(user: "alice", to: "12025550142", customData: data)),
                "to=12025550142&from_user=alice&endpoint_type=app&conversation_uuid=CON-\(id)1&uuid=\(id)2&region_url=\(region)"
                    + "&custom_data=%7B%22callType%22%3A%22phone%22%2C%22note%22%3A%22%C3%A9%22%7D",
                #"{"to":"12025550142","from_user":"alice","endpoint_type":"app","conversation_uuid":"CON-\#(id)1","uuid":"\#(id)2","region_url":"https://api-us-3.vonage.com","custom_data":"{\"callType\":\"phone\",\"note\":\"é\"}"}"#
            ),
            (
                plan(.app(user: "alice", to: nil, customData: nil)),
                "from_user=alice&endpoint_type=app&conversation_uuid=CON-\(id)1&uuid=\(id)2&region_url=\(region)",
                #"{"from_user":"alice","endpoint_type":"app","conversation_uuid":"CON-\#(id)1","uuid":"\#(id)2","region_url":"https://api-us-3.vonage.com"}"#
            ),
            (
                plan(
                    .sip(
                        from: "desk", to: "reception",
                        headers: [("X-UserId", "42"), ("User-to-User", "0a;encoding=hex"), ("X-Nexmo-Trace", "1"), ("Subject", "hi")])),
                "to=reception&from=desk&endpoint_type=sip&conversation_uuid=CON-\(id)1&uuid=\(hex)2&region_url=\(region)"
                    + "&SipHeader_X-UserId=42&SipHeader_User-to-User=0a%3Bencoding%3Dhex",
                #"{"to":"reception","from":"desk","endpoint_type":"sip","conversation_uuid":"CON-\#(id)1","uuid":"\#(hex)2","region_url":"https://api-us-3.vonage.com","SipHeader_X-UserId":"42","SipHeader_User-to-User":"0a;encoding=hex"}"#
            ),
            (
                plan(.api(to: .app("alice"), from: "12025550100", ncco: nil, answer: nil)),
                "to=alice&from=12025550100&endpoint_type=app&conversation_uuid=CON-\(id)1&uuid=\(id)2&region_url=\(region)",
                #"{"to":"alice","from":"12025550100","endpoint_type":"app","conversation_uuid":"CON-\#(id)1","uuid":"\#(id)2","region_url":"https://api-us-3.vonage.com"}"#
            ),
        ]
    }

    @Test(arguments: 0..<5) func `an answer request of each kind of call`(index: Int) throws {
        let (plan, query, json) = try Self.plans()[index]
        let get = try #require(first(.answer, of: plan, by: .get))
        #expect(get.target == "/answer?" + query && get.body == nil)
        let post = try #require(first(.answer, of: plan, by: .post))
        #expect(post.target == "/answer" && String(decoding: post.body ?? [], as: UTF8.self) == json)
    }

    @Test(arguments: 0..<5) func `a fallback request says why and what it stands in for`(index: Int) throws {
        var (plan, query, json) = try Self.plans()[index]
        plan.fallback = fallbackAddress
        let get = try #require(first(.fallback, of: plan, by: .get, answer: .fails(.closed)))
        #expect(
            get.target == "/fallback?\(query)&reason=Connection%20closed."
                + "&original_request=%7B%22url%22%3A%22https%3A%2F%2Fa.example%2Fanswer%22%2C%22type%22%3A%22answer%22%7D")
        let post = try #require(first(.fallback, of: plan, by: .post, answer: .status(404)))
        #expect(
            String(decoding: post.body ?? [], as: UTF8.self) == json.dropLast()
                + #","reason":"HTTP 404.","original_request":{"url":"https://a.example/answer","type":"answer"}}"#)
    }

    @Test func `a fallback request for an event holds the event`() throws {
        let ncco = #"[{"action":"notify","payload":{},"eventUrl":["https://c.example/n?a=1"]}]"#
        let call = play(
            plan(phoneCall.origin, fallback: fallbackAddress), ["answer": [.ncco(ncco)], "notify": [.status(500), .status(500)]])
        let event = try #require(call.bodies("notify").first)
        #expect(
            call.bodies("fallback") == [
                event.dropLast()
                    + #","reason":"HTTP 500.","original_request":{"url":"https://c.example/n?a=1","type":"event"}}"#
            ])
    }

    @Test func `a SIP header that Vonage keeps to itself is named`() {
        let call = play(plan(.sip(from: "a", to: "b", headers: [("Subject", "hi")])), [:])
        #expect(call.complained.first == "note: the SIP header \"Subject\" is not passed on")
    }

    @Test func `a call of the REST API has its own answer URL`() {
        let own = WebhookAddress(url: "https://c.example/own?a=1", method: .get)
        let call = play(plan(.api(to: .phone("1"), from: nil, ncco: nil, answer: own)), [:])
        let request = call.sent.first { $0.request.kind == .answer }?.request
        #expect(request?.target.hasPrefix("/own?a=1&to=1&endpoint_type=phone&conversation_uuid=") == true)
    }
}
