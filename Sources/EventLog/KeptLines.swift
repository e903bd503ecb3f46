// SPDX-License-Identifier: MIT
//
// A small file beside the log, in the log's line format, that is kept for ever: read whole at the start, appended to one durable line at a
// time. Like the log it never syncs a file again that once failed to: what is to be in it is in memory, and the next line takes all of it into
// a new file. A line that a crash left unfinished was promised to nobody and is cut off; a damaged one is passed over, and its file set aside.
//
// All I/O is on one queue. Nothing is made before the first line is kept.

import Dispatch
import Locking

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Why a line was not kept, or a file not read.
package struct KeptLinesError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Fault: Hashable, Sendable {
        /// As much is kept as may be.
        case full
        case disk
    }

    package let fault: Fault
    package let description: String

    package init(fault: Fault, description: String) {
        self.fault = fault
        self.description = description
    }
}

package final class KeptLines: Sendable {
    /// Of the queue alone, but for the start: nobody waits for this lock.
    private struct State: ~Copyable {
        var file: LogFile?
        /// Bytes that are durable.
        var length: Int64 = 0
        var sequence: UInt64 = 0
        /// All that is kept, without line feeds.
        var lines: [[UInt8]] = []
        var bytes = 0
        /// The file holds what was not promised, or is not there.
        var mustBeWritten = true
    }

    private let folder: Folder
    private let name: String
    private let largest: Int
    private let calls: SystemCalls
    private let queue = DispatchQueue(label: "kept-lines", qos: .utility)
    private let state: Locked<State>
    /// What was there at the start, without line feeds.
    package let found: [[UInt8]]
    /// Lines that were damaged, and are in a file beside.
    package let damaged: Int

    /// Opens the file where it is there.
    ///
    /// - Parameter largest: bytes; no more are read or kept.
    package convenience init(folder: String, name: String, largest: Int) throws(KeptLinesError) {
        try self.init(folder: folder, name: name, largest: largest, calls: .real)
    }

    init(folder path: String, name: String, largest: Int, calls: SystemCalls) throws(KeptLinesError) {
        folder = Folder(path: path, calls: calls)
        self.name = name
        self.largest = largest
        self.calls = calls
        var state = State()
        let file = folder.path(of: name)
        do throws(SystemFailure) {
            damaged = try Self.read(file, named: name, in: folder, largest, calls, &state)
        } catch {
            throw error.code == EFBIG
                ? KeptLinesError(fault: .full, description: "\(file) has more than \(largest >> 20) MiB: move it away")
                : KeptLinesError(fault: .disk, description: error.description)
        }
        found = state.lines
        self.state = Locked(state)
        // On a disk that takes nothing the next line tries again.
        if damaged > 0 { self.state.withLock { state in try? write(file, &state) } }
    }

    /// - Returns: how many lines were damaged.
    private static func read(
        _ path: String, named name: String, in folder: Folder, _ largest: Int, _ calls: SystemCalls, _ state: inout State
    ) throws(SystemFailure) -> Int {
        guard let facts = FileFacts(path: path) else {
            guard errno == ENOENT || errno == ENOTDIR else { throw SystemFailure("look at", path) }
            return 0
        }
        guard facts.isRegular else { throw SystemFailure("open", path, code: EINVAL) }
        guard facts.size <= Int64(largest) else { throw SystemFailure("read", path, code: EFBIG) }
        let file = try LogFile(path: path, flags: O_RDWR | O_APPEND | O_NONBLOCK, calls: calls)
        var reader = LineReader(window: 64 * 1024)
        var damaged = 0
        while let line = try reader.next(in: file) {
            guard line.isWhole else {
                // The last one.
                try file.cut(to: line.offset)
                break
            }
            let bytes = reader.buffer.span.extracting(line.range)
            guard let sequence = LineFormat.sequence(of: bytes), sequence > state.sequence else {
                damaged += 1
                continue
            }
            state.sequence = sequence
            state.lines.append(Array(reader.buffer[line.range]))
            state.bytes += line.range.count + 1
            state.length = line.offset + Int64(line.range.count) + 1
        }
        guard damaged == 0 else {
            // A second name, so that the file is there whatever happens before it is written anew.
            _ = link(path, folder.path(of: folder.freeName(stem: "\(name).damaged", suffixes: [""])))
            return damaged
        }
        state.file = consume file
        state.mustBeWritten = false
        return 0
    }

    /// Keeps one more line: these members, between the number and the time in front and the check behind.
    ///
    /// - Parameters:
    ///   - time: milliseconds since 1970 in UTC.
    ///   - members: JSON members without the braces.
    /// - Throws: where the line is not durable; then it may be kept again.
    package func append(at time: Int64, _ members: [UInt8]) async throws(KeptLinesError) {
        let result = await withCheckedContinuation { continuation in
            queue.async {
                let result: Result<Void, KeptLinesError> = self.state.withLock { state in
                    do throws(KeptLinesError) {
                        try self.keep(time, members, &state)
                        return .success(())
                    } catch {
                        return .failure(error)
                    }
                }
                continuation.resume(returning: result)
            }
        }
        try result.get()
    }

    private func keep(_ time: Int64, _ members: [UInt8], _ state: inout State) throws(KeptLinesError) {
        let path = folder.path(of: name)
        var line: [UInt8] = []
        LineFormat.append(seq: state.sequence + 1, at: time, head: members.span, isRepeat: false, tail: Span(), to: &line)
        guard line.count - 1 <= LineFormat.longest, state.bytes + line.count <= largest else {
            throw KeptLinesError(fault: .full, description: "\(path) has \(largest >> 20) MiB and takes no more: move it away")
        }
        do throws(SystemFailure) {
            if state.mustBeWritten { try write(path, &state) }
            do throws(SystemFailure) {
                try state.file?.append(line.span)
                try state.file?.sync()
            } catch {
                try? state.file?.cut(to: state.length)
                state.file = nil
                state.mustBeWritten = true
                throw error
            }
        } catch {
            throw KeptLinesError(fault: .disk, description: error.description)
        }
        state.sequence += 1
        state.length += Int64(line.count)
        state.bytes += line.count
        line.removeLast()
        state.lines.append(line)
    }

    /// All that is kept into a new file, which takes the name of the old one.
    private func write(_ path: String, _ state: inout State) throws(SystemFailure) {
        try folder.create()
        let new = name + ".new"
        let file = try LogFile(path: folder.path(of: new), flags: O_RDWR | O_CREAT | O_TRUNC | O_APPEND, calls: calls)
        var bytes: [UInt8] = []
        for line in state.lines {
            bytes += line
            bytes.append(0x0A)
        }
        try file.append(bytes.span)
        try file.sync()
        try folder.rename(new, to: name)
        try folder.sync()
        state.length = Int64(bytes.count)
        state.file = consume file
        state.mustBeWritten = false
    }
}
