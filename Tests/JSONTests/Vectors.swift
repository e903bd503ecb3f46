// SPDX-License-Identifier: MIT
//
// The vectors: arrays of objects in `Vectors/`, one case a line. Bytes that a JSON file can't show stand as hex digits.

import Foundation
import Testing

@testable import JSON

/// A text that is or is not JSON.
struct TextVector: Decodable, Sendable, CustomTestStringConvertible {
    let name: String
    let text: String?
    let hex: String?
    let kind: String?
    let minified: String?
    let offset: Int?
    let reason: String?

    var bytes: [UInt8] { text.map { Array($0.utf8) } ?? unhex(hex ?? "") }
    var testDescription: String { name }
}

/// A string literal's inside, or the literal, and the bytes it stands for.
struct StringVector: Decodable, Sendable, CustomTestStringConvertible {
    let name: String
    let literal: String
    let hex: String

    var testDescription: String { name }
}

func vectors<Vector: Decodable>(_ file: String) throws -> [Vector] {
    let url = try #require(Bundle.module.url(forResource: "Vectors/\(file)", withExtension: "json"))
    return try JSONDecoder().decode([Vector].self, from: Data(contentsOf: url))
}

func unhex(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
}

func minified(_ bytes: [UInt8], maximumDepth: Int = 512) throws(JSONError) -> String {
    var output: [UInt8] = []
    _ = try minifyJSON(bytes.span, into: &output, maximumDepth: maximumDepth)
    return String(decoding: output, as: UTF8.self)
}

func minified(_ text: String) throws(JSONError) -> String { try minified(Array(text.utf8)) }

func encoded(_ node: JSONNode) -> String {
    var output: [UInt8] = []
    node.encode(into: &output)
    return String(decoding: output, as: UTF8.self)
}

// `#expect` can't hold a span, so what it asks about takes arrays.

func hasValidUTF8(_ bytes: [UInt8]) -> Bool { isValidUTF8(bytes.span) }

func skip(_ bytes: [UInt8], from start: Int) -> Int? { skipJSONValue(in: bytes.span, from: start) }

func tree(_ bytes: [UInt8]) throws(JSONError) -> JSONNode { try parseJSON(bytes.span) }
