// SPDX-License-Identifier: MIT
//
// The caller that a callee sees: one option for Vonage's two, `from` and `randomFromNumber`, which exclude each other.

/// The number that the callee sees.
///
/// - Source: Vonage Voice API, NCCO reference, `connect`, options `from` and `randomFromNumber`.
public enum CallerID: Hashable, Sendable {
    /// This number. Towards a phone it must be one of yours at Vonage, else the call is not connected.
    case number(PhoneNumber)
    /// Any of the application's numbers, one of the callee's country where there is one.
    case random
}

extension CallerID: ExpressibleByStringLiteral {
    /// Lets a number be written in place; where it is none the program stops.
    public init(stringLiteral text: String) { self = .number(PhoneNumber(stringLiteral: text)) }
}
