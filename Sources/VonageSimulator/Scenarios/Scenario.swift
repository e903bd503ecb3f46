// SPDX-License-Identifier: MIT
//
// A scenario as it was read: a call with what people do in it, the server that it needs, and what must hold behind it. It knows no file and no
// server; what it is in a file says `ScenarioFile`, and whether it holds `Expectations`.

package import NCCO

package struct Scenario: Sendable {
    /// The clock and the settings of the server that answers; scenarios with the same ones can share a server.
    package struct Surroundings: Hashable, Sendable {
        /// Where its clock starts, milliseconds since 1970; nil: now.
        package var at: Int64?
        /// Ours; nil: as the server has it.
        package var number: PhoneNumber?
        package var inboundUser: UserName?

        package init() {}
    }

    /// Where something stands, both counted from 1, columns in Unicode scalars.
    package struct Place: Hashable, Sendable {
        package let line: Int
        package let column: Int
    }

    package var name = ""
    /// As it was named where the scenario was read.
    package var file = ""
    package var path = JSONPath()
    package var surroundings = Surroundings()
    /// The answer flow, the end of `/voice/…`.
    package var flow = "answer"
    /// Of the answer and the fallback request.
    package var method = EventMethod.get
    /// What people do.
    package var call: CallPlan
    package var expectations: [Expectation] = []
    /// Of all that can fail, by its path.
    var places: [String: Place] = [:]

    init(_ origin: CallPlan.Origin) {
        call = CallPlan(origin, answer: WebhookAddress(url: "", method: .get), event: nil)
    }

    /// The call, with the webhooks of a server.
    ///
    /// - Parameter url: without a slash at its end.
    package func plan(server url: String) -> CallPlan {
        var plan = call
        plan.answer = WebhookAddress(url: "\(url)/voice/\(flow)", method: method)
        plan.event = WebhookAddress(url: "\(url)/voice/event", method: .post)
        plan.fallback = WebhookAddress(url: "\(url)/voice/fallback", method: method)
        return plan
    }

    /// The file with the NCCOs that are expected, relative to the scenario's own.
    package var golden: (file: String, path: JSONPath)? {
        for expectation in expectations { if case .nccos(let file) = expectation.what { return (file, expectation.path) } }
        return nil
    }

    /// Something that is wrong, at its place.
    func finding(_ rule: ScenarioRule, _ path: JSONPath, _ message: String, _ cure: String = "") -> Finding {
        let place = places[path.description] ?? Place(line: 1, column: 1)
        return Finding(
            severity: .error, code: rule.code, path: path.description, message: message, cure: cure, line: place.line, column: place.column)
    }

    /// Where it stands in its file, from 1.
    package var line: Int { places[path.description]?.line ?? 1 }

    /// `FILE:LINE`, safe on any terminal.
    package var shownPlace: String { "\(shown(file: file)):\(line)" }
}

/// What must hold.
package struct Expectation: Sendable {
    package enum What: Sendable {
        /// The caller heard these, each behind the one before.
        case heard([TextTest])
        case notHeard([TextTest])
        /// All who are rung, in order.
        case rung([String])
        /// These came, each behind the one before.
        case events([String])
        /// Actions that do not run.
        case never([String])
        /// Which rules chose, each behind the one before.
        case rules([String])
        /// Each request that may bring an NCCO had its answer in so many milliseconds.
        case answerWithin(Int64)
        /// How the caller's leg ended.
        case state(CallStatus)
        /// All that Vonage complains about, and nothing else that loses or breaks something.
        case complaints([TextTest])
        /// A file with the NCCOs that were answered.
        case nccos(String)
    }

    package let what: What
    /// Of the key; those of a list have an index behind it.
    package let path: JSONPath

    /// As the file calls it.
    package var name: String {
        switch what {
        case .heard: "heard"
        case .notHeard: "not_heard"
        case .rung: "rung"
        case .events: "events"
        case .never: "never"
        case .rules: "rules"
        case .answerWithin: "answer_within"
        case .state: "state"
        case .complaints: "complaints"
        case .nccos: "nccos"
        }
    }
}

/// What a text is held against.
package enum TextTest: Hashable, Sendable {
    case contains(String)
    case matches(ScenarioPattern)

    /// For messages.
    var words: String {
        switch self {
        case .contains(let text): printable(text)
        case .matches(let pattern): "what matches \(printable(pattern.text))"
        }
    }

    /// The first place where it holds, from an index on.
    func range(in text: String, from start: String.Index) -> Range<String.Index>? {
        switch self {
        case .contains(let part): text[start...].firstRange(of: part)
        case .matches(let pattern): pattern.range(in: text, from: start)
        }
    }

    func holds(for text: String) -> Bool { range(in: text, from: text.startIndex) != nil }
}

/// What is wrong with a scenario. A code is never given to another rule.
enum ScenarioRule: Int, CaseIterable, Sendable {
    case notJSON = 1
    case wrongType
    case isMissing
    case repeatedKey
    case unknownKey
    case badValue
    case badPattern
    case cannotHold

    case heard = 101
    case notHeard
    case rung
    case events
    case never
    case rules
    case answerWithin
    case state
    case complaints
    case nccos
    case neverEnds
    case callees
    case caller

    var code: String { "SCEN" + String(1000 + rawValue).dropFirst() }
}

/// White space is one blank, none at the ends.
func normalized(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

/// A file's name as lines show it: one that could steer a terminal is escaped.
package func shown(file: String) -> String { file.unicodeScalars.contains(where: steersTerminal) ? printable(file) : file }
