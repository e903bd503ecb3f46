// SPDX-License-Identifier: MIT

import Testing

@testable import Switchboard

struct StatisticsTests {
    @Test func `a bucket holds its bounds and is 6 % wide at most`() {
        for index in 1..<LatencyBucket.count {
            let (before, last) = (LatencyBucket.upperBound(index - 1), LatencyBucket.upperBound(index))
            #expect(LatencyBucket.index(before + 1) == index)
            #expect(LatencyBucket.index(last) == index)
            #expect(last - before - 1 <= (before + 1) / 16, "\(index)")
        }
        #expect(LatencyBucket.index(-1) == 0)
        #expect(LatencyBucket.index(.max) == LatencyBucket.count - 1)
    }

    private func counts(_ micros: [Int64]) -> LatencyCounts {
        let recorder = LatencyRecorder()
        for (place, time) in micros.enumerated() { if place % 2 == 0 { recorder.count(time) } else { recorder.add(time) } }
        var counts = LatencyCounts()
        counts.add(recorder)
        return counts
    }

    @Test func `a share of times is found within their precision`() {
        let some = counts((1...1000).map { Int64($0) * 100 })
        #expect(some.count == 1000)
        #expect((99_000...105_000).contains(some.quantile(0.99)))
        #expect((50_000...53_200).contains(some.quantile(0.5)))
        #expect((100_000...106_300).contains(some.worst))
        #expect(counts([.max, .max]).worst == 33_554_431)
        #expect(counts([]).quantile(0.99) == 0 && counts([]).worst == 0)
        let more = some.since(counts((1...999).map { Int64($0) * 100 }))
        #expect(more.count == 1 && more.worst == some.worst)
    }

    private func snapshot(_ second: Int64, answers: [Int64] = [], events: [Int64] = []) -> StatisticsSnapshot {
        var snapshot = StatisticsSnapshot(time: second * 1_000_000, wall: second * 1000, connections: Int(second))
        (snapshot.answers, snapshot.events) = (counts(answers), counts(events))
        return snapshot
    }

    @Test func `minutes are kept for an hour, the oldest first`() throws {
        let history = StatisticsHistory(snapshot(0))
        for second in stride(from: 5, through: 70 * 60, by: 5) {
            history.add(
                snapshot(Int64(second), answers: .init(repeating: 10, count: second), events: .init(repeating: 500, count: second / 60)))
        }
        #expect(history.minutes.count == 60)
        #expect(history.minutes.map(\.at) == (10..<70).map { $0 * 60_000 })
        #expect(
            history.minutes.allSatisfy { $0.answers == 60 && $0.events == 1 && $0.answerP99 == 10 && (500...531).contains($0.eventP99) })
        #expect(history.minutes.last?.connections == 4200)
    }

    @Test func `what is now has come in the last seconds`() {
        let history = StatisticsHistory(snapshot(0))
        let early = history.recent(snapshot(2, answers: [7, 7, 7, 7]))
        #expect(early.answersPerSecond == 2 && early.answerP99 == 7 && early.eventP99 == 0)
        history.add(snapshot(5, answers: [7, 7, 7, 7]))
        history.add(snapshot(10, answers: [7, 7, 7, 7, 9]))
        let now = history.recent(snapshot(13, answers: [7, 7, 7, 7, 9, 3], events: [4]))
        #expect(now.answersPerSecond == 0.25 && now.eventsPerSecond == 0.125)
        #expect(now.answerWorst == 9 && now.eventP99 == 4)
    }

    @Test func `answers are timed by the worker, events by the log`() throws {
        let bench = try HandlerBench()
        _ = try bench.reply("GET /voice/answer?to=447700900123&from_user=A HTTP/1.1\r\nHost: h\r\n\r\n")
        _ = try bench.reply("HEAD /voice/answer HTTP/1.1\r\nHost: h\r\n\r\n")
        let (ticket, _) = try bench.reply(post("/voice/event", #"{"status":"started"}"#))
        _ = bench.handler.flush(now: 0)
        _ = try bench.wait(for: ticket)
        #expect(bench.application.snapshot.answers.count == 1)
        #expect(bench.application.snapshot.events.count == 1)
    }

    @Test func `a look at the disk is begun once at a time`() {
        var look = DiskLook()
        let both = [look.begin(), look.begin()]
        look.end(DiskUse(free: 1, log: 2))
        let next = look.begin()
        #expect(both == [true, false] && next && look.use.log == 2)
    }
}
