// SPDX-License-Identifier: MIT
//
// Reads a file of scenarios: one, or an array of them. Everything that is wrong is noted with its place; what is left is what could be understood.
// A key that means nothing is an error here, since an expectation that nobody reads would hold for ever.

import JSON
package import NCCO

package struct ScenarioFile: Sendable {
    /// Those without a fault.
    package private(set) var scenarios: [Scenario] = []
    /// In the order of the text.
    package private(set) var findings: [Finding] = []

    private let file: String
    private(set) var faults: [RawFinding] = []
    /// Places of what can fail later.
    private var marks: [RawFinding] = []

    package static let mostScenarios = 10_000
    private static let maximumDepth = 32
    /// A file that is all faults must not be answered with a multiple of its size.
    private static let mostFaults = 1000
    static let mostElements = 100
    static let longestText = 1500
    /// Milliseconds; as long as a call may last.
    static let times: ClosedRange<Int64> = 0...7_200_000

    static let keys = [
        "scenario", "settings", "call", "caller", "callees", "talk_for", "hangs_up", "gives_up_after", "expect",
    ]
    static let callKeys = ["from", "to", "from_user", "custom_data", "sip", "headers", "api", "flow", "method", "at"]
    static let expectKeys = [
        "heard", "not_heard", "rung", "events", "never", "rules", "answer_within", "state", "complaints", "nccos",
    ]
    static let eventNames =
        CallStatus.allCases.map(\.rawValue) + ["human", "disconnected", "input", "notify", "record", "transcribed", "transfer", "error"]
    static let actionNames = Action.Name.allCases.map(\.rawValue)

    /// - Parameter file: names it in scenarios.
    package init(_ text: Span<UInt8>, file: String) {
        self.file = file
        do throws(JSONError) {
            read(try parseJSON(text, maximumDepth: Self.maximumDepth))
        } catch {
            fault(.notJSON, JSONPath(), error.offset, "this is not JSON: expected \(error.expected), found \(error.found)")
        }
        findings = placed(faults, in: text)
        var places: [String: Scenario.Place] = [:]
        for mark in placed(marks, in: text) { places[mark.path] = Scenario.Place(line: mark.line, column: mark.column) }
        for index in scenarios.indices { scenarios[index].places = places }
    }

    private mutating func read(_ tree: JSONNode) {
        guard case .array(let elements) = tree.value else { return readScenario(tree, JSONPath()) }
        guard elements.count <= Self.mostScenarios else {
            return fault(
                .cannotHold, JSONPath(), tree.range.lowerBound, "there are \(elements.count) scenarios",
                "at most \(Self.mostScenarios) are possible in a file")
        }
        if elements.isEmpty { fault(.isMissing, JSONPath(), tree.range.lowerBound, "there is no scenario", "add { \"scenario\": \"…\" }") }
        for (index, element) in elements.enumerated() { readScenario(element, JSONPath().appending(index)) }
    }

    private mutating func readScenario(_ node: JSONNode, _ path: JSONPath) {
        let before = faults.count
        for (key, place, offset) in NCCO.repeatedKeys(in: node, path) {
            fault(.repeatedKey, place, offset, "the key \(printable(key)) comes twice", "remove one of the two")
        }
        guard let members = object(node, path, "a scenario is", Self.keys) else { return }
        mark(node, path)
        guard let call = members["call"] else {
            return missing(node, path, "the scenario has no call", "add \"call\": { \"from\": \"447700900123\", \"to\": \"14155550100\" }")
        }
        guard var scenario = readCall(call, path.appending("call")) else { return }
        scenario.file = file
        scenario.path = path
        if let name = members["scenario"] {
            scenario.name = words(name, path.appending("scenario"), most: 200) ?? ""
        } else {
            missing(node, path, "the scenario has no name", "add \"scenario\": \"what happens\"")
        }
        if let settings = members["settings"] { readSettings(settings, path.appending("settings"), &scenario) }
        if let entries = members["caller"] { scenario.call.entries = readEntries(entries, path.appending("caller")) }
        if let callees = members["callees"] { scenario.call.callees = readCallees(callees, path.appending("callees")) }
        if let node = members["talk_for"], let time = time(node, path.appending("talk_for")) { scenario.call.talkFor = time }
        if let node = members["hangs_up"] {
            scenario.call.calleeHangsUp = choice(node, path.appending("hangs_up"), ["caller", "callee"], "hangs_up") == "callee"
        }
        if let node = members["gives_up_after"] { scenario.call.callerGivesUpAfter = time(node, path.appending("gives_up_after")) }
        if let expect = members["expect"] {
            readExpectations(expect, path.appending("expect"), &scenario)
        } else {
            missing(node, path, "the scenario expects nothing", "add \"expect\": { \"heard\": [\"…\"] }")
        }
        if faults.count == before { scenarios.append(scenario) }
    }

    // MARK: Faults and places

    mutating func fault(_ rule: ScenarioRule, _ path: JSONPath, _ offset: Int, _ message: String, _ cure: String = "") {
        guard faults.count < Self.mostFaults else { return }
        faults.append(
            RawFinding(severity: .error, code: rule.code, path: path.description, message: message, cure: cure, offset: offset))
    }

    mutating func mark(_ node: JSONNode, _ path: JSONPath) {
        marks.append(RawFinding(severity: .note, code: "", path: path.description, message: "", offset: node.range.lowerBound))
    }
}
