// SPDX-License-Identifier: MIT
//
// When closed files are looked after, and by whom: a thread of its own, there only while there is work, with the lowest priority the system
// has. It is no queue of Dispatch's, because on Linux these give work no priority, and a thread that made itself slow would stay so for
// others.
//
// Ending the log never waits for it: it is told to stop, looks at that every 256 KiB, and what it leaves half done the next start does. Where
// it is at work it keeps the folder locked until then, so that no other process meets it there.

import Locking

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

final class Housekeeping: Sendable {
    private struct State: ~Copyable {
        var boundary: ClosedFiles.Boundary?
        var isWanted = false
        var isRunning = false
        var isStopped = false
        /// It may be changing files; else it only looks.
        var isAtWork = false
        /// Held to the end of that.
        var lock: FolderLock?
        var done = ClosedFiles.Outcome()
    }

    private let files: ClosedFiles
    private let state = Locked(State())

    init(_ files: ClosedFiles) {
        self.files = files
    }

    /// Looks after closed files, soon. Never waits.
    ///
    /// - Parameter boundary: that of the file being written.
    func wake(before boundary: ClosedFiles.Boundary?) {
        let isThreadNeeded = state.withLock { state in
            guard !state.isStopped else { return false }
            state.boundary = boundary
            state.isWanted = true
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isThreadNeeded, !startThread() { state.withLock { $0.isRunning = false } }
    }

    /// The same again, for what only time has changed.
    func wakeAgain() { wake(before: state.withLock { $0.boundary }) }

    /// Does no more than it must, and unlocks the folder when it has.
    func stop(_ lock: consuming FolderLock?) {
        var lock = lock
        state.withLock { state in
            state.isStopped = true
            if state.isAtWork { state.lock = lock.take() }
        }
    }

    /// Sums of all passes, and the failure of the last.
    var done: ClosedFiles.Outcome { state.withLock { $0.done } }

    var isIdle: Bool { state.withLock { !$0.isRunning } }

    private func startThread() -> Bool {
        let context = Unmanaged.passRetained(self)
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        #if canImport(Glibc)
            var thread = pthread_t()
            let result = pthread_create(&thread, &attributes, { Housekeeping.run($0) }, context.toOpaque())
        #else
            var thread: pthread_t?
            let result = pthread_create(&thread, &attributes, { Housekeeping.run($0) }, context.toOpaque())
        #endif
        if result != 0 { context.release() }
        return result == 0
    }

    private static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context else { return nil }
        #if canImport(Glibc)
            // On Linux this is the calling thread's alone. Without it, it is only less polite.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
        #else
            pthread_set_qos_class_self_np(QOS_CLASS_BACKGROUND, 0)
        #endif
        Unmanaged<Housekeeping>.fromOpaque(context).takeRetainedValue().work()
        return nil
    }

    /// Whether to leave it; if not, files may be changed from now to the end of the pass.
    private func isStopped() -> Bool {
        state.withLock { state in
            if !state.isStopped { state.isAtWork = true }
            return state.isStopped
        }
    }

    private func work() {
        while true {
            let (isDue, boundary) = state.withLock { state in
                let isDue = state.isWanted && !state.isStopped
                state.isWanted = false
                state.isAtWork = false
                state.lock = nil
                if !isDue { state.isRunning = false }
                return (isDue, state.boundary)
            }
            guard isDue else { return }
            let outcome = files.pass(before: boundary, now: .now) { isStopped() }
            let failureBefore = state.withLock { state in
                defer { state.done.add(outcome) }
                return state.done.failure
            }
            if let failure = outcome.failure, failure != failureBefore { files.report(.closedFilesFailed(reason: failure.description)) }
        }
    }
}

extension ClosedFiles.Outcome {
    fileprivate mutating func add(_ other: Self) {
        compressed += other.compressed
        bytesBefore += other.bytesBefore
        bytesAfter += other.bytesAfter
        deletedForAge += other.deletedForAge
        deletedForSize += other.deletedForSize
        if !other.isStopped || other.failure != nil { failure = other.failure }
    }
}
