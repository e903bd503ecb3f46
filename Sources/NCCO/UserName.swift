// SPDX-License-Identifier: MIT
//
// The name of an app user, kept as it came. One rule keeps names and phone numbers apart: a name holds something that no phone number has.

internal import JSON

/// A name of 1...100 characters, at least one of them not a digit (of any script), blank or `+-().`.
///
/// Characters are Unicode scalars, so that a name's length does not depend on a version of Unicode. Control characters (U+0000...U+001F,
/// U+007F...U+009F) have no place in one. Names are equal where their scalars are, as they go out: `é` in
/// one scalar and in two makes two names.
///
/// - Source: Vonage Voice API, NCCO reference, `connect`, endpoint `app`, field `user`.
public struct UserName: TextValue, LosslessStringConvertible {
    /// The name as it was given.
    public let description: String

    /// The rule in words.
    public static var allowed: String { "a user name: 1...100 characters, not all of them digits, blanks or +-()." }

    /// The name where it is one.
    ///
    /// - Throws: `NCCOError` with the text and the rule.
    public init(checking text: String) throws(NCCOError) {
        guard let name = Self(text) else { throw NCCOError(value: text, allowed: Self.allowed) }
        self = name
    }

    /// Nil for what is no user name.
    public init?(_ text: String) {
        var count = 0
        var isTelling = false
        for scalar in text.unicodeScalars {
            count += 1
            guard count <= 100, !Self.isControl(scalar) else { return nil }
            isTelling = isTelling || !Self.mayStandInPhoneNumber(scalar)
        }
        guard isTelling else { return nil }
        description = text
    }

    /// Nil for what is no user name, and for what is not UTF-8.
    public init?(utf8: Span<UInt8>) {
        // A scalar has four bytes at most: what is longer is not worth a copy.
        guard utf8.count <= 400, isValidUTF8(utf8) else { return nil }
        var bytes: [UInt8] = []
        for at in 0..<utf8.count { bytes.append(utf8[at]) }
        self.init(String(decoding: bytes, as: UTF8.self))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) }

    private static func mayStandInPhoneNumber(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "0"..."9", " ", "+", "-", "(", ")", ".": true
        // A number that somebody typed with the digits of another script is a mistyped number and no name.
        default: scalar.properties.numericType == .decimal
        }
    }
}

extension UserName: Hashable {
    /// Whether both have the same scalars: unlike with `String`, composed and decomposed letters differ.
    public static func == (one: UserName, other: UserName) -> Bool { one.description.utf8.elementsEqual(other.description.utf8) }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        for byte in description.utf8 { hasher.combine(byte) }
    }
}
