// SPDX-License-Identifier: MIT
//
// `switchboard events` as a process: on the log of a server that runs, on a copy, on a pipe, and on a log that is damaged.

import Foundation
import Testing

struct EventsCommandTests {
    private static let call = "CON-0d6d4d2e-5c1b-4f0e-9a77-2b1f6a3c9e51"
    private static let leg = "3f1b6a52c1b94d6e8c0a7d5e9b2f4a10"

    private static func event(_ status: String, _ second: Int, _ more: String = "") -> String {
        #"{"from":"12025550101","to":"12025550100","uuid":"\#(leg)","conversation_uuid":"\#(call)","status":"\#(status)","direction":"inbound"\#(more),"timestamp":"2026-01-01T12:00:0\#(second).000Z"}"#
    }

    /// A call that came in, was answered and ended, with its events out of order and one of them twice.
    private static func play(_ server: ServerProcess) throws {
        let request = "/voice/answer?from=12025550101&to=12025550100&uuid=\(leg)&conversation_uuid=\(call)"
        #expect(try server.ask(get(request)).status == 200)
        let ended = #","duration":"7","price":"0.00144000","disconnected_by":"user""#
        for body in [event("answered", 1), event("started", 0), event("completed", 8, ended), event("started", 0)] {
            #expect(try server.ask(post("/voice/event", body)).status == 200)
        }
    }

    private func run(_ arguments: String..., shell: String? = nil, log: String) throws -> ServerProcess.End {
        let command = try ServerProcess(
            ["events"] + arguments, environment: ["EVENTS_DIR": log, "LOG": log + "/events.jsonl"], shell: shell)
        defer { command.kill() }
        return try command.wait()
    }

    /// A log with a call in it, which nobody writes any more.
    private func withLog(_ body: (String) throws -> Void) throws {
        try withFolder { folder throws in
            try withProcess(folder: folder) { server throws in
                try Self.play(server)
                server.signal(SIGTERM)
                _ = try server.wait()
            }
            try body(folder)
        }
    }

    @Test func `a running server's log is read, and the call told in order`() throws {
        try withFolder { folder throws in
            try withProcess(folder: folder) { server throws in
                try Self.play(server)
                let calls = try run("calls", log: folder)
                #expect(calls.status == 0)
                #expect(
                    calls.output.contains("********101 → ********100       completed     7 s      0.00144000  \(Self.call)\n"),
                    "\(calls.output)")

                let show = try run("show", Self.call, log: folder)
                #expect(show.status == 0)
                let places = [
                    "call CON-", "leg 1: 3f1b", " started leg 1", "came 2 times", " answered leg 1", " completed leg 1",
                    " answer leg 1 answer#",
                ]
                .map { show.output.range(of: $0)?.lowerBound }
                #expect(!places.contains(nil), "\(show.output)")
                #expect(places.compactMap { $0 } == places.compactMap { $0 }.sorted())
                #expect(show.output.contains(#"ncco [{"action":"#))
                // A leg's name finds its call, with dashes too.
                #expect(try run("show", "3f1b6a52-c1b9-4d6e-8c0a-7d5e9b2f4a10", log: folder).output == show.output)

                let verify = try run("verify", log: folder)
                #expect(verify.status == 0)
                #expect(verify.output.hasSuffix("good: 1 files, 5 lines\n"))
                let tail = try run("tail", "-n", "2", log: folder)
                #expect(tail.output.split(separator: "\n").count == 2)
                for end in [calls, show, verify, tail] {
                    #expect(end.errors == "")
                    #expect(!end.output.contains("12025550"))
                }
            }
        }
    }

    @Test func `JSON is one value a line, with numbers in full only where asked for`() throws {
        try withLog { log throws in
            for arguments in [["calls"], ["show", Self.call], ["tail"], ["verify"]] {
                let command = try ServerProcess(["events"] + arguments + ["--json", "--events", log])
                defer { command.kill() }
                let end = try command.wait()
                #expect(end.status == 0)
                #expect(!end.output.contains("12025550"))
                for line in end.output.split(separator: "\n") {
                    #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any])
                }
            }
            let text = try String(contentsOfFile: log + "/events.jsonl", encoding: .utf8)
            #expect(try run("tail", "--json", "--unmasked", log: log).output == text)
            #expect(try run("calls", "--unmasked", log: log).output.contains("12025550101 → 12025550100"))
        }
    }

    @Test func `filters choose lines and calls`() throws {
        try withLog { log throws in
            func count(_ arguments: String...) throws -> Int {
                let command = try ServerProcess(["events"] + arguments + ["--events", log])
                defer { command.kill() }
                return try command.wait().output.split(separator: "\n").count
            }
            #expect(try count("tail", "--call", Self.call) == 5)
            #expect(try count("tail", "--call", Self.leg, "--status", "started") == 2)
            #expect(try count("tail", "--status", "answer") == 1)
            #expect(try count("tail", "--status", "busy") == 0)
            #expect(try count("calls", "--status", "completed") == 1)
            #expect(try count("calls", "--status", "busy") == 0)
            #expect(try count("calls", "--number", "+1 202 555 0101") == 1)
            #expect(try count("calls", "--number", "447700900123") == 0)
            // The call began when its events say, however late they arrived.
            #expect(try count("calls", "--since", "2025-12-31") == 1)
            #expect(try count("calls", "--since", "2026-01-02") == 0)
            #expect(try count("calls", "--to", "2025-12-31") == 0)
        }
    }

    @Test func `following shows what comes, as it comes`() throws {
        try withFolder { folder throws in
            try withProcess(folder: folder) { server throws in
                let tail = try ServerProcess(["events", "tail", "-f", "--status", "completed", "--events", folder])
                defer { tail.kill() }
                try Self.play(server)
                let output = try tail.read { $0.contains("\n") }
                #expect(output.contains("event completed \(Self.call) leg \(Self.leg) ********101 → ********100"))
                #expect(output.split(separator: "\n").count == 1)
            }
        }
    }

    @Test func `a pipe is read, compressed or not`() throws {
        try withLog { log throws in
            for shell in [#"cat "$LOG" | exec "$0" "$@""#, #"gzip -c "$LOG" | exec "$0" "$@""#] {
                let end = try run("show", Self.call, "--events", "-", shell: shell, log: log)
                #expect(end.status == 0)
                #expect(end.output.hasPrefix("call \(Self.call): ********101 → ********100\n"))
                #expect(try run("verify", "--events", "-", shell: shell, log: log).output.hasSuffix("good: 1 files, 5 lines\n"))
            }
        }
    }

    @Test func `what cannot be read is told and ends nothing, and verify says so by its exit code`() throws {
        try withLog { log throws in
            let path = URL(fileURLWithPath: log + "/events.jsonl")
            var bytes = try Data(contentsOf: path)
            bytes[60] ^= 1
            bytes += Data("half".utf8)
            try bytes.write(to: path)
            let tail = try run("tail", log: log)
            #expect(tail.status == 0)
            #expect(tail.output.split(separator: "\n").count == 4)
            #expect(tail.errors.contains("events.jsonl, byte 0: no line of the log"))
            #expect(tail.errors.contains("the file ends within a line"))
            let verify = try run("verify", log: log)
            #expect(verify.status == 1)
            #expect(verify.output.contains("events.jsonl: 1 lines fail their check, at byte 0\n"))
            #expect(verify.output.contains("events.jsonl: it ends within a line\n"))
            #expect(verify.output.hasSuffix("NOT good: 1 files, 4 lines\n"))
        }
    }

    @Test func `a call that is not there is exit code 1`() throws {
        try withLog { log throws in
            let end = try run("show", "CON-none", log: log)
            #expect(end.status == 1)
            #expect(end.errors.contains("no call or leg \"CON-none\""))
        }
    }

    @Test(arguments: [
        ([], "write events tail, show, calls, verify, replay"), (["tial"], "did you mean tail?"), (["show"], "events show CALL"),
        (["tail", "--cal", "x"], "did you mean --call?"), (["tail", "-n", "x"], "or all"), (["calls", "--since", "soon"], "yesterday"),
        (["calls", "--number", "12"], "no phone number"), (["verify", "x"], "--events"),
        (["tail", "--events", "/nowhere"], "--events PATH"),
        (["verify", "--events", "/nowhere"], "--events PATH"),
    ])
    func `what cannot be followed ends with 64 and the cure`(_ arguments: [String], _ words: String) throws {
        let end = try ServerProcess.run(["events"] + arguments, environment: ["EVENTS_DIR": NSTemporaryDirectory()])
        #expect(end.status == 64)
        #expect(end.errors.contains(words), "\(end.errors)")
        #expect(end.errors.split(separator: "\n").count == 1)
    }
}
