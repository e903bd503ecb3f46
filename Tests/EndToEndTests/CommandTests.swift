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
        (["health", "--help"], "Exit code 0 where it answers"),
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
        try withServer(.preferred, serving: ThrowingService()) { server in
            let end = try ServerProcess.run(["health", "--url", "http://127.0.0.1:\(server.server.port)"])
            #expect(end.status == 1)
            #expect(end.errors.contains("answers HTTP/1.1 500 Internal Server Error"))
        }
    }
}
