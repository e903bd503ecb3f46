// SPDX-License-Identifier: MIT
//
// What `talk` speaks. A server that measures every answer it gives uses the same rule on bytes, without a string and without an allocation.

/// A text to speak, plain or as SSML within `<speak>`: 1...1500 Unicode scalars, the tags of SSML not counted.
///
/// - Source: Vonage Voice API, NCCO reference, `talk`, option `text`.
public struct SpokenText: TextValue {
    /// The text as it was given, tags included.
    public let description: String

    /// How many Unicode scalars may be spoken.
    public static var range: ClosedRange<Int> { 1...1500 }

    /// The rule in words.
    public static var allowed: String { "\(range) characters to speak" }

    /// The text where its length is in range.
    ///
    /// - Throws: `NCCOError` with the text and the rule.
    public init(checking text: String) throws(NCCOError) {
        // The rule needs a contiguous text, which a text bridged from elsewhere may not be.
        var text = text
        text.makeContiguousUTF8()
        guard Self.range.contains(Self.spokenLength(ofUTF8: text.utf8.span)) else {
            throw NCCOError(value: text, allowed: Self.allowed)
        }
        description = text
    }

    /// Unicode scalars that count towards the limit.
    public var spokenLength: Int { Self.spokenLength(ofUTF8: description.utf8.span) }

    /// Unicode scalars outside SSML tags. What only looks like a tag in plain text is spoken, and counts.
    package static func spokenLength(ofUTF8 text: Span<UInt8>) -> Int {
        let isSSML = startsWithSpeak(text)
        var count = 0
        // What stands behind a `<` counts as well until its `>` has shown it to be a tag.
        var tag: Int?
        for at in text.indices {
            let byte = text[at]
            if byte & 0xC0 == 0x80 { continue }
            if !isSSML {
                count += 1
            } else if byte == UInt8(ascii: "<") {
                count += tag ?? 0
                tag = 1
            } else if let length = tag {
                tag = byte == UInt8(ascii: ">") ? nil : length + 1
            } else {
                count += 1
            }
        }
        return count + (tag ?? 0)
    }

    private static func startsWithSpeak(_ text: Span<UInt8>) -> Bool {
        var at = 0
        for byte in "<speak".utf8 {
            guard at < text.count, text[at] == byte else { return false }
            at += 1
        }
        return true
    }
}
