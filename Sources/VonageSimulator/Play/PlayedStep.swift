// SPDX-License-Identifier: MIT
//
// What happens in a played call, in order: what is asked and answered, what people hear and do, and what Vonage would have complained about.
// Reports are written from it, and expectations are held against it.

/// One thing that happens in a call.
package struct PlayedStep: Sendable {
    /// Milliseconds since the call began.
    package let at: Int64
    package let what: What

    package enum What: Sendable {
        /// A request, with what became of it.
        case exchange(PlayedExchange)
        /// An action begins, the caller's unless a callee is named.
        case action(name: String, number: Int, of: Int, callee: String?)
        /// A text is spoken: to the caller, or to the callee of that name before the two are joined.
        case hears(text: String, callee: String?)
        /// A sound file is played.
        case plays(url: String, callee: String?)
        case presses(String)
        case says(String)
        /// The caller does nothing where an input listens.
        case stays
        case rings(CallPlan.Party, from: String?)
        /// Two are joined: the caller with the callee of that name.
        case joins(String)
        /// The caller enters a conversation.
        case enters(String)
        /// A leg has another state; nil names the caller.
        case leg(callee: String?, uuid: String, status: String, detail: String?)
        case hangsUp(callee: String?, platform: Bool)
        case records(String)
        case complaint(Complaint)
    }
}

/// A request and what became of it.
package struct PlayedExchange: Sendable {
    package let request: PlayedRequest
    package let outcome: PlayedOutcome
    /// What was done to it on the way, in fixed words.
    package var trouble: [String] = []
}

/// What Vonage would complain about, or what it would have done to the call.
package struct Complaint: Sendable, Hashable {
    package enum Severity: Int, Sendable, Comparable {
        /// Worth knowing: tried again, or near to a limit.
        case noted
        /// Something got lost: the call, or an event.
        case lost
        /// The server broke a rule of Vonage's.
        case broken

        package static func < (one: Severity, other: Severity) -> Bool { one.rawValue < other.rawValue }

        package var text: String {
            switch self {
            case .noted: "note"
            case .lost: "lost"
            case .broken: "refused"
            }
        }
    }

    package let severity: Severity
    /// What is wrong, one line.
    package let text: String
    /// What would be right.
    package let cure: String
    /// The number of the request that it is about.
    package let request: Int?
}
