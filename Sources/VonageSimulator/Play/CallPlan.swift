// SPDX-License-Identifier: MIT
//
// Who calls whom, and what people do while the call goes on: all that a played call is told before it begins. Times are milliseconds.

package import JSON
package import NCCO

/// One call that is to be played.
package struct CallPlan: Sendable {
    /// How the call comes to be.
    package enum Origin: Sendable {
        /// A phone calls one of our numbers.
        case phone(from: String, to: String)
        /// An app user calls the server, with what the app says beside `to`.
        case app(user: String, to: String?, customData: JSONNode?)
        /// A SIP endpoint calls, with headers by name; those of the INVITE that Vonage passes on begin with `X-`, or are `User-to-User`.
        case sip(from: String, to: String, headers: [(name: String, value: String)])
        /// The REST API calls somebody. Once answered, the NCCO runs, or is asked for.
        case api(to: Party, from: String?, ncco: [UInt8]?, answer: WebhookAddress?)
    }

    /// Somebody at the other end of a leg.
    package enum Party: Hashable, Sendable {
        case phone(String)
        case app(String)
        case sip(String)
        case websocket(String)
        case vbc(String)

        /// Number, user, URI or extension.
        package var name: String {
            switch self {
            case .phone(let name), .app(let name), .sip(let name), .websocket(let name), .vbc(let name): name
            }
        }

        /// As `endpoint_type` has it.
        package var type: String {
            switch self {
            case .phone: "phone"
            case .app: "app"
            case .sip: "sip"
            case .websocket: "websocket"
            case .vbc: "vbc"
            }
        }
    }

    /// What somebody does when an input listens, once for each.
    package enum Entry: Hashable, Sendable {
        case press(String)
        case say(String)
        case nothing
    }

    /// What a callee does.
    package struct Callee: Sendable, Hashable {
        package enum Behavior: String, Sendable, CaseIterable {
            case answers, busy, declines
            case noAnswer = "no-answer"
            case unreachable, machine
            case badNumber = "bad-number"
        }

        package var behavior = Behavior.answers
        /// From the start of the leg to the answer.
        package var answersAfter: Int64 = 3000
        /// How long the two talk, unless the plan's own holds.
        package var talkFor: Int64?
        /// Who hangs up first, unless the plan's own holds.
        package var hangsUp: Bool?
        /// What it does at inputs that it hears before it is joined, once for each.
        package var entries: [Entry] = []

        package init(_ behavior: Behavior = .answers) { self.behavior = behavior }
    }

    package var origin: Origin
    package var answer: WebhookAddress
    /// Nil where the application has none: then events are not sent.
    package var event: WebhookAddress?
    package var fallback: WebhookAddress?
    package var entries: [Entry] = []
    /// By number, user or URI; others do what `callee` says.
    package var callees: [String: Callee] = [:]
    package var callee = Callee()
    /// How long a connected call, or a stay in a conversation, lasts.
    package var talkFor: Int64 = 12_000
    /// Whether the callee hangs up first, and not the caller.
    package var calleeHangsUp = false
    /// When the caller hangs up whatever happens, from the beginning of the call; nil: never.
    package var callerGivesUpAfter: Int64?
    package var limits = WebhookLimits()
    /// How long the call lasts at most, from the answer on; the REST API's `length_timer`.
    package var longest: Int64 = 7_200_000
    /// For how long a call of the REST API rings; its `ringing_timer`.
    package var ringsFor: Int64 = 60_000
    /// Whether a machine that takes a call of the REST API is told apart, and hung up on.
    package var detection: Connect.MachineDetection?
    /// Numbers of ours, beside the one that the call itself shows: those that phones may be called from.
    package var ownNumbers: Set<String> = []
    /// Where calls of the region are controlled.
    package var regionURL = "https://api-us-3.vonage.com"
    /// Whether events on how the call comes about are sent before the answer request.
    package var sendsEventsFirst = false
    /// The caller's leg and conversation, where they have ids already.
    package var legID: String?
    package var conversationID: String?

    package init(_ origin: Origin, answer: WebhookAddress, event: WebhookAddress?, fallback: WebhookAddress? = nil) {
        self.origin = origin
        self.answer = answer
        self.event = event
        self.fallback = fallback
    }

    func callee(_ party: Party) -> Callee { callees[party.name] ?? callee }
}
