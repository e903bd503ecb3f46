// SPDX-License-Identifier: MIT

import Testing

@testable import HTTPServer

struct StatisticsTests {
    @Test func `sums are over all workers`() {
        let workers = [WorkerStatistics(), WorkerStatistics()]
        for worker in workers {
            for _ in 0..<3 { worker.accepted() }
            worker.closed()
            for _ in 0..<5 { worker.requested() }
            worker.refused()
            worker.timedOut()
        }
        let sum = workers.reduce(ServerStatistics()) { $0 + $1.snapshot }
        #expect((sum.accepted, sum.closed, sum.open) == (6, 2, 4))
        #expect((sum.requests, sum.refused, sum.timeouts) == (10, 2, 2))
    }

    @Test func `the clock goes forward and knows the century`() {
        let first = Clock.system.monotonic()
        #expect(Clock.system.monotonic() >= first)
        #expect(Clock.system.wall() > 1_700_000_000_000)
    }
}
