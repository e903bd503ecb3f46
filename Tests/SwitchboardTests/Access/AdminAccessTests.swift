// SPDX-License-Identifier: MIT
//
// Who is the admin, from the text of a request; and what a session's cookie and page token are worth.

import HTTPServer
import HTTPWire
import Testing
import VonageAuth

@testable import Switchboard

private let token = "0123456789abcdef"
private let now: Int64 = 1_800_000_000

struct SessionTests {
    private func isValid(_ value: String, _ sessions: Sessions, at time: Int64 = now) -> Bool {
        let bytes = Array("xx\(value)yy".utf8)
        return sessions.isValid(2..<bytes.count - 2, in: bytes.span, now: time)
    }

    private func find(_ cookies: String, _ sessions: Sessions) -> String? {
        let bytes = Array(cookies.utf8)
        return sessions.find(in: 0..<bytes.count, bytes.span, now: now).map { bytes.span.text($0) }
    }

    @Test func `a session holds for twelve hours, over restarts, and ends with the token`() throws {
        let sessions = try Sessions(AdminToken(token, source: ""))
        let value = try #require(sessions.begin(now: now))
        #expect(isValid(value, sessions) && isValid(value, sessions, at: now + 12 * 3600 - 1) && isValid(value, sessions, at: now - 5))
        #expect(!isValid(value, sessions, at: now + 12 * 3600))
        #expect(try isValid(value, Sessions(AdminToken(token, source: ""))))
        #expect(try !isValid(value, Sessions(AdminToken(token + "x", source: ""))))
        #expect(try #require(sessions.begin(now: now)) != value)
        #expect(!value.contains(token))
    }

    @Test func `no changed character and no cut passes`() throws {
        let sessions = try Sessions(AdminToken(token, source: ""))
        let value = try #require(sessions.begin(now: now))
        let bytes = Array(value.utf8)
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 1
            #expect(!isValid(String(decoding: other, as: UTF8.self), sessions), "\(index)")
            #expect(!isValid(String(decoding: bytes[..<index], as: UTF8.self), sessions))
        }
        for bad in [
            "", ".", "..", value + "0", "0" + value, value + value, String(repeating: "1", count: 129), "99999999999..", "\(now + 1).x.",
            "\(value.prefix { $0 != "." })0\(value.drop { $0 != "." })",
        ] { #expect(!isValid(bad, sessions), "\(bad)") }
    }

    @Test func `the cookie is found among others, and a planted one hides it not`() throws {
        let sessions = try Sessions(AdminToken(token, source: ""))
        let value = try #require(sessions.begin(now: now))
        let forged = value.dropLast() + (value.hasSuffix("0") ? "1" : "0")
        for cookies in [
            "switchboard=\(value)", "a=b; switchboard=\(value)", "switchboard=planted; switchboard=\(value); c=d",
            " \tswitchboard=\(value)",
            "a;switchboard=\(value);", String(repeating: "switchboard=x;", count: 400) + "switchboard=\(value)",
        ] { #expect(find(cookies, sessions) == value, "\(cookies)") }
        for cookies in [
            "", "switchboard", "switchboard=", "Switchboard=\(value)", "xswitchboard=\(value)", "switchboardx=\(value)",
            "switchboard =\(value)",
            "switchboard=\"\(value)\"", "switchboard=\(value) ", "a=switchboard=\(value)",
            // So many of the right form are looked at, and no more.
            String(repeating: "switchboard=\(forged);", count: 32) + "switchboard=\(value)",
        ] { #expect(find(cookies, sessions) == nil, "\(cookies)") }
    }

    @Test func `a page token is of one session, and neither stands in for the other`() throws {
        let sessions = try Sessions(AdminToken(token, source: ""))
        func pageToken(_ value: String) -> String? {
            let bytes = Array(value.utf8)
            return sessions.pageToken(of: 0..<bytes.count, in: bytes.span)?.hex
        }
        let one = try #require(sessions.begin(now: now))
        let other = try #require(sessions.begin(now: now))
        #expect(pageToken(one) == pageToken(one) && pageToken(one) != pageToken(other))
        // The part in front of a session's MAC as a session whose page token is known.
        let front = String(one[..<(one.lastIndex(of: ".") ?? one.endIndex)])
        #expect(pageToken(front) != String(one.suffix(64)))
    }
}

struct AdminAccessTests {
    private func access(
        _ method: String, _ fields: String, _ body: String = "", forwardedBy direct: Peer = .address(.unspecified),
        publicURL: String? = nil,
        isWhole: Bool = true
    ) throws -> AdminAccess {
        let sessions = try Sessions(AdminToken(token, source: ""))
        let bytes = Array("\(method) /calls HTTP/1.1\r\nHost: calls.example.com\r\n\(fields)\r\n\(body)".utf8)
        var head = RequestHead()
        try #require(try parseRequestHead(bytes.span, into: &head, limits: Limits()))
        let forwarded = Forwarded(head, bytes.span, from: direct, trusting: TrustedProxies())
        let credentials = try AdminCredentials(
            head, bytes.span, token: AdminToken(token, source: ""), sessions: sessions, now: now)
        return AdminAccess(
            credentials, head, bytes.span, bytes.span.extracting(head.end..<bytes.count), isWhole: isWhole, sessions: sessions,
            own: OwnHosts(head, bytes.span, forwarded, publicURL: publicURL))
    }

    /// A cookie of a session, and its page token.
    private func session() throws -> (cookie: String, page: String) {
        let sessions = try Sessions(AdminToken(token, source: ""))
        let value = try #require(sessions.begin(now: now))
        let bytes = Array(value.utf8)
        let page = sessions.pageToken(of: 0..<bytes.count, in: bytes.span)?.hex
        return ("Cookie: switchboard=\(value)\r\n", try #require(page))
    }

    private static let bearer = "Authorization: Bearer \(token)\r\n"
    private static let form = "Content-Type: application/x-www-form-urlencoded; charset=utf-8\r\n"

    @Test func `without the token and a session everybody is a stranger`() throws {
        let (cookie, page) = try session()
        for fields in [
            "", "Authorization: Bearer wrong-wrong-wrong\r\n", "Cookie: switchboard=\(token)\r\n", "X-CSRF-Token: \(page)\r\n",
            "Cookie: switchboard=1900000000.\(String(repeating: "0", count: 32)).\(String(repeating: "0", count: 64))\r\n",
            cookie.replacing("switchboard", with: "other"), "Origin: https://evil.example\r\n",
        ] { #expect(try access("GET", fields) == .stranger, "\(fields)") }
    }

    @Test(arguments: ["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH"])
    func `the matrix of methods, credentials and page tokens`(_ method: String) throws {
        let (cookie, page) = try session()
        let other = try session().page
        let changes = !["GET", "HEAD", "OPTIONS"].contains(method)
        #expect(try access(method, Self.bearer) == .admin(session: nil))
        #expect(try access(method, Self.bearer + "Cookie: switchboard=expired\r\n") == .admin(session: nil))
        // With the cookie, whatever else there is.
        for bearer in ["", Self.bearer] {
            #expect(try access(method, bearer + cookie).isAdmin == !changes)
            #expect(try access(method, bearer + cookie + "X-CSRF-Token: \(page)\r\n").isAdmin)
            #expect(try access(method, bearer + cookie + "x-csrf-token: \(page.uppercased())\r\n").isAdmin)
            for bad in [other, "", String(page.dropLast()), page + "0", String(page.reversed())] {
                #expect(try access(method, bearer + cookie + "X-CSRF-Token: \(bad)\r\n").isAdmin == !changes)
            }
            #expect(try access(method, bearer + cookie + Self.form, "a=b&csrf=\(page)").isAdmin)
            #expect(
                try access(method, bearer + cookie + Self.form, "csrf=\(other)&csrf=\(page)").isAdmin == !changes, "the first one counts")
            #expect(try access(method, bearer + cookie, "csrf=\(page)").isAdmin == !changes, "not a form")
            #expect(try access(method, bearer + cookie + "Content-Type: text/plain\r\n", "csrf=\(page)").isAdmin == !changes)
            #expect(
                try access(method, bearer + cookie + "X-CSRF-Token: \(other)\r\n" + Self.form, "csrf=\(page)").isAdmin == !changes,
                "a wrong field is not made up for")
        }
        if changes { #expect(try access(method, cookie) == .noPageToken) }
    }

    @Test func `before the body is there its page token counts as sent`() throws {
        let (cookie, _) = try session()
        #expect(try access("POST", cookie + Self.form, isWhole: false).isAdmin)
        #expect(try access("POST", cookie, isWhole: false) == .noPageToken)
        #expect(try access("POST", cookie + Self.form + "X-CSRF-Token: x\r\n", isWhole: false) == .noPageToken)
    }

    @Test(
        arguments: [
            ("Origin: https://calls.example.com", true), ("Origin: http://calls.example.com", true),
            ("Origin: HTTPS://Calls.Example.com:443", true), ("Sec-Fetch-Site: same-origin", true), ("Sec-Fetch-Site: none", true),
            ("Origin: https://calls.example.com\r\nSec-Fetch-Site: same-origin", true),
            ("Origin: null", false), ("Origin:", false), ("Origin: https://evil.example", false), ("Origin: calls.example.com", false),
            ("Origin: https://calls.example.com.evil.example", false), ("Origin: https://evil.example/calls.example.com", false),
            ("Origin: https://calls.example.com/", false), ("Origin: https://calls.example.com:8443", false),
            ("Origin: https://calls.example.com:80", false), ("Origin: ftp://calls.example.com", false), ("Origin: https://", false),
            ("Origin: https://calls.example.com https://evil.example", false), ("Origin: https://sub.calls.example.com", false),
            ("Origin: https://localhost", false), ("Origin: https://public.example.com", false),
            ("Origin: https://" + String(repeating: "a", count: 400), false),
            ("Origin: https://calls.example.com\r\nOrigin: https://evil.example", false),
            ("Sec-Fetch-Site: cross-site", false), ("Sec-Fetch-Site: same-site", false), ("Sec-Fetch-Site:", false),
            ("Sec-Fetch-Site: Same-Origin", false), ("Origin: https://calls.example.com\r\nSec-Fetch-Site: cross-site", false),
            ("Origin: null\r\nSec-Fetch-Site: same-origin", false),
        ])
    func `what says where it comes from must come from here`(_ fields: String, _ isOwn: Bool) throws {
        let (cookie, page) = try session()
        for (method, credentials) in [
            ("GET", Self.bearer), ("POST", Self.bearer), ("GET", cookie), ("POST", cookie + "X-CSRF-Token: \(page)\r\n"),
        ] {
            let access = try access(method, credentials + fields + "\r\n")
            #expect(access.isAdmin == isOwn)
            #expect(isOwn || access == .otherOrigin)
        }
        #expect(try access("GET", fields + "\r\n") == .stranger)
    }

    @Test func `a forwarded host and the public URL are our own names too`() throws {
        let origin = "Origin: https://public.example.com\r\n"
        let proxied = "X-Forwarded-Host: public.example.com\r\n"
        #expect(try access("GET", Self.bearer + origin + proxied, forwardedBy: .local).isAdmin)
        #expect(try access("GET", Self.bearer + origin + proxied) == .otherOrigin, "a stranger says so")
        for url in ["https://public.example.com", "https://public.example.com/prefix", "https://PUBLIC.example.com:443/"] {
            #expect(try access("GET", Self.bearer + origin, publicURL: url).isAdmin)
        }
        #expect(try access("GET", Self.bearer + origin, publicURL: "https://other.example.com/public.example.com") == .otherOrigin)
    }
}
