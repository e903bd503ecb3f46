// SPDX-License-Identifier: MIT

import Foundation
import Testing

func vectors<Vector: Decodable>(_ file: String) throws -> [Vector] {
    let url = try #require(Bundle.module.url(forResource: "Vectors/\(file)", withExtension: "json"))
    return try JSONDecoder().decode([Vector].self, from: Data(contentsOf: url))
}

/// The bytes of a file under `Vectors`.
func vector(_ path: String) throws -> [UInt8] {
    try Array(Data(contentsOf: try #require(Bundle.module.url(forResource: "Vectors/\(path)", withExtension: nil))))
}

/// The names of the JSON files in a folder under `Vectors`, sorted.
func vectorFiles(_ folder: String) throws -> [String] {
    let url = try #require(Bundle.module.url(forResource: "Vectors/\(folder)", withExtension: nil))
    return try FileManager.default.contentsOfDirectory(atPath: url.path).filter { $0.hasSuffix(".json") }.sorted()
}
