// SPDX-License-Identifier: MIT
//
// Points in time for whoever reads the log: arrival times as the log writes them, and those that events bring along, which other programs
// wrote and which are read more generously.

/// Milliseconds since 1970 in UTC, and ISO 8601 text.
package enum LogTime {
    /// `2026-11-30T10:00:00.123Z`.
    package static func append(_ milliseconds: Int64, to buffer: inout [UInt8]) {
        TimeStamp(milliseconds: milliseconds).append(to: &buffer)
    }

    /// `2026-11-30T10:00:00.123Z`.
    package static func text(_ milliseconds: Int64) -> String {
        String(decoding: TimeStamp(milliseconds: milliseconds).text, as: UTF8.self)
    }

    /// Reads `YYYY-MM-DD`, then `T` or a blank, `HH:MM`, and where they are sent seconds, any number of decimals (cut to milliseconds) and
    /// `Z`, `+HH:MM`, `+HHMM` or `+HH`; without a zone it is UTC. A blank may stand for the `+`, as forms decode it. Nil for anything else.
    package static func milliseconds(_ text: Span<UInt8>) -> Int64? {
        // What the log and Vonage write.
        if text.count == TimeStamp.length, let stamp = TimeStamp(text) { return stamp.milliseconds }
        guard text.count >= 16, text.count <= 40 else { return nil }
        var plain = Array("0000-00-00T00:00:00.000Z".utf8)
        for place in 0..<16 { plain[place] = place == 10 && (text[place] == 0x20 || text[place] == 0x74) ? UInt8(ascii: "T") : text[place] }
        var at = 16
        if at + 3 <= text.count, text[at] == UInt8(ascii: ":") {
            for place in 16..<19 { plain[place] = text[place] }
            at = 19
            if at < text.count, text[at] == UInt8(ascii: ".") {
                at += 1
                let first = at
                while at < text.count, text[at] &- 0x30 < 10 {
                    if at - first < 3 { plain[20 + at - first] = text[at] }
                    at += 1
                }
                guard at > first else { return nil }
            }
        }
        guard let stamp = TimeStamp(plain.span), let offset = offset(text.extracting(at..<text.count)) else { return nil }
        return stamp.milliseconds - offset
    }

    /// The same for text.
    package static func milliseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        return milliseconds(bytes.span)
    }

    /// A zone's milliseconds ahead of UTC.
    private static func offset(_ zone: Span<UInt8>) -> Int64? {
        if zone.count == 0 || (zone.count == 1 && zone[0] | 0x20 == UInt8(ascii: "z")) { return 0 }
        let isBehind = zone[0] == UInt8(ascii: "-")
        guard isBehind || zone[0] == UInt8(ascii: "+") || zone[0] == UInt8(ascii: " ") else { return nil }
        var digits: [Int64] = []
        for at in 1..<zone.count where !(at == 3 && zone[at] == UInt8(ascii: ":")) {
            guard zone[at] &- 0x30 < 10, digits.count < 4 else { return nil }
            digits.append(Int64(zone[at] &- 0x30))
        }
        guard digits.count == 2 || digits.count == 4 else { return nil }
        let minutes = (digits[0] * 10 + digits[1]) * 60 + (digits.count == 4 ? digits[2] * 10 + digits[3] : 0)
        return (isBehind ? -minutes : minutes) * 60_000
    }
}
