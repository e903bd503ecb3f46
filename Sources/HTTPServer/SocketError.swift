// SPDX-License-Identifier: MIT

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

    package var isAddressInUse: Bool { code == EADDRINUSE }
    package var description: String { "\(subject): \(call): \(String(cString: strerror(code)))" }
}
