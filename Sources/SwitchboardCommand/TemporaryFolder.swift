// SPDX-License-Identifier: MIT
//
// Folders of one run, for keys and logs that nobody keeps.

import Locking
import NCCO
import Switchboard

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

enum TemporaryFolder {
    /// Those that are there now, each with what ends the writing in it.
    private static let made = Locked<[(folder: String, close: (@Sendable () -> Void)?)]>([])

    /// Makes one that its owner alone can read: `/tmp/switchboard-PURPOSE-` and six letters.
    static func make(_ purpose: String, for contents: String) throws(UsageError) -> String {
        var place = "/tmp"
        if let value = getenv("TMPDIR") {
            let folder = String(cString: value)
            if !folder.isEmpty { place = folder }
        }
        // mkdtemp(3) puts a name of its own in the place of the six letters at the end.
        var template = Array("\(place)/switchboard-\(purpose)-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            throw UsageError("no folder can be made in \(printable(place)) for \(contents): \(String(cString: strerror(errno)))")
        }
        let folder = String(cString: made)
        Self.made.withLock { $0.append((folder, nil)) }
        return folder
    }

    /// Names what writes in a folder until it is closed: a log makes its folder again where somebody takes it away.
    static func closing(_ folder: String, by close: @escaping @Sendable () -> Void) {
        made.withLock { made in
            if let at = made.firstIndex(where: { $0.folder == folder }) { made[at].close = close }
        }
    }

    /// Removes what is left of this run, for a process that ends early.
    static func removeAll() {
        for (folder, close) in made.withLock({ $0 }) {
            close?()
            remove("\(folder)/events")
            remove(folder)
        }
    }

    /// Removes a folder with the files in it; one that holds folders stays.
    static func remove(_ folder: String) {
        made.withLock { $0.removeAll { $0.folder == folder } }
        if let directory = opendir(folder) {
            while let entry = readdir(directory) {
                // Unsafe: the name ends with a zero inside the entry, which stays valid until the next readdir.
                let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if name != ".", name != ".." { unlink("\(folder)/\(name)") }
            }
            closedir(directory)
        }
        rmdir(folder)
    }
}
