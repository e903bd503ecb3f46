// SPDX-License-Identifier: MIT
//
// What may be dialled and how often, as a caller and who runs the server meet it.

import Foundation
import Testing

@Suite(.timeLimit(.minutes(3))) struct DiallingTests {
    private static let token = "0123-secret-admin-token-4567"

    private func flow(_ answer: Answer) -> String { answer["X-Switchboard-Flow"] ?? "" }

    private func metric(_ name: String, _ server: ServerProcess) throws -> String? {
        let text = String(decoding: try server.ask(get("/metrics", "Authorization: Bearer \(Self.token)\r\n")).body, as: UTF8.self)
        return text.split(separator: "\n").first { $0.hasPrefix("switchboard_\(name)_total ") }.map { String($0.split(separator: " ")[1]) }
    }

    @Test func `a flood of denied numbers is refused in words, counted, and said a few times only`() throws {
        try withProcess(["--deny-prefixes", "4477"], environment: ["SWITCHBOARD_ADMIN_TOKEN": Self.token]) { server throws in
            let client = try server.client()
            let began = Date()
            for number in 0..<200 {
                let answer = try client.ask(get("/voice/answer?from_user=Alice&to=88161234\(5000 + number)"))
                #expect(flow(answer) == "answer#3 cannot-connect")
                #expect(answer["X-Switchboard-Warning"] == "the number may not be dialled: see --allow-prefixes and --deny-prefixes")
                #expect(String(decoding: answer.body, as: UTF8.self).contains("Numbers of this kind cannot be called from here."))
            }
            #expect(flow(try client.ask(get("/voice/answer?from_user=Alice&to=%2B447700900123"))) == "answer#3 cannot-connect")
            #expect(flow(try client.ask(get("/voice/answer?from_user=Alice&to=442079460000"))) == "answer#3 connect-phone")
            #expect(try metric("calls_denied_number", server) == "201")
            let seconds = Int(Date().timeIntervalSince(began).rounded(.up))
            server.signal(15)
            let end = try server.wait()
            let lines = end.errors.split(separator: "\n").filter { $0.contains("was refused") }
            #expect((1...seconds + 1).contains(lines.count), "\(lines)")
            #expect(
                lines.first
                    == "a call to *********000 was refused: 881 (satellite) is denied by default; --allow-prefixes all,881 would allow it")
            #expect(!end.errors.contains("8816123"))
        }
    }

    @Test func `the environment opens and closes, and a flag comes before it`() throws {
        let environment = ["ALLOW_PREFIXES": "44,881", "DENY_PREFIXES": "4420"]
        let numbers = ["881612345678", "447700900123", "442079460000", "14155550111"]
        try withProcess([], environment: environment) { server throws in
            let flows = try numbers.map { flow(try server.ask(get("/voice/answer?from_user=Alice&to=\($0)"))) }
            #expect(flows.map { $0 == "answer#3 connect-phone" } == [true, true, false, false])
        }
        try withProcess(["--allow-prefixes", "1"], environment: environment) { server throws in
            let flows = try numbers.map { flow(try server.ask(get("/voice/answer?from_user=Alice&to=\($0)"))) }
            #expect(flows.map { $0 == "answer#3 connect-phone" } == [false, false, false, true])
        }
    }

    @Test func `workers share the limits`() throws {
        try withProcess(
            ["--workers", "2", "--max-calls-per-user", "3/d"], environment: ["MAX_CALLS": "5/d", "SWITCHBOARD_ADMIN_TOKEN": Self.token]
        ) { server throws in
            // Each request on a connection of its own, whichever worker gets it.
            func connected(_ user: String, _ count: Int) throws -> Int {
                try (0..<count).count { _ in
                    flow(try server.ask(get("/voice/answer?from_user=\(user)&to=447700900123"))) == "answer#3 connect-phone"
                }
            }
            #expect(try connected("Alice", 12) == 3)
            #expect(try connected("Bob", 6) == 2)
            // The limit of all refuses Bob's third call, which has been counted for him, and his own limit the rest.
            #expect(try metric("calls_over_user_limit", server) == "12")
            #expect(try metric("calls_over_limit", server) == "1")
            server.signal(15)
            let errors = try server.wait().errors
            #expect(errors.contains("a call was refused: its user is past --max-calls-per-user 3/d"))
            #expect(errors.contains("a call was refused: all calls together are past --max-calls 5/d"))
        }
    }

    @Test func `explain says what the server would do`() throws {
        let arguments = ["explain", "--flow", "answer", "--from-user", "Alice", "--to", "881612345678"]
        let denied = try ServerProcess.run(arguments)
        #expect(denied.status == 0)
        #expect(denied.output.contains("The number *********678: 881 (satellite) is denied by default; "))
        #expect(denied.output.contains("answer#3 cannot-connect"))
        let allowed = try ServerProcess.run(arguments + ["--allow-prefixes", "881"])
        #expect(allowed.output.contains("answer#3 connect-phone") && !allowed.output.contains("denied"))
        let none = try ServerProcess.run(arguments + ["--deny-prefixes=none"])
        #expect(none.output.contains("answer#3 connect-phone"))
        #expect(try ServerProcess.run(arguments + ["--deny-prefixes", "none,88"]).output.contains("88 is denied by --deny-prefixes"))
    }
}
