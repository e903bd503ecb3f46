// SPDX-License-Identifier: MIT
//
// When to say something that may happen thousands of times a second: once in a second, with how often it was not said. What happens last
// may stay unsaid until it happens again; `/metrics` counts all.

import Synchronization

final class SpacedNotice: Sendable {
    private static let gap: Int64 = 1_000_000

    private let next = Atomic<Int64>(.min)
    private let unsaid = Atomic<Int>(0)

    /// How often it was not said since the last time; nil where it is not to be said now.
    ///
    /// - Parameter now: monotonic microseconds.
    func turn(now: Int64) -> Int? {
        let due = next.load(ordering: .relaxed)
        guard now >= due, next.compareExchange(expected: due, desired: now &+ Self.gap, ordering: .relaxed).exchanged else {
            unsaid.add(1, ordering: .relaxed)
            return nil
        }
        return unsaid.exchange(0, ordering: .relaxed)
    }
}
