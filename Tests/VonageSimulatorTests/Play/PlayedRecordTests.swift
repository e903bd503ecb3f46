// SPDX-License-Identifier: MIT
//
// The action `record`, and recorded conversations: with which end, told where.

import Testing

@testable import VonageSimulator

struct PlayedRecordTests {
    @Test(arguments: [
        (#""timeOut":3"#, CallPlan.Entry.nothing, "3.6"), (#""endOnSilence":3"#, .nothing, "7.6"),
        (#""endOnSilence":10"#, .nothing, "14.6"),
        (##""endOnKey":"#""##, .press("#"), "4.6"), (#""timeOut":60,"endOnKey":"*""#, .press("*"), "4.6"),
        (#""timeOut":3,"endOnSilence":3"#, .nothing, "3.6"), (#""timeOut":3,"endOnKey":"*""#, .press("*"), "3.6"),
        (#""timeOut":60,"endOnKey":"*""#, .press("1"), "60.6"),
    ])
    func `a recording with an end holds up what follows, and is told of then`(options: String, entry: CallPlan.Entry, end: String) {
        let call = play(ncco: #"[{"action":"record",\#(options)},{"action":"wait","timeout":2}]"#, entries: [entry])
        #expect(call.told.contains("in record +\(end)") && call.story.contains("wait 2/2 +\(end)"))
        #expect(call.bodies("record").count == 1)
    }

    @Test func `a key that nobody presses lets it go on until the caller hangs up`() {
        let call = play(ncco: #"[{"action":"record","endOnKey":"1"}]"#, entries: [.press("2")])
        #expect(call.told.suffix(2) == ["in record +12.6", "in completed user +12.6"])
    }

    @Test func `a key that ends no recording is left for the next input`() {
        let call = play(
            ncco: #"[{"action":"record","timeOut":3,"endOnKey":"1"},{"action":"input","type":["dtmf"]}]"#, entries: [.press("1234")])
        #expect(call.bodies("input")[0].contains(#""digits":"1234""#))
    }

    @Test(arguments: [
        (#"{"action":"record"}"#, "mp3", 8044), (#"{"action":"record","format":"ogg"}"#, "ogg", 8044),
        (#"{"action":"record","format":"wav"}"#, "wav", 64044), (#"{"action":"record","split":"conversation","channels":2}"#, "mp3", 8044),
        (#"{"action":"record","split":"conversation","channels":3}"#, "wav", 64044),
    ])
    func `the format and the size`(action: String, format: String, size: Int) {
        let call = play(ncco: "[\(action),{\"action\":\"wait\",\"timeout\":2}]")
        #expect(call.story.contains("records \(format) +0.6") && call.bodies("record")[0].contains("\"size\":\(size),"))
    }

    @Test(arguments: [
        ("", "https://a.example/event", "https://a.example/event"),
        (#""eventUrl":["https://c.example/r"],"#, "https://c.example/r", "https://c.example/r"),
        (
            #""eventUrl":["https://c.example/r"],"transcription":{"eventUrl":["https://c.example/t"],"eventMethod":"GET"},"#,
            "https://c.example/r",
            "https://c.example/t"
        ),
    ])
    func `where it is told`(options: String, recording: String, transcript: String) {
        let transcription = options.contains("transcription") ? "" : #""transcription":{},"#
        let call = play(ncco: #"[{"action":"record",\#(options)\#(transcription)"timeOut":3}]"#)
        func address(_ event: String) -> String? { call.sent.first { $0.request.event == event }?.request.address.url }
        #expect(address("record") == recording && address("transcribed") == transcript)
    }

    @Test func `what was begun before a room is told of with the conversation it began in`() {
        let call = play(ncco: #"[{"action":"record"},{"action":"conversation","name":"room"}]"#)
        #expect(call.bodies("record")[0].contains(#""conversation_uuid":"CON-00000000-0000-4000-8000-000000000001""#))
    }

    @Test func `a room that is recorded`() {
        let call = play(
            ncco:
                #"[{"action":"conversation","name":"room","record":true,"transcription":{},"eventUrl":["https://c.example/r"]}]"#)
        #expect(
            call.told.suffix(4) == ["in transfer +0.6", "in record +12.6", "in transcribed +12.6", "in completed user +12.6"])
        #expect(call.sent.first { $0.request.event == "record" }?.request.address.url == "https://c.example/r")
        #expect(call.sent.first { $0.request.event == "transfer" }?.request.address.url == "https://a.example/event")
    }

    @Test func `who waits for a moderator hears music, and is not recorded`() {
        let call = play(
            ncco:
                #"[{"action":"conversation","name":"room","startOnEnter":false,"musicOnHoldUrl":["https://a.example/h.mp3"],"record":true}]"#
        )
        #expect(call.story.contains("plays https://a.example/h.mp3 +0.6") && call.bodies("record").isEmpty)
        let moderator = play(ncco: #"[{"action":"conversation","name":"room","musicOnHoldUrl":["https://a.example/h.mp3"]}]"#)
        #expect(!moderator.story.contains { $0.hasPrefix("plays") })
    }

    @Test func `a room has the id that it has already`() {
        let room = Array(#"[{"action":"conversation","name":"room"}]"#.utf8)
        let origin = CallPlan.Origin.api(to: .app("Alice"), from: nil, ncco: room, answer: nil)
        var call = PlayedCall(plan(origin), began: noon, ids: { "id" }, rooms: { "CON-\($0)" })
        call.start()
        call.advance(to: noon + 3000)
        #expect(call.legs.first?.conversation == "CON-room")
    }

    @Test func `a room keeps its id for as long as the call goes on`() throws {
        let room = Array(#"[{"action":"conversation","name":"room"}]"#.utf8)
        var hand = HandPlayed(plan(.api(to: .app("Alice"), from: nil, ncco: room, answer: nil)))
        hand.pass(to: 4000)
        let uuid = try #require(hand.call.legs.first?.uuid)
        var reader = NCCOReader()
        let again = reader.read(room)
        hand.change { $0.transfer(uuid: uuid, ncco: again, url: nil, at: noon + 5000) }
        for name in hand.openNames { hand.answer(name, .nothing) }
        let ids = hand.call.sent.compactMap { $0.request.fields.text("conversation_uuid_to") }
        #expect(ids.count == 3 && ids[0] == ids[2] && ids[0] != ids[1])
    }

    @Test func `a transfer takes all legs along, and what follows never runs`() {
        let call = play(ncco: #"[{"action":"transfer","conversationId":"CON-1"},{"action":"talk","text":"No."}]"#)
        #expect(call.told.suffix(2) == ["in transfer +0.6", "in completed user +12.6"])
        #expect(call.story.contains("enters CON-1 +0.6") && !call.story.contains { $0.contains("No.") })
    }

    @Test func `recordings beyond the most are not made`() {
        let call = play(ncco: "[\(Array(repeating: #"{"action":"record"}"#, count: 30).joined(separator: ","))]")
        #expect(call.bodies("record").count == 20)
        #expect(call.complained == ["note: a recording is not made: 20 go on already"])
    }
}
