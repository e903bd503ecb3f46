// SPDX-License-Identifier: MIT
//
// The promise of flows: whatever arrives in a request, what is sent is JSON, and lint finds no error in it. Templates are the hand-written ones
// of `Vectors/templates.json`, which together have a placeholder in every option there is, and others that are made from the reference's tables;
// requests are made from values that have broken servers before. All of it is made from seeds, so that a fault comes again.

import Foundation
import JSON
import NCCO
import Testing

@testable import Switchboard

struct FlowPropertyTests {
    private static let variables = """
        {"v_text": "Example & Sons", "v_number": 0.5, "v_bool": true, "v_null": null, "v_phone": "+44 7700 900123",
         "v_site": "https://media.example.com", "v_list": [5, "60", "x"], "v_object": {"language": "en-GB", "deep": {"a": [1, null]}}}
        """

    private static func flows(_ template: String) -> String {
        "{\"vars\": \(variables), \"flows\": {\"answer\": [{\"ncco\": \"\(template)\"}]}}"
    }

    /// What lint says about an NCCO that is no template: braces that came with a value are no placeholder.
    private func errors(_ ncco: String) throws -> [Finding] {
        func plain(_ node: JSONNode) -> JSONNode {
            let value: JSONNode.Value =
                switch node.value {
                case .object(let members):
                    .object(
                        members.map { member in
                            var member = member
                            member.node = plain(member.node)
                            return member
                        })
                case .array(let elements): .array(elements.map(plain))
                case .string(let string): .string(JSONString(string.value.replacing("{{", with: "{.")))
                case let value: value
                }
            return JSONNode(value, at: node.range)
        }
        var text: [UInt8] = []
        try plain(parseJSON(Array(ncco.utf8).span, maximumDepth: NCCO.maximumDepth)).encode(into: &text)
        return NCCO.check(text.span).filter { $0.severity == .error }
    }

    private func check(_ bench: FlowBench, _ request: MadeRequest, _ template: String, _ outcomes: inout [String: Int]) throws {
        let answer = try #require(try bench.ask(query: request.query, body: request.body))
        outcomes[answer.isFault ? "refused" : "filled", default: 0] += 1
        var minified: [UInt8] = []
        _ = try minifyJSON(Array(answer.ncco.utf8).span, into: &minified)
        #expect(minified == Array(answer.ncco.utf8), "\(template.prefix(2000))")
        let errors = try errors(answer.ncco)
        #expect(
            errors.isEmpty,
            "\(errors.first.map { "\($0)" } ?? "")\ntemplate \(template.prefix(2000))\n\(request.shown)\nsent \(answer.ncco.prefix(2000))")
    }

    // MARK: Hand-written templates

    struct Written: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        /// Parameters that it can be filled with, where it takes values of several kinds.
        let fits: String
        var testDescription: String { name }

        /// The templates as they are written, order of keys included.
        static func all() throws -> [Written] {
            let file = try #require(Bundle.module.url(forResource: "Vectors/templates", withExtension: "json"))
            let tree = try parseJSON([UInt8](Data(contentsOf: file)).span)
            guard case .array(let vectors) = tree.value else { return [] }
            return try vectors.map { vector in
                guard case .object(let members) = vector.value, members.count > 1, case .string(let name) = members[0].node.value else {
                    throw VectorError()
                }
                func text(_ node: JSONNode) -> String {
                    var text: [UInt8] = []
                    node.encode(into: &text)
                    return String(decoding: text, as: UTF8.self)
                }
                return Written(name: name.value, text: text(members[1].node), fits: members.count > 2 ? text(members[2].node) : "{}")
            }
        }
    }

    private struct VectorError: Error {}

    @Test(arguments: try Written.all())
    func `whatever arrives, a template becomes an NCCO that lint accepts`(_ written: Written) throws {
        let bench = try FlowBench(flows: Self.flows("t"), templates: ["t": written.text])
        var random = SeededNumbers(seed: UInt64(written.name.utf8.reduce(7) { $0 &* 31 &+ Int($1) }.magnitude))
        var outcomes: [String: Int] = [:]
        for _ in 0..<60 { try check(bench, MadeRequest(&random), written.text, &outcomes) }
        // A template that never gets through would prove nothing.
        for request in [MadeRequest.empty, MadeRequest(body: written.fits)] + MadeRequest.good {
            try check(bench, request, written.text, &outcomes)
        }
        #expect(outcomes["filled", default: 0] > 0, "\(outcomes)")
    }

    @Test func `the written templates have a placeholder in every option of every action and endpoint`() throws {
        var seen: Set<String> = []
        func note(_ node: JSONNode, _ rule: ObjectRule) {
            guard case .object(let members) = node.value else { return }
            for member in members {
                guard let option = rule.option(member.name.value) else { continue }
                var text: [UInt8] = []
                member.node.encode(into: &text)
                if String(decoding: text, as: UTF8.self).contains("{{") { seen.insert("\(rule.name).\(option.name)") }
                if case .object(let inner) = option.shape { note(member.node, inner) }
                if option.name == "endpoint", case .array(let elements) = member.node.value,
                    case .object(let inner)? = elements.first?.value,
                    case .string(let type)? = inner.first(where: { $0.name.value == "type" })?.node.value,
                    let rule = Reference.endpoints.first(where: { $0.name == type.value })
                {
                    note(elements[0], rule)
                }
            }
        }
        for written in try Written.all() {
            guard case .array(let actions) = try parseJSON(Array(written.text.utf8).span).value else { continue }
            for action in actions {
                guard case .object(let members) = action.value,
                    case .string(let kind)? = members.first(where: { $0.name.value == "action" })?.node.value,
                    let rule = Reference.action(kind.value)
                else { continue }
                note(action, rule)
            }
        }
        var wanted: Set<String> = []
        func want(_ rule: ObjectRule) {
            for option in rule.options where option.deprecation == nil {
                wanted.insert("\(rule.name).\(option.name)")
                if case .object(let inner) = option.shape { want(inner) }
            }
        }
        for rule in Reference.actions + Reference.endpoints { want(rule) }
        #expect(wanted.subtracting(seen).sorted() == [])
    }

    // MARK: Made templates

    @Test(arguments: 0..<16) func `templates made from the reference become NCCOs that lint accepts`(seed: Int) throws {
        var random = SeededNumbers(seed: UInt64(seed) &* 7919 &+ 1)
        var outcomes: [String: Int] = [:]
        var compiled = 0
        var tries = 0
        while compiled < 25, tries < 400 {
            tries += 1
            var maker = TemplateMaker(random: random)
            let template = maker.template()
            random = maker.random
            let compilation = FlowBench.compile(flows: Self.flows("t"), templates: ["t": template])
            guard let set = compilation.flows else { continue }
            compiled += 1
            for request in (0..<8).map({ _ in MadeRequest(&random) }) + MadeRequest.good {
                try check(FlowBench(set), request, template, &outcomes)
            }
        }
        #expect(compiled == 25)
        #expect(outcomes["filled", default: 0] > 20 && outcomes["refused", default: 0] > 20, "\(outcomes)")
    }
}

// MARK: Making

/// A request whose parameters `p1` to `p9` are hostile, or all good of one kind.
struct MadeRequest {
    var query = ""
    var body = ""

    var shown: String { "query \(query.prefix(500)) body \(body.prefix(2000))" }

    static let empty = MadeRequest()

    /// Each value stands in all parameters at once, so that every option meets one that it takes.
    static let good = [
        #""447700900123""#, #""Bob""#, "5", #""5""#, "true", #""https://calls.example.com/a""#, #""sip:a@example.com""#, #""en-GB""#,
        #"["dtmf"]"#,
        #"{"a":1}"#, #""conversation""#, #""POST""#, #""wss://bot.example.com/""#, #"[{"type":"app","user":"Bob"}]"#,
        #"{"type":"app","user":"Bob"}"#, #"{"url":"https://calls.example.com/a"}"#, "{}", "[]", "1", "60",
    ].map { value in
        MadeRequest(body: "{\"to\":\"447700900123\"," + (1...9).map { "\"p\($0)\":\(value)" }.joined(separator: ",") + "}")
    }

    /// As JSON texts.
    static let values: [String] = {
        let texts = [
            "", " ", "0", "5", "-1", "007", "1e2", "5.0", "12345678901234567890", "true", "false", "null", "True", "anonymous",
            "+447700900123",
            "447700900123", "00447700900123", "112", "Bob", "'", "\\\"", "\\\\", "}]", "\\\",\\\"action\\\":\\\"talk",
            "\\\"},{\\\"action\\\":\\\"talk",
            "{{", "}}", "{{to}}", "{{p1|x}}", "{{ }}", "<speak>", "<speak>x</speak>", "</speak>", "<speak", "<", "&", "&lt;", "\\u0000",
            "\\n",
            "\\r\\nX-A: b", "\\u007f", "\\ud800", "\\udc00x", "\\u2028", "\\u202e", "é", "😀", "\\u007b{to}}", "https://x.example.com/y",
            "http://", "https:///", "javascript:alert(1)", "../..", "?a=b#c", "%zz", "a b", "a/b", "@evil.example.com", ":99999", ":80",
            "[::1",
            "sip:a@b", "sip:", "wss://x.example.com/", "dtmf", "speech", "synchronous", "asynchronous", "en-GB", "xx", "mp3",
            "conversation",
            "POST", "get", "#", "1p2", "custom", "vonage", "detect", "continue", "audio/l16;rate=16000", "٣", "1-2-3-4-5-6-7", "[1]", "[]",
            "{}",
            #"{\"a\":1}"#, #"{\"a\":1,\"a\":2}"#, #"{\"a\":\"{{\"}"#, #"{\"a\":"#,
        ]
        let trees = [
            "0", "5", "-1", "1.5", "1e2", "1e999", "-0", "1234567.5", "447700900123", "112", "true", "false", "null", "{}", "[]", "[1]",
            "[447700900123]",
            #"["dtmf"]"#, #"["dtmf","dtmf"]"#, #"["{{x}}"]"#, #"["https://x.example.com/y"]"#, #"[""]"#, #"{"a":1}"#, #"{"a":1,"a":2}"#,
            #"{"a":"{{"}"#, #"{"a":"\u007b\u007bto}}"}"#, #"{"maxDigits":"\u007b\u007bto}}"}"#, #"{"maxDigits":"{{to}}"}"#,
            #"{"maxDigits":50}"#,
            #"{"type":"phone","number":"112"}"#, #"{"type":"phone","number":"447700900123"}"#, #"{"type":"phone","number":"{{x}}"}"#,
            #"{"url":"x"}"#, #"{"url":"https://x.example.com/"}"#, #"{"User-to-User":"x"}"#, #"{"X":5}"#,
            #"[{"action":"talk","text":"x"}]"#,
        ]
        return texts.map { "\"\($0)\"" } + trees
    }()

    /// As JSON texts; large, so taken rarely.
    static let large = [
        "\"" + String(repeating: "x", count: 100_000) + "\"", "\"" + String(repeating: "é", count: 1501) + "\"",
        "\"" + String(repeating: "9", count: 10_000) + "\"", String(repeating: "[", count: 70) + String(repeating: "]", count: 70),
        String(repeating: #"{"a":"#, count: 100) + "1" + String(repeating: "}", count: 100),
        "\"" + String(repeating: "[", count: 100) + String(repeating: "]", count: 100) + "\"",
        "[" + (0..<300).map { "\"\($0)\"" }.joined(separator: ",") + "]",
    ]

    /// Values of a query, percent-encoded where need be.
    static let pieces = [
        "", "5", "true", "447700900123", "%2B447700900123", "+447700900123", "Bob", "%22", "%7B%7B", "%7B%7Bto%7D%7D", "%00", "%0D%0A",
        "%FF", "%C3", "%80%80",
        "%ED%A0%80", "%3Cspeak%3E", "a%20b", "https://x.example.com/%FF", "https%3A%2F%2Fx.example.com%2Fy", "{%22a%22:1}", "[%22dtmf%22]",
        "%zz", "=", "null",
        "dtmf", "en-GB", "sip:a@b", "%E2%80%AE",
    ]

    init(query: String = "", body: String = "") { (self.query, self.body) = (query, body) }

    init(_ random: inout SeededNumbers) {
        let names = ["to", "from", "uuid", "custom_data"] + (1...9).map { "p\($0)" }
        var members: [String] = []
        var pairs: [String] = []
        // Some requests are hostile throughout, in others one value is.
        let rate = random.pick([1, 2, 8])
        let plain = random.pick([#""447700900123""#, "5", #""Bob""#, #""https://calls.example.com/a""#, "true"])
        for name in names {
            switch random.below(10) {
            case 0: continue
            case 1, 2: pairs.append("\(name)=\(random.pick(Self.pieces))")
            default:
                let value =
                    random.below(rate) == 0 ? (random.below(60) == 0 ? random.pick(Self.large) : random.pick(Self.values)) : plain
                members.append("\"\(name)\":\(value)")
            }
        }
        query = pairs.joined(separator: "&")
        body = members.isEmpty ? "" : "{\(members.joined(separator: ","))}"
    }
}

/// Makes templates of what the reference allows.
struct TemplateMaker {
    var random: SeededNumbers

    private static let names =
        (1...9).map { "p\($0)" } + [
            "to", "from", "custom_data", "custom_data.a", "own_number", "inbound_user", "base_url", "refusal", "v_text", "v_number",
            "v_bool", "v_null",
            "v_phone", "v_site", "v_list", "v_list.0", "v_list.2", "v_list.9", "v_object", "v_object.language", "v_object.deep.a",
        ]

    mutating func template() -> String {
        "[" + (0...random.below(3)).map { _ in action(random.pick(Reference.actions)) }.joined(separator: ",") + "]"
    }

    private mutating func action(_ rule: ObjectRule) -> String { object(rule, kind: ("action", rule.name)) }

    private mutating func object(_ rule: ObjectRule, kind: (key: String, name: String)? = nil) -> String {
        var members = kind.map { ["\"\($0.key)\":\"\($0.name)\""] } ?? []
        for option in rule.options where option.isRequired || random.below(3) == 0 {
            members.append("\"\(option.name)\":\(value(option.shape))")
        }
        members.shuffle(using: &random)
        return "{\(members.joined(separator: ","))}"
    }

    private mutating func value(_ shape: Shape) -> String {
        switch random.below(10) {
        case 0..<3: return "\"{{\(random.pick(Self.names))}}\""
        case 3:
            let standard = literal(shape).filter { $0 != "\"" && $0 != "}" }
            return "\"{{\(random.pick(Self.names))|\(standard)}}\""
        case 4..<6: return text(shape)
        default: return literal(shape)
        }
    }

    /// A string in parts, where the shape is one of text.
    private mutating func text(_ shape: Shape) -> String {
        let placeholder = "{{\(random.pick(Self.names))}}"
        switch shape {
        case .url, .webSocketURL, .sipURI:
            let start = literal(shape).dropFirst().dropLast()
            return
                "\"\(random.pick(["\(start)\(placeholder)", "{{base_url}}/\(placeholder)/x", "{{base_url}}\(placeholder)", "\(start)?a=\(placeholder)"]))\""
        case .spokenText:
            return
                "\"\(random.pick(["Hello \(placeholder).", "\(placeholder)!", "<speak>\(placeholder)</speak>", "\(placeholder)\(placeholder)"]))\""
        case .text, .phoneNumber, .userName, .choice, .dtmf, .voiceLanguage, .speechLanguage, .whole, .number:
            return "\"\(random.pick(["1\(placeholder)", "\(placeholder)x", "\(placeholder)\(placeholder)"]))\""
        default: return literal(shape)
        }
    }

    private mutating func literal(_ shape: Shape) -> String {
        switch shape {
        case .text: return random.pick([#""CON-1""#, #""x""#, #""447700900123""#])
        case .spokenText: return random.pick([#""Hello.""#, #""<speak>Hello.</speak>""#])
        case .phoneNumber: return #""447700900123""#
        case .userName: return #""Alice""#
        case .url: return #""https://calls.example.com/a""#
        case .webSocketURL: return #""wss://bot.example.com/a""#
        case .sipURI: return #""sip:a@example.com""#
        case .choice(let words): return "\"\(random.pick(words))\""
        case .dtmf: return #""1p2#""#
        case .voiceLanguage, .speechLanguage: return #""en-GB""#
        case .whole(let range): return "\(range.lowerBound + random.below(min(range.upperBound - range.lowerBound, 19) + 1))"
        case .number(let range, _): return range.contains(1) ? "1" : "\(range.lowerBound)"
        case .bool: return random.pick(["true", "false"])
        case .list(let element, let count):
            let most = min(max(count.lowerBound, 1) + random.below(3), count.upperBound)
            let elements = (0..<most).map { _ in value(element) }
            return "[\(elements.joined(separator: ","))]"
        case .oneOrList(let element, _): return random.below(2) == 0 ? value(element) : "[\(value(element))]"
        case .object(let rule): return object(rule)
        case .endpoint:
            let rule = random.pick(Reference.endpoints)
            return object(rule, kind: ("type", rule.name))
        case .freeObject: return "{\"a\":\(value(.text)),\"b\":[\(value(.text)),\(value(.text))],\"c\":{\"d\":\(value(.text))}}"
        case .textObject: return "{\"a\":\(value(.text)),\"b\":\(value(.text))}"
        }
    }
}
