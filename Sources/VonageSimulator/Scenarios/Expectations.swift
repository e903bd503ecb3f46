// SPDX-License-Identifier: MIT
//
// Holds what happened in a call against what a scenario expects. It is pure: steps in, failures out. What the golden NCCOs are is handed in.

package import NCCO

/// An expectation that does not hold.
package struct ScenarioFailure: Sendable {
    /// At the expectation's place in the file.
    package let finding: Finding
    /// More lines for people, safe on any terminal.
    package let details: [String]

    init(finding: Finding, details: [String] = []) { (self.finding, self.details) = (finding, details) }

    /// The golden NCCOs are others, or cannot be had.
    package init(golden scenario: Scenario, _ message: String, _ cure: String = "", details: [String] = []) {
        let path = scenario.golden?.path ?? scenario.path
        self.init(finding: scenario.finding(.nccos, path, message, cure), details: details)
    }

    /// Nothing happens in the call any more, and it is not over.
    package init(endless scenario: Scenario, seconds: Int64) {
        self.init(finding: scenario.finding(.neverEnds, scenario.path, "the call did not end: for \(seconds) s nothing has happened in it"))
    }
}

package struct Expectations {
    private let scenario: Scenario
    private let steps: [PlayedStep]
    private(set) var failures: [ScenarioFailure] = []

    /// All that does not hold, and what people were to do and never came to; the golden NCCOs are for `GoldenNCCOs`.
    package static func failures(of scenario: Scenario, _ steps: [PlayedStep]) -> [ScenarioFailure] {
        var check = Expectations(scenario, steps)
        for expectation in scenario.expectations { check.check(expectation) }
        if !scenario.expectations.contains(where: { $0.name == "complaints" }) {
            check.checkComplaints([], scenario.path.appending("expect"))
        }
        check.checkCallees()
        check.checkCaller()
        return check.failures
    }

    private init(_ scenario: Scenario, _ steps: [PlayedStep]) { (self.scenario, self.steps) = (scenario, steps) }

    private mutating func fail(_ rule: ScenarioRule, _ path: JSONPath, _ message: String, _ cure: String = "") {
        failures.append(ScenarioFailure(finding: scenario.finding(rule, path, message, cure)))
    }

    private mutating func check(_ expectation: Expectation) {
        let path = expectation.path
        switch expectation.what {
        case .heard(let tests): checkHeard(tests, path)
        case .notHeard(let tests):
            for (index, test) in tests.enumerated() {
                guard let text = heard.first(where: { test.holds(for: $0) }) else { continue }
                fail(.notHeard, path.appending(index), "\(test.words) was heard, in \(printable(text))")
            }
        case .rung(let names):
            let rung = self.rung
            guard rung != names else { return }
            let place = rung.count >= names.count ? names.indices.first { rung[$0] != names[$0] } : nil
            fail(.rung, place.map { path.appending($0) } ?? path, "rung was \(listed(rung, "nobody")), not \(listed(names, "nobody"))")
        case .events(let names):
            checkOrder(names, in: events, path, .events, "event came") { $0 == $1 }
        case .never(let names):
            for (index, name) in names.enumerated() where actions.contains(name) {
                fail(.never, path.appending(index), "the action \(name) ran")
            }
        case .rules(let names):
            checkOrder(names, in: rules, path, .rules, "answer was chosen by it") { $1 == $0 || $1.hasPrefix($0 + " ") }
        case .answerWithin(let limit): checkSpeed(limit, path)
        case .state(let state):
            guard self.state != state else { return }
            fail(.state, path, "the call ended \(self.state?.rawValue ?? "in no state"), not \(state.rawValue)")
        case .complaints(let tests): checkComplaints(tests, path)
        case .nccos: break
        }
    }

    // MARK: What happened

    /// What the caller heard, of a sound file its URL.
    private var heard: [String] {
        steps.compactMap { step in
            switch step.what {
            case .hears(let text, nil): normalized(text)
            case .plays(let url, nil): url
            default: nil
            }
        }
    }

    private var rung: [String] { steps.compactMap { step in if case .rings(let party, _) = step.what { party.name } else { nil } } }

    private var actions: Set<String> {
        Set(steps.compactMap { step in if case .action(let name, _, _, _) = step.what { name } else { nil } })
    }

    /// In the order in which they were sent.
    private var exchanges: [PlayedExchange] { PlayedExchange.all(of: steps) }

    /// A second try is the same event.
    private var events: [String] { exchanges.filter { $0.request.attempt == 1 }.compactMap(\.request.event) }

    private var rules: [String] {
        exchanges.compactMap { exchange in if case .reply(let reply) = exchange.outcome { reply.rule } else { nil } }
    }

    private var complaints: [Complaint] {
        steps.compactMap { step in if case .complaint(let complaint) = step.what { complaint } else { nil } }
    }

    /// How the caller's leg ended; `completed` follows some other ends and is none then.
    private var state: CallStatus? {
        steps.lazy.compactMap { step in
            if case .leg(nil, _, let status, _) = step.what { CallStatus(rawValue: status) } else { nil }
        }.first(where: \.isOver)
    }

    // MARK: Checks

    private mutating func checkHeard(_ tests: [TextTest], _ path: JSONPath) {
        let heard = self.heard
        var item = 0
        var start: String.Index?
        for (index, test) in tests.enumerated() {
            var found = false
            for at in heard.indices.dropFirst(item) {
                let text = heard[at]
                guard let range = test.range(in: text, from: at == item ? start ?? text.startIndex : text.startIndex) else { continue }
                (item, start, found) = (at, range.upperBound, true)
                break
            }
            if found { continue }
            let isElsewhere = heard.contains { test.holds(for: $0) }
            let behind = index > 0 ? " behind \(tests[index - 1].words)" : ""
            return fail(
                .heard, path.appending(index),
                isElsewhere ? "\(test.words) was heard, but not\(behind)" : "\(test.words) was not heard\(behind)",
                heard.isEmpty ? "nothing was heard at all" : "")
        }
    }

    private mutating func checkOrder(
        _ names: [String], in all: [String], _ path: JSONPath, _ rule: ScenarioRule, _ what: String, _ isSame: (String, String) -> Bool
    ) {
        var rest = all[...]
        for (index, name) in names.enumerated() {
            if let place = rest.firstIndex(where: { isSame(name, $0) }) {
                rest = rest[(place + 1)...]
                continue
            }
            let behind = index > 0 ? " behind \(printable(names[index - 1]))" : ""
            return fail(rule, path.appending(index), "\(printable(name)): no such \(what)\(behind); there was \(listed(all, "none"))")
        }
    }

    private mutating func checkSpeed(_ limit: Int64, _ path: JSONPath) {
        let asking = exchanges.filter(\.request.mayCarryNCCO)
        if asking.isEmpty { fail(.answerWithin, path, "nobody was asked for an answer") }
        for exchange in asking {
            let name = exchange.request.shownName
            switch exchange.outcome {
            case .reply(let reply):
                guard reply.micros > limit * 1000 else { continue }
                return fail(.answerWithin, path, "the \(name) was answered after \(reply.micros / 1000) ms, not within \(limit)")
            case .failure(let failure, _): return fail(.answerWithin, path, "the \(name) was not answered: \(failure.text)")
            case .lost: continue
            }
        }
    }

    /// Whoever is told what to do is rung; else the name is probably misspelt.
    private mutating func checkCallees() {
        var rung = self.rung
        // Whom the REST API calls is rung by the call itself.
        if case .api(let party, _, _, _) = scenario.call.origin { rung.append(party.name) }
        for name in scenario.call.callees.keys.sorted() where !rung.contains(name) {
            let hint = nearest(name, among: rung).map { "did you mean \(printable($0))?" }
            fail(
                .callees, scenario.path.appending("callees").appending(name), "nobody rang \(printable(name))",
                hint ?? "rung was \(listed(rung, "nobody"))")
        }
    }

    /// Each input takes one thing that the caller does, and so does a recording that one of its keys ends.
    private mutating func checkCaller() {
        let entries = scenario.call.entries
        var next = 0
        var isRecording = false
        for step in steps {
            switch step.what {
            case .action(let name, _, _, nil):
                if name == "input" { next += 1 }
                isRecording = name == "record"
            case .presses(let key):
                guard isRecording, next < entries.count, case .press(let keys) = entries[next], keys.contains(key) else { continue }
                next += 1
                isRecording = false
            default: break
            }
        }
        for (index, entry) in entries.enumerated().dropFirst(next) {
            let what =
                switch entry {
                case .press(let keys): "press \(printable(keys))"
                case .say(let words): "say \(printable(words))"
                case .nothing: "do nothing"
                }
            fail(
                .caller, scenario.path.appending("caller").appending(index), "the caller was to \(what), and no input listened",
                next == 0 ? "there was no input" : next == 1 ? "there was one input" : "there were \(next) inputs")
        }
    }

    private mutating func checkComplaints(_ tests: [TextTest], _ path: JSONPath) {
        let complaints = self.complaints
        for (index, test) in tests.enumerated() where !complaints.contains(where: { test.holds(for: normalized($0.text)) }) {
            fail(.complaints, path.appending(index), "Vonage did not complain of \(test.words)")
        }
        for complaint in complaints
        where complaint.severity > .noted && !tests.contains(where: { $0.holds(for: normalized(complaint.text)) }) {
            fail(.complaints, path, "Vonage complains: \(complaint.text)", complaint.cure)
        }
    }
}

extension [PlayedStep] {
    /// Whether there were requests, and none found somebody who listens.
    package var foundNobody: Bool {
        let exchanges = PlayedExchange.all(of: self)
        return !exchanges.isEmpty
            && exchanges.allSatisfy { exchange in
                guard case .failure(let failure, _) = exchange.outcome else { return false }
                return failure == .refused || failure == .unresolved
            }
    }
}

extension PlayedExchange {
    /// In the order in which they were sent.
    static func all(of steps: [PlayedStep]) -> [PlayedExchange] {
        steps.compactMap { step in if case .exchange(let exchange) = step.what { exchange } else { nil } }
            .sorted { $0.request.number < $1.request.number }
    }
}

/// `"a", "b" and "c"`, ten at most.
private func listed(_ names: [String], _ none: String) -> String {
    guard !names.isEmpty else { return none }
    let shown = names.prefix(10).map(printable).joined(separator: ", ")
    return names.count > 10 ? "\(shown) and \(names.count - 10) more" : shown
}
