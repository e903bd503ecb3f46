// SPDX-License-Identifier: MIT
//
// The promise: an event that was answered 200 is there after `kill -9`. Four clients post numbered events as fast as they are answered, and the
// process is killed after a random number of answers; the same folder is used again and again.

import Dispatch
import Foundation
import Locking
import Testing

struct KillTests {
    private static let clients = 4
    private static let rounds = 8

    /// What the clients know.
    private final class Ledger: Sendable {
        private struct State {
            var sent: Set<String> = []
            var acknowledged: Set<String> = []
        }
        private let state = Locked(State())
        let progress = DispatchSemaphore(value: 0)

        func willSend(_ id: String) { state.withLock { _ = $0.sent.insert(id) } }
        func acknowledge(_ id: String) {
            state.withLock { _ = $0.acknowledged.insert(id) }
            progress.signal()
        }
        var sent: Set<String> { state.withLock { $0.sent } }
        var acknowledged: Set<String> { state.withLock { $0.acknowledged } }
    }

    private static func event(_ id: String) -> String {
        #"{"uuid":"\#(id)","status":"answered","padding":"\#(String(repeating: id, count: 20))"}"#
    }

    @Test func `each event that was answered is kept once and whole, however often the process is killed`() throws {
        let ledger = Ledger()
        try withFolder { folder in
            for round in 0..<Self.rounds {
                try withProcess(folder: folder) { server throws in
                    let port = server.port
                    let threads = DispatchGroup()
                    for thread in 0..<Self.clients {
                        DispatchQueue(label: "client-\(thread)").async(group: threads) {
                            guard let client = try? Client(port: port) else { return }
                            for number in 0..<100_000 {
                                let id = "\(round)-\(thread)-\(number)"
                                ledger.willSend(id)
                                guard let answer = try? client.ask(post("/voice/event", Self.event(id))), answer.status == 200 else {
                                    return
                                }
                                ledger.acknowledge(id)
                            }
                        }
                    }
                    for _ in 0..<Int.random(in: 1...200) { #expect(ledger.progress.wait(timeout: .now() + .seconds(60)) == .success) }
                    server.signal(SIGKILL)
                    #expect(try server.wait().status == 128 + SIGKILL)
                    threads.wait()
                }
            }
            try withProcess(folder: folder) { server throws in
                #expect(try server.ask(post("/voice/event", Self.event("last"))).status == 200)
                server.signal(SIGTERM)
                #expect(try server.wait().status == 0)
            }
            let kept = try records(in: folder)
            let ids = kept.compactMap { $0.members["leg"] as? String }
            #expect(ids.count == kept.count)
            #expect(Set(ids).count == ids.count, "an event is kept twice")
            #expect(ledger.acknowledged.subtracting(ids).isEmpty, "an answered event is lost")
            #expect(Set(ids).subtracting(ledger.sent) == ["last"])
            for (record, id) in zip(kept, ids) { #expect(record.text.contains(",\"event\":\(Self.event(id)),\"crc\":")) }
            #expect(ledger.acknowledged.count >= Self.rounds)
        }
    }
}
