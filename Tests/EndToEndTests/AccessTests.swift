// SPDX-License-Identifier: MIT
//
// Who asks, over real sockets: of both families, of the file system, through what a proxy would send; and a browser's way in and out.

import Foundation
import HTTPServer
import Switchboard
import Testing

struct AccessTests {
    private static let form = "application/x-www-form-urlencoded"
    private static let proxied = "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: name.example.com\r\n"

    /// Ten attempts of one peer are used up, so the eleventh tells whether it is another one.
    private func useUp(_ client: Client, _ fields: String = "") throws -> Int {
        for _ in 0..<10 { _ = try client.ask(post("/login", "token=x", type: Self.form, fields)) }
        return try client.ask(post("/login", "token=x", type: Self.form, fields)).status
    }

    @Test(arguments: Way.allCases)
    func `a browser logs in, sees, and logs out`(_ way: Way) throws {
        try withServer(way) { server throws in
            let client = try server.client()
            let root = try client.ask(get("/", "Accept: text/html\r\n"))
            #expect(root.status == 303 && root["Location"] == "/login")
            let page = try client.ask(get("/login"))
            #expect(page.status == 200 && page["Content-Type"] == "text/html; charset=utf-8")
            #expect(page["Server"] == nil && page["X-Content-Type-Options"] == "nosniff")
            #expect(try client.ask(get("/login.js"))["Content-Type"] == "text/javascript; charset=utf-8")
            #expect(try client.ask(post("/login", "token=wrong", type: Self.form)).status == 401)

            // As a browser on this machine sends it.
            let own = "Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n"
            let entered = try client.ask(post("/login", "token=\(TestServer.token)", type: Self.form, own))
            #expect(entered.status == 303 && entered["Location"] == "/" && entered.body.isEmpty)
            let cookie = "Cookie: \(try #require(entered["Set-Cookie"]).prefix { $0 != ";" })\r\n"
            let home = try client.ask(get("/", "Accept: text/html\r\nSec-Fetch-Site: same-origin\r\n\(cookie)"))
            #expect(home.status == 200)
            #expect(try client.ask(get("/metrics", cookie)).status == 200)
            #expect(try client.ask(get("/calls", cookie)).status == 200)
            #expect(try client.ask(get("/calls", cookie + "Sec-Fetch-Site: cross-site\r\n")).status == 403)

            let start = try #require(home.text.range(of: "name=\"csrf\" value=\"")).upperBound
            let token = home.text[start...].prefix { $0 != "\"" }
            #expect(try client.ask(post("/logout", "", type: Self.form, cookie + own)).status == 403)
            let left = try client.ask(post("/logout", "csrf=\(token)", type: Self.form, cookie + own))
            #expect(left.status == 303 && left["Set-Cookie"]?.hasPrefix("switchboard=; ") == true)
        }
    }

    private typealias Adjustment = (inout Settings) throws -> Void

    @Test(arguments: Way.allCases)
    func `a peer is known by its address, whichever socket took it`(_ way: Way) throws {
        let of192 = "X-Forwarded-For: 192.0.2.1\r\n"
        try withServer(way) { server throws in
            let client = try server.client()
            #expect(try useUp(client) == 429)
            #expect(try server.ask(post("/login", "token=x", type: Self.form)).status == 429, "another connection of the same peer")
            // Loopback is trusted, and tells of others.
            #expect(try client.ask(post("/login", "token=x", type: Self.form, of192)).status == 401)
        }
        let trustNobody: Adjustment = { try $0.trustedProxies.add("none", "") }
        try withServer(way, adjust: trustNobody) { server throws in
            #expect(try useUp(server.client()) == 429)
            #expect(try server.ask(post("/login", "token=x", type: Self.form, of192)).status == 429)
        }
        // IPv4 on a socket of both families is still loopback.
        let takeBoth: Adjustment = { $0.server.host = "::" }
        try withServer(way, adjust: takeBoth) { server throws in
            for host in ["127.0.0.1", "::1"] {
                let client = try server.client(host: host)
                #expect(try useUp(client) == 429)
                #expect(try client.ask(post("/login", "token=x", type: Self.form, of192)).status == 401)
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `an NCCO names what a trusted proxy was asked for`(_ way: Way) throws {
        try withFolder { folder in
            try #"{"flows": {"answer": [{"ncco": "menu"}]}}"#.write(toFile: "\(folder)/flows.json", atomically: true, encoding: .utf8)
            try #"[{"action": "input", "type": ["dtmf"], "eventUrl": ["{{base_url}}/voice/menu"]}]"#
                .write(toFile: "\(folder)/menu.json", atomically: true, encoding: .utf8)
            let request = get("/voice/answer?to=1&from=2", Self.proxied)
            let loopback: Adjustment = { $0.nccos = folder }
            try withServer(way, adjust: loopback) { server throws in
                #expect(try server.ask(request).text.contains("\"https://name.example.com/voice/menu\""))
                let own = "\"http://localhost:\(server.server.port)/voice/menu\""
                #expect(try server.ask(get("/voice/answer?to=1&from=2")).text.contains(own))
            }
            let path: Adjustment = {
                $0.nccos = folder
                $0.server.host = "unix:\(folder)/socket"
            }
            try withServer(way, adjust: path) { server throws in
                #expect(try server.ask(request).text.contains("\"https://name.example.com/voice/menu\""))
            }
            let others: Adjustment = {
                $0.nccos = folder
                try $0.trustedProxies.add("10.0.0.0/8", "")
            }
            try withServer(way, adjust: others) { server throws in
                #expect(try server.ask(request).text.contains("\"http://localhost:\(server.server.port)/voice/menu\""))
            }
        }
    }

    @Test func `neither token nor cookie is ever printed or kept`() throws {
        try withProcess(environment: ["SWITCHBOARD_ADMIN_TOKEN": TestServer.token, "LOG_FORMAT": "text"]) { server throws in
            let entered = try server.ask(post("/login", "token=\(TestServer.token)", type: Self.form))
            let cookie = try #require(entered["Set-Cookie"]).prefix { $0 != ";" }
            for fields in ["Cookie: \(cookie)\r\n", "Authorization: Bearer \(TestServer.token)\r\n"] {
                for target in ["/metrics", "/health", "/voice/answer?to=447700900123&from_user=Alice", "/nowhere"] {
                    let answer = try server.ask(get(target, fields))
                    #expect(!answer.text.contains(TestServer.token) && !answer.text.contains(cookie))
                }
                _ = try server.ask(post("/voice/event", #"{"status":"started"}"#, fields))
                _ = try server.ask("GET /\u{1} HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
            }
            server.signal(SIGTERM)
            let end = try server.wait()
            #expect(end.output.contains("answer 200"))
            for text in [end.output, end.errors] { #expect(!text.contains(TestServer.token) && !text.contains(cookie.suffix(64))) }
        }
    }
}
