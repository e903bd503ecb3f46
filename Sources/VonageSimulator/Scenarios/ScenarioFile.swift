// SPDX-License-Identifier: MIT
//
// Reads a file of scenarios: one, or an array of them. Everything that is wrong is noted with its place; what is left is what could be understood.
// A key that means nothing is an error here, since an expectation that nobody reads would hold for ever.

import HTTPWire
import JSON
package import NCCO

package struct ScenarioFile: Sendable {
    /// Those without a fault.
    package private(set) var scenarios: [Scenario] = []
    /// In the order of the text.
    package private(set) var findings: [Finding] = []

    private let file: String
    private var faults: [RawFinding] = []
    /// Places of what can fail later.
    private var marks: [RawFinding] = []

    package static let mostScenarios = 10_000
    private static let maximumDepth = 32
    /// A file that is all faults must not be answered with a multiple of its size.
    private static let mostFaults = 1000
    private static let mostElements = 100
    private static let longestText = 1500
    /// Milliseconds; as long as a call may last.
    private static let times: ClosedRange<Int64> = 0...7_200_000

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

    // MARK: The call

    private mutating func readCall(_ node: JSONNode, _ path: JSONPath) -> Scenario? {
        guard let members = object(node, path, "call is", Self.callKeys) else { return nil }
        let kinds = [("from", "a phone"), ("from_user", "an app user"), ("sip", "a SIP endpoint"), ("api", "the REST API")]
        let given = kinds.filter { members[$0.0] != nil }
        guard given.count == 1, let kind = given.first?.0 else {
            let cure = "write one of from and to (a phone), from_user (an app), sip and to, or api"
            let what = given.isEmpty ? "nobody calls" : "\(given.map(\.1).joined(separator: " and ")) cannot make one call together"
            fault(.cannotHold, path, node.range.lowerBound, what, cure)
            return nil
        }
        let before = faults.count
        func party(_ key: String, _ file: inout ScenarioFile) -> String? {
            guard let node = members[key] else {
                if key != "to" || kind != "from_user" {
                    file.missing(node, path, "nothing says whom the call is to", "add \"to\": \"14155550100\"")
                }
                return nil
            }
            return file.words(node, path.appending(key), most: 300)
        }
        let own = ["from": ["to"], "from_user": ["to", "custom_data"], "sip": ["to", "headers"], "api": []][kind, default: []]
        for key in ["to", "custom_data", "headers"] where !own.contains(key) {
            guard let node = members[key] else { continue }
            fault(.cannotHold, path.appending(key), node.range.lowerBound, "a call with \(kind) has no \(key)", "remove it")
        }
        let origin: CallPlan.Origin
        switch kind {
        case "from": origin = .phone(from: party("from", &self) ?? "", to: party("to", &self) ?? "")
        case "sip":
            let headers = members["headers"].map { readHeaders($0, path.appending("headers")) } ?? []
            origin = .sip(from: party("sip", &self) ?? "", to: party("to", &self) ?? "", headers: headers)
        case "from_user":
            let data = members["custom_data"].flatMap { readCustomData($0, path.appending("custom_data")) }
            origin = .app(user: party("from_user", &self) ?? "", to: party("to", &self), customData: data)
        default:
            guard let node = members["api"], let read = readAPI(node, path.appending("api")) else { return nil }
            origin = read
        }
        var scenario = Scenario(origin)
        if let node = members["flow"], let name = words(node, path.appending("flow"), most: 64) {
            scenario.flow = name
            if !name.utf8.allSatisfy({ isNameByte($0) }) {
                fault(
                    .badValue, path.appending("flow"), node.range.lowerBound, "\(printable(name)) cannot be the end of /voice/\u{2026}",
                    "write letters, digits, _ and - only")
            }
        }
        if let node = members["method"], let name = choice(node, path.appending("method"), ["GET", "POST"], "method") {
            scenario.method = name == "POST" ? .post : .get
        }
        if let node = members["at"], let text = words(node, path.appending("at"), most: 40) {
            scenario.surroundings.at = readTime(text)
            if scenario.surroundings.at == nil {
                fault(
                    .badValue, path.appending("at"), node.range.lowerBound, "\(printable(text)) is no time",
                    "write it as 2026-11-30T10:00:00Z")
            }
        }
        return faults.count == before ? scenario : nil
    }

    private func isNameByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }

    private mutating func readHeaders(_ node: JSONNode, _ path: JSONPath) -> [(name: String, value: String)] {
        guard let members = object(node, path, "headers is", nil) else { return [] }
        return members.members.prefix(Self.mostElements).compactMap { name, node in
            if !name.hasPrefix("X-"), name != "User-to-User" {
                fault(
                    .badValue, path.appending(name), node.range.lowerBound, "Vonage does not pass on the header \(printable(name))",
                    "write X-NAME or User-to-User")
            }
            return words(node, path.appending(name)).map { (name, $0) }
        }
    }

    /// An object, or the very text that is sent in its place.
    private mutating func readCustomData(_ node: JSONNode, _ path: JSONPath) -> JSONNode? {
        switch node.value {
        case .object: return node
        // A number is sent as it is written: so is this.
        case .string(let string): return JSONNode(.number(string.value), at: node.range)
        default:
            type(node, path, "custom_data is an object, or the text that is sent in its place")
            return nil
        }
    }

    private mutating func readAPI(_ node: JSONNode, _ path: JSONPath) -> CallPlan.Origin? {
        guard let members = object(node, path, "api is", ["to", "from"]) else { return nil }
        guard let to = members["to"] else {
            missing(node, path, "nothing says whom the REST API calls", "add \"to\": { \"type\": \"phone\", \"number\": \"…\" }")
            return nil
        }
        let from = members["from"].flatMap { words($0, path.appending("from"), most: 300) }
        let place = path.appending("to")
        let names = ["phone": "number", "app": "user", "sip": "uri", "websocket": "uri", "vbc": "extension"]
        guard let parts = object(to, place, "to is", ["type"] + Set(names.values).sorted()) else { return nil }
        guard let kind = parts["type"] else {
            missing(to, place, "to has no type", "add \"type\": \"phone\"")
            return nil
        }
        guard let type = choice(kind, place.appending("type"), names.keys.sorted(), "type"), let key = names[type] else { return nil }
        guard let value = parts[key] else {
            missing(to, place, "the \(type) has no \(key)", "add \"\(key)\": \"…\"")
            return nil
        }
        guard let name = words(value, place.appending(key), most: 300) else { return nil }
        let party: CallPlan.Party =
            switch type {
            case "phone": .phone(name)
            case "app": .app(name)
            case "sip": .sip(name)
            case "websocket": .websocket(name)
            default: .vbc(name)
            }
        return .api(to: party, from: from, ncco: nil, answer: nil)
    }

    private mutating func readSettings(_ node: JSONNode, _ path: JSONPath, _ scenario: inout Scenario) {
        guard let members = object(node, path, "settings is", ["number", "inbound_user"]) else { return }
        if let node = members["number"], let text = words(node, path.appending("number")) {
            scenario.surroundings.number = PhoneNumber(text)
            if scenario.surroundings.number == nil {
                fault(
                    .badValue, path.appending("number"), node.range.lowerBound, "\(printable(text)) is no phone number",
                    "write its 7 to 15 digits, such as 14155550100")
            }
        }
        if let node = members["inbound_user"], let text = words(node, path.appending("inbound_user")) {
            scenario.surroundings.inboundUser = UserName(text)
            if scenario.surroundings.inboundUser == nil {
                fault(
                    .badValue, path.appending("inbound_user"), node.range.lowerBound, "\(printable(text)) is no user name",
                    "write a name such as Alice, not only digits")
            }
        }
    }

    // MARK: What people do

    private mutating func readEntries(_ node: JSONNode, _ path: JSONPath) -> [CallPlan.Entry] {
        list(node, path, "caller is") { file, node, place in
            file.mark(node, place)
            guard let members = file.object(node, place, "what a caller does is", ["press", "say", "nothing"]) else { return nil }
            guard members.count == 1, let (key, value) = members.members.first else {
                file.fault(
                    .cannotHold, place, node.range.lowerBound, "a caller does one thing at each input, not \(members.count)",
                    "write { \"press\": \"1\" }, { \"say\": \"sales\" } or { \"nothing\": true }")
                return nil
            }
            let place = place.appending(key)
            switch key {
            case "press":
                guard let keys = file.words(value, place, most: 50) else { return nil }
                guard keys.allSatisfy({ "0123456789*#".contains($0) }) else {
                    file.fault(.badValue, place, value.range.lowerBound, "\(printable(keys)) are no keys", "press 0 to 9, * and #")
                    return nil
                }
                return .press(keys)
            case "say": return file.words(value, place).map { .say($0) }
            default:
                guard case .bool(true) = value.value else {
                    file.type(value, place, "nothing is true", "write { \"nothing\": true }")
                    return nil
                }
                return .nothing
            }
        }
    }

    private mutating func readCallees(_ node: JSONNode, _ path: JSONPath) -> [String: CallPlan.Callee] {
        guard let members = object(node, path, "callees is", nil) else { return [:] }
        guard members.count <= Self.mostElements else {
            fault(
                .cannotHold, path, node.range.lowerBound, "there are \(members.count) callees", "at most \(Self.mostElements) are possible")
            return [:]
        }
        var callees: [String: CallPlan.Callee] = [:]
        for (name, node) in members.members {
            let place = path.appending(name)
            mark(node, place)
            if name.hasPrefix("+") {
                fault(
                    .badValue, place, node.range.lowerBound, "\(printable(name)) is nobody's name here",
                    "write a number as it is dialled, in digits alone")
            }
            if let callee = readCallee(node, place) { callees[name] = callee }
        }
        return callees
    }

    private mutating func readCallee(_ node: JSONNode, _ path: JSONPath) -> CallPlan.Callee? {
        if case .string = node.value { return readBehavior(node, path).map { CallPlan.Callee($0) } }
        guard let members = object(node, path, "a callee is text or", ["does", "after", "talk_for", "hangs_up"]) else { return nil }
        var callee = CallPlan.Callee()
        if let node = members["does"] {
            guard let behavior = readBehavior(node, path.appending("does")) else { return nil }
            callee = CallPlan.Callee(behavior)
        }
        if let node = members["after"], let time = time(node, path.appending("after")) { callee.answersAfter = time }
        if let node = members["talk_for"] { callee.talkFor = time(node, path.appending("talk_for")) }
        if let node = members["hangs_up"] {
            if case .bool(let bool) = node.value {
                callee.hangsUp = bool
            } else {
                type(node, path.appending("hangs_up"), "a callee's hangs_up is true or false", "write true or false without quotes")
            }
        }
        return callee
    }

    private mutating func readBehavior(_ node: JSONNode, _ path: JSONPath) -> CallPlan.Callee.Behavior? {
        choice(node, path, CallPlan.Callee.Behavior.allCases.map(\.rawValue), "a callee").flatMap { CallPlan.Callee.Behavior(rawValue: $0) }
    }

    // MARK: What must hold

    private mutating func readExpectations(_ node: JSONNode, _ path: JSONPath, _ scenario: inout Scenario) {
        let before = faults.count
        guard let members = object(node, path, "expect is", Self.expectKeys) else { return }
        mark(node, path)
        // A key that was misspelt is told, and enough.
        if members.members.isEmpty, faults.count == before {
            missing(node, path, "the scenario expects nothing", "add \"heard\": [\"…\"]")
        }
        for (key, node) in members.members {
            let place = path.appending(key)
            mark(node, place)
            let what: Expectation.What? =
                switch key {
                case "heard": filled(tests(node, place), node, place).map { .heard($0) }
                case "not_heard": filled(tests(node, place), node, place).map { .notHeard($0) }
                case "rung": .rung(texts(node, place))
                case "events": filled(texts(node, place, among: Self.eventNames, "event"), node, place).map { .events($0) }
                case "never": filled(texts(node, place, among: Self.actionNames, "action"), node, place).map { .never($0) }
                case "rules": filled(texts(node, place), node, place).map { .rules($0) }
                case "answer_within": time(node, place).map { .answerWithin($0) }
                case "state":
                    choice(node, place, CallStatus.allCases.filter(\.isOver).map(\.rawValue), key).flatMap { CallStatus(rawValue: $0) }
                        .map { .state($0) }
                case "complaints": .complaints(tests(node, place))
                default: readGolden(node, place).map { .nccos($0) }
                }
            if let what { scenario.expectations.append(Expectation(what: what, path: place)) }
        }
    }

    /// A list that would hold whatever happens is a fault.
    private mutating func filled<Element>(_ list: [Element], _ node: JSONNode, _ path: JSONPath) -> [Element]? {
        if list.isEmpty, case .array(let elements) = node.value, elements.isEmpty {
            fault(.cannotHold, path, node.range.lowerBound, "an empty list expects nothing", "add what is expected, or remove the key")
        }
        return list
    }

    private mutating func tests(_ node: JSONNode, _ path: JSONPath) -> [TextTest] {
        list(node, path, "this is") { file, node, place in
            file.mark(node, place)
            if case .string = node.value {
                guard let text = file.words(node, place).map(normalized) else { return nil }
                if text.isEmpty { file.fault(.badValue, place, node.range.lowerBound, "a blank is in every text", "write words") }
                return .contains(text)
            }
            guard let members = file.object(node, place, "this is text or", ["matches"]) else { return nil }
            guard let pattern = members["matches"] else {
                file.missing(node, place, "there is no pattern", "write { \"matches\": \"press [0-9]\" }")
                return nil
            }
            guard let text = file.words(pattern, place.appending("matches")) else { return nil }
            do throws(PatternError) { return .matches(try ScenarioPattern(text)) } catch {
                file.fault(.badPattern, place.appending("matches"), pattern.range.lowerBound, error.message, error.cure)
                return nil
            }
        }
    }

    private mutating func texts(_ node: JSONNode, _ path: JSONPath) -> [String] {
        list(node, path, "this is") { file, node, place in
            file.mark(node, place)
            return file.words(node, place)
        }
    }

    private mutating func texts(_ node: JSONNode, _ path: JSONPath, among known: [String], _ what: String) -> [String] {
        list(node, path, "this is") { file, node, place in
            file.mark(node, place)
            return file.choice(node, place, known, what)
        }
    }

    /// In a folder below the scenario's own: it is written by `--update`, and beside the scenarios it would be read as one.
    private mutating func readGolden(_ node: JSONNode, _ path: JSONPath) -> String? {
        guard let name = words(node, path, most: 200) else { return nil }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isSafe = parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") } && !name.unicodeScalars.contains(where: steersTerminal)
        guard isSafe, name.hasSuffix(".json"), parts.count == 2 else {
            fault(
                .badValue, path, node.range.lowerBound, "\(printable(name)) is no file beside the scenarios",
                "write FOLDER/NAME.json, such as golden/sales-busy.json")
            return nil
        }
        return name
    }

    // MARK: Shapes

    /// Members of an object, `comment` left out.
    private struct Members {
        let members: [(name: String, node: JSONNode)]

        var count: Int { members.count }

        subscript(name: String) -> JSONNode? { members.first { $0.name == name }?.node }
    }

    /// - Parameter known: keys that mean something; nil: any does.
    private mutating func object(_ node: JSONNode, _ path: JSONPath, _ what: String, _ known: [String]?) -> Members? {
        guard case .object(let members) = node.value else {
            type(node, path, "\(what) an object")
            return nil
        }
        guard let known else { return Members(members: members.map { ($0.name.value, $0.node) }) }
        for member in members where !known.contains(member.name.value) && member.name.value != "comment" {
            let name = member.name.value
            let hint = nearest(name, among: known).map { "did you mean \"\($0)\"?" }
            fault(
                .unknownKey, path.appending(name), member.nameRange.lowerBound, "\(printable(name)) means nothing here",
                hint ?? "known are \(known.joined(separator: ", ")) and comment")
        }
        return Members(members: members.map { ($0.name.value, $0.node) }.filter { known.contains($0.0) })
    }

    private mutating func list<Element>(
        _ node: JSONNode, _ path: JSONPath, _ what: String, _ read: (inout ScenarioFile, JSONNode, JSONPath) -> Element?
    ) -> [Element] {
        guard case .array(let elements) = node.value else {
            type(node, path, "\(what) a list", "write [ … ]")
            return []
        }
        guard elements.count <= Self.mostElements else {
            fault(
                .cannotHold, path, node.range.lowerBound, "the list has \(elements.count) elements",
                "at most \(Self.mostElements) are possible")
            return []
        }
        return elements.enumerated().compactMap { index, element in read(&self, element, path.appending(index)) }
    }

    /// A text with something in it.
    private mutating func words(_ node: JSONNode, _ path: JSONPath, most: Int = longestText) -> String? {
        guard case .string(let string) = node.value else {
            type(node, path, "this is text")
            return nil
        }
        let text = string.value
        guard !text.isEmpty, text.unicodeScalars.count <= most else {
            fault(
                .badValue, path, node.range.lowerBound,
                text.isEmpty ? "this is empty" : "this has \(text.unicodeScalars.count) characters",
                "write 1 to \(most) characters")
            return nil
        }
        return text
    }

    private mutating func choice(_ node: JSONNode, _ path: JSONPath, _ known: [String], _ what: String) -> String? {
        guard let text = words(node, path) else { return nil }
        guard known.contains(text) else {
            let hint = nearest(text, among: known).map { "did you mean \"\($0)\"?" }
            fault(
                .badValue, path, node.range.lowerBound, "\(printable(text)) is nothing that \(what) can be",
                hint ?? "write one of \(known.joined(separator: ", "))")
            return nil
        }
        return text
    }

    /// `500ms`, `10s`, `2m`, `1h`, in milliseconds.
    private mutating func time(_ node: JSONNode, _ path: JSONPath) -> Int64? {
        guard let text = words(node, path, most: 20) else { return nil }
        let digits = text.prefix { ("0"..."9").contains($0) }
        let factors: [Substring: Int64] = ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000]
        guard let number = Int64(digits), let factor = factors[text[digits.endIndex...]] else {
            fault(.badValue, path, node.range.lowerBound, "\(printable(text)) is no time", "write 500ms, 10s, 2m or 1h")
            return nil
        }
        let (time, overflow) = number.multipliedReportingOverflow(by: factor)
        guard !overflow, Self.times.contains(time) else {
            fault(.badValue, path, node.range.lowerBound, "\(printable(text)) is longer than a call can be", "write at most 2h")
            return nil
        }
        return time
    }

    private mutating func type(_ node: JSONNode, _ path: JSONPath, _ what: String, _ cure: String = "") {
        fault(.wrongType, path, node.range.lowerBound, "\(what), not \(node.kind.words)", cure)
    }

    private mutating func missing(_ node: JSONNode, _ path: JSONPath, _ what: String, _ cure: String) {
        fault(.isMissing, path, node.range.lowerBound, what, cure)
    }

    private mutating func fault(_ rule: ScenarioRule, _ path: JSONPath, _ offset: Int, _ message: String, _ cure: String = "") {
        guard faults.count < Self.mostFaults else { return }
        faults.append(
            RawFinding(severity: .error, code: rule.code, path: path.description, message: message, cure: cure, offset: offset))
    }

    private mutating func mark(_ node: JSONNode, _ path: JSONPath) {
        marks.append(RawFinding(severity: .note, code: "", path: path.description, message: "", offset: node.range.lowerBound))
    }
}
