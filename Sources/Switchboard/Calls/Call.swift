// SPDX-License-Identifier: MIT
//
// A call as it is shown: values only, worked out from its records (`CallDraft`). Times are milliseconds since 1970 in UTC. Nothing is masked in
// here; that is done when it is written.

/// One `conversation_uuid`, its legs, and what happened in order.
package struct Call: Equatable, Sendable {
    /// How it stands, or how it ended.
    package enum State: Hashable, Sendable {
        /// No leg is known, only requests or events of the whole call.
        case unknown
        /// It goes on; the state is that of the leg that came last.
        case open(CallState)
        case ended(CallState)

        package var text: String {
            switch self {
            case .unknown: "unknown"
            case .open(let state), .ended(let state): state.rawValue
            }
        }
    }

    package var conversationUUID: String
    /// The time of the first step.
    package var began: Int64
    /// A number or a user's name.
    package var from: String?
    package var to: String?
    package var state: State
    /// The longest of its legs' `duration`; nil where none was told.
    package var seconds: Int?
    /// The sum of its legs' prices, in EUR.
    package var price: ExactDecimal?
    /// `human` or `machine`, where that was found out.
    package var answeredBy: String?
    /// `user` or `platform`, as the `completed` event that came first in time says.
    package var disconnectedBy: String?
    /// Calls that a leg of this one went to, or came from.
    package var transferredTo: [String]
    package var transferredFrom: [String]
    package var legs: [Leg]
    package var steps: [CallStep]
    /// Steps that are not kept because there were too many.
    package var omitted: Int
    /// The first and the last number of its records: what a list is sorted by, and what a stream goes on from.
    package var firstSeq: UInt64
    package var lastSeq: UInt64

    package struct Leg: Equatable, Sendable {
        /// What became of the event that ends a leg.
        package enum Completed: String, Sendable {
            case received
            /// It should be there: the leg ended otherwise, or is silent for longer than any call lasts.
            case missing
            /// None follows `rejected`.
            case notExpected = "not_expected"
            /// The leg went to another call.
            case transferred
            /// The leg goes on.
            case open
        }

        package var uuid: String
        /// Nil where only other events name it.
        package var state: CallState?
        package var direction: String?
        package var from: String?
        package var to: String?
        package var began: Int64
        package var answered: Int64?
        package var completed: Completed
        package var seconds: Int?
        package var price: ExactDecimal?
        package var rate: String?
        package var network: String?
        package var detail: String?
        package var sipCode: String?
        package var answeredBy: String?
        package var disconnectedBy: String?
    }
}

/// One request or event of a call, with those that were the same.
package struct CallStep: Equatable, Sendable {
    /// `answer`, `fallback`, `event`, …
    package var kind: String
    /// An event's status, or its kind where it has none: `input`, `record`, `transfer`, `notify`, `error`.
    package var status: String?
    package var leg: String?
    /// The event's own time, else its arrival.
    package var time: Int64
    /// The event had no time of its own.
    package var isTimeOfArrival: Bool
    /// Arrival.
    package var at: Int64
    package var seq: UInt64
    /// How often the same came again.
    package var repeats: Int
    /// JSON as it was logged.
    package var event: [UInt8]?
    package var request: [UInt8]?
    /// The rule that chose, and its template: `answer#3 connect-phone`.
    package var flow: String?
    package var ncco: [UInt8]?
    /// From the request to its answer, in microseconds; of answers alone.
    package var micros: Int?
    /// Why a fallback was asked for, or what an error event says.
    package var reason: String?
    /// What was wrong on our side.
    package var error: String?
    /// Of an error event: the number of the step whose NCCO it complains about.
    package var about: UInt64?
    /// An earlier request of the same kind came for this leg, and was not the same, or was answered otherwise.
    package var isAgain: Bool
}
