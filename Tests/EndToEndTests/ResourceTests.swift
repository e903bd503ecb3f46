// SPDX-License-Identifier: MIT
//
// What must not run out: descriptors, memory, processor time. Measured from outside, in a process that serves nothing else.

#if os(Linux)
    import Foundation
    import Testing

    struct ResourceTests {
        private let answer = get("/voice/answer?to=447700900123&from_user=Alice")

        @Test(arguments: ["epoll", "dispatch"], [[], ["--max-connections", "1000"]])
        func `with 64 descriptors 200 clients are served one after the other`(_ poller: String, _ flags: [String]) throws {
            let shell = #"ulimit -n 64; exec "$0" "$@""#
            try withProcess(["--poller", poller, "--workers", "1"] + flags, shell: shell) { server in
                let clients = try (0..<200).map { _ in
                    let client = try server.client()
                    try client.send(answer)
                    return client
                }
                #expect(try clients[0].read().status == 200)
                let last = clients[clients.count - 1]
                let rests = rests(server, ticks: 15) {
                    #expect(!last.waitForInput(milliseconds: 500), "there should be no descriptor left for the last one")
                }
                #expect(rests, "the listener spins")
                #expect(try clients[0].ask(post("/voice/event", "{}")).status == 200)
                clients[0].close()
                for client in clients.dropFirst() {
                    #expect(try client.read().status == 200)
                    client.close()
                }
                for _ in 0..<3 { #expect(try server.ask(answer).status == 200) }
            }
        }

        // Few with Dispatch: on Linux its own tables do not always survive many (swift-corelibs-libdispatch, issue 949).
        @Test(arguments: [("epoll", 10_000), ("dispatch", 200)])
        func `connections that break off leave no descriptor behind`(_ poller: String, _ count: Int) throws {
            try withProcess(["--poller", poller]) { server in
                let witness = try server.client()
                func pause() throws {
                    #expect(try witness.ask(answer).status == 200)
                    _ = witness.waitForInput(milliseconds: 5)
                }
                let starts = [
                    "", "GET /health HT", post("/voice/event", "{}"), answer, String(post("/voice/event", "{}").dropLast()), "NO\r\n\r\n",
                ].map { Array($0.utf8) }
                try pause()
                let before = server.socketCount
                #expect(before > 0)
                for number in 0..<count {
                    let client = try server.client()
                    try? client.send(starts[number % starts.count])
                    client.reset()
                }
                for _ in 0..<2000 where server.socketCount > before { try pause() }
                #expect(server.socketCount == before)
            }
        }

        @Test(arguments: ["epoll", "dispatch"])
        func `clients that pipeline and never read cost little memory`(_ poller: String) throws {
            try withProcess(["--poller", poller, "--write-timeout", "500ms", "--log-answers", "none", "--workers", "1"]) { server in
                #expect(try server.ask(answer).status == 200)
                let before = server.peakMemory
                let block = Array(String(repeating: answer, count: 500).utf8)
                var greedy = try (0..<16).map { _ in (client: try Client(port: server.port, receiveBuffer: 4096), sent: 0) }
                var turns = 0
                while !greedy.isEmpty, turns < 4000 {
                    for index in greedy.indices.reversed() {
                        let (client, sent) = greedy[index]
                        if let count = client.sendWithoutWaiting(Array(block[(sent % block.count)...])) {
                            greedy[index].sent += count
                        } else {
                            greedy.remove(at: index)
                        }
                    }
                    turns += 1
                    #expect(try server.ask(answer).status == 200)
                }
                #expect(greedy.isEmpty, "all of them should have been ended")
                // The address sanitizer's own bookkeeping counts as the process's.
                let allowed = ProcessInfo.processInfo.environment["ASAN_OPTIONS"] == nil ? 48 * 1024 : 192 * 1024
                #expect(server.peakMemory - before < allowed, "KiB")
            }
        }

        @Test func `an idle server uses no processor time`() throws {
            try withProcess { server in
                let client = try server.client()
                #expect(try client.ask(answer).status == 200)
                #expect(try client.ask(post("/voice/event", "{}")).status == 200)
                let rests = rests(server, ticks: 5) { #expect(!client.waitForInput(milliseconds: 1500)) }
                #expect(rests)
            }
        }

        /// Whether a wait costs the server so many ticks (10 ms) at most, in one of four tries: on a busy machine one may catch work that was put
        /// off, and who spins does so in all of them.
        private func rests(_ server: ServerProcess, ticks: Int, during wait: () -> Void) -> Bool {
            (0..<4).contains { _ in
                let before = server.ticks
                wait()
                return server.ticks - before <= ticks
            }
        }
    }
#endif
