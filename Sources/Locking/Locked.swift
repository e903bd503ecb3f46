// SPDX-License-Identifier: MIT
//
// The one lock of this project: a value that can only be reached while its lock is held. It is a POSIX mutex rather than the standard library's
// `Mutex`, because the thread sanitizer knows the former and not the latter: with `Mutex` on Linux it reports races where there are none, and a
// suite that is never clean hides those that are.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A value that one thread at a time may touch. Hold it for as long as an append takes, and never during I/O.
///
/// `@unchecked Sendable`: `value` is touched between lock and unlock only, and the mutex lies at one address from `init` to `deinit`.
package final class Locked<Value: ~Copyable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    package init(_ value: consuming sending Value) {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        self.value = value
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Calls `body` with the value while no other thread can. It must not lock the same value again.
    package func withLock<Result: ~Copyable, Failure: Error>(_ body: (inout Value) throws(Failure) -> sending Result) throws(Failure)
        -> sending Result
    {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
