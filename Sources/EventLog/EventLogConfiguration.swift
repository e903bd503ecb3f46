// SPDX-License-Identifier: MIT
//
// Every setting of the log with its default, and beside each number why it is that one.

/// Where the log lies, when it is synced, and its bounds.
package struct EventLogConfiguration: Sendable {
    /// When a written line is forced to the disk.
    package enum SyncPolicy: Hashable, Sendable {
        /// `fdatasync` before an event's batch is completed.
        case always
        /// Completed after the write; `fdatasync` at most this many milliseconds later.
        case interval(milliseconds: Int)
        /// Completed after the write; synced when the file is left or closed.
        case none
    }

    /// Folder of the log; made with mode 0700 where missing, parents too.
    package var folder: String
    package var sync: SyncPolicy = .always
    /// Bytes that may wait for the disk: 30,000 usual events, more than ten seconds of a disk that hangs at 2,000 events a second, and
    /// still little beside the memory of the smallest machine.
    package var queueLimit = 16 * 1024 * 1024
    /// Bytes from the end of the file in which a bad line counts as torn by a crash: a crash can tear no more than the kernel had not yet
    /// written, which is one commit here, and a usual commit is far below 4 MiB. Damage further up has another cause.
    package var tornRegion = 4 * 1024 * 1024
    /// Records among which a repeat is found: Vonage repeats within seconds, so this covers minutes at full load in about 3 MiB.
    package var repeatWindow = 65_536
    /// Milliseconds between two tries on a failing disk: ten a second cost nothing, and no event waits longer than that for its refusal.
    package var retryAfter = 100
    /// Milliseconds until records that nobody waits for are synced, and until a failing disk is tried without an event: a power cut takes
    /// no more than a second of them, and an idle log costs one sync a second at most.
    package var idleDelay = 1000
    /// Milliseconds after which a disk that does not answer is named in health: far above any disk that works, and soon enough for whoever
    /// looks because calls are slow.
    package var hangsAfter = 1000

    /// Bytes of a file at which it is closed: three seconds at full load, days of usual load, and checked within a fifth of a second
    /// at the start. Only what is written at once may be longer.
    package var rotateSize = 64 * 1024 * 1024
    /// A file is closed too when a line of another UTC day is to be written.
    package var rotatesDaily = true
    /// Milliseconds between two tries to close a file where that failed, and between two looks at closed files: nobody waits for it.
    package var rotateRetryAfter = 60_000
    /// Milliseconds for which a closed file is kept after its newest line; nil: for ever.
    package var keepFor: Int64?
    /// Bytes that closed files may have together, compressed where they are; nil: any.
    package var keepSize: Int64?

    /// Takes the default for everything but the folder.
    package init(folder: String) {
        self.folder = folder
    }
}
