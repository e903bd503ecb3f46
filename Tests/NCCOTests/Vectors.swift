// SPDX-License-Identifier: MIT

import Foundation
import Testing

func vectors<Vector: Decodable>(_ file: String) throws -> [Vector] {
    let url = try #require(Bundle.module.url(forResource: "Vectors/\(file)", withExtension: "json"))
    return try JSONDecoder().decode([Vector].self, from: Data(contentsOf: url))
}
