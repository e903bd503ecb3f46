// SPDX-License-Identifier: MIT
//
// A durable log: batches of records go in from any thread, each comes back once it is on disk, or refused.
//
// One serial queue does all I/O. It takes whatever is queued, formats it into one buffer, writes it with one call, syncs it with one, and
// completes every batch. While the disk is busy the next batches gather: the slower the disk, the more share a sync, and nothing
// waits on purpose. A thread that hands over only takes a lock that is never held during I/O.
//
// On a failing disk each event makes a new try, but no sooner than 100 ms after the last; those that come meanwhile wait and share its
// outcome. Records to keep stay queued, oldest first, and give way to events when the queue is full. When the disk recovers, whoever waits
// goes first, and what was kept follows in slices: one event needs no room for a whole backlog.
//
// Closing a file, which is renaming it, happens on the queue too; what then becomes of it is `Housekeeping`'s, which holds nobody up.
//
// Left out: reading back. `Folder` and `ClosedFile` know the names, `LineReader` and `LineFormat` read.

import Dispatch
import Locking

/// An append-only log in one folder.
package final class EventLog: Sendable {
    private struct Submission: Sendable {
        let batch: LogBatch
        let completion: (@Sendable (LogBatch) -> Void)?
        let bytes: Int

        init(_ batch: LogBatch, completion: (@Sendable (LogBatch) -> Void)? = nil) {
            self.batch = batch
            self.completion = completion
            bytes = batch.size
        }
    }

    private struct Taken {
        let submissions: [Submission]
        /// It was queued before, on a disk that failed.
        let isBacklog: Bool
    }

    /// How much of what was kept is written at once (bytes).
    private static let slice = 1024 * 1024

    private struct Shared {
        var pending: [Submission] = []
        /// Records to keep that a failing disk did not take.
        var kept: [Submission] = []
        /// Of both, and of what is being written.
        var queuedBytes = 0
        /// A turn of the queue is on its way; the first one opens the file.
        var isTurnPlanned = true
        var isSyncPlanned = false
        var isRetryPlanned = false
        var isClosed = false
        /// Nil until the file is closed, then whether all was written and synced.
        var closedWell: Bool?
        var retryAt: DispatchTime?
        var busySince: DispatchTime?
        var refused = 0
        var dropped = 0
        var counters = LogCounters()
        var reasons: [String] = []
    }

    private let configuration: EventLogConfiguration
    private let shared = Locked(Shared())
    /// Locked only on `queue`, so never waited for.
    private let writer: Locked<Writer>
    private let queue = DispatchQueue(label: "event-log", qos: .userInitiated)
    /// For batches that are refused at once: a disk that hangs must not hold them up.
    private let housekeeping: Housekeeping?
    private let refusals = DispatchQueue(label: "event-log-refusals", qos: .userInitiated)

    /// Makes and locks the folder until `close`; the file is opened and checked on the log's queue, and batches wait for that.
    ///
    /// A folder that cannot be made or written is no error: the log is degraded, and each event tries again. The process should ignore
    /// `SIGXFSZ`, or a limit on the size of files ends it before the log can say so.
    ///
    /// - Parameter report: called for each notice on a queue or thread of the log; it must not block.
    package convenience init(
        _ configuration: EventLogConfiguration, report: @escaping @Sendable (LogNotice) -> Void
    ) throws(EventLogError) {
        try self.init(configuration, calls: .real, report: report)
    }

    /// - Parameter keepsHouse: false leaves closed files as they are.
    init(
        _ configuration: EventLogConfiguration, calls: SystemCalls, keepsHouse: Bool = true,
        report: @escaping @Sendable (LogNotice) -> Void
    ) throws(EventLogError) {
        self.configuration = configuration
        var writer = Writer(configuration, calls: calls, report: report)
        try writer.lockFolder()
        housekeeping = keepsHouse ? Housekeeping(writer.closedFiles) : nil
        self.writer = Locked(writer)
        queue.async { self.turn() }
        lookAgain()
    }

    /// Hands a batch over; from now until the completion it is the log's. Never waits for the disk.
    ///
    /// A batch that alone is larger than the queue may be is always refused. One without records is completed after all before it, and
    /// tells whether the log can be written.
    ///
    /// - Parameter onCompletion: called exactly once on a queue of the log, in the order of submission within one write; it must not
    ///   block. Events come back durable or refused. A batch that holds only records to keep comes back once it is written, or refused
    ///   when it is given up.
    package func submit(_ batch: LogBatch, onCompletion: @escaping @Sendable (LogBatch) -> Void) {
        let submission = Submission(batch, completion: onCompletion)
        let limit = configuration.queueLimit
        var shed: [Submission] = []
        var isTurnNeeded = false
        let refusal = shared.withLock { shared -> LogBatch.Refusal? in
            var refusal: LogBatch.Refusal?
            if shared.isClosed {
                refusal = .failed
            } else {
                var excess = shared.queuedBytes + submission.bytes - limit
                var count = 0
                while batch.holdsEvents, excess > 0, count < shared.kept.count {
                    excess -= shared.kept[count].bytes
                    count += 1
                }
                if excess > 0 {
                    refusal = .full
                } else {
                    shed = Array(shared.kept.prefix(count))
                    shared.kept.removeFirst(count)
                    for kept in shed { shared.dropped += kept.batch.count }
                    shared.queuedBytes += submission.bytes - shed.reduce(0) { $0 + $1.bytes }
                    shared.pending.append(submission)
                    isTurnNeeded = !shared.isTurnPlanned
                    shared.isTurnPlanned = true
                }
            }
            if refusal != nil {
                shared.refused += batch.count(kept: false)
                shared.dropped += batch.count(kept: true)
            }
            return refusal
        }
        if isTurnNeeded { queue.async { self.turn() } }
        for kept in shed { refuse(kept, .full) }
        if let refusal { refuse(submission, refusal) }
    }

    /// Begins a new file if another program moved or removed the one that is open, which is synced first; for SIGHUP.
    ///
    /// Batches handed over later go to the new file.
    package func reopen() {
        queue.async {
            guard !self.isFinished else { return }
            self.withWriter { $0.reopen() }
        }
    }

    /// Writes what is queued, syncs, closes and unlocks; batches handed over from now on are refused.
    ///
    /// A closed file that is just being compressed is left as it is, for the next start; the folder is unlocked milliseconds later then.
    ///
    /// - Returns: whether all that was queued is written and synced within the time. Calling it again gives the same answer.
    ///   Never call it from a completion: it would wait for itself.
    package func close(timeoutMilliseconds: Int) -> Bool {
        shared.withLock { $0.isClosed = true }
        let done = DispatchSemaphore(value: 0)
        queue.async {
            if !self.isFinished {
                var isWritten = true
                var taken = self.take()
                repeat {
                    isWritten = self.settle(taken, isLast: true) && isWritten
                    taken = self.take()
                } while !taken.submissions.isEmpty
                let isSynced = self.withWriter { $0.close() }
                self.unlock()
                self.shared.withLock { $0.closedWell = isWritten && isSynced }
            }
            done.signal()
        }
        guard done.wait(timeout: .now() + .milliseconds(timeoutMilliseconds)) == .success else { return false }
        return shared.withLock { $0.closedWell } ?? false
    }

    /// What the log has done and how it is; from any thread, never waits for the disk.
    package var status: LogStatus {
        let now = DispatchTime.now().uptimeNanoseconds
        let closedFiles = housekeeping?.done ?? ClosedFiles.Outcome()
        let hangs = UInt64(max(configuration.hangsAfter, 0)) * 1_000_000
        return shared.withLock { shared in
            var reasons = shared.reasons
            if let since = shared.busySince?.uptimeNanoseconds, now > since, now - since > hangs {
                reasons.append("the disk of the event folder has not answered for \((now - since) / 1_000_000_000) s")
            }
            if let failure = closedFiles.failure { reasons.append("closed log files cannot be compressed or deleted: \(failure)") }
            var counters = shared.counters
            counters.compressed = closedFiles.compressed
            counters.compressedBytesBefore = closedFiles.bytesBefore
            counters.compressedBytesAfter = closedFiles.bytesAfter
            counters.deletedForAge = closedFiles.deletedForAge
            counters.deletedForSize = closedFiles.deletedForSize
            counters.refused += shared.refused
            counters.dropped += shared.dropped
            return LogStatus(
                health: reasons.isEmpty ? .ok : .degraded(reasons: reasons), counters: counters, queuedBytes: shared.queuedBytes)
        }
    }

    /// Whether nothing is being done about closed files.
    var isHouseInOrder: Bool { housekeeping?.isIdle ?? true }

    // MARK: On the queue

    private var isFinished: Bool { shared.withLock { $0.closedWell != nil } }

    private func turn() {
        let wait = shared.withLock { shared in shared.retryAt.flatMap { DispatchTime.now() < $0 ? $0 : nil } }
        if let wait { return queue.asyncAfter(deadline: wait) { self.turn() } }
        guard !isFinished else { return }
        let isWritten = settle(take(), isLast: false)
        let isTurnNeeded = shared.withLock { shared in
            shared.isTurnPlanned = !shared.pending.isEmpty || isWritten && !shared.kept.isEmpty
            return shared.isTurnPlanned
        }
        if isTurnNeeded { queue.async { self.turn() } }
    }

    /// What is pending, else a slice of what was kept.
    private func take() -> Taken {
        shared.withLock { shared in
            if !shared.pending.isEmpty || shared.kept.isEmpty {
                defer { shared.pending = [] }
                return Taken(submissions: shared.pending, isBacklog: false)
            }
            var (count, bytes) = (0, 0)
            while count < shared.kept.count, count == 0 || bytes + shared.kept[count].bytes <= Self.slice {
                bytes += shared.kept[count].bytes
                count += 1
            }
            defer { shared.kept.removeFirst(count) }
            return Taken(submissions: Array(shared.kept.prefix(count)), isBacklog: true)
        }
    }

    /// Writes what was taken and completes it; false where that failed.
    private func settle(_ taken: Taken, isLast: Bool) -> Bool {
        let isWritten = withWriter { $0.commit(taken.submissions.map(\.batch)) }
        var (completed, kept, released, refused, dropped) = ([Submission](), [Submission](), 0, 0, 0)
        for submission in taken.submissions {
            let batch = submission.batch
            if !isWritten, !isLast, !batch.holdsEvents, !batch.isEmpty {
                kept.append(submission)
                continue
            }
            batch.outcome = isWritten ? .durable : .refused(.failed)
            completed.append(submission)
            released += submission.bytes
            guard !isWritten else { continue }
            refused += batch.count(kept: false)
            if isLast {
                dropped += batch.count(kept: true)
            } else if let rest = batch.kept().map({ Submission($0) }) {
                kept.append(rest)
                released -= rest.bytes
            }
        }
        let isRetryNeeded = shared.withLock { shared in
            shared.kept.insert(contentsOf: kept, at: taken.isBacklog ? 0 : shared.kept.count)
            shared.queuedBytes -= released
            shared.refused += refused
            shared.dropped += dropped
            shared.retryAt = isWritten ? nil : .now() + .milliseconds(configuration.retryAfter)
            let isNeeded = !isWritten && !isLast && !shared.isRetryPlanned
            if isNeeded { shared.isRetryPlanned = true }
            return isNeeded
        }
        for submission in completed { submission.completion?(submission.batch) }
        if isRetryNeeded { queue.asyncAfter(deadline: .now() + .milliseconds(configuration.idleDelay)) { self.retry() } }
        return isWritten
    }

    private func retry() {
        let isTurnNeeded = shared.withLock { shared in
            shared.isRetryPlanned = false
            guard shared.retryAt != nil, !shared.isTurnPlanned else { return false }
            shared.isTurnPlanned = true
            return true
        }
        if isTurnNeeded { turn() }
    }

    private func withWriter<Result: Sendable>(_ body: (inout Writer) -> Result) -> Result {
        shared.withLock { $0.busySince = .now() }
        let (result, counters, reasons, needsSync, closed) = writer.withLock { writer in
            let result = body(&writer)
            return (result, writer.counters, writer.reasons, writer.needsSync, writer.takeHousekeeping())
        }
        if closed.isDue { housekeeping?.wake(before: closed.boundary) }
        let isSyncNeeded = shared.withLock { shared in
            shared.busySince = nil
            shared.counters = counters
            shared.reasons = reasons
            defer { if needsSync { shared.isSyncPlanned = true } }
            return needsSync && !shared.isSyncPlanned
        }
        if isSyncNeeded {
            let delay = if case .interval(let milliseconds) = configuration.sync { milliseconds } else { configuration.idleDelay }
            queue.asyncAfter(deadline: .now() + .milliseconds(delay)) {
                self.shared.withLock { $0.isSyncPlanned = false }
                self.withWriter { _ = $0.syncNow() }
            }
        }
        return result
    }

    private func unlock() {
        let lock = writer.withLock { $0.takeFolderLock() }
        housekeeping?.stop(lock)
    }

    /// Files grow too old, and what failed may work now, also while no event comes.
    private func lookAgain() {
        guard let housekeeping else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(max(configuration.rotateRetryAfter, 1000))) { [weak self] in
            guard let self, !isFinished else { return }
            housekeeping.wakeAgain()
            lookAgain()
        }
    }

    /// Completes what never was, or is no longer, queued.
    private func refuse(_ submission: Submission, _ refusal: LogBatch.Refusal) {
        refusals.async {
            submission.batch.outcome = .refused(refusal)
            submission.completion?(submission.batch)
        }
    }
}
