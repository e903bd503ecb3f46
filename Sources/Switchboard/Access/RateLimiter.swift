// SPDX-License-Identifier: MIT
//
// Keeps a rate limit for each of many keys, for all workers together and without a lock. It is the generic cell rate algorithm (ATM Forum,
// Traffic Management 4.0, §4.4.2): of each key one moment is kept, by which all that it did would have been done at the even rate; who is
// further ahead of now than the burst allows waits.
//
// The table has a fixed size, so that no crowd of keys can fill the memory: sets of eight cells, each one word with a tag of the key and that
// moment, changed by compare and exchange. A key whose moment has passed is as good as unknown, and its cell is free. In a set without a
// free cell the key that is nearest to being forgotten gives way: a crowd can make the limit forget somebody, but can shut out nobody.

import Synchronization

package final class RateLimiter: Sendable {
    private static let cellsInASet = 8
    /// A cell: 20 bits of tag above 44 bits of time in units of 4 µs, which come round after 2.2 years.
    private static let timeMask: UInt64 = (1 << 44) - 1
    private static let unit: Int64 = 4
    /// Only a cell that other workers change all the time makes it try again.
    private static let mostTries = 64

    private final class CellSet: Sendable {
        let cells = InlineArray<8, Atomic<UInt64>> { _ in Atomic(0) }
    }

    package let limit: RateLimit
    private let sets: [CellSet]
    /// How far one time moves a key ahead, and how far ahead it may be, in units.
    private let step: UInt64
    private let burst: UInt64

    /// - Parameters:
    ///   - burst: how many may come at once after a pause; as many as the limit has in its period unless given. With 1 they are evenly spaced.
    ///   - keys: how many are told apart at a time, rounded up; each takes 8 bytes.
    package init(_ limit: RateLimit, burst: Int? = nil, keys: Int = 8192) {
        self.limit = limit
        step = UInt64(limit.microseconds / Self.unit) / UInt64(limit.count)
        self.burst = step * UInt64(min(max(burst ?? limit.count, 1), limit.count))
        var count = 1
        while count * Self.cellsInASet < min(max(keys, 1), 1 << 20) { count *= 2 }
        sets = (0..<count).map { _ in CellSet() }
    }

    /// Counts one time for a key, if it has one left.
    ///
    /// - Parameters:
    ///   - key: hashed with a seed of this process, so nobody can choose keys that share a cell.
    ///   - now: monotonic microseconds.
    /// - Returns: nil where it may go on; else after how many microseconds it may, and nothing was counted.
    package func take(_ key: some Hashable, now: Int64) -> Int64? {
        var hasher = Hasher()
        hasher.combine(key)
        let hash = UInt64(truncatingIfNeeded: hasher.finalize())
        let tag = hash & ~Self.timeMask
        let set = sets[Int(truncatingIfNeeded: hash & UInt64(sets.count - 1))]
        let time = UInt64(truncatingIfNeeded: now / Self.unit)
        for _ in 0..<Self.mostTries {
            let (index, cell) = Self.cell(of: tag, in: set, time, burst)
            let ahead = cell & ~Self.timeMask == tag ? self.ahead(cell, time) : 0
            guard ahead + step <= burst else { return Int64(ahead + step - burst) * Self.unit }
            let new = tag | ((time &+ ahead &+ step) & Self.timeMask)
            if set.cells[index].compareExchange(expected: cell, desired: new, ordering: .relaxed).exchanged { return nil }
        }
        return Int64(step) * Self.unit
    }

    private func ahead(_ cell: UInt64, _ time: UInt64) -> UInt64 { Self.ahead(cell, time, burst) }

    /// How far the moment of a cell is ahead of now; 0 where it has passed. No moment is ever further ahead than the burst, but for what the
    /// clocks of two workers differ by: what seems to be has passed long ago.
    private static func ahead(_ cell: UInt64, _ time: UInt64, _ burst: UInt64) -> UInt64 {
        let difference = (cell &- time) & timeMask
        return difference <= 2 * burst ? difference : 0
    }

    /// The cell of this tag, else the one that may be taken for it.
    private static func cell(of tag: UInt64, in set: CellSet, _ time: UInt64, _ burst: UInt64) -> (index: Int, cell: UInt64) {
        var (found, content, least) = (0, UInt64(0), UInt64.max)
        for index in 0..<cellsInASet {
            let cell = set.cells[index].load(ordering: .relaxed)
            if cell & ~timeMask == tag { return (index, cell) }
            let ahead = ahead(cell, time, burst)
            if ahead < least { (found, content, least) = (index, cell, ahead) }
        }
        return (found, content)
    }
}

/// Whole seconds for `Retry-After`, at least one, so that who waits so long has not come too early (RFC 9110 §10.2.3).
func retryAfter(microseconds: Int64) -> Int64 { max((microseconds + 999_999) / 1_000_000, 1) }
