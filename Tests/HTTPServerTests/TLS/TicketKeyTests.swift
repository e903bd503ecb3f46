// SPDX-License-Identifier: MIT

import Synchronization
import Testing

@testable import HTTPServer

/// A clock that stands until it is told.
final class TestTime: Sendable {
    private let micros = Atomic<Int64>(0)

    var clock: Clock { Clock(monotonic: { self.micros.load(ordering: .relaxed) }, wall: { 1_796_000_000_000 }) }

    func pass(seconds: Int64) { micros.add(seconds * 1_000_000, ordering: .relaxed) }
}

struct TicketKeyTests {
    @Test func `a key makes tickets for its time, reads them for as long again, and is forgotten`() throws {
        let time = TestTime()
        let keys = TicketKeys(clock: time.clock)
        let first = try #require(keys.current())
        time.pass(seconds: TicketKeys.period - 1)
        #expect(keys.current() === first && keys.key(named: first.name)?.isCurrent == true)
        time.pass(seconds: 1)
        let second = try #require(keys.current())
        #expect(second !== first && keys.key(named: first.name)?.isCurrent == false)
        #expect(keys.key(named: first.name)?.key === first && keys.key(named: second.name)?.isCurrent == true)
        time.pass(seconds: TicketKeys.period)
        #expect(keys.key(named: first.name) == nil && keys.key(named: second.name)?.isCurrent == false)
    }

    @Test func `after a long silence no old key is good`() throws {
        let time = TestTime()
        let keys = TicketKeys(clock: time.clock)
        let first = try #require(keys.current())
        time.pass(seconds: 2 * TicketKeys.period)
        #expect(keys.key(named: first.name) == nil)
    }

    @Test func `no two keys are alike, and no part of one is like another`() throws {
        let keys = try (0..<50).map { _ in try #require(TicketKey()) }
        let parts = keys.flatMap { [Array($0.name), Array($0.cipher.prefix(16)), Array($0.mac.prefix(16))] }
        #expect(Set(parts).count == parts.count && parts.allSatisfy { $0.count == 16 })
        #expect(keys[0].cipher.count == 32 && keys[0].mac.count == 32)
    }

    @Test func `a name of nobody's is no key`() {
        let name: [UInt8] = Array(repeating: 0, count: 16)
        let found = name.withUnsafeBytes { TicketKeys().key(named: $0) != nil }
        #expect(!found)
    }
}
