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

    /// An object without a kind.
    mutating func beginObject() { append(UInt8(ascii: "{")) }

    mutating func endObject(_ otherOptions: JSONObject) {
        otherOptions.appendMembers(to: &self)
        append(UInt8(ascii: "}"))
    }

    mutating func appendOption(_ name: String, _ text: (some TextValue)?) {
        guard let text else { return }
        appendName(name)
        appendJSONString(text.description)
    }

    mutating func appendOption<Choice: RawRepresentable<String>>(_ name: String, _ choice: Choice?) {
        guard let choice else { return }
        appendName(name)
        appendJSONString(choice.rawValue)
    }

    mutating func appendOption<let minimum: Int, let maximum: Int>(_ name: String, _ number: Whole<minimum, maximum>?) {
        guard let number else { return }
        appendName(name)
        appendDecimal(number.value)
    }

    /// A whole number is written without a fraction.
    mutating func appendOption<let minimum: Int, let maximum: Int>(_ name: String, _ number: Number<minimum, maximum>?) {
        guard let number else { return }
        appendName(name)
        append(contentsOf: number.description.utf8)
    }

    mutating func appendOption(_ name: String, _ value: Bool?) {
        guard let value else { return }
        appendName(name)
        append(contentsOf: (value ? "true" : "false").utf8)
    }

    mutating func appendOption(_ name: String, _ number: PhoneNumber?) {
        guard let number else { return }
        appendName(name)
        append(UInt8(ascii: "\""))
        number.appendDigits(to: &self)
        append(UInt8(ascii: "\""))
    }

    mutating func appendOption(_ name: String, _ object: JSONObject?) {
        guard let object else { return }
        appendName(name)
        object.encode(into: &self)
    }

    mutating func appendOption(_ name: String, _ object: (some OptionObject)?) {
        guard let object else { return }
        appendName(name)
        object.encode(into: &self)
    }

    mutating func appendOption(_ name: String, list: [String]?) {
        guard let list else { return }
        appendName(name)
        append(UInt8(ascii: "["))
        for (index, text) in list.enumerated() {
            if index > 0 { append(UInt8(ascii: ",")) }
            appendJSONString(text)
        }
        append(UInt8(ascii: "]"))
    }

    mutating func appendOption(_ name: String, list: [some TextValue]?) { appendOption(name, list: list?.map(\.description)) }

    /// An array, though one text is all it may hold.
    mutating func appendOption(_ name: String, listOfOne text: (some TextValue)?) {
        appendOption(name, list: text.map { [$0.description] })
    }

    /// An array, though one endpoint is all it may hold.
    mutating func appendOption(_ name: String, listOfOne endpoint: Endpoint) {
        appendName(name)
        append(UInt8(ascii: "["))
        endpoint.encode(into: &self)
        append(UInt8(ascii: "]"))
    }

    private mutating func appendName(_ name: String) {
        if last != UInt8(ascii: "{") { append(UInt8(ascii: ",")) }
        append(UInt8(ascii: "\""))
        append(contentsOf: name.utf8)
        append(contentsOf: "\":".utf8)
    }
}
