// SPDX-License-Identifier: MIT

import HTTPServer
import Testing

struct RouteTests {
    private static let connected =
        #"[{"action":"talk","text":"Please wait while we connect you."},{"action":"connect","from":"14155550100","endpoint":[{"type":"phone","number":"447700900123"}]}]"#

    @Test(arguments: Way.allCases)
    func `an app user's call to a phone is answered byte for byte, by each method`(_ way: Way) throws {
        try withServer(way) { server in
            let requests = [
                get("/voice/answer?to=%2B44%207700%20900123&from_user=Alice"),
                post("/voice/answer", #"{"to":"+44 7700 900123","from_user":"Alice"}"#),
                post("/voice/answer", "to=%2B44+7700+900123&from_user=Alice", type: "application/x-www-form-urlencoded; charset=utf-8"),
                post("/voice/answer?to=14155550199&from_user=Bob", #"{"to":"447700900123"}"#),
                chunkedPost("/voice/answer", [#"{"to":"+44 7700 900123","#, #""from_user":"Alice"}"#]),
            ]
            let client = try server.client()
            for request in requests {
                let answer = try client.ask(request)
                #expect(answer.status == 200)
                #expect(answer.text == Self.connected)
                #expect(answer["Content-Type"] == "application/json")
                #expect(answer["X-Content-Type-Options"] == "nosniff")
                #expect(answer["X-Switchboard-Flow"] == "answer#3 connect-phone")
                #expect(answer["X-Switchboard-Warning"] == nil)
                #expect(answer["Server"] == nil)
            }
        }
    }

    @Test(arguments: [
        "/voice/answer/?to=447700900123&from_user=Alice", "/voice/%61nswer?to=447700900123&from_user=Alice",
        "http://example.com/voice/answer?to=447700900123&from_user=Alice",
        "https://example.com:443/voice/%61nswer/?to=447700900123&from_user=Alice",
        "//voice/answer", "/voice/answerx", "/Voice/answer", "/voice%2fanswer", "/voice/../voice/answer", "/voice/%2e%2e/voice/answer",
        "/%zz", "/%00",
    ])
    func `a path has one meaning however it is written`(_ target: String) throws {
        try withServer { server in
            let answer = try server.ask(get(target))
            switch target {
            case let target where target.contains("?"): #expect(answer.text == Self.connected)
            case "//voice/answer", "/voice/answerx", "/Voice/answer": #expect(answer.status == 404)
            default: #expect(answer.status == 400)
            }
            if answer.status >= 400 { #expect(answer["Content-Type"] == "application/problem+json") }
        }
    }

    @Test func `the authority of an absolute target need not be that of Host`() throws {
        try withServer { server throws in
            #expect(try server.ask("GET http://calls.example.com/health HTTP/1.1\r\nHost: other.example.com\r\n\r\n").status == 200)
            #expect(try server.ask("GET http://calls.example.com/health HTTP/1.1\r\n\r\n").status == 400)
        }
    }

    @Test(arguments: Way.allCases)
    func `HEAD has the fields of GET and no body`(_ way: Way) throws {
        try withServer(way) { server in
            let client = try server.client()
            for target in ["/voice/answer?to=447700900123&from_user=Alice", "/voice/fallback", "/health"] {
                let full = try client.ask(get(target))
                try client.send("HEAD \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let head = try client.read(isHead: true)
                #expect(head.status == 200)
                #expect(head.fields.filter { $0.name != "Date" }.map(\.value) == full.fields.filter { $0.name != "Date" }.map(\.value))
                #expect(head["Content-Length"] == "\(full.body.count)")
            }
            let error = try client.ask("HEAD /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(error.status == 404)
            #expect(try client.ask(get("/health")).status == 200)
        }
    }

    @Test func `a wrong method is told which ones are right`() throws {
        try withServer { server in
            let client = try server.client()
            for (method, target, allow) in [
                ("PUT", "/voice/answer", "GET, HEAD, POST, OPTIONS"), ("DELETE", "/voice/event/", "GET, POST, OPTIONS"),
                ("HEAD", "/voice/event", "GET, POST, OPTIONS"),
                ("POST", "/health", "GET, HEAD, OPTIONS"), ("TRACE", "/voice/fallback", "GET, HEAD, POST, OPTIONS"),
            ] {
                let answer = try client.ask("\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(answer.status == 405)
                #expect(answer["Allow"] == allow)
            }
            for target in ["/voice/answer", "/voice/event", "/health", "*"] {
                let answer = try client.ask("OPTIONS \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(answer.status == 204)
                #expect(answer["Allow"]?.hasSuffix("OPTIONS") == true)
            }
            #expect(try client.ask("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n").status == 405)
            #expect(try client.ask("BREW /voice/answer HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 501)
        }
    }

    @Test func `an unknown path names the nearest route, and nothing of what was asked for`() throws {
        try withServer { server in
            let near = try server.ask(get("/voice/anwser"))
            #expect(near.status == 404)
            #expect(near.text.contains("did you mean /voice/answer?"))
            let far = try server.ask(get("/kilroy-was-here/%3Cscript%3E"))
            #expect(far.status == 404)
            #expect(far.text.contains("/voice/event"))
            #expect(!far.text.contains("kilroy") && !far.text.contains("script"))
            let problem = try #require(try far.json() as? [String: Any])
            #expect(problem["type"] as? String == "about:blank")
            #expect(problem["title"] as? String == "Not Found")
            #expect(problem["status"] as? Int == 404)
        }
    }

    @Test func `metrics are there for the admin alone`() throws {
        try withServer { server in
            let stranger = try server.ask(get("/metrics"))
            let nowhere = try server.ask(get("/nowhere-at-all"))
            #expect(stranger.status == 404)
            #expect(stranger.text == nowhere.text)
            for wrong in ["Bearer wrong", "Bearer \(TestServer.token)x", "Basic \(TestServer.token)", TestServer.token, "Bearer"] {
                #expect(try server.ask(get("/metrics", "Authorization: \(wrong)\r\n")).status == 404)
            }
            #expect(try server.ask(post("/metrics", "", "Authorization: Bearer \(TestServer.token)\r\n")).status == 405)
            #expect(try server.ask(post("/voice/event", #"{"status":"started"}"#)).status == 200)
            let metrics = try server.ask(get("/metrics", "Authorization: bearer \(TestServer.token)\r\n"))
            #expect(metrics.status == 200)
            #expect(metrics["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(metrics.text.contains("\nswitchboard_events_total 1\n"))
            #expect(
                metrics.text.contains("\nswitchboard_connections_open 1\n") || metrics.text.contains("\nswitchboard_connections_open 2\n"))
            for name in ["rotations", "files_compressed", "files_deleted_for_age", "files_deleted_for_size"] {
                #expect(metrics.text.contains("\nswitchboard_log_\(name)_total 0\n"))
            }
            for line in metrics.text.split(separator: "\n") where !line.hasPrefix("#") {
                let parts = line.split(separator: " ")
                #expect(parts.count == 2 && parts[0].hasPrefix("switchboard_") && Double(parts[1]) != nil, "\(line)")
            }
        }
    }

    @Test func `health is one word to strangers and reasons to the admin`() throws {
        try withServer { server in
            for target in ["/health", "/_/health", "/health/"] {
                let answer = try server.ask(get(target))
                #expect(answer.status == 200)
                #expect(answer.text == "{\"status\":\"ok\"}\n")
            }
            let admin = try server.ask(get("/health", "Authorization: Bearer \(TestServer.token)\r\n"))
            #expect(admin.text == "{\"status\":\"ok\",\"reasons\":[]}\n")
        }
    }

    @Test func `the fallback is an apology whatever comes`() throws {
        try withServer { server in
            for request in [get("/voice/fallback"), post("/voice/fallback", #"{"reason":"x"}"#), post("/voice/fallback", "{")] {
                let answer = try server.ask(request)
                #expect(answer.status == 200)
                #expect(answer["X-Switchboard-Flow"] == "fallback#1 apology")
                #expect(answer.text.hasPrefix(#"[{"action":"talk","text":"Sorry, we have a technical problem"#))
            }
        }
    }

    @Test func `an answer request that cannot be read is answered by an apology`() throws {
        try withServer { server in
            for request in [post("/voice/answer", #"{"to":"#), post("/voice/answer", "\u{1F}\u{8B}x", "Content-Encoding: gzip\r\n")] {
                let answer = try server.ask(request)
                #expect(answer.status == 200)
                #expect(answer["X-Switchboard-Flow"] == "fallback#1 apology")
                #expect(answer["X-Switchboard-Warning"] == "the request body cannot be read")
            }
            let lines = try server.stopAndRead()
            #expect(lines.count == 2)
            #expect(lines.allSatisfy { $0.members["error"] is String })
            #expect(lines.first?.members["raw"] as? String == #"{"to":"#)
        }
    }
}
