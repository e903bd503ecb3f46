// SPDX-License-Identifier: MIT
//
// Calls that are played against this server from the page. Who plays them is in the executable: the server knows nothing of Vonage's side. Here
// is what may be asked for, and how it is read.

import HTTPWire
import JSON
import NCCO

/// A call that is to be played.
package struct CallToPlay: Sendable, Hashable {
    package enum Caller: Sendable, Hashable {
        /// A phone with this number.
        case phone(String)
        /// An app user.
        case app(String)
    }

    /// What the caller does at an input.
    package enum Entry: Sendable, Hashable {
        case press(String)
        case say(String)
    }

    package var caller: Caller
    /// A number or a user's name.
    package var to: String
    /// One of `CallPlaying.callees`.
    package var callee: String
    package var entries: [Entry] = []
    /// The flow that answers.
    package var flow = "answer"
}

/// Plays calls against this server; callable from any thread.
package protocol CallPlaying: Sendable {
    /// What may become of the leg that is called; the first unless something else is asked for.
    var callees: [String] { get }

    /// Begins a call, and returns before it is over.
    ///
    /// - Returns: its `conversation_uuid`; nil where as many are played as may be at one time.
    func play(_ call: CallToPlay) -> String?
}

/// Why a call cannot be played, in fixed words.
struct CallToPlayError: Error, Hashable {
    let detail: String

    init(_ detail: String) { self.detail = detail }
}

extension CallToPlay {
    /// Numbers reserved for fiction, for calls of which nothing else is said.
    private static let (ours, theirs) = ("14155550100", "447700900123")
    private static let longestText = 1000
    private static let mostEntries = 64
    private static let names = ["kind", "from", "to", "from_user", "callee", "press", "say", "flow"]

    /// Reads the body of a request; an empty object asks for a phone that calls our number.
    init(
        _ body: Span<UInt8>, settings: Settings, flows: FlowSet, callees: [String]
    ) throws(CallToPlayError) {
        guard let tree = try? parseJSON(body, maximumDepth: 4), case .object(let members) = tree.value else {
            throw CallToPlayError("The body is no JSON object; {} plays a usual call.")
        }
        guard members.allSatisfy({ Self.names.contains($0.name.value) }) else {
            throw CallToPlayError("There is a member that is not known; they are \(Self.names.joined(separator: ", ")).")
        }
        func node(_ name: String) -> JSONNode? { members.first { $0.name.value == name }?.node }
        func text(_ name: String) throws(CallToPlayError) -> String? {
            switch node(name)?.value {
            case nil: return nil
            case .string(let string)? where (1...Self.longestText).contains(string.value.utf8.count): return string.value
            default: throw CallToPlayError("\(name) is no text of 1 to \(Self.longestText) bytes.")
            }
        }
        func texts(_ name: String) throws(CallToPlayError) -> [String] {
            guard let node = node(name) else { return [] }
            guard case .array(let elements) = node.value, elements.count <= Self.mostEntries else {
                throw CallToPlayError("\(name) is no list of at most \(Self.mostEntries) texts.")
            }
            var texts: [String] = []
            for element in elements {
                guard case .string(let string) = element.value, (1...Self.longestText).contains(string.value.utf8.count) else {
                    throw CallToPlayError("\(name) is no list of texts of 1 to \(Self.longestText) bytes.")
                }
                texts.append(string.value)
            }
            return texts
        }
        let user = try text("from_user")
        switch try text("kind") ?? (user == nil ? "phone" : "app") {
        case "phone":
            guard user == nil else { throw CallToPlayError("A phone has no from_user; leave it out, or let kind be app.") }
            caller = .phone(try number(text("from"), "from") ?? Self.theirs)
            to = try number(text("to"), "to") ?? settings.numbers.first?.description ?? Self.ours
        case "app":
            guard try text("from") == nil else { throw CallToPlayError("An app has no number; leave out from.") }
            guard let name = UserName(user ?? settings.inboundUser.description) else {
                throw CallToPlayError("from_user is not \(UserName.allowed).")
            }
            caller = .app(name.description)
            to = try text("to") ?? Self.theirs
        default: throw CallToPlayError("kind is neither phone nor app.")
        }
        callee = try text("callee") ?? callees.first ?? ""
        guard callees.contains(callee) else { throw CallToPlayError("callee is none of \(callees.joined(separator: ", ")).") }
        for keys in try texts("press") {
            guard keys.utf8.allSatisfy({ "0123456789*#".utf8.contains($0) }) else {
                throw CallToPlayError("press is no list of keys; write 0-9, * and #.")
            }
            entries.append(.press(keys))
        }
        entries += try texts("say").map { .say($0) }
        flow = try text("flow") ?? flow
        guard flows.flows.contains(where: { $0.name == flow }) else { throw CallToPlayError("flow is none of the flows that are served.") }
    }
}

private func number(_ text: String?, _ name: String) throws(CallToPlayError) -> String? {
    guard let text else { return nil }
    guard let number = PhoneNumber(lenient: text) else {
        throw CallToPlayError("\(name) is no phone number; write 7 to 15 digits with the country code.")
    }
    return number.description
}
