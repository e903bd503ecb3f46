// SPDX-License-Identifier: MIT
//
// The call of a scenario as a file has it, the server that it needs, and what people do in it.

import HTTPWire
import JSON
import NCCO

extension ScenarioFile {
    mutating func readCall(_ node: JSONNode, _ path: JSONPath) -> Scenario? {
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

    mutating func readSettings(_ node: JSONNode, _ path: JSONPath, _ scenario: inout Scenario) {
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

    mutating func readEntries(_ node: JSONNode, _ path: JSONPath) -> [CallPlan.Entry] {
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

    mutating func readCallees(_ node: JSONNode, _ path: JSONPath) -> [String: CallPlan.Callee] {
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
}
