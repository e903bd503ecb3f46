// SPDX-License-Identifier: MIT
//
// What the REST API does to a leg: it hangs up, gives it another NCCO, plays something to it, presses keys, and wishes to be told each key.

import NCCO

extension PlayedCall {
    /// Where a leg is now; nil where there is no such leg.
    func conversation(of uuid: String) -> String? { legs.first { $0.uuid == uuid }?.conversation }

    /// Ends a leg, as `PUT /v1/calls/{uuid}` with `hangup` does.
    package mutating func hangUp(uuid: String, at time: Int64) {
        guard let leg = leg(uuid, at: time) else { return }
        hangUp(leg, byPlatform: true)
    }

    /// Gives a leg another NCCO, in a conversation of its own: that of `ncco`, or the one that lies at an address.
    package mutating func transfer(uuid: String, ncco: NCCOReading?, url: String?, at time: Int64) {
        guard let leg = answeredLeg(uuid, at: time) else { return }
        stopFlows(of: leg)
        legs[leg].flow = nil
        legs[leg].turn += 1
        move(leg, to: "CON-\(newID())")
        // Whoever the leg talked to stays behind alone, and Vonage ends a conversation with one leg that nothing runs for.
        for other in legs.indices where other != leg { hangUp(other, byPlatform: true) }
        if let ncco {
            begin(ncco, on: leg)
        } else if let url {
            request(
                .transfer, WebhookAddress(url: url, method: .get), answerFields(leg), leg: leg, then: .ncco(leg: leg, turn: legs[leg].turn),
                mayCarryNCCO: true)
        }
    }

    /// Keys that the REST API presses on a leg: whoever is at its other end hears them.
    package mutating func press(_ digits: String, uuid: String, at time: Int64) {
        guard answeredLeg(uuid, at: time) != nil else { return }
        note(.presses(digits))
    }

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
        leg(uuid, at: time).flatMap { legs[$0].status.isAnswered ? $0 : nil }
    }

    /// What is due by then has happened before: an order waits for no answer.
    private mutating func leg(_ uuid: String, at time: Int64) -> Int? {
        happen(until: time, stopsAtRequests: false)
        return legs.firstIndex { $0.uuid == uuid }
    }
}
