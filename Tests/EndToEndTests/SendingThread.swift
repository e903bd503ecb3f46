// SPDX-License-Identifier: MIT

import Dispatch
import Locking

/// Sends on a thread of its own what is more than the kernel takes, while the test reads.
final class SendingThread {
    private let done = DispatchGroup()
    private let failure = FailureBox()

    init(_ client: Client, _ text: String) throws {
        let bytes = Array(text.utf8)
        // One thread only sends and the other only reads until `join`; a socket may be used so.
        nonisolated(unsafe) let client = client
        DispatchQueue(label: "sender").async(group: done) { [failure] in
            do { try client.send(bytes) } catch { failure.set(error) }
        }
    }

    func join() throws {
        done.wait()
        if let error = failure.error { throw error }
    }
}

private final class FailureBox: Sendable {
    private let state = Locked<(any Error)?>(nil)
    func set(_ error: any Error) { state.withLock { $0 = error } }
    var error: (any Error)? { state.withLock { $0 } }
}
