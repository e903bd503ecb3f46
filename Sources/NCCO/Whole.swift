// SPDX-License-Identifier: MIT
//
// Whole numbers with bounds in their type, so that an option's range stands where the option is declared and nowhere else.

/// A whole number of `minimum`...`maximum`.
///
/// A literal outside the range is a mistake of whoever wrote it and stops the program; for numbers from outside use `init(checking:)`.
///
/// ```swift
/// let timeout: Connect.RingTime = 30
/// let limit = try Connect.Limit(checking: secondsFromTheDatabase)
/// ```
public struct Whole<let minimum: Int, let maximum: Int>: Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let value: Int

    /// What the number may be.
    public static var range: ClosedRange<Int> { minimum...maximum }

    /// The number where it is in range.
    ///
    /// - Throws: `NCCOError` with the range for a number outside it.
    public init(checking value: Int) throws(NCCOError) {
        guard Self.range.contains(value) else { throw NCCOError(value: "\(value)", allowed: "\(Self.range)") }
        self.value = value
    }

    /// The digits.
    public var description: String { "\(value)" }
}

extension Whole: ExpressibleByIntegerLiteral {
    /// Lets a number be written in place; outside the range the program stops.
    public init(integerLiteral value: Int) {
        // A literal is part of the program, never something from outside: `init(checking:)` is for that, and throws. The protocol leaves an
        // initialiser no other way to refuse.
        guard Self.range.contains(value) else { preconditionFailure("\(value) is not in \(Self.range)") }
        self.value = value
    }
}
