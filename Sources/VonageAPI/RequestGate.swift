// SPDX-License-Identifier: MIT
//
// Lets so many through at once; the others wait in order, for no longer than they want to, and when too many wait already nobody joins them.

import Dispatch
import Locking

final class RequestGate: Sendable {
    enum Entry: Sendable { case entered, full, timeout }

    private struct Shared {
        var inside = 0
        var serial: UInt64 = 0
        /// In order.
        var waiting: [(serial: UInt64, continuation: CheckedContinuation<Entry, Never>)] = []
    }

    private let shared = Locked(Shared())
    private let atOnce: Int
    private let mostWaiting: Int

    init(atOnce: Int, mostWaiting: Int) {
        self.atOnce = max(atOnce, 1)
        self.mostWaiting = max(mostWaiting, 0)
    }

    /// Whoever has entered must leave.
    func enter(milliseconds: Int64) async -> Entry {
        await withCheckedContinuation { continuation in
            let (entry, serial): (Entry?, UInt64) = shared.withLock { shared in
                if shared.inside < atOnce {
                    shared.inside += 1
                    return (.entered, 0)
                }
                guard shared.waiting.count < mostWaiting else { return (.full, 0) }
                shared.serial += 1
                shared.waiting.append((shared.serial, continuation))
                return (nil, shared.serial)
            }
            if let entry { return continuation.resume(returning: entry) }
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(clamping: max(milliseconds, 0)))) { [weak self] in
                self?.giveUp(serial)
            }
        }
    }

    func leave() {
        let next: CheckedContinuation<Entry, Never>? = shared.withLock { shared in
            guard !shared.waiting.isEmpty else {
                shared.inside -= 1
                return nil
            }
            return shared.waiting.removeFirst().continuation
        }
        next?.resume(returning: .entered)
    }

    private func giveUp(_ serial: UInt64) {
        let late: CheckedContinuation<Entry, Never>? = shared.withLock { shared in
            guard let index = shared.waiting.firstIndex(where: { $0.serial == serial }) else { return nil }
            return shared.waiting.remove(at: index).continuation
        }
        late?.resume(returning: .timeout)
    }
}
