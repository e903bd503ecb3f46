// SPDX-License-Identifier: MIT
//
// Reads a log from front to back: a folder, one file, or standard input. Every line that is handed out has passed its check; those that do not
// are counted and never fatal, and neither is a file that cannot be read. While a server writes, the current file is opened before the folder is
// listed: what is renamed in between is then recognized, and nothing is missed or read twice.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

package final class LogReader {
    /// A good line's number and arrival.
    package struct Line: Hashable, Sendable {
        package let seq: UInt64
        /// Milliseconds since 1970 in UTC.
        package let at: Int64
    }

    /// A line that is none, or that has changed since it was written.
    package struct BadLine: Hashable, Sendable {
        package let file: String
        /// Bytes of text in front of it.
        package let offset: Int64
        /// It is the file's last, and has no line feed: a crash, or a line that is being written.
        package let isTorn: Bool
    }

    /// Which lines are wanted; those that are not may be passed over without a look.
    package struct Wanted: Sendable {
        /// One of these bytes must stand in the line; all lines where empty.
        package var needles: [[UInt8]] = []
        /// Arrivals, in milliseconds since 1970; whole files are passed over, single lines are not.
        package var since: Int64?
        package var to: Int64?
        /// So many lines at the end; whole files in front of them are passed over.
        package var last: Int?

        package init() {}
    }

    private let path: String
    private let isFolder: Bool
    /// How often and how much of what could not be read was met; the first hundred places.
    package private(set) var badLines: [BadLine] = []
    package private(set) var badCount = 0
    /// Files that could not be read, or not to their ends; a hundred at most.
    package private(set) var failures: [ReadFailure] = []
    /// Bytes taken from the disk so far, and how many there are; nil where that is not known.
    package private(set) var taken: Int64 = 0
    package private(set) var total: Int64?
    private var lastSeq: UInt64 = 0

    /// - Parameter path: a folder, a file, or `-` for standard input.
    /// - Throws: where nothing has that name.
    package init(path: String) throws(ReadFailure) {
        self.path = path
        var facts = stat()
        guard path != "-" else {
            isFolder = false
            return
        }
        guard stat(path, &facts) == 0 else { throw ReadFailure(path, errno: errno) }
        isFolder = facts.st_mode & S_IFMT == S_IFDIR
    }

    /// The files in order; one without a name in a folder for a single file.
    package func files() throws(ReadFailure) -> [LogFileEntry] {
        if isFolder { return try LogFiles.list(path) }
        guard path != "-", let facts = FileFacts(path: path) else { return [] }
        return [
            LogFileEntry(name: path, path: path, kind: .given, firstSeq: nil, start: nil, size: facts.size, identity: facts.identity)
        ]
    }

    /// Hands out all lines that are wanted, in order, until `body` returns false.
    ///
    /// - Parameters:
    ///   - progress: is called after each block.
    ///   - follow: waits for more at the end, and returns false to stop; nil ends there. Files that the log begins meanwhile are read too.
    ///   - body: is lent the line without its line feed.
    /// - Throws: only where nothing at all can be read.
    package func read(
        _ wanted: Wanted = Wanted(), progress: () -> Void = {}, follow: (() -> Bool)? = nil, _ body: (Line, Span<UInt8>) -> Bool
    ) throws(ReadFailure) {
        guard isFolder else {
            var blocks: LineBlocks? = LineBlocks(path == "-" ? try LogInput(standardInput: ()) : try LogInput(path: path))
            total = blocks?.input.size
            guard drain(&blocks, wanted, ends: follow == nil, progress, body), let follow else { return }
            while follow() {
                if blocks?.input.isCutBack == true { blocks = LineBlocks(try LogInput(path: path)) }
                guard drain(&blocks, wanted, ends: false, after: lastSeq, progress, body) else { return }
            }
            return
        }
        let currentPath = Folder(path: path, calls: .real).path(of: Folder.current)
        var current = openCurrent(currentPath)
        guard try readClosed(wanted, besides: [current?.input.identity], progress, body) else { return }
        guard drain(&current, wanted, ends: follow == nil, progress, body), let follow else { return }
        while follow() {
            // A start has cut off the torn end of a crash, and goes on in front of where this one reads.
            if current?.input.isCutBack == true { current = openCurrent(currentPath) }
            guard drain(&current, wanted, ends: false, after: lastSeq, progress, body) else { return }
            guard let identity = FileIdentity(path: currentPath), identity != current?.input.identity else { continue }
            // Closed since: what was written until then, then the files in between, then the new one.
            guard drain(&current, wanted, ends: true, progress, body) else { return }
            let old = current?.input.identity
            current = openCurrent(currentPath)
            guard try readClosed(wanted, besides: [current?.input.identity, old], after: lastSeq, progress, body),
                drain(&current, wanted, ends: false, progress, body)
            else { return }
        }
    }

    private func openCurrent(_ path: String) -> LineBlocks? {
        do throws(ReadFailure) {
            return LineBlocks(try LogInput(path: path, name: Folder.current))
        } catch {
            if !error.isMissing { fail(error) }
            return nil
        }
    }

    /// All files of the folder but the current one; false where `body` has had enough.
    ///
    /// - Parameter after: only what came behind this number: a file is passed over where the next one begins at or before it.
    private func readClosed(
        _ wanted: Wanted, besides identities: [FileIdentity?], after: UInt64? = nil, _ progress: () -> Void,
        _ body: (Line, Span<UInt8>) -> Bool
    ) throws(ReadFailure) -> Bool {
        let entries = try LogFiles.list(path)
        let newest = entries.last { $0.firstSeq != nil && ($0.kind == .closed || $0.kind == .current) }?.firstSeq ?? 0
        if after == nil { total = entries.reduce(0) { $0 + $1.size } }
        // A search may not have met the last numbers; the file that was current tells where it began.
        let followed = after == nil ? nil : entries.first { $0.kind == .closed && identities.contains($0.identity) }?.firstSeq
        for (index, entry) in entries.enumerated() where entry.kind != .current && !identities.contains(entry.identity) {
            let next = entries[(index + 1)...].first { $0.kind == .closed || $0.kind == .current }
            let isPassed =
                if let after {
                    entry.kind != .closed || next?.firstSeq.map { $0 <= after + 1 } ?? false
                        || followed.map { entry.firstSeq ?? 0 <= $0 } ?? false
                } else {
                    !wanted.reaches(entry, next: next, newest: newest)
                }
            guard !isPassed else {
                taken += entry.size
                continue
            }
            do throws(ReadFailure) {
                var blocks: LineBlocks? = LineBlocks(try open(entry))
                guard drain(&blocks, wanted, ends: true, after: after, progress, body) else { return false }
            } catch {
                fail(error)
            }
        }
        return true
    }

    /// A plain file may have been replaced by its compressed copy since it was listed.
    private func open(_ entry: LogFileEntry) throws(ReadFailure) -> LogInput {
        do throws(ReadFailure) {
            return try LogInput(path: entry.path, name: entry.name)
        } catch {
            guard error.isMissing, entry.name.hasSuffix(".jsonl") else { throw error }
            return try LogInput(path: entry.path + ".gz", name: entry.name + ".gz")
        }
    }

    /// Hands out what can be read now; false where `body` has had enough.
    private func drain(
        _ blocks: inout LineBlocks?, _ wanted: Wanted, ends: Bool, after: UInt64? = nil, _ progress: () -> Void,
        _ body: (Line, Span<UInt8>) -> Bool
    ) -> Bool {
        guard let name = blocks?.input.name else { return true }
        let before = taken
        let takenBefore = blocks?.input.taken ?? 0
        let tooLongBefore = blocks?.tooLong ?? 0
        defer {
            badCount += (blocks?.tooLong ?? 0) - tooLongBefore
            progress()
        }
        do throws(ReadFailure) {
            while let block = try blocks?.next(ends: ends) {
                taken = before + (blocks?.input.taken ?? 0) - takenBefore
                progress()
                let goesOn = blocks?.eachLine(in: block, holding: wanted.needles) { line, offset in
                    guard let seq = LineFormat.sequence(of: line), block.isWhole else {
                        note(BadLine(file: name, offset: offset, isTorn: !block.isWhole))
                        return true
                    }
                    if let after, seq <= after { return true }
                    lastSeq = max(lastSeq, seq)
                    return body(Line(seq: seq, at: LineFormat.time(of: line)?.milliseconds ?? 0), line)
                }
                if goesOn == false { return false }
            }
        } catch {
            fail(error)
            blocks = nil
        }
        return true
    }

    private func fail(_ failure: ReadFailure) {
        if failures.count < 100 { failures.append(failure) }
    }

    private func note(_ line: BadLine) {
        badCount += 1
        if badLines.count < 100 { badLines.append(line) }
    }
}

extension LogReader.Wanted {
    /// Whether a file may hold lines of that time; what has no time in its name may.
    ///
    /// - Parameter newest: the number with which the newest file begins. Numbers count up by one, so they tell how many lines follow.
    fileprivate func reaches(_ entry: LogFileEntry, next: LogFileEntry?, newest: UInt64) -> Bool {
        if let last, last >= 0, let end = next?.firstSeq, newest >= end, newest - end >= UInt64(last) { return false }
        if let to, let start = entry.start, start > to { return false }
        if let since, entry.start != nil, let end = next?.start, end + 1000 < since { return false }
        return true
    }
}

extension FileIdentity {
    /// Of what has this name; nil where nothing has.
    fileprivate init?(path: String) {
        guard let facts = FileFacts(path: path) else { return nil }
        self = facts.identity
    }
}
