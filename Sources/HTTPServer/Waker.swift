// SPDX-License-Identifier: MIT
//
// How a thread that waits in a poller is called from outside: an eventfd, or a pipe where there is none.

import CLinux

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Lets a waiting thread return at once.
package final class Waker: Sendable {
    /// Becomes readable. A poller is given a duplicate, which it closes.
    let descriptor: Int32
    private let writeDescriptor: Int32

    /// - Parameter subject: who is woken, for the error.
    init(_ subject: String) throws(SocketError) {
        #if os(Linux)
            descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
            writeDescriptor = descriptor
            guard descriptor >= 0 else { throw SocketError("eventfd", subject) }
        #else
            var pair: [Int32] = [-1, -1]
            guard pipe(&pair) == 0 else { throw SocketError("pipe", subject) }
            descriptor = pair[0]
            writeDescriptor = pair[1]
            pair.forEach(Socket.makeNonBlocking)
        #endif
    }

    deinit {
        close(descriptor)
        if writeDescriptor != descriptor { close(writeDescriptor) }
    }

    /// Callable from any thread, also when nobody waits: then the next wait does not.
    package func wake() {
        var one: UInt64 = 1
        _ = write(writeDescriptor, &one, MemoryLayout<UInt64>.size)  // full means that a wake-up is on its way already
    }

    /// Takes in what has come.
    func drain() {
        var buffer = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        while read(descriptor, &buffer, MemoryLayout.size(ofValue: buffer)) == MemoryLayout.size(ofValue: buffer) {}
    }
}
