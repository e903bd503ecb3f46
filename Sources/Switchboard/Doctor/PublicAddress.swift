// SPDX-License-Identifier: MIT
//
// What answers at the public address: this process, another Switchboard, the page of a tunnel that leads nowhere, or something else. Vonage gets
// the same answer, and of most of these it would say only that the call failed.

import JSON
import NCCO

/// What an address answered to `/health?nonce=…`, or why nothing came.
package struct AddressAnswer: Sendable {
    package var status: Int
    /// Names in lower case.
    package var fields: [String: String]
    package var body: [UInt8]

    package init(status: Int, fields: [String: String] = [:], body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// `proof` of the answer of a Switchboard; nil for other bodies.
    package var proof: String? { member("proof") }

    private func member(_ name: String) -> String? {
        guard let tree = try? parseJSON(body.span, maximumDepth: 8), case .object(let members) = tree.value else { return nil }
        guard case .string(let text)? = members.first(where: { $0.name.value == name })?.node.value else { return nil }
        return text.value
    }

    private var isHealth: Bool { member("status").map { ["ok", "degraded"].contains($0) } ?? false }

    /// Judges what came from the public address.
    ///
    /// - Parameter proof: what this process, or the one that listens here, proves for the same nonce.
    package func finding(_ url: String, expected proof: String) -> DoctorFinding {
        func failed(_ text: String, _ cure: String) -> DoctorFinding { DoctorFinding(.address, .failed, "\(url) \(text)", cure: cure) }
        if let theirs = self.proof {
            if theirs == proof { return DoctorFinding(.address, .ok, "\(url) reaches this very process") }
            return failed("reaches another Switchboard", "point the tunnel or proxy at this machine and port")
        }
        if isHealth { return failed("reaches an older Switchboard", "stop that one, or point the tunnel or proxy at this one") }
        if let tunnel {
            return failed("answers with a page of \(tunnel) and not with ours", "start the tunnel to this port, and look at its own output")
        }
        if (300..<400).contains(status) {
            return failed(
                "redirects (\(status)), which Vonage does not follow",
                "give the address that answers itself, often https:// in place of http://")
        }
        if status == 502 || status == 503 || status == 504 {
            return failed(
                "answers \(status): whatever is in front finds no server",
                "start the server, and check the port that the tunnel or proxy leads to")
        }
        if status == 401 || status == 403 || status == 407 {
            return failed("asks for a log-in (\(status))", "let /voice/* through without one: Vonage has none")
        }
        if status == 404 {
            return failed("answers 404", "is there a path in front that the proxy takes away or wants? give it in --public-url")
        }
        return failed("answers \(status), and it is not a Switchboard", "check where the name leads")
    }

    /// Whose tunnel it is, as far as it can be told by what its pages hold.
    private var tunnel: String? {
        let text = String(decoding: body.prefix(64 * 1024), as: UTF8.self).lowercased()
        let isHTML = fields["content-type"]?.lowercased().hasPrefix("text/html") ?? text.hasPrefix("<!doctype html")
        if fields["ngrok-error-code"] != nil || isHTML && text.contains("ngrok") { return "ngrok" }
        guard isHTML else { return nil }
        for (mark, name) in [
            ("cloudflare", "Cloudflare"), ("localtunnel", "localtunnel"), ("loca.lt", "localtunnel"), ("serveo", "Serveo"),
            ("tailscale", "Tailscale"), ("devtunnels", "Dev Tunnels"),
        ] where text.contains(mark) { return name }
        return nil
    }
}
