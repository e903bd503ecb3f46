// SPDX-License-Identifier: MIT
//
// `switchboard call --rate`: whole calls as a load, against this machine alone, with a line that shows how far it is.

import HTTPServer
import NCCO
import Switchboard
import Synchronization
import VonageAuth
import VonageSimulator

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension CallLoad {
    static func run(_ arguments: CallArguments, _ url: String) throws -> Int32 {
        let plan = try arguments.plan(at: url)
        for address in [plan.answer, plan.event, plan.fallback].compactMap({ $0?.url }) {
            let isLoopback = URLParts(address).flatMap { try? HTTPAddress(url: $0.origin).isLoopback } ?? false
            guard isLoopback else {
                throw UsageError("--rate: \(printable(address)) is not this machine; a load goes to loopback and nowhere else")
            }
        }
        guard !arguments.isRealTime else { throw UsageError("--rate plays calls as fast as their requests are; leave out --realtime") }
        let wish = Wish(rate: try rate(arguments), duration: try time(arguments), mix: try mix(arguments, plan))
        if try arguments.value("--mix") != nil {
            for flag in ["--api", "--sip", "--from", "--from-user", "--custom-data"] where arguments.has(flag) {
                throw UsageError("--mix says who calls: leave out \(flag)")
            }
        }
        let transport = try LoopTransport(connections: 256, reach: .loopback)
        let player = CallPlayer(transport: transport, signer: try arguments.signer(), trouble: arguments.trouble)
        let load = CallLoad(wish, player: player, seed: arguments.trouble?.seed ?? 1, ids: { TokenID().description })
        var screen = Screen()
        if let trouble = arguments.trouble { screen.note("trouble: \(trouble.summary)") }
        let redraws = isatty(STDERR_FILENO) == 1 && getenv("TERM").map { String(cString: $0) != "dumb" } ?? false
        var isFirst = true
        load.run(
            progress: { report in
                // Where lines stay, one in ten seconds is enough.
                guard redraws || isFirst || report.elapsed / 1_000_000 % 10 == 0 else { return }
                // One line up, and empty it: the line before.
                screen.note(redraws && !isFirst ? "\u{1B}[1A\u{1B}[K\(report.progress)" : report.progress)
                isFirst = false
            }, shouldStop: { CallCommand.wasStopped.load(ordering: .relaxed) })
        if load.isUnreachable {
            CallCommand.tellUnreachable(url)
            return 69
        }
        let report = load.report
        if arguments.isJSON {
            screen.print(report.json)
        } else {
            for line in report.lines(plan.limits) { screen.print(line) }
        }
        screen.flush()
        if CallCommand.wasStopped.load(ordering: .relaxed) { return 130 }
        switch report.severity {
        case .broken: return 2
        case .lost: return 1
        case .noted, nil: return report.ended == report.begun ? 0 : 1
        }
    }

    /// `200/s`, `200`.
    private static func rate(_ arguments: CallArguments) throws(UsageError) -> Double {
        let text = try arguments.rate ?? ""
        guard let rate = Double(text.hasSuffix("/s") ? text.dropLast(2) : text[...]), (0.1...100_000).contains(rate) else {
            throw UsageError("--rate: \(printable(text)) is no rate; write calls a second, such as 200/s (0.1 to 100000)")
        }
        return rate
    }

    private static func time(_ arguments: CallArguments) throws(UsageError) -> Int64 {
        try duration(try arguments.value("--for") ?? "10s", in: 100...86_400_000, "--for")
    }

    /// `app:70,phone:30`.
    private static func mix(_ arguments: CallArguments, _ plan: CallPlan) throws(UsageError) -> [(plan: CallPlan, weight: Int)] {
        guard let text = try arguments.value("--mix") else { return [(plan, 1)] }
        var mix: [(plan: CallPlan, weight: Int)] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let words = part.split(separator: ":", omittingEmptySubsequences: false)
            guard words.count == 2, let weight = Int(words[1]), (0...1_000_000).contains(weight) else {
                throw UsageError("--mix: \(printable(String(part))); write kinds with their weights, such as app:70,phone:30")
            }
            var kind = plan
            switch words[0] {
            case "phone": kind.origin = .phone(from: "447700900000", to: arguments.ourNumber)
            case "app": kind.origin = .app(user: "user", to: try arguments.value("--to") ?? "447700900123", customData: nil)
            case "sip": kind.origin = .sip(from: "sip:desk@pbx.example.com", to: arguments.ourNumber, headers: [])
            default: throw UsageError("--mix: \(printable(String(words[0]))) is no kind of call; the kinds are app, phone and sip")
            }
            mix.append((kind, weight))
        }
        guard mix.contains(where: { $0.weight > 0 }), mix.count <= 100 else { throw UsageError("--mix: one weight must be above 0") }
        return mix
    }
}

extension CallLoad.Report {
    private var seconds: Double { max(Double(elapsed) / 1_000_000, 0.001) }
    private var errorCount: Int { errors.values.reduce(0, +) }

    /// With a tenth where there are few.
    private func rate(_ count: Int) -> String {
        let tenths = Int((Double(count) / seconds * 10).rounded())
        return tenths < 1000 ? "\(tenths / 10).\(tenths % 10)" : "\((tenths + 5) / 10)"
    }

    fileprivate var progress: String {
        "\(elapsed / 1_000_000) s: \(ended) calls, \(rate(ended)) a second, \(begun - ended) open, answers p99 "
            + "\(CallReport.shown(answers.quantile(0.99))), \(errorCount) errors"
    }

    fileprivate func lines(_ limits: WebhookLimits) -> [String] {
        func times(_ name: String, _ histogram: LatencyHistogram, _ limit: Int64) -> String {
            "\(name) \(rate(histogram.count)) a second: p50 \(CallReport.shown(histogram.quantile(0.5))), p99 "
                + "\(CallReport.shown(histogram.quantile(0.99))), worst \(CallReport.shown(histogram.worst)) of \(limit) ms"
        }
        var lines = [
            "\(ended) calls in \(elapsed / 1_000_000).\(elapsed / 100_000 % 10) s: \(rate(ended)) a second"
                + (late > 0 ? ", \(late) began late" : ""),
            times("answers", answers, limits.answer), times("events ", events, limits.event),
        ]
        if missed > 0 { lines.append("too slow  \(missed) calls did not begin: \(CallLoad.mostOpen) were open, as many as may be") }
        if errors.isEmpty { lines.append("errors  none") }
        for (text, count) in errors.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) { lines.append("errors  \(count) × \(text)") }
        return lines
    }
}
