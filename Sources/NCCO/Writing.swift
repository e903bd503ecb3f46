// SPDX-License-Identifier: MIT
//
// How actions and endpoints become JSON: the first member names the kind, each option is appended behind it, and an absent one leaves no
// trace. The names are Vonage's own and hold nothing that JSON would escape.

internal import JSON

extension [UInt8] {
    mutating func beginAction(_ name: String) { beginObject("{\"action\":", name) }

    mutating func beginEndpoint(_ type: String) { beginObject("{\"type\":", type) }

    private mutating func beginObject(_ opening: String, _ kind: String) {
        append(contentsOf: opening.utf8)
        appendJSONString(kind)
    }

    mutating func endObject() { append(UInt8(ascii: "}")) }

    mutating func appendOption(_ name: String, _ value: String?) {
        guard let value else { return }
        appendName(name)
        appendJSONString(value)
    }

    mutating func appendOption(_ name: String, _ value: Int?) {
        guard let value else { return }
        appendName(name)
        appendDecimal(value)
    }

    mutating func appendOption(_ name: String, _ value: Bool?) {
        guard let value else { return }
        appendName(name)
        append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// A whole number is written without a fraction. The value must be finite.
    mutating func appendOption(_ name: String, _ value: Double?) {
        guard let value else { return }
        appendName(name)
        if let whole = Int(exactly: value) { appendDecimal(whole) } else { append(contentsOf: "\(value)".utf8) }
    }

    mutating func appendOption(_ name: String, _ number: PhoneNumber?) {
        guard let number else { return }
        appendName(name)
        append(UInt8(ascii: "\""))
        number.appendDigits(to: &self)
        append(UInt8(ascii: "\""))
    }

    /// An array, though one endpoint is all it may hold.
    mutating func appendOption(_ name: String, _ endpoint: Endpoint) {
        appendName(name)
        append(UInt8(ascii: "["))
        endpoint.encode(into: &self)
        append(UInt8(ascii: "]"))
    }

    private mutating func appendName(_ name: String) {
        append(contentsOf: ",\"".utf8)
        append(contentsOf: name.utf8)
        append(contentsOf: "\":".utf8)
    }
}
