// SPDX-License-Identifier: MIT
//
// Explanations against golden files: `Vectors/explain/NAME.json` is explained by exactly `NAME.txt`.

import Foundation
import JSON
import NCCO
import Testing

struct ExplanationTests {
    private func tree(_ text: [UInt8]) throws -> JSONNode { try parseJSON(text.span) }

    @Test(arguments: try vectorFiles("explain")) func `a file is explained as its neighbour says`(file: String) throws {
        let text = try String(decoding: vector("explain/\(file)"), as: UTF8.self)
        let expected = try String(decoding: vector("explain/\(file.dropLast(5)).txt"), as: UTF8.self)
        #expect(try NCCO.explanation(of: text) == expected)
    }

    @Test func `every explanation has its file`() throws {
        let folder = try #require(Bundle.module.url(forResource: "Vectors/explain", withExtension: nil))
        let texts = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".txt") }
        #expect(texts.map { $0.dropLast(4) + ".json" }.sorted() == (try vectorFiles("explain")))
    }

    @Test(arguments: try vectorFiles("explain")) func `no option is passed over in silence`(file: String) throws {
        let root = try tree(vector("explain/\(file)"))
        guard case .array(let actions) = root.value else { return }
        let lines = Explanation(root).lines
        for (index, action) in actions.enumerated() where !lines.joined().contains("never runs") {
            for (name, smaller) in without(action) {
                var changed = actions
                changed[index] = smaller
                #expect(Explanation(JSONNode(.array(changed), at: 0..<0)).lines != lines, "\(name) of action \(index + 1)")
            }
        }
    }

    @Test func `the files have every action, endpoint and option there is`() throws {
        var names: Set<String> = []
        for file in try vectorFiles("explain") { collect(try tree(vector("explain/\(file)")), into: &names) }
        for rule in Reference.actions + Reference.endpoints {
            #expect(names.contains("\"\(rule.name)\""))
            for option in rule.options {
                #expect(names.contains(option.name), "\(rule.name)")
                guard case .object(let inner) = option.shape else { continue }
                for option in inner.options { #expect(names.contains(option.name), "\(inner.name)") }
            }
        }
    }

    @Test(arguments: try ["valid", "explain"].flatMap { folder in try vectorFiles(folder).map { "\(folder)/\($0)" } })
    func `a line has 100 columns at most, and no terminal obeys it`(file: String) throws {
        let lines = Explanation(try tree(vector(file))).lines
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(line.unicodeScalars.count <= 100)
            #expect(!line.unicodeScalars.contains(where: steersTerminal))
            #expect(!line.hasSuffix(" "))
        }
    }

    @Test func `a thousand and more actions are numbered in one column`() throws {
        let text = "[" + String(repeating: #"{"action":"wait"},"#, count: 1200) + #"{"action":"talk","text":"Hello."}]"#
        let lines = Explanation(try tree(Array(text.utf8))).lines
        #expect(lines.count == 1202)
        #expect(lines[0] == "   1. wait      Nothing is played for 10 s (Vonage's default).")
        #expect(lines[1200] == "1201. talk      The caller hears: \"Hello.\" (en-US, style 0)")
    }

    @Test func `secrets are not shown`() throws {
        let text = try NCCO.explanation(
            of: #"""
                [{"action": "connect", "from": "14155550100", "endpoint": [{"type": "phone", "number": "447700900123", "shaken": "eyJsecret"}]},
                 {"action": "connect", "endpoint": [{"type": "websocket", "uri": "wss://bot.example.com", "content-type": "audio/l16;rate=8000",
                  "authorization": {"type": "custom", "value": "Bearer secret"}}]}]
                """#)
        #expect(!text.contains("secret"))
        #expect(text.contains("whose value is not shown here"))
    }

    @Test(arguments: [
        ("<speak>One.<break/>Two.</speak>", "One. Two."), ("<speak><p>One.</p><p>Two.</p></speak>", "One. Two."),
        ("<speak>1 < 2 <sub alias='x'>y</sub></speak>", "1 < 2 y"), ("<speak>cut <off", "cut <off"), ("a <b> c", "a <b> c"),
        ("\n one\t\ttwo \n", "one two"),
    ]) func `tags of SSML are left out, and white space is one blank`(text: String, spoken: String) throws {
        var json = Array(#"[{"action":"talk","text":"#.utf8)
        json.appendJSONString(text)
        let lines = Explanation(try tree(json + Array("}]".utf8))).lines
        #expect(lines[0] == "1. talk      The caller hears: \"\(spoken)\" (en-US, style 0)")
    }

    // MARK: Errors

    @Test(arguments: try vectorFiles("lint").filter { $0 < "NCCO1" }) func `what has an error is refused with what lint says`(
        file: String
    ) throws {
        let text = try vector("lint/\(file)")
        let findings = NCCO.check(text.span)
        // A byte that is no UTF-8 would be replaced on the way; these files have none.
        let error = try #require(throws: InvalidNCCO.self) { try NCCO.explanation(of: String(decoding: text, as: UTF8.self)) }
        #expect(error.findings == findings)
        #expect(error.description == findings.filter { $0.severity == .error }.map(\.description).joined(separator: "\n"))
    }

    @Test(arguments: try vectorFiles("lint")) func `any tree has an explanation that says what is wrong where it changes the call`(
        file: String
    ) throws {
        let text = try vector("lint/\(file)")
        guard let tree = try? tree(text) else { return }
        let lines = Explanation(tree).lines
        #expect(!lines.isEmpty)
        guard NCCO.check(text.span).contains(where: { $0.severity == .error }) else { return }
        #expect(lines.joined().contains("Error: "))
    }

    // MARK: Trees with one member less

    /// The trees that lack one member of an object, with the member's name; what kind an object is stays.
    private func without(_ node: JSONNode) -> [(String, JSONNode)] {
        switch node.value {
        case .object(let members):
            var trees: [(String, JSONNode)] = []
            for (index, member) in members.enumerated() where !["action", "type"].contains(member.name.value) {
                var fewer = members
                fewer.remove(at: index)
                trees.append((member.name.value, JSONNode(.object(fewer), at: 0..<0)))
            }
            for (index, member) in members.enumerated() {
                for (name, inner) in without(member.node) {
                    var changed = members
                    changed[index].node = inner
                    trees.append((name, JSONNode(.object(changed), at: 0..<0)))
                }
            }
            return trees
        case .array(let elements):
            var trees: [(String, JSONNode)] = []
            for (index, element) in elements.enumerated() {
                for (name, inner) in without(element) {
                    var changed = elements
                    changed[index] = inner
                    trees.append((name, JSONNode(.array(changed), at: 0..<0)))
                }
            }
            return trees
        default: return []
        }
    }

    /// Keys as they are, values of `action` and `type` in quotes.
    private func collect(_ node: JSONNode, into names: inout Set<String>) {
        switch node.value {
        case .object(let members):
            for member in members {
                names.insert(member.name.value)
                if ["action", "type"].contains(member.name.value), case .string(let kind) = member.node.value {
                    names.insert("\"\(kind.value)\"")
                }
                collect(member.node, into: &names)
            }
        case .array(let elements):
            for element in elements { collect(element, into: &names) }
        default: break
        }
    }
}
