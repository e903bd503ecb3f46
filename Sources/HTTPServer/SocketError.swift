// SPDX-License-Identifier: MIT
//
// A failed system call knows what people need: what was tried, on what, why it failed, and what would be right.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A system call that failed: which, on what, why.
package struct SocketError: Error, CustomStringConvertible, Sendable {
    package let call: String
    package let subject: String
    package let code: Int32

    init(_ call: String, _ subject: String, code: Int32 = errno) {
        self.call = call
        self.subject = subject
        self.code = code
    }

    /// What would be right where an address cannot be listened on.
    var cure: String {
        switch code {
        case EADDRNOTAVAIL: "this machine has no such address; choose another with --host"
        case EACCES: "choose a port from 1024 on, or a folder that may be written to"
        case ENOENT, ENOTDIR: "make the folder of the socket first, or choose another path with --host"
        case EEXIST: "a file that is no socket is in the way; choose another path with --host"
        default: "choose another address with --host or --port"
        }
    }

    package var isAddressInUse: Bool { code == EADDRINUSE }
    package var description: String { "\(subject): \(call): \(String(cString: strerror(code)))" }
}
