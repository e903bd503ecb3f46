// SPDX-License-Identifier: MIT
//
// Finds keys that come twice in one object. The keys of all open objects lie on one stack and are compared when their object ends. Few keys
// are compared each with each, by a cheap fingerprint first; many go through a table whose hash is seeded per process, so that nobody can
// choose keys that collide. Either way the work is linear in the text: at most `fewKeys` comparisons for each key.
//
// Keys are compared unescaped: `"a"` and `"\u0061"` are one key. Lone surrogate escapes all read as U+FFFD, and so do equal each other.

struct DuplicateKeys {
    /// The offset of the first key of the text that repeats one of its object.
    private(set) var firstDuplicate: Int?
    private var keys: [Key] = []

    private struct Key {
        /// Equal for equal keys; what tells two keys apart in nearly every case.
        let fingerprint: UInt64
        /// Inside the quotes.
        let range: Range<Int>

        /// Lies below the keys of each open object. A key's range begins behind a brace and a quote, never at 0.
        static let objectStart = Key(fingerprint: 0, range: 0..<0)
    }

    /// Beyond this a table is cheaper than comparing each with each.
    private static let fewKeys = 24

    mutating func beginObject() {
        if keys.isEmpty { keys.reserveCapacity(Self.fewKeys + 8) }
        keys.append(.objectStart)
    }

    mutating func add(_ range: Range<Int>, in text: Span<UInt8>) {
        let fingerprint: UInt64
        if let plain = unescaped(range, in: text) {
            fingerprint = Self.fingerprint(of: 0..<plain.count, in: plain.span)
        } else {
            fingerprint = Self.fingerprint(of: range, in: text)
        }
        keys.append(Key(fingerprint: fingerprint, range: range))
    }

    mutating func endObject(in text: Span<UInt8>) {
        var first = keys.count
        while first > 0, keys[first - 1].range.lowerBound > 0 { first -= 1 }
        let count = keys.count - first
        let duplicate = count <= Self.fewKeys ? duplicateAmongFew(from: first, in: text) : duplicateAmongMany(from: first, in: text)
        if let duplicate { firstDuplicate = min(duplicate, firstDuplicate ?? duplicate) }
        keys.removeLast(first > 0 ? count + 1 : count)
    }

    private func duplicateAmongFew(from first: Int, in text: Span<UInt8>) -> Int? {
        for later in first..<keys.count {
            for earlier in first..<later
            where keys[earlier].fingerprint == keys[later].fingerprint && areEqual(keys[earlier], keys[later], in: text) {
                return keys[later].range.lowerBound
            }
        }
        return nil
    }

    private func duplicateAmongMany(from first: Int, in text: Span<UInt8>) -> Int? {
        var width = 64
        while width < (keys.count - first) * 2 { width *= 2 }
        // Open addressing; a slot holds a key's index, its hash settles nearly every comparison.
        var slots = [(index: Int, hash: UInt64)](repeating: (-1, 0), count: width)
        for index in first..<keys.count {
            let key = keys[index]
            let hash = hash(of: key, in: text)
            var slot = Int(truncatingIfNeeded: hash) & (width - 1)
            while slots[slot].index >= 0 {
                if slots[slot].hash == hash, areEqual(keys[slots[slot].index], key, in: text) { return key.range.lowerBound }
                slot = (slot + 1) & (width - 1)
            }
            slots[slot] = (index, hash)
        }
        return nil
    }

    private func areEqual(_ one: Key, _ other: Key, in text: Span<UInt8>) -> Bool {
        if haveEqualBytes(text.extracting(one.range), text.extracting(other.range)) { return true }
        switch (unescaped(one.range, in: text), unescaped(other.range, in: text)) {
        case (nil, nil): return false
        case (let one?, nil): return haveEqualBytes(one.span, text.extracting(other.range))
        case (nil, let other?): return haveEqualBytes(text.extracting(one.range), other.span)
        case (let one?, let other?): return one == other
        }
    }

    private func haveEqualBytes(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        for at in 0..<one.count where one[at] != other[at] { return false }
        return true
    }

    /// The key's own bytes where escapes hide them; nil where the text shows them as they are.
    private func unescaped(_ range: Range<Int>, in text: Span<UInt8>) -> [UInt8]? {
        var at = range.lowerBound
        while true {
            at = endOfPlainRun(in: text, from: at)
            guard at < range.upperBound else { return nil }
            if text[at] == UInt8(ascii: "\\") { break }
            at += 1
        }
        var plain: [UInt8] = []
        decodeJSONString(range, in: text, into: &plain)
        return plain
    }

    /// First bytes, last bytes and length: no defence against anyone, but cheap.
    private static func fingerprint(of range: Range<Int>, in bytes: Span<UInt8>) -> UInt64 {
        guard range.count < 8 else {
            return bytes.word(at: range.lowerBound) &* 31 &+ bytes.word(at: range.upperBound - 8) &+ UInt64(range.count)
        }
        var word = UInt64(range.count)
        for at in range { word = word << 8 | UInt64(bytes[at]) }
        return word
    }

    private func hash(of key: Key, in text: Span<UInt8>) -> UInt64 {
        if let plain = unescaped(key.range, in: text) { return Self.hash(of: 0..<plain.count, in: plain.span) }
        return Self.hash(of: key.range, in: text)
    }

    private static func hash(of range: Range<Int>, in bytes: Span<UInt8>) -> UInt64 {
        var hasher = Hasher()
        var at = range.lowerBound
        while at <= range.upperBound - 8 {
            hasher.combine(bytes.word(at: at))
            at += 8
        }
        hasher.combine(fingerprint(of: at..<range.upperBound, in: bytes))
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
