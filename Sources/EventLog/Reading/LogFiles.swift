// SPDX-License-Identifier: MIT
//
// Which files of a folder hold the log, and in which order. Closed files tell in their names when and with which number they begin. Of a plain
// file and its compressed copy, which may stand side by side for a moment or after a crash, the plain one is read: it is complete. What was set
// aside as torn or damaged is read too, for its good lines are events that were received.

/// A file of the log.
package struct LogFileEntry: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case closed, current, torn, damaged, given }

    package let name: String
    package let path: String
    package let kind: Kind
    /// The number of its first line; nil where none was found.
    package let firstSeq: UInt64?
    /// When it began, in milliseconds since 1970; nil where its name does not tell.
    package let start: Int64?
    /// Bytes on the disk.
    package let size: Int64
    let identity: FileIdentity
}

enum LogFiles {
    /// All files of the log in order; the current one last.
    static func list(_ path: String) throws(ReadFailure) -> [LogFileEntry] {
        let folder = Folder(path: path, calls: .real)
        let names: [String]
        do throws(SystemFailure) { names = try folder.names() } catch { throw ReadFailure(path, errno: error.code) }
        let present = Set(names)
        var entries: [LogFileEntry] = []
        for name in names {
            guard let kind = kind(of: name), let facts = FileFacts(path: folder.path(of: name)), facts.isRegular else { continue }
            if name.hasSuffix(".gz"), present.contains(String(name.dropLast(3))) { continue }
            let path = folder.path(of: name)
            let closed = ClosedFile(name: name)
            entries.append(
                LogFileEntry(
                    name: name, path: path, kind: kind, firstSeq: closed?.firstSequence ?? firstSequence(path),
                    start: closed?.start.milliseconds, size: facts.size, identity: facts.identity))
        }
        return entries.sorted {
            let (one, other) = ($0.kind == .current ? UInt64.max : $0.firstSeq ?? 0, $1.kind == .current ? UInt64.max : $1.firstSeq ?? 0)
            return (one, $0.name) < (other, $1.name)
        }
    }

    private static func kind(of name: String) -> LogFileEntry.Kind? {
        if name == Folder.current { return .current }
        if name.hasPrefix(Folder.tornPrefix) { return .torn }
        if name.hasPrefix(Folder.damagedPrefix) { return .damaged }
        return name.hasPrefix("events") && (name.hasSuffix(".jsonl") || name.hasSuffix(".jsonl.gz")) ? .closed : nil
    }

    /// The number of the first good line in the first block.
    private static func firstSequence(_ path: String) -> UInt64? {
        guard let input = try? LogInput(path: path) else { return nil }
        var blocks = LineBlocks(input, size: 16 * 1024)
        guard let block = try? blocks.next() else { return nil }
        var found: UInt64?
        _ = blocks.eachLine(in: block) { line, _ in
            found = LineFormat.sequence(of: line)
            return found == nil
        }
        return found
    }
}
