// SPDX-License-Identifier: MIT
//
// A moment as people write one on a command line or in a query: so long ago, a day by its name, or ISO 8601. Days are those of UTC, like all
// times of the log.

import EventLog

package enum TimeArgument {
    /// What is read, for messages.
    package static let allowed = "2h (also s, m, d), today, yesterday, 2026-11-30 or 2026-11-30T10:00Z"

    /// Milliseconds since 1970; nil for anything else.
    ///
    /// - Parameter now: milliseconds since 1970.
    package static func milliseconds(_ text: String, now: Int64) -> Int64? {
        let day: Int64 = 86_400_000
        let midnight = now - (now % day + day) % day
        switch text {
        case "now": return now
        case "today": return midnight
        case "yesterday": return midnight - day
        default: break
        }
        if text.utf8.count == 10 { return LogTime.milliseconds(text + "T00:00Z") }
        let units: [Character: Int64] = ["s": 1000, "m": 60_000, "h": 3_600_000, "d": day, "w": 7 * day]
        if let unit = text.last.flatMap({ units[$0] }), text.utf8.count <= 6, text.utf8.dropLast().allSatisfy(\.isDecimalDigit),
            let count = Int64(text.dropLast())
        {
            return now - count * unit
        }
        return LogTime.milliseconds(text)
    }
}
