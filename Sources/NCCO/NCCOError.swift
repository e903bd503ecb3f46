// SPDX-License-Identifier: MIT
//
// Why a value or an NCCO was refused, for whoever wrote it. A value that refuses does not know yet which option it was meant for; reading
// JSON text adds action, option and place. A text that is not JSON at all has a line and a column instead.

internal import JSON

/// A value outside what the NCCO reference allows, or a text that is no NCCO.
public struct NCCOError: Error, Hashable, CustomStringConvertible {
    /// The action's name as Vonage spells it; nil for a value that stands alone and for what belongs to no action.
    public let action: String?
    /// The option's name as Vonage spells it; nil for a value that stands alone.
    public let option: String?
    /// What was given; nil where a required option is missing.
    public let value: String?
    /// What may be given.
    public let allowed: String
    /// The place in JSON text that was read, such as `$[1].endpoint[0].number`; nil for a value that was not read from JSON.
    public let path: String?
    /// The line of a text that is not JSON, from 1; nil for any other refusal.
    public let line: Int?
    /// The column of a text that is not JSON, from 1, in Unicode scalars; nil for any other refusal.
    public let column: Int?

    /// One line; value and path are cut to 40 and 200 characters, and the value is escaped as in JSON.
    public var description: String {
        if let line, let column { return "line \(line), column \(column): expected \(allowed), found \(value ?? "nothing")" }
        // An option may be a key of somebody's own, and is then shown as a path shows it.
        let name = option.map { isOwnName($0) ? $0 : pathStep(String($0.prefix(40))) } ?? "value"
        let subject = action.map { "\($0): \(name)" } ?? name
        let place = path.map { " (at \($0.prefix(200))\($0.count > 200 ? "…" : ""))" } ?? ""
        guard let value else { return "\(subject) is missing, and must be \(allowed)\(place)" }
        var quoted: [UInt8] = []
        quoted.appendJSONString(String(value.prefix(40)))
        let shown = String(decoding: quoted, as: UTF8.self) + (value.count > 40 ? "…" : "")
        return "\(subject) is \(shown), but must be \(allowed)\(place)"
    }

    init(action: String? = nil, option: String? = nil, value: String?, allowed: String, path: String? = nil) {
        self.action = action
        self.option = option
        self.value = value
        self.allowed = allowed
        self.path = path
        line = nil
        column = nil
    }

    init(_ error: JSONError) {
        action = nil
        option = nil
        value = error.found
        allowed = error.expected
        path = nil
        line = error.line
        column = error.column
    }
}

/// Whether a name could be one of Vonage's.
private func isOwnName(_ name: String) -> Bool { name.utf8.count <= 40 && isPlainName(name.filter { $0 != "-" }) }
