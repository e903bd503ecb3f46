// SPDX-License-Identifier: MIT
//
// Checks a text and copies it without its white space, in one pass and without a tree: what lies between two stretches of white space is
// copied as one run. Number text, key order and escapes stay byte for byte.

/// What the minifier saw.
package struct JSONSummary: Hashable, Sendable {
    /// What the whole text is.
    package let kind: JSONKind
    /// Bytes from the start of the text to the inside of the first key that repeats an earlier one of the same object, at any depth.
    package let duplicateKey: Int?
}

/// Appends a text without its white space.
///
/// - Throws: where the text is not JSON as RFC 8259 has it; `output` is then as it was.
/// - Parameter maximumDepth: arrays and objects that may be open at once.
package func minifyJSON(
    _ text: Span<UInt8>, into output: inout [UInt8], maximumDepth: Int = defaultMaximumDepth
) throws(JSONError) -> JSONSummary {
    let before = output.count
    var minifier = Minifier()
    // Lent by exchange: a copy would have to be paid for at the first append.
    swap(&output, &minifier.output)
    defer { swap(&output, &minifier.output) }
    do {
        let kind = try walkJSON(text, maximumDepth: maximumDepth, &minifier)
        minifier.copyRun(to: text.count, of: text)
        return JSONSummary(kind: kind, duplicateKey: minifier.keys.firstDuplicate)
    } catch {
        minifier.output.removeSubrange(before...)
        throw JSONError(error, in: text, maximumDepth: maximumDepth)
    }
}

private struct Minifier: JSONVisitor {
    var output: [UInt8] = []
    var keys = DuplicateKeys()
    private var runStart = 0

    mutating func copyRun(to end: Int, of text: Span<UInt8>) {
        if runStart < end { output.append(runStart..<end, of: text) }
    }

    mutating func whiteSpace(_ range: Range<Int>, in text: Span<UInt8>) {
        copyRun(to: range.lowerBound, of: text)
        runStart = range.upperBound
    }
    mutating func begin(_ kind: JSONKind, at offset: Int) {
        if kind == .object { keys.beginObject() }
    }
    mutating func name(_ range: Range<Int>, in text: Span<UInt8>) { keys.add(range, in: text) }
    mutating func scalar(_ kind: JSONKind, _ range: Range<Int>, in text: Span<UInt8>) {}
    mutating func end(_ kind: JSONKind, at offset: Int, in text: Span<UInt8>) {
        if kind == .object { keys.endObject(in: text) }
    }
}
