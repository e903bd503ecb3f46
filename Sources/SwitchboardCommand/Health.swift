// SPDX-License-Identifier: MIT
//
// `switchboard health`: one request to a running server, for container engines and scripts. Plain HTTP only.

import HTTPServer
import Switchboard

enum Health {
    static func run(_ arguments: [String], environment: [String: String]) {
        var url =
            "http://localhost:\(environment["PORT"].flatMap { $0.isEmpty ? nil : $0 } ?? environment["VCR_PORT"].flatMap { $0.isEmpty ? nil : $0 } ?? "3000")"
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
            SwitchboardCommand.finish(error.isUsage ? 64 : 1, "switchboard health: \(error)")
        }
    }
}
