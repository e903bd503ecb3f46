// SPDX-License-Identifier: MIT
//
// What the server did in the last seconds and in each minute of the last hour. Every five seconds a timer copies what the workers have counted;
// differences of these copies are all there is. A minute that the timer missed, since the machine slept, is a longer minute.

import JSON
import Locking

/// What had been counted at a moment.
struct StatisticsSnapshot: Sendable {
    /// Monotonic microseconds.
    var time: Int64
    /// Milliseconds since 1970 in UTC.
    var wall: Int64
    var answers = LatencyCounts()
    var events = LatencyCounts()
    /// Open now.
    var connections = 0
}

final class StatisticsHistory: Sendable {
    /// One minute that is over.
    struct Minute: Sendable, Hashable {
        /// When it began, in milliseconds since 1970.
        let at: Int64
        let answers: Int
        let events: Int
        /// Microseconds.
        let answerP99: Int64
        let eventP99: Int64
        let connections: Int
    }

    /// What came between two snapshots.
    struct Period: Sendable, Hashable {
        let answersPerSecond: Double
        let eventsPerSecond: Double
        /// Microseconds.
        let answerP99: Int64
        let answerWorst: Int64
        let eventP99: Int64
    }

    private struct State {
        /// The last two; none before the timer's first turn.
        var recent: [StatisticsSnapshot] = []
        var minute: StatisticsSnapshot
        var minutes: [Minute] = []
    }

    /// Seconds between two copies.
    static let interval = 5
    private static let minutesKept = 60
    private let state: Locked<State>

    init(_ start: StatisticsSnapshot) { state = Locked(State(minute: start)) }

    /// Takes the next copy.
    func add(_ snapshot: StatisticsSnapshot) {
        state.withLock { state in
            state.recent = state.recent.suffix(1) + [snapshot]
            guard snapshot.time - state.minute.time >= 60_000_000 else { return }
            let (answers, events) = (snapshot.answers.since(state.minute.answers), snapshot.events.since(state.minute.events))
            let minute = Minute(
                at: state.minute.wall, answers: answers.count, events: events.count, answerP99: answers.quantile(0.99),
                eventP99: events.quantile(0.99), connections: snapshot.connections)
            state.minutes = state.minutes.suffix(Self.minutesKept - 1) + [minute]
            state.minute = snapshot
        }
    }

    /// The minutes that are over, the oldest first, at most 60.
    var minutes: [Minute] { state.withLock { $0.minutes } }

    /// What has come since the copy before the last, which is five to ten seconds.
    func recent(_ now: StatisticsSnapshot) -> Period {
        let earlier = state.withLock { $0.recent.first ?? $0.minute }
        let (answers, events) = (now.answers.since(earlier.answers), now.events.since(earlier.events))
        // Just behind the start a second is the least that a rate can be told of.
        let seconds = Double(max(now.time - earlier.time, 1_000_000)) / 1_000_000
        return Period(
            answersPerSecond: Double(answers.count) / seconds, eventsPerSecond: Double(events.count) / seconds,
            answerP99: answers.quantile(0.99), answerWorst: answers.worst, eventP99: events.quantile(0.99))
    }
}
