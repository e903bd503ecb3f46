// SPDX-License-Identifier: MIT
//
// How Vonage reads an NCCO: the whole of it before the first action runs, and strictly. What `switchboard lint` calls an error is refused. Many
// calls are answered with the same bytes, so the last few are kept with what they mean.

import JSON
package import NCCO

/// What a body turned out to be.
package enum NCCOReading: Sendable {
    case actions([Action])
    /// In the order of the text, at least one.
    case refused([Finding])
}

package struct NCCOReader: Sendable {
    /// Readings that are kept; with more, all of them go.
    private static let mostKept = 256
    /// A longer body is read each time.
    private static let longestKept = 4096

    private var kept: [[UInt8]: NCCOReading] = [:]

    package init() {}

    package mutating func read(_ body: [UInt8]) -> NCCOReading {
        if let reading = kept[body] { return reading }
        let reading = Self.reading(of: body)
        if body.count <= Self.longestKept {
            if kept.count >= Self.mostKept { kept.removeAll(keepingCapacity: true) }
            kept[body] = reading
        }
        return reading
    }

    private static func reading(of body: [UInt8]) -> NCCOReading {
        let errors = NCCO.check(body.span).filter { $0.severity == .error }
        guard errors.isEmpty else { return .refused(errors) }
        do throws(NCCOError) {
            return .actions(try NCCO(json: body.span).actions)
        } catch {
            return .refused([
                Finding(
                    severity: .error, code: "NCCO", path: error.path ?? "$", message: "\(error)", line: error.line ?? 1,
                    column: error.column ?? 1)
            ])
        }
    }
}
