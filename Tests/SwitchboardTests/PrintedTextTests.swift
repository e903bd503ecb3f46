// SPDX-License-Identifier: MIT

import Foundation
import HTTPServer
import NCCO
import Testing

@testable import Switchboard

struct PrintedTextTests {
    private func line(from: String = "", to: String = "") -> WebhookLine {
        func party(_ text: String) -> WebhookLine.Party? { WebhookLine.party(Array(text.utf8).span) }
        return WebhookLine(
            wall: 36_000_123, route: "answer", status: 200, subject: .flow("answer#3 connect-phone"), from: party(from), to: party(to),
            micros: 41)
    }

    @Test func `a line is one to read or one for machines`() throws {
        let line = line(from: "Alice", to: "+44 7700 900123")
        #expect(line.formatted(.text) == "10:00:00.123 answer 200 answer#3 connect-phone \"Alice\" → *********123 41 µs")
        #expect(
            line.formatted(.json)
                == #"{"time":36000123,"route":"answer","status":200,"flow":"answer#3 connect-phone","from":"Alice","to":"*********123","micros":41}"#
        )
        let fault = WebhookLine(wall: 0, route: "-", status: 400, subject: .error("badHost at byte 3"))
        #expect(fault.formatted(.text) == "00:00:00.000 - 400 badHost at byte 3 - → - 0 µs")
        #expect(
            fault.formatted(.json)
                == #"{"time":0,"route":"-","status":400,"error":"badHost at byte 3","from":null,"to":null,"micros":0}"#)
    }

    @Test(arguments: [
        ("447700900123", "*********123"), ("+1 (415) 555-0100", "********100"), ("", "-"), ("Bob", "\"Bob\""), ("a1b2c3", "\"a1b2c3\""),
        ("112", "\"112\""),
        ("call 447700900123", "\"call *********123\""), ("0447700900123", "\"**********123\""),
        ("1234567890123456789", "\"****************789\""),
        ("a\u{1B}[2J\r\nb", "\"a\\u{1b}[2J\\u{d}\\u{a}b\""), ("\u{202E}x", "\"\\u{202e}x\""), ("\"\\", "\"\\\"\\\\\""),
        ("\u{2028}", "\"\\u{2028}\""),
    ])
    func `numbers are hidden but for three digits, and nothing steers a terminal`(_ text: String, _ shown: String) {
        #expect(line(from: text).formatted(.text).contains(" connect-phone \(shown) → - "))
        var event = line()
        event.subject = .event(WebhookLine.shown(Array(text.utf8).span))
        for format in [Settings.LogFormat.text, .json] {
            let printed = event.formatted(format) + line(from: text, to: text).formatted(format)
            #expect(!printed.contains("447700900123") && !printed.contains("4155550100"))
            #expect(printed.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
        }
    }

    @Test func `a long text is cut`() {
        let long = line(from: String(repeating: "x", count: 100_000))
        #expect(long.formatted(.text).contains(" \"" + String(repeating: "x", count: 64) + "…\" "))
        #expect(long.formatted(.json).utf8.count < 250)
        #expect(line(from: String(repeating: "é", count: 200)).formatted(.text).contains("é…\""))
    }

    @Test func `a candidate is near where a third of it differs at most`() {
        let words = ["serve", "health", "version", "help"]
        for (word, expected) in [
            ("serv", "serve"), ("Serve", "serve"), ("sreve", "serve"), ("srvee", nil), ("halth", "health"), ("", nil), ("xyz", nil),
            ("versions", "version"),
        ] as [(String, String?)] {
            #expect(nearest(word, among: words) == expected, "\(word)")
        }
        #expect(nearest(String(repeating: "a", count: 65), among: [String(repeating: "a", count: 65)]) == nil)
        #expect(nearest("x", among: []) == nil)
    }
}

struct BannerTests {
    private func lines(
        isTerminal: Bool, token: String? = "0123456789abcdef-token", certificate: String? = nil, redirects: [String] = [],
        adjust: (inout Settings) throws -> Void = { _ in }
    ) throws -> String {
        var settings = try Settings()
        settings.adminToken = token
        settings.numbers = [PhoneNumber("14155550100")]
        try adjust(&settings)
        let banner = Banner(
            settings: settings, addresses: ["127.0.0.1:3000", "[::1]:3000"], port: 3000, flows: "nccos: answer, fallback",
            admin: try AdminToken(settings), credentials: ApplicationCredentials(),
            certificate: certificate, redirects: redirects, isTerminal: isTerminal)
        return banner.lines.joined(separator: "\n") + "\n"
    }

    @Test func `a terminal is shown the token and the number, nothing else is`() throws {
        let terminal = try lines(isTerminal: true)
        #expect(terminal.hasPrefix("Switchboard \(switchboardVersion) listens on 127.0.0.1:3000 and [::1]:3000\n"))
        #expect(terminal.contains("curl -H 'Authorization: Bearer 0123456789abcdef-token' 'localhost:3000/metrics'"))
        #expect(terminal.contains("  log in       http://localhost:3000/login#0123456789abcdef-token\n"))
        #expect(terminal.contains("14155550100 (calls go out from the first)"))
        let pipe = try lines(isTerminal: false)
        #expect(!pipe.contains("0123456789abcdef") && !pipe.contains("14155550100"))
        #expect(pipe.contains("********100 (calls go out from the first)"))
    }

    @Test func `the log-in link holds any token, and is left out where no browser can follow it`() throws {
        let text = try lines(isTerminal: true, token: "0123+/=&#%'\"~.abcdef") { $0.server.host = "::1" }
        #expect(text.contains("  log in       http://[::1]:3000/login#0123%2B%2F%3D%26%23%25%27%22%7E%2Eabcdef\n"))
        #expect(try !lines(isTerminal: true) { $0.server.host = "unix:/run/s" }.contains("log in"))
        #expect(try !lines(isTerminal: false).contains("log in"))
    }

    @Test(arguments: [
        ("localhost", "http://localhost:3000"), ("0.0.0.0", "http://localhost:3000"), ("::", "http://localhost:3000"),
        ("[::]", "http://localhost:3000"),
        ("example.com", "http://example.com:3000"), ("::1", "http://[::1]:3000"), ("[fe80::1]", "http://[fe80::1]:3000"),
        ("192.0.2.1", "http://192.0.2.1:3000"),
    ])
    func `what is printed can be pasted`(_ host: String, _ base: String) throws {
        let text = try lines(isTerminal: false) { $0.server.host = host }
        #expect(text.contains("\(base)/voice/answer\n"))
        #expect(text.contains("\(base)/voice/event\n"))
        #expect(text.contains("curl '\(base.dropFirst(7))/voice/answer?to=%2B44%207700%20900123&from_user=Alice'\n"))
        #expect(text.contains("start a tunnel"))
    }

    @Test func `with TLS all that is printed has it`() throws {
        let text = try lines(isTerminal: true, certificate: "DNS:a, until 2026-12-31", redirects: ["127.0.0.1:80", "[::1]:80"]) {
            ($0.tlsCertificateFile, $0.tlsKeyFile) = ("c", "k")
        }
        #expect(text.contains("  tls          DNS:a, until 2026-12-31\n"))
        #expect(text.contains("  redirects    browsers from http://127.0.0.1:80 and [::1]:80\n"))
        #expect(
            text.contains("  log in       https://localhost:3000/login#")
                && text.contains("answer URL   https://localhost:3000/voice/answer\n"))
        #expect(text.contains("  try          curl -k 'https://localhost:3000/voice/answer?to="))
    }

    @Test func `a public URL is what Vonage is given, and a path is asked as curl does`() throws {
        let text = try lines(isTerminal: false) { $0.publicURL = "https://calls.example.com/a" }
        #expect(text.contains("answer URL   https://calls.example.com/a/voice/answer\n"))
        #expect(!text.contains("tunnel"))
        let path = try lines(isTerminal: false) { $0.server.host = "unix:/run/s" }
        #expect(path.contains("curl --unix-socket '/run/s' 'http://localhost/voice/answer?to="))
    }

    @Test func `what is open or missing is said`() throws {
        let text = try lines(isTerminal: false) { $0.numbers = [] }
        #expect(text.contains("none: calls go out without a caller id; set --number or VONAGE_NUMBER"))
        #expect(text.contains("webhooks     open, signature off"))
        #expect(text.contains("  nccos        nccos: answer, fallback\n"))
    }
}
