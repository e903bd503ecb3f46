// SPDX-License-Identifier: MIT
//
// Lines for people and machines that watch the process. A worker only appends to a bounded buffer; a queue of its own writes, so that a
// terminal that is stopped, or a pipe that nobody reads, holds up no call. What does not fit is dropped, and said.

import Dispatch
import Locking

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

package final class Console: Sendable {
    private struct State {
        var pending: [UInt8] = []
        var dropped = 0
        var isWriting = false
    }

    /// What may wait for a slow reader, in bytes: some 10,000 lines.
    private static let limit = 1024 * 1024

    private let descriptor: Int32
    private let state = Locked(State())
    private let queue: DispatchQueue

    package static let output = Console(descriptor: 1)
    package static let errors = Console(descriptor: 2)

    package init(descriptor: Int32) {
        self.descriptor = descriptor
        queue = DispatchQueue(label: "switchboard.console-\(descriptor)")
    }

    package var isTerminal: Bool { isatty(descriptor) == 1 }

    package func print(_ line: String) {
        var line = line
        line.append("\n")
        let starts = state.withLock { state in
            guard state.pending.count + line.utf8.count <= Self.limit else {
                state.dropped += 1
                return false
            }
            state.pending.append(contentsOf: line.utf8)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if starts { queue.async { self.drain() } }
    }

    /// Waits until everything is written, at most `milliseconds`.
    package func flush(milliseconds: Int = 1000) {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        _ = done.wait(timeout: .now() + .milliseconds(milliseconds))
    }

    private func drain() {
        while true {
            let bytes = state.withLock { state in
                var bytes = state.pending
                state.pending = []
                if state.dropped > 0 {
                    bytes.append(contentsOf: "\(state.dropped) lines were dropped here: nobody read them fast enough\n".utf8)
                    state.dropped = 0
                }
                if bytes.isEmpty { state.isWriting = false }
                return bytes
            }
            if bytes.isEmpty { return }
            var written = 0
            while written < bytes.count {
                let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress?.advanced(by: written), bytes.count - written) }
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN {
                    var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&ready, 1, 1000)
                    continue
                }
                // A closed terminal or pipe: there is nobody to tell.
                guard count > 0 else { break }
                written += count
            }
        }
    }
}
