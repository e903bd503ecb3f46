// SPDX-License-Identifier: MIT
//
// Every setting, one row each: the parser and the help are made of this table. A new flag is a new row.

import EventLog
import HTTPServer
import HTTPWire
import NCCO
import VonageAPI
import VonageAuth

/// One row: how a setting is spelt, said and applied.
package struct Setting: Sendable {
    package let flag: String
    package let environment: [String]
    /// What stands for the value in the help; nil for a switch.
    package let placeholder: String?
    package let help: String
    /// May be given more than once.
    package var repeats = false
    let apply: @Sendable (inout Settings, _ value: String, _ source: String) throws(UsageError) -> Void

    package static let all: [Setting] = [
        Setting(
            flag: "--host", environment: ["HOST"], placeholder: "HOST",
            help: "where to listen: a name, an address, ::, or unix:PATH (localhost: 127.0.0.1 and ::1)"
        ) { settings, value, _ throws(UsageError) in settings.server.host = value },
        Setting(flag: "--port", environment: ["PORT", "VCR_PORT"], placeholder: "N", help: "port (3000); 0 takes a free one") {
            settings, value, source throws(UsageError) in
            settings.server.port = UInt16(try whole(value, in: 0...65535, source))
        },
        Setting(
            flag: "--tls-cert", environment: ["TLS_CERT"], placeholder: "FILE",
            help: "speak TLS with this certificate in PEM, its chain behind it; read anew when it changes (plain HTTP)"
        ) { settings, value, _ throws(UsageError) in settings.tlsCertificateFile = value },
        Setting(flag: "--tls-key", environment: ["TLS_KEY"], placeholder: "FILE", help: "its private key: RSA, ECDSA or Ed25519, in PEM") {
            settings, value, _ throws(UsageError) in settings.tlsKeyFile = value
        },
        Setting(
            flag: "--redirect-from", environment: ["REDIRECT_FROM"], placeholder: "PORT",
            help: "listen there with plain HTTP too: browsers are sent on to TLS, webhooks are told the URL that they need (no such port)"
        ) { settings, value, source throws(UsageError) in settings.redirectPort = UInt16(try whole(value, in: 0...65535, source)) },
        Setting(
            flag: "--number", environment: ["VONAGE_NUMBER"], placeholder: "NUMBER",
            help: "a Vonage number of yours, dialled from and recognised; may be repeated, or a list with commas", repeats: true
        ) { settings, value, source throws(UsageError) in
            for piece in value.split(separator: ",", omittingEmptySubsequences: false) {
                guard let number = PhoneNumber(lenient: Array(piece.utf8).span) else {
                    throw UsageError(
                        "\(source): \(shown(String(piece))) is no phone number; write 7 to 15 digits with the country code, like 14155550100"
                    )
                }
                if !settings.numbers.contains(number) { settings.numbers.append(number) }
            }
        },
        Setting(
            flag: "--inbound-user", environment: ["VONAGE_INBOUND_USER"], placeholder: "NAME",
            help: "app user who is rung when a phone calls (Alice)"
        ) { settings, value, source throws(UsageError) in
            guard let name = UserName(value) else {
                throw UsageError("\(source): \(shown(value)) is no user name; it has 1 to 100 characters and not only digits")
            }
            settings.inboundUser = name
        },
        Setting(
            flag: "--allow-prefixes", environment: ["ALLOW_PREFIXES"], placeholder: "LIST",
            help: "how a number that a request brings must begin to be dialled, like 1,44; all is any not denied; may be repeated (all)",
            repeats: true
        ) { settings, value, source throws(UsageError) in
            for piece in value.split(separator: ",", omittingEmptySubsequences: false) {
                settings.allowPrefixes.append(piece == "all" ? .all : try prefix(piece, source, "all"))
            }
        },
        Setting(
            flag: "--deny-prefixes", environment: ["DENY_PREFIXES"], placeholder: "LIST",
            help: "how it must not begin; the longest prefix decides, of equal ones deny, then allow, then the default; may be repeated "
                + "(premium rate, shared cost, personal and satellite numbers; none: not even those)", repeats: true
        ) { settings, value, source throws(UsageError) in
            for piece in value.split(separator: ",", omittingEmptySubsequences: false) {
                if piece == "none" {
                    settings.deniesByDefault = false
                } else {
                    settings.denyPrefixes.append(try prefix(piece, source, "none"))
                }
            }
        },
        Setting(
            flag: "--max-calls-per-user", environment: ["MAX_CALLS_PER_USER"], placeholder: "RATE",
            help:
                "NCCOs with a connect that one user, or one caller, is given, like 10/min, or none; then a sentence (any number; 10/min with --open-apps)"
        ) { settings, value, source throws(UsageError) in
            settings.hasNoUserLimit = value == "none"
            if value != "none" { settings.maxCallsPerUser = try rate(value, source) }
        },
        Setting(
            flag: "--max-calls", environment: ["MAX_CALLS"], placeholder: "RATE",
            help: "the same for all together, like 3/s, which is what Vonage takes (any number)"
        ) { settings, value, source throws(UsageError) in settings.maxCalls = try rate(value, source) },
        Setting(
            flag: "--nccos", environment: ["NCCOS_DIR"], placeholder: "DIR",
            help: "folder of flows and templates, read anew when it changes (nccos, or the built-in flow where that is not there)"
        ) { settings, value, _ throws(UsageError) in settings.nccos = value },
        Setting(flag: "--events", environment: ["EVENTS_DIR"], placeholder: "DIR", help: "folder of the event log (events)") {
            settings, value, _ throws(UsageError) in settings.events = value
        },
        Setting(
            flag: "--sync", environment: ["EVENTS_SYNC"], placeholder: "always|interval=200ms|none",
            help: "when an event counts as kept: after fdatasync (always), or once written and synced at intervals or never"
        ) { settings, value, source throws(UsageError) in
            if value == "always" {
                settings.sync = .always
            } else if value == "none" {
                settings.sync = .none
            } else if value.hasPrefix("interval=") {
                settings.sync = .interval(milliseconds: Int(try duration(String(value.dropFirst(9)), in: 1...60_000, source)))
            } else {
                throw UsageError("\(source): \(shown(value)); write always, interval=200ms or none")
            }
        },
        Setting(
            flag: "--rotate-size", environment: ["EVENTS_ROTATE_SIZE"], placeholder: "SIZE",
            help: "the log's file is closed and compressed at this size, and each day (64MiB)"
        ) { settings, value, source throws(UsageError) in settings.rotateSize = try size(value, in: 1024...1_099_511_627_776, source) },
        Setting(
            flag: "--keep", environment: ["EVENTS_KEEP"], placeholder: "TIME",
            help: "closed log files are deleted once their newest line is older, like 30d (never)"
        ) { settings, value, source throws(UsageError) in
            settings.keepFor = try duration(value, in: 60_000...3_153_600_000_000, source, example: "12h or 30d")
        },
        Setting(
            flag: "--keep-size", environment: ["EVENTS_KEEP_SIZE"], placeholder: "SIZE",
            help: "the oldest closed log files are deleted while all are larger together, like 10GB (never)"
        ) { settings, value, source throws(UsageError) in
            settings.keepSize = Int64(try size(value, in: 0...1_125_899_906_842_624, source))
        },
        Setting(
            flag: "--calls-in-memory", environment: ["CALLS_IN_MEMORY"], placeholder: "N",
            help: "calls that /calls lists; older ones are read from the log one by one (10000)"
        ) { settings, value, source throws(UsageError) in settings.callsInMemory = try whole(value, in: 1...100_000, source) },
        Setting(
            flag: "--public-url", environment: ["PUBLIC_URL"], placeholder: "URL",
            help: "where Vonage reaches this server: shown at the start, and base_url in templates (what a trusted proxy was asked for)"
        ) { settings, value, source throws(UsageError) in settings.publicURL = try publicURL(value, source) },
        Setting(
            flag: "--application-id", environment: ["VONAGE_APPLICATION_ID", "API_APPLICATION_ID"], placeholder: "UUID",
            help: "the Vonage application that tokens are made for (the one in vonage_app.json)"
        ) { settings, value, source throws(UsageError) in
            do throws(TokenError) { settings.applicationID = try ApplicationID(checking: value) } catch {
                throw UsageError("\(source): \(error)")
            }
        },
        Setting(
            flag: "--private-key-file", environment: [], placeholder: "FILE",
            help:
                "its private key (or a variable with the key or its path: \(ApplicationCredentials.keyVariables.joined(separator: ", ")); else vonage_app.json or private.key, if it is here)"
        ) { settings, value, _ throws(UsageError) in settings.privateKeyFile = value },
        Setting(
            flag: "--region", environment: ["REGION"], placeholder: VonageRegion.allCases.map(\.rawValue).joined(separator: "|"),
            help: "the region of Vonage's in which users and rooms are made; that of the apps (us)"
        ) { settings, value, source throws(UsageError) in
            guard let region = VonageRegion(rawValue: value.lowercased()) else {
                throw UsageError("\(source): \(shown(value)); write us, eu or ap")
            }
            settings.region = region
        },
        Setting(
            flag: "--api-url", environment: ["VONAGE_API_URL"], placeholder: "URL",
            help: "where Vonage's API of users and conversations is (\(VonageRegion.us.api), or that of --region)"
        ) { settings, value, source throws(UsageError) in settings.apiURL = try publicURL(value, source) },
        Setting(
            flag: "--video-url", environment: ["VONAGE_VIDEO_URL"], placeholder: "URL",
            help: "where Vonage's video API is (\(VonageConfiguration.defaultVideo))"
        ) { settings, value, source throws(UsageError) in settings.videoURL = try publicURL(value, source) },
        Setting(
            flag: "--simulate", environment: [], placeholder: nil,
            help: "play Vonage's API too, in memory: users, rooms, sessions and tokens without an account"
        ) { settings, _, _ throws(UsageError) in settings.simulates = true },
        Setting(
            flag: "--trusted-proxies", environment: ["TRUSTED_PROXIES"], placeholder: "LIST",
            help: "whose forwarded fields count: addresses, networks, loopback, private, or none; may be repeated (loopback)",
            repeats: true
        ) { settings, value, source throws(UsageError) in try settings.trustedProxies.add(value, source) },
        Setting(
            flag: "--open-apps", environment: ["OPEN_APPS"], placeholder: nil,
            help: "apps get tokens and rooms without the admin token: whoever finds the address can call at your cost"
        ) { settings, value, source throws(UsageError) in
            // The flag has no value; of the variable 0 is what people write who want it off.
            guard ["", "1", "0"].contains(value) else { throw UsageError("\(source): \(shown(value)); write 1 or 0") }
            settings.opensApps = value != "0"
        },
        Setting(
            flag: "--open-apps-limit", environment: ["OPEN_APPS_LIMIT"], placeholder: "N",
            help: "how often a minute one address may ask with --open-apps (600), or like 20/s"
        ) { settings, value, source throws(UsageError) in
            guard let limit = RateLimit(value, bare: .minute) else {
                throw UsageError("\(source): \(shown(value)) is no limit; write 600, \(RateLimit.allowed)")
            }
            settings.openAppsLimit = limit
        },
        Setting(
            flag: "--cors-origin", environment: ["CORS_ORIGIN"], placeholder: "ORIGIN",
            help: "a web page's origin from which a browser may ask for tokens and rooms, like https://app.example.com, or * for any; "
                + "may be repeated, or a list with commas (none)", repeats: true
        ) { settings, value, source throws(UsageError) in
            for piece in value.split(separator: ",", omittingEmptySubsequences: false) {
                settings.corsOrigins.append(try origin(String(piece), source))
            }
        },
        Setting(
            flag: "--admin-token-file", environment: [], placeholder: "FILE",
            help: "file with the admin token (or the variable SWITCHBOARD_ADMIN_TOKEN; else made at the first start in EVENTS/admin-token)"
        ) { settings, value, _ throws(UsageError) in settings.adminTokenFile = value },
        Setting(
            flag: "--signature-secret-file", environment: [], placeholder: "FILE",
            help:
                "file with the signature secret of the Vonage account, or with api_key=secret for each of several (or the variable VONAGE_SIGNATURE_SECRET; without one webhooks are not checked)"
        ) { settings, value, _ throws(UsageError) in settings.signatureSecretFile = value },
        Setting(
            flag: "--webhook-leeway", environment: ["WEBHOOK_LEEWAY"], placeholder: "TIME",
            help: "how far the time in a webhook's token may lie from this machine's, either way (300s)"
        ) { settings, value, source throws(UsageError) in
            settings.webhookLeeway = try duration(value, in: 1000...86_400_000, source, example: "300s or 5m") / 1000
        },
        Setting(
            flag: "--payload-hash", environment: ["PAYLOAD_HASH"], placeholder: "required|optional",
            help: "whether a webhook's token must vouch for the body or query it comes with (required)"
        ) { settings, value, source throws(UsageError) in
            guard value == "required" || value == "optional" else {
                throw UsageError("\(source): \(shown(value)); write required or optional")
            }
            settings.requiresPayloadHash = value == "required"
        },
        Setting(
            flag: "--unsigned", environment: ["UNSIGNED_WEBHOOKS"],
            placeholder: UnsignedPolicy.allCases.map(\.rawValue).joined(separator: "|"),
            help: "what a webhook without a token gets: an answer, 503 so that Vonage tries again, or 401 (retry)"
        ) { settings, value, source throws(UsageError) in
            guard let policy = UnsignedPolicy(rawValue: value) else {
                throw UsageError("\(source): \(shown(value)); write accept, retry or refuse")
            }
            settings.unsigned = policy
        },
        Setting(
            flag: "--log-answers", environment: ["LOG_ANSWERS"], placeholder: "all|none",
            help: "whether answers are kept in the event log too (all)"
        ) { settings, value, source throws(UsageError) in
            guard value == "all" || value == "none" else { throw UsageError("\(source): \(shown(value)); write all or none") }
            settings.logsAnswers = value == "all"
        },
        Setting(
            flag: "--log-format", environment: ["LOG_FORMAT"], placeholder: "text|json",
            help: "print a line for each webhook, also where the output is no terminal"
        ) { settings, value, source throws(UsageError) in
            guard let format = Settings.LogFormat(rawValue: value) else {
                throw UsageError("\(source): \(shown(value)); write text or json")
            }
            settings.logFormat = format
        },
        Setting(flag: "--quiet", environment: [], placeholder: nil, help: "print warnings only") { settings, _, _ throws(UsageError) in
            settings.isQuiet = true
        },
        Setting(flag: "--workers", environment: ["WORKERS"], placeholder: "N", help: "event loops (one for each core)") {
            settings, value, source throws(UsageError) in settings.server.workers = try whole(value, in: 1...64, source)
        },
        Setting(
            flag: "--max-connections", environment: ["MAX_CONNECTIONS"], placeholder: "N",
            help: "open connections (from the descriptor limit)"
        ) { settings, value, source throws(UsageError) in settings.server.maxConnections = try whole(value, in: 1...1_000_000, source) },
        Setting(flag: "--max-body", environment: ["MAX_BODY"], placeholder: "SIZE", help: "longest request body (256KiB)") {
            settings, value, source throws(UsageError) in
            settings.server.limits.body = try size(value, in: 1...640 * 1024, source)
        },
        Setting(flag: "--max-head", environment: ["MAX_HEAD"], placeholder: "SIZE", help: "longest request head (32KiB)") {
            settings, value, source throws(UsageError) in settings.server.limits.head = try size(value, in: 1024...1_048_576, source)
        },
        Setting(flag: "--max-target", environment: ["MAX_TARGET"], placeholder: "SIZE", help: "longest request target (16KiB)") {
            settings, value, source throws(UsageError) in settings.server.limits.target = try size(value, in: 256...1_048_576, source)
        },
        Setting(flag: "--max-fields", environment: ["MAX_FIELDS"], placeholder: "N", help: "field lines in a request (100)") {
            settings, value, source throws(UsageError) in settings.server.limits.fields = try whole(value, in: 4...10_000, source)
        },
        Setting(
            flag: "--handshake-timeout", environment: ["HANDSHAKE_TIMEOUT"], placeholder: "TIME",
            help: "a TLS handshake must be done within (10s)"
        ) { settings, value, source throws(UsageError) in
            settings.server.limits.handshakeTime = try duration(value, in: 50...3_600_000, source)
        },
        Setting(
            flag: "--head-timeout", environment: ["HEAD_TIMEOUT"], placeholder: "TIME", help: "a request head must be whole within (10s)"
        ) {
            settings, value, source throws(UsageError) in settings.server.limits.headTime = try duration(value, in: 50...3_600_000, source)
        },
        Setting(
            flag: "--body-timeout", environment: ["BODY_TIMEOUT"], placeholder: "TIME", help: "a request body must be whole within (30s)"
        ) {
            settings, value, source throws(UsageError) in settings.server.limits.bodyTime = try duration(value, in: 50...3_600_000, source)
        },
        Setting(flag: "--idle-timeout", environment: ["IDLE_TIMEOUT"], placeholder: "TIME", help: "an unused connection is kept for (75s)")
        {
            settings, value, source throws(UsageError) in settings.server.limits.idleTime = try duration(value, in: 50...3_600_000, source)
        },
        Setting(flag: "--write-timeout", environment: ["WRITE_TIMEOUT"], placeholder: "TIME", help: "a reader may be stuck for (30s)") {
            settings, value, source throws(UsageError) in settings.server.limits.writeTime = try duration(value, in: 50...3_600_000, source)
        },
        Setting(flag: "--grace", environment: ["STOP_GRACE"], placeholder: "TIME", help: "a stop takes at most (8s)") {
            settings, value, source throws(UsageError) in settings.grace = try duration(value, in: 0...600_000, source)
        },
        Setting(
            flag: "--poller", environment: ["POLLER"], placeholder: PollerKind.allCases.map(\.rawValue).joined(separator: "|"),
            help: "how the event loops wait (\(PollerKind.preferred.rawValue))"
        ) { settings, value, source throws(UsageError) in
            guard let kind = PollerKind(rawValue: value) else {
                throw UsageError("\(source): \(shown(value)); write \(PollerKind.allCases.map(\.rawValue).joined(separator: " or "))")
            }
            settings.server.poller = kind
        },
    ]
}

/// - Parameter word: what may stand in place of a prefix.
private func prefix(_ text: Substring, _ source: String, _ word: String) throws(UsageError) -> DialPrefix {
    let trimmed = text.drop { $0 == " " }
    guard let prefix = DialPrefix(trimmed) else {
        throw UsageError(
            "\(source): \(shown(String(text))) is no prefix; write 1 to 15 digits that begin with a country code, like 44, or \(word)")
    }
    return prefix
}

private func rate(_ value: String, _ source: String) throws(UsageError) -> RateLimit {
    guard let limit = RateLimit(value) else { throw UsageError("\(source): \(shown(value)) is no rate; write \(RateLimit.allowed)") }
    return limit
}

private func whole(_ value: String, in range: ClosedRange<Int>, _ source: String) throws(UsageError) -> Int {
    guard let number = Int(value), range.contains(number) else {
        throw UsageError("\(source): \(shown(value)) is not a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
}

/// `500ms`, `10s`, `2m`, `12h`, `30d`; a bare number is seconds. In milliseconds.
package func duration(
    _ value: String, in range: ClosedRange<Int64>, _ source: String, example: String = "500ms, 10s or 2m"
) throws(UsageError) -> Int64 {
    let units: [(String, Int64)] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("", 1000)]
    for (unit, factor) in units where value.hasSuffix(unit) {
        guard let number = Int64(value.dropLast(unit.count)) else { continue }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: factor)
        if !overflow, range.contains(milliseconds) { return milliseconds }
    }
    throw UsageError(
        "\(source): \(shown(value)) is not a time from \(range.lowerBound)ms to \(range.upperBound)ms; write \(example)")
}

/// `262144`, `256KiB`, `1MiB`, `10GB`; the example in the message lies in the range of each setting.
private func size(_ value: String, in range: ClosedRange<Int>, _ source: String) throws(UsageError) -> Int {
    let units = [
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000), ("", 1),
    ]
    for (unit, factor) in units where value.hasSuffix(unit) {
        guard let number = Int(value.dropLast(unit.count)) else { continue }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: factor)
        if !overflow, range.contains(bytes) { return bytes }
    }
    throw UsageError(
        "\(source): \(shown(value)) is not a size from \(range.lowerBound) to \(range.upperBound) bytes; write 262144 or 256KiB")
}

private func publicURL(_ value: String, _ source: String) throws(UsageError) -> String {
    let rest = value.hasPrefix("https://") ? value.dropFirst(8) : value.hasPrefix("http://") ? value.dropFirst(7) : ""
    let isPlain = rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"?#\"\\@<>".utf8.contains($0) }
    let authority = Array(rest.utf8.prefix { $0 != UInt8(ascii: "/") })
    guard isPlain, isAuthority(0..<authority.count, in: authority.span) else {
        throw UsageError("\(source): \(shown(value)) is not a URL; write https://HOST or https://HOST/PATH, without ? and #")
    }
    return value.hasSuffix("/") ? String(value.dropLast()) : value
}

/// `scheme://host[:port]` as browsers send it, or `*`.
private func origin(_ value: String, _ source: String) throws(UsageError) -> String {
    if value == "*" { return value }
    let rest = value.hasPrefix("https://") ? value.dropFirst(8) : value.hasPrefix("http://") ? value.dropFirst(7) : ""
    let authority = Array(rest.utf8)
    guard isAuthority(0..<authority.count, in: authority.span), !rest.contains("@") else {
        throw UsageError("\(source): \(shown(value)) is no origin; write https://HOST or http://HOST:PORT without a path, or *")
    }
    return value.lowercased()
}

/// A value as an error shows it: not, where it could be a key, a token or a password that was pasted into the wrong place.
private func shown(_ value: String) -> String {
    let isSecret =
        value.utf8.count > 64 || value.contains("-----") || value.contains("PRIVATE") || value.hasPrefix("eyJ") || value.hasPrefix("MII")
        || value.hasPrefix("LS0t") || value.contains("@")
    return isSecret ? "a value of \(value.utf8.count) bytes" : printable(value)
}
