// SPDX-License-Identifier: MIT
//
// `switchboard health`: one request to a running server, for container engines and scripts.

import HTTPServer
import Switchboard

enum Health {
    static func run(_ arguments: [String], environment: [String: String]) {
        var url = defaultURL(environment)
        switch (arguments.first, arguments.count) {
        case (nil, _): break
        case ("--url", 2): url = arguments[1]
        case (let flag?, 1) where flag.hasPrefix("--url="): url = String(flag.dropFirst(6))
        default: SwitchboardCommand.finish(64, "switchboard health: takes --url URL and nothing else")
        }
        do {
            let answer = try HealthProbe(url: url).ask(milliseconds: 3000)
            Console.output.print(answer)
        } catch {
            SwitchboardCommand.finish(error.fault == .usage ? 64 : 1, "switchboard health: \(error)")
        }
    }

    /// Where a server with this environment listens; one that listens everywhere is asked on this machine.
    private static func defaultURL(_ environment: [String: String]) -> String {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        var host = value("HOST") ?? "localhost"
        if host.hasPrefix("unix:") { return host }
        if ["0.0.0.0", "::", "[::]"].contains(host) { host = "localhost" }
        if host.contains(":"), !host.hasPrefix("[") { host = "[\(host)]" }
        let scheme = value("TLS_CERT") == nil ? "http" : "https"
        return "\(scheme)://\(host):\(value("PORT") ?? value("VCR_PORT") ?? "3000")"
    }
}
