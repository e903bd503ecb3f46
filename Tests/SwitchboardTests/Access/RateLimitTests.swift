// SPDX-License-Identifier: MIT

import Testing

@testable import Switchboard

struct RateLimitTests {
    @Test(
        arguments: [
            ("600/min", "600/min"), ("3/s", "3/s"), ("3/sec", "3/s"), ("3/second", "3/s"), ("1/m", "1/min"), ("10/minute", "10/min"),
            ("100/h", "100/h"), ("100/hour", "100/h"), ("1000/d", "1000/d"), ("5/day", "5/d"), ("1000/s", "1000/s"), ("007/s", "7/s"),
        ])
    func `a limit is read and printed`(_ text: String, _ printed: String) throws {
        let limit = try #require(RateLimit(text))
        #expect(limit.description == printed)
        #expect(RateLimit(limit.description) == limit)
    }

    @Test(arguments: [
        "", "/", "600", "0/s", "-1/s", "+1/s", "1001/s", "60001/min", "3/", "/s", "3/S", "3/ms", "3 /s", "3/ s", " 3/s", "3/s/s", "3.5/s",
        "99999999999999999999/s", "٣/s", "3／s", "1e3/s",
    ])
    func `what is no limit is refused`(_ text: String) { #expect(RateLimit(text) == nil) }

    @Test func `a count that is out of range is cut where it is asked for`() {
        #expect(RateLimit(clamping: 0, per: .second) == RateLimit(1, per: .second))
        #expect(RateLimit(clamping: 2000, per: .second) == RateLimit(1000, per: .second))
        #expect(RateLimit(clamping: 600, per: .minute) == RateLimit(600, per: .minute))
    }

    @Test func `a number alone has the period that is said`() {
        #expect(RateLimit("600", bare: .minute) == RateLimit(600, per: .minute))
        #expect(RateLimit("600/s", bare: .minute) == RateLimit(600, per: .second))
        #expect(RateLimit("0", bare: .minute) == nil)
        #expect(RateLimit("600/", bare: .minute) == nil)
    }
}

struct RateLimiterTests {
    private func limit(_ text: String) throws -> RateLimit { try #require(RateLimit(text)) }

    @Test func `a burst goes through, then one for each step, and who is refused is told exactly when`() throws {
        let limiter = RateLimiter(try limit("10/min"))
        var now: Int64 = 123_456_789
        for _ in 0..<10 { #expect(limiter.take("a", now: now) == nil) }
        let wait = try #require(limiter.take("a", now: now))
        #expect(wait == 6_000_000)
        #expect(limiter.take("a", now: now) == wait, "a refusal counts nothing")
        #expect(limiter.take("b", now: now) == nil, "others are not meant")
        #expect(limiter.take("a", now: now + wait - 4) != nil)
        now += wait
        #expect(limiter.take("a", now: now) == nil)
        #expect(limiter.take("a", now: now) == wait)
        now += 60_000_000
        for _ in 0..<10 { #expect(limiter.take("a", now: now) == nil) }
        #expect(limiter.take("a", now: now) != nil)
    }

    @Test func `with a burst of one they are evenly spaced`() throws {
        let limiter = RateLimiter(try limit("3/s"), burst: 1)
        var (now, passed): (Int64, [Int64]) = (0, [])
        while now < 10_000_000 {
            if limiter.take(0, now: now) == nil { passed.append(now) }
            now += 1000
        }
        #expect((29...30).contains(passed.count))
        #expect(zip(passed, passed.dropFirst()).allSatisfy { $1 - $0 >= 333_332 })
    }

    /// In no stretch of time more than its share and one burst.
    @Test(arguments: 0..<20) func `whatever the times, no more go through than the rate and one burst`(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let limit = try limit(["3/s", "10/min", "600/min", "100/h"].randomElement(using: &random) ?? "3/s")
        let limiter = RateLimiter(limit)
        let step = limit.microseconds / Int64(limit.count)
        var (now, passed): (Int64, [Int64]) = (Int64.random(in: 0...1 << 50, using: &random), [])
        for _ in 0..<3000 {
            now += Int64.random(in: 0...(Bool.random(using: &random) ? step : step / 10), using: &random)
            if limiter.take(seed, now: now) == nil { passed.append(now) }
        }
        #expect(passed.count >= limit.count)
        for (first, start) in passed.enumerated() {
            for last in stride(from: first, to: passed.count, by: 7) {
                // The unit of time is 4 µs, each.
                let most = Int64(limit.count) + (passed[last] - start + 4 * Int64(last - first + 1)) / step + 1
                #expect(Int64(last - first + 1) <= most)
            }
        }
    }

    @Test func `a crowd of keys is bounded, and shuts out nobody`() throws {
        let limiter = RateLimiter(try limit("2/min"), keys: 64)
        for key in 0..<100_000 { #expect(limiter.take(key, now: 1_000_000) == nil) }
        #expect(limiter.take("somebody", now: 1_000_000) == nil)
    }

    @Test func `many at once count together`() async throws {
        let limiter = RateLimiter(try limit("1000/min"))
        let passed = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { (0..<500).count { _ in limiter.take("key", now: 5_000_000) == nil } } }
            return await group.reduce(0, +)
        }
        #expect(passed == 1000)
    }

    @Test func `the time comes round`() throws {
        let limiter = RateLimiter(try limit("2/s"))
        let round: Int64 = 4 << 44
        for now in [round - 1000, round, round + 1000, 2 * round - 1_000_000_000] {
            let wait = limiter.take("a", now: now)
            #expect((wait == nil) == (now != round + 1000), "\(now)")
        }
    }

    @Test(arguments: [(0, 1), (1, 1), (1_000_000, 1), (1_000_001, 2), (6_000_000, 6)] as [(Int64, Int64)])
    func `seconds are rounded up`(_ microseconds: Int64, _ seconds: Int64) {
        #expect(retryAfter(microseconds: microseconds) == seconds)
    }
}
