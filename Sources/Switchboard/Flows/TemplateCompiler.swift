// SPDX-License-Identifier: MIT
//
// From the tree of a template to the bytes and gaps of `Template`. It is given trees that lint found no error in. What is known already
// (variables, our number) becomes part of the bytes; `action` and `type` are written first, all else as it stands in the file.

import JSON
import NCCO

/// A placeholder that may turn out to have no value where there must be one.
struct RequiredPlaceholder: Sendable {
    /// Nil for a value of the server's own.
    let slot: Int?
    let path: String
    /// Its option.
    let option: String
    let place: JSONPath
    let offset: Int
}

struct TemplateCompiler {
    private(set) var required: [RequiredPlaceholder] = []
    /// Names that placeholders use, with where they stand.
    private(set) var used: [(path: String, place: JSONPath, offset: Int)] = []
    /// Variables, and defaults where `isDefault`, that do not fit where they are put.
    private(set) var misfits: [(path: String, place: JSONPath, offset: Int, isDefault: Bool)] = []
    private var names: FlowNames
    private var bytes: [UInt8] = []
    private var segments: [Segment] = []
    private var gaps: [Gap] = []
    private var needsCheck = false
    private var literalStart = 0

    private init(_ names: FlowNames) { self.names = names }

    /// The template, and the compiler with what it noticed.
    static func compile(_ name: String, _ tree: JSONNode, _ names: inout FlowNames) -> (template: Template, notes: TemplateCompiler) {
        var compiler = TemplateCompiler(names)
        compiler.add(tree, .list(.freeObject, count: 0...Int.max), "the NCCO", JSONPath(), action: true)
        compiler.endLiteral()
        names = compiler.names
        let template = Template(
            name: name, bytes: compiler.bytes, segments: compiler.segments, gaps: compiler.gaps, needsCheck: compiler.needsCheck,
            dials: dials(tree))
        return (template, compiler)
    }

    /// Lint lets no action, and no name of one, come from a request.
    private static func dials(_ tree: JSONNode) -> Bool {
        guard case .array(let actions) = tree.value else { return false }
        return actions.contains { action in
            guard case .object(let members) = action.value else { return false }
            return members.contains {
                guard $0.name.value == "action", case .string(let name) = $0.node.value else { return false }
                return name.value == "connect"
            }
        }
    }

    /// Whether a name is the same for all requests.
    func isConstant(_ path: String) -> Bool {
        var names = names
        if case .constant = names.source(of: path) { return true }
        return false
    }

    // MARK: Values

    /// - Parameter shape: nil where anything may stand.
    private mutating func add(_ node: JSONNode, _ shape: Shape?, _ option: String, _ place: JSONPath, action: Bool = false) {
        switch node.value {
        case .string(let string):
            guard let parts = parts(string.value), hasPlaceholder(parts) else { return node.encode(into: &bytes) }
            addString(parts, node, shape, option, place)
        case .array(let elements):
            let element: Shape? =
                switch shape {
                case .list(let element, _), .oneOrList(let element, _): element
                default: nil
                }
            bytes.append(UInt8(ascii: "["))
            var comma = Comma()
            for (index, value) in elements.enumerated() {
                let place = place.appending(index)
                if case .string(let string) = value.value, let whole = wholePlaceholder(string.value) {
                    addOmittable(whole, value, element, option, place, prefix: [], suffix: [], &comma)
                    continue
                }
                addComma(&comma)
                if action, case .object(let members) = value.value {
                    addObject(members, rule(of: members, "action", Reference.action), "action", option, place)
                } else {
                    add(value, element, option, place)
                }
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            switch shape {
            case .endpoint:
                let rule = rule(of: members, "type") { type in Reference.endpoints.first { $0.name == type } }
                if rule?.name == "sip" || rule?.name == "websocket" { needsCheck = needsCheck || holdsPlaceholder(node) }
                addObject(members, rule, "type", option, place)
            case .object(let rule): addObject(members, rule, nil, option, place)
            case .textObject: addObject(members, nil, nil, option, place, memberShape: .text)
            default: addObject(members, nil, nil, option, place)
            }
        case .number, .bool, .null: node.encode(into: &bytes)
        }
    }

    private func rule(of members: [JSONNode.Member], _ key: String, _ find: (String) -> ObjectRule?) -> ObjectRule? {
        guard case .string(let string)? = members.first(where: { $0.name.value == key })?.node.value else { return nil }
        return find(string.value)
    }

    private mutating func addObject(
        _ members: [JSONNode.Member], _ rule: ObjectRule?, _ kindKey: String?, _ outer: String, _ place: JSONPath,
        memberShape: Shape? = nil
    ) {
        bytes.append(UInt8(ascii: "{"))
        var comma = Comma()
        let first = members.filter { $0.name.value == kindKey }
        for member in first + members.filter({ $0.name.value != kindKey }) {
            let name = member.name.value
            let option = rule?.option(name)
            let place = place.appending(name)
            var key: [UInt8] = []
            member.name.encode(into: &key)
            key.append(UInt8(ascii: ":"))
            let shown = rule == nil ? outer : name
            let isRequired = option?.isRequired ?? false
            let shape = option?.shape ?? memberShape
            // It may be an old form, of which lint knows more than the tables say.
            if rule != nil, option == nil { needsCheck = needsCheck || holdsPlaceholder(member.node) }
            if let (whole, node, shape, prefix, suffix) = omittable(member.node, shape) {
                if !isRequired {
                    addOmittable(whole, node, shape, shown, place, prefix: key + prefix, suffix: suffix, &comma)
                    continue
                }
                addComma(&comma)
                bytes.append(contentsOf: key + prefix)
                addString([.placeholder(path: whole.path, standard: whole.standard)], node, shape, shown, place)
                bytes.append(contentsOf: suffix)
                continue
            }
            addComma(&comma)
            bytes.append(contentsOf: key)
            add(member.node, shape, shown, place)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// A value that is one placeholder, or a list of one that is.
    private func omittable(
        _ node: JSONNode, _ shape: Shape?
    ) -> (placeholder: (path: String, standard: String?), node: JSONNode, shape: Shape?, prefix: [UInt8], suffix: [UInt8])? {
        switch node.value {
        case .string(let string):
            return wholePlaceholder(string.value).map { ($0, node, shape, [], []) }
        case .array(let elements):
            guard elements.count == 1, case .string(let string) = elements[0].value, let whole = wholePlaceholder(string.value) else {
                return nil
            }
            let element: Shape? =
                switch shape {
                case .list(let element, _), .oneOrList(let element, _): element
                default: nil
                }
            return (whole, elements[0], element, [UInt8(ascii: "[")], [UInt8(ascii: "]")])
        default: return nil
        }
    }

    // MARK: Placeholders

    /// A member or element that is left out where its placeholder has no value.
    private mutating func addOmittable(
        _ placeholder: (path: String, standard: String?), _ node: JSONNode, _ shape: Shape?, _ option: String, _ place: JSONPath,
        prefix: [UInt8], suffix: [UInt8], _ comma: inout Comma
    ) {
        let (path, offset) = (placeholder.path, node.range.lowerBound)
        used.append((path, place, offset))
        switch names.source(of: path) {
        case .constant(let value):
            if case .null = value {
                guard let standard = placeholder.standard else { return }
                return addConstant(.string(JSONString(standard)), shape, path, place, offset, prefix, suffix, &comma)
            }
            addConstant(value, shape, path, place, offset, prefix, suffix, &comma)
        case .missing:
            guard let standard = placeholder.standard else { return }
            addConstant(.string(JSONString(standard)), shape, path, place, offset, prefix, suffix, &comma)
        case let source:
            checkDefault(placeholder.standard, shape, path, place, offset)
            let gap = addGap(.whole(GapValue(source, placeholder.standard)), shape, option)
            if placeholder.standard != nil || isBaseURL(source) {
                addComma(&comma)
                bytes.append(contentsOf: prefix)
                endLiteral()
                segments.append(.gap(gap))
                bytes.append(contentsOf: suffix)
                return
            }
            endLiteral()
            let start = bytes.count
            if comma.isSure { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: prefix)
            let middle = bytes.count
            bytes.append(contentsOf: suffix)
            segments.append(
                .option(
                    prefix: start..<middle, gap: gap, suffix: middle..<bytes.count, mayNeedComma: comma.isPossible && !comma.isSure))
            literalStart = bytes.count
            comma.isPossible = true
        }
    }

    private mutating func addConstant(
        _ value: JSONNode.Value, _ shape: Shape?, _ path: String, _ place: JSONPath, _ offset: Int, _ prefix: [UInt8], _ suffix: [UInt8],
        _ comma: inout Comma
    ) {
        addComma(&comma)
        bytes.append(contentsOf: prefix)
        addConstant(value, shape, path, place, offset)
        bytes.append(contentsOf: suffix)
    }

    /// A variable, a number of ours or a default: lint has not seen it in this place yet.
    private mutating func addConstant(_ value: JSONNode.Value, _ shape: Shape?, _ path: String, _ place: JSONPath, _ offset: Int) {
        if case .string(let string) = value, case .phoneNumber? = shape, let number = PhoneNumber(lenient: string.value) {
            return bytes.appendJSONString(number.description)
        }
        let node = JSONNode(value, at: 0..<0)
        if let shape, !NCCO.fits(node, shape) { misfits.append((path, place, offset, false)) }
        node.encode(into: &bytes)
    }

    /// Lint looks only at defaults of options that are text.
    private mutating func checkDefault(_ standard: String?, _ shape: Shape?, _ path: String, _ place: JSONPath, _ offset: Int) {
        guard let standard, let shape, !NCCO.fits(JSONNode(.string(JSONString(standard)), at: 0..<0), shape) else { return }
        misfits.append((path, place, offset, true))
    }

    /// A string that holds placeholders, in a place that must not be empty.
    private mutating func addString(_ parts: [TemplatePart], _ node: JSONNode, _ shape: Shape?, _ option: String, _ place: JSONPath) {
        if parts.count == 1, case .placeholder(let path, let standard) = parts[0] {
            used.append((path, place, node.range.lowerBound))
            let source = names.source(of: path)
            if standard == nil { note(source, path, option, place, node.range.lowerBound) }
            switch source {
            case .constant(.null), .missing:
                guard let standard else {
                    let gap = addGap(.whole(GapValue(source: .none, standard: nil)), shape, option)
                    endLiteral()
                    segments.append(.gap(gap))
                    return
                }
                addConstant(.string(JSONString(standard)), shape, path, place, node.range.lowerBound)
            case .constant(let value): addConstant(value, shape, path, place, node.range.lowerBound)
            default:
                checkDefault(standard, shape, path, place, node.range.lowerBound)
                let gap = addGap(.whole(GapValue(source, standard)), shape, option)
                endLiteral()
                segments.append(.gap(gap))
            }
            return
        }
        let pieces = pieces(parts, node, shape, option, place)
        if case .literal(let text)? = pieces.first, pieces.count == 1, case .placeholder(let path, _)? = parts.first(where: \.isPlaceholder)
        {
            return addConstant(
                .string(JSONString(String(decoding: text, as: UTF8.self))), shape, path, place, node.range.lowerBound)
        }
        let gap = addGap(.string(pieces), shape, option)
        endLiteral()
        segments.append(.gap(gap))
    }

    private mutating func pieces(
        _ parts: [TemplatePart], _ node: JSONNode, _ shape: Shape?, _ option: String, _ place: JSONPath
    ) -> [StringPiece] {
        var pieces: [StringPiece] = []
        var literal: [UInt8] = []
        let escape: GapEscape =
            switch shape {
            case .url, .webSocketURL, .sipURI: .percent
            case .spokenText: startsMarkup(parts) ? .markup : .plain
            default: .plain
            }
        for part in parts {
            switch part {
            case .literal(let text): literal.append(contentsOf: text.utf8)
            case .placeholder(let path, let standard):
                used.append((path, place, node.range.lowerBound))
                let source = names.source(of: path)
                switch source {
                case .constant(.null), .missing: literal.append(contentsOf: (standard ?? "").utf8)
                case .constant(let value): literal.append(contentsOf: text(of: value))
                default:
                    if !literal.isEmpty { pieces.append(.literal(literal)) }
                    literal = []
                    pieces.append(.value(GapValue(source, standard), escape))
                }
            }
        }
        if !literal.isEmpty { pieces.append(.literal(literal)) }
        // Nothing may be left of a string that is all placeholders.
        if !pieces.contains(where: { if case .literal(let text) = $0 { text.contains { $0 != 0x20 } } else { false } }) {
            for case .placeholder(let path, nil) in parts {
                var names = names
                note(names.source(of: path), path, option, place, node.range.lowerBound)
            }
        }
        return pieces
    }

    private mutating func startsMarkup(_ parts: [TemplatePart]) -> Bool {
        switch parts.first {
        case .literal(let text): return text.utf8.starts(with: "<speak".utf8)
        case .placeholder(let path, _):
            guard case .constant(let value) = names.source(of: path) else { return false }
            return text(of: value).starts(with: "<speak".utf8)
        case nil: return false
        }
    }

    private func text(of value: JSONNode.Value) -> [UInt8] {
        if case .string(let string) = value { return Array(string.value.utf8) }
        var text: [UInt8] = []
        JSONNode(value, at: 0..<0).encode(into: &text)
        return text
    }

    private mutating func note(_ source: ValueSource, _ path: String, _ option: String, _ place: JSONPath, _ offset: Int) {
        switch source {
        case .slot(let slot):
            required.append(RequiredPlaceholder(slot: slot, path: path, option: option, place: place, offset: offset))
        case .missing, .constant(.null):
            required.append(RequiredPlaceholder(slot: nil, path: path, option: option, place: place, offset: offset))
        case .constant, .baseURL, .refusal: break
        }
    }

    private mutating func addGap(_ content: Gap.Content, _ shape: Shape?, _ option: String) -> Int {
        let isWhole = if case .whole = content { true } else { false }
        let check: GapCheck
        var isDialled = false
        switch shape {
        case nil: check = .anything
        case .spokenText?:
            if case .string(let pieces) = content, case .literal(let text)? = pieces.first, text.starts(with: "<speak".utf8) {
                check = .spokenMarkup
            } else {
                check = .spokenText
            }
        case .phoneNumber?:
            isDialled = option != "from"
            check = isDialled ? .phoneNumber : .callerID
        case .userName?: check = .userName
        case .text?: check = .text
        case .url?, .webSocketURL?, .sipURI?:
            check = .url
            needsCheck = needsCheck || isWhole || !startsWithHost(content, shape)
        case .whole?, .number?, .bool?:
            check = .scalar
            needsCheck = true
        case .freeObject?:
            check = .object
        case .choice?, .dtmf?, .voiceLanguage?, .speechLanguage?:
            check = .text
            needsCheck = true
        case .list?, .oneOrList?, .object?, .endpoint?, .textObject?:
            check = .anything
            needsCheck = true
            switch shape {
            case .endpoint?, .list(.endpoint, _)?: isDialled = true
            default: break
            }
        }
        gaps.append(Gap(content: content, check: check, option: option, isDialled: isDialled))
        return gaps.count - 1
    }

    /// Whether no value of the request can change which host is asked, and it is a URL whatever they are.
    private func startsWithHost(_ content: Gap.Content, _ shape: Shape?) -> Bool {
        guard case .string(let pieces) = content, let first = pieces.first, let shape else { return false }
        // Only values are encoded.
        for case .literal(let text) in pieces where !text.allSatisfy({ (0x21...0x7E).contains($0) }) { return false }
        switch first {
        case .literal(let text):
            let start = String(decoding: text, as: UTF8.self)
            guard let scheme = start.firstRange(of: "://"), start[scheme.upperBound...].contains("/") else { return false }
            return NCCO.fits(JSONNode(.string(JSONString(start)), at: 0..<0), shape)
        case .value(let value, _):
            // What is put behind the host by mistake makes it another one.
            guard case .baseURL = value.source, pieces.count > 1, case .literal(let text) = pieces[1] else { return false }
            return text.first == UInt8(ascii: "/") || text.first == UInt8(ascii: "?")
        }
    }

    private func isBaseURL(_ source: ValueSource) -> Bool { if case .baseURL = source { true } else { false } }

    // MARK: Strings

    private func parts(_ text: String) -> [TemplatePart]? { try? templateParts(text) }

    private func hasPlaceholder(_ parts: [TemplatePart]) -> Bool { parts.contains(where: \.isPlaceholder) }

    private func wholePlaceholder(_ text: String) -> (path: String, standard: String?)? {
        guard let parts = parts(text), parts.count == 1, case .placeholder(let path, let standard) = parts[0] else { return nil }
        return (path, standard)
    }

    private func holdsPlaceholder(_ node: JSONNode) -> Bool {
        var text: [UInt8] = []
        node.encode(into: &text)
        return String(decoding: text, as: UTF8.self).contains("{{")
    }

    // MARK: Bytes

    /// Whether a comma must stand in front of the next member or element.
    private struct Comma {
        /// Something stands in front whatever comes.
        var isSure = false
        /// Something may stand in front.
        var isPossible = false
    }

    private mutating func addComma(_ comma: inout Comma) {
        if comma.isSure {
            bytes.append(UInt8(ascii: ","))
        } else if comma.isPossible {
            endLiteral()
            segments.append(.comma)
        }
        comma.isSure = true
    }

    private mutating func endLiteral() {
        if bytes.count > literalStart { segments.append(.literal(literalStart..<bytes.count)) }
        literalStart = bytes.count
    }
}

extension TemplatePart {
    fileprivate var isPlaceholder: Bool { if case .placeholder = self { true } else { false } }
}

extension GapValue {
    init(_ source: ValueSource, _ standard: String?) {
        switch source {
        case .slot(let slot): self.source = .slot(slot)
        case .baseURL: self.source = .baseURL
        case .refusal: self.source = .refusal
        case .constant, .missing: self.source = .none
        }
        self.standard = standard.map { Array($0.utf8) }
    }
}
