// SPDX-License-Identifier: MIT
//
// What is printed may be read by anybody: no token, no whole number, nothing that steers a terminal.

import Foundation
import Testing
import VonageAuth

struct PrintingTests {
    private static let token = "0123-secret-admin-token-4567"
    private static let numbers = ["447700900123", "447700900456", TestServer.ourNumber]

    private func drive(_ server: ServerProcess) throws {
        let client = try server.client()
        let requests = [
            get("/voice/answer?to=%2B44%207700%20900123&from_user=Alice"),
            get("/voice/answer?from=447700900456&to=\(TestServer.ourNumber)"),
            get("/voice/answer?from_user=x447700900123y&to=call%20447700900123%20now"),
            get("/voice/answer?from_user=%1B%5B2J%0Afake&to=a%E2%80%AEb%22"),
            post("/voice/event", #"{"status":"answered","from":"447700900456","to":"\u002b447700900123"}"#),
            post("/voice/event", #"{"status":"447700900123","from":447700900456,"to":"x"}"#),
            post("/voice/event", #"{"status":"\u001b[2J\u0007 done","from":"Zo\u00eb\u202e"}"#),
            post("/voice/event", "status=447700900123&to=447700900456", type: "application/x-www-form-urlencoded"),
            post("/voice/event", "{\"to\":\"447700900123\""),
            get("/metrics", "Authorization: Bearer \(Self.token)\r\n"), get("/health", "Authorization: Bearer \(Self.token)\r\n"),
            get("/447700900123/\(Self.token)"), get("/voice/fallback?to=447700900123"),
        ]
        for request in requests { _ = try client.ask(request) }
        _ = try client.ask("GET /447700900123\u{1B} HTTP/1.1\r\nAuthorization: \(Self.token)\r\n\r\n")
    }

    @Test(arguments: [["--log-format", "text"], ["--log-format", "json"], []])
    func `nothing printed holds the token, a whole number or a control character`(_ flags: [String]) throws {
        try withProcess(flags, environment: ["SWITCHBOARD_ADMIN_TOKEN": Self.token]) { server throws in
            try drive(server)
            server.signal(15)
            let end = try server.wait()
            let all = end.output + end.errors
            #expect(!all.contains(Self.token))
            for number in Self.numbers { #expect(!all.contains(number), "\(number) in \(all)") }
            #expect(
                all.unicodeScalars.allSatisfy {
                    $0 == "\n" || $0.properties.generalCategory != .control && $0.properties.generalCategory != .format
                })
            guard let format = flags.last, flags.count == 2 else { return }
            let lines = end.output.split(separator: "\n")
            let answers = lines.filter { $0.contains("answer#3 connect-phone") }
            #expect(answers.contains { $0.contains("*********123") })
            #expect(lines.contains { $0.contains("badTarget at byte") })
            #expect(lines.contains { $0.contains("malformed: line 1, column 21") })
            if format == "json" {
                // Every line of the output is for the machine; the start lines go the other way.
                let records = try lines.map {
                    try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
                }
                #expect(records.count == 11)
                #expect(
                    records.allSatisfy { record in
                        ["flow", "event", "error"].contains { Set(record.keys) == ["time", "route", "status", $0, "from", "to", "micros"] }
                    })
            }
        }
    }

    @Test(arguments: [["--log-format", "text"], ["--log-format", "json"], []])
    func `nothing printed or kept holds a secret or a token, whatever comes`(_ flags: [String]) throws {
        let secret = "0123-signature-secret-of-the-tests"
        try withFolder { folder in
            let environment = ["SWITCHBOARD_ADMIN_TOKEN": Self.token, "VONAGE_SIGNATURE_SECRET": "abcd1234=\(secret)"]
            try withProcess(flags, environment: environment, folder: folder) { server throws in
                let signer = try WebhookSigner(secrets: SignatureSecrets("abcd1234=\(secret)"))
                let forger = try WebhookSigner(secrets: SignatureSecrets("abcd1234=another-secret"))
                let now = Int64(Date().timeIntervalSince1970)
                let (event, query) = (#"{"status":"answered","uuid":"1"}"#, "to=447700900123&from_user=Alice")
                let good = try signer.authorization(for: .post(body: Array(event.utf8)), id: "1", now: now)
                let answer = try signer.authorization(for: .get(query: query), id: "2", now: now)
                let bearers = [
                    good, answer, try signer.authorization(for: .get(query: query), id: "3", now: now - 4000),
                    try forger.authorization(for: .get(query: query), id: "4", now: now), "Bearer \(secret)", "Bearer \(Self.token)",
                    "Basic \(Self.token)", Self.token,
                ]
                let client = try server.client()
                for bearer in bearers {
                    let field = "Authorization: \(bearer)\r\n"
                    for request in [
                        post("/voice/event", event, field), post("/voice/event", event + "\n", field), post("/voice/event", "{", field),
                        get("/voice/answer?\(query)", field), get("/metrics", field), get("/health", field), get("/nothing", field),
                    ] { _ = try client.ask(request) }
                }
                #expect(try client.ask(get("/voice/answer?\(query)", "Authorization: \(answer)\r\n")).status == 200)
                server.signal(15)
                let end = try server.wait()
                let kept = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != "admin-token" }
                    .map { String(decoding: try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")), as: UTF8.self) }
                let all = end.output + end.errors + kept.joined()
                #expect(all.contains("another secret than ours") && all.contains("\"signature\":\"verified\""))
                #expect(!all.contains(secret) && !all.contains(Self.token))
                for bearer in bearers { #expect(!all.contains(bearer.split(separator: ".").last ?? "")) }
            }
        }
    }

    @Test func `the start says where the token lies and what to paste, and keeps the token to itself`() throws {
        try withFolder { folder in
            try withProcess(folder: folder) { server throws in
                let token = try String(contentsOfFile: "\(folder)/admin-token", encoding: .utf8).trimmingCharacters(
                    in: .whitespacesAndNewlines)
                #expect(token.utf8.count == 40)
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/admin-token")
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
                #expect(try server.ask(get("/metrics", "Authorization: Bearer \(token)\r\n")).status == 200)
                let output = try server.read { _ in true }
                #expect(!output.contains(token))
                #expect(output.contains("\(folder)/admin-token"))
                #expect(output.contains("http://localhost:\(server.port)/voice/answer\n"))
                #expect(output.contains("curl 'localhost:\(server.port)/voice/answer?to="))
            }
            // The next start finds it again.
            let before = try String(contentsOfFile: "\(folder)/admin-token", encoding: .utf8)
            try withProcess(folder: folder) { _ in }
            #expect(try String(contentsOfFile: "\(folder)/admin-token", encoding: .utf8) == before)
        }
    }

    @Test func `quiet prints nothing but warnings`() throws {
        try withFolder { folder in
            let server = try ServerProcess([
                "serve", "--host", "unix:\(folder)/s", "--events", "\(folder)/events", "--quiet", "--log-format", "text",
            ])
            defer { server.kill() }
            var client = try? Client(path: "\(folder)/s")
            for _ in 0..<1000 where client == nil {
                _ = try? server.wait(milliseconds: 10)
                client = try? Client(path: "\(folder)/s")
            }
            #expect(try client?.ask(get("/voice/answer?to=447700900123")).status == 200)
            server.signal(15)
            let end = try server.wait()
            #expect(end.status == 0)
            #expect(end.output == "")
            #expect(
                end.errors == "warning: no number is set, so calls go out without a caller id (--number)\n" + ServerProcess.openWarning)
        }
    }
}
