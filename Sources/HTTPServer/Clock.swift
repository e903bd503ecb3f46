// SPDX-License-Identifier: MIT
//
// Time is handed in, so that limits and stamps can be tested without waiting.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Where the server gets its time from; tests bring their own.
package struct Clock: Sendable {
    /// Microseconds that only go forward, from any origin.
    package var monotonic: @Sendable () -> Int64
    /// Milliseconds since 1970 in UTC; may jump.
    package var wall: @Sendable () -> Int64

    package init(monotonic: @escaping @Sendable () -> Int64, wall: @escaping @Sendable () -> Int64) {
        self.monotonic = monotonic
        self.wall = wall
    }

    package static let system = Clock(
        monotonic: {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
        },
        wall: {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
        })
}
