// SPDX-License-Identifier: MIT

import Testing

@testable import VonageSimulator

struct TimeTextTests {
    @Test(arguments: [("500ms", 500), ("10s", 10_000), ("2m", 120_000), ("2min", 120_000), ("1h", 3_600_000), ("0s", 0)])
    func `scenarios and trouble read the same units`(_ text: String, _ time: Int64) throws {
        #expect(try duration(text, in: 0...3_600_000) == time)
        let file = scenarioFile(scenarioText(#"{"rung":[]}"#, more: "\"talk_for\":\"\(text)\","))
        #expect(file.scenarios.first?.call.talkFor == time)
        guard time <= Trouble.longest else { return }
        #expect(try Trouble("slow=\(text)").longestDelay == time)
    }

    @Test(arguments: ["", "s", "10", "-1s", "1.5s", "1 s", "1d", "٣s"]) func `what is no time is refused`(_ text: String) {
        #expect(throws: TimeError.isNone) { try duration(text, in: 0...3_600_000) }
    }

    @Test(arguments: ["2h", "99999999999999999999s", "9223372036854775807h"])
    func `a time out of its range is told from none`(_ text: String) {
        #expect(throws: TimeError.isOutside) { try duration(text, in: 0...3_600_000) }
    }
}
