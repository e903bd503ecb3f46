// SPDX-License-Identifier: MIT

import Foundation
import JSON
import NCCO
import Testing

struct DecodingTests {
    // MARK: What Vonage takes

    struct Lenient: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let json: String
        /// The reference's form.
        let written: String
        /// Of options that no type knows.
        let otherOptionPaths: [String]?
        var testDescription: String { name }
    }

    @Test(arguments: try vectors("lenient") as [Lenient])
    func `what Vonage takes is read, and written in the form of the reference`(_ vector: Lenient) throws {
        let ncco = try NCCO(json: vector.json)
        #expect(ncco.json == vector.written)
        #expect(ncco.otherOptionPaths == vector.otherOptionPaths ?? [])
        #expect(try NCCO(json: ncco.json).json == vector.written)
    }

    // MARK: What Vonage refuses

    struct Refused: Decodable, Sendable, CustomTestStringConvertible {
        let json: String
        let error: String
        var testDescription: String { error }
    }

    @Test(arguments: try vectors("refused") as [Refused])
    func `what is not allowed is refused with its place`(_ vector: Refused) throws {
        let error = try #require(throws: NCCOError.self) { try NCCO(json: vector.json) }
        #expect(error.description == vector.error)
    }

    @Test func `an error names what, where and cure`() throws {
        let json = #"[{"action":"talk","text":"x"},{"action":"connect","endpoint":[{"type":"phone","number":"+447700900123"}]}]"#
        let error = try #require(throws: NCCOError.self) { try NCCO(json: json) }
        #expect(error.action == "connect")
        #expect(error.option == "number")
        #expect(error.value == "+447700900123")
        #expect(error.allowed == PhoneNumber.allowed)
        #expect(error.path == "$[1].endpoint[0].number")
        #expect(error.line == nil && error.column == nil)
    }

    @Test func `a text that is not JSON is refused with line and column`() throws {
        let error = try #require(throws: NCCOError.self) { try NCCO(json: "[\n  {\"action\" \"talk\"}\n]") }
        #expect(error.line == 2)
        #expect(error.column == 13)
        #expect(error.path == nil)
        #expect(error.description == #"line 2, column 13: expected a colon after the key, found '"'"#)
        #expect(throws: NCCOError.self) { try NCCO(json: [0x5B, 0xFF, 0x5D].span) }
    }

    @Test(arguments: [
        ("a_1", ".a_1"), ("content-type", "['content-type']"), ("", "['']"), ("1a", "['1a']"), ("it's\\\n", #"['it\'s\\\u000a']"#),
        ("\u{1B}[2J", #"['\u001b[2J']"#), ("\u{85}", #"['\u0085']"#), ("é", "['é']"),
    ])
    func `a step of a path is quoted where it must be`(name: String, step: String) { #expect(pathStep(name) == step) }

    @Test func `a tree is read as its text is, and is not followed too deep`() throws {
        func json(_ depth: Int) -> String {
            #"[{"action":"talk","text":"x","n":\#(String(repeating: "[", count: depth))\#(String(repeating: "]", count: depth))}]"#
        }
        #expect(try NCCO(tree: parseJSON(Array(json(64).utf8).span)).json == json(64))
        let tree = try parseJSON(Array(json(66).utf8).span)
        let error = try #require(throws: NCCOError.self) { try NCCO(tree: tree) }
        #expect(error.path == "$[0].n" + String(repeating: "[0]", count: 65))
        #expect(error.option == "n")
    }

    @Test func `a key can't break out of the line of an error`() throws {
        let error = try #require(throws: NCCOError.self) { try NCCO(json: #"[{"action":"talk","a\nb":1,"a\nb":2}]"#) }
        #expect(error.description == #"['a\u000ab'] is "given twice", but must be given once (at $[0]['a\u000ab'])"#)
    }

    @Test func `a long key is not copied for each value below it`() throws {
        let json =
            #"[{"action":"talk","text":"x","\#(String(repeating: "k", count: 100_000))":[\#(String(repeating: "0,", count: 50_000))0]}]"#
        #expect(try NCCO(json: json).json == json)
    }

    // MARK: Changes to what was read

    private func change(_ json: String, _ change: (inout Action) -> Void) throws -> String {
        var ncco = try NCCO(json: json)
        change(&ncco.actions[0])
        return ncco.json
    }

    @Test func `an option that was kept among others is not written twice`() throws {
        let input = try change(#"[{"action":"input","type":["dtmf"],"speech":{"a":1},"b":2}]"#) { action in
            action = action.changed { (input: inout Input) in input.listening = .speech(.init(saveAudio: true)) }
        }
        #expect(input == #"[{"action":"input","type":["speech"],"speech":{"saveAudio":true},"b":2}]"#)
        let connect = try change(
            #"[{"action":"connect","machineDetection":"hangup","advancedMachineDetection":{},"endpoint":[{"type":"vbc","extension":"1"}]}]"#
        ) { action in action = action.changed { (connect: inout Connect) in connect.machineDetection = .continue } }
        #expect(connect == #"[{"action":"connect","machineDetection":"continue","endpoint":[{"type":"vbc","extension":"1"}]}]"#)
        let talk = try change(#"[{"action":"talk","text":"x","providerOptions":{"a":1}}]"#) { action in
            action = action.changed { (talk: inout Talk) in talk.provider = Provider("google", options: ["b": 2]) }
        }
        #expect(talk == #"[{"action":"talk","text":"x","provider":"google","providerOptions":{"b":2}}]"#)
    }

    // MARK: The examples of the reference

    struct Example: Sendable, CustomTestStringConvertible {
        let name: String
        let json: String
        var testDescription: String { name }

        static func all() throws -> [Example] {
            let folder = try #require(Bundle.module.url(forResource: "Vectors/examples", withExtension: nil))
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            return try files.map {
                Example(name: $0.deletingPathExtension().lastPathComponent, json: try String(contentsOf: $0, encoding: .utf8))
            }
        }
    }

    @Test(arguments: try Example.all().filter { !$0.name.hasPrefix("pay") })
    func `an example of the reference goes round`(_ example: Example) throws {
        let ncco = try NCCO(json: example.json)
        #expect(ncco.otherOptionPaths == [])
        #expect(try NCCO(json: ncco.json) == ncco)
        // The order of options may differ, and the default of `mode` is left out.
        let given = example.json.replacing(#","mode":"synchronous""#, with: "")
        #expect(try tree(ncco.json) == tree(given))
    }

    @Test(arguments: try Example.all().filter { $0.name.hasPrefix("pay") })
    func `the removed action is refused`(_ example: Example) throws {
        let error = try #require(throws: NCCOError.self) { try NCCO(json: example.json) }
        #expect(error.option == "action" && error.value == "pay" && error.path == "$[0].action")
    }

    @Test func `there are as many examples as blocks in the reference`() throws { #expect(try Example.all().count == 24) }

    private func tree(_ json: String) throws -> NSArray {
        try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? NSArray)
    }
}

extension Action {
    /// The same with changed options, where it is that action.
    fileprivate func changed<Options: ActionConvertible>(_ change: (inout Options) -> Void) -> Action {
        let options: any ActionConvertible =
            switch self {
            case .input(let input): input
            case .connect(let connect): connect
            case .talk(let talk): talk
            default: self
            }
        guard var options = options as? Options else { return self }
        change(&options)
        return options.action
    }
}
