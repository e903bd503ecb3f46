// SPDX-License-Identifier: MIT

import Foundation
import HTTPServer
import HTTPWire
import Switchboard
import Testing

struct CommandTests {
    @Test(arguments: [
        (["version"], "switchboard \(switchboardVersion)\n"), (["--version"], "switchboard \(switchboardVersion)\n"),
        ([], "switchboard serve "), (["help"], "switchboard health "), (["--help"], "curl 'localhost:3000/voice/answer"),
        (["help", "serve"], "--max-connections N"), (["serve", "--help"], "[VONAGE_NUMBER]"), (["serve", "--prt", "-h"], "Exit codes: 0"),
        (["health", "--help"], "Exit code 0 where it answers"), (["token", "--help"], "--public-key-file FILE"),
        (["help", "token"], "--ttl TIME"),
    ])
    func `what explains itself prints to the output and ends well`(_ arguments: [String], _ words: String) throws {
        let end = try ServerProcess.run(arguments)
        #expect(end.status == 0)
        #expect(end.output.contains(words))
        #expect(end.errors == "")
    }

    @Test(arguments: [
        (["serv"], "did you mean serve?"), (["qqq\u{1B}[2J"], "see switchboard help"), (["serve", "--prot", "1"], "did you mean --port?"),
        (["serve", "--xyzzy"], "see switchboard serve --help"), (["serve", "extra"], "flags begin with --"),
        (["serve", "--port"], "--port N"),
        (["serve", "--port", "70000"], "from 0 to 65535"), (["serve", "--port", "1", "--port", "2"], "given twice"),
        (["serve", "--quiet=1"], "takes no value"),
        (["serve", "--number", "112"], "7 to 15 digits"), (["serve", "--inbound-user", "123"], "not only digits"),
        (["serve", "--log-answers", "some"], "all or none"),
        (["serve", "--allow-prefixes", "0044"], "like 44, or all"), (["serve", "--deny-prefixes", "x"], "like 44, or none"),
        (["serve", "--max-calls", "3"], "write 600/min, 3/s"), (["serve", "--max-calls-per-user", "0/min"], "write 600/min, 3/s"),
        (["serve", "--log-format", "xml"], "text or json"), (["serve", "--idle-timeout", "10ms"], "write 500ms"),
        (["serve", "--sync", "often"], "interval=200ms"),
        (["serve", "--public-url", "ftp://x"], "https://HOST"), (["serve", "--max-body", "1GiB"], "256KiB"),
        (["serve", "--poller", "select"], "epoll or dispatch"),
        (["serve", "--admin-token-file", "/nowhere/token"], "No such file"),
        (["serve", "--host", "no.such.host.invalid", "--port", "0"], "not known here"),
        (["health", "--port", "1"], "--url URL"), (["health", "--url", "https://x"], "http://HOST:PORT"),
        (["health", "--url=http://x:99999/"], "65535"),
        (["token"], "write user, application, video, inspect"), (["token", "inspct"], "did you mean inspect?"),
        (["token", "user", "Alice"], "no application id and no usable private key"), (["token", "user"], "token user NAME"),
        (["token", "application", "--ttl", "soon"], "write 90s, 15m, 6h or 30d"),
        (["token", "user", "Alice", "--ttl", "1500ms"], "whole seconds"),
        (["token", "video", "s", "--role", "owner"], "publisheronly"),
        (["token", "inspect", "/nowhere/token"], "neither a token nor a file"),
        (["token", "user", "A", "--acl", "legs"], "begin with /"), (["token", "inspect", "--public-key-file", "/nowhere"], "No such file"),
        (["serve", "--application-id", "x"], "is a UUID like"), (["serve", "--private-key-file", "/nowhere/key"], "No such file"),
    ])
    func `what cannot be followed ends with 64 and one line that says the cure`(_ arguments: [String], _ words: String) throws {
        try withFolder { folder in
            // The events of a start that fails late must not lie anywhere else.
            let end = try ServerProcess.run(arguments, environment: ["EVENTS_DIR": folder])
            #expect(end.status == 64)
            #expect(end.output == "")
            #expect(end.errors.contains(words), "\(end.errors)")
            #expect(end.errors.hasSuffix("\n"))
            #expect(end.errors.split(separator: "\n").count == 1)
            #expect(!end.errors.contains("\u{1B}"))
        }
    }

    @Test func `a bad value in the environment is named, and an empty one is none`() throws {
        let end = try ServerProcess.run(["serve"], environment: ["PORT": "http", "EVENTS_DIR": "/nowhere"])
        #expect(end.status == 64)
        #expect(end.errors == "switchboard serve: PORT: \"http\" is not a whole number from 0 to 65535\n")
        try withProcess(environment: ["HOST": "", "WORKERS": "", "VONAGE_NUMBER": "x"]) { server throws in
            #expect(try server.ask(get("/health")).status == 200)
        }
    }

    @Test func `an address in use is exit code 69`() throws {
        try withProcess { first in
            try withFolder { folder in
                let end = try ServerProcess.run([
                    "serve", "--host", "127.0.0.1", "--port", "\(first.port)", "--number", TestServer.ourNumber, "--events", folder,
                ])
                #expect(end.status == 69)
                #expect(
                    end.errors
                        == "switchboard serve: 127.0.0.1:\(first.port) is in use by another program; stop that one or choose another with --port\n"
                )
                #expect(try first.ask(get("/health")).status == 200)
            }
        }
    }

    @Test func `an event folder in use is exit code 73`() throws {
        try withFolder { folder in
            try withProcess(folder: folder) { first in
                let end = try ServerProcess.run(["serve", "--port", "0", "--events", folder])
                #expect(end.status == 73)
                #expect(end.errors.contains("\(first.pid)"))
                #expect(end.errors.split(separator: "\n").count == 1)
                #expect(try first.ask(post("/voice/event", "{}")).status == 200)
            }
        }
    }

    @Test func `health finds a server that answers`() throws {
        try withProcess { server in
            for (arguments, environment) in [
                (["--url", "http://127.0.0.1:\(server.port)"], [:]), (["--url=http://127.0.0.1:\(server.port)/"], [:]),
                (["--url", "http://localhost:\(server.port)/_/health"], [:]), ([], ["VCR_PORT": "\(server.port)", "PORT": ""]),
            ] as [([String], [String: String])] {
                let end = try ServerProcess.run(["health"] + arguments, environment: environment)
                #expect(end.status == 0, "\(end.errors)")
                #expect(end.output == "{\"status\":\"ok\"}\n")
            }
        }
    }

    @Test func `health asks where the environment lets a server listen`() throws {
        try withFolder { folder in
            let host = "unix:\(folder)/s"
            try withServer(
                .plain,
                adjust: { $0.server.host = host },
                { _ in
                    let end = try ServerProcess.run(["health"], environment: ["HOST": host, "PORT": "1"])
                    #expect(end.status == 0, "\(end.errors)")
                })
        }
    }

    @Test func `health is content with a server that cannot keep events`() throws {
        try withFolder { folder in
            let path = "\(folder)/file"
            try Data().write(to: URL(fileURLWithPath: path))
            try withProcess(folder: path) { server in
                #expect(try server.ask(post("/voice/event", "{}")).status == 503)
                let end = try ServerProcess.run(["health", "--url", "http://127.0.0.1:\(server.port)"])
                #expect(end.status == 0)
                #expect(end.output == "{\"status\":\"degraded\"}\n")
            }
        }
    }

    @Test func `health fails where nobody answers as it should`() throws {
        try withFolder { folder in
            let nobody = try ServerProcess.run(["health", "--url", "unix:\(folder)/nobody"])
            #expect(nobody.status == 1)
            #expect(nobody.errors.contains("cannot connect to unix:\(folder)/nobody"))
        }
        try withServer(.underTest, serving: ThrowingService()) { server in
            let end = try ServerProcess.run(["health", "--url", server.url])
            #expect(end.status == 1)
            #expect(end.errors.contains("answers HTTP/1.1 500 Internal Server Error"))
        }
    }

    @Test func `a token that is made is the only output, and is valid where it is inspected`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../VonageAuthTests/Vectors/keys")
        let file = { (name: String) in folder.appendingPathComponent("throw-away-\(name).pem").path }
        let environment = [
            "VONAGE_APPLICATION_ID": "11111111-2222-4333-8444-555555555555",
            "VONAGE_PRIVATE_KEY": try String(contentsOfFile: file("pkcs8"), encoding: .utf8),
        ]
        for arguments in [["user", "Alice"], ["application", "--ttl", "30"], ["video", "1_MX4", "--role", "moderator", "--ttl", "30d"]] {
            let made = try ServerProcess.run(["token"] + arguments, environment: environment)
            #expect(made.status == 0 && made.errors == "")
            let token = String(made.output.dropLast())
            #expect(token.hasPrefix("eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.") && token.split(separator: ".").count == 3)
            let checked = try ServerProcess.run(["token", "inspect", token, "--public-key-file", file("public")], environment: environment)
            #expect(checked.status == 0 && checked.output.contains("\nvalid: "), "\(checked.output)")
            let unchecked = try ServerProcess.run(["token", "inspect", token, "--json"])
            #expect(unchecked.status == 0 && unchecked.output.contains("\"valid\":null"))
            let other = try ServerProcess.run(["token", "inspect", token, "--public-key-file", file("other")], environment: environment)
            #expect(other.status == 1 && other.output.contains("not by this key"))
            let later = try ServerProcess.run(["token", "inspect", token, "--at", "2030-01-01T00:00Z"], environment: environment)
            #expect(later.status == 1 && later.output.contains("error exp: the token ended"))
            let cut = try ServerProcess.run(["token", String(token.prefix(60))])
            #expect(cut.status == 64 && !cut.errors.contains("eyJ"))
        }
    }

    @Test func `a server starts with a broken key, says so, and shows nothing of it`() throws {
        let environment = ["VONAGE_PRIVATE_KEY": "-----BEGIN PRIVATE KEY-----\nMIIEvgsecret\n", "VONAGE_APPLICATION_ID": ""]
        try withProcess(environment: environment) { server throws in
            #expect(try server.ask(get("/health")).status == 200)
            let errors = try server.read(onErrors: true) { $0.contains("VONAGE_PRIVATE_KEY: it has no line") }
            #expect(!errors.contains("MIIE"))
            let output = try server.read { $0.contains("  application  none, so tokens cannot be made: ") }
            #expect(!output.contains("MIIE"))
        }
    }
}
