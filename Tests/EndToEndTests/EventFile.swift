// SPDX-License-Identifier: MIT
//
// Reads `events.jsonl` and the closed files beside it without the log's own code, and refuses a line that is not exactly what the format says:
// a check sum that does not fit, a number that does not follow.

import Foundation
import JSON

struct Record {
    let text: String
    let seq: Int

    /// As Foundation reads them, which takes 512 levels and no lone surrogate; empty for a line beyond that.
    var members: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]) ?? [:] }
    var kind: String { members["kind"] as? String ?? "" }
    var event: [String: Any]? { members["event"] as? [String: Any] }

    init(_ line: [UInt8]) throws {
        var minified: [UInt8] = []
        _ = try minifyJSON(line.span, into: &minified, maximumDepth: 600)
        guard let text = String(validating: line, as: UTF8.self), minified == line, text.hasPrefix("{\"seq\":"),
            let seq = Int(text.dropFirst(7).prefix { $0 != "," })
        else { throw EventFileError(description: "no line: \(String(decoding: line, as: UTF8.self))") }
        let sum = String(crc32(line.dropLast(18)), radix: 16)
        let check = ",\"crc\":\"" + String(repeating: "0", count: 8 - sum.count) + sum + "\"}"
        guard text.hasSuffix(check) else { throw EventFileError(description: "the check sum should be \(check): \(text)") }
        (self.text, self.seq) = (text, seq)
    }
}

struct EventFileError: Error, CustomStringConvertible { let description: String }

/// All lines of the folder in order, each of them checked.
func records(in folder: String) throws -> [Record] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("events") && $0.hasSuffix(".jsonl") }
    var all: [Record] = []
    for name in names {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
        guard data.isEmpty || data.last == 0x0A else { throw EventFileError(description: "\(name) ends in half a line") }
        for line in data.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast() { all.append(try Record(Array(line))) }
    }
    all.sort { $0.seq < $1.seq }
    for (index, record) in all.enumerated() where record.seq != index + 1 {
        throw EventFileError(description: "number \(record.seq) stands at place \(index + 1)")
    }
    return all
}

/// ISO 3309, as zlib's: reflected, polynomial 0xEDB88320.
private func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var sum = UInt32.max
    for byte in bytes {
        sum ^= UInt32(byte)
        for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
    }
    return ~sum
}

/// Lends a new folder, and removes it.
func withFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
}
