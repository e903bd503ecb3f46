// SPDX-License-Identifier: MIT
//
// SIGTERM and SIGINT stop, a second one ends at once. SIGHUP means two things: with a controlling terminal it says that the window was closed,
// and a hidden server must not stay behind; without one it is how a daemon is told to open its files anew.

import Dispatch
import Locking

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `@unchecked`: a Dispatch source may be used from any thread, but is not marked so; the list is never changed.
final class StopSignals: @unchecked Sendable {
    private let sources: [any DispatchSourceSignal]
    private let queue = DispatchQueue(label: "switchboard.signals")
    private let stopped = DispatchSemaphore(value: 0)
    private let state = Locked(State())
    private let ending: (@Sendable () -> Bool)?

    private struct State {
        var count = 0
        var reopen: (@Sendable () -> Void)?
        /// SIGHUP came before anybody could say what is to be opened anew.
        var reopensAtOnce = false
    }

    /// From now on the signals are noted.
    ///
    /// - Parameter ending: for a command that waits for no stop: what it still does; returns whether the process ends at once, with the
    ///   signal's exit code.
    init(ending: (@Sendable () -> Bool)? = nil) {
        self.ending = ending
        // Under nohup a closed window is no reason to end.
        let hangUpStops = Self.hasControllingTerminal && !Self.ignoresHangUp
        let numbers = [SIGTERM, SIGINT, SIGHUP]
        let queue = queue
        // The source is told besides the default action, which would end the process.
        for number in numbers { signal(number, SIG_IGN) }
        sources = numbers.map { DispatchSource.makeSignalSource(signal: $0, queue: queue) }
        // They are installed by another thread, and a signal that came before that would be lost: wait for it.
        let installed = DispatchGroup()
        for (number, source) in zip(numbers, sources) {
            source.setEventHandler { [unowned self] in received(number, stops: number != SIGHUP || hangUpStops || ending != nil) }
            installed.enter()
            source.setRegistrationHandler { installed.leave() }
            source.activate()
        }
        _ = installed.wait(timeout: .now() + 5)
    }

    private static var ignoresHangUp: Bool {
        var action = sigaction()
        guard sigaction(SIGHUP, nil, &action) == 0 else { return false }
        #if canImport(Glibc)
            let handler = action.__sigaction_handler.sa_handler
        #else
            let handler = action.__sigaction_u.__sa_handler
        #endif
        // SIG_IGN is the number 1 in place of a function.
        return unsafeBitCast(handler, to: Int.self) == 1
    }

    private static var hasControllingTerminal: Bool {
        let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }

    private func received(_ number: Int32, stops: Bool) {
        guard stops else {
            let reopen = state.withLock { state in
                state.reopensAtOnce = state.reopen == nil
                return state.reopen
            }
            reopen?()
            return
        }
        let count = state.withLock { state in
            state.count += 1
            return state.count
        }
        if count > 1 || ending?() ?? false { _exit(128 + number) }
        stopped.signal()
    }

    /// Returns when a stop was asked for, also if that was before this call; what SIGHUP asked for before it is done now.
    func wait(reopen: @escaping @Sendable () -> Void) {
        let isDue = state.withLock { state in
            state.reopen = reopen
            return state.reopensAtOnce
        }
        if isDue { queue.async(execute: reopen) }
        stopped.wait()
    }
}
