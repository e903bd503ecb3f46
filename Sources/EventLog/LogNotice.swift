// SPDX-License-Identifier: MIT
//
// What happened to the log that an operator should read. A failing disk gives one notice when it begins, one when its reason changes and
// one when it is over, however many events come meanwhile.

/// One line for the operator.
package enum LogNotice: Hashable, Sendable, CustomStringConvertible {
    /// Bytes behind the last whole line were moved to `copy`, a file in the folder.
    case tornTailCut(bytes: Int, copy: String)
    /// The file was bad at byte `offset`, too far up for a crash, and now has this name.
    case damagedFileSetAside(name: String, offset: Int)
    /// Events are refused until a write succeeds again.
    case writeFailed(reason: String)
    /// A write succeeded after failures.
    case recovered
    /// The file is not written to any more and now has this name; nil where it held no line and was removed.
    case sealed(name: String?)
    /// Someone else removed, cut or wrote to the file that was open.
    case fileChanged(name: String)

    /// The file could not be closed when it was time, and goes on being written.
    case rotationFailed(reason: String)
    /// Closed files could not be compressed or deleted; tried again later.
    case closedFilesFailed(reason: String)
    /// Closed files that were older than `--keep`, or more than `--keep-size`.
    case deleted(files: Int, first: String, last: String, reason: Deletion)

    package enum Deletion: Hashable, Sendable { case age, size }

    package var description: String {
        switch self {
        case .tornTailCut(let bytes, let copy):
            "the log ended in \(bytes) bytes that are no whole lines (a crash while writing): moved to '\(copy)'"
        case .damagedFileSetAside(let name, let offset):
            "the log is damaged at byte \(offset): set aside as '\(name)', a new file is begun; its lines before that byte are good"
        case .writeFailed(let reason):
            "events cannot be written and are refused: \(reason)"
        case .recovered:
            "events are written again"
        case .sealed(let name?):
            "the file that failed is closed as '\(name)'"
        case .sealed(nil):
            "the file that failed held no event and is removed"
        case .fileChanged(let name):
            "'\(name)' was removed or changed by another program while open: it is opened anew; events in a removed file are lost"
        case .rotationFailed(let reason):
            "the log file cannot be closed and goes on being written; tried again later: \(reason)"
        case .closedFilesFailed(let reason):
            "closed log files cannot be compressed or deleted; tried again later: \(reason)"
        case .deleted(let files, let first, let last, let reason):
            "deleted \(files == 1 ? "'\(first)'" : "\(files) closed log files, '\(first)' to '\(last)'"): "
                + (reason == .age ? "older than --keep" : "together larger than --keep-size")
        }
    }
}
