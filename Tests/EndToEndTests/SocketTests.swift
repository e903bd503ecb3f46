// SPDX-License-Identifier: MIT
//
// What a peer can do wrong with its socket: send slowly, stop, break off, close one half, never read.

import HTTPServer
import HTTPWire
import Switchboard
import Testing

struct SocketTests {
    private static let answer = get("/voice/answer?to=447700900123&from_user=Alice")
    private static let event = post("/voice/event", #"{"status":"answered","uuid":"u","conversation_uuid":"c"}"#)
    struct Sample: Sendable, CustomTestStringConvertible {
        let name, text: String
        var testDescription: String { name }
        /// One that is answered at once, and one whose answer comes later.
        static let kinds = [Sample(name: "answer", text: answer), Sample(name: "event", text: event)]
        static let forms =
            kinds + [
                Sample(name: "chunked event", text: chunkedPost("/voice/event", [#"{"status""#, ":", #""ringing"}"#])),
                Sample(name: "HTTP/1.0", text: get("/health", version: "1.0")),
                Sample(
                    name: "form behind an empty line",
                    text: "\r\n" + post("/voice/answer", "to=447700900123&from_user=Alice", type: "application/x-www-form-urlencoded")),
            ]
    }

    @Test(arguments: Way.allCases, Sample.forms)
    func `a request that comes byte by byte is answered like any other`(_ way: Way, _ sample: Sample) throws {
        try withServer(way) { server in
            let whole = try server.ask(sample.text)
            let client = try server.client()
            for byte in sample.text.utf8 { try client.send([byte]) }
            let bytewise = try client.read()
            #expect(whole.status == 200)
            #expect(bytewise.status == 200)
            #expect(bytewise.body == whole.body)
        }
    }

    @Test(arguments: Way.allCases, Sample.forms)
    func `a request in two pieces, cut at each byte, is answered like any other`(_ way: Way, _ sample: Sample) throws {
        try withServer(way) { server in
            let whole = try server.ask(sample.text)
            let bytes = Array(sample.text.utf8)
            let clients = try bytes.indices.dropFirst().map { cut in
                let client = try server.client()
                try client.send(Array(bytes[..<cut]))
                return (client, cut)
            }
            // The one event loop has seen the first pieces before it answers this.
            #expect(try server.ask(get("/health")).status == 200)
            for (client, cut) in clients { try client.send(Array(bytes[cut...])) }
            for (client, cut) in clients {
                let answer = try client.read()
                #expect(answer.status == 200, "cut at \(cut)")
                #expect(answer.body == whole.body, "cut at \(cut)")
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `a head or body that stops is answered 408 at its limit`(_ way: Way) throws {
        var limits = Limits()
        limits.headTime = 150
        limits.bodyTime = 150
        try withServer(way, limits: limits) { server in
            for start in [
                "G", "GET /health HTTP/1.1\r\nHost: localhost\r\n", String(Self.event.dropLast(5)),
                chunkedPost("/voice/event", ["{"]).dropLast(5) + "",
            ] {
                let client = try server.client()
                try client.send(start)
                let answer = try client.read()
                #expect(answer.status == 408)
                #expect(answer["Connection"] == "close")
                #expect(answer["Content-Type"] == "application/problem+json")
                client.finish()
                try client.readEnd()
            }
            let silent = try server.client()
            try silent.readEnd()
        }
    }

    @Test(arguments: Way.allCases)
    func `a byte now and then does not extend the limit of a head`(_ way: Way) throws {
        var limits = Limits()
        limits.headTime = 400
        try withServer(way, limits: limits) { server in
            let client = try server.client()
            try client.send("GET /health HTTP/1.1\r\nX-Slow: ")
            var sent = 0
            while sent < 1000, !client.waitForInput(milliseconds: 20) {
                try client.send("x")
                sent += 1
            }
            #expect(sent < 100)
            #expect(try client.read().status == 408)
        }
    }

    @Test(arguments: Way.allCases)
    func `a connection that breaks off in any state harms nobody and is let go`(_ way: Way) throws {
        var limits = Limits()
        limits.body = 4000
        try withServer(way, limits: limits) { server in
            let fields = "Content-Length: 100000\r\n"
            let starts = [
                "", "GET /hea", String(Self.event.dropLast(7)), Self.answer, Self.event, Self.event + Self.answer + Self.event,
                String(repeating: Self.answer, count: 50), "BAD\r\n\r\n" + String(repeating: "x", count: 5000),
                "POST /voice/event HTTP/1.1\r\nHost: h\r\n\(fields)\r\n",
                "POST /voice/event HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n",
            ]
            for start in starts {
                for waits in [false, true] {
                    let client = try server.client()
                    try client.send(start)
                    if waits { _ = client.waitForInput(milliseconds: 20) }
                    client.reset()
                }
            }
            try server.waitUntilAlone()
            #expect(try server.ask(Self.event).status == 200)
        }
    }

    @Test(arguments: Way.allCases)
    func `a client that has closed its half still gets its answers`(_ way: Way) throws {
        try withServer(way) { server in
            for (requests, count) in [([Self.answer], 1), ([Self.event], 1), ([Self.answer, Self.event, Self.event, Self.answer], 4)] {
                let client = try server.client()
                try client.send(requests.joined())
                client.finish()
                for _ in 0..<count { #expect(try client.read().status == 200) }
                try client.readEnd()
            }
            for half in ["GET /health HT", String(Self.event.dropLast())] {
                let client = try server.client()
                try client.send(Self.answer + half)
                client.finish()
                #expect(try client.read().status == 200)
                #expect(try client.read().status == 400)
                try client.readEnd()
            }
            let silent = try server.client()
            silent.finish()
            try silent.readEnd()
            let lines = try server.stopAndRead()
            #expect(lines.count { $0.kind == "event" } == 3)
        }
    }

    @Test(arguments: Way.allCases, Sample.kinds)
    func `a client that pipelines and never reads stops nobody, and is ended by the write limit`(_ way: Way, _ sample: Sample)
        throws
    {
        var limits = Limits()
        limits.writeTime = 300
        func adjust(_ settings: inout Settings) {
            // The kernel keeps a few hundred answers on a Unix domain socket, but ten thousands of the short ones on TCP.
            if sample.name == "event" { settings.server.host = "unix:\(settings.events).socket" }
        }
        try withServer(way, limits: limits, adjust: adjust) { server in
            let greedy = try server.client(receiveBuffer: 4096)
            let block = Array(String(repeating: sample.text, count: 500).utf8)
            var (sent, turns) = (0, 0)
            while turns < 4000, let count = greedy.sendWithoutWaiting(Array(block[(sent % block.count)...])) {
                sent += count
                guard count == 0 else { continue }
                turns += 1
                // The kernel takes no more: others are served meanwhile.
                #expect(try server.ask(Self.answer).status == 200)
                _ = greedy.waitForError(milliseconds: 5)
            }
            #expect(turns < 4000, "the connection should have ended")
            #expect(sent < 100 << 20, "the server should have stopped reading")
            try server.waitUntilAlone()
        }
    }

    @Test(arguments: Way.allCases)
    func `a client that reads late gets all of its answers`(_ way: Way) throws {
        try withServer(way) { server in
            let client = try server.client(receiveBuffer: 4096)
            let count = 12_000
            // More than the kernel's buffers hold, so that answers and requests both wait.
            let sender = try SendingThread(
                client, String(repeating: Self.answer, count: count) + "NO REQUEST\r\n\r\n" + String(repeating: "x", count: 300_000))
            #expect(try server.ask(Self.answer).status == 200)
            for _ in 0..<count { #expect(try client.read().status == 200) }
            #expect(try client.read().status == 400)
            try sender.join()
            client.finish()
            try client.readEnd()
        }
    }

    @Test(arguments: Way.allCases)
    func `pipelined requests are answered in order, whichever answer is ready first`(_ way: Way) throws {
        try withServer(way) { server in
            let numbers = (0..<50).map { "4477009001\(10 + $0)" }
            let client = try server.client()
            try client.send(numbers.map { Self.event + get("/voice/answer?to=\($0)&from_user=Alice") }.joined())
            for number in numbers {
                let event = try client.read()
                #expect(event.status == 200)
                #expect(event.body.isEmpty)
                let answer = try client.read()
                #expect(answer.text.contains("\"\(number)\""))
            }
            #expect(try client.ask(Self.answer).status == 200)
        }
    }

    @Test(arguments: Way.allCases, Sample.kinds)
    func `the first bytes of the next request may come with any request`(_ way: Way, _ sample: Sample) throws {
        try withServer(way) { server in
            let next = Array(get("/health").utf8)
            for cut in next.indices.dropFirst() {
                let client = try server.client()
                try client.send(Array(sample.text.utf8) + next[..<cut])
                #expect(try client.read().status == 200)
                try client.send(Array(next[cut...]))
                #expect(try client.read().text == "{\"status\":\"ok\"}\n")
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `nothing behind a request that is refused is answered`(_ way: Way) throws {
        try withServer(way) { server in
            for first in [Self.answer, Self.event] {
                let client = try server.client()
                try client.send(first + "GET /health HTTP/1.1\r\nHost : x\r\n\r\n" + Self.answer)
                #expect(try client.read().status == 200)
                let refusal = try client.read()
                #expect(refusal.status == 400)
                #expect(refusal["Connection"] == "close")
                client.finish()
                try client.readEnd()
            }
            let client = try server.client()
            try client.send(get("/health", "Connection: close\r\n") + Self.answer)
            #expect(try client.read()["Connection"] == "close")
            client.finish()
            try client.readEnd()
        }
    }

    @Test(arguments: Way.allCases, ["Content-Length: 900000\r\n", "Transfer-Encoding: chunked\r\n"])
    func `the answer to a refused request is not lost to its unread body`(_ way: Way, _ framing: String) throws {
        try withServer(way) { server in
            for _ in 0..<5 {
                let client = try server.client()
                let chunked = framing.hasPrefix("T")
                try client.send("POST /voice/event HTTP/1.1\r\nHost: h\r\n\(framing)\r\n" + (chunked ? "dbba0\r\n" : ""))
                try client.send([UInt8](repeating: 0x20, count: 900_000))
                let answer = try client.read()
                #expect(answer.status == 413)
                #expect(answer["Connection"] == "close")
                client.finish()
                try client.readEnd()
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `a refused client that goes on sending for ever is let go`(_ way: Way) throws {
        try withServer(way) { server in
            let client = try server.client()
            try client.send("POST /voice/event HTTP/1.1\r\nHost: h\r\nContent-Length: 900000000\r\n\r\n")
            let block = [UInt8](repeating: 0x20, count: 64 * 1024)
            var sent = 0
            while sent < 100_000_000, let count = client.sendWithoutWaiting(block) {
                sent += count
                if count == 0 { _ = client.waitForInput(milliseconds: 5) }
            }
            #expect(sent < 100_000_000)
            try server.waitUntilAlone()
        }
    }

    @Test(arguments: Way.allCases)
    func `a body may be as long as the limit and no longer`(_ way: Way) throws {
        var limits = Limits()
        limits.body = 70_000
        try withServer(way, limits: limits) { server in
            func event(_ length: Int) -> String { "{\"x\":\"\(String(repeating: "y", count: length - 8))\"}" }
            let client = try server.client()
            #expect(try client.ask(post("/voice/event", event(70_000))).status == 200)
            #expect(
                try client.ask(
                    chunkedPost("/voice/event", [String(event(70_000).prefix(30_000)), String(event(70_000).dropFirst(30_000))])
                ).status == 200)
            #expect(try server.ask(post("/voice/event", event(70_001))).status == 413)
            #expect(
                try server.ask(
                    chunkedPost("/voice/event", [String(event(70_001).prefix(30_000)), String(event(70_001).dropFirst(30_000))])
                ).status == 413)
            #expect(try server.ask(get("/health", "Content-Length: 99999999999999999999999\r\n")).status == 413)
        }
    }

    @Test(arguments: Way.allCases)
    func `a connection is kept as its version and its wish say`(_ way: Way) throws {
        try withServer(way) { server in
            for request in [Self.answer, Self.event, get("/nowhere"), "HEAD /health HTTP/1.1\r\nHost: h\r\n\r\n"] {
                let kept = try server.client()
                for _ in 0..<3 { #expect(try kept.ask(request)["Connection"] == nil) }
                let last = try kept.ask(request.replacing("\r\nHost", with: "\r\nConnection: Upgrade, CLOSE\r\nHost"))
                #expect(last["Connection"] == "close")
                try kept.readEnd()

                let old = request.replacing(" HTTP/1.1", with: " HTTP/1.0")
                let plain = try server.client()
                #expect(try plain.ask(old)["Connection"] == "close")
                try plain.readEnd()

                let wish = try server.client()
                let asking = old.replacing("\r\nHost", with: "\r\nConnection: keep-alive\r\nHost")
                for _ in 0..<3 { #expect(try wish.ask(asking)["Connection"] == "keep-alive") }
                #expect(try wish.ask(asking).minorVersion == 1)
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `an idle connection is closed at its limit and without a word`(_ way: Way) throws {
        var limits = Limits()
        limits.idleTime = 150
        try withServer(way, limits: limits) { server in
            let client = try server.client()
            #expect(try client.ask(Self.answer).status == 200)
            try client.readEnd()
            #expect(server.server.statistics.timeouts == 1)
        }
    }

    @Test(arguments: Way.allCases)
    func `1100 connections at once are each served, twice`(_ way: Way) throws {
        func adjust(_ settings: inout Settings) { settings.server.workers = 2 }
        try withServer(way, adjust: adjust) { server in
            let clients = try (0..<1100).map { _ in try server.client() }
            for _ in 0..<2 {
                for client in clients { try client.send(Self.answer) }
                for client in clients { #expect(try client.read().status == 200) }
            }
            #expect(server.server.statistics.open == 1100)
            for client in clients { client.close() }
            try server.waitUntilAlone()
        }
    }

    @Test(arguments: Way.allCases)
    func `half-open clients up to the limit keep others waiting only until one goes`(_ way: Way) throws {
        func adjust(_ settings: inout Settings) { settings.server.maxConnections = 10 }
        try withServer(way, adjust: adjust) { server in
            let holders = try (0..<10).map { _ in
                let client = try server.client()
                #expect(try client.ask(Self.answer).status == 200)
                return client
            }
            let waiting = try server.client()
            // With TLS the first byte would wait for the server's greeting.
            if !server.speaksTLS { try waiting.send(Self.answer) }
            #expect(!waiting.waitForInput(milliseconds: 150))
            holders.last?.close()
            #expect(try (server.speaksTLS ? waiting.ask(Self.answer) : waiting.read()).status == 200)
        }
    }

    @Test(arguments: Way.allCases)
    func `a Unix domain socket serves, and its file goes with the server`(_ way: Way) throws {
        try withFolder { folder in
            let path = "\(folder)/s"
            for _ in 0..<2 {
                func adjust(_ settings: inout Settings) { (settings.server.host, settings.server.workers) = ("unix:\(path)", 2) }
                try withServer(way, adjust: adjust) { server throws in
                    #expect(server.server.addresses == ["unix:\(path)"])
                    let clients = try (0..<20).map { _ in try server.client() }
                    for client in clients { #expect(try client.ask(Self.answer).status == 200) }
                    for client in clients { #expect(try client.ask(Self.event).status == 200) }
                    guard !server.speaksTLS else { return }
                    #expect(try HealthProbe(url: "unix:\(path)").ask(milliseconds: 5000) == "{\"status\":\"ok\"}")
                }
                #expect(throws: ClientError.self) { try Client(path: path) }
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `localhost is both loopback addresses on one port`(_ way: Way) throws {
        func adjust(_ settings: inout Settings) { settings.server.host = "localhost" }
        try withServer(way, adjust: adjust) { server in
            #expect(server.server.addresses == ["127.0.0.1:\(server.server.port)", "[::1]:\(server.server.port)"])
            for host in ["127.0.0.1", "::1"] {
                let client = try server.client(host: host)
                #expect(try client.ask(Self.answer).status == 200)
            }
        }
    }
}
