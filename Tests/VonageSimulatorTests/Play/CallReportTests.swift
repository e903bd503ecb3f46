// SPDX-License-Identifier: MIT

import JSON
import NCCO
import Testing

@testable import VonageSimulator

struct CallReportTests {
    private static let hostile = "a\u{1B}[2Jb\u{9B}2Jc\u{202E}d\u{0}\"\\ \u{1F600}"

    @Test(arguments: [
        PlayedStep.What.hears(text: hostile, callee: nil), .hears(text: "x", callee: hostile), .says(hostile), .presses(hostile),
        .plays(url: hostile, callee: nil), .enters(hostile), .joins(hostile), .rings(.app(hostile), from: hostile),
        .hangsUp(callee: hostile, platform: false),
    ])
    func `nothing that came in steers a terminal, and tools read it whole`(_ what: PlayedStep.What) throws {
        let step = PlayedStep(at: 1600, what: what)
        let line = try #require(CallReport.line(step))
        #expect(line.hasPrefix("    1.600  "))
        #expect(!line.unicodeScalars.contains(where: steersTerminal))
        let json = CallReport.json(step)
        #expect(!String(decoding: json, as: UTF8.self).unicodeScalars.contains(where: steersTerminal))
        let node = try parseJSON(json.span, maximumDepth: 8)
        #expect(node.members?.contains { $0.node.string == Self.hostile } ?? false)
    }

    @Test(arguments: [(0, "0.0 ms"), (449, "0.4 ms"), (450, "0.5 ms"), (9_949, "9.9 ms"), (10_000, "10 ms"), (5_000_500, "5001 ms")])
    func `times are shown as people read them`(_ micros: Int64, _ text: String) { #expect(CallReport.shown(micros) == text) }

    @Test func `a histogram's quantiles are no more than 4 % above, and its worst is exact`() {
        var histogram = LatencyHistogram()
        for value in 1...10_000 as ClosedRange<Int64> { histogram.add(value) }
        for share in [0.5, 0.9, 0.99] {
            let (found, exact) = (Double(histogram.quantile(share)), share * 10_000)
            #expect((exact...exact * 1.04).contains(found), "\(share): \(found)")
        }
        #expect(histogram.worst == 10_000 && histogram.quantile(1) == 10_000 && histogram.count == 10_000)
        var extremes = LatencyHistogram()
        for value in [-1, 0, 31, 32, 33, .max] as [Int64] { extremes.add(value) }
        #expect(extremes.quantile(0.1) == 0 && extremes.quantile(1) == .max)
    }
}
