// SPDX-License-Identifier: MIT
//
// The one reason for which a log cannot be made. Everything else that is wrong with a disk may pass, so the log exists and tries again.

/// Why no log was made.
package enum EventLogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process (or another log of this one) writes to the folder; `pid` is nil where its lock file does not say.
    case locked(folder: String, pid: Int32?)

    package var description: String {
        switch self {
        case .locked(let folder, let pid):
            let holder = pid.map { "process \($0)" } ?? "another process"
            return "the event folder '\(folder)' is in use by \(holder): stop that one, or name another folder"
        }
    }
}
