// SPDX-License-Identifier: MIT
//
// Logging in and out, and the guard of open apps, in the handler without a server.

import HTTPServer
import HTTPWire
import Testing

@testable import Switchboard

struct LoginTests {
    private static let token = "0123456789abcdef"
    private static let form = "Content-Type: application/x-www-form-urlencoded\r\n"
    private static let proxy =
        "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: name.example.com\r\nX-Forwarded-Prefix: /calls\r\n"

    private func clock(_ microseconds: Int64 = 5_000_000) -> Clock { Clock(monotonic: { microseconds }, wall: { 1_800_000_000_000 }) }

    private func get(_ target: String, _ fields: String = "") -> String { "GET \(target) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n" }

    private func field(_ name: String, of response: Response?) -> String? {
        guard let response else { return nil }
        let lines = String(decoding: response.fields.bytes, as: UTF8.self).split(separator: "\r\n")
        return lines.first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
    }

    private func text(_ response: Response?) -> String { response.map { String(decoding: $0.body, as: UTF8.self) } ?? "" }

    private func answer(_ bench: HandlerBench, _ request: String) throws -> Response { try bench.ask(request) }

    /// The `Cookie` field after logging in.
    private func logIn(_ bench: HandlerBench) throws -> String {
        let response = try answer(bench, post("/login", "token=\(Self.token)", Self.form))
        let cookie = try #require(field("Set-Cookie", of: response)).prefix { $0 != ";" }
        return "Cookie: \(cookie)\r\n"
    }

    @Test func `the token buys a session, and the session what the admin may see`() throws {
        let bench = try HandlerBench(clock: clock())
        for (body, fields) in [
            ("token=\(Self.token)", Self.form), ("x=y&token=%30123456789abcdef%0A", Self.form),
            (#"{"token":"\#(Self.token)"}"#, "Content-Type: application/json\r\n"),
        ] {
            let response = try answer(bench, post("/login", body, fields))
            #expect(response.status == .seeOther && response.body.isEmpty)
            #expect(field("Location", of: response) == "/")
            let cookie = try #require(field("Set-Cookie", of: response))
            #expect(cookie.hasPrefix("switchboard=1800043200."))
            #expect(cookie.hasSuffix("; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict"))
            #expect(!String(decoding: response.fields.bytes, as: UTF8.self).contains(Self.token))
        }
        let cookie = try logIn(bench)
        #expect(try answer(bench, get("/metrics", cookie)).contentType == .metrics)
        #expect(try text(answer(bench, get("/health", cookie))).contains("reasons"))
        let home = try answer(bench, get("/", cookie))
        #expect(home.status == .ok && home.contentType == .html)
        #expect(text(home).contains("action=\"/logout\"") && text(home).contains("href=\"/page/style.css\""))
        #expect(!text(home).contains(Self.token) && !text(home).contains(cookie.dropFirst(20)))
        #expect(try answer(bench, get("/metrics", "Cookie: switchboard=\(Self.token)\r\n")).status == .notFound)
    }

    @Test func `a log-out needs the page token, and takes the cookie away`() throws {
        let bench = try HandlerBench(clock: clock())
        let cookie = try logIn(bench)
        let home = text(try answer(bench, get("/", cookie)))
        let start = try #require(home.firstRange(of: "name=\"csrf\" value=\"")).upperBound
        let page = String(home[start...].prefix { $0 != "\"" })
        #expect(page.utf8.count == 64)
        #expect(try answer(bench, post("/logout", "", cookie)).status == .forbidden)
        #expect(try answer(bench, post("/logout", "csrf=\(page)", Self.form + cookie + "Origin: null\r\n")).status == .forbidden)
        #expect(try answer(bench, post("/logout", "", "Origin: https://evil.example\r\n")).status == .forbidden)
        for request in [post("/logout", "csrf=\(page)", Self.form + cookie), post("/logout", "")] {
            let response = try answer(bench, request)
            #expect(response.status == .seeOther && field("Location", of: response) == "/login")
            #expect(field("Set-Cookie", of: response) == "switchboard=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict")
        }
        #expect(try answer(bench, get("/logout", cookie)).status == .methodNotAllowed)
    }

    @Test func `with TLS of our own the cookie is for https alone, unless a proxy says http`() throws {
        let bench = try HandlerBench(clock: clock()) { ($0.tlsCertificateFile, $0.tlsKeyFile) = ("c", "k") }
        let response = try answer(bench, post("/login", "token=\(Self.token)", Self.form))
        #expect(field("Set-Cookie", of: response)?.hasSuffix("; SameSite=Strict; Secure") == true)
        let own = try answer(bench, post("/login", "token=\(Self.token)", Self.form + "Origin: https://h\r\n"))
        let forged = try answer(bench, post("/login", "token=\(Self.token)", Self.form + "Origin: http://h\r\n"))
        #expect(own.status == .seeOther && forged.status == .forbidden, "a page of plain HTTP is anybody's on the way")
        bench.peer = .local
        let plain = try answer(bench, post("/login", "token=\(Self.token)", Self.form + "X-Forwarded-Proto: http\r\n"))
        #expect(field("Set-Cookie", of: plain)?.hasSuffix("; SameSite=Strict") == true)
    }

    @Test func `behind a proxy the cookie is for its path, and for https alone`() throws {
        let bench = try HandlerBench(clock: clock())
        bench.peer = .local
        let response = try answer(bench, post("/login", "token=\(Self.token)", Self.form + Self.proxy))
        #expect(field("Location", of: response) == "/calls/")
        #expect(field("Set-Cookie", of: response)?.hasSuffix("; Path=/calls; Max-Age=43200; HttpOnly; SameSite=Strict; Secure") == true)
        let page = text(try answer(bench, get("/login", Self.proxy)))
        #expect(page.contains("action=\"/calls/login\"") && page.contains("src=\"/calls/login.js\""))
        #expect(field("Location", of: try answer(bench, get("/", Self.proxy + "Accept: text/html\r\n"))) == "/calls/login")
        // A stranger cannot say so.
        bench.peer = .address(IPAddress(ipv4: 0xCB00_7109))
        let direct = try answer(bench, post("/login", "token=\(Self.token)", Self.form + Self.proxy))
        #expect(
            field("Location", of: direct) == "/"
                && field("Set-Cookie", of: direct)?.hasSuffix("Path=/; Max-Age=43200; HttpOnly; SameSite=Strict") == true)
    }

    @Test func `what is not the token is told so, in the form it came in`() throws {
        let bench = try HandlerBench(clock: clock())
        for body in ["", "token=", "token=wrong", "token=\(Self.token)x", "token=\(Self.token.uppercased())", "t=\(Self.token)"] {
            let response = try answer(bench, post("/login", body, Self.form))
            #expect(response.status == .unauthorized && response.contentType == .html, "\(body)")
            #expect(field("WWW-Authenticate", of: response) == "Bearer" && field("Set-Cookie", of: response) == nil)
            #expect(text(response).contains("This is not the admin token.") && !text(response).contains(Self.token.dropLast()))
        }
        let json = try answer(bench, post("/login?token=\(Self.token)", #"{"token":"wrong"}"#))
        #expect(json.status == .unauthorized && json.contentType == .problem, "the query does not count")
        #expect(try answer(bench, post("/login", "{")).status == .badRequest)
        #expect(try answer(bench, post("/login", "x", "Content-Encoding: gzip\r\n")).status == .unsupportedMediaType)
    }

    @Test func `another page logs nobody in`() throws {
        let bench = try HandlerBench(clock: clock())
        for fields in ["Origin: null\r\n", "Origin: https://evil.example\r\n", "Sec-Fetch-Site: cross-site\r\n"] {
            #expect(try answer(bench, post("/login", "token=\(Self.token)", Self.form + fields)).status == .forbidden)
        }
        #expect(try answer(bench, post("/login", "token=\(Self.token)", Self.form + "Origin: http://h\r\n")).status == .seeOther)
    }

    @Test func `attempts are limited by peer, of IPv6 by network, and behind a proxy by who is behind it`() throws {
        let bench = try HandlerBench(clock: clock())
        func attempt(_ peer: String, _ fields: String = "") throws -> Status {
            bench.peer = IPAddress(peer).map { .address($0) } ?? .local
            return try answer(bench, post("/login", "token=wrong", Self.form + fields)).status
        }
        for number in 0..<10 { #expect(try attempt("2001:db8:1:2::\(number)") == .unauthorized) }
        bench.peer = try .address(#require(IPAddress("2001:db8:1:2:ffff::")))
        let refused = try answer(bench, post("/login", "token=\(Self.token)", Self.form))
        #expect(refused.status == .tooManyRequests && field("Retry-After", of: refused) == "6" && refused.contentType == .html)
        #expect(try answer(bench, post("/login", #"{"token":"x"}"#)).contentType == .problem)
        #expect(try attempt("2001:db8:1:3::") == .unauthorized)
        for _ in 0..<10 { #expect(try attempt("192.0.2.1") == .unauthorized) }
        #expect(try attempt("192.0.2.1", "X-Forwarded-For: 192.0.2.77\r\n") == .tooManyRequests, "a stranger cannot be another one")
        #expect(try attempt("::ffff:192.0.2.1") == .tooManyRequests)
        #expect(try attempt("192.0.2.2") == .unauthorized)
        for number in 0..<20 { #expect(try attempt("127.0.0.1", "X-Forwarded-For: 6.6.6.6, 198.51.100.\(number)\r\n") == .unauthorized) }
        #expect(try attempt("127.0.0.1", "X-Forwarded-For: 198.51.100.200, 192.0.2.1\r\n") == .tooManyRequests)
    }

    @Test func `pages take nothing from elsewhere and are kept by nobody`() throws {
        let bench = try HandlerBench(clock: clock())
        let cookie = try logIn(bench)
        let (start, end) = ("default-src 'none'; ", "base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
        let policies = [
            "\(start)\(end); script-src 'self'; style-src 'self'",
            "\(start)script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \(end)",
        ]
        for (request, policy) in [(get("/login"), policies[0]), (get("/", cookie), policies[1])] {
            let response = try answer(bench, request)
            #expect(field("Content-Security-Policy", of: response) == policy)
            #expect(field("Referrer-Policy", of: response) == "same-origin")
            #expect(field("X-Frame-Options", of: response) == "DENY")
            #expect(field("Cache-Control", of: response) == "no-store")
            // Nothing that the policy forbids.
            for forbidden in ["<style", "style=", "onclick", "<script>", "=\"http", "=\"//", "{{"] {
                #expect(!text(response).contains(forbidden))
            }
        }
        let script = try answer(bench, get("/login.js"))
        #expect(script.contentType == .script && text(script).contains("location.hash"))
    }

    @Test func `only a browser is shown where to log in, and only at the root`() throws {
        let bench = try HandlerBench(clock: clock())
        let html = "Accept: text/plain;q=0.5, TEXT/html;q=0.9\r\n"
        for target in ["/", "http://h", "http://h/"] {
            let response = try answer(bench, get(target, html))
            #expect(response.status == .seeOther && field("Location", of: response) == "/login")
        }
        let nowhere = try answer(bench, get("/nowhere-at-all"))
        for (target, fields) in [
            ("/", ""), ("/", "Accept: */*\r\n"), ("/", "Accept: application/json\r\n"), ("/metrics", html), ("/x", html),
        ] {
            let response = try answer(bench, get(target, fields))
            #expect(response.status == .notFound && text(response).count == text(nowhere).count)
        }
        #expect(try answer(bench, post("/", "", html)).status == .notFound)
    }

    @Test func `who would be the admin but for another page is told so at admin routes alone`() throws {
        let bench = try HandlerBench(clock: clock())
        for credentials in ["Authorization: Bearer \(Self.token)\r\n", try logIn(bench)] {
            let elsewhere = credentials + "Sec-Fetch-Site: cross-site\r\n"
            for target in ["/metrics", "/calls", "/calls/CON-1", "/calls/stream", "/", "/setup", "/stats", "/flows", "/page/index.html"] {
                #expect(try answer(bench, get(target, elsewhere)).status == .forbidden, "\(target)")
            }
            #expect(try answer(bench, get("/nowhere", elsewhere)).status == .notFound)
            #expect(try text(answer(bench, get("/health", elsewhere))) == "{\"status\":\"ok\"}\n")
            #expect(try answer(bench, get("/voice/answer?to=1&explain=1", elsewhere)).contentType == .json)
            #expect(try answer(bench, get("/voice/answer?to=1&explain=1", credentials)).contentType == .text)
        }
    }

    @Test func `a refusal before the body is the one behind it`() throws {
        let bench = try HandlerBench(clock: clock())
        let cookie = try logIn(bench)
        #expect(try bench.refusal(post("/login", "token=x", Self.form)) == nil)
        #expect(try bench.refusal(post("/logout", "csrf=x", Self.form + cookie)) == nil, "the page token is in the body")
        #expect(try bench.refusal(post("/metrics", "csrf=x", Self.form + cookie)) == .methodNotAllowed)
        #expect(try bench.refusal(post("/metrics", "{}", cookie)) == .forbidden)
        #expect(try bench.refusal(post("/metrics", "{}")) == .notFound)
    }
}

struct OpenAppsTests {
    private func guarded(_ bench: HandlerBench, _ fields: String = "", path: String = "/rooms") throws -> Response? {
        let bytes = Array("GET \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n".utf8)
        var head = RequestHead()
        try #require(try parseRequestHead(bytes.span, into: &head, limits: Limits()))
        let exchange = bench.exchange()
        let access = bench.handler.access(head, bytes.span, Span(), exchange)
        return bench.handler.openApps(head, bytes.span, exchange, access)
    }

    private static let admin = "Authorization: Bearer 0123456789abcdef\r\n"

    @Test func `where apps are not open their routes are not there but for the admin`() throws {
        let bench = try HandlerBench()
        let refusal = try #require(try guarded(bench))
        let nowhere = try #require(try bench.reply("GET /rooms HTTP/1.1\r\nHost: h\r\n\r\n").now)
        #expect(refusal.status == .notFound && refusal.body == nowhere.body)
        #expect(try guarded(bench, Self.admin) == nil)
        #expect(try guarded(bench, Self.admin + "Origin: https://evil.example\r\n")?.status == .forbidden)
    }

    @Test func `where they are open one peer has its share of them`() throws {
        let bench = try HandlerBench(clock: Clock(monotonic: { 5_000_000 }, wall: { 1_800_000_000_000 })) {
            $0.opensApps = true
            $0.openAppsLimit = RateLimit(clamping: 5, per: .minute)
        }
        bench.peer = .local
        let one = "X-Forwarded-For: 2001:db8::1\r\n"
        for _ in 0..<5 { #expect(try guarded(bench, one) == nil) }
        let refusal = try #require(try guarded(bench, "X-Forwarded-For: 2001:db8::2\r\n"))
        #expect(refusal.status == .tooManyRequests)
        #expect(String(decoding: refusal.fields.bytes, as: UTF8.self) == "Retry-After: 12\r\n")
        #expect(try guarded(bench, "X-Forwarded-For: 2001:db8:0:1::1\r\n") == nil)
        #expect(try guarded(bench, one + Self.admin) == nil, "the admin is not counted")
    }
}
