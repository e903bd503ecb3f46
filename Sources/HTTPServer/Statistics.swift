// SPDX-License-Identifier: MIT
//
// Counts without a lock on the way of a request: each worker has its own, and whoever asks adds them up.

import Synchronization

/// What one worker counts. Written by that worker alone, so a count is a plain load and store; read by any thread.
package final class WorkerStatistics: Sendable {
    private let acceptedCount = Atomic<Int>(0)
    private let closedCount = Atomic<Int>(0)
    private let requestCount = Atomic<Int>(0)
    private let refusedCount = Atomic<Int>(0)
    private let timeoutCount = Atomic<Int>(0)
    private let handshakeCount = Atomic<Int>(0)
    private let resumedCount = Atomic<Int>(0)
    private let failedHandshakeCount = Atomic<Int>(0)

    private func count(_ counter: borrowing Atomic<Int>) { counter.store(counter.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

    func accepted() { count(acceptedCount) }
    func closed() { count(closedCount) }
    func requested() { count(requestCount) }
    func refused() { count(refusedCount) }
    func timedOut() { count(timeoutCount) }
    func shook(resumed: Bool) { if resumed { count(resumedCount) } else { count(handshakeCount) } }
    func failedHandshake() { count(failedHandshakeCount) }

    var snapshot: ServerStatistics {
        var snapshot = ServerStatistics()
        snapshot.accepted = acceptedCount.load(ordering: .relaxed)
        snapshot.closed = closedCount.load(ordering: .relaxed)
        snapshot.requests = requestCount.load(ordering: .relaxed)
        snapshot.refused = refusedCount.load(ordering: .relaxed)
        snapshot.timeouts = timeoutCount.load(ordering: .relaxed)
        snapshot.fullHandshakes = handshakeCount.load(ordering: .relaxed)
        snapshot.resumedHandshakes = resumedCount.load(ordering: .relaxed)
        snapshot.failedHandshakes = failedHandshakeCount.load(ordering: .relaxed)
        return snapshot
    }
}

/// Sums over all workers since the start.
package struct ServerStatistics: Sendable, Hashable {
    package var accepted = 0
    package var closed = 0
    package var requests = 0
    /// Bytes that were no request, or a limit that was passed.
    package var refused = 0
    package var timeouts = 0
    /// TLS handshakes with the certificate's signature.
    package var fullHandshakes = 0
    /// TLS handshakes that took up an earlier session.
    package var resumedHandshakes = 0
    /// TLS that ended before the handshake did: no common version or cipher, plain HTTP, garbage, too slow, or gone
    /// after a beginning.
    package var failedHandshakes = 0

    package init() {}

    package var open: Int { max(accepted - closed, 0) }

    static func + (left: ServerStatistics, right: ServerStatistics) -> ServerStatistics {
        var sum = left
        sum.accepted += right.accepted
        sum.closed += right.closed
        sum.requests += right.requests
        sum.refused += right.refused
        sum.timeouts += right.timeouts
        sum.fullHandshakes += right.fullHandshakes
        sum.resumedHandshakes += right.resumedHandshakes
        sum.failedHandshakes += right.failedHandshakes
        return sum
    }
}
