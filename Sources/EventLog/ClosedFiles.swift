// SPDX-License-Identifier: MIT
//
// What becomes of files once they are closed: each is compressed, and the oldest are deleted where a limit says so.
//
//     events-….jsonl                        as it was closed
//     events-….jsonl.gz.part                being written, then synced
//     events-….jsonl.gz                     renamed, and the folder synced; only now is the plain file removed, and that synced too
//
// A crash between any two of these leaves a folder from which the next pass does the rest, for a pass goes by what lies there and not by
// what it remembers. A plain file beside a compressed one is either the same bytes, which its check sum and length tell, and is removed; or
// the compressed one is made anew.
//
// Files are touched only while a later one holds a line: of the newest its last number counts, which no name tells.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct ClosedFiles: Sendable {
    /// Where closed files end: what is known of the file being written.
    struct Boundary: Hashable {
        /// Number and arrival of its first line.
        let sequence: UInt64
        let start: TimeStamp
    }

    /// What a pass did.
    struct Outcome: Hashable {
        var compressed = 0
        var bytesBefore: Int64 = 0
        var bytesAfter: Int64 = 0
        var deletedForAge = 0
        var deletedForSize = 0
        /// What could not be done, of several the first; the rest was done.
        var failure: SystemFailure?
        /// It was stopped before the end.
        var isStopped = false
    }

    /// A closed file with what decides about it.
    private struct Candidate {
        let names: [String]
        let size: Int64
        /// No line in it is later, milliseconds since 1970.
        let end: Int64
    }

    let folder: Folder
    /// Milliseconds for which a file is kept after its newest line.
    let keepFor: Int64?
    /// Bytes that closed files may take together.
    let keepSize: Int64?
    let report: @Sendable (LogNotice) -> Void

    /// Compresses, deletes, and compresses what then has room.
    ///
    /// - Parameters:
    ///   - boundary: nil where the current file holds no line; then the newest of the closed ones is left alone.
    ///   - isStopped: asked before anything in the folder is changed, and between pieces of a file.
    func pass(before boundary: Boundary?, now: TimeStamp, isStopped: () -> Bool) -> Outcome {
        var outcome = Outcome()
        compressAll(before: boundary, &outcome, isStopped)
        if delete(before: boundary, now: now, &outcome, isStopped), outcome.failure?.isLackOfRoom == true {
            outcome.failure = nil
            compressAll(before: boundary, &outcome, isStopped)
        }
        return outcome
    }

    /// Every closed file that may be touched, oldest first.
    private func eligible(before boundary: Boundary?) throws(SystemFailure) -> [ClosedFile] {
        let all = try folder.names().compactMap { ClosedFile(name: $0) }.filter { file in
            FileFacts(path: folder.path(of: file.name))?.isRegular ?? false
        }
        let end = boundary?.sequence ?? all.map(\.firstSequence).max() ?? 0
        return all.filter { $0.firstSequence < end }.sorted { ($0.firstSequence, $0.name) < ($1.firstSequence, $1.name) }
    }

    // MARK: Compressing

    private func compressAll(before boundary: Boundary?, _ outcome: inout Outcome, _ isStopped: () -> Bool) {
        do throws(SystemFailure) {
            let files = try eligible(before: boundary)
            // What a stop or a crash left behind goes first, for it takes room.
            for file in files.filter({ $0.form == .partial }) + files.filter({ $0.form == .plain }) {
                guard !isStopped() else {
                    outcome.isStopped = true
                    return
                }
                if file.form == .partial {
                    try folder.unlink(file.name)
                    continue
                }
                do throws(SystemFailure) { try compress(file, &outcome, isStopped) } catch {
                    outcome.failure = outcome.failure ?? error
                    // Without room the others would only try as much in vain.
                    if error.isLackOfRoom { return }
                }
            }
        } catch { outcome.failure = outcome.failure ?? error }
    }

    private func compress(_ file: ClosedFile, _ outcome: inout Outcome, _ isStopped: () -> Bool) throws(SystemFailure) {
        let path = folder.path(of: file.name)
        let plain = try LogFile(path: path, flags: O_RDONLY | O_NOFOLLOW, calls: folder.calls)
        let before = try plain.facts()
        let finished = file.name(as: .compressed)
        if FileFacts(path: folder.path(of: finished)) != nil {
            let compressed = try LogFile(path: folder.path(of: finished), flags: O_RDONLY | O_NOFOLLOW, calls: folder.calls)
            guard let isSame = try Gzip.isMember(compressed, of: plain, isStopped: isStopped) else {
                outcome.isStopped = true
                return
            }
            // Renamed before a crash, perhaps, but its name not yet on disk.
            if isSame { return try replace(file) }
        }
        guard let (read, written) = try makePart(of: file, plain, isStopped) else {
            outcome.isStopped = true
            return
        }
        do throws(SystemFailure) {
            let after = try plain.facts()
            guard read == before.size, after.size == read, after.identity == FileFacts(path: path)?.identity else {
                throw SystemFailure("compress what another program writes to,", path, code: EBUSY)
            }
            try folder.rename(file.name(as: .partial), to: finished)
        } catch {
            try? folder.unlink(file.name(as: .partial))
            throw error
        }
        try replace(file)
        outcome.compressed += 1
        outcome.bytesBefore += read
        outcome.bytesAfter += written
    }

    private func makePart(
        of file: ClosedFile, _ plain: borrowing LogFile, _ isStopped: () -> Bool
    ) throws(SystemFailure) -> (read: Int64, written: Int64)? {
        let name = file.name(as: .partial)
        let path = folder.path(of: name)
        if FileFacts(path: path) != nil { try folder.unlink(name) }
        do throws(SystemFailure) {
            let part = try LogFile(path: path, flags: O_WRONLY | O_APPEND | O_CREAT | O_EXCL, calls: folder.calls)
            if let sizes = try Gzip.compress(plain, to: part, path: path, isStopped: isStopped) { return sizes }
        } catch {
            // It may be what fills the disk.
            try? folder.unlink(name)
            throw error
        }
        try folder.unlink(name)
        return nil
    }

    /// Removes the plain file once the name of the compressed one is on disk.
    private func replace(_ file: ClosedFile) throws(SystemFailure) {
        try folder.sync()
        try folder.unlink(file.name)
        try folder.sync()
    }

    // MARK: Deleting

    /// Deletes oldest first what is older than the limit, then what is too much; false where nothing was deleted.
    private func delete(before boundary: Boundary?, now: TimeStamp, _ outcome: inout Outcome, _ isStopped: () -> Bool) -> Bool {
        guard keepFor != nil || keepSize != nil else { return false }
        var (aged, oversized) = ([String](), [String]())
        do throws(SystemFailure) {
            let candidates = try candidates(before: boundary)
            var total = candidates.reduce(0 as Int64) { $0 + $1.size }
            for oldest in candidates {
                let isOld = keepFor.map { oldest.end < now.milliseconds - $0 } ?? false
                guard isOld || keepSize.map({ total > $0 }) ?? false else { break }
                guard !isStopped() else {
                    outcome.isStopped = true
                    break
                }
                for name in oldest.names { try folder.unlink(name) }
                if isOld { aged += oldest.names } else { oversized += oldest.names }
                total -= oldest.size
            }
            if !aged.isEmpty || !oversized.isEmpty { try folder.sync() }
        } catch { outcome.failure = outcome.failure ?? error }
        outcome.deletedForAge += aged.count
        outcome.deletedForSize += oversized.count
        for (names, reason) in [(aged, LogNotice.Deletion.age), (oversized, .size)] {
            guard let first = names.first, let last = names.last else { continue }
            report(.deleted(files: names.count, first: first, last: last, reason: reason))
        }
        return !aged.isEmpty || !oversized.isEmpty
    }

    private func candidates(before boundary: Boundary?) throws(SystemFailure) -> [Candidate] {
        var candidates: [Candidate] = []
        let files = try eligible(before: boundary)
        // Both forms of one file, as a crash may leave them, are one.
        var index = 0
        while index < files.count {
            let file = files[index]
            let same = files[index...].prefix { $0.stem == file.stem }
            index += same.count
            let facts = same.compactMap { FileFacts(path: folder.path(of: $0.name)) }
            // A file ends where the next begins, or, if the clock was wrong then, the first that does not begin before this one did. Its own
            // time of change says less: in a copy of the folder it is that of copying.
            let start = file.start.milliseconds
            let next =
                files[index...].lazy.map(\.start.milliseconds).first { $0 >= start }
                ?? boundary.map(\.start.milliseconds).flatMap { $0 >= start ? $0 : nil }
            let changed = facts.map(\.changed.milliseconds).max() ?? start
            candidates.append(
                Candidate(names: same.map(\.name), size: facts.reduce(0) { $0 + $1.size }, end: next ?? max(changed, start)))
        }
        return candidates
    }
}
