// SPDX-License-Identifier: MIT
//
// Where lines are read from: a plain file, one that gzip made small, or a pipe such as standard input, which are told apart by their first two
// bytes and not by their names. Reading takes no lock and changes nothing, so a server may write meanwhile, and the file may be from elsewhere.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Why something of the log could not be read.
package struct ReadFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// A path, a name in the folder, or `standard input`.
    package let name: String
    package let reason: String
    /// Nothing has that name.
    package let isMissing: Bool

    init(_ name: String, _ reason: String, isMissing: Bool = false) {
        self.name = name
        self.reason = reason
        self.isMissing = isMissing
    }

    init(_ name: String, errno code: Int32) {
        self.init(name, String(cString: strerror(code)), isMissing: code == ENOENT || code == ENOTDIR)
    }

    package var description: String { "\(name): \(reason)" }
}

struct LogInput: ~Copyable {
    let name: String
    private let descriptor: Int32
    /// Bytes on the disk when it was opened; nil for what is no file.
    let size: Int64?
    /// Nil for what is no file.
    let identity: FileIdentity?
    /// Bytes read from the disk or the pipe.
    private(set) var taken: Int64 = 0
    private var inflater: Inflater?
    private var isBegun = false

    /// Compressed bytes that are read at once: as many as a disk gives at full speed.
    private static let compressedPiece = 128 * 1024

    /// - Parameter name: what messages call it; the path where nil.
    init(path: String, name: String? = nil) throws(ReadFailure) {
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard opened >= 0 else { throw ReadFailure(name ?? path, errno: errno) }
        try self.init(descriptor: opened, name: name ?? path)
    }

    /// Standard input, which stays open.
    init(standardInput: Void) throws(ReadFailure) {
        let copy = dup(STDIN_FILENO)
        guard copy >= 0 else { throw ReadFailure("standard input", errno: errno) }
        try self.init(descriptor: copy, name: "standard input")
    }

    private init(descriptor: Int32, name: String) throws(ReadFailure) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT != S_IFDIR else {
            let code = facts.st_mode & S_IFMT == S_IFDIR ? EISDIR : errno
            close(descriptor)
            throw ReadFailure(name, errno: code)
        }
        let isFile = facts.st_mode & S_IFMT == S_IFREG
        self.name = name
        self.descriptor = descriptor
        size = isFile ? Int64(facts.st_size) : nil
        identity = isFile ? FileFacts(facts).identity : nil
    }

    deinit { close(descriptor) }

    var isCompressed: Bool { inflater != nil }

    /// The file is now shorter than what was read of it.
    var isCutBack: Bool {
        var facts = stat()
        return identity != nil && fstat(descriptor, &facts) == 0 && Int64(facts.st_size) < taken
    }

    /// Reads text into a part of `buffer`; 0 at the end, which for a growing file may be another one later.
    mutating func read(into buffer: inout [UInt8], range: Range<Int>) throws(ReadFailure) -> Int {
        var failure: ReadFailure?
        // Unsafe: lends that part of the buffer to read(2) and zlib.
        let count = buffer.withUnsafeMutableBytes { all in
            do throws(ReadFailure) {
                return try read(into: UnsafeMutableRawBufferPointer(rebasing: all[range]))
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        return count
    }

    private mutating func read(into part: UnsafeMutableRawBufferPointer) throws(ReadFailure) -> Int {
        if let inflater { return try inflate(inflater, into: part) }
        var count = try fill(part)
        if isBegun || count == 0 { return count }
        // A pipe may give a single byte first.
        while count == 1, part.count > 1, case let more = try fill(UnsafeMutableRawBufferPointer(rebasing: part[1...])), more > 0 {
            count += more
        }
        isBegun = true
        guard count >= 2, part[0] == 0x1F, part[1] == 0x8B else { return count }
        let inflater = Inflater(capacity: max(Self.compressedPiece, count))
        self.inflater = inflater
        return try inflate(inflater, first: Array(part[..<count]), into: part)
    }

    private mutating func inflate(
        _ inflater: Inflater, first: [UInt8] = [], into part: UnsafeMutableRawBufferPointer
    ) throws(ReadFailure) -> Int {
        var first = first
        let result = try inflater.read(into: part) { (room) throws(ReadFailure) -> Int in
            guard first.isEmpty else {
                room.copyBytes(from: first)
                defer { first = [] }
                return first.count
            }
            return try fill(room)
        }
        switch result {
        case .success(let count): return count
        case .failure(let error):
            switch error.fault {
            case .damaged: throw ReadFailure(name, "the compressed data is damaged near byte \(taken)")
            case .cut: throw ReadFailure(name, "the compressed data ends too early, at byte \(taken)")
            case .noMemory: throw ReadFailure(name, "there is no memory to uncompress it")
            }
        }
    }

    private mutating func fill(_ part: UnsafeMutableRawBufferPointer) throws(ReadFailure) -> Int {
        while true {
            #if canImport(Glibc)
                let count = Glibc.read(descriptor, part.baseAddress, part.count)
            #else
                let count = Darwin.read(descriptor, part.baseAddress, part.count)
            #endif
            if count >= 0 {
                taken += Int64(count)
                return count
            }
            guard errno == EINTR else { throw ReadFailure(name, errno: errno) }
        }
    }
}
