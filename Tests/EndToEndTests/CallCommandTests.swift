// SPDX-License-Identifier: MIT
//
// `switchboard call` as people run it: against a server of its own, one that is there, one that breaks the rules, and nobody.

import Foundation
import HTTPServer
import HTTPWire
import Testing

/// Answers every request with the same.
private struct FixedService: Service {
    let response: @Sendable () -> Response

    private final class Fixed: Handler {
        let response: @Sendable () -> Response
        init(_ response: @escaping @Sendable () -> Response) { self.response = response }

        func respond(to head: borrowing RequestHead, bytes: Span<UInt8>, body: Span<UInt8>, exchange: Exchange) throws -> Reply {
            .now(response())
        }
        func refusal(of head: borrowing RequestHead, bytes: Span<UInt8>, exchange: Exchange) -> Response? { nil }
        func refused(_ error: WireError) {}
        func failed(_ error: any Error, _ head: borrowing RequestHead, bytes: Span<UInt8>) -> Response { response() }
        func flush(now: Int64) -> Int64? { nil }
    }

    func makeHandler(mailbox: Mailbox) -> any Handler { Fixed(response) }
}

struct CallCommandTests {
    /// Lines without the times that answers took.
    private func plain(_ output: String) -> [String] {
        output.replacing(#/\([0-9.]+ ms\)/#, with: "(… ms)").replacing(#/127\.0\.0\.1:[0-9]+/#, with: "HOST")
            .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test func `a call of an app user to a phone is told from the request to the end`() throws {
        let end = try ServerProcess.run(["call", "--serve", "--from-user", "Alice", "--to", "447700900123", "--number", "14155550100"])
        #expect(end.status == 0, "\(end.output)\(end.errors)")
        let lines = plain(end.output)
        for line in [
            "0.000  GET http://HOST/voice/answer → 200 (… ms), answer#3 connect-phone", "0.000  event started → 200 (… ms)",
            #"0.000  hears "Please wait while we connect you.""#, "2.200  rings phone 447700900123, from 14155550100",
            "3.200  event ringing (447700900123) → 200 (… ms)", "5.200  talks with 447700900123", "17.200  the caller hangs up",
            "17.200  event completed (447700900123) → 200 (… ms)", "Clean: Vonage would have taken every answer at once.",
        ] {
            #expect(lines.contains(line), "\(line) is not in \(lines)")
        }
    }

    @Test(arguments: [
        (["--callee", "busy"], "event busy"), (["--callee", "declines"], "event rejected"), (["--callee", "no-answer"], "event timeout"),
        (["--callee", "unreachable"], "event unanswered"), (["--callee", "bad-number"], "event rejected"),
        (["--hangup", "callee"], "447700900123 hangs up"), (["--gives-up-after", "3s"], "event cancelled"), (["--post"], "POST http"),
    ])
    func `people do what they are told to`(_ flags: [String], _ words: String) throws {
        let end = try ServerProcess.run(["call", "--serve", "--from-user", "Alice", "--to", "447700900123"] + flags)
        #expect(end.status == 0 && end.output.contains(words), "\(end.output)\(end.errors)")
    }

    @Test func `with --json each line is an object, and the last is the verdict`() throws {
        let end = try ServerProcess.run(["call", "--serve", "--json"])
        let lines = try end.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(lines.dropLast().allSatisfy { $0["at"] is Double })
        #expect(lines.last?["verdict"] as? String == "clean" && lines.last?["events"] as? Int == 7)
        let answer = try #require(lines.first)
        #expect(answer["kind"] as? String == "answer" && (answer["answer"] as? [String: Any])?["rule"] as? String == "answer#1 ring-user")
        #expect(end.status == 0)
    }

    @Test func `where nobody listens it says how to start a server, and nothing else`() throws {
        let free = try withServer { $0.server.port }
        let end = try ServerProcess.run(["call", "--url", "http://127.0.0.1:\(free)"])
        #expect(end.status == 69 && end.output == "")
        #expect(end.errors.contains("switchboard serve") && end.errors.contains("--serve") && end.errors.split(separator: "\n").count == 1)
    }

    @Test(arguments: [
        (Response(.notFound), 2, "answered with 404"), (Response(.ok, contentType: .html, body: Array("[]".utf8)), 2, "text/html"),
        (Response(.ok, body: Array(#"[{"action":"dial"}]"#.utf8)), 2, "NCCO007"), (Response(.serviceUnavailable), 1, "the call is dropped"),
        (Response(.ok, body: Array("[]".utf8)), 0, "Clean"),
    ])
    func `a server's mistakes are named, and are the exit code`(_ response: Response, _ code: Int32, _ words: String) throws {
        try withServer(.underTest, serving: FixedService { response }) { server in
            let end = try ServerProcess.run(["call", "--url", server.url, "--event-url", ""])
            #expect(end.status == code && end.output.contains(words), "\(end.output)\(end.errors)")
        }
    }

    @Test func `trouble is shown, and is the same with the same seed`() throws {
        let flags = ["call", "--serve", "--duplicate", "0.5", "--reorder", "--retry", "--tunnel-html", "--cut-connection", "--seed"]
        func play(_ seed: String) throws -> [String] { plain(try ServerProcess.run(flags + [seed]).output) }
        let lines = try play("7")
        for words in ["[delivered twice]", "[answer lost]", "[answered by a tunnel]", "[connection cut]"] {
            #expect(lines.contains { $0.contains(words) }, "\(words) is not in \(lines)")
        }
        #expect(try play("7").dropLast(2) == lines.dropLast(2))
        #expect(try play("8") != lines)
    }

    @Test func `what happens on the way is no mistake of the server's`() throws {
        let end = try ServerProcess.run(["call", "--serve", "--tunnel-html", "--seed", "1"])
        #expect(end.status == 0 && end.output.contains("note: the answer request was answered with 502"), "\(end.output)")
    }

    @Test func `a load ends with its figures, and stays on this machine`() throws {
        try withServer { server in
            let url = server.url
            let end = try ServerProcess.run(
                ["call", "--url", url, "--rate", "100/s", "--for", "500ms", "--mix", "app:70,phone:30", "--json"])
            #expect(end.status == 0, "\(end.output)\(end.errors)")
            let report = try #require(try JSONSerialization.jsonObject(with: Data(end.output.utf8)) as? [String: Any])
            #expect(report["calls"] as? Int == 50 && (report["errors"] as? [String: Any])?.isEmpty == true)
            #expect((report["answers"] as? [String: Any])?["count"] as? Int == 50)
            let events = try #require((report["events"] as? [String: Any])?["count"] as? Int)
            #expect(try server.stopAndRead().count { $0.kind == "event" } == events && events >= 300)
        }
        let refused = try ServerProcess.run(["call", "--url", "http://192.0.2.1/", "--rate", "1/s"])
        #expect(refused.status == 64 && refused.errors.contains("loopback"))
    }

    @Test func `a load that is ended early tells what came of it so far`() throws {
        let load = try ServerProcess(["call", "--serve", "--rate", "20/s", "--for", "60s"])
        defer { load.kill() }
        // The first line of its progress.
        try load.read(onErrors: true) { $0.contains(" calls, ") }
        load.signal(SIGINT)
        let end = try load.wait()
        #expect(end.status == 130 && end.output.contains("answers") && end.output.contains("errors  none"), "\(end.output)\(end.errors)")
    }

    @Test func `a load on nobody ends at once with the cure`() throws {
        let free = try withServer { $0.server.port }
        let end = try ServerProcess.run(["call", "--url", "http://127.0.0.1:\(free)", "--rate", "50/s", "--for", "60s"])
        #expect(end.status == 69 && end.output == "" && end.errors.contains("nobody listens"), "\(end.output)\(end.errors)")
    }

    @Test func `whatever ends a call, no folder stays behind`() throws {
        try withFolder { folder in
            let flows = "\(folder)/flows"
            try FileManager.default.createDirectory(atPath: flows, withIntermediateDirectories: true)
            try Data(#"{"flows":{"answer":[{"ncco":"none"}]}}"#.utf8).write(to: URL(fileURLWithPath: "\(flows)/flows.json"))
            let place = "\(folder)/tmp"
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            for (arguments, shell) in [
                (["call", "--serve"], #"exec "$0" "$@""#), (["call", "--serve"], #"exec "$0" "$@" >/dev/full"#),
                (["call", "--serve", "--nccos", flows], #"exec "$0" "$@""#),
            ] {
                let command = try ServerProcess(arguments, environment: ["TMPDIR": place], shell: shell)
                defer { command.kill() }
                _ = try command.wait()
                #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [], "\(arguments) \(shell)")
            }
        }
    }

    @Test(arguments: [
        (["--to"], "needs a value"), (["447700900123"], "write --to"), (["--callee", "buzy"], "did you mean busy?"),
        (["--from", "1", "--from-user", "A"], "exclude each other"), (["--from-user", "A", "--api"], "comes from one of them"),
        (["--api"], "add --to"), (["--custom-data", "{}"], "--from-user"), (["--from-user", "A", "--custom-data", "["], "not JSON"),
        (["--from-user", "A", "--custom-data", "[]"], "no JSON object"), (["--press", "a"], "0-9, * and #"),
        (["--hangup", "x"], "caller or callee"),
        (["--duplicate", "2"], "0 to 1"), (["--skew", "x"], "120s"), (["--seed", "x"], "whole number"), (["--url", "ftp://x"], "http"),
        (["--url", "http://localhost:1/x", "--flow", "ivr"], "--flow"), (["--serve", "--url", "http://localhost:1"], "one of the two"),
        (["--sip", "sip:a@b", "--sip-header", "Via=1"], "X-NAME"), (["--for", "3s"], "add --rate"), (["--rate", "fast"], "200/s"),
        (["--rate", "1/s", "--mix", "fax:1"], "app, phone and sip"), (["--rate", "1/s", "--mix", "app:0"], "above 0"),
        (["--rate", "1/s", "--realtime"], "--realtime"), (["--talk-for", "x"], "500ms, 10s or 2m"),
        (["--secret-file", "/nowhere"], "No such file"),
    ])
    func `what cannot be followed ends with 64 and one line`(_ flags: [String], _ words: String) throws {
        let end = try ServerProcess.run(["call"] + flags)
        #expect(end.status == 64 && end.errors.contains(words), "\(end.errors)")
        #expect(end.errors.split(separator: "\n").count == 1 && end.output == "")
    }
}
