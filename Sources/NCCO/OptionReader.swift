// SPDX-License-Identifier: MIT
//
// How actions, endpoints and settings are read from the tree of a JSON text. A reader hands out each option once; what is left in the end is
// what the type does not know, and is kept. Numbers and booleans may be written as text, since Vonage's own examples do so; nothing else is
// taken for what it is not.

internal import JSON

/// An object of options: an action, an endpoint or settings inside one.
protocol OptionObject {
    /// Members that the type does not know, in the order in which they were read; written behind those it knows.
    var otherOptions: JSONObject { get set }

    /// Takes what it knows out of the reader.
    init(from options: inout OptionReader) throws(NCCOError)

    func encode(into output: inout [UInt8])

    /// Appends the places of all other options, those of settings inside included.
    func appendOtherOptionPaths(at path: String, to paths: inout [String])
}

extension OptionObject {
    /// Reads what a reader has left, other options included.
    init(readingAll options: inout OptionReader) throws(NCCOError) {
        try self.init(from: &options)
        otherOptions = try options.rest()
    }

    func appendOtherOptionPaths(at path: String, to paths: inout [String]) { appendOwnOtherOptionPaths(at: path, to: &paths) }

    func appendOwnOtherOptionPaths(at path: String, to paths: inout [String]) {
        for member in otherOptions.members { paths.append(path + pathStep(member.name)) }
    }
}

/// The options of one object.
struct OptionReader {
    let action: String?
    let path: String
    private var members: [(name: String, node: JSONNode)] = []

    /// - Throws: where the node is no object, or a name comes twice in it.
    init(_ node: JSONNode, action: String?, option: String?, path: String) throws(NCCOError) {
        self.action = action
        self.path = path
        guard case .object(let members) = node.value else {
            throw NCCOError(action: action, option: option, value: node.shown, allowed: "an object", path: path)
        }
        var names = UniqueNames()
        for member in members {
            let name = member.name.value
            guard names.add(name) else {
                throw NCCOError(action: action, option: name, value: "given twice", allowed: "given once", path: path + pathStep(name))
            }
            self.members.append((name, member.node))
        }
    }

    /// The same options, read as those of an action.
    init(_ options: OptionReader, of action: String) {
        self.action = action
        path = options.path
        members = options.members
    }

    func has(_ name: String) -> Bool { index(of: name) != nil }

    /// The option under any of its spellings; nil where it is absent.
    ///
    /// - Throws: where it is there in two spellings.
    mutating func take(_ name: String, or spellings: String...) throws(NCCOError) -> GivenOption? {
        var found = remove(name)
        for spelling in spellings {
            guard let option = remove(spelling) else { continue }
            if let found { throw option.refusal("left out together with \(found.name)") }
            found = option
        }
        return found
    }

    /// The option, which must be there.
    mutating func require(_ name: String, or spelling: String? = nil, _ allowed: String) throws(NCCOError) -> GivenOption {
        let option = if let spelling { try take(name, or: spelling) } else { try take(name) }
        guard let option else {
            throw NCCOError(action: action, option: name, value: nil, allowed: allowed, path: path + pathStep(name))
        }
        return option
    }

    /// What nobody has taken, one by one.
    var left: [GivenOption] {
        members.map { GivenOption(node: $0.node, name: $0.name, action: action, path: path + pathStep($0.name)) }
    }

    /// What nobody has taken.
    func rest() throws(NCCOError) -> JSONObject {
        var rest: [JSONObject.Member] = []
        for (name, node) in members {
            let value = try JSONValue(node, action: action, option: name, path: path + pathStep(name))
            rest.append(JSONObject.Member(name: name, value: value))
        }
        return JSONObject(unique: rest)
    }

    /// By bytes: for `==` of texts the sign for kelvin is the letter K.
    private func index(of name: String) -> Int? { members.firstIndex { $0.name.utf8.elementsEqual(name.utf8) } }

    private mutating func remove(_ name: String) -> GivenOption? {
        guard let index = index(of: name) else { return nil }
        return GivenOption(node: members.remove(at: index).node, name: name, action: action, path: path + pathStep(name))
    }
}

/// One option's value, which knows its place for errors.
struct GivenOption {
    let node: JSONNode
    let name: String
    let action: String?
    let path: String

    func refusal(_ allowed: String) -> NCCOError {
        NCCOError(action: action, option: name, value: node.shown, allowed: allowed, path: path)
    }

    func text<Value: TextValue>(as: Value.Type = Value.self) throws(NCCOError) -> Value {
        guard case .string(let string) = node.value, let value = try? Value(checking: string.value) else { throw refusal(Value.allowed) }
        return value
    }

    func string() throws(NCCOError) -> String {
        guard case .string(let string) = node.value else { throw refusal("a text") }
        return string.value
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>() throws(NCCOError) -> Choice {
        guard case .string(let string) = node.value, let choice = Choice(rawValue: string.value) else {
            throw refusal(oneOf(Choice.allCases.map(\.rawValue)))
        }
        return choice
    }

    func bool() throws(NCCOError) -> Bool {
        switch node.value {
        case .bool(let bool): return bool
        case .string(let string) where string.value == "true": return true
        case .string(let string) where string.value == "false": return false
        default: throw refusal("true or false")
        }
    }

    func whole<let minimum: Int, let maximum: Int>() throws(NCCOError) -> Whole<minimum, maximum> {
        // `30.0` is the number 30 for every reader of JSON.
        guard let text = numberText, let number = Int(text) ?? Double(text).flatMap({ Int(exactly: $0) }),
            let value = try? Whole<minimum, maximum>(checking: number)
        else { throw refusal("\(Whole<minimum, maximum>.range)") }
        return value
    }

    func number<let minimum: Int, let maximum: Int>() throws(NCCOError) -> Number<minimum, maximum> {
        guard let text = numberText, let number = Double(text), let value = try? Number<minimum, maximum>(checking: number) else {
            throw refusal(Number<minimum, maximum>.allowed)
        }
        return value
    }

    /// For the option that Vonage clamps instead of refusing.
    func clampedNumber<let minimum: Int, let maximum: Int>() throws(NCCOError) -> Number<minimum, maximum> {
        guard let text = numberText, let value = Double(text).flatMap({ Number<minimum, maximum>(clamping: $0) }) else {
            throw refusal(Number<minimum, maximum>.allowed)
        }
        return value
    }

    func object() throws(NCCOError) -> JSONObject {
        guard case .object(let object) = try JSONValue(node, action: action, option: name, path: path) else { throw refusal("an object") }
        return object
    }

    func options<Object: OptionObject>(as: Object.Type = Object.self) throws(NCCOError) -> Object {
        var options = try OptionReader(node, action: action, option: name, path: path)
        return try Object(readingAll: &options)
    }

    func elements(_ allowed: String) throws(NCCOError) -> [GivenOption] {
        guard case .array(let elements) = node.value else { throw refusal(allowed) }
        return elements.enumerated().map { GivenOption(node: $1, name: name, action: action, path: "\(path)[\($0)]") }
    }

    /// The element of an array that may have only one.
    func only(_ allowed: String) throws(NCCOError) -> GivenOption {
        let elements = try elements("an array of one: \(allowed)")
        guard elements.count == 1, let only = elements.first else { throw refusal("an array of one: \(allowed)") }
        return only
    }

    /// The same, or the value without an array.
    func onlyOrItself(_ allowed: String) throws(NCCOError) -> GivenOption { node.kind == .array ? try only(allowed) : self }

    func texts<Value: TextValue>() throws(NCCOError) -> [Value] {
        var texts: [Value] = []
        for element in try elements("an array, each element \(Value.allowed)") { texts.append(try element.text()) }
        return texts
    }

    private var numberText: String? {
        switch node.value {
        case .number(let text): return text
        case .string(let string):
            let text = string.value
            return isJSONNumber(text.utf8) ? text : nil
        default: return nil
        }
    }
}

/// Finds a name that comes twice; its hash is seeded, so that nobody can choose names that collide.
struct UniqueNames {
    private var seen: Set<[UInt8]> = []

    /// False for the second of two equal names, which no two readers would take for the same.
    mutating func add(_ name: String) -> Bool { seen.insert(Array(name.utf8)).inserted }
}

/// One step down in a path: `.name`, or `['na-me']` where the name is none of a variable's.
///
/// - Source: RFC 9535 sections 2.3.1 and 2.7.
package func pathStep(_ name: String) -> String {
    if isPlainName(name) { return ".\(name)" }
    var quoted = ""
    for scalar in name.unicodeScalars {
        switch scalar {
        case "'", "\\": quoted += "\\\(Character(scalar))"
        case "\u{0}"..."\u{F}": quoted += "\\u000\(String(scalar.value, radix: 16))"
        case "\u{10}"..."\u{1F}", "\u{7F}"..."\u{9F}": quoted += "\\u00\(String(scalar.value, radix: 16))"
        default: quoted.unicodeScalars.append(scalar)
        }
    }
    return "['\(quoted)']"
}

/// Whether a name may stand in a path as it is.
func isPlainName(_ name: String) -> Bool {
    guard let first = name.utf8.first, !isDigit(first) else { return false }
    return name.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
}

/// The choices in words.
func oneOf(_ choices: [String]) -> String { choices.count == 1 ? choices.joined() : "one of " + choices.joined(separator: ", ") }

extension JSONNode {
    /// The value for an error: a text as it is, anything else as JSON, cut to what a person wants to see.
    fileprivate var shown: String {
        switch value {
        case .string(let string): return string.value
        case .object: return "an object"
        case .array: return "an array"
        case .number(let text): return text
        case .bool(let bool): return bool ? "true" : "false"
        case .null: return "null"
        }
    }
}

extension OptionReader {
    /// Every `eventUrl` is an array of one.
    mutating func takeEventURL() throws(NCCOError) -> WebURL? { try take("eventUrl")?.only(WebURL.allowed).text() }
}
