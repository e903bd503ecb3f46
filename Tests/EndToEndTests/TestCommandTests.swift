// SPDX-License-Identifier: MIT

import Foundation
import HTTPServer
import Testing

struct TestCommandTests {
    private static let nccos = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../nccos").path

    private func test(_ arguments: [String]) throws -> ServerProcess.End {
        let command = try ServerProcess(["test"] + arguments)
        defer { command.kill() }
        return try command.wait(seconds: 180)
    }

    /// A scenario in which sales is busy, held against the shipped flows.
    private func busy(_ expect: String) -> String {
        """
        {
          "scenario": "Sales is busy",
          "call": { "from": "447700900123", "to": "14155550100", "flow": "ivr", "at": "2026-11-30T10:00:00Z" },
          "caller": [{ "press": "1" }], "callees": { "14155550111": "busy" },
          "expect": \(expect)
        }
        """
    }

    private func write(_ text: String, _ folder: String, _ name: String = "busy.json") throws -> String {
        let path = "\(folder)/\(name)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func `the shipped scenarios hold`() throws {
        let end = try test(["--nccos", Self.nccos])
        #expect(end.status == 0, "\(end.output)\(end.errors)")
        #expect(end.errors == "")
        let summary = try #require(end.output.split(separator: "\n").last)
        let count = try #require(Int(summary.prefix { $0.isNumber }))
        #expect(count >= 14)
        #expect(summary.hasSuffix(" scenarios ran, and all hold"))
    }

    @Test(arguments: [
        (#"{ "heard": ["Good morning"] }"#, "$.expect.heard[0]: \"Good morning\" was not heard"),
        (#"{ "heard": [{ "matches": "press [7-9]" }] }"#, "$.expect.heard[0]: what matches \"press [7-9]\" was not heard"),
        (#"{ "not_heard": ["Welcome"] }"#, "$.expect.not_heard[0]: \"Welcome\" was heard"),
        (#"{ "rung": ["Alice"] }"#, "$.expect.rung[0]: rung was \"14155550111\", not \"Alice\""),
        (#"{ "events": ["busy", "answered"] }"#, "$.expect.events[1]: \"answered\""),
        (#"{ "never": ["record"] }"#, "$.expect.never[0]: the action record ran"),
        (#"{ "rules": ["choice#2"] }"#, "$.expect.rules[0]: \"choice#2\""),
        (#"{ "answer_within": "0ms" }"#, "$.expect.answer_within: the answer request was answered after"),
        (#"{ "state": "failed" }"#, "$.expect.state: the call ended completed, not failed"),
        (#"{ "complaints": ["nothing of it"] }"#, "$.expect.complaints[0]"),
        (#"{ "nccos": "golden/none.json" }"#, "$.expect.nccos: there is no "),
    ])
    func `a broken expectation of any kind ends with 1, and names file and place`(_ expect: String, _ words: String) throws {
        try withFolder { folder in
            let path = try write(busy(expect), folder)
            let end = try test(["--nccos", Self.nccos, path])
            #expect(end.status == 1)
            #expect(end.output.contains("FAILED   \(path):1: Sales is busy\n"), "\(end.output)\(end.errors)")
            #expect(end.output.contains("  \(path):5:"))
            #expect(end.output.contains(words))
            #expect(end.output.contains("hears \"Connecting you to sales.\""))
            #expect(end.output.hasSuffix("1 scenario ran, 1 failed\n"))
        }
    }

    @Test func `none that ran is a failure`() throws {
        try withFolder { folder in
            let path = try write(busy(#"{ "rung": ["14155550111"] }"#), folder)
            let end = try test(["--nccos", Self.nccos, path, "--filter", "nobody"])
            #expect(end.status == 1)
            #expect(end.output == "no scenario ran, which is a failure\n")
            try FileManager.default.createDirectory(atPath: "\(folder)/empty", withIntermediateDirectories: false)
            #expect(try test(["\(folder)/empty"]).status == 1)
        }
    }

    @Test(arguments: [
        (["/nowhere"], "cannot be read"), (["--format", "xml"], "write text, junit or json"), (["--jobs", "0"], "no number from 1 to 256"),
        (["--url", "localhost"], "write http://HOST:PORT"), (["--url", "http://h", "--number", "14155550100"], "leave one of the two out"),
        (["--updat"], "did you mean --update?"),
    ])
    func `what cannot be followed ends with 64`(_ arguments: [String], _ words: String) throws {
        let end = try test(arguments)
        #expect(end.status == 64)
        #expect(end.output == "")
        #expect(end.errors.contains(words), "\(end.errors)")
    }

    @Test func `faults of files are told with their places, and nothing is played`() throws {
        try withFolder { folder in
            let good = try write(busy(#"{ "rung": ["14155550111"] }"#), folder, "good.json")
            let path = try write(busy(#"{ "rnug": [] }"#), folder)
            let end = try test(["--nccos", Self.nccos, good, path])
            #expect(end.status == 64)
            #expect(end.output == "")
            #expect(end.errors.contains("\(path):5:16: error SCEN005 $.expect.rnug: \"rnug\" means nothing here; did you mean \"rung\"?"))
        }
    }

    @Test func `golden NCCOs are written, held against, and shown in what is heard otherwise`() throws {
        try withFolder { folder in
            let nccos = "\(folder)/nccos"
            try FileManager.default.copyItem(atPath: Self.nccos, toPath: nccos)
            let path = try write(busy(#"{ "nccos": "golden/busy.json" }"#), folder)
            let golden = "\(folder)/golden/busy.json"
            #expect(try test(["--nccos", nccos, path]).status == 1)
            let written = try test(["--nccos", nccos, path, "--update"])
            #expect(written.status == 0, "\(written.output)")
            #expect(written.output.contains("written: \(golden)\n"))
            let first = try String(contentsOfFile: golden, encoding: .utf8)
            #expect(first.contains("{{base_url}}/voice/choice"))
            #expect(try test(["--nccos", nccos, path]).output.hasPrefix("ok "))

            _ = try write(#"[{ "action": "talk", "text": "Nobody is here." }]"#, nccos, "ivr-voicemail.json")
            let differs = try test(["--nccos", nccos, path])
            #expect(differs.status == 1)
            #expect(differs.output.contains(#"+   1. talk      The caller hears: "Nobody is here." (en-US, style 0)"#), "\(differs.output)")
            #expect(differs.output.contains(#"-   1. talk      The caller hears: "Please leave a message"#))
            #expect(try String(contentsOfFile: golden, encoding: .utf8) == first)
            let updated = try test(["--nccos", nccos, path, "--update"])
            #expect(updated.status == 0)
            #expect(updated.output.contains("Nobody is here."))
            #expect(try String(contentsOfFile: golden, encoding: .utf8).contains("Nobody is here."))
            #expect(try test(["--nccos", nccos, path]).status == 0)
        }
    }

    @Test func `a public address in NCCOs is played here, and golden NCCOs know no address`() throws {
        try withFolder { folder in
            let path = try write(busy(#"{ "rung": ["14155550111"], "nccos": "golden/busy.json" }"#), folder)
            #expect(try test(["--nccos", Self.nccos, path, "--update"]).status == 0)
            let end = try test(["--nccos", Self.nccos, path, "--public-url", "https://calls.example.com/x"])
            #expect(end.status == 0, "\(end.output)")
        }
    }

    @Test func `a running server is played against, and what needs another clock is skipped`() throws {
        try withFolder { folder in
            let plain = #"{"scenario":"Plain","call":{"from":"447700900123","to":"\#(TestServer.ourNumber)"},"expect":{"rung":["Alice"]}}"#
            let path = try write("[\(plain),\(busy(#"{ "rung": [] }"#))]", folder)
            try withServer { server throws in
                let end = try test(["--url", server.url + "/", path])
                #expect(end.status == 0, "\(end.output)")
                #expect(end.output.contains("skipped  \(path):1: Sales is busy: "))
                #expect(end.output.hasSuffix("1 scenario ran, and it holds; 1 skipped\n"))
            }
            let nobody = try test(["--url", "http://127.0.0.1:1", path])
            #expect(nobody.status == 69)
            #expect(nobody.output == "")
            #expect(
                nobody.errors
                    == "switchboard test: nobody listens at \"http://127.0.0.1:1\"; start a server with switchboard serve, or leave --url out for one inside\n"
            )
        }
    }

    @Test func `people who are not rung and keys that nothing asks for fail a scenario`() throws {
        try withFolder { folder in
            let typos = busy(#"{ "state": "completed" }"#).replacing(#"[{ "press": "1" }]"#, with: #"[{ "press": "1" }, { "press": "2" }]"#)
            let path = try write(typos.replacing(#""14155550111": "busy""#, with: #""14155550112": "busy""#), folder)
            let end = try test(["--nccos", Self.nccos, path])
            #expect(end.status == 1)
            #expect(end.output.contains("\(path):4:79: error SCEN112 $.callees.14155550112: nobody rang \"14155550112\""), "\(end.output)")
            #expect(end.output.contains("$.caller[1]: the caller was to press \"2\", and no input listened"))
        }
    }

    @Test func `documents for machines are the only output`() throws {
        try withFolder { folder in
            let path = try write("[\(busy(#"{ "heard": ["Hello"] }"#)), \(busy(#"{ "rung": ["14155550111"] }"#))]", folder)
            let junit = try test(["--nccos", Self.nccos, path, "--format", "junit"])
            #expect(junit.status == 1)
            #expect(junit.output.hasPrefix("<?xml "))
            #expect(junit.output.contains("tests=\"2\" failures=\"1\""))
            #expect(junit.errors == "2 scenarios ran, 1 failed\n")
            let json = try test(["--nccos", Self.nccos, path, "--format", "json"])
            let root = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
            #expect(root["failed"] as? Int == 1)
        }
    }

    @Test func `a thousand scenarios are played in order against one server`() throws {
        try withFolder { folder in
            let one = busy(#"{ "rung": ["14155550111"], "events": ["input", "busy", "record"] }"#)
            let names = (1...1000).map { one.replacing("Sales is busy", with: "Sales is busy, call \($0)") }
            let path = try write("[\(names.joined(separator: ",\n"))]", folder)
            let began = ContinuousClock.now
            let command = try ServerProcess(["test", "--nccos", Self.nccos, path])
            defer { command.kill() }
            // More than a pipe holds: it is read while it comes.
            let output = try command.read { $0.hasSuffix("and all hold\n") || $0.hasSuffix("failed\n") }
            let end = try command.wait()
            print("a thousand scenarios took \(ContinuousClock.now - began)")
            #expect(end.status == 0, "\(output.suffix(2000))")
            let lines = output.split(separator: "\n")
            #expect(lines.last == "1000 scenarios ran, and all hold")
            #expect(lines.dropLast().map { $0.split(separator: " ").last.map(String.init) } == (1...1000).map { "\($0)" })
        }
    }
}
