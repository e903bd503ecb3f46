// SPDX-License-Identifier: MIT
//
// Which Vonage application a token is for: the application that the private key belongs to.

/// The id of a Vonage application, a UUID in 36 characters, kept in the case in which it came.
///
/// Ids are equal where their digits are, in either case.
///
/// - Source: Vonage Application API, `id`; claim `application_id` of every token.
public struct ApplicationID: Hashable, Sendable, LosslessStringConvertible {
    /// The id as it was given, such as `11111111-2222-4333-8444-555555555555`.
    public let description: String

    /// Nil for anything but 8-4-4-4-12 hexadecimal digits with dashes between.
    public init?(_ text: String) {
        guard isUUID(text) else { return nil }
        description = text
    }

    /// The id where it is one.
    ///
    /// - Throws: `TokenError` with the rule; the text is not in it, since a key or a secret may have been pasted here.
    public init(checking text: String) throws(TokenError) {
        guard let id = Self(text) else {
            throw TokenError("this is no application id; it is a UUID like 11111111-2222-4333-8444-555555555555")
        }
        self = id
    }

    /// Whether both name the same application.
    public static func == (one: ApplicationID, other: ApplicationID) -> Bool {
        one.description.lowercased() == other.description.lowercased()
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(description.lowercased()) }
}

/// 8-4-4-4-12 hexadecimal digits of either case, RFC 9562 §4.
func isUUID(_ text: String) -> Bool {
    guard text.utf8.count == 36 else { return false }
    for (place, byte) in text.utf8.enumerated() {
        switch place {
        case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return false }
        default:
            switch byte {
            case 0x30...0x39, 0x41...0x46, 0x61...0x66: continue
            default: return false
            }
        }
    }
    return true
}
