// SPDX-License-Identifier: MIT
//
// What any thread may ask at any time, also while the disk hangs: it is copied out of a mutex that is never held during I/O.

/// Counts since the log was made.
package struct LogCounters: Hashable, Sendable {
    /// Lines written.
    package internal(set) var records = 0
    /// Lines that someone waited for, written and as durable as the sync policy promises.
    package internal(set) var eventsDurable = 0
    /// Writes that succeeded, each with all that was queued.
    package internal(set) var commits = 0
    package internal(set) var syncs = 0
    /// Tries that failed, in opening, writing or syncing.
    package internal(set) var writeFailures = 0
    /// Records whose batch came back refused and that someone waited for.
    package internal(set) var refused = 0
    /// Records to keep that were given up: the queue was full, the log closed, or their lines had to be cut away.
    package internal(set) var dropped = 0
    package internal(set) var repeats = 0
    /// Bytes moved away from torn ends.
    package internal(set) var tornBytes = 0
    /// Files closed for their size or at the end of a day.
    package internal(set) var rotations = 0
    /// Closed files that were compressed, and their bytes before and after.
    package internal(set) var compressed = 0
    package internal(set) var compressedBytesBefore: Int64 = 0
    package internal(set) var compressedBytesAfter: Int64 = 0
    /// Closed files deleted because of `--keep`, and because of `--keep-size`.
    package internal(set) var deletedForAge = 0
    package internal(set) var deletedForSize = 0
    /// Sequence number of the last line; 0 before the first.
    package internal(set) var lastSeq: UInt64 = 0
}

/// A snapshot of the log.
package struct LogStatus: Hashable, Sendable {
    package enum Health: Hashable, Sendable {
        case ok
        /// Sentences for the admin; they name files.
        case degraded(reasons: [String])
    }

    package let health: Health
    package let counters: LogCounters
    /// Bytes handed over and neither written nor given up.
    package let queuedBytes: Int
}
