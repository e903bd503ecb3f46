// SPDX-License-Identifier: MIT
//
// How long answers and events take, counted in buckets while they are given. To count is to add one to a number: no lock, no allocation, and no
// second look at the clock. Whoever wants to know copies the numbers and takes an earlier copy away from a later one.

import Synchronization

/// Which bucket a time falls into: whole microseconds up to 15, then 16 buckets for each power of two, so that a bucket is 6 % wide.
enum LatencyBucket {
    /// Up to 2^25 µs, half a minute, which is more than a request may take; what is above counts as that.
    static let count = 352

    @inline(__always) static func index(_ micros: Int64) -> Int {
        guard micros >= 16 else { return Int(max(micros, 0)) }
        let exponent = 63 - micros.leadingZeroBitCount
        return min((exponent - 3) * 16 + Int(truncatingIfNeeded: micros >> Int64(exponent - 4)) - 16, count - 1)
    }

    /// The longest time of a bucket, in microseconds.
    static func upperBound(_ index: Int) -> Int64 {
        index < 16 ? Int64(index) : (Int64(index % 16 + 17) << Int64(index / 16 - 1)) - 1
    }
}

/// Counts times; read by any thread.
struct LatencyRecorder: ~Copyable, Sendable {
    fileprivate let buckets = InlineArray<352, Atomic<Int>> { _ in Atomic(0) }

    /// For whom one thread alone writes: no locked instruction.
    @inline(__always) func count(_ micros: Int64) {
        let index = LatencyBucket.index(micros)
        buckets[index].store(buckets[index].load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    /// From any thread.
    func add(_ micros: Int64) { buckets[LatencyBucket.index(micros)].add(1, ordering: .relaxed) }
}

/// A copy of what was counted; also the sum of several, and what came between two.
struct LatencyCounts: Sendable, Hashable {
    private var buckets = [Int](repeating: 0, count: LatencyBucket.count)

    mutating func add(_ recorder: borrowing LatencyRecorder) {
        for index in buckets.indices { buckets[index] += recorder.buckets[index].load(ordering: .relaxed) }
    }

    func since(_ earlier: LatencyCounts) -> LatencyCounts {
        var counts = LatencyCounts()
        for index in buckets.indices { counts.buckets[index] = buckets[index] - earlier.buckets[index] }
        return counts
    }

    var count: Int { buckets.reduce(0, +) }

    /// Microseconds; 0 where there is none.
    var worst: Int64 { buckets.lastIndex { $0 > 0 }.map(LatencyBucket.upperBound) ?? 0 }

    /// The time that this share of all is not above, in microseconds; 0 where there is none.
    ///
    /// - Parameter share: 0...1.
    func quantile(_ share: Double) -> Int64 {
        let wanted = max(Int((share * Double(count)).rounded(.up)), 1)
        var seen = 0
        for (index, inBucket) in buckets.enumerated() {
            seen += inBucket
            if seen >= wanted { return LatencyBucket.upperBound(index) }
        }
        return 0
    }
}
