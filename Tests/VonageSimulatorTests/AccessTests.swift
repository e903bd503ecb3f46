// SPDX-License-Identifier: MIT

import HTTPWire
import Testing
import VonageAuth

@testable import VonageSimulator

struct AccessTests {
    @Test func `a request without a token that can be taken is 401, in the words of its API`() throws {
        let simulation = try Simulation()
        let other = try simulation.token(key: PrivateKey.generate())
        for field in ["", "Bearer", "Bearer x.y.z", "Basic YTpi", "Bearer \(other)"] {
            let answer = try simulation.ask(.get, "/v1/users", authorization: field)
            #expect(answer.status == 401, "\(field)")
            #expect(answer.code == "system:error:invalid-token")
            #expect(answer["type"] == "https://developer.vonage.com/api/conversation#system:error:invalid-token")
            #expect(!answer["detail"].isEmpty && !answer["instance"].isEmpty && answer["title"] == "Unauthorized")
            #expect(answer.response.contentType == .problem)
            #expect(!field.hasPrefix("Bearer x") || !answer.text.contains("x.y.z"))
        }
        let foreign = try simulation.token(id: "99999999-2222-4333-8444-555555555555")
        #expect(try simulation.ask(.get, "/v1/users", authorization: "Bearer \(foreign)").code == "system:error:invalid-token")
        let call = try simulation.ask(.get, "/v1/calls", authorization: "Bearer a")
        #expect(call.status == 401 && call.text == #"{"type":"UNAUTHORIZED","error_title":"Unauthorized"}"#)
        #expect(call.fields.hasPrefix("x-nexmo-trace-id: "))
        let video = try simulation.ask(.post, "/session/create", authorization: "Bearer a")
        #expect(video.status == 401 && video["code"] == "401" && !video["message"].isEmpty)
    }

    @Test func `a token that is over is told from one that was never good`() throws {
        let simulation = try Simulation()
        let token = try simulation.token(seconds: 30)
        #expect(try simulation.ask(.get, "/v1/users", authorization: "Bearer \(token)").status == 200)
        #expect(try simulation.ask(.get, "/v1/users", authorization: "bearer \(token)").status == 200)
        simulation.now += 30_000
        let answer = try simulation.ask(.get, "/v1/users", authorization: "Bearer \(token)")
        #expect(answer.status == 401 && answer.code == "system:error:expired-token")
    }

    @Test func `a user's token opens what its acl opens, makes no users, and must be of a user who exists`() throws {
        let simulation = try Simulation()
        let field =
            "Bearer "
            + (try simulation.token(#","sub":"Alice","acl":{"paths":{"/*/users/**":{},"/*/conversations/**":{"methods":["GET"]}}}"#))
        #expect(try simulation.ask(.get, "/v1/users", authorization: field).status == 401)
        _ = try simulation.makeUser("Alice")
        #expect(try simulation.ask(.get, "/v1/users", authorization: field).status == 200)
        #expect(try simulation.ask(.get, "/us/v1/users", authorization: field).status == 200)
        let make = try simulation.ask(.post, "/v1/users", #"{"name":"Bob"}"#, authorization: field)
        #expect(make.status == 403 && make.code == "system:error:permission")
        #expect(try simulation.ask(.get, "/v1/conversations", authorization: field).status == 200)
        #expect(try simulation.ask(.post, "/v1/conversations", "{}", authorization: field).code == "system:error:permission")
        let call = try simulation.ask(.get, "/v1/calls", authorization: field)
        #expect(call.status == 403 && call.text == #"{"type":"FORBIDDEN","error_title":"Forbidden"}"#)
        let bare = "Bearer " + (try simulation.token(#","sub":"Alice""#))
        #expect(try simulation.ask(.get, "/v1/users", authorization: bare).status == 403)
    }

    @Test(arguments: ["/", "/v1", "/v2/users", "/v1/user", "/v1/calls/a/b", "/session", "/v1/users/USR-1/x", "/v1/users/%00", "/%", ""])
    func `a path where nothing is is 404`(_ path: String) throws {
        let answer = try Simulation().ask(.get, path)
        #expect(answer.status == 404, "\(answer.text)")
    }

    @Test(arguments: [
        ("/v1/users", "GET, POST"), ("/v1/users/a", "GET, PATCH, DELETE"), ("/v0.1/users/a", "GET, PUT, DELETE"),
        ("/v1/users/a/conversations", "GET"), ("/v1/conversations", "GET, POST"), ("/v1/calls", "GET, POST"), ("/v1/calls/a", "GET, PUT"),
        ("/v1/calls/a/dtmf", "PUT"), ("/v1/calls/a/talk", "PUT, DELETE"), ("/session/create", "POST"),
        ("/v2/applications/\(applicationText)", "GET, PUT"),
    ])
    func `a method that a path does not take is 405 with those that it takes`(_ path: String, _ allowed: String) throws {
        let answer = try Simulation().ask(.options, path, authorization: path.hasPrefix("/v2") ? "Basic YTpi" : nil)
        #expect(answer.status == 405)
        #expect(answer.fields.contains("Allow: \(allowed)\r\n"))
    }

    @Test func `the application is read and changed with an account's key and secret`() throws {
        let simulation = try Simulation { $0.account = SimulatedVonage.Account(key: "abcd1234", secret: "s3cret") }
        let path = "/v2/applications/\(applicationText)"
        for field in ["", "Basic", "Basic YTpi", "Basic *", "Bearer \(try simulation.token())"] {
            let answer = try simulation.ask(.get, path, authorization: field)
            #expect(answer.status == 401 && answer["type"] == "https://developer.vonage.com/api-errors#unauthorized", "\(field)")
        }
        let field = "Basic YWJjZDEyMzQ6czNjcmV0"
        let read = try simulation.ask(.get, path, authorization: field)
        #expect(read.status == 200 && read["id"] == applicationText)
        #expect(read["keys.public_key"].hasPrefix("-----BEGIN PUBLIC KEY-----"))
        #expect(try simulation.ask(.get, "/v2/applications/other", authorization: field).status == 404)
        let hook =
            #"{"address":"https://calls.example.com/voice/answer","http_method":"POST","connect_timeout":1000,"socket_timeout":5000}"#
        let body =
            #"{"name":"One","capabilities":{"voice":{"webhooks":{"answer_url":\#(hook)},"signed_callbacks":true,"region":"eu-west"}}}"#
        let changed = try simulation.ask(.put, path, body, authorization: field)
        #expect(changed.status == 200 && changed.hasChanged && changed["name"] == "One")
        #expect(changed["capabilities.voice.webhooks.answer_url.http_method"] == "POST")
        #expect(simulation.vonage.webhook("answer_url")?.address == "https://calls.example.com/voice/answer")
        #expect(simulation.vonage.webhook("answer_url")?.method == "POST")
        #expect(simulation.vonage.webhook("event_url") == nil)
        let wrong =
            #"{"capabilities":{"voice":{"webhooks":{"answer_url":{"address":"x"},"other":{}},"conversations_ttl":9001},"fax":{}},"keys":{"public_key":"k"}}"#
        let refused = try simulation.ask(.put, path, wrong, authorization: field)
        #expect(refused.status == 400)
        #expect(
            Set(refused.invalid) == [
                "name", "capabilities.voice.webhooks.answer_url.address", "capabilities.voice.webhooks.other",
                "capabilities.voice.conversations_ttl", "capabilities.fax", "keys.public_key",
            ])
        #expect(simulation.vonage.webhook("answer_url") != nil, "a refusal changes nothing")
    }

    @Test func `where no account is named, any key and secret will do`() throws {
        let simulation = try Simulation()
        #expect(try simulation.ask(.get, "/v2/applications/\(applicationText)", authorization: "Basic YTpi").status == 200)
        #expect(try simulation.ask(.get, "/v2/applications/\(applicationText)", authorization: "Basic YTo=").status == 401)
        #expect("\(SimulatedVonage.Account(key: "a", secret: "s3cret"))".contains("s3cret") == false)
    }
}
