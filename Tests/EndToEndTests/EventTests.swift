// SPDX-License-Identifier: MIT
//
// What becomes of an event: in the answer, and in `events.jsonl`, read without the log's own code.

import EventLog
import Foundation
import HTTPServer
import Switchboard
import Testing

struct EventTests {
    private static let form = "application/x-www-form-urlencoded"
    private static let nested = String(repeating: "[", count: 511) + String(repeating: "]", count: 511)

    /// Bodies that are kept to the byte but for blanks between tokens.
    private static let bodies: [(sent: String, kept: String)] = [
        (#"{"status":"answered"}"#, #"{"status":"answered"}"#), ("{ }", "{}"),
        (
            "\r\n { \"z\" : null , \"a\" : [ 1.10 , -0 , 1E+2 , 12345678901234567890123 ] ,\t\"unknown\" : { \"deep\" : true } } \n",
            #"{"z":null,"a":[1.10,-0,1E+2,12345678901234567890123],"unknown":{"deep":true}}"#
        ),
        (#"{"a":"\u0041\/ \ud83d\ude00 \ud800 😀 é"}"#, #"{"a":"\u0041\/ \ud83d\ude00 \ud800 😀 é"}"#),
        ("{\"deep\":\(nested)}", "{\"deep\":\(nested)}"), ("[]", "[]"), ("null", "null"), ("\"text\"", "\"text\""), (" 12.50 ", "12.50"),
        (#"{"a":1,"b":2,"a":3}"#, #"{"a":1,"b":2,"a":3}"#),
    ]

    @Test(arguments: Way.allCases)
    func `an event is kept as it came, whatever its content type says`(_ way: Way) throws {
        try withServer(way) { server throws in
            let client = try server.client()
            var expected: [String] = []
            for type in ["application/json", "text/plain", "application/json; charset=utf-8", nil] {
                for (sent, kept) in Self.bodies {
                    let answer = try client.ask(post("/voice/event", sent, type: type))
                    #expect(answer.status == 200, "\(sent.prefix(40))")
                    #expect(answer.body.isEmpty)
                    #expect(answer["Content-Type"] == nil)
                    #expect((answer["X-Switchboard-Warning"] == "an object has a key twice") == (kept == Self.bodies.last?.kept))
                    expected.append(kept)
                }
            }
            #expect(try client.ask(post("/voice/event", Self.bodies[2].sent, type: Self.form)).status == 200)
            expected.append(Self.bodies[2].kept)
            let lines = try server.stopAndRead()
            #expect(lines.count == expected.count)
            for (line, kept) in zip(lines, expected) {
                #expect(line.text.contains(",\"event\":\(kept),\"crc\":"), "\(line.text.prefix(300))")
            }
        }
    }

    @Test func `one level more of nesting is refused`() throws {
        try withServer { server throws in
            let answer = try server.ask(post("/voice/event", "{\"deep\":[\(Self.nested)]}"))
            #expect(answer.status == 400)
            #expect(answer.text.contains("512 levels"))
        }
    }

    @Test func `a form and a query become an object of texts`() throws {
        try withServer { server throws in
            let client = try server.client()
            let pairs = "uuid=u%2D1&status=completed&price=0.10&to=%2B44+7700&empty=&flag&x=%zz"
            let kept = #"{"uuid":"u-1","status":"completed","price":"0.10","to":"+44 7700","empty":"","flag":"","x":"%zz"}"#
            #expect(try client.ask(post("/voice/event", pairs, type: Self.form)).status == 200)
            #expect(try client.ask(post("/voice/event", pairs, type: "Application/X-WWW-Form-URLencoded;charset=UTF-8")).status == 200)
            #expect(try client.ask(get("/voice/event?\(pairs)")).status == 200)
            #expect(try client.ask(get("/voice/event?a=%ff%fe")).status == 200)
            let lines = try server.stopAndRead()
            for line in lines.prefix(3) {
                #expect(line.text.contains(",\"event\":\(kept),\"crc\":"))
                #expect(line.members["leg"] as? String == "u-1")
                #expect(line.members["status"] as? String == "completed")
            }
            #expect(lines.last?.event?["a"] as? String == "\u{FFFD}\u{FFFD}")
            #expect(lines.last?.members["raw"] as? String == "a=%ff%fe")
        }
    }

    @Test func `a line tells what the event is about`() throws {
        try withServer { server throws in
            let began = Date()
            let body = #"{"from":"447700900123","uuid":"leg-1","conversation_uuid":"CON-1","status":"ringing"}"#
            #expect(try server.ask(post("/voice/event", body)).status == 200)
            #expect(
                try server.ask(post("/voice/event", #"{"call_uuid":"leg-2","conversation_uuid":null,"dtmf":{"digits":"1"}}"#)).status == 200
            )
            let lines = try server.stopAndRead()
            let (first, second) = (lines[0], lines[1])
            #expect(first.text.hasPrefix("{\"seq\":1,\"at\":\""))
            #expect(
                first.text.contains(#""kind":"event","call":"CON-1","leg":"leg-1","status":"ringing","signature":"off","event":{"from""#))
            #expect(
                second.text.contains(#""kind":"event","call":null,"leg":"leg-2","status":"input","signature":"off","event":{"call_uuid""#))
            let format = ISO8601DateFormatter()
            format.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
            let time = try #require(format.date(from: first.members["at"] as? String ?? ""))
            #expect(abs(time.timeIntervalSince(began)) < 30)
        }
    }

    @Test(arguments: [
        ("", "empty", ""), (" \r\n", "empty", " \r\n"), (#"{"a":1"#, "line 1, column 7", #"{"a":1"#),
        ("{\n\"a\":1,}", "line 2, column 7", "{\n\"a\":1,}"),
        ("{\"é\":01}", "line 1, column 7", "{\"é\":01}"), (#"{"a":1} x"#, "line 1, column 9", #"{"a":1} x"#),
        ("NaN", "line 1, column 1", "NaN"),
        ("{\"a\":\"\u{1}\"}", "line 1, column 7", "{\"a\":\"\u{1}\"}"), ("<xml/>", "line 1, column 1", "<xml/>"),
        ("{\"a\":\"" + "\u{1B}[2J\"}", "line 1, column 7", "{\"a\":\"\u{1B}[2J\"}"),
    ])
    func `what is no event is refused with its place, and kept`(_ body: String, _ words: String, _ raw: String) throws {
        try withServer { server throws in
            let answer = try server.ask(post("/voice/event", body))
            #expect(answer.status == 400)
            #expect(answer["Content-Type"] == "application/problem+json")
            let problem = try #require(try answer.json() as? [String: Any])
            #expect((problem["detail"] as? String)?.contains(words) == true, "\(answer.text)")
            let lines = try server.stopAndRead()
            #expect(lines.map(\.kind) == (raw.isEmpty ? [] : ["malformed"]))
            if let line = lines.first {
                #expect(line.members["raw"] as? String == raw)
                #expect((line.members["error"] as? String)?.contains(words) == true)
                #expect(line.members["status"] is NSNull)
            }
        }
    }

    @Test func `what is no UTF-8 is kept in base64`() throws {
        try withServer { server throws in
            let body: [UInt8] = Array("{\"a\":\"".utf8) + [0xFF, 0xFE] + Array("\"}".utf8)
            let client = try server.client()
            try client.send(Array("POST /voice/event HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
            #expect(try client.read().status == 400)
            let line = try #require(try server.stopAndRead().first)
            #expect(line.kind == "malformed")
            #expect(line.members["raw"] == nil)
            #expect(line.members["raw_base64"] as? String == Data(body).base64EncodedString())
        }
    }

    @Test func `a query that is empty is no event`() throws {
        try withServer { server throws in
            #expect(try server.ask(get("/voice/event")).status == 400)
            #expect(try server.ask(get("/voice/event?")).status == 400)
        }
    }

    @Test func `an encoded body is refused and not kept`() throws {
        try withServer { server throws in
            let answer = try server.ask(post("/voice/event", "{}", "Content-Encoding: gzip\r\n"))
            #expect(answer.status == 415)
            #expect(answer["Accept-Encoding"] == "identity")
            #expect(try server.ask(post("/voice/event", "{}", "Content-Encoding: Identity\r\n")).status == 200)
            #expect(try server.stopAndRead().count == 1)
        }
    }

    @Test func `an event that came before is answered alike and marked`() throws {
        try withFolder { folder in
            func events(_ bodies: [String]) throws -> [Record] {
                func adjust(_ settings: inout Settings) { settings.events = folder }
                return try withServer(adjust: adjust) { server throws in
                    for body in bodies { #expect(try server.ask(post("/voice/event", body)).status == 200) }
                    return try server.stopAndRead()
                }
            }
            let (one, two) = (#"{"uuid":"u","status":"answered"}"#, #"{"uuid":"u","status":"completed"}"#)
            let first = try events([one, two, "{ \"uuid\":\"u\", \"status\":\"answered\" }", two])
            #expect(first.map { $0.members["repeat"] as? Bool } == [nil, nil, true, true])
            // Also over a restart.
            let second = try events([one, #"{"uuid":"u","status":"busy"}"#])
            #expect(second.dropFirst(4).map { $0.members["repeat"] as? Bool } == [true, nil])
            #expect(second[4].text.contains(#""signature":"off","repeat":true,"event":{"#))
        }
    }

    @Test func `answers are recorded with all that was decided, and HEAD is not`() throws {
        try withServer { server throws in
            let client = try server.client()
            let answer = try client.ask(get("/voice/answer?to=447700900123&from_user=Alice&conversation_uuid=CON-1&uuid=leg-1&to=2"))
            _ = try client.ask("HEAD /voice/answer?to=447700900123&from_user=Alice HTTP/1.1\r\nHost: h\r\n\r\n")
            _ = try client.ask(post("/voice/answer", #"{"to":"447700900123","from_user":"Alice","n":1.50,"custom_data":{"a":[null]}}"#))
            _ = try client.ask(get("/voice/fallback?reason=x"))
            let lines = try server.stopAndRead()
            #expect(lines.map(\.kind) == ["answer", "answer", "fallback"])
            #expect(
                lines[0].text.contains(
                    #""kind":"answer","call":"CON-1","leg":"leg-1","status":null,"signature":"off","request":{"to":"447700900123","#))
            #expect(
                (lines[0].members["request"] as? [String: String]) == [
                    "to": "447700900123", "from_user": "Alice", "conversation_uuid": "CON-1", "uuid": "leg-1",
                ])
            #expect(lines[0].text.contains(",\"flow\":\"answer#3 connect-phone\",\"ncco\":\(answer.text),\"micros\":"))
            #expect((lines[0].members["micros"] as? Int ?? -1) >= 0)
            #expect(lines[1].text.contains(#""n":1.50,"custom_data":{"a":[null]}}"#))
            #expect(lines[2].members["flow"] as? String == "fallback#1 apology")
        }
    }

    @Test func `answers are not recorded where nobody wants them`() throws {
        func adjust(_ settings: inout Settings) { settings.logsAnswers = false }
        try withServer(adjust: adjust) { server throws in
            for _ in 0..<3 { #expect(try server.ask(get("/voice/answer?to=447700900123&from_user=Alice")).status == 200) }
            #expect(try server.ask(post("/voice/event", "{}")).status == 200)
            #expect(try server.stopAndRead().map(\.kind) == ["event"])
        }
    }

    @Test(arguments: Way.allCases)
    func `while events cannot be kept calls are answered, and it ends by itself`(_ way: Way) throws {
        func adjust(_ settings: inout Settings) throws { try Data().write(to: URL(fileURLWithPath: settings.events)) }
        try withServer(way, adjust: adjust) { server throws in
            let client = try server.client()
            let answer = get("/voice/answer?to=447700900123&from_user=Alice")
            for number in 0..<3 {
                let refusal = try client.ask(post("/voice/event", "{\"n\":\(number)}"))
                #expect(refusal.status == 503)
                #expect(refusal["Retry-After"] == "1")
                #expect(try client.ask(answer).status == 200)
            }
            let stranger = try client.ask(get("/health"))
            #expect(stranger.status == 200)
            #expect(stranger.text == "{\"status\":\"degraded\"}\n")
            let admin = try client.ask(get("/health", "Authorization: Bearer \(TestServer.token)\r\n"))
            #expect(admin.text.contains(server.events), "\(admin.text)")

            try FileManager.default.removeItem(atPath: server.events)
            var tries = 0
            while tries < 100, try client.ask(post("/voice/event", "{\"late\":\(tries)}")).status == 503 { tries += 1 }
            #expect(tries < 100)
            #expect(try client.ask(get("/health")).text == "{\"status\":\"ok\"}\n")
            #expect(try client.ask(post("/voice/event", #"{"n":"last"}"#)).status == 200)
            let lines = try server.stopAndRead()
            #expect(lines.filter { $0.kind == "event" }.map { $0.event?.keys.first } == ["late", "n"])
        }
    }

    @Test func `the folder and the files are private`() throws {
        try withServer { server throws in
            #expect(try server.ask(post("/voice/event", "{}")).status == 200)
            func mode(_ path: String) throws -> Int? {
                try (FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
            }
            #expect(try mode(server.events) == 0o700)
            #expect(try mode("\(server.events)/events.jsonl") == 0o600)
        }
    }
}
