// SPDX-License-Identifier: MIT
//
// Lint against folders: `Vectors/flows` holds one for each way to break a rule of flows, named after the rule, with what is said about it in
// `expected.txt`.

import Foundation
import NCCO
import Testing

@testable import Switchboard

struct FlowLintTests {
    private static let root = Bundle.module.bundlePath + "/Vectors/flows/"
    private static let folders = (try? FileManager.default.contentsOfDirectory(atPath: root))?.sorted() ?? []

    private static let settings = FlowSettings(numbers: [PhoneNumber("14155550100")].compactMap(\.self), inboundUser: "Alice")

    /// As the server reads it.
    private func compile(folder path: String) throws -> FlowCompilation {
        guard case .files(let files) = FlowFolder(path: path).read().content else {
            throw CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: path])
        }
        return FlowCompiler.compile(files, Self.settings) { name throws(ZoneError) in
            try Zone.named(name, folders: ["/usr/share/zoneinfo"])
        }
    }

    @Test(arguments: folders) func `a folder breaks the rule in its name and no other, as the expected lines say`(_ name: String) throws {
        let compilation = try compile(folder: Self.root + name)
        let expected = try String(contentsOfFile: Self.root + name + "/expected.txt", encoding: .utf8)
        #expect(compilation.findings.map { "\($0)\n" }.joined() == expected)
        #expect(!compilation.findings.isEmpty)
        for finding in compilation.findings { #expect(name.hasPrefix(finding.finding.code + "-"), "\(finding)") }
        #expect(compilation.hasErrors == compilation.findings.contains { $0.finding.severity == .error })
    }

    @Test func `every rule has a folder`() {
        for rule in FlowRuleCode.allCases { #expect(Self.folders.contains { $0.hasPrefix(rule.code + "-") }, "\(rule) \(rule.code)") }
        #expect(Set(FlowRuleCode.allCases.map(\.code)).count == FlowRuleCode.allCases.count)
    }

    @Test func `there is nothing to say about the shipped folder`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../nccos").path
        let compilation = try compile(folder: folder)
        #expect(compilation.findings.map(\.description) == [])
        #expect(compilation.flows?.flows.map(\.name) == ["answer", "fallback", "ivr", "choice", "no-answer", "agent"])
    }

    @Test func `there is nothing to say about the built-in flow`() {
        #expect(FlowCompiler.compile(.builtIn, Self.settings).findings.map(\.description) == [])
    }
}
