// SPDX-License-Identifier: MIT
//
// What rooms may be called.

/// The name of a video room: 1...100 letters, digits, `-`, `_` and `.` of ASCII, not all of them dots.
///
/// It stands in paths, in a file and in URLs that people send each other: such a name is the same in all of them.
struct RoomName: Hashable, Sendable, CustomStringConvertible {
    let description: String

    static let allowed = "a room's name has 1 to 100 letters, digits, dots, - and _"

    init?(_ text: String) {
        guard (1...100).contains(text.utf8.count), text.utf8.contains(where: { $0 != UInt8(ascii: ".") }),
            text.utf8.allSatisfy({ byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || "-_.".utf8.contains(byte)
            })
        else { return nil }
        description = text
    }
}

/// What a room for talking is shown as: 1...50 characters as Vonage counts them.
///
/// Vonage's services are written in JavaScript, whose strings have a length in UTF-16 code units: an emoji counts two or more, and a letter
/// with a combining accent two.
struct DisplayName: Hashable, Sendable, CustomStringConvertible {
    let description: String

    static let allowed = "display_name is a text of 1 to 50 characters; most emojis count as two"

    init?(_ text: String) {
        guard (1...50).contains(text.utf16.count) else { return nil }
        description = text
    }
}
