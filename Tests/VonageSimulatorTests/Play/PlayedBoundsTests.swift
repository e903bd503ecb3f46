// SPDX-License-Identifier: MIT
//
// What is kept of a call has an end, however much an NCCO asks for; how the call ends is there all the same.

import NCCO
import Testing

@testable import VonageSimulator

struct PlayedBoundsTests {
    private func complaints(_ call: PlayedCall) -> [String] {
        call.steps.compactMap { step in if case .complaint(let complaint) = step.what { complaint.text } else { nil } }
    }

    @Test func `of a long call the beginning and the end are kept, and every exchange`() {
        let call = play(ncco: "[\(Array(repeating: #"{"action":"talk","text":"a"}"#, count: 2500).joined(separator: ","))]")
        #expect(call.isOver && call.told.last == "in completed platform +1250.6")
        #expect(call.story.last == "hangs up (platform) +1250.6" && call.story.contains("talk 2500/2500 +1250.1"))
        #expect(call.steps.count <= PlayedCall.mostSteps + 2 * PlayedCall.lastSteps && call.sent.count == 5)
        #expect(complaints(call) == ["506 steps in the middle of the call are not kept"] && call.complaintCount == 1)
    }

    @Test func `a complaint in the middle of a long call is kept`() {
        let talks = Array(repeating: #"{"action":"talk","text":"a"}"#, count: 2500).joined(separator: ",")
        let notify = #"{"action":"notify","payload":{},"eventUrl":["https://a.example/n"]}"#
        let call = play(phoneCall, ["answer": [.ncco("[\(talks),\(notify),\(talks)]")], "notify": [.status(500), .status(500)]])
        #expect(complaints(call).first == "the notify event is sent once more: HTTP 500." && complaints(call).count == 3)
    }

    @Test func `actions beyond the most end the call as a circle does`() {
        var hand = HandPlayed(phoneCall)
        hand.change { $0.begin(Array(repeating: .record(Record()), count: PlayedCall.mostActions + 1), on: 0) }
        hand.pass(to: 600)
        #expect(hand.call.isSilent && hand.call.now == noon + 600)
        #expect(
            hand.call.complained.prefix(2) == [
                "note: a recording is not made: 20 go on already",
                "lost: the call goes in circles: 100000 actions, and none of them ends it",
            ])
        #expect(hand.call.steps.count <= PlayedCall.mostSteps + 2 * PlayedCall.lastSteps)
    }

    @Test func `of complaints beyond the most, the count and the gravest are known`() {
        var call = PlayedCall(phoneCall, began: noon, ids: { "id" })
        for number in 0..<2000 { call.complain(.noted, "\(number)") }
        call.complain(.lost, "lost")
        call.complain(.broken, "broken")
        call.complain(.broken, "again")
        #expect(call.complaints.count == PlayedCall.mostComplaints + 2 && call.complaintCount == 2003)
        #expect(call.complaints.suffix(2).map(\.text) == ["lost", "broken"] && CallVerdict(call).severity == .broken)
        #expect(CallVerdict(call).complaints == 2003 && complaints(call).count == call.complaints.count)
    }
}
