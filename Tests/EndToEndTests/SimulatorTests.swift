// SPDX-License-Identifier: MIT
//
// The simulated Vonage through sockets and as a process; what it answers is tested without either.

import Foundation
import HTTPServer
import Testing
import VonageAuth
import VonageSimulator

private let applicationText = "11111111-2222-4333-8444-555555555555"

private func token(_ key: PrivateKey, _ id: String) throws -> String {
    let claims = try ApplicationToken(applicationID: ApplicationID(checking: id))
    return try claims.signed(by: key, at: Int64(Date().timeIntervalSince1970))
}

private func withSimulator(
    _ trouble: String? = nil, _ body: (SimulatedVonageServer, _ authorization: String) throws -> Void
) throws {
    var configuration = SimulatedVonageServer.Configuration()
    configuration.host = "127.0.0.1"
    configuration.port = 0
    if let trouble { configuration.trouble = try Trouble(trouble) }
    let server = try SimulatedVonageServer(configuration)
    defer { server.stop(grace: 0) }
    let key = try #require(server.privateKey)
    try body(server, "Authorization: Bearer \(try token(key, server.applicationID.description))\r\n")
}

struct SimulatorTests {
    @Test func `a server in the process says where it is, and takes its own key's tokens`() throws {
        try withSimulator { server, authorization in
            #expect(server.baseURL == "http://127.0.0.1:\(server.port)")
            let client = try Client(port: server.port)
            let made = try client.ask(post("/v1/users", #"{"name":"Alice"}"#, authorization))
            #expect(made.status == 201 && made["Content-Type"] == "application/json")
            let list = try client.ask(get("/v1/users?name=Alice", authorization))
            // Links lead to where the request went.
            #expect(list.status == 200 && list.text.contains("/v1/users?page_size=10&name=Alice"))
            #expect(try client.ask(get("/v1/users")).status == 401)
            #expect(try client.ask(get("/v1/users?name=Bob", authorization))["Content-Type"] == "application/problem+json")
            let call = #"{"to":[{"type":"app","user":"Alice"}],"random_from_number":true,"ncco":[{"action":"talk","text":"a"}]}"#
            #expect(try client.ask(post("/v1/calls", call, authorization)).status == 201)
            let text = server.withSimulation { String(decoding: $0.savedState, as: UTF8.self) }
            #expect(text.contains(#""user":"Alice""#))
            #expect(
                try client.ask(post("/session/create", "archiveMode=manual", type: "application/x-www-form-urlencoded", authorization))
                    .status == 200)
        }
    }

    @Test func `a cut answer ends before its announced length, and the connection with it`() throws {
        try withSimulator("cut") { server, authorization in
            let client = try Client(port: server.port)
            try client.send(post("/v1/users", #"{"name":"Alice"}"#, authorization))
            let text = try client.readText(until: #"{"id":"USR-"#)
            let length = try #require(text.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) })
            #expect(text.contains("Connection: close") && length > 100)
            let error = #expect(throws: ClientError.self) { while true { _ = try client.readText(until: "never") } }
            #expect(error?.isEnd == true)
        }
    }

    @Test func `a slow answer comes when its time has come, and others need not wait for it`() throws {
        try withSimulator("slow=300ms") { server, authorization in
            let clients = try (0..<4).map { _ in try Client(port: server.port) }
            let began = Clock.system.monotonic()
            for client in clients { try client.send(get("/v1/users", authorization)) }
            for client in clients { #expect(try client.read().status == 200) }
            #expect(Clock.system.monotonic() - began >= 300_000)
        }
    }

    @Test func `an empty answer and a page of HTML are whole answers`() throws {
        try withSimulator("empty,html,429") { server, authorization in
            let client = try Client(port: server.port)
            let empty = try client.ask(get("/v1/users", authorization))
            #expect(empty.status == 200 && empty.body.isEmpty)
            let page = try client.ask(get("/v1/users", authorization))
            #expect(page.status == 502 && page["Content-Type"] == "text/html; charset=utf-8")
            #expect(try client.ask(get("/v1/users", authorization))["Retry-After"] == "1")
        }
    }
}

struct SimulateCommandTests {
    private func start(_ flags: [String], environment: [String: String] = [:]) throws -> (ServerProcess, String) {
        let process = try ServerProcess(["simulate", "--host", "127.0.0.1", "--port", "0"] + flags, environment: environment)
        return (process, try process.read { $0.contains("VONAGE_PRIVATE_KEY") && $0.hasSuffix("\n") })
    }

    private func setting(_ name: String, of output: String) throws -> String {
        let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("  \(name)=") })
        return String(line.dropFirst(name.count + 3))
    }

    private func port(_ output: String) throws -> UInt16 {
        try #require(UInt16(try setting("VONAGE_API_URL", of: output).split(separator: ":").last ?? ""))
    }

    @Test func `it prints what a server needs, keeps its throw-away key for its owner, and takes it away at the end`() throws {
        let (process, output) = try start([])
        defer { process.kill() }
        let path = try setting("VONAGE_PRIVATE_KEY", of: output)
        let pem = try String(contentsOfFile: path, encoding: .utf8)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(!output.contains("BEGIN") && !output.contains(pem.split(separator: "\n")[1]))
        #expect(try setting("VONAGE_VIDEO_URL", of: output) == (try setting("VONAGE_API_URL", of: output)))
        let id = try setting("VONAGE_APPLICATION_ID", of: output)
        let authorization = "Authorization: Bearer \(try token(PrivateKey(pem), id))\r\n"
        let client = try Client(port: try port(output))
        #expect(try client.ask(post("/v1/users", #"{"name":"Alice"}"#, authorization)).status == 201)
        process.signal(SIGTERM)
        let end = try process.wait()
        #expect(end.status == 0 && end.errors.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(!FileManager.default.fileExists(atPath: (path as NSString).deletingLastPathComponent))
    }

    @Test func `what was made is there at the next start, with the same key and application`() throws {
        try withFolder { folder in
            let flags = ["--state", "\(folder)/state.json"]
            let (first, output) = try start(flags + ["--application-id", applicationText])
            defer { first.kill() }
            let path = try setting("VONAGE_PRIVATE_KEY", of: output)
            #expect(path.hasSuffix("/state.json.key"))
            let key = try PrivateKey(try String(contentsOfFile: path, encoding: .utf8))
            let authorization = "Authorization: Bearer \(try token(key, applicationText))\r\n"
            let client = try Client(port: try port(output))
            #expect(try client.ask(post("/v1/users", #"{"name":"Alice"}"#, authorization)).status == 201)
            first.signal(SIGTERM)
            #expect(try first.wait().status == 0)
            let (second, again) = try start(flags)
            defer { second.kill() }
            #expect(try setting("VONAGE_APPLICATION_ID", of: again) == applicationText)
            let list = try Client(port: try port(again)).ask(get("/v1/users", authorization))
            #expect(list.status == 200 && list.text.contains(#""name":"Alice""#))
        }
    }

    @Test func `what cannot be used stops the start with one line`() throws {
        try withFolder { folder in
            for (name, text) in [("state", "{"), ("list", "[]")] {
                try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
            }
            try PrivateKey.generate().publicKey.pem().write(toFile: "\(folder)/public.pem", atomically: true, encoding: .utf8)
            let lines: [([String], String)] = [
                (["--prot", "1"], "did you mean --port?"), (["--port", "65536"], "--port"), (["now"], "takes flags"),
                (["--application-id", "x"], "--application-id"), (["--fail", "x"], "--fail"), (["--fail-every", "2"], "needs --fail"),
                (["--fail", "cut", "--fail-every", "0"], "--fail-every"), (["--duplicate-status", "422"], "neither 400 nor 409"),
                (["--unknown-name", "x"], "--unknown-name"), (["--state", "\(folder)/state"], "is not JSON: line 1"),
                (["--state", "\(folder)/list"], "version"), (["--state", folder], "it is a folder"),
                (["--state", "\(folder)/none/state"], "cannot be written"),
                (["--state", "\(folder)/none/state", "--public-key-file", "\(folder)/public.pem"], "the state file: it cannot be written"),
                (["--private-key-file", "\(folder)/none"], "--private-key-file"),
                (["--public-key-file", "\(folder)/list"], "--public-key-file"),
            ]
            for (flags, words) in lines {
                let end = try ServerProcess.run(["simulate", "--port", "0"] + flags)
                #expect(end.status == 64 && end.output.isEmpty, "\(flags)")
                #expect(end.errors.hasPrefix("switchboard simulate: ") && end.errors.contains(words), "\(flags): \(end.errors)")
                #expect(end.errors.split(separator: "\n").count == 1)
            }
        }
    }

    @Test func `a public key is enough, and an account is wanted where one is set`() throws {
        try withFolder { folder in
            let key = try PrivateKey.generate()
            try key.publicKey.pem().write(toFile: "\(folder)/public.pem", atomically: true, encoding: .utf8)
            let (process, output) = try start(
                ["--public-key-file", "\(folder)/public.pem", "--application-id", applicationText],
                environment: ["VONAGE_API_KEY": "abcd1234", "VONAGE_API_SECRET": "s3cret"])
            defer { process.kill() }
            #expect(output.contains("is the other half of the given key"))
            let client = try Client(port: try port(output))
            let authorization = "Authorization: Bearer \(try token(key, applicationText))\r\n"
            #expect(try client.ask(get("/v1/users", authorization)).status == 200)
            let path = "/v2/applications/\(applicationText)"
            #expect(try client.ask(get(path, "Authorization: Basic YTpi\r\n")).status == 401)
            #expect(try client.ask(get(path, "Authorization: Basic YWJjZDEyMzQ6czNjcmV0\r\n")).status == 200)
        }
    }

    @Test func `an address in use ends with 69`() throws {
        try withSimulator { server, _ in
            let end = try ServerProcess.run(["simulate", "--host", "127.0.0.1", "--port", "\(server.port)"])
            #expect(end.status == 69 && end.errors.contains("in use"))
        }
    }

    @Test func `its help names every flag`() throws {
        let help = try ServerProcess.run(["simulate", "--help"])
        #expect(help.status == 0)
        for flag in [
            "--host", "--port", "--application-id", "--private-key-file", "--public-key-file", "--state", "--fail", "--fail-every",
            "--duplicate-status", "--unknown-name", "--region-trap", "--no-call-limit",
        ] { #expect(help.output.contains(flag)) }
        #expect(try ServerProcess.run(["help", "simulate"]).output == help.output)
    }
}
