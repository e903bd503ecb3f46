// SPDX-License-Identifier: MIT
//
// Why an action can't be made, for whoever wrote its options.

internal import JSON

/// An option outside what the NCCO reference allows.
public struct NCCOError: Error, Hashable, CustomStringConvertible {
    /// The action's name as Vonage spells it.
    public let action: String
    /// The option's name as Vonage spells it.
    public let option: String
    /// What was given.
    public let value: String
    /// What may be given.
    public let allowed: String

    /// One line; the value is cut to 40 characters and escaped as in JSON.
    public var description: String {
        var quoted: [UInt8] = []
        quoted.appendJSONString(String(value.prefix(40)))
        let shown = String(decoding: quoted, as: UTF8.self) + (value.count > 40 ? "…" : "")
        return "\(action): \(option) is \(shown), but must be \(allowed)"
    }

    static func check(_ value: Int?, in range: ClosedRange<Int>, action: String, option: String) throws(NCCOError) {
        if let value, !range.contains(value) {
            throw NCCOError(action: action, option: option, value: "\(value)", allowed: "\(range)")
        }
    }

    static func check(_ value: Int?, atLeast least: Int, action: String, option: String) throws(NCCOError) {
        if let value, value < least {
            throw NCCOError(action: action, option: option, value: "\(value)", allowed: "\(least) or more")
        }
    }
}
