// SPDX-License-Identifier: MIT
//
// The language in which the NCCO reference is written down here: what an option may hold, and which options an object has. Lint, the JSON
// Schema and the explanations read these tables and nothing else, so what one of them knows the others know too.

/// What an option may hold.
package indirect enum Shape: Sendable {
    /// Any text but an empty one.
    case text
    /// Text that is read out, plain or SSML.
    case spokenText
    case phoneNumber
    case userName
    /// Absolute, `http` or `https`.
    case url
    case webSocketURL
    case sipURI
    case choice([String])
    /// Keys of a phone in a text, and `p` for a pause.
    case dtmf
    case voiceLanguage
    case speechLanguage
    case whole(ClosedRange<Int>)
    /// Where it `clamps`, Vonage takes the nearest end of the range for what lies outside.
    case number(ClosedRange<Double>, clamps: Bool)
    case bool
    case list(Shape, count: ClosedRange<Int>)
    /// The same value as a text and as a list of one: the reference has both.
    case oneOrList(Shape, prefersList: Bool)
    case object(ObjectRule)
    /// An object whose kind is in `type`.
    case endpoint
    /// Any members, any values.
    case freeObject
    /// Any members, all of them texts.
    case textObject
}

/// One option of an object.
package struct OptionRule: Sendable {
    package let name: String
    package let shape: Shape
    package let isRequired: Bool
    /// What Vonage takes when it is absent, as words.
    package let standard: String?
    /// What it does, in one sentence without its full stop.
    package let summary: String
    /// Names that other parts of Vonage's documentation, or its SDKs, give it.
    package let otherSpellings: [String]
    /// What to use in its place; nil for an option that is not deprecated.
    package let deprecation: String?

    package init(
        _ name: String, _ shape: Shape, required: Bool = false, standard: String? = nil, _ summary: String, also: [String] = [],
        deprecated: String? = nil
    ) {
        self.name = name
        self.shape = shape
        isRequired = required
        self.standard = standard
        self.summary = summary
        otherSpellings = also
        deprecation = deprecated
    }
}

/// What an object is and which options it has, in the order in which they are written.
package struct ObjectRule: Sendable {
    /// The value of `action` or `type`; for others what they are called in a message.
    package let name: String
    package let summary: String
    package let options: [OptionRule]

    package init(_ name: String, _ summary: String, _ options: [OptionRule]) {
        self.name = name
        self.summary = summary
        self.options = options
    }

    /// The option of this name or of another spelling of it.
    package func option(_ name: String) -> OptionRule? {
        options.first { $0.name == name } ?? options.first { $0.otherSpellings.contains(name) }
    }
}
