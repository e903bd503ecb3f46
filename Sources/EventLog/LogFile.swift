// SPDX-License-Identifier: MIT
//
// A file descriptor that closes itself, and every system call of the log, each with what it was called for when it fails.
//
// The calls that change the disk go through `SystemCalls`: no real disk fails in its second `fdatasync` when asked to, and what a power
// cut leaves behind can be worked out only by one who saw every call. Reading is not replaced.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A system call that failed: which, on what, why.
struct SystemFailure: Error, Hashable, CustomStringConvertible {
    let call: String
    let path: String
    let code: Int32

    init(_ call: String, _ path: String, code: Int32 = errno) {
        self.call = call
        self.path = path
        self.code = code
    }

    /// The device or a quota is full, or the file as long as it may be: cutting the file back is enough, the file itself is well.
    var isLackOfRoom: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

    var description: String {
        // Unsafe: strerror gives a C string that stays valid until this thread calls it again.
        "\(call) '\(path)': \(String(cString: strerror(code))) (errno \(code))"
    }
}

/// The calls that change what is on the disk, with the signatures of the system.
struct SystemCalls: Sendable {
    var open: @Sendable (_ path: String, _ flags: Int32) -> Int32
    var write: @Sendable (_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int
    var sync: @Sendable (_ descriptor: Int32) -> Int32
    var truncate: @Sendable (_ descriptor: Int32, _ length: Int64) -> Int32
    var rename: @Sendable (_ from: String, _ to: String) -> Int32
    var unlink: @Sendable (_ path: String) -> Int32

    static var real: SystemCalls {
        #if canImport(Glibc)
            let sync: @Sendable (Int32) -> Int32 = { Glibc.fdatasync($0) }
        #else
            // fsync on macOS leaves the bytes in the drive's cache.
            let sync: @Sendable (Int32) -> Int32 = { Darwin.fcntl($0, F_FULLFSYNC) }
        #endif
        return SystemCalls(
            open: { platformOpen($0, $1) }, write: { platformWrite($0, $1) }, sync: sync, truncate: { ftruncate($0, off_t($1)) },
            rename: { platformRename($0, $1) }, unlink: { platformUnlink($0) })
    }
}

// The names of the system, which members of `SystemCalls` would hide.
private func platformOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags | O_CLOEXEC, 0o600) }
private func platformWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
private func platformRename(_ from: String, _ to: String) -> Int32 { rename(from, to) }
private func platformUnlink(_ path: String) -> Int32 { unlink(path) }

/// Which file it is, whatever its name.
struct FileIdentity: Hashable {
    let device: UInt64
    let inode: UInt64
}

/// What the system says about a file.
struct FileFacts {
    let identity: FileIdentity
    let size: Int64
    let links: Int
    let isRegular: Bool
    /// When its content last changed, whole seconds.
    let changed: TimeStamp

    init(_ facts: stat) {
        identity = FileIdentity(device: UInt64(truncatingIfNeeded: facts.st_dev), inode: UInt64(facts.st_ino))
        size = Int64(facts.st_size)
        links = Int(facts.st_nlink)
        isRegular = facts.st_mode & S_IFMT == S_IFREG
        #if canImport(Glibc)
            let seconds = facts.st_mtim.tv_sec
        #else
            let seconds = facts.st_mtimespec.tv_sec
        #endif
        // No disk needs more than 40 bits of seconds, and the product cannot overflow.
        changed = TimeStamp(milliseconds: Int64(min(max(seconds, 0), 1 << 40)) * 1000)
    }

    /// Nil where nothing has the name or it cannot be reached.
    init?(path: String) {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return nil }
        self.init(facts)
    }
}

/// An open file.
struct LogFile: ~Copyable {
    let descriptor: Int32
    private let path: String
    private let calls: SystemCalls

    init(path: String, flags: Int32, calls: SystemCalls) throws(SystemFailure) {
        descriptor = calls.open(path, flags)
        self.path = path
        self.calls = calls
        guard descriptor >= 0 else { throw SystemFailure("open", path) }
    }

    deinit {
        if descriptor >= 0 { _ = close(descriptor) }
    }

    func facts() throws(SystemFailure) -> FileFacts {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw SystemFailure("look at", path) }
        return FileFacts(facts)
    }

    /// Writes everything or throws; then some of it may be in the file.
    func append(_ bytes: Span<UInt8>) throws(SystemFailure) {
        var done = 0
        while done < bytes.count {
            // Unsafe: lends the bytes to write(2).
            let count = bytes.extracting(done..<bytes.count).withUnsafeBytes { calls.write(descriptor, $0) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemFailure("write", path) }
            // A disk that takes nothing and gives no reason would keep this loop for ever.
            guard count > 0 else { throw SystemFailure("write", path, code: ENOSPC) }
            done += count
        }
    }

    func sync() throws(SystemFailure) {
        // Not even after EINTR a second time: what the first call made of the pages is unknown.
        guard calls.sync(descriptor) == 0 else { throw SystemFailure("fdatasync", path) }
    }

    func cut(to length: Int64) throws(SystemFailure) {
        while calls.truncate(descriptor, length) != 0 {
            guard errno == EINTR else { throw SystemFailure("cut", path) }
        }
    }

    /// Reads at `offset` into a part of `buffer`; 0 at the end of the file.
    func read(into buffer: inout [UInt8], range: Range<Int>, at offset: Int64) throws(SystemFailure) -> Int {
        while true {
            // Unsafe: lends that part of the buffer to pread(2).
            let count = buffer.withUnsafeMutableBytes { all in
                let part = UnsafeMutableRawBufferPointer(rebasing: all[range])
                return pread(descriptor, part.baseAddress, part.count, off_t(offset))
            }
            if count >= 0 { return count }
            guard errno == EINTR else { throw SystemFailure("read", path) }
        }
    }
}
