// SPDX-License-Identifier: MIT
//
// Output of the commands that may print much: it waits for its reader, unlike the console of the server, and drops nothing. A bar on the
// terminal shows how far a long read has come; it stands on the last line, and goes away before anything else is printed.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct Screen {
    private var pending: [UInt8] = []
    private let hasBar = isatty(STDERR_FILENO) == 1
    private var barUntil = ""
    private let began = Self.milliseconds
    private var drawn: Int64 = 0

    /// Bytes that are written at once.
    private static let piece = 64 * 1024
    /// A read that is shorter shows no bar, in milliseconds.
    private static let patience: Int64 = 500

    mutating func print(_ line: String) {
        pending += line.utf8
        pending.append(0x0A)
        if pending.count >= Self.piece { flush() }
    }

    mutating func print(_ line: [UInt8]) {
        pending += line
        pending.append(0x0A)
        if pending.count >= Self.piece { flush() }
    }

    mutating func flush() {
        guard !pending.isEmpty else { return }
        clearBar()
        write(pending, STDOUT_FILENO)
        pending.removeAll(keepingCapacity: true)
    }

    /// Tells something beside the output.
    mutating func note(_ line: String) {
        flush()
        clearBar()
        write(Array((line + "\n").utf8), STDERR_FILENO)
    }

    /// Draws the bar ten times a second.
    mutating func progress(_ taken: Int64, of total: Int64?) {
        guard hasBar else { return }
        let now = Self.milliseconds
        guard now - began >= Self.patience, now - drawn >= 100 else { return }
        drawn = now
        let speed = Double(taken) / Double(max(now - began, 1)) / 1000
        var text = "\(taken / 1_000_000) MB, \(Int(speed)) MB/s"
        if let total, total > 0 {
            let share = min(max(Int(Double(taken) / Double(total) * 100), 0), 100)
            let width = share * 30 / 100
            text = "[\(String(repeating: "#", count: width))\(String(repeating: " ", count: 30 - width))] \(share) % \(text)"
        }
        clearBar()
        write(Array(text.utf8), STDERR_FILENO)
        barUntil = text
    }

    mutating func clearBar() {
        guard !barUntil.isEmpty else { return }
        barUntil = ""
        // Back to the first column, and everything behind it away.
        write(Array("\r\u{1B}[K".utf8), STDERR_FILENO)
    }

    private func write(_ bytes: [UInt8], _ descriptor: Int32) {
        var done = 0
        while done < bytes.count {
            // Unsafe: lends the bytes to write(2).
            let count = bytes.withUnsafeBytes { all in
                #if canImport(Glibc)
                    Glibc.write(descriptor, all.baseAddress?.advanced(by: done), all.count - done)
                #else
                    Darwin.write(descriptor, all.baseAddress?.advanced(by: done), all.count - done)
                #endif
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, 1000)
                continue
            }
            // Nobody reads any more, or there is no room: there is nobody to be told to.
            guard count > 0 else {
                TemporaryFolder.removeAll()
                exit(74)
            }
            done += count
        }
    }

    private static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
