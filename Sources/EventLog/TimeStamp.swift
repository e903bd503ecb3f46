// SPDX-License-Identifier: MIT
//
// UTC with milliseconds, `2026-11-30T10:00:00.123Z`, to text and back without Foundation. The calendar arithmetic counts days from
// 1 March, so that the leap day is a year's last (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Milliseconds since 1970 UTC within the years 0 to 9999, so that its text has one length.
struct TimeStamp: Hashable {
    static let length = 24
    static let compactLength = 16
    let milliseconds: Int64

    /// Clamps what four digits of a year cannot hold.
    init(milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
    }

    /// Reads what `append` writes; nil for any other bytes.
    init?(_ text: Span<UInt8>) {
        guard text.count == Self.length else { return nil }
        var numbers: [Int64] = []
        var number: Int64 = 0
        for (place, pattern) in "0000-00-00T00:00:00.000Z".utf8.enumerated() {
            if pattern == UInt8(ascii: "0") {
                let digit = text[place] &- UInt8(ascii: "0")
                guard digit < 10 else { return nil }
                number = number * 10 + Int64(digit)
            } else {
                guard text[place] == pattern else { return nil }
                numbers.append(number)
                number = 0
            }
        }
        let (year, month, day) = (numbers[0], numbers[1], numbers[2])
        guard (1...12).contains(month), (1...31).contains(day), numbers[3] < 24, numbers[4] < 60, numbers[5] < 60 else { return nil }
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let ofEra = shifted - era * 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
        self.init(milliseconds: (((days * 24 + numbers[3]) * 60 + numbers[4]) * 60 + numbers[5]) * 1000 + numbers[6])
        // 31 April names no day of its own.
        guard parts.month == month, parts.day == day else { return nil }
    }

    /// Reads what `compact` gives; nil for any other text.
    init?(compact text: Span<UInt8>) {
        guard text.count == Self.compactLength, text[15] == UInt8(ascii: "Z") else { return nil }
        var full = Array("0000-00-00T00:00:00.000Z".utf8)
        var place = 0
        for index in 0..<15 {
            full[place] = text[index]
            // What stands between the numbers of the long form.
            place += index == 3 || index == 5 || index == 10 || index == 12 ? 2 : 1
        }
        self.init(full.span)
    }

    /// The clock of the system, whole milliseconds.
    static var now: TimeStamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return TimeStamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Days since 1970, UTC.
    var day: Int64 {
        let day = 86_400_000 as Int64
        return (milliseconds >= 0 ? milliseconds : milliseconds - day + 1) / day
    }

    var text: [UInt8] {
        var text: [UInt8] = []
        append(to: &text)
        return text
    }

    func append(to buffer: inout [UInt8]) {
        let parts = parts
        func append(_ number: Int64, width: Int, then end: UInt8) {
            var divisor: Int64 = width == 4 ? 1000 : width == 3 ? 100 : 10
            while divisor > 0 {
                buffer.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
                divisor /= 10
            }
            buffer.append(end)
        }
        append(parts.year, width: 4, then: UInt8(ascii: "-"))
        append(parts.month, width: 2, then: UInt8(ascii: "-"))
        append(parts.day, width: 2, then: UInt8(ascii: "T"))
        append(parts.second / 3600, width: 2, then: UInt8(ascii: ":"))
        append(parts.second / 60 % 60, width: 2, then: UInt8(ascii: ":"))
        append(parts.second % 60, width: 2, then: UInt8(ascii: "."))
        append(parts.millisecond, width: 3, then: UInt8(ascii: "Z"))
    }

    /// `20261130T100000Z`, for names of files.
    var compact: String {
        var text: [UInt8] = []
        append(to: &text)
        let kept = text.prefix(19).filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ":") }
        return String(decoding: kept, as: UTF8.self) + "Z"
    }

    private var parts: (year: Int64, month: Int64, day: Int64, second: Int64, millisecond: Int64) {
        let days = day
        let rest = milliseconds - days * 86_400_000
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - (153 * shiftedMonth + 2) / 5 + 1, rest / 1000, rest % 1000
        )
    }
}
