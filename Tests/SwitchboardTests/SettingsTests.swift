// SPDX-License-Identifier: MIT

import EventLog
import HTTPServer
import HTTPWire
import NCCO
import Switchboard
import Testing

struct SettingsTests {
    private func settings(_ arguments: String..., environment: [String: String] = [:]) throws -> Settings {
        try Settings(arguments: arguments, environment: environment)
    }

    @Test func `without anything the defaults hold`() throws {
        let settings = try settings()
        #expect(settings.server.host == "localhost")
        #expect(settings.server.port == 3000)
        #expect(settings.numbers.isEmpty)
        #expect(settings.inboundUser.description == "Alice")
        #expect((settings.events, settings.nccos, settings.publicURL) == ("events", nil, nil))
        #expect(settings.sync == .always)
        #expect(settings.logsAnswers && !settings.isQuiet && settings.logFormat == nil)
        #expect(settings.server.limits.body == 256 * 1024)
        #expect(settings.server.poller == .preferred)
        #expect(settings.grace < 10_000)
    }

    @Test func `a flag wins over the environment, and an empty variable is none`() throws {
        #expect(try settings(environment: ["PORT": "1", "VCR_PORT": "2"]).server.port == 1)
        #expect(try settings(environment: ["PORT": "", "VCR_PORT": "2"]).server.port == 2)
        #expect(try settings("--port", "3", environment: ["PORT": "1"]).server.port == 3)
        #expect(try settings("--port=4", environment: ["PORT": "bad"]).server.port == 4)
        #expect(try settings(environment: ["PORT": "", "HOST": ""]).server.port == 3000)
        #expect(try settings(environment: ["UNRELATED": "x"]).server.host == "localhost")
    }

    @Test func `numbers are gathered in order, each once, however they are written`() throws {
        let settings = try settings("--number", "+1 (415) 555-0100, 447700900123", "--number=0014155550100", "--number", "tel:447700900456")
        #expect(settings.numbers.map(\.description) == ["14155550100", "447700900123", "447700900456"])
        #expect(try self.settings(environment: ["VONAGE_NUMBER": "14155550100,447700900123"]).numbers.count == 2)
        #expect(
            try self.settings("--number", "14155550100", environment: ["VONAGE_NUMBER": "447700900123"]).numbers.map(\.description) == [
                "14155550100"
            ])
    }

    @Test(arguments: [("50ms", 50), ("10s", 10_000), ("2m", 120_000), ("1h", 3_600_000), ("10", 10_000)] as [(String, Int64)])
    func `a time has a unit or is seconds`(_ text: String, _ milliseconds: Int64) throws {
        #expect(try settings("--head-timeout", text).server.limits.headTime == milliseconds)
        #expect(try settings("--body-timeout", text).server.limits.bodyTime == milliseconds)
        #expect(try settings("--idle-timeout", text).server.limits.idleTime == milliseconds)
        #expect(try settings("--write-timeout", text).server.limits.writeTime == milliseconds)
    }

    @Test func `TLS needs both halves of a pair, and a plain port needs TLS`() throws {
        let pair = ["--tls-cert", "c.pem", "--tls-key", "k.pem"]
        let settings = try Settings(arguments: pair + ["--redirect-from", "0"], environment: [:])
        #expect((settings.tlsCertificateFile, settings.tlsKeyFile, settings.redirectPort) == ("c.pem", "k.pem", 0))
        #expect(settings.baseURL() == "https://localhost:3000" && settings.listeningURL == "https://localhost:3000")
        let environment = ["TLS_CERT": "c.pem", "TLS_KEY": "k.pem", "REDIRECT_FROM": "80", "HANDSHAKE_TIMEOUT": "2s"]
        #expect(try self.settings(environment: environment).redirectPort == 80)
        #expect(try self.settings(environment: environment).server.limits.handshakeTime == 2000)
        for (arguments, words) in [
            (["--tls-cert", "c.pem"], "--tls-cert needs --tls-key too"), (["--tls-key", "k.pem"], "--tls-key needs --tls-cert too"),
            (["--redirect-from", "80"], "add --tls-cert and --tls-key"),
            (pair + ["--redirect-from", "3000"], "is the port of --port already"),
            (pair + ["--redirect-from", "65536"], "0 to 65535"),
            (pair + ["--redirect-from", "80", "--host", "unix:/s"], "--host is a path"),
        ] {
            let error = #expect(throws: UsageError.self) { try Settings(arguments: arguments, environment: [:]) }
            #expect(error?.description.contains(words) == true, "\(error?.description ?? "no error")")
        }
    }

    @Test func `a stop may take no time, or ten minutes at most`() throws {
        #expect(try settings("--grace", "0").grace == 0)
        #expect(try settings("--grace", "10m").grace == 600_000)
        #expect(throws: UsageError.self) { try settings("--grace", "601s") }
    }

    @Test(arguments: [
        ("1", 1), ("655360", 655_360), ("64KiB", 65_536), ("64kB", 64_000), ("0.5MiB", -1), ("641KiB", -1), ("0", -1), ("-1", -1),
        ("9999999999999999999KiB", -1), ("1kb", -1), ("", -1),
    ])
    func `a size has a binary unit or is bytes`(_ text: String, _ bytes: Int) throws {
        if bytes >= 0 {
            #expect(try settings("--max-body", text).server.limits.body == bytes)
        } else {
            let error = #expect(throws: UsageError.self) { try settings("--max-body", text) }
            let cure = text.isEmpty ? "has an empty value: --max-body SIZE" : "is not a size from 1 to 655360 bytes; write 262144 or 256KiB"
            #expect(error?.description.hasSuffix(cure) == true)
        }
    }

    @Test func `the log is closed at a size and kept for a time or a size`() throws {
        let none = try settings()
        #expect(none.rotateSize == nil && none.keepFor == nil && none.keepSize == nil)
        let all = try settings("--rotate-size", "64MiB", "--keep", "30d", "--keep-size", "10GB")
        #expect((all.rotateSize, all.keepFor, all.keepSize) == (67_108_864, 2_592_000_000, 10_000_000_000))
        #expect(try settings(environment: ["EVENTS_KEEP": "12h", "EVENTS_KEEP_SIZE": "2GiB"]).keepSize == 2_147_483_648)
        #expect(try settings("--keep-size", "1TB").keepSize == 1_000_000_000_000)
        #expect(try settings("--keep-size", "0").keepSize == 0)
        for (flag, bad) in [
            ("--rotate-size", "1023"), ("--rotate-size", "64Mib"), ("--keep", "59s"), ("--keep", "30 d"), ("--keep", "36501d"),
            ("--keep-size", "9223372036854775807GB"), ("--keep-size", "-1"), ("--keep-size", "10G"),
        ] { #expect(throws: UsageError.self) { try settings(flag, bad) } }
        let error = #expect(throws: UsageError.self) { try settings("--keep", "30") }
        #expect(error?.description.hasSuffix("write 12h or 30d") == true)
    }

    @Test func `prefixes are gathered from flags and lists, and two of them are words`() throws {
        let settings = try settings("--allow-prefixes", "1,+44", "--allow-prefixes=all", "--deny-prefixes", "1876, 4470,none")
        #expect(settings.allowPrefixes.map(\.description) == ["1", "44", "all"])
        #expect(settings.denyPrefixes.map(\.description) == ["1876", "4470"])
        #expect(!settings.deniesByDefault)
        let other = try self.settings(environment: ["ALLOW_PREFIXES": "1,44", "DENY_PREFIXES": "447"])
        #expect(other.allowPrefixes.count == 2 && other.denyPrefixes.count == 1 && other.deniesByDefault)
        for (flag, bad) in [
            ("--allow-prefixes", "1,"), ("--allow-prefixes", "none"), ("--allow-prefixes", "0044"), ("--deny-prefixes", "all"),
            ("--deny-prefixes", "44x"), ("--deny-prefixes", "1234567890123456"),
        ] {
            let error = #expect(throws: UsageError.self) { try self.settings(flag, bad) }
            #expect(error?.description.contains("is no prefix; write 1 to 15 digits that begin with a country code, like 44, or ") == true)
        }
    }

    @Test func `calls are limited by a rate`() throws {
        let settings = try settings("--max-calls-per-user", "10/min", environment: ["MAX_CALLS": "3/s"])
        #expect(settings.maxCallsPerUser?.description == "10/min" && settings.maxCalls?.description == "3/s")
        for bad in ["10", "0/s", "3/week", "x"] {
            let error = #expect(throws: UsageError.self) { try self.settings("--max-calls", bad) }
            #expect(error?.description.contains("is no rate; write 600/min, 3/s") == true)
        }
    }

    @Test(arguments: ["49ms", "2h", "9223372036854775807h", "1.5s", "ms", "s10", "-1s", "1e3"])
    func `what is no time is refused`(_ text: String) {
        let error = #expect(throws: UsageError.self) { try settings("--head-timeout", text) }
        #expect(error?.description.contains("write 500ms, 10s or 2m") == true)
    }

    @Test func `the sync policy has three words`() throws {
        #expect(try settings("--sync", "none").sync == .none)
        #expect(try settings("--sync", "interval=200ms").sync == .interval(milliseconds: 200))
        for bad in ["interval", "interval=", "interval=0ms", "Always"] { #expect(throws: UsageError.self) { try settings("--sync", bad) } }
    }

    @Test(arguments: [
        ("https://calls.example.com", "https://calls.example.com"), ("https://calls.example.com/", "https://calls.example.com"),
        ("http://h:8080/a/b", "http://h:8080/a/b"),
        ("https://", nil), ("https:///x", nil), ("calls.example.com", nil), ("https://user@h", nil), ("https://h?x", nil),
        ("https://h#x", nil), ("https://h\"", nil),
        ("https://h\r\nX", nil), ("https://hö", nil),
    ])
    func `a public URL is a plain one`(_ text: String, _ url: String?) throws {
        if let url {
            #expect(try settings("--public-url", text).publicURL == url)
        } else {
            #expect(throws: UsageError.self) { try settings("--public-url", text) }
        }
    }

    @Test func `each setting has a name, words and a check, and no two share one`() {
        #expect(Set(Setting.all.map(\.flag)).count == Setting.all.count)
        let variables = Setting.all.flatMap(\.environment)
        #expect(Set(variables).count == variables.count)
        for setting in Setting.all {
            #expect(setting.flag.hasPrefix("--") && !setting.help.isEmpty)
            #expect((!setting.flag.contains("secret") || setting.flag.hasSuffix("-file")) && !setting.flag.hasSuffix("token"))
        }
    }

    @Test(arguments: Setting.all.map(\.flag))
    func `each flag with a value asks for it, and is not taken twice`(_ flag: String) throws {
        let setting = try #require(Setting.all.first { $0.flag == flag })
        guard let placeholder = setting.placeholder else {
            #expect(throws: UsageError("\(flag) takes no value")) { try settings("\(flag)=1") }
            return
        }
        #expect(throws: UsageError("\(flag) needs a value: \(flag) \(placeholder)")) { try settings(flag) }
        if !setting.repeats { #expect(throws: UsageError("\(flag) is given twice")) { try settings(flag, "1", flag, "1") } }
    }

    @Test func `apps are open where somebody says so, within a limit`() throws {
        #expect(try (settings().opensApps, settings().openAppsLimit.description) == (false, "600/min"))
        #expect(try settings("--open-apps").opensApps)
        for (value, isOpen) in [("1", true), ("0", false), ("", false)] {
            #expect(try settings(environment: ["OPEN_APPS": value]).opensApps == isOpen)
        }
        #expect(throws: UsageError("OPEN_APPS: \"yes\"; write 1 or 0")) { try settings(environment: ["OPEN_APPS": "yes"]) }
        #expect(try settings("--open-apps-limit", "60").openAppsLimit.description == "60/min")
        #expect(try settings(environment: ["OPEN_APPS_LIMIT": "20/s"]).openAppsLimit.description == "20/s")
        for bad in ["0", "-1", "60/x", "1e3"] { #expect(throws: UsageError.self) { try settings("--open-apps-limit", bad) } }
    }

    @Test func `trusted proxies are gathered from all flags, and are loopback without any`() throws {
        let loopback = Peer.address(IPAddress(ipv4: 0x7F00_0001))
        #expect(try settings().trustedProxies.trusts(loopback))
        #expect(try !settings(environment: ["TRUSTED_PROXIES": "none"]).trustedProxies.trusts(loopback))
        let two = try settings("--trusted-proxies", "10.0.0.0/8", "--trusted-proxies=loopback").trustedProxies
        #expect(two.trusts(loopback) && two.trusts(.address(IPAddress(ipv4: 0x0A01_0101))))
        #expect(throws: UsageError.self) { try settings("--trusted-proxies", "proxy") }
    }

    @Test func `an error is one line that escapes what was written`() {
        for arguments in [["--\u{1B}[2J\n"], ["\u{202E}"], ["--port", "1\r\n2"], ["--inbound-user", "\u{7}"], ["--number", "\"\u{0}\""]] {
            let error = #expect(throws: UsageError.self) { try Settings(arguments: arguments, environment: [:]) }
            #expect(
                error?.description.unicodeScalars.allSatisfy {
                    $0.properties.generalCategory != .control && $0.properties.generalCategory != .format
                } == true)
        }
    }

    @Test func `a flag that is nearly right is named`() {
        for (wrong, right) in [
            ("--prot", "--port"), ("--numbers", "--number"), ("--log-answer", "--log-answers"), ("--HOST", nil), ("--x", nil),
        ] {
            let error = #expect(throws: UsageError.self) { try settings(wrong, "1") }
            #expect(error?.description.contains(right.map { "did you mean \($0)?" } ?? "see switchboard serve --help") == true)
        }
    }

    @Test(arguments: [
        "--region", "--api-url", "--cors-origin", "--open-apps-limit", "--public-url", "--port", "--payload-hash", "--number",
    ])
    func `what may be a key, a token or a password is not shown`(_ flag: String) throws {
        for secret in [
            "-----BEGIN PRIVATE KEY-----", "eyJhbGciOiJIUzI1NiJ9.e30.x", "http://user:hidden@h/ x", String(repeating: "k", count: 65),
        ] {
            let error = try #require(throws: UsageError.self) { try settings("\(flag)=\(secret)") }
            for piece in ["BEGIN", "eyJ", "hidden", "kkk"] { #expect(!error.description.contains(piece), "\(error)") }
        }
    }
}
