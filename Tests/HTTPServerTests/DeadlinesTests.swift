// SPDX-License-Identifier: MIT

import Testing

@testable import HTTPServer

struct DeadlinesTests {
    /// Numbers that look random and are the same in each run.
    private struct Sequence: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 16 ^ state << 48
        }
    }

    @Test func `each item runs out at its deadline, however often that moved`() {
        var random = Sequence(state: 7)
        var deadlines = Deadlines()
        let items = (0..<50).map { _ in Timed() }
        var now: Int64 = 0
        for _ in 0..<5000 {
            now += .random(in: 0...5, using: &random)
            let item = items[.random(in: 0..<items.count, using: &random)]
            switch Int.random(in: 0..<4, using: &random) {
            case 0: item.deadline = .max
            case 1:
                deadlines.remove(item)
                item.deadline = .max
            default:
                item.deadline = now + .random(in: 1...100, using: &random)
                deadlines.watch(item)
            }
            #expect(deadlines.next <= items.map(\.deadline).min() ?? .max)
            var due = items.filter { $0.deadline <= now }.count
            while let item = deadlines.expired(now) {
                #expect(item.deadline <= now)
                item.deadline = .max
                due -= 1
            }
            #expect(due == 0)
        }
    }

    @Test func `a deadline that moves back costs an early look, and one that has gone none`() {
        var deadlines = Deadlines()
        let item = Timed()
        item.deadline = 10
        deadlines.watch(item)
        item.deadline = 30
        deadlines.watch(item)
        #expect(deadlines.next == 10)
        #expect(deadlines.expired(10) == nil)
        #expect(deadlines.next == 30)
        item.deadline = 20
        deadlines.watch(item)
        #expect(deadlines.next == 20)
        item.deadline = .max
        #expect(deadlines.expired(20) == nil)
        #expect(deadlines.next == .max)
    }
}
