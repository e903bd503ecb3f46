// SPDX-License-Identifier: MIT

import Testing

@testable import Switchboard

struct ReplayPaceTests {
    @Test(arguments: ["", "x", "10", "0x", "-1x", "1e3x", "infx", "nanx", "0.001x", "10001x", "1xx", "MAX", "1..0x"])
    func `what is no speed is refused`(_ text: String) { #expect(ReplayPace(text) == nil) }

    private static let paces: [(String, [Int64])] = [
        ("1x", [0, 3000, 0, 10_000]), ("10x", [0, 300, 0, 10_000]), ("0.5x", [0, 6000, 0, 10_000]), ("max", [0, 0, 0, 0]),
    ]

    @Test(arguments: paces)
    func `waits are as the arrivals lie apart, by the speed, and bounded`(_ speed: String, _ waits: [Int64]) throws {
        var pace = try #require(ReplayPace(speed))
        var now: Int64 = 50
        let arrivals: [Int64] = [1_000_000, 1_003_000, 1_002_000, 99_000_000]
        for (arrival, expected) in zip(arrivals, waits) {
            let wait = pace.wait(forArrival: arrival, now: now)
            #expect(wait == expected)
            now += wait
        }
    }

    @Test func `what a request took is part of the time until the next`() throws {
        var pace = try #require(ReplayPace("1x"))
        #expect(pace.wait(forArrival: 0, now: 0) == 0)
        #expect(pace.wait(forArrival: 1000, now: 400) == 600)
        #expect(pace.wait(forArrival: 2000, now: 3000) == 0)
        #expect(pace.wait(forArrival: 3000, now: 3000) == 1000)
    }

    @Test func `times at the ends of their range trap nothing`() throws {
        var pace = try #require(ReplayPace("0.01x"))
        #expect(pace.wait(forArrival: .min, now: 0) == 0)
        #expect(pace.wait(forArrival: .max, now: 0) == ReplayPace.longest)
        #expect(pace.wait(forArrival: .min, now: 0) == 0)
    }
}
