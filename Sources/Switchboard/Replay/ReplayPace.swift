// SPDX-License-Identifier: MIT
//
// When the next request of a replay goes out: as long behind the last one as it once arrived behind it, by the speed, and never long enough
// that a night without calls must be waited for.

package struct ReplayPace: Sendable {
    /// The longest time between two requests, in milliseconds.
    package static let longest: Int64 = 10_000
    /// What is read, for messages.
    package static let allowed = "1x, 10x, 0.5x (from 0.01x to 10000x) or max"

    /// How many times as fast as it was; nil for no waits at all.
    private let factor: Double?
    private var lastArrival: Int64?
    private var lastSent: Int64 = 0

    /// Nil for what is no speed.
    package init?(_ text: String) {
        if text == "max" {
            factor = nil
            return
        }
        // Digits and a point: no exponents, no infinity.
        guard text.utf8.last == UInt8(ascii: "x"), text.utf8.count <= 8,
            text.utf8.dropLast().allSatisfy({ $0.isDecimalDigit || $0 == UInt8(ascii: ".") }),
            let factor = Double(text.dropLast()), (0.01...10_000).contains(factor)
        else { return nil }
        self.factor = factor
    }

    /// How long to wait before the request that arrived then, in milliseconds, 0...`longest`.
    ///
    /// - Parameters:
    ///   - arrival: milliseconds since 1970; may go back, which is no wait.
    ///   - now: milliseconds that only go forward, from any origin.
    package mutating func wait(forArrival arrival: Int64, now: Int64) -> Int64 {
        var wait: Int64 = 0
        if let factor, let lastArrival {
            let gap = min(max((Double(arrival) - Double(lastArrival)) / factor, 0), Double(Self.longest))
            // What the last request took is part of the time.
            wait = min(max(Int64(gap) - max(now - lastSent, 0), 0), Self.longest)
        }
        lastArrival = arrival
        lastSent = now + wait
        return wait
    }
}
