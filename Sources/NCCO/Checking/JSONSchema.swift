// SPDX-License-Identifier: MIT
//
// The tables as a JSON Schema (draft 2020-12), for editors: they complete names, show what an option does, and underline what is wrong. It is
// as lenient as Vonage is with numbers in text. What one option asks of another is only in lint, but for what a schema says well.

internal import JSON

extension NCCO {
    /// A JSON Schema for NCCOs and templates, as JSON text with an LF behind it.
    ///
    /// - Source: JSON Schema draft 2020-12.
    public static var jsonSchema: String { NCCOSchema().text }
}

/// A JSON text that is written member by member, indented for people.
package struct JSONLines {
    package private(set) var text = ""
    private var isEmpty = [true]

    package init() {}

    package mutating func open(_ name: String? = nil, _ bracket: Character = "{") {
        begin(name)
        text.append(bracket)
        isEmpty.append(true)
    }

    package mutating func close(_ bracket: Character = "}") {
        let wasEmpty = isEmpty.removeLast()
        if !wasEmpty { text += "\n" + String(repeating: "  ", count: isEmpty.count - 1) }
        text.append(bracket)
    }

    /// `literal` is JSON already.
    package mutating func add(_ name: String?, literal: String) {
        begin(name)
        text += literal
    }

    package mutating func add(_ name: String?, _ value: String) { add(name, literal: Self.quoted(value)) }

    package mutating func add(_ name: String?, list: [String]) {
        add(name, literal: "[" + list.map(Self.quoted).joined(separator: ", ") + "]")
    }

    private mutating func begin(_ name: String?) {
        if isEmpty.count > 1 {
            text += (isEmpty[isEmpty.count - 1] ? "\n" : ",\n") + String(repeating: "  ", count: isEmpty.count - 1)
            isEmpty[isEmpty.count - 1] = false
        }
        if let name { text += Self.quoted(name) + ": " }
    }

    /// A text as JSON.
    package static func quoted(_ value: String) -> String {
        var bytes: [UInt8] = []
        bytes.appendJSONString(value)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Regular expressions that ECMA-262 and other dialects read alike.
private enum Pattern {
    /// A path's names, with blanks around.
    private static let path = #" *[^{}|.\s]+(\.[^{}|.\s]+)* *"#
    private static let standard = #"\|((?!\}\})[\s\S])*"#
    private static let placeholder = #"\{\{\#(path)(\#(standard))?\}\}"#

    /// Every `{{` begins a placeholder.
    static let filled = #"^([^{]|\{(?!\{)|\#(placeholder))*$"#
    static let template = #"\{\{"#
    static let wholePlaceholder = "^\(placeholder)$"
    static let wholeWithDefault = #"^\{\{\#(path)\#(standard)\}\}$"#

    /// One placeholder with a default, which is what is sent where there is no value.
    static func whole(withDefault text: String) -> String { #"^\{\{\#(path)\| *(\#(text)) *\}\}$"# }

    /// In upper and lower case.
    static func anyCase(_ word: String) -> String { word.map { "[\($0.uppercased())\($0.lowercased())]" }.joined() }

    /// A letter or sign that no authority begins without, then printable ASCII.
    static let address = #"[!-"$-.0->@-~][!-~]*"#
    static let control = #"\u0000-\u001f\u007f-\u009f"#
}

private struct NCCOSchema {
    private var lines = JSONLines()

    init() {
        lines.open()
        lines.add("$schema", "https://json-schema.org/draft/2020-12/schema")
        lines.add("title", "Vonage NCCO")
        lines.add("description", "A Call Control Object: the actions for a call, run in order")
        lines.add("type", "array")
        lines.open("items")
        lines.add("type", "object")
        lines.add("required", list: ["action"])
        lines.open("properties")
        lines.open("action")
        lines.add("enum", list: Reference.actions.map(\.name))
        lines.close()
        lines.close()
        addKinds(Reference.actions, key: "action")
        lines.close()
        lines.open("$defs")
        addEndpoints()
        addTexts()
        lines.close()
        lines.close()
    }

    var text: String { lines.text + "\n" }

    /// `if` the kind is this one, `then` its options.
    private mutating func addKinds(_ rules: [ObjectRule], key: String) {
        lines.open("allOf", "[")
        for rule in rules {
            lines.open()
            lines.open("if")
            lines.open("properties")
            lines.open(key)
            lines.add("const", rule.name)
            lines.close()
            lines.close()
            lines.add("required", list: [key])
            lines.close()
            lines.open("then")
            addObject(rule, kindKey: key)
            lines.close()
            lines.close()
        }
        lines.close("]")
    }

    private mutating func addEndpoints() {
        lines.open("endpoint")
        lines.add("type", "object")
        lines.add("required", list: ["type"])
        lines.open("properties")
        lines.open("type")
        lines.add("enum", list: Reference.endpoints.map(\.name))
        lines.close()
        lines.close()
        addKinds(Reference.endpoints, key: "type")
        lines.close()
    }

    private mutating func addObject(_ rule: ObjectRule, kindKey: String? = nil) {
        lines.add("description", rule.summary)
        lines.add("type", "object")
        lines.open("properties")
        if let kindKey { lines.add(kindKey, literal: "true") }
        for option in rule.options {
            for name in [option.name] + option.otherSpellings { addOption(option, name, isOld: name != option.name) }
        }
        if rule.name == "input" {
            for option in Reference.dtmf.options { addOption(option, option.name, isOld: true) }
        }
        lines.close()
        addRequired(rule)
        addCombinations(rule)
    }

    private mutating func addOption(_ option: OptionRule, _ name: String, isOld: Bool) {
        lines.open(name)
        lines.add("description", option.summary + (option.standard.map { " (when absent: \($0))" } ?? ""))
        if option.deprecation != nil || isOld { lines.add("deprecated", literal: "true") }
        addShape(option.shape)
        lines.close()
    }

    private mutating func addRequired(_ rule: ObjectRule) {
        let required = rule.options.filter(\.isRequired)
        let plain = required.filter { $0.otherSpellings.isEmpty && !(rule.name == "input" && $0.name == "type") }
        if !plain.isEmpty { lines.add("required", list: plain.map(\.name)) }
        if rule.name == "input" { addAny(of: ["type"] + Reference.legacyInput) }
        for option in required where !option.otherSpellings.isEmpty { addAny(of: [option.name] + option.otherSpellings) }
    }

    private mutating func addAny(of names: [String]) {
        lines.add("anyOf", literal: "[" + names.map { "{\"required\": [\"\($0)\"]}" }.joined(separator: ", ") + "]")
    }

    private mutating func addCombinations(_ rule: ObjectRule) {
        switch rule.name {
        case "record": lines.add("dependentRequired", literal: #"{"channels": ["split"]}"#)
        case "conversation":
            lines.add(
                "dependentSchemas",
                literal:
                    #"{"transcription": {"required": ["record"], "properties": {"record": {"not": {"enum": [false, "false"]}}}}}"#)
            lines.add("not", literal: #"{"required": ["mute", "canSpeak"]}"#)
        case "transfer": lines.add("not", literal: #"{"required": ["mute", "canSpeak"]}"#)
        case "connect":
            lines.add(
                "not", literal: #"{"required": ["from", "randomFromNumber"], "properties": {"randomFromNumber": {"enum": [true, "true"]}}}"#
            )
        case "input":
            lines.add("if", literal: #"{"properties": {"mode": {"const": "asynchronous"}}, "required": ["mode"]}"#)
            lines.add(
                "then", literal: #"{"properties": {"dtmf": {"maxProperties": 0}, "type": {"items": {"not": {"const": "speech"}}}}}"#)
        case "sip":
            lines.add(
                "oneOf",
                literal:
                    #"[{"required": ["uri"], "not": {"anyOf": [{"required": ["user"]}, {"required": ["domain"]}]}}, {"required": ["user", "domain"], "not": {"required": ["uri"]}}]"#
            )
        case "standardHeaders":
            lines.add(
                "allOf",
                literal: ##"[{"properties": {"User-to-User": {"anyOf": [{"maxLength": 256}, {"$ref": "#/$defs/template"}]}}}]"##)
        case "authorization":
            lines.add("if", literal: #"{"properties": {"type": {"const": "custom"}}, "required": ["type"]}"#)
            lines.add("then", literal: #"{"required": ["value"]}"#)
        default: break
        }
    }

    // MARK: Values

    /// The members that say what a value may be.
    private mutating func addShape(_ shape: Shape) {
        switch shape {
        case .text: addReference("text")
        case .spokenText: addReference("spokenText")
        case .phoneNumber: addReference("phoneNumber")
        case .userName: addReference("userName")
        case .url: addReference("url")
        case .webSocketURL: addReference("webSocketURL")
        case .sipURI: addReference("sipURI")
        case .dtmf: addReference("keys")
        case .voiceLanguage, .speechLanguage: addReference("language")
        case .bool: addReference("bool")
        case .choice(let words):
            let alternatives = words.map(Self.escaped).joined(separator: "|")
            addText(alternatives, literal: { lines in lines.add("enum", list: words) })
        case .whole(let range):
            let isOpen = range.upperBound == Loop.range.upperBound
            addNumber(
                "integer", least: "\(range.lowerBound)", most: isOpen ? nil : "\(range.upperBound)", text: #"^-?[0-9]+(\.0*)?$"#)
        case .number(let range, let clamps):
            addNumber(
                "number", least: clamps ? nil : "\(range.lowerBound)", most: clamps ? nil : "\(range.upperBound)",
                text: #"^-?[0-9]+(\.[0-9]*)?$"#)
        case .list(let element, let count): addOrPlaceholder { $0.addList(element, count) }
        case .oneOrList(let element, _):
            lines.open("anyOf", "[")
            lines.open()
            addShape(element)
            lines.close()
            lines.open()
            addList(element, 1...1)
            lines.close()
            lines.close("]")
        case .object(let rule): addOrPlaceholder { $0.addObject(rule) }
        case .endpoint: addOrPlaceholder { $0.addReference("endpoint") }
        case .freeObject: addOrPlaceholder { $0.addFreeObject(textOnly: false) }
        case .textObject: addOrPlaceholder { $0.addFreeObject(textOnly: true) }
        }
    }

    private mutating func addReference(_ name: String) { lines.add("$ref", "#/$defs/\(name)") }

    private mutating func addOrPlaceholder(_ addMembers: (inout Self) -> Void) {
        lines.open("anyOf", "[")
        lines.open()
        addMembers(&self)
        lines.close()
        lines.open()
        addReference("placeholder")
        lines.close()
        lines.close("]")
    }

    private mutating func addList(_ element: Shape, _ count: ClosedRange<Int>) {
        lines.add("type", "array")
        lines.open("items")
        addShape(element)
        lines.close()
        lines.add("minItems", literal: "\(count.lowerBound)")
        lines.add("maxItems", literal: "\(count.upperBound)")
        guard case .choice(let words) = element else { return }
        // Not uniqueItems: two equal placeholders may become two words.
        lines.open("allOf", "[")
        for word in words {
            lines.add(nil, literal: #"{"contains": {"const": \#(JSONLines.quoted(word))}, "minContains": 0, "maxContains": 1}"#)
        }
        lines.close("]")
    }

    private mutating func addFreeObject(textOnly: Bool) {
        lines.add("type", "object")
        lines.open("additionalProperties")
        if textOnly { lines.add("type", "string") }
        addReference("anything")
        lines.close()
    }

    private mutating func addNumber(_ type: String, least: String?, most: String?, text: String) {
        lines.open("anyOf", "[")
        lines.open()
        lines.add("type", type)
        if let least { lines.add("minimum", literal: least) }
        if let most { lines.add("maximum", literal: most) }
        lines.close()
        lines.open()
        lines.add("type", "string")
        lines.add("pattern", text)
        lines.close()
        lines.open()
        addReference("template")
        lines.close()
        lines.close("]")
    }

    // MARK: Texts

    private mutating func addTexts() {
        lines.open("placeholder")
        lines.add("description", "A placeholder and nothing else may become a value of any type")
        lines.add("type", "string")
        lines.add("pattern", Pattern.wholePlaceholder)
        lines.close()
        lines.open("template")
        lines.add("description", "A text with placeholders")
        lines.add("type", "string")
        lines.add("pattern", Pattern.template)
        addReference("filled")
        lines.close()
        lines.open("filled")
        lines.add("description", "Every {{ begins a placeholder, such as {{to}}, {{custom_data.tier}} or {{to|nobody}}")
        lines.add("pattern", Pattern.filled)
        lines.close()
        lines.open("withDefault")
        lines.add("pattern", Pattern.wholeWithDefault)
        lines.close()
        lines.open("anything")
        addReference("filled")
        lines.add("items", literal: ##"{"$ref": "#/$defs/anything"}"##)
        lines.add("additionalProperties", literal: ##"{"$ref": "#/$defs/anything"}"##)
        lines.close()
        addBool()
        define("text", #"[\s\S]+"#)
        define("spokenText", #"[\s\S]+"#) { $0.add("not", literal: ##"{"pattern": "^<speak[^<>]*>(<[^<>]*>)*$"}"##) }
        define("phoneNumber", "[1-9][0-9]{6,14}")
        let (sign, number) = ("[^\(Pattern.control)]*", "0-9 +().-")
        define("userName", "\(sign)[^\(Pattern.control)\(number)]\(sign)") { $0.add("maxLength", literal: "100") }
        define("keys", "[0-9*#p]+")
        define("language", "[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")
        define("url", schemes: Pattern.anyCase("http") + "[Ss]?://", Pattern.address)
        define("webSocketURL", schemes: Pattern.anyCase("ws") + "[Ss]?://", Pattern.address)
        define("sipURI", schemes: Pattern.anyCase("sip") + "[Ss]?:", "([!-~]+@)?[!-9<=>A-~][!-?A-~]*")
    }

    private mutating func addBool() {
        lines.open("bool")
        addOrPlaceholder { $0.lines.add("enum", literal: #"[true, false, "true", "false"]"#) }
        lines.close()
    }

    private mutating func define(
        _ name: String, schemes: String = "", _ pattern: String, also addMore: (inout JSONLines) -> Void = { _ in }
    ) {
        lines.open(name)
        let full = schemes + pattern
        addText(full, schemes: schemes) { lines in
            lines.add("pattern", "^(\(full))$")
            addMore(&lines)
        }
        lines.close()
    }

    /// A text that is either what `addLiteral` says, or a template. With one placeholder and nothing else its default must match `pattern`; any
    /// other template begins with `schemes`, or with a placeholder.
    private mutating func addText(_ pattern: String, schemes: String = "", literal addLiteral: (inout JSONLines) -> Void) {
        lines.add("type", "string")
        addReference("filled")
        lines.open("anyOf", "[")
        lines.open()
        addLiteral(&lines)
        lines.close()
        lines.open()
        if !schemes.isEmpty { lines.add("pattern", #"^(\{\{|\#(schemes))"#) }
        addReference("template")
        lines.close()
        lines.close("]")
        lines.add("if", literal: ##"{"$ref": "#/$defs/withDefault"}"##)
        lines.open("then")
        lines.add("pattern", Pattern.whole(withDefault: pattern))
        lines.close()
    }

    /// Words as a regular expression.
    private static func escaped(_ word: String) -> String {
        word.map { $0.isLetter || $0.isNumber || "_-/;=".contains($0) ? "\($0)" : "\\\($0)" }.joined()
    }
}
