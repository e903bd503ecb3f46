// SPDX-License-Identifier: MIT
//
// What a single value must be. Vonage takes numbers and booleans as text too, its own examples have them: accepted, and named.

internal import JSON

extension Checker {
    mutating func check(_ node: JSONNode, _ shape: Shape, _ path: JSONPath) {
        if case .string(let string) = node.value, case let text = string.value, text.contains("{{") {
            return checkTemplate(text, node, shape, path)
        }
        switch shape {
        case .text, .spokenText, .phoneNumber, .userName, .url, .webSocketURL, .sipURI, .choice, .dtmf, .voiceLanguage, .speechLanguage:
            checkText(node, shape, path)
        case .whole, .number: checkNumber(node, shape, path)
        case .bool: checkBool(node, path)
        case .list(let element, let count): checkList(node, element, count, path)
        case .oneOrList(let element, let prefersList):
            if node.kind == .array {
                if !prefersList { addOtherForm(path, node, "a text") }
                checkList(node, element, 1...1, path)
            } else {
                if prefersList { addOtherForm(path, node, "a list of one") }
                check(node, element, path)
            }
        case .endpoint: checkEndpoint(node, path)
        case .object(let rule):
            guard case .object(let members) = node.value else { return addWrongType(node, path, shape) }
            let options = checkObject(members, rule, node, path)
            checkSettings(rule, options, node, path)
        case .freeObject:
            guard node.kind == .object else { return addWrongType(node, path, shape) }
            checkPlaceholders(node, path)
        case .textObject:
            guard case .object(let members) = node.value else { return addWrongType(node, path, shape) }
            for member in members where member.node.kind != .string {
                add(
                    .wrongType, path.appending(member.name.value), member.node, "a header field is text, not \(member.node.kind.words)",
                    member.node.kind == .null ? "leave the field out" : "put it in quotes")
            }
            checkPlaceholders(node, path)
        }
    }

    private mutating func addOtherForm(_ path: JSONPath, _ node: JSONNode, _ form: String) {
        add(.otherSpelling, path, node, "Vonage's documentation has this in two forms", "prefer \(form)")
    }

    mutating func addWrongType(_ node: JSONNode, _ path: JSONPath, _ shape: Shape) {
        let cure =
            switch (node.kind, shape) {
            case (.null, _): "leave the option out"
            case (.number, .text): "put it in quotes"
            default: "write \(shape.example)"
            }
        add(.wrongType, path, node, "this must be \(shape.words), not \(node.kind.words)", cure)
    }

    // MARK: Text

    private mutating func checkText(_ node: JSONNode, _ shape: Shape, _ path: JSONPath) {
        guard case .string(let string) = node.value else {
            if case .phoneNumber = shape, case .number(let text) = node.value {
                let number = PhoneNumber(lenient: text).map { "\($0)" } ?? "447700900123"
                return add(.numberIsNoText, path, node, "a phone number is text, not a JSON number", "write \"\(number)\"")
            }
            return addWrongType(node, path, shape)
        }
        let text = string.value
        switch shape {
        case .phoneNumber: checkPhoneNumber(text, node, path)
        case .userName:
            guard UserName(text) == nil else { return }
            let cure = PhoneNumber(lenient: text) == nil ? "write the name, 1 to 100 characters" : "for a number write \"type\": \"phone\""
            add(.badUserName, path, node, "\(printable(text)) is no user name", cure)
        case .url: checkURL(text, node, path, ["https", "http"])
        case .webSocketURL: checkURL(text, node, path, ["wss", "ws"])
        case .sipURI:
            if !isSIPURI(text) { add(.badURL, path, node, "\(printable(text)) is no SIP URI", "write sip:user@host") }
        case .choice(let words):
            guard !words.contains(text) else { return }
            let hint = words.first { $0.lowercased() == text.lowercased() } ?? nearest(text.lowercased(), among: words)
            add(
                .notAllowed, path, node, "\(printable(text)) is not possible here",
                hint.map { "did you mean \"\($0)\"?" }
                    ?? (words.count > 3
                        ? "write one of \(words.joined(separator: " "))" : "write \(words.map { "\"\($0)\"" }.joined(separator: " or "))"))
        case .dtmf:
            if text.isEmpty || !text.utf8.allSatisfy({ "0123456789*#p".utf8.contains($0) }) {
                add(.notAllowed, path, node, "\(printable(text)) holds what is no key", "write digits, *, # and p for a pause")
            }
        case .spokenText: checkSpokenText(text, node, path)
        case .voiceLanguage, .speechLanguage:
            // Which languages there are is a warning, beside the style: the list grows.
            if LanguageTag(text) == nil {
                add(.notAllowed, path, node, "\(printable(text)) is no language tag", "write one such as en-GB")
            } else if case .speechLanguage = shape, !SpeechRecognition.isKnown(text) {
                let hint = nearest(text, among: SpeechRecognition.codes)
                add(
                    .unknownLanguage, path, node, "\(printable(text)) is no language that speech recognition is known to have",
                    hint.map { "did you mean \"\($0)\"?" } ?? "write one such as en-GB")
            }
        default:
            if text.isEmpty { add(.emptyText, path, node, "this is empty", "write \(shape.example)") }
        }
    }

    private mutating func checkPhoneNumber(_ text: String, _ node: JSONNode, _ path: JSONPath) {
        guard PhoneNumber(text) == nil else { return }
        let digits = text.utf8.count { (0x30...0x39).contains($0) }
        let cure: String
        if let number = PhoneNumber(lenient: text) {
            cure = "write \"\(number)\""
        } else if digits > 0, digits < 7, text.utf8.count == digits {
            cure = "emergency and short numbers cannot be dialled; write 7 to 15 digits with the country code"
        } else {
            cure = "write 7 to 15 digits with the country code, without +, such as \"447700900123\""
        }
        add(.badNumber, path, node, "\(printable(text)) is no phone number in Vonage's form", cure)
    }

    private mutating func checkURL(_ text: String, _ node: JSONNode, _ path: JSONPath, _ schemes: [String]) {
        let secure = schemes[0]
        let scheme = text.prefix { $0 != ":" }.lowercased()
        guard isURL(text, schemes: schemes) else {
            let (fault, cure): (String, String) =
                if !text.contains("://") {
                    ("is not absolute", "begin with \(secure)://")
                } else if !schemes.contains(scheme) {
                    ("has a scheme that Vonage does not use here", "begin with \(secure)://")
                } else if !text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
                    ("holds what no URL does", "percent-encode blanks and whatever is not ASCII")
                } else {
                    ("has no host, or one that cannot be", "write \(secure)://HOST/PATH")
                }
            return add(.badURL, path, node, "\(printable(text)) \(fault)", cure)
        }
        let authority = text.dropFirst(scheme.count + 3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if isLocalHost(authority) {
            add(.notReachable, path, node, "Vonage cannot reach this host", "use the public address, of a tunnel for example")
        } else if scheme != secure {
            add(.plainHTTP, path, node, "\(scheme):// can be read and changed on the way", "use \(secure)://")
        }
    }

    private mutating func checkSpokenText(_ text: String, _ node: JSONNode, _ path: JSONPath) {
        let length = SpokenText.spokenLength(ofUTF8: Array(text.utf8).span)
        if length == 0 { return add(.emptyText, path, node, "there is nothing to speak", "write what the caller shall hear") }
        if length > 1500 {
            add(
                .textTooLong, path, node, "the text has \(length) characters to speak, of which Vonage takes 1500",
                "split it into several talk actions")
        }
        let isSSML = text.utf8.starts(with: "<speak".utf8)
        if isSSML, !text.hasSuffix("</speak>") {
            add(
                .brokenSSML, path, node, "the text begins with <speak> but does not end with </speak>", "put the whole text between the two"
            )
        } else if !isSSML, text.contains("<speak") {
            add(.brokenSSML, path, node, "<speak> is read out unless it is the very first", "remove what stands in front of <speak>")
        } else if !isSSML, ["<break", "<prosody", "<say-as", "<emphasis", "</"].contains(where: { text.contains($0) }) {
            add(.brokenSSML, path, node, "tags outside of <speak> are read out", "put <speak> and </speak> around the whole text")
        }
    }

    // MARK: Numbers and booleans

    private mutating func checkNumber(_ node: JSONNode, _ shape: Shape, _ path: JSONPath) {
        let literal: String
        switch node.value {
        case .number(let text): literal = text
        case .string(let string) where isNumber(string.value):
            literal = string.value
            add(.valueAsText, path, node, "a number as text; Vonage takes it", "write \(literal) without quotes")
        default: return addWrongType(node, path, shape)
        }
        guard let value = Double(literal), value.isFinite else {
            return add(.outOfRange, path, node, "\(shown(literal)) is too large", "write \(shape.rangeWords)")
        }
        switch shape {
        case .whole(let range):
            guard value.rounded() == value else {
                return add(.wrongType, path, node, "this must be a whole number, not \(shown(literal))", "write \(shape.example)")
            }
            if value < Double(range.lowerBound) || value > Double(range.upperBound) {
                add(.outOfRange, path, node, "\(shown(literal)) is out of range", "write \(shape.rangeWords)")
            }
        case .number(let range, let clamps):
            guard !range.contains(value) else { return }
            if clamps {
                add(
                    .clamped, path, node, "\(shown(literal)) is out of range; Vonage takes the nearest that is not",
                    "write \(shape.rangeWords)")
            } else {
                add(.outOfRange, path, node, "\(shown(literal)) is out of range", "write \(shape.rangeWords)")
            }
        default: break
        }
    }

    private mutating func checkBool(_ node: JSONNode, _ path: JSONPath) {
        switch node.value {
        case .bool: break
        case .string(let string) where string.value == "true" || string.value == "false":
            add(.valueAsText, path, node, "true or false as text; Vonage takes it", "write \(string.value) without quotes")
        default: addWrongType(node, path, .bool)
        }
    }

    // MARK: Lists

    private mutating func checkList(_ node: JSONNode, _ element: Shape, _ count: ClosedRange<Int>, _ path: JSONPath) {
        guard case .array(let elements) = node.value else {
            let cure = node.kind == .null ? "leave the option out" : "put [ and ] around it"
            return add(.wrongType, path, node, "this must be a list, not \(node.kind.words)", cure)
        }
        if !count.contains(elements.count) {
            switch element {
            case .endpoint:
                add(
                    .notOneEndpoint, path, node, "there must be exactly one endpoint, not \(elements.count)",
                    elements.isEmpty ? "write \(element.example)" : "write one connect for each")
            case .url:
                add(.notOneURL, path, node, "there must be exactly one URL, not \(elements.count)", "write a list of one")
            default:
                add(
                    .outOfRange, path, node, "a list of \(elements.count) is not possible here",
                    count.lowerBound == count.upperBound
                        ? "write exactly \(count.lowerBound)" : "write \(count.lowerBound) to \(count.upperBound)")
            }
        }
        for (index, value) in elements.enumerated() { check(value, element, path.appending(index)) }
        if case .choice = element {
            var seen: Set<String> = []
            for (index, value) in elements.enumerated() {
                guard case .string(let string) = value.value, !string.value.contains("{{"), !seen.insert(string.value).inserted
                else { continue }
                add(.notAllowed, path.appending(index), value, "\(printable(string.value)) comes twice", "remove one of the two")
            }
        }
    }

    // MARK: Templates

    /// A string that holds `{{`.
    private mutating func checkTemplate(_ text: String, _ node: JSONNode, _ shape: Shape, _ path: JSONPath) {
        if case .oneOrList(let element, _) = shape { return checkTemplate(text, node, element, path) }
        let parts: [TemplatePart]
        do {
            parts = try templateParts(text)
        } catch {
            return add(.badPlaceholder, path, node, error.message, error.cure)
        }
        if parts.count == 1 {
            // A default is what is sent where there is no value: it can be checked.
            if case .placeholder(_, let standard?) = parts[0], shape.isText {
                check(JSONNode(.string(JSONString(standard)), at: node.range), shape, path)
            }
            return
        }
        switch shape {
        case .url, .webSocketURL, .sipURI:
            guard case .literal(let start) = parts[0] else {
                // A value directly behind it would become a part of the host.
                if case .sipURI = shape { return }
                if case .literal(let rest) = parts[1], "/?#".contains(rest.first ?? " ") { return }
                return add(
                    .hostMayChange, path, node, "what follows the first placeholder could change the host",
                    "let / follow it, as in {{base_url}}/voice/menu")
            }
            let schemes =
                if case .url = shape { ["https://", "http://"] } else if case .sipURI = shape { ["sip:", "sips:"] } else {
                    ["wss://", "ws://"]
                }
            if !schemes.contains(where: { start.lowercased().hasPrefix($0) }) {
                add(.badURL, path, node, "\(printable(text)) is not absolute", "begin with \(schemes[0]) or with {{base_url}}")
            }
        case .spokenText, .text, .userName, .phoneNumber, .dtmf, .choice, .voiceLanguage, .speechLanguage, .whole, .number: break
        case .bool: add(.wrongType, path, node, "this must be true or false", "write a placeholder and nothing else, or true or false")
        case .list, .oneOrList, .object, .endpoint, .freeObject, .textObject: addWrongType(node, path, shape)
        }
    }

    /// Strings at any depth of what has no rules of its own are filled too.
    private mutating func checkPlaceholders(_ node: JSONNode, _ path: JSONPath) {
        var walk = TreeWalk(node)
        while let value = walk.next(), !isFull {
            guard case .string(let string) = value.value else { continue }
            do {
                _ = try templateParts(string.value)
            } catch {
                add(.badPlaceholder, walk.path(from: path), value, error.message, error.cure)
            }
        }
    }

    func isWholePlaceholder(_ text: String) -> Bool {
        guard let parts = try? templateParts(text), parts.count == 1, case .placeholder = parts[0] else { return false }
        return true
    }
}

/// A number of any length, for a message.
private func shown(_ literal: String) -> String { literal.utf8.count > 32 ? "\(literal.prefix(32))…" : literal }

/// What Vonage takes as a number in text: no blanks, no hex, no words.
private func isNumber(_ text: String) -> Bool {
    let unsigned = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
    guard let first = unsigned.first, (0x30...0x39).contains(first), text.utf8.count <= 32 else { return false }
    return unsigned.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") } && Double(text) != nil
}

extension Shape {
    var isText: Bool {
        switch self {
        case .text, .spokenText, .phoneNumber, .userName, .url, .webSocketURL, .sipURI, .choice, .dtmf, .voiceLanguage, .speechLanguage:
            true
        default: false
        }
    }

    /// With its article, for a message.
    var words: String {
        switch self {
        case .text, .spokenText, .userName, .choice, .dtmf, .voiceLanguage, .speechLanguage: "text"
        case .phoneNumber: "a phone number as text"
        case .url, .webSocketURL, .sipURI: "a URL as text"
        case .whole: "a whole number"
        case .number: "a number"
        case .bool: "true or false"
        case .list: "a list"
        case .oneOrList(let element, _): element.words
        case .object, .endpoint, .freeObject, .textObject: "an object"
        }
    }

    /// A value that would be right, as JSON.
    var example: String {
        switch self {
        case .text: "\"…\""
        case .spokenText: "\"Hello.\""
        case .phoneNumber: "\"447700900123\""
        case .userName: "\"Alice\""
        case .url: "\"https://calls.example.com/…\""
        case .webSocketURL: "\"wss://bot.example.com/…\""
        case .sipURI: "\"sip:user@example.com\""
        case .choice(let words): "\"\(words.first ?? "")\""
        case .dtmf: "\"1p2#\""
        case .voiceLanguage, .speechLanguage: "\"en-GB\""
        case .whole(let range): "\(range.lowerBound)"
        case .number(let range, _): range.upperBound >= 1 ? "1" : short(range.lowerBound)
        case .bool: "true"
        case .list(let element, _): "[\(element.example)]"
        case .oneOrList(let element, let prefersList): prefersList ? "[\(element.example)]" : element.example
        case .object: "{…}"
        case .endpoint: "{\"type\": \"phone\", \"number\": \"447700900123\"}"
        case .freeObject, .textObject: "{…}"
        }
    }

    var rangeWords: String {
        switch self {
        case .whole(let range):
            range.upperBound == Loop.range.upperBound ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
        case .number(let range, _): "\(short(range.lowerBound)) to \(short(range.upperBound))"
        default: example
        }
    }

    private func short(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }
}
