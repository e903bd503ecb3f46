// SPDX-License-Identifier: MIT
//
// What the start prints, once: everything that a person needs to paste somewhere, and what is open or missing.

import HTTPServer
import NCCO
package import VonageAuth

package struct Banner {
    let settings: Settings
    let addresses: [String]
    let port: UInt16
    /// What is served, in one line.
    let flows: String
    let admin: AdminToken
    let credentials: ApplicationCredentials
    /// Nil where webhooks are open.
    let secrets: SignatureSecrets?
    /// Whose certificate TLS is spoken with; nil where plain HTTP is.
    let certificate: String?
    /// Where browsers are sent on from.
    let redirects: [String]
    let isTerminal: Bool

    package init(
        settings: Settings, addresses: [String], port: UInt16, flows: String, admin: AdminToken,
        credentials: ApplicationCredentials = ApplicationCredentials(), secrets: SignatureSecrets? = nil,
        certificate: String? = nil, redirects: [String] = [], isTerminal: Bool
    ) {
        self.settings = settings
        self.addresses = addresses
        self.port = port
        self.flows = flows
        self.admin = admin
        self.secrets = secrets
        self.credentials = credentials
        self.certificate = certificate
        self.redirects = redirects
        self.isTerminal = isTerminal
    }

    package var lines: [String] {
        var lines = ["Switchboard \(switchboardVersion) listens on \(addresses.joined(separator: " and "))"]
        if let certificate { lines.append("  tls          \(certificate)") }
        if !redirects.isEmpty { lines.append("  redirects    browsers from http://\(redirects.joined(separator: " and "))") }
        if settings.numbers.isEmpty {
            lines.append("  number       none: calls go out without a caller id; set --number or VONAGE_NUMBER")
        } else {
            // What is no terminal is a log that many may read.
            let numbers = settings.numbers.map { isTerminal ? $0.description : $0.masked }
            lines.append("  number       \(numbers.joined(separator: ", ")) (calls go out from the first)")
        }
        lines.append("  application  \(credentials.summary)")
        lines.append("  events       \(settings.events)/events.jsonl")
        lines.append("  answer URL   \(base)/voice/answer")
        lines.append("  event URL    \(base)/voice/event")
        if settings.publicURL == nil {
            lines.append("               Vonage must reach these: start a tunnel and pass its address as --public-url")
        }
        lines.append("  nccos        \(flows)")
        lines.append("  webhooks     \(webhooks)")
        if isTerminal {
            lines.append("  admin        curl -H 'Authorization: Bearer \(admin.text)' \(curl("/metrics"))")
            // Behind the # it reaches no server's log. A browser cannot ask a path in the file system.
            if !settings.server.host.hasPrefix("unix:") {
                lines.append("  log in       \(settings.scheme.rawValue)://\(settings.localHost(port: port))/login#\(admin.inFragment)")
            }
        } else if let file = admin.file {
            lines.append("  admin        the token is in \(file)")
        } else {
            lines.append(
                "  admin        the token is the one of SWITCHBOARD_ADMIN_TOKEN, or could not be kept and lasts until the next start")
        }
        lines.append("  try          curl \(curl("/voice/answer?to=%2B44%207700%20900123&from_user=Alice"))")
        return lines
    }

    private var webhooks: String {
        guard let secrets else {
            return "open, signature off: whoever knows the address can send requests; set VONAGE_SIGNATURE_SECRET"
        }
        let unsigned =
            switch settings.unsigned {
            case .accept: "are taken"
            case .retry: "get 503"
            case .refuse: "get 401"
            }
        return "signed: checked with \(secrets); those without a token \(unsigned)"
    }

    private var base: String { settings.baseURL(port: port) }

    private func curl(_ path: String) -> String {
        if settings.server.host.hasPrefix("unix:") {
            // Within single quotes a shell takes all but a single quote as it is.
            let socket = settings.server.host.dropFirst(5).replacing("'", with: "'\\''")
            return "--unix-socket '\(socket)' 'http://localhost\(path)'"
        }
        // The certificate is for the name that others know, which is not this machine's own.
        let (flag, scheme) = certificate == nil ? ("", "") : ("-k ", "https://")
        return "\(flag)'\(scheme)\(settings.localHost(port: port))\(path)'"
    }
}
