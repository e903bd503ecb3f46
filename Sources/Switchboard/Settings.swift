// SPDX-License-Identifier: MIT
//
// What the server can be told. Each setting is one row of the table in `Settings+Table.swift`, from which the parser and the help are made, so
// that they cannot drift. A flag wins over the environment, the environment over the default; an empty variable counts as not set.

package import EventLog
package import HTTPServer
package import NCCO
package import VonageAPI
package import VonageAuth

/// A command line or an environment that cannot be followed; the process ends with exit code 64 (`EX_USAGE` of sysexits.h).
package struct UsageError: Error, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

package struct Settings: Sendable {
    package enum LogFormat: String, Sendable, CaseIterable { case text, json }

    package var server = ServerConfiguration()
    /// Ours; the first one is dialled from.
    package var numbers: [PhoneNumber] = []
    package var inboundUser: UserName
    /// What numbers of requests may begin with; all where it is empty.
    package var allowPrefixes: [DialPrefix] = []
    /// What numbers of requests must not begin with.
    package var denyPrefixes: [DialPrefix] = []
    /// Whether those that are denied by default are.
    package var deniesByDefault = true
    /// How many calls one user may make; nil: any number.
    package var maxCallsPerUser: RateLimit?
    /// Whether somebody has said that there is none.
    package var hasNoUserLimit = false
    /// How many calls all users together may make; nil: any number.
    package var maxCalls: RateLimit?
    /// The folder of flows and templates, if one was named; else `nccos`, if it is there.
    package var nccos: String?
    package static let defaultFlowFolder = "nccos"
    package var events = "events"
    /// The newest so many are answered from memory.
    package var callsInMemory = 10_000
    package var sync = EventLogConfiguration.SyncPolicy.always
    /// Bytes at which the log's file is closed; nil: the log's default.
    package var rotateSize: Int?
    /// For how long closed files are kept, milliseconds; nil: for ever.
    package var keepFor: Int64?
    /// How many bytes of closed files are kept; nil: all.
    package var keepSize: Int64?
    /// Where Vonage reaches us, without a trailing slash.
    package var publicURL: String?
    /// Which Vonage application tokens are made for.
    package var applicationID: ApplicationID?
    package var privateKeyFile: String?
    /// Where users and rooms are, unless a URL says so.
    package var region = VonageRegion.us
    /// Without a slash at their ends.
    package var apiURL: String?
    package var videoURL: String?
    /// Whether Vonage's API is played by this process.
    package var simulates = false
    /// Whose word counts on who asks and under which name.
    package var trustedProxies = TrustedProxies()
    /// Whether apps get tokens and rooms without the admin's token.
    package var opensApps = false
    /// How often one peer may ask for them.
    package var openAppsLimit = RateLimit(clamping: 600, per: .minute)
    /// Origins of pages that may ask for them, in lower case; `*` for any.
    package var corsOrigins: [String] = []
    package var adminTokenFile: String?
    package var adminToken: String?
    package var signatureSecretFile: String?
    /// The certificate with its chain, and its key, where the server itself speaks TLS.
    package var tlsCertificateFile: String?
    package var tlsKeyFile: String?
    /// Where plain HTTP is answered by the way to TLS; 0 takes a free port.
    package var redirectPort: UInt16?
    /// How far the time of a webhook may lie from ours, either way, in seconds.
    package var webhookLeeway: Int64 = 300
    package var requiresPayloadHash = true
    package var unsigned = UnsignedPolicy.retry
    package var logsAnswers = true
    /// Nil: text where the output is a terminal, else nothing.
    package var logFormat: LogFormat?
    package var isQuiet = false
    /// How long a stop may take, milliseconds. Below the 10 s after which container engines kill.
    package var grace: Int64 = 8000

    /// What templates can be filled with.
    package var flows: FlowSettings { FlowSettings(numbers: numbers, inboundUser: inboundUser, dialPlan: dialPlan) }

    /// Where Vonage's API is asked.
    package var vonage: VonageConfiguration {
        VonageConfiguration(api: apiURL ?? region.api, video: videoURL ?? VonageConfiguration.defaultVideo)
    }

    /// Which numbers of requests may be dialled.
    package var dialPlan: DialPlan { DialPlan(allowed: allowPrefixes, denied: denyPrefixes, deniesByDefault: deniesByDefault) }

    /// How many calls one user may make, which is limited where anybody can become one.
    package var callsPerUser: RateLimit? {
        maxCallsPerUser ?? (opensApps && !hasNoUserLimit ? RateLimit(clamping: 10, per: .minute) : nil)
    }

    /// Where this server is reached, without a slash at the end; the port is the one of the settings unless another is given.
    package func baseURL(port: UInt16? = nil) -> String { publicURL ?? "\(scheme.rawValue)://\(localHost(port: port ?? server.port))" }

    /// How this machine reaches the server: `http://localhost:3000` or `unix:PATH`.
    package var listeningURL: String {
        server.host.hasPrefix("unix:") ? server.host : "\(scheme.rawValue)://\(localHost(port: server.port))"
    }

    /// What is spoken at our own port; a proxy in front may speak another one.
    var scheme: Forwarded.Scheme { tlsCertificateFile == nil ? .http : .https }

    /// Host and port as this machine reaches it.
    func localHost(port: UInt16) -> String {
        switch server.host {
        case "localhost", "127.0.0.1", "0.0.0.0", "::", "[::]": "localhost:\(port)"
        case let host where host.hasPrefix("unix:"): "localhost"
        case let host where host.contains(":") && !host.hasPrefix("["): "[\(host)]:\(port)"
        case let host: "\(host):\(port)"
        }
    }

    package init() throws(UsageError) {
        inboundUser = "Alice"
    }

    /// Reads the flags behind `serve`.
    ///
    /// - Throws: `UsageError` in one line that says what is wrong and what would be right.
    package init(arguments: [String], environment: [String: String]) throws(UsageError) {
        try self.init()
        var given: [String: [String]] = [:]
        var at = 0
        while at < arguments.count {
            let argument = arguments[at]
            at += 1
            guard argument.hasPrefix("--") else {
                // A secret may stand here whose flag is missing.
                let shown = argument.utf8.count < 16 ? printable(argument) : "an argument of \(argument.utf8.count) bytes"
                throw UsageError("\(shown): not a flag; flags begin with --, see switchboard serve --help")
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let setting = Setting.all.first(where: { $0.flag == parts[0] }) else {
                let hint = nearest(parts[0], among: Setting.all.map(\.flag)).map { "did you mean \($0)?" } ?? "see switchboard serve --help"
                throw UsageError("\(printable(parts[0])): no such flag; \(hint)")
            }
            if setting.placeholder == nil {
                guard parts.count == 1 else { throw UsageError("\(setting.flag) takes no value") }
                given[setting.flag, default: []].append("")
            } else if parts.count == 2 {
                given[setting.flag, default: []].append(parts[1])
            } else {
                guard at < arguments.count else {
                    throw UsageError("\(setting.flag) needs a value: \(setting.flag) \(setting.placeholder ?? "")")
                }
                given[setting.flag, default: []].append(arguments[at])
                at += 1
            }
        }
        for setting in Setting.all {
            if let values = given[setting.flag] {
                guard values.count == 1 || setting.repeats else { throw UsageError("\(setting.flag) is given twice") }
                guard setting.placeholder == nil || values.allSatisfy({ !$0.isEmpty }) else {
                    throw UsageError("\(setting.flag) has an empty value: \(setting.flag) \(setting.placeholder ?? "")")
                }
                for value in values { try setting.apply(&self, value, setting.flag) }
            } else if let name = setting.environment.first(where: { environment[$0].map { !$0.isEmpty } ?? false }),
                let value = environment[name]
            {
                try setting.apply(&self, value, name)
            }
        }
        try checkTLS()
    }

    private func checkTLS() throws(UsageError) {
        switch (tlsCertificateFile, tlsKeyFile) {
        case (_?, nil): throw UsageError("--tls-cert needs --tls-key too: name the private key of the certificate")
        case (nil, _?): throw UsageError("--tls-key needs --tls-cert too: name the certificate that the key is of, with its chain")
        case (_?, _?) where server.host.hasPrefix("unix:"):
            throw UsageError("--tls-cert is for a port, and --host is a path, which this machine alone can reach: leave one of them out")
        default: break
        }
        guard let redirectPort else { return }
        guard tlsCertificateFile != nil else {
            throw UsageError("--redirect-from sends browsers to TLS, which this server does not speak: add --tls-cert and --tls-key")
        }
        guard redirectPort != server.port || redirectPort == 0 else {
            throw UsageError("--redirect-from: \(redirectPort) is the port of --port already; the plain port is another one, mostly 80")
        }
    }
}
