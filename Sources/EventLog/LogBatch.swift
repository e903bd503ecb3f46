// SPDX-License-Identifier: MIT
//
// What one thread gathers during a turn of its loop and hands to the log whole: one hand-over, one lock, one wake-up for many records.
//
// All pieces lie in one buffer, whose capacity is reused: the owner gets the batch back in the completion, clears it and fills it again.
// A record knows only where its head and its tail lie; `seq`, the repeat mark and `crc` are the writer's.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Records on their way to the log.
///
/// `@unchecked Sendable`: it has one owner at a time. `EventLog.submit` passes it to the log, the completion passes it back, and both
/// hand-overs go through a lock or a queue; between them the former owner must not touch it.
package final class LogBatch: @unchecked Sendable {
    package enum Refusal: Hashable, Sendable {
        /// More waits for the disk than the queue may hold.
        case full
        /// The disk failed, or the log is closed.
        case failed
    }

    package enum Outcome: Hashable, Sendable {
        /// Not yet completed.
        case pending
        /// All records are written; those someone waits for are as durable as the sync policy promises.
        case durable
        /// No record that someone waits for was written; records to keep may still be queued.
        case refused(Refusal)
    }

    struct Record {
        let at: Int64
        let keep: Bool
        let detectsRepeat: Bool
        /// So much of the tail makes it the same event.
        let repeatLength: Int
        let head: Range<Int>
        let tail: Range<Int>
    }

    package internal(set) var outcome = Outcome.pending
    private(set) var bytes: [UInt8] = []
    private(set) var records: [Record] = []
    private(set) var holdsEvents = false

    package init() {}

    package var isEmpty: Bool { records.isEmpty }
    package var count: Int { records.count }

    /// What its lines will take in the file, at most.
    var size: Int { bytes.count + records.count * LineFormat.overhead }

    /// Copies one record into the batch.
    ///
    /// - Parameters:
    ///   - at: arrival, milliseconds since 1970 UTC; beyond the years 0 to 9999 it is clamped.
    ///   - keep: on a failing disk it stays queued instead of being refused.
    ///   - syncs: whether someone waits until it is durable; unless given, for what is not to keep.
    ///   - detectsRepeat: an equal tail among the last records of this sort gives the line `"repeat":true`. Its tail must begin with
    ///     `,"event":`, for that is how it is found again at the next start.
    ///   - repeatLength: compares so much of the tail only, which must end behind the event; what follows says how it was answered.
    ///   - head: JSON members without braces, scalar values only: `"kind":"event","call":null`.
    ///   - tail: more members, each with its comma in front, or nothing: `,"event":{}`.
    /// - Returns: false, and nothing is added, where the line would pass 4 MiB or holds a line feed.
    package func append(
        at: Int64, keep: Bool = false, syncs: Bool? = nil, detectsRepeat: Bool = false, repeatLength: Int? = nil, head: Span<UInt8>,
        tail: Span<UInt8>
    ) -> Bool {
        guard head.count <= LineFormat.longest, tail.count <= LineFormat.longest - head.count - LineFormat.overhead else { return false }
        let start = bytes.count
        // Unsafe: only so that memcpy and memchr do the work; no pointer outlives its closure.
        head.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        tail.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        let (split, end) = (start + head.count, bytes.count)
        let breaks = bytes.withUnsafeBytes { all in
            guard let base = all.baseAddress else { return false }
            return memchr(base + start, 0x0A, end - start) != nil
        }
        guard !breaks else {
            bytes.removeLast(end - start)
            return false
        }
        records.append(
            Record(
                at: at, keep: keep, detectsRepeat: detectsRepeat, repeatLength: min(max(repeatLength ?? tail.count, 0), tail.count),
                head: start..<split, tail: split..<end))
        if syncs ?? !keep { holdsEvents = true }
        return true
    }

    /// Empties it for the next use; capacity stays, but for that of a rare flood.
    package func clear() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= LineReader.window)
        records.removeAll(keepingCapacity: true)
        holdsEvents = false
        outcome = .pending
    }

    /// A batch of its own with the records to keep; nil where there are none.
    func kept() -> LogBatch? {
        let batch = LogBatch()
        for record in records where record.keep {
            let start = batch.bytes.count
            batch.bytes += bytes[record.head.lowerBound..<record.tail.upperBound]
            let split = start + record.head.count
            batch.records.append(
                Record(
                    at: record.at, keep: true, detectsRepeat: record.detectsRepeat, repeatLength: record.repeatLength, head: start..<split,
                    tail: split..<batch.bytes.count))
        }
        return batch.isEmpty ? nil : batch
    }

    func count(kept: Bool) -> Int { records.count { $0.keep == kept } }
}
