// SPDX-License-Identifier: MIT
//
// Values as words. Text from outside cannot steer a terminal, is quoted where it is not a URL or a number, and is cut where it is longer than
// anybody reads; what is absent is said as Vonage's default where the tables know one.

internal import JSON

/// An object's options as words.
struct OptionWords {
    static let byDefault = " (Vonage's default)"
    /// Longest text from outside but for what is spoken, in Unicode scalars.
    static let longest = 300

    let rule: ObjectRule
    let options: Options

    init(_ members: [JSONNode.Member], _ rule: ObjectRule) {
        var options = Options()
        for member in members {
            guard let option = rule.option(member.name.value), options.nodes[option.name] == nil else { continue }
            options.nodes[option.name] = member.node
        }
        self.rule = rule
        self.options = options
    }

    // MARK: Values

    func has(_ name: String) -> Bool { options.has(name) }

    /// Vonage's default, by the tables.
    func standard(_ name: String) -> String? { rule.options.first { $0.name == name }?.standard }

    /// A URL, a number or a word.
    func plain(_ name: String) -> String? { options.nodes[name].map { plainWords($0) } }

    /// Any other text.
    func quoted(_ name: String) -> String? { options.nodes[name].map { quotedWords($0) } }

    /// What is given, or the default and that it is one.
    func plainOrStandard(_ name: String) -> String {
        plain(name) ?? standard(name).map { $0 + Self.byDefault } ?? "what Vonage takes by default"
    }

    /// The same for whole or broken seconds.
    func seconds(_ name: String) -> String {
        if let given = plain(name) { return duration(given) }
        return standard(name).map { duration($0) + Self.byDefault } ?? "as long as Vonage takes by default"
    }

    /// Only where it is given.
    func givenSeconds(_ name: String) -> String? { plain(name).map(duration) }

    /// The sentence for true or for false, with what the default says where the option is absent, and both where a placeholder decides.
    func flag(_ name: String, _ yes: String?, _ no: String? = nil) -> [String] {
        guard let node = options.nodes[name] else {
            guard let sentence = standard(name) == "true" ? yes : no else { return [] }
            return [sentence.dropLast() + Self.byDefault + "."]
        }
        if let value = options.bool(name) { return [value ? yes : no].compactMap { $0 } }
        return [("true", yes), ("false", no)].compactMap { value, sentence in
            sentence.map { "If \(plainWords(node)) is \(value): \($0)" }
        }
    }

    /// An object inside, and what to say where a placeholder stands for all of it.
    func object(_ name: String, _ rule: ObjectRule) -> (words: OptionWords?, sentence: String?) {
        switch options.nodes[name]?.value {
        case .object(let members): (OptionWords(members, rule), nil)
        case nil: (nil, nil)
        default: (nil, "The settings of \(name) are what \(plain(name) ?? "") says.")
        }
    }

    /// The texts of a list, five at most.
    func list(_ name: String) -> String? {
        guard case .array(let elements)? = options.nodes[name]?.value else { return plain(name) }
        let rest = elements.count > 5 ? " and \(elements.count - 5) more" : ""
        return elements.prefix(5).map { quotedWords($0) }.joined(separator: ", ") + rest
    }

    // MARK: Sentences that several actions share

    /// Where events go and by which method, as in `by POST to https://…`.
    var eventTarget: String {
        switch (plain("eventMethod"), plain("eventUrl")) {
        case (nil, nil):
            "by \(standard("eventMethod") ?? "POST") to \(standard("eventUrl") ?? "the application's event URL") (Vonage's defaults)"
        case (let method, nil): "by \(method ?? "") to \(plainOrStandard("eventUrl"))"
        case (_, let url?): "by \(plainOrStandard("eventMethod")) to \(url)"
        }
    }

    func hearing() -> [String] {
        var sentences: [String] = []
        for (name, nobody, some) in [
            ("canSpeak", "Nobody hears the caller.", "The caller is heard only by"),
            ("canHear", "The caller hears nobody.", "The caller hears only"),
        ] {
            guard let legs = list(name) else { continue }
            sentences.append(legs.isEmpty ? nobody : "\(some) these legs: \(legs).")
        }
        return sentences + flag("mute", "The caller is muted.")
    }

    func transcribing() -> [String] {
        let (words, sentence) = object("transcription", Reference.transcription)
        guard let words else { return sentence.map { [$0] } ?? [] }
        return [
            "What is said is written down in \(words.plainOrStandard("language")); the transcription event goes \(words.eventTarget)."
        ] + words.flag("sentimentAnalysis", "Says of each part how positive it sounds.")
    }
}

// MARK: Text from outside

/// A value that is no object or list of several, and JSON for one that is.
func plainWords(_ node: JSONNode) -> String {
    switch node.value {
    case .string(let string): return words(string.value, quotes: false)
    case .number(let text): return cut(text)
    case .bool(let bool): return bool ? "true" : "false"
    case .null: return "null"
    case .array(let elements) where elements.count == 1 && elements[0].kind == .string: return plainWords(elements[0])
    case .array, .object:
        var bytes: [UInt8] = []
        node.encode(into: &bytes)
        return words(String(decoding: bytes, as: UTF8.self), quotes: false)
    }
}

func quotedWords(_ node: JSONNode) -> String {
    if case .string(let string) = node.value { words(string.value, quotes: true) } else { plainWords(node) }
}

/// Text from outside with its placeholders as ‹name›; one that is a placeholder and nothing else has no quotes.
func words(_ text: String, quotes: Bool, limit: Int = OptionWords.longest) -> String {
    // More than is shown is not looked at; what is cut off may be the end of a placeholder, which is then shown as it is written.
    var head = String.UnicodeScalarView()
    head.append(contentsOf: text.unicodeScalars.prefix(limit))
    let isCut = head.count < text.unicodeScalars.count
    let parts = (try? templateParts(String(head))) ?? [.literal(String(head))]
    var shown = ""
    for part in parts {
        switch part {
        case .literal(let text): shown += escaped(text, quotes: quotes)
        case .placeholder(let path, let standard):
            shown += "‹" + escaped(path, quotes: false)
            if let standard { shown += standard.isEmpty ? ", else nothing" : ", else \(escaped(standard, quotes: false))" }
            shown += "›"
        }
    }
    if isCut { shown += "…" }
    if !quotes { return shown }
    if parts.count == 1, case .placeholder = parts[0], !isCut { return shown }
    return "\"\(shown)\""
}

private func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
        if steersTerminal(scalar) {
            escaped += "\\u{\(String(scalar.value, radix: 16))}"
        } else if quotes, scalar == "\"" || scalar == "\\" {
            escaped += "\\\(scalar)"
        } else {
            escaped.unicodeScalars.append(scalar)
        }
    }
    return escaped
}

private func cut(_ text: String) -> String { text.utf8.count > 32 ? "\(text.prefix(32))…" : text }

/// Seconds for people: whole hours and minutes as such.
func duration(_ text: String) -> String {
    guard let number = Double(text), let seconds = Int(exactly: number) else { return "\(text) s" }
    if seconds >= 3600, seconds.isMultiple(of: 3600) { return "\(seconds / 3600) h" }
    if seconds > 60, seconds.isMultiple(of: 60) { return "\(seconds / 60) min" }
    return "\(seconds) s"
}

/// What is spoken, quoted: the whole of what one `talk` may hold.
package func spokenQuote(_ text: String) -> String { words(text, quotes: true, limit: 1500) }

/// What of a text is spoken: white space is one blank, tags of SSML are left out.
package func spokenWords(_ text: String) -> (words: String, hasTags: Bool) {
    let isSSML = text.utf8.starts(with: "<speak".utf8)
    var spoken = String.UnicodeScalarView()
    var count = 0
    var tag: String.UnicodeScalarView?
    var isBlank = true
    var hasTags = false
    func add(_ scalar: Unicode.Scalar) {
        let isSpace = scalar == " " || ("\t"..."\r").contains(scalar)
        if isSpace, isBlank { return }
        isBlank = isSpace
        count += 1
        spoken.append(isSpace ? " " : scalar)
    }
    for scalar in text.unicodeScalars {
        // What is more than `words` shows need not be read.
        guard count <= 1500 else { break }
        if isSSML, scalar == "<" {
            tag?.forEach(add)
            tag = String.UnicodeScalarView("<".unicodeScalars)
        } else if var open = tag {
            tag = nil
            open.append(scalar)
            if scalar == ">" {
                hasTags = true
                let name = String(open.dropFirst().drop { $0 == "/" }.prefix { $0.properties.isAlphabetic })
                // These are heard as a pause.
                if ["break", "p", "s"].contains(name) { add(" ") }
            } else {
                tag = open
            }
        } else {
            add(scalar)
        }
    }
    tag?.forEach(add)
    if spoken.last == " " { spoken.removeLast() }
    return (String(spoken), hasTags)
}
