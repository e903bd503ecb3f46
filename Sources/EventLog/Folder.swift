// SPDX-License-Identifier: MIT
//
// The folder of the log: making it, the names in it, and the lock that keeps a second writer out.
//
//     events.jsonl                          being written
//     events-<UTC start>-<first seq>.jsonl  closed; `.gz` follows once it is compressed
//     events.torn-<UTC time>                what a crash left behind the last whole line
//     events.damaged-<UTC time>.jsonl       set aside
//     events.lock                           locked by the writer, holds its process id and the number of the line that comes next
//
// A name that is taken gets `-2`, `-3`, … behind it. The lock is on a file of its own, not on the log, because the log is renamed; and
// not on the folder, because then no process id could be read.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct Folder: Sendable {
    static let current = "events.jsonl"
    static let lock = "events.lock"
    static let tornPrefix = "events.torn-"
    static let damagedPrefix = "events.damaged-"

    let path: String
    let calls: SystemCalls

    func path(of name: String) -> String { path.hasSuffix("/") ? path + name : path + "/" + name }

    /// A name that nothing in the folder has, and that stays free under each of the suffixes; with the first of them.
    func freeName(stem: String, suffixes: [String]) -> String {
        var free = stem
        var number = 2
        while suffixes.contains(where: { FileFacts(path: path(of: free + $0)) != nil }) {
            free = "\(stem)-\(number)"
            number += 1
        }
        return free + (suffixes.first ?? "")
    }

    /// The name of a file that is closed now; a compressed one of that name would be taken for its own.
    func freeClosedName(start: TimeStamp, firstSequence: UInt64) -> String {
        freeName(stem: ClosedFile.stem(start: start, firstSequence: firstSequence), suffixes: ClosedFile.Form.allCases.map(\.rawValue))
    }

    /// Makes it and its parents where missing, each on disk before the next.
    func create() throws(SystemFailure) {
        var end = path.startIndex
        while end < path.endIndex {
            end = path[end...].dropFirst().firstIndex(of: "/") ?? path.endIndex
            let part = String(path[..<end])
            if mkdir(part, 0o700) == 0 {
                let parent = part.lastIndex(of: "/").map { String(part[..<$0]) } ?? "."
                try Self.sync(parent.isEmpty ? "/" : parent, calls: calls)
            } else if errno != EEXIST {
                // What exists may also be refused in other words, such as a read-only file system's.
                let code = errno
                var facts = stat()
                guard stat(part, &facts) == 0 else { throw SystemFailure("make folder", part, code: code) }
            }
        }
    }

    /// Makes new, changed and removed names in it durable.
    func sync() throws(SystemFailure) { try Self.sync(path, calls: calls) }

    private static func sync(_ path: String, calls: SystemCalls) throws(SystemFailure) {
        try LogFile(path: path, flags: O_RDONLY | O_DIRECTORY, calls: calls).sync()
    }

    func rename(_ name: String, to other: String) throws(SystemFailure) {
        guard calls.rename(path(of: name), path(of: other)) == 0 else { throw SystemFailure("rename", path(of: name)) }
    }

    func unlink(_ name: String) throws(SystemFailure) {
        guard calls.unlink(path(of: name)) == 0 else { throw SystemFailure("remove", path(of: name)) }
    }

    /// Whether the disk takes something, tried beside the log: what is written and removed here is in no reader's way.
    func probe() throws(SystemFailure) {
        let name = ".probe"
        let file = try LogFile(path: path(of: name), flags: O_WRONLY | O_CREAT | O_TRUNC, calls: calls)
        do throws(SystemFailure) {
            try file.append([UInt8](repeating: 0, count: 4096).span)
            try file.sync()
        } catch {
            try? unlink(name)
            throw error
        }
        try unlink(name)
    }

    /// Every name in it, sorted.
    func names() throws(SystemFailure) -> [String] {
        guard let stream = opendir(path) else { throw SystemFailure("list", path) }
        defer { closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(stream) {
            // Unsafe: the name ends with a zero inside the entry, which stays valid until the next readdir.
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) })
        }
        guard errno == 0 else { throw SystemFailure("list", path) }
        return names.sorted()
    }
}

/// Holds the folder against other writers for as long as it lives.
///
/// It also keeps the number that the next line had when a file was begun or the log closed: where all files were moved out of the folder, no
/// line is left to tell.
struct FolderLock: ~Copyable {
    private let file: LogFile
    private let path: String
    /// The number that the last writer left; 0 where there was none.
    let next: UInt64

    /// A tenth of a second in all, tries of so many milliseconds.
    private static let mostTries = 20
    private static let pause: Int32 = 5

    /// Fails with `EWOULDBLOCK` where another writer holds it.
    init(_ folder: Folder) throws(SystemFailure) {
        // Local until it is locked: a value that cannot be copied is made whole or not at all.
        let path = folder.path(of: Folder.lock)
        let file = try LogFile(path: path, flags: O_RDWR | O_CREAT, calls: .real)
        var tries = 0
        while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            // A child that a former holder's process began keeps the lock until it executes its program (fork(2)): for that a moment is waited.
            guard errno == EWOULDBLOCK, tries < Self.mostTries else { throw SystemFailure("lock", path) }
            tries += 1
            poll(nil, 0, Self.pause)
        }
        next = Self.lines(of: file).dropFirst().first.flatMap { $0.utf8.count <= 18 ? UInt64($0) : nil } ?? 0
        self.file = file
        self.path = path
        note(next: next)
    }

    /// Writes who holds the folder, and the number. Only a help, so a full disk may prevent it.
    func note(next: UInt64) {
        let text = Array("\(getpid())\n\(next)\n".utf8)
        _ = ftruncate(file.descriptor, 0)
        _ = pwrite(file.descriptor, text, text.count, 0)
    }

    private static func lines(of file: borrowing LogFile) -> [Substring] {
        var text = [UInt8](repeating: 0, count: 64)
        guard let count = try? file.read(into: &text, range: text.indices, at: 0) else { return [] }
        return String(decoding: text.prefix(count), as: UTF8.self).split(separator: "\n")
    }

    /// False once the lock file was removed, when others could take a new one.
    var isCurrent: Bool { (try? file.facts().identity) == FileFacts(path: path)?.identity }

    /// The process id in the lock file.
    static func holder(of folder: Folder) -> Int32? {
        guard let file = try? LogFile(path: folder.path(of: Folder.lock), flags: O_RDONLY, calls: .real) else { return nil }
        return lines(of: file).first.flatMap { Int32($0) }
    }
}
