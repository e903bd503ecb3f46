// SPDX-License-Identifier: MIT
//
// Reads a whole file that should be small, and says why where it cannot. A named pipe, a folder or a file without end holds nobody up.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

package struct SmallFileError: Error, Hashable, CustomStringConvertible {
    package enum Fault: Hashable, Sendable {
        case isFolder, isNoFile
        case isTooLarge(limit: Int)
        /// `errno`.
        case system(Int32)
    }

    package let fault: Fault

    package var isMissing: Bool { fault == .system(ENOENT) || fault == .system(ENOTDIR) }

    package var description: String {
        switch fault {
        case .isFolder: "it is a folder"
        case .isNoFile: "it is not a file"
        case .isTooLarge(let limit): "it has more than \(limit / 1024) KiB"
        case .system(let code): String(cString: strerror(code))
        }
    }
}

/// The bytes of a file with at most `limit` of them.
///
/// - Parameter mayBePipe: what a shell makes of `<(command)` is read as well; it is waited for until its writer ends.
package func readSmallFile(_ path: String, limit: Int, mayBePipe: Bool = false) throws(SmallFileError) -> [UInt8] {
    // Without O_NONBLOCK opening a named pipe would wait for a writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | (mayBePipe ? 0 : O_NONBLOCK))
    guard descriptor >= 0 else { throw SmallFileError(fault: .system(errno)) }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else { throw SmallFileError(fault: .system(errno)) }
    guard facts.st_mode & S_IFMT != S_IFDIR else { throw SmallFileError(fault: .isFolder) }
    guard facts.st_mode & S_IFMT == S_IFREG || mayBePipe else { throw SmallFileError(fault: .isNoFile) }
    return try readAll(descriptor, limit: limit)
}

/// All bytes that are to come from a descriptor, such as standard input.
package func readAll(_ descriptor: Int32, limit: Int) throws(SmallFileError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw SmallFileError(fault: .system(errno)) }
        guard count > 0 else { return bytes }
        bytes += chunk[..<count]
        guard bytes.count <= limit else { throw SmallFileError(fault: .isTooLarge(limit: limit)) }
    }
}
