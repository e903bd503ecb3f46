// SPDX-License-Identifier: MIT
//
// What the REST API plays to a leg, and its wish to be told each key. Hanging up, transfer and keys pressed by it are in `PlayedCall.swift`.

import NCCO

extension PlayedCall {
    /// Where a leg is now; nil where there is no such leg.
    func conversation(of uuid: String) -> String? { legs.first { $0.uuid == uuid }?.conversation }

    /// A voice speaks to one leg, beside whatever else goes on.
    package mutating func talk(_ text: String, uuid: String, at time: Int64) {
        guard let leg = answeredLeg(uuid, at: time) else { return }
        note(.hears(text: spokenWords(text).words, callee: calleeName(leg)))
    }

    /// A sound file is played to one leg.
    package mutating func stream(_ url: String, uuid: String, at time: Int64) {
        guard let leg = answeredLeg(uuid, at: time) else { return }
        note(.plays(url: url, callee: calleeName(leg)))
    }

    /// From now on each key that is pressed on a leg is told at an address.
    ///
    /// - Parameter url: nil ends it.
    package mutating func listen(at url: String?, uuid: String, at time: Int64) {
        guard let leg = answeredLeg(uuid, at: time) else { return }
        guard let url else {
            for flow in flows.indices where flows[flow].leg == leg { flows[flow].keys = nil }
            return
        }
        // A leg that runs nothing yet, or waits for its next NCCO, presses nothing either.
        guard let flow = flows.lastIndex(where: { $0.leg == leg && $0.isRunning }) else { return }
        tellEachKey(of: takeEntry(flow), flow, to: WebhookAddress(url: url, method: .post))
    }

    private mutating func answeredLeg(_ uuid: String, at time: Int64) -> Int? {
        advance(to: time)
        return legs.firstIndex { $0.uuid == uuid && $0.status.isAnswered }
    }
}
