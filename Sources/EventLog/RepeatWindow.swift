// SPDX-License-Identifier: MIT
//
// Which of the last N events had the same bytes. 64 bits of a hash stand for the bytes: among 65,536 of them a new event meets a wrong
// match once in 2^48 events, and `Hasher` is seeded anew in each process, so nobody can aim at one.
//
// What was noted since the last `keep` can be taken back: a refused event was not logged, so its second coming is no repeat.

struct RepeatWindow {
    private let capacity: Int
    private var latest: [UInt64: Int] = [:]
    /// Kept hashes; place `n % capacity` holds that of event `n`.
    private var ring: [UInt64] = []
    private var next = 0
    private var noted: [(hash: UInt64, before: Int?)] = []

    init(capacity: Int) {
        self.capacity = max(capacity, 1)
    }

    static func hash(_ bytes: Span<UInt8>) -> UInt64 {
        var hasher = Hasher()
        // Unsafe: lends the bytes to the hasher.
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Adds an event; true if an equal one is among the `capacity` before it.
    mutating func note(_ hash: UInt64) -> Bool {
        let before = latest.updateValue(next, forKey: hash)
        noted.append((hash, before))
        next += 1
        return before.map { next - 1 - $0 <= capacity } ?? false
    }

    mutating func keep() {
        var event = next - noted.count
        for (hash, _) in noted {
            if ring.count < capacity {
                ring.append(hash)
            } else {
                let old = ring[event % capacity]
                if latest[old] == event - capacity { latest[old] = nil }
                ring[event % capacity] = hash
            }
            event += 1
        }
        noted.removeAll(keepingCapacity: true)
    }

    mutating func takeBack() {
        while let (hash, before) = noted.popLast() {
            latest[hash] = before
            next -= 1
        }
    }
}
