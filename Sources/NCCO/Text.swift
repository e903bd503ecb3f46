// SPDX-License-Identifier: MIT
//
// Text for people: from outside and therefore not to be trusted, or mistyped and therefore to be guessed at.

/// Text from outside, quoted and escaped so that it can stand in one line of a terminal or a log, and cut after 64 characters.
package func printable(_ text: String) -> String {
    var escaped = "\""
    for (count, scalar) in text.unicodeScalars.enumerated() {
        guard count < 64 else { return escaped + "…\"" }
        switch scalar {
        case "\"", "\\": escaped += "\\\(scalar)"
        case _ where steersTerminal(scalar): escaped += "\\u{\(String(scalar.value, radix: 16))}"
        default: escaped.unicodeScalars.append(scalar)
        }
    }
    return escaped + "\""
}

/// Controls, and what makes a terminal write from right to left or hides characters.
package func steersTerminal(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate: true
    default: false
    }
}

/// The candidate that was probably meant: at most a third of its characters differ. Long words are not looked at.
package func nearest(_ word: String, among candidates: [String]) -> String? {
    guard word.utf8.count <= 64 else { return nil }
    let scored = candidates.map { (candidate: $0, distance: editDistance(Array(word.utf8), Array($0.utf8))) }
    guard let best = scored.min(by: { $0.distance < $1.distance }), best.distance * 3 <= best.candidate.utf8.count else { return nil }
    return best.candidate
}

/// Levenshtein distance in which two neighbours that changed places count as one difference, row by row.
private func editDistance(_ one: [UInt8], _ other: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...other.count)
    for (i, left) in one.enumerated() {
        var row = [i + 1]
        for (j, right) in other.enumerated() {
            var least = min(last[j] + (left == right ? 0 : 1), row[j] + 1, last[j + 1] + 1)
            if i > 0, j > 0, left == other[j - 1], right == one[i - 1] { least = min(least, beforeLast[j - 1] + 1) }
            row.append(least)
        }
        (beforeLast, last) = (last, row)
    }
    return last[other.count]
}

/// JSON text in which what steers a terminal is an escape; it means the same.
package func printable(json: [UInt8]) -> [UInt8] {
    // All that steers and is no escape already lies beyond ASCII.
    guard json.contains(where: { $0 >= 0x7F }) else { return json }
    var output: [UInt8] = []
    output.reserveCapacity(json.count)
    for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
        if scalar.value >= 0x7F, steersTerminal(scalar) {
            output.appendJSONEscape(of: scalar)
        } else {
            output += String(scalar).utf8
        }
    }
    return output
}

extension [UInt8] {
    /// Appends `\u` with four hexadecimal digits, of the two halves where a scalar has two in UTF-16.
    package mutating func appendJSONEscape(of scalar: Unicode.Scalar) {
        for unit in String(scalar).utf16 { self += "\\u\(String(0x10000 + Int(unit), radix: 16).dropFirst())".utf8 }
    }
}
