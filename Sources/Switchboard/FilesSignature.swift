// SPDX-License-Identifier: MIT
//
// How a change of files is noticed: flows in their folder, and a certificate with its key, are looked at twice a second and read only where
// something about them is new.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What tells one state of some files from another, without reading them.
package struct FilesSignature: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        let name: String
        let size: Int64
        /// Nanoseconds; of the content and of the file.
        let modified: Int64
        let changed: Int64
        let number: UInt64

        /// Nil where there is no such file.
        init?(name: String, path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { return nil }
            self.name = name
            size = Int64(facts.st_size)
            number = UInt64(facts.st_ino)
            #if canImport(Glibc)
                (modified, changed) = (nanoseconds(facts.st_mtim), nanoseconds(facts.st_ctim))
            #else
                (modified, changed) = (nanoseconds(facts.st_mtimespec), nanoseconds(facts.st_ctimespec))
            #endif
        }
    }

    let entries: [Entry]
    /// Why the folder that they are in cannot be looked into.
    let fault: SmallFileError?

    /// Whether the newest change is as young as this.
    func changedWithin(milliseconds: Int) -> Bool {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let now = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        let newest = entries.map(\.changed).max() ?? 0
        // Another machine's clock may be ahead: what lies in the future tells nothing.
        return newest <= now && now - newest < Int64(milliseconds) * 1_000_000
    }

    init(_ entries: [Entry], fault: SmallFileError? = nil) {
        self.entries = entries
        self.fault = fault
    }
}

private func nanoseconds(_ time: timespec) -> Int64 { Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec) }
