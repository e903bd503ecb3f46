// SPDX-License-Identifier: MIT
//
// `switchboard events replay` as a process: the log of one server, sent to another.

import Foundation
import HTTPServer
import NCCO
import Switchboard
import Testing

struct ReplayTests {
    private static let call = "CON-0d6d4d2e-5c1b-4f0e-9a77-2b1f6a3c9e51"

    /// Lends the log of a server that stopped: a call of an app user to a phone in Germany, an event that is none, and another call's event.
    private func withLog(_ body: (String) throws -> Void) throws {
        try withServer { server in
            let client = try server.client()
            let number = "49301234567"
            let answer = "/voice/answer?to=\(number)&from_user=Alice&conversation_uuid=\(Self.call)&uuid=3f1b"
            #expect(try client.ask(get(answer)).status == 200)
            for (call, status) in [(Self.call, "ringing"), ("CON-2", "started"), (Self.call, "completed")] {
                let event =
                    #"{"from":"\#(TestServer.ourNumber)","to":"\#(number)","uuid":"8c2d","conversation_uuid":"\#(call)","#
                    + #""status":"\#(status)","timestamp":"2026-01-01T12:00:00.000Z","size":1.50}"#
                #expect(try client.ask(post("/voice/event", event)).status == 200)
            }
            #expect(try server.ask(post("/voice/event", "{")).status == 400)
            #expect(try server.stopAndRead().count == 5)
            try body(server.events)
        }
    }

    private func replay(
        _ log: String, to url: String, _ more: String..., environment: [String: String] = [:]
    ) throws -> ServerProcess.End {
        try ServerProcess.run(["events", "replay", "--events", log, "--to-url", url, "--speed", "max"] + more, environment: environment)
    }

    @Test func `the log's requests arrive at another server in order, with numbers that nobody has`() throws {
        try withLog { log throws in
            try withServer { target throws in
                let end = try replay(log, to: target.url)
                #expect(end.status == 0, "\(end.errors)")
                #expect(end.errors == "")
                let lines = end.output.split(separator: "\n").map(String.init)
                #expect(lines.count == 7)
                let answered = " s  GET /voice/answer Alice → *********000  200  answer#3 connect-phone  same NCCO"
                #expect(lines.first?.hasSuffix(answered) == true)
                #expect(lines.dropFirst(3).first?.hasSuffix(" s  POST /voice/event completed ********100 → *********000  200") == true)
                #expect(lines.suffix(3) == ["********567 is 447700900000", "********100 is 14155550100", lines.last ?? ""])
                #expect(lines.last == "4 sent, 0 failed, 1 same and 0 other NCCOs, 1 records skipped")

                let records = try target.stopAndRead()
                #expect(records.map { $0.members["status"] as? String } == [nil, "ringing", "started", "completed"])
                #expect(records.map { $0.members["call"] as? String } == [Self.call, Self.call, "CON-2", Self.call])
                #expect(!records.contains { $0.text.contains("49301234567") })
                #expect(records[3].text.contains(#""timestamp":"2026-01-01T12:00:00.000Z","size":1.50"#))
            }
        }
    }

    @Test func `another NCCO is told, and one call's requests can be sent alone with their numbers`() throws {
        try withLog { log throws in
            let other = "14155550142"
            try withServer(adjust: { $0.numbers = PhoneNumber(other).map { [$0] } ?? [] }) { target in
                let url = target.url
                let end = try replay(log, to: url, "--call", Self.call, "--keep-numbers", "--json")
                #expect(end.status == 0, "\(end.errors)")
                let lines = try end.output.split(separator: "\n").map {
                    try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
                }
                #expect(lines.compactMap { $0["seq"] as? Int } == [1, 2, 4])
                #expect(lines.compactMap { $0["answer"] as? Int } == [200, 200, 200])
                #expect(lines[0]["ncco"] as? String == "other")
                #expect(lines[3]["sent"] as? Int == 3 && lines[3]["other"] as? Int == 1 && lines[3]["numbers"] as? [String] == [])
                #expect(!end.output.contains("49301234567"))
                #expect(try target.stopAndRead().allSatisfy { $0.text.contains("49301234567") })
            }
        }
    }

    @Test func `exit codes say who did not answer well, and that nobody listens or nothing is to be sent`() throws {
        try withLog { log throws in
            try withServer(.underTest, serving: ThrowingService()) { target in
                let end = try replay(log, to: target.url + "/base/")
                #expect(end.status == 1)
                #expect(end.output.contains("  500  other NCCO\n"))
                #expect(end.output.hasSuffix("4 sent, 4 failed, 0 same and 1 other NCCOs, 1 records skipped\n"))
            }
            let nobody = try replay(log, to: "unix:\(log)/nobody")
            #expect(nobody.status == 69)
            #expect(nobody.errors.contains("cannot connect to unix:"))
            #expect(nobody.output.hasSuffix("0 sent, 0 failed, 4 not sent, 0 same and 0 other NCCOs, 1 records skipped\n"))
            let nothing = try replay(log, to: "unix:\(log)/nobody", "--call", "CON-none")
            #expect(nothing.status == 1)
            #expect(nothing.errors.contains("no request to send"))
        }
    }

    @Test func `a host that is not loopback is sent nothing without a yes`() throws {
        try withLog { log throws in
            try withServer(.plain) { target throws in
                // Reaches this machine, but nothing says that it must.
                let url = "http://0.0.0.0:\(target.server.port)"
                #expect(try replay(log, to: url).status == 64)
                #expect(target.server.statistics.accepted == 0)
                #expect(try replay(log, to: url, "--yes").status == 0)
                #expect(try target.stopAndRead().count == 4)
            }
        }
    }

    @Test func `an answer that is too long is none, and one that comes before all is sent is read`() throws {
        try withServer { target throws in
            let client = try HTTPRequestClient(url: target.url)
            let long = #expect(throws: HTTPRequestError.self) {
                try client.send("GET", "/health", milliseconds: 5000, maximumAnswer: 10)
            }
            #expect(long?.fault == .noAnswer && long?.description.hasSuffix("answers with more than 10 bytes") == true)
            let body = Array(repeating: UInt8(ascii: "x"), count: 4 * 1024 * 1024)
            #expect(try client.send("POST", "/voice/event", body: body, milliseconds: 5000, maximumAnswer: 10_000).status == 413)
        }
    }

    @Test(arguments: [
        (["--to-url", "http://192.0.2.1:3000"], "add --yes"), (["--to-url", "https://calls.example.com"], "http://HOST:PORT"),
        ([], "--to-url URL"),
        (["--to-url", "unix:/x", "--speed", "fast"], "or max"), (["--to-url", "unix:/x", "--since", "soon"], "yesterday"),
        (["--to-url", "unix:/x", "--events", "/nowhere"], "--events PATH"),
    ]) func `what cannot be followed ends with 64 and the cure`(_ arguments: [String], _ words: String) throws {
        let end = try ServerProcess.run(["events", "replay"] + arguments, environment: ["EVENTS_DIR": NSTemporaryDirectory()])
        #expect(end.status == 64)
        #expect(end.output == "")
        #expect(end.errors.contains(words), "\(end.errors)")
        #expect(end.errors.split(separator: "\n").count == 1)
    }
}
