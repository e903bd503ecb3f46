// SPDX-License-Identifier: MIT
//
// Why there is no token: a value that Vonage would not take. Nothing is ever put right in silence, because a token that differs from what was
// asked for fails somewhere else, and later.

/// A value that no token may have, and what would be right, in one line.
public struct TokenError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with which range, such as `the lifetime is 5 s; it must be 60 s to 24 h`.
    public let description: String

    package init(_ description: String) { self.description = description }
}
