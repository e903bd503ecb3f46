// SPDX-License-Identifier: MIT
//
// The zones' vectors. `zoneinfo/` holds files of the IANA time zone database 2025b (public domain), compiled by its `zic` in both forms: `slim`
// leaves to the TZ string what `fat` lists up to 2037. `zone-offsets.json` was found by Python's zoneinfo, `tz-strings.json` by glibc where the
// two differ (Python 3.11 counts `n` and `J59` from the wrong day) and by hand where a change falls into another year than its own.

import Foundation
import Testing

@testable import Switchboard

/// The offsets of a span of time: the first, and each change.
struct OffsetVector: Decodable, Sendable, CustomTestStringConvertible {
    let zone: String?
    let rule: String?
    let from: Int64
    let first: Int
    /// Unix seconds, and the offset from then on.
    let changes: [[Int]]
    let to: Int64

    var testDescription: String { zone ?? rule ?? "" }

    static func all(_ file: String) throws -> [OffsetVector] {
        let url = try #require(Bundle.module.url(forResource: "Vectors/\(file)", withExtension: "json"))
        return try JSONDecoder().decode([OffsetVector].self, from: Data(contentsOf: url))
    }

    /// The first offset that is not as expected, at each change, a second before it, and halfway to the next.
    func fault(in zone: Zone, since begin: Int64 = .min, before end: Int64 = .max) -> String? {
        var offset = first
        var start = from
        for change in changes.map({ (time: Int64($0[0]), offset: $0[1]) }) + [(time: to, offset: 0)] where start < end {
            for time in [start, start + (change.time - start) / 2, change.time - 1] where time >= begin && time < end {
                let found = zone.secondsFromGMT(at: time)
                if found != offset { return "\(found) at \(time), not \(offset)" }
            }
            (start, offset) = (change.time, change.offset)
        }
        return nil
    }
}

/// The compiled files, by form and name.
enum ZoneFile {
    static let slim = ["slim"].flatMap(names)
    static let fat = ["fat"].flatMap(names)

    static func folder(_ form: String) -> String { Bundle.module.bundlePath + "/Vectors/zoneinfo/\(form)" }

    static func bytes(_ form: String, _ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder(form))/\(name)")))
    }

    private static func names(_ form: String) -> [String] {
        let paths = FileManager.default.enumerator(atPath: folder(form))?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.split(separator: "/").count == 2 }.sorted()
    }

    /// A file of one block behind a hollow one, or of version 1 alone.
    static func made(
        version: Character = "2", types: [(offset: Int32, designation: UInt8)] = [(0, 0)], transitions: [(time: Int64, type: UInt8)] = [],
        leapSeconds: Int = 0, footer: String? = "\nUTC0\n"
    ) -> [UInt8] {
        func big(_ value: Int64, _ size: Int) -> [UInt8] { (0..<size).map { UInt8(truncatingIfNeeded: value >> ((size - 1 - $0) * 8)) } }
        func header(_ counts: [Int]) -> [UInt8] {
            Array("TZif".utf8) + [version == "1" ? 0 : version.asciiValue ?? 0] + [UInt8](repeating: 0, count: 15)
                + counts.flatMap { big(Int64($0), 4) }
        }
        let size = version == "1" ? 4 : 8
        var file = version == "1" ? [] : header([0, 0, 0, 0, 1, 1]) + [0, 0, 0, 0, 0, 0, 0]
        file += header([0, 0, leapSeconds, transitions.count, types.count, 4])
        file += transitions.flatMap { big($0.time, size) } + transitions.map(\.type)
        file += types.flatMap { big(Int64($0.offset), 4) + [0, $0.designation] } + Array("UTC\0".utf8)
        file += [UInt8](repeating: 0, count: leapSeconds * (size + 4))
        return file + Array((version == "1" ? "" : footer ?? "").utf8)
    }
}

/// `#expect` can't hold a span, so what it asks about takes arrays.
func zone(_ bytes: [UInt8]) throws(TZifError) -> Zone { try Zone(tzif: bytes.span) }
