// SPDX-License-Identifier: MIT
//
// Numbers with a fraction and with bounds in their type. A generic parameter can't be a fraction, and all of the reference's bounds are
// whole tenths, so the bounds are counted in tenths.

/// A finite number of `minimumTenths` / 10...`maximumTenths` / 10.
///
/// A literal outside the range is a mistake of whoever wrote it and stops the program; for numbers from outside use `init(checking:)`.
public struct Number<let minimumTenths: Int, let maximumTenths: Int>: Hashable, Sendable, CustomStringConvertible {
    /// The number; never infinite and never NaN.
    public let value: Double

    /// What the number may be.
    public static var range: ClosedRange<Double> { Double(minimumTenths) / 10...Double(maximumTenths) / 10 }

    /// What the number may be, in words.
    static var allowed: String { "\(shown(range.lowerBound))...\(shown(range.upperBound))" }

    /// The number where it is in range.
    ///
    /// - Throws: `NCCOError` with the range for a number outside it, infinity and NaN.
    public init(checking value: Double) throws(NCCOError) {
        guard Self.range.contains(value) else { throw NCCOError(value: shown(value), allowed: Self.allowed) }
        self.value = value
    }

    /// The nearest number in range; nil for NaN, which is near to none.
    init?(clamping value: Double) {
        guard !value.isNaN else { return nil }
        self.value = min(max(value, Self.range.lowerBound), Self.range.upperBound)
    }

    /// The number in decimal digits, without a fraction where there is none.
    public var description: String { shown(value) }
}

extension Number: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    /// Lets a number be written in place; outside the range the program stops.
    public init(floatLiteral value: Double) {
        // A literal is part of the program, never something from outside: `init(checking:)` is for that, and throws. The protocol leaves an
        // initialiser no other way to refuse.
        guard Self.range.contains(value) else { preconditionFailure("\(value) is not in \(Self.allowed)") }
        self.value = value
    }

    /// Lets a number be written in place; outside the range the program stops.
    public init(integerLiteral value: Int) { self.init(floatLiteral: Double(value)) }
}

private func shown(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }

/// Loudness: -1 is softest, 0 as recorded, 1 loudest.
///
/// - Source: Vonage Voice API, NCCO reference, `talk` and `stream`, option `level`.
public typealias Level = Number<-10, 10>
