// SPDX-License-Identifier: MIT
//
// Time limits of many things without a look at all of them: a heap with one entry for each. A limit that moves back, as that of a connection
// does with each request, leaves its entry where it is; only when the entry comes up it is put where it belongs by then. So the usual case,
// in which nothing runs out, costs a comparison.

/// What has a time limit.
class Timed {
    /// Microseconds of the owner's clock; `.max` for none. Once it is set to something else, `Deadlines.watch` must hear of it.
    final var deadline = Int64.max
    /// Where its entry stands.
    fileprivate final var place = -1
}

struct Deadlines {
    private var entries: [(time: Int64, item: Timed)] = []

    /// When `expired` must be asked at the latest. It may be too early, never too late.
    var next: Int64 { entries.first?.time ?? .max }

    /// Takes note of the item's deadline.
    mutating func watch(_ item: Timed) {
        if item.place < 0 {
            item.place = entries.count
            entries.append((item.deadline, item))
        } else if item.deadline < entries[item.place].time {
            entries[item.place].time = item.deadline
        } else {
            return
        }
        rise(item.place)
    }

    mutating func remove(_ item: Timed) {
        let place = item.place
        guard place >= 0 else { return }
        swap(place, entries.count - 1)
        entries.removeLast()
        item.place = -1
        guard place < entries.count else { return }
        sink(place)
        rise(place)
    }

    /// Takes out one item whose deadline is not after `now`.
    mutating func expired(_ now: Int64) -> Timed? {
        while let (time, item) = entries.first, time <= now {
            guard item.deadline > now, item.deadline < .max else {
                remove(item)
                if item.deadline <= now { return item }
                continue
            }
            entries[0].time = item.deadline
            sink(0)
        }
        return nil
    }

    private mutating func swap(_ first: Int, _ second: Int) {
        entries.swapAt(first, second)
        entries[first].item.place = first
        entries[second].item.place = second
    }

    private mutating func rise(_ start: Int) {
        var at = start
        while at > 0, entries[at].time < entries[(at - 1) / 2].time {
            swap(at, (at - 1) / 2)
            at = (at - 1) / 2
        }
    }

    private mutating func sink(_ start: Int) {
        var at = start
        while true {
            var least = at
            for child in 2 * at + 1...2 * at + 2 where child < entries.count && entries[child].time < entries[least].time { least = child }
            guard least != at else { return }
            swap(at, least)
            at = least
        }
    }
}
