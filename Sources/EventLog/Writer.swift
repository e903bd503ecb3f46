// SPDX-License-Identifier: MIT
//
// The open file and what is known about it; formats, writes, syncs, and decides what becomes of a file that failed.
//
// Two marks say how far the file is good. Up to `written` it holds whole lines. Up to `acknowledged` it holds what was promised: synced
// under `.always`, written under the other policies. Between them lie only records to keep.
//
//     lack of room     cut back to `written` and stay on the file: nothing is wrong with it
//     write failed     cut back to `written`, sync that once, seal
//     sync failed      cut back to `acknowledged`, seal; never sync it again: after a failed fdatasync Linux takes the pages for clean,
//                      a second one would succeed without having written them
//
// Where a file is long enough or a day is over, it is closed between two commits: synced, renamed, and a new one begun, with one sync of the
// folder for both names. Until that sync nothing is written to the new file. Whatever of it fails is undone, and the file goes on.
//
// Numbers of lines that were cut away are given again. Where not even the cut worked they are passed over, since the lines may be found.
// Sealing is renaming; until it has worked nothing is written, for the bad file has the name that the good one needs.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct Writer: ~Copyable {
    private struct Mark {
        var length: Int64 = 0
        var next: UInt64 = 1
    }

    /// A file that is to lose its name.
    private struct Seal {
        let identity: FileIdentity
        /// Of the first line; nil: it holds nothing and is removed.
        let first: (sequence: UInt64, time: TimeStamp)?
    }

    private let folder: Folder
    private let recovery: Recovery
    private let configuration: EventLogConfiguration
    private var syncs: EventLogConfiguration.SyncPolicy { configuration.sync }
    private let report: @Sendable (LogNotice) -> Void

    private var lock: FolderLock?
    private var file: LogFile?
    private var seal: Seal?
    private var written = Mark()
    private var acknowledged = Mark()
    private var first: (sequence: UInt64, time: TimeStamp)?
    private var hasUnsynced = false
    private var window: RepeatWindow
    private var isWindowFilled = false
    private var damaged: [String: Int?] = [:]
    private var buffer: [UInt8] = []
    /// Why the file could not be closed when it was time, and when that is tried again.
    private var rotation: (failure: SystemFailure, retryAt: ContinuousClock.Instant)?
    private var isHousekeepingDue = false

    private(set) var counters = LogCounters()
    /// Why the last try failed; nil after one that worked.
    private(set) var failure: String?
    /// It could not even be opened, so opening it is enough to be well again.
    private var isFailureOfOpening = false
    /// Something written waits for a sync that the policy asks for.
    private(set) var needsSync = false

    init(_ configuration: EventLogConfiguration, calls: SystemCalls, report: @escaping @Sendable (LogNotice) -> Void) {
        folder = Folder(path: configuration.folder.isEmpty ? "." : configuration.folder, calls: calls)
        recovery = Recovery(
            folder: folder, tornRegion: configuration.tornRegion, repeatWindow: configuration.repeatWindow, report: report)
        self.configuration = configuration
        window = RepeatWindow(capacity: configuration.repeatWindow)
        self.report = report
    }

    /// The files that this writer closes.
    var closedFiles: ClosedFiles {
        ClosedFiles(folder: folder, keepFor: configuration.keepFor, keepSize: configuration.keepSize, report: report)
    }

    /// Why health is not well; empty if it is.
    var reasons: [String] {
        let files = damaged.sorted { $0.key < $1.key }.map { name, offset in
            "damaged log file '\(name)'\(offset.map { " (bad from byte \($0))" } ?? ""): look at it, then move it out of the folder"
        }
        let rotation = rotation.map { ["the log file cannot be closed and goes on being written: \($0.failure)"] } ?? []
        return (failure.map { ["events cannot be written: \($0)"] } ?? []) + rotation + files
    }

    /// Makes and locks the folder, where that is possible yet.
    mutating func lockFolder() throws(EventLogError) {
        do throws(SystemFailure) { try takeLock() } catch {
            guard error.code == EWOULDBLOCK else {
                isFailureOfOpening = true
                return failed(error)
            }
            throw .locked(folder: folder.path, pid: FolderLock.holder(of: folder))
        }
    }

    // MARK: Writing

    /// Writes the records of all batches, in order, and syncs them where the policy asks for it. False: none of them is in the log.
    mutating func commit(_ batches: [LogBatch]) -> Bool {
        let before = counters
        do throws(SystemFailure) {
            let holdsEvents = batches.contains { $0.holdsEvents }
            let count = batches.reduce(0) { $0 + $1.count }
            do throws(SystemFailure) { try prepare() } catch {
                isFailureOfOpening = true
                throw error
            }
            guard count > 0 else {
                guard failure != nil else { return true }
                // Nothing waits that could tell whether there is room again.
                if !isFailureOfOpening { try folder.probe() }
                recovered()
                return true
            }
            isFailureOfOpening = false
            try rotateIfDue(for: batches)
            let firstBefore = first
            format(batches)
            let next = written.next + UInt64(count)
            do throws(SystemFailure) {
                try checkOpen()
                try file?.append(buffer.span)
            } catch {
                if !error.isLackOfRoom || !cutBack(to: written.length) {
                    abandon(syncFailed: false, next: next)
                } else {
                    first = firstBefore
                }
                throw error
            }
            if syncs == .always, holdsEvents { try sync(next: next) }
            written = Mark(length: written.length + Int64(buffer.count), next: next)
            if syncs != .always || holdsEvents { acknowledged = written }
            if syncs != .always || !holdsEvents {
                hasUnsynced = true
                needsSync = syncs != .none
            }
            window.keep()
            counters.records += count
            counters.commits += 1
            counters.lastSeq = written.next - 1
        } catch {
            window.takeBack()
            counters.repeats = before.repeats
            counters.eventsDurable = before.eventsDurable
            failed(error)
            shrinkBuffer()
            return false
        }
        shrinkBuffer()
        if failure != nil { recovered() }
        return true
    }

    private mutating func format(_ batches: [LogBatch]) {
        buffer.removeAll(keepingCapacity: true)
        buffer.reserveCapacity(batches.reduce(0) { $0 + $1.size })
        var next = written.next
        var stamp: (time: Int64, text: [UInt8])?
        if first == nil, let record = batches.first(where: { !$0.isEmpty })?.records.first {
            first = (next, TimeStamp(milliseconds: record.at))
        }
        for batch in batches {
            let stored = batch.bytes
            let bytes = stored.span
            for record in batch.records {
                let tail = bytes.extracting(record.tail)
                let isRepeat = record.detectsRepeat && window.note(RepeatWindow.hash(tail.extracting(0..<record.repeatLength)))
                if stamp?.time != record.at { stamp = (record.at, TimeStamp(milliseconds: record.at).text) }
                LineFormat.append(
                    seq: next, stamp: stamp?.text ?? [], head: bytes.extracting(record.head), isRepeat: isRepeat, tail: tail, to: &buffer)
                next += 1
                if isRepeat { counters.repeats += 1 }
                if !record.keep || record.detectsRepeat { counters.eventsDurable += 1 }
            }
        }
    }

    /// A call on a file that is not there would do nothing, and pass for done.
    private func checkOpen() throws(SystemFailure) {
        guard file != nil else { throw SystemFailure("write", folder.path(of: Folder.current), code: EBADF) }
    }

    /// A rare flood must not hold its memory for ever.
    private mutating func shrinkBuffer() {
        if buffer.capacity > LineReader.window { buffer = [] }
    }

    // MARK: Syncing

    /// Syncs what the policy or the end of the log asks for; false where that failed.
    mutating func syncNow() -> Bool {
        guard hasUnsynced else { return true }
        do throws(SystemFailure) { try sync(next: written.next) } catch {
            failed(error)
            return false
        }
        acknowledged = written
        return true
    }

    /// `next` is the number behind all that is in the file, also behind `written`.
    private mutating func sync(next: UInt64) throws(SystemFailure) {
        try checkOpen()
        do throws(SystemFailure) { try file?.sync() } catch {
            abandon(syncFailed: true, next: next)
            throw error
        }
        counters.syncs += 1
        hasUnsynced = false
        needsSync = false
    }

    // MARK: Failing

    private mutating func failed(_ error: SystemFailure) {
        counters.writeFailures += 1
        let reason = error.description
        if failure != reason { report(.writeFailed(reason: reason)) }
        failure = reason
    }

    private mutating func recovered() {
        failure = nil
        isFailureOfOpening = false
        report(.recovered)
    }

    private func cutBack(to length: Int64) -> Bool {
        do throws(SystemFailure) { try file?.cut(to: length) } catch { return false }
        return true
    }

    /// Leaves the file for ever, cut back as far as it is good; `next` is behind all that may be in it if it cannot be cut.
    private mutating func abandon(syncFailed: Bool, next: UInt64) {
        var end = written
        var isCut = true
        var syncFailed = syncFailed
        if !syncFailed {
            isCut = cutBack(to: written.length)
            do throws(SystemFailure) { try file?.sync() } catch { syncFailed = true }
        }
        if syncFailed {
            end = acknowledged
            isCut = cutBack(to: acknowledged.length)
            if isCut, written.next > acknowledged.next {
                counters.dropped += Int(written.next - acknowledged.next)
            }
        }
        if let identity = try? file?.facts().identity {
            seal = Seal(identity: identity, first: isCut && end.length == 0 ? nil : first)
        }
        written = Mark(length: 0, next: isCut ? end.next : next)
        acknowledged = written
        counters.lastSeq = written.next - 1
        leaveFile()
        do throws(SystemFailure) { try finishSeal() } catch { failed(error) }
    }

    private mutating func finishSeal() throws(SystemFailure) {
        guard let pending = seal else { return }
        // Renamed already, or moved by someone else: only the folder is left to sync.
        if FileFacts(path: folder.path(of: Folder.current))?.identity == pending.identity {
            if let first = pending.first {
                let name = folder.freeClosedName(start: first.time, firstSequence: first.sequence)
                try folder.rename(Folder.current, to: name)
                report(.sealed(name: name))
            } else {
                try folder.unlink(Folder.current)
                report(.sealed(name: nil))
            }
        }
        try folder.sync()
        seal = nil
    }

    // MARK: Closing a file

    /// Closes the file if these records do not fit any more or are another day's.
    private mutating func rotateIfDue(for batches: [LogBatch]) throws(SystemFailure) {
        guard let first, let record = batches.first(where: { !$0.isEmpty })?.records.first else { return }
        let size = batches.reduce(0 as Int64) { $0 + Int64($1.size) }
        let day = TimeStamp(milliseconds: record.at).day
        // Records that waited for a disk, and those that raced over midnight, may be of the day before: they close nothing. A clock that was
        // wrong and is set right does.
        let isOtherDay = configuration.rotatesDaily && (day > first.time.day || day < first.time.day - 1)
        let isFull = written.length + size > Int64(max(configuration.rotateSize, 1))
        guard isFull || isOtherDay else { return }
        if let rotation, ContinuousClock.now < rotation.retryAt { return }
        try rotate(first)
    }

    private mutating func rotate(_ first: (sequence: UInt64, time: TimeStamp)) throws(SystemFailure) {
        if hasUnsynced {
            try sync(next: written.next)
            acknowledged = written
        }
        let path = folder.path(of: Folder.current)
        guard let identity = try file?.facts().identity, FileFacts(path: path)?.identity == identity else {
            // Moved by another program: it is closed already.
            leaveFile()
            return try prepare()
        }
        let name = folder.freeClosedName(start: first.time, firstSequence: first.sequence)
        do throws(SystemFailure) { try folder.rename(Folder.current, to: name) } catch { return rotationFailed(error) }
        do throws(SystemFailure) {
            let next = try LogFile(path: path, flags: Recovery.flags | O_EXCL, calls: folder.calls)
            try folder.sync()
            leaveFile()
            file = consume next
        } catch {
            rotationFailed(error)
            return try undoRotation(from: name, identity)
        }
        rotation = nil
        written = Mark(length: 0, next: written.next)
        acknowledged = written
        lock?.note(next: written.next)
        counters.rotations += 1
        isHousekeepingDue = true
    }

    /// Gives the file its name back. Whichever of the names the disk has then, each leads to the file that is written to.
    private mutating func undoRotation(from name: String, _ identity: FileIdentity) throws(SystemFailure) {
        do throws(SystemFailure) {
            if FileFacts(path: folder.path(of: Folder.current)) != nil { try folder.unlink(Folder.current) }
            try folder.rename(name, to: Folder.current)
        } catch {
            // It is closed, then, and all its lines are synced.
            leaveFile()
            throw error
        }
    }

    private mutating func rotationFailed(_ error: SystemFailure) {
        if rotation?.failure != error { report(.rotationFailed(reason: error.description)) }
        rotation = (error, .now + .milliseconds(max(configuration.rotateRetryAfter, 0)))
    }

    /// Whether closed files should be looked after, and what ends them; asked after each step.
    mutating func takeHousekeeping() -> (isDue: Bool, boundary: ClosedFiles.Boundary?) {
        // A file that was just begun ends nothing until its first line is as durable as lines are here.
        let boundary = acknowledged.length > 0 ? first.map { ClosedFiles.Boundary(sequence: $0.sequence, start: $0.time) } : nil
        guard isHousekeepingDue, boundary != nil || counters.commits == 0 else { return (false, nil) }
        // Without a line at the start most can be done already, and the rest once there is one.
        isHousekeepingDue = boundary == nil
        return (true, boundary)
    }

    // MARK: Opening

    /// Sees to it that a good file is open.
    private mutating func prepare() throws(SystemFailure) {
        if let facts = try file?.facts(), facts.links == 0 || facts.size != written.length {
            leaveFile()
            report(.fileChanged(name: Folder.current))
        }
        guard file == nil else { return }
        try takeLock()
        try finishSeal()
        try open()
    }

    private mutating func takeLock() throws(SystemFailure) {
        // Asked outside of the condition: a borrow of the lock must end before it is replaced.
        let isHeld = lock?.isCurrent ?? false
        guard !isHeld else { return }
        try folder.create()
        lock = nil
        lock = try FolderLock(folder)
    }

    private mutating func open() throws(SystemFailure) {
        let opened = try recovery.open(known: max(written.next, lock?.next ?? 0))
        let survey = opened.survey
        if !isWindowFilled {
            try recovery.refill(&window, from: opened.file, survey: survey)
            isWindowFilled = true
        }
        for name in try folder.names() where name.hasPrefix(Folder.damagedPrefix) && damaged[name] == nil {
            damaged[name] = .some(nil)
        }
        if let (name, offset) = opened.damaged { damaged[name] = offset }
        counters.tornBytes += opened.tornBytes
        // Before the file counts as open, or the next try would go on without it.
        try folder.sync()
        file = opened.intoFile()
        written = Mark(length: survey.goodLength, next: max(written.next, survey.highest + 1, lock?.next ?? 0))
        acknowledged = written
        first = survey.first
        counters.lastSeq = written.next - 1
        try sync(next: written.next)
        lock?.note(next: written.next)
        isHousekeepingDue = true
    }

    /// Opens the file anew if the one at the path is another.
    mutating func reopen() {
        damaged = damaged.filter { FileFacts(path: folder.path(of: $0.key)) != nil }
        if let identity = try? file?.facts().identity {
            if FileFacts(path: folder.path(of: Folder.current))?.identity == identity { return }
            _ = syncNow()
            leaveFile()
        }
        _ = commit([])
    }

    private mutating func leaveFile() {
        file = nil
        hasUnsynced = false
        needsSync = false
        first = nil
    }

    /// Syncs and closes; false where the sync failed.
    mutating func close() -> Bool {
        let isSynced = syncNow()
        leaveFile()
        lock?.note(next: written.next)
        return isSynced
    }

    /// What holds the folder, to be let go by whoever still works in it.
    mutating func takeFolderLock() -> FolderLock? { lock.take() }
}
