// SPDX-License-Identifier: MIT
//
// Whatever happens to events on their way, the calls are the same: made-up calls are mixed, sent twice and out of order, cut over files of
// several starts, and compared with what the events say in order.

import Foundation
import Testing

@testable import Switchboard

struct CallBookPropertyTests {
    /// All calls of a book, without what hangs on when records came: their numbers, arrivals and repeats.
    private func calls(_ book: CallBook, plain: Bool = false) -> [Call] {
        var (book, calls) = (book, [Call]())
        book.drain { calls.append($0) }
        return calls.sorted { $0.conversationUUID < $1.conversationUUID }.map { call in
            guard plain else { return call }
            var call = call
            (call.firstSeq, call.lastSeq) = (0, 0)
            call.steps = call.steps.map { step in
                var step = step
                (step.seq, step.at, step.repeats) = (0, 0, 0)
                step.about = step.about.map { _ in 0 }
                return step
            }
            return call
        }
    }

    @Test(arguments: UInt64(1)...40) func `events out of order and sent again give the calls of the ordered ones`(_ seed: UInt64) throws {
        var random = CallGenerator(state: seed)
        let arrivals = (0..<12).flatMap { _ in random.call() }
        var ordered = CallBook()
        for (index, arrival) in arrivals.enumerated() {
            ordered.add(try #require(arrival.record(UInt64(index + 1), at: arrival.time ?? 0)))
        }
        let expected = calls(ordered, plain: true)
        #expect(expected.count >= 12)

        let again = arrivals.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
        let mixed = (arrivals + again).shuffled(using: &random)
        var book = CallBook()
        var last = Arrival.noon
        for (index, arrival) in mixed.enumerated() {
            last += Int64.random(in: 0..<50, using: &random)
            book.add(try #require(arrival.record(UInt64(index + 1), at: last)))
        }
        let found = calls(book)
        #expect(calls(book, plain: true) == expected)
        #expect(found.flatMap(\.steps).map { $0.repeats }.reduce(0, +) >= again.count)
    }

    @Test(arguments: UInt64(1)...20) func `the same records give equal calls in whatever order, and read twice`(_ seed: UInt64) throws {
        var random = CallGenerator(state: seed &+ 1000)
        let arrivals = (0..<8).flatMap { _ in random.call() }
        let mixed = (arrivals + arrivals.prefix(20)).shuffled(using: &random)
        var records: [CallRecord] = []
        for (index, arrival) in mixed.enumerated() {
            records.append(try #require(arrival.record(UInt64(index + 1), at: Arrival.noon + Int64(index))))
        }
        var one = CallBook()
        for record in records { one.add(record) }
        // Files of several starts, read in any order, the end of each once more.
        var other = CallBook()
        var parts: [[CallRecord]] = []
        var rest = records[...]
        while !rest.isEmpty {
            let part = rest.prefix(Int.random(in: 1...30, using: &random))
            parts.append(Array(part))
            rest = rest.dropFirst(part.count)
        }
        for part in parts.shuffled(using: &random) {
            for record in part.shuffled(using: &random) + part.suffix(3) { other.add(record) }
        }
        #expect(calls(one) == calls(other))
        #expect(calls(one).contains { $0.steps.contains { $0.repeats > 0 } })
    }

    @Test(arguments: UInt64(1)...20) func `bytes of any sort trap nothing and steer no terminal`(_ seed: UInt64) throws {
        var random = CallGenerator(state: seed &+ 2000)
        var book = CallBook()
        var parsed = 0
        for (index, arrival) in (0..<20).flatMap({ _ in random.call() }).enumerated() {
            var line = try #require(arrival.record(UInt64(index + 1), at: Arrival.noon)).line
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<line.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: line[place] = UInt8.random(in: 0...255, using: &random)
                case 1: line.remove(at: place)
                case 2: line.insert(contentsOf: [UInt8]("\"{[,:\\\u{1B}".utf8).shuffled(using: &random).prefix(1), at: place)
                default: line.removeSubrange(place...)
                }
                if line.isEmpty { line = [0x7B] }
            }
            guard let record = CallRecord(line) else { continue }
            parsed += 1
            book.add(record)
            var shown = Array(record.line().utf8)
            record.appendJSON(to: &shown)
            #expect(!shown.contains { $0 < 0x20 || $0 == 0x7F })
        }
        #expect(parsed > 20)
        book.drain { call in
            var shown = Array((call.line() + call.timeline().joined()).utf8)
            call.appendJSON(to: &shown)
            #expect(!shown.contains { $0 < 0x20 || $0 == 0x7F })
        }
    }
}
