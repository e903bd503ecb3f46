// SPDX-License-Identifier: MIT

import Foundation
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct SignalTests {
    private let event = post("/voice/event", #"{"status":"answered"}"#)

    /// Returns once the server takes no new connection.
    private func waitUntilClosed(_ server: ServerProcess, pausing client: Client) throws {
        for _ in 0..<1000 {
            guard (try? server.client()) != nil else { return }
            _ = client.waitForInput(milliseconds: 5)
        }
        throw ClientError(description: "the server still listens")
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a stop closes idle connections and ends well, and soon`(_ number: Int32) throws {
        try withProcess(["--grace", "10m"]) { server in
            let clients = try (0..<5).map { _ in try server.client() }
            for client in clients { #expect(try client.ask(event).status == 200) }
            let silent = try server.client()
            server.signal(number)
            for client in clients + [silent] { try client.readEnd() }
            let end = try server.wait()
            #expect(end.status == 0)
            #expect(end.errors == ServerProcess.openWarning)
        }
    }

    @Test func `a request that was half sent is answered before the end`() throws {
        try withFolder { folder in
            try withProcess(["--grace", "60s"], folder: folder) { server in
                let client = try server.client()
                try client.send(String(event.dropLast(4)))
                server.signal(SIGTERM)
                try waitUntilClosed(server, pausing: client)
                try client.send(String(event.suffix(4)))
                let answer = try client.read()
                #expect(answer.status == 200)
                #expect(answer["Connection"] == "close")
                try client.readEnd()
                #expect(try server.wait().status == 0)
            }
            #expect(try records(in: folder).map(\.kind) == ["event"])
        }
    }

    @Test func `who never finishes a request is cut off at the end of the grace`() throws {
        try withProcess(["--grace", "2s"]) { server in
            let client = try server.client()
            try client.send("GET /heal")
            server.signal(SIGTERM)
            try client.readEnd()
            #expect(try server.wait().status == 0)
        }
    }

    @Test func `events in flight are kept and answered`() throws {
        try withFolder { folder in
            let kept = try withProcess(["--grace", "60s"], folder: folder) { server in
                let clients = try (0..<40).map { _ in try server.client() }
                for (index, client) in clients.enumerated() { try client.send(post("/voice/event", "{\"n\":\(index)}")) }
                server.signal(SIGTERM)
                for client in clients {
                    #expect(try client.read().status == 200)
                    try client.readEnd()
                }
                #expect(try server.wait().status == 0)
                return clients.count
            }
            let numbers = try records(in: folder).compactMap { $0.event?["n"] as? Int }
            #expect(Set(numbers) == Set(0..<kept))
            #expect(numbers.count == kept)
        }
    }

    @Test func `clients that wait to be accepted are answered`() throws {
        try withProcess(["--grace", "60s"]) { server in
            #expect(try server.ask(get("/health")).status == 200)
            server.signal(SIGSTOP)
            let clients = try (0..<40).map { index in
                let client = try server.client()
                try client.send(index % 2 == 0 ? event : get("/voice/answer?to=447700900123&from_user=Alice"))
                return client
            }
            server.signal(SIGTERM)
            server.signal(SIGCONT)
            for client in clients {
                #expect(try client.read().status == 200)
                try client.readEnd()
            }
            #expect(try server.wait().status == 0)
        }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a second signal ends at once`(_ number: Int32) throws {
        try withProcess(["--grace", "10m"]) { server in
            let client = try server.client()
            try client.send("GET /heal")
            server.signal(SIGTERM)
            try waitUntilClosed(server, pausing: client)
            server.signal(number)
            #expect(try server.wait().status == 128 + number)
        }
    }

    #if os(Linux)
        @Test func `a hang-up opens the log anew where no terminal was closed`() throws {
            // A session of its own has no controlling terminal. No shell waits: signals are blocked on the thread that the tests run on.
            let session = #"exec setsid --wait sh -c 'echo "pid $$"; exec "$0" "$@"' "$0" "$@""#
            try withFolder { folder in
                try withProcess(folder: folder, shell: session) { server in
                    let client = try server.client()
                    for _ in 0..<3 { #expect(try client.ask(event).status == 200) }
                    let (current, moved) = ("\(folder)/events.jsonl", "\(folder)/events-moved.jsonl")
                    try FileManager.default.moveItem(atPath: current, toPath: moved)
                    #expect(try client.ask(event).status == 200)
                    #expect(!FileManager.default.fileExists(atPath: current))
                    server.signal(SIGHUP)
                    var posted = 0
                    while posted < 5000, !FileManager.default.fileExists(atPath: current) {
                        #expect(try client.ask(event).status == 200)
                        posted += 1
                    }
                    #expect(try client.ask(event).status == 200)
                    server.signal(SIGTERM)
                    #expect(try server.wait().status == 0)
                    #expect(try records(in: folder).count == 5 + posted)
                    #expect(try Data(contentsOf: URL(fileURLWithPath: current)).count > 0)
                    #expect(try String(contentsOfFile: moved, encoding: .utf8).split(separator: "\n").count >= 4)
                }
            }
        }
    #endif
}
