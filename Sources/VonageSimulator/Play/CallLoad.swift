// SPDX-License-Identifier: MIT
//
// Many whole calls at a steady rate, from one thread. Calls begin when it is their time, whatever the server does: a server that is too slow has
// more of them open, up to a bound, and beyond it calls begin late, which is counted.

package import HTTPServer
import JSON
import NCCO

package final class CallLoad {
    /// What is asked for.
    package struct Wish: Sendable {
        /// Calls a second.
        package var rate: Double
        /// Milliseconds for which calls begin.
        package var duration: Int64
        /// Kinds of calls with their weights, at least one above 0.
        package var mix: [(plan: CallPlan, weight: Int)]

        package init(rate: Double, duration: Int64, mix: [(plan: CallPlan, weight: Int)]) {
            self.rate = rate
            self.duration = duration
            self.mix = mix
        }
    }

    /// What came of it so far.
    package struct Report: Sendable {
        package fileprivate(set) var begun = 0
        package fileprivate(set) var ended = 0
        /// Calls that began more than 100 ms after their time.
        package fileprivate(set) var late = 0
        /// Calls that did not begin, since as many as may be were open until the time was over.
        package fileprivate(set) var missed = 0
        package fileprivate(set) var answers = LatencyHistogram()
        package fileprivate(set) var events = LatencyHistogram()
        /// Requests without an answer, and of these that nobody took.
        fileprivate var (failures, refused) = (0, 0)
        /// What went wrong, by kind.
        package fileprivate(set) var errors: [String: Int] = [:]
        package fileprivate(set) var severity: Complaint.Severity?
        /// Since the beginning, in microseconds.
        package fileprivate(set) var elapsed: Int64 = 0

        fileprivate mutating func note(error: String) {
            // Kinds are few; a server that makes up more of them fills no memory.
            guard errors[error] != nil || errors.count < 50 else {
                errors["others", default: 0] += 1
                return
            }
            errors[error, default: 0] += 1
        }
    }

    /// Calls that are open at once; more begin late.
    package static let mostOpen = 1000
    /// After so many calls of which none reached anybody there is nobody.
    private static let firstCalls = 20
    /// How long calls may go on behind the last beginning, in milliseconds. One call's requests run into their limits a few times at most.
    private static let patience: Int64 = 60_000

    private let player: CallPlayer
    private let wish: Wish
    private let clock: Clock
    private let makeID: @Sendable () -> String
    private var random: SplitMix64
    package private(set) var report = Report()

    package init(
        _ wish: Wish, player: CallPlayer, seed: UInt64, clock: Clock = .system, ids: @escaping @Sendable () -> String
    ) {
        self.wish = wish
        self.player = player
        self.clock = clock
        makeID = ids
        random = SplitMix64(seed: seed)
    }

    /// Plays until all calls are over, or the patience is.
    ///
    /// - Parameters:
    ///   - progress: is told once a second.
    ///   - shouldStop: is asked often; ends the load early.
    package func run(progress: (Report) -> Void, shouldStop: () -> Bool = { false }) {
        let began = clock.monotonic()
        let total = Int(min(wish.rate * Double(wish.duration) / 1000, 1e9).rounded())
        let interval = 1_000_000 / wish.rate
        var nextProgress = began + 1_000_000
        while report.begun + report.missed < total || player.count > 0 {
            let now = clock.monotonic()
            report.elapsed = now - began
            let due = min(Int(Double(now - began) / interval) + 1, total)
            while report.begun + report.missed < due, player.count < Self.mostOpen {
                if Double(now - began) - Double(report.begun) * interval > 100_000 { report.late += 1 }
                begin()
            }
            // A call later than that belongs to no rate any more.
            if player.count >= Self.mostOpen, now - began > (wish.duration + 100) * 1000 { report.missed = total - report.begun }
            if isUnreachable || shouldStop() { break }
            if now >= nextProgress {
                progress(report)
                nextProgress = max(nextProgress + 1_000_000, now)
            }
            if now - began > (wish.duration + Self.patience) * 1000 { break }
            let next = report.begun + report.missed < total ? Double(report.begun) * interval - Double(clock.monotonic() - began) : 100_000
            player.turn(milliseconds: player.count >= Self.mostOpen ? 10 : Int32(min(max(next / 1000, 0), 100).rounded(.up)))
        }
        if !isUnreachable, !shouldStop() { for _ in 0..<player.count { report.note(error: "call that did not end") } }
        report.elapsed = clock.monotonic() - began
    }

    /// Whether nobody took one connection of the first calls.
    package var isUnreachable: Bool {
        report.refused > 0 && report.answers.count + report.events.count == 0 && report.refused == report.failures
            && (report.ended >= Self.firstCalls || player.count == 0)
    }

    private func begin() {
        report.begun += 1
        let number = UInt64(report.begun)
        var plan = choose()
        plan.vary(by: number)
        player.play(PlayedCall(plan, began: clock.wall(), ids: makeID), number: number) { [unowned self] in take($0) }
    }

    private func choose() -> CallPlan {
        let sum = wish.mix.reduce(0) { $0 + $1.weight }
        var drawn = Int(random.next() % UInt64(max(sum, 1)))
        for (plan, weight) in wish.mix {
            if drawn < weight { return plan }
            drawn -= weight
        }
        return wish.mix[0].plan
    }

    private func take(_ call: PlayedCall) {
        report.ended += 1
        for step in call.steps {
            guard case .exchange(let exchange) = step.what else { continue }
            switch exchange.outcome {
            case .lost: break
            case .failure(let failure, _):
                report.failures += 1
                if failure == .refused || failure == .unresolved { report.refused += 1 }
                report.note(error: "\(exchange.request.kind.rawValue): \(failure.text)")
            case .reply(let reply):
                if exchange.request.kind == .event { report.events.add(reply.micros) } else { report.answers.add(reply.micros) }
                if !reply.isSuccess { report.note(error: "\(exchange.request.kind.rawValue): HTTP \(reply.status)") }
            }
        }
        for complaint in call.complaints where complaint.severity > .noted {
            report.severity = max(report.severity ?? .noted, complaint.severity)
            report.note(error: "\(complaint.severity.text): \(complaint.text)")
        }
    }
}

extension CallPlan {
    /// Callers and callees of their own for each call, of numbers that are reserved for fiction.
    fileprivate mutating func vary(by number: UInt64) {
        let digits = String(1000 + number % 1000).dropFirst()
        switch origin {
        case .phone(_, let to): origin = .phone(from: "447700900\(digits)", to: to)
        case .app(_, let to, let customData): origin = .app(user: "user-\(digits)", to: to, customData: customData)
        case .sip, .api: break
        }
    }
}

/// Times with a precision of 3 %, in a few kilobytes whatever their number.
package struct LatencyHistogram: Sendable {
    /// Each power of two has 32 buckets.
    private var buckets = [Int](repeating: 0, count: 64 * 32)
    package private(set) var count = 0
    /// Microseconds.
    package private(set) var worst: Int64 = 0

    package init() {}

    package mutating func add(_ micros: Int64) {
        let value = max(micros, 0)
        buckets[Self.bucket(value)] += 1
        count += 1
        worst = max(worst, value)
    }

    /// The time that this share of all is not above, in microseconds; 0 where there is none.
    ///
    /// - Parameter share: 0...1.
    package func quantile(_ share: Double) -> Int64 {
        guard count > 0 else { return 0 }
        let wanted = max(Int((share * Double(count)).rounded(.up)), 1)
        var seen = 0
        for (index, inBucket) in buckets.enumerated() {
            seen += inBucket
            if seen >= wanted { return min(Self.upperBound(index), worst) }
        }
        return worst
    }

    private static func bucket(_ value: Int64) -> Int {
        guard value >= 32 else { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        return (exponent - 4) * 32 + Int(value >> (exponent - 5)) - 32
    }

    private static func upperBound(_ bucket: Int) -> Int64 {
        guard bucket >= 32 else { return Int64(bucket) }
        let exponent = bucket / 32 + 4
        return Int64(clamping: (UInt64(bucket % 32 + 33) << UInt64(exponent - 5)) - 1)
    }
}

extension CallLoad.Report {
    /// One object: calls, times in microseconds, errors by kind.
    package var json: [UInt8] {
        func node(_ histogram: LatencyHistogram) -> JSONNode {
            .object([
                "count": .number(histogram.count), "p50_us": .time(histogram.quantile(0.5)), "p99_us": .time(histogram.quantile(0.99)),
                "worst_us": .time(histogram.worst),
            ])
        }
        let kinds = errors.sorted { $0.key < $1.key }.map { JSONNode.Member($0.key, .number($0.value)) }
        return JSONNode.object([
            "calls": .number(ended), "begun": .number(begun), "late": .number(late), "missed": .number(missed),
            "elapsed_us": .time(elapsed), "answers": node(answers),
            "events": node(events), "errors": JSONNode(.object(kinds), at: 0..<0),
        ]).json
    }
}
