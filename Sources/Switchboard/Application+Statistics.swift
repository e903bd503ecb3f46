// SPDX-License-Identifier: MIT
//
// `/stats`: how the server does now, and in each minute of the last hour. A timer copies the counts every five seconds; the disk is looked at on
// a queue of its own, since one that hangs must hold up neither that nor anybody who asks.

import Dispatch
import EventLog
import HTTPServer
import HTTPWire
import Locking
import NCCO

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What the disk of the event log has and holds, when it was last looked at; nil where it could not be told.
struct DiskUse: Sendable {
    /// Bytes.
    var free: Int64?
    var log: Int64?
}

extension Application {
    /// What Vonage waits for at most by default, in microseconds (Application API, `socket_timeout`).
    private static let (answerLimit, eventLimit) = (5_000_000, 10_000_000)
    /// Turns of the timer between two looks at the disk: a minute.
    private static let turnsBetweenLooks = 12

    /// Copies the counts from now on, until the application stops.
    package func watchStatistics() {
        let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "statistics", qos: .utility))
        source.schedule(deadline: .now(), repeating: .seconds(StatisticsHistory.interval), leeway: .milliseconds(500))
        var turn = 0
        source.setEventHandler { [weak self] in
            guard let self else { return }
            self.history.add(self.snapshot)
            if turn % Self.turnsBetweenLooks == 0 { self.lookAtDisk() }
            turn += 1
        }
        source.activate()
        keep(source)
    }

    var snapshot: StatisticsSnapshot {
        var snapshot = StatisticsSnapshot(time: monotonic, wall: now, connections: serverStatistics.open)
        for handler in handlers {
            snapshot.answers.add(handler.answerTimes)
            snapshot.events.add(handler.eventTimes)
        }
        return snapshot
    }

    /// Nothing where the last look has not come back.
    private func lookAtDisk() {
        guard diskLook.withLock({ $0.begin() }) else { return }
        diskQueue.async { [settings, diskLook] in
            var use = DiskUse()
            var room = statvfs()
            if statvfs(settings.events, &room) == 0 {
                use.free = Int64(clamping: UInt64(room.f_bavail).multipliedReportingOverflow(by: UInt64(room.f_frsize)).partialValue)
            }
            use.log = try? LogReader(path: settings.events).files().reduce(0) { $0 + $1.size }
            diskLook.withLock { $0.end(use) }
        }
    }

    /// `{"now":{…},"limits":{…},"hour":[…]}`; times in microseconds.
    func statistics() -> Response {
        let (snapshot, status) = (snapshot, log.status)
        let (recent, use) = (history.recent(snapshot), diskLook.withLock { $0.use })
        func rate(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
        func number(_ number: Int64?) -> String { number.map { "\($0)" } ?? "null" }
        var lines = JSONLines()
        lines.open()
        lines.open("now")
        lines.add("answers_per_second", literal: rate(recent.answersPerSecond))
        lines.add("events_per_second", literal: rate(recent.eventsPerSecond))
        lines.add("answer_p99_us", literal: "\(recent.answerP99)")
        lines.add("answer_worst_us", literal: "\(recent.answerWorst)")
        lines.add("event_p99_us", literal: "\(recent.eventP99)")
        lines.add("connections", literal: "\(snapshot.connections)")
        lines.add("log_queued_bytes", literal: "\(status.queuedBytes)")
        lines.add("disk_free_bytes", literal: number(use.free))
        lines.add("log_bytes", literal: number(use.log))
        lines.close()
        lines.open("limits")
        lines.add("answer_us", literal: "\(Self.answerLimit)")
        lines.add("event_us", literal: "\(Self.eventLimit)")
        lines.close()
        lines.open("hour", "[")
        for minute in history.minutes {
            lines.open()
            lines.add("at", LogTime.text(minute.at))
            lines.add("answers", literal: "\(minute.answers)")
            lines.add("events", literal: "\(minute.events)")
            lines.add("answer_p99_us", literal: "\(minute.answerP99)")
            lines.add("event_p99_us", literal: "\(minute.eventP99)")
            lines.add("connections", literal: "\(minute.connections)")
            lines.close()
        }
        lines.close("]")
        lines.close()
        return .personal(Array((lines.text + "\n").utf8))
    }
}

/// The last look at the disk, and whether another is under way.
struct DiskLook: Sendable {
    private(set) var use = DiskUse()
    private var isUnderWay = false

    /// False where one is under way.
    mutating func begin() -> Bool {
        guard !isUnderWay else { return false }
        isUnderWay = true
        return true
    }

    mutating func end(_ use: DiskUse) {
        self.use = use
        isUnderWay = false
    }
}
