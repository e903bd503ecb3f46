// SPDX-License-Identifier: MIT
//
// Names that Vonage gives to calls and legs. They are opaque, but one of them may come in two spellings: a leg's with and without dashes, a
// conversation's with and without `CON-`. What is compared is the key, what is shown is the fullest spelling that came.

import HTTPWire

/// A call's or a leg's name in all its spellings.
package struct Identity: Hashable, Sendable {
    /// What is compared: 32 lower-case hexadecimal digits of a UUID, else the text.
    package let key: String

    package init(_ text: String) {
        var text = text
        key =
            text.withUTF8 { utf8 in
                let start = utf8.count > 4 && (utf8[0] | 0x20, utf8[1] | 0x20, utf8[2] | 0x20, utf8[3]) == (0x63, 0x6F, 0x6E, 0x2D) ? 4 : 0
                let count = utf8.count - start
                guard count == 32 || count == 36 else { return nil }
                // Unsafe: writes 32 bytes at most into room for as many.
                let digits = String(unsafeUninitializedCapacity: 32) { room in
                    var filled = 0
                    for place in 0..<count {
                        let byte = utf8[start + place]
                        if count == 36, place == 8 || place == 13 || place == 18 || place == 23 {
                            guard byte == UInt8(ascii: "-") else { return 0 }
                        } else {
                            guard byte.hexValue != nil else { return 0 }
                            room[filled] = byte.lowercased
                            filled += 1
                        }
                    }
                    return filled
                }
                return digits.isEmpty ? nil : digits
            } ?? text
    }

    /// The spelling to show of two: the longer, else the first in order, so that it does not hang on which came first.
    static func fuller(_ one: String?, _ other: String) -> String {
        guard let one else { return other }
        return (one.utf8.count, other) > (other.utf8.count, one) ? one : other
    }
}
