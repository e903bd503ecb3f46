// SPDX-License-Identifier: MIT

import NCCO
import Testing

/// `Vectors/encoded.json` holds the bytes, this file the values; both must have the same names.
struct EncodingTests {
    struct Vector: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let json: String
        var testDescription: String { name }
    }

    static let values: [String: NCCO] = [
        "record": NCCO { Record() },
        "record with all options": NCCO {
            Record(
                format: .wav, split: .conversation(channels: 2), endOnSilence: 5, endOnKey: "#", timeOut: 120, beepStart: true,
                eventURL: "https://example.com/recordings", eventMethod: .get,
                transcription: Transcription(
                    language: "en-GB", eventURL: "https://example.com/transcripts", eventMethod: .post, sentimentAnalysis: true))
        },
        "record with settings left to Vonage": NCCO { Record(split: .conversation, transcription: Transcription()) },
        "conversation": NCCO { Conversation("stand-up") },
        "conversation with all options": NCCO {
            Conversation(
                "room", musicOnHoldURL: "https://example.com/hold.mp3", startOnEnter: false, endOnExit: true,
                record: .transcribed(Transcription(language: "de-DE")), speaking: .to(["leg-1", "leg-2"]), canHear: [],
                eventURL: "https://example.com/recordings", eventMethod: .post)
        },
        "conversation, muted and recorded": NCCO { Conversation("room", record: .on, speaking: .muted) },
        "conversation, unmuted and not recorded": NCCO { Conversation("room", record: .off, speaking: .unmuted) },
        "connect with all options": NCCO {
            Connect(
                to: .app("Alice \"A\" Žižek"), from: "14155550100", timeout: 45, limit: 7200, eventType: .synchronous,
                machineDetection: .advanced(AdvancedMachineDetection(behavior: .continue, mode: .detectBeep, beepTimeout: 30)),
                eventURL: "https://example.com/event", eventMethod: .get, ringbackTone: "https://example.com/tone.mp3")
        },
        "connect, from any number": NCCO { Connect(to: .app("Alice"), from: .random, machineDetection: .hangup) },
        "connect, machines welcome": NCCO {
            Connect(to: .app("Alice"), machineDetection: .continue)
            Connect(to: .app("Alice"), machineDetection: .advanced(AdvancedMachineDetection(mode: .default)))
        },
        "phone with all options": NCCO {
            Connect(
                to: .phone(
                    "447700900123", dtmfAnswer: "1p*2#",
                    onAnswer: .init(url: "https://example.com/a", ringbackTone: "https://example.com/b"),
                    shaken: "eyJhbGciOiJFUzI1NiJ9"))
        },
        "websocket": NCCO { Connect(to: .websocket("wss://bot.example.com/audio", contentType: .rate8000, authorization: .vonage)) },
        "websocket with all options": NCCO {
            Connect(
                to: .websocket(
                    "ws://bot.example.com:8080/audio", contentType: .rate24000, headers: ["caller": "a", "tries": 2, "list": [nil, true]],
                    authorization: .custom("Bearer token")))
        },
        "sip by URI with all options": NCCO {
            Connect(
                to: .sip(
                    "sip:reception@pbx.example.com;transport=tls", headers: ["ticket": "T-1", "at": "b"], userToUser: "0a1b;encoding=hex"))
        },
        "sip by trunk": NCCO { Connect(to: .sip(user: "desk1", domain: "my-trunk")) },
        "vbc": NCCO { Connect(to: .vbc("204")) },
        "talk with all options": NCCO {
            Talk(
                "<speak>Hi</speak>", language: "en-GB", style: 2, premium: true, level: 0.4, loop: .forever, bargeIn: false,
                provider: Provider("google", options: ["voice": "a"]))
        },
        "stream with all options": NCCO { Stream("https://example.com/menu.wav", level: -0.2, bargeIn: true, loop: 3) },
        "input, keys": NCCO {
            Input(.dtmf())
            Input(.dtmf(.init(timeOut: 0, maxDigits: 20, submitOnHash: true)), eventURL: "https://example.com/event", eventMethod: .get)
        },
        "input, speech with all options": NCCO {
            Input(
                .speech(
                    .init(
                        uuid: "leg-1", language: "en-gb", context: ["sales", "support"], endOnSilence: 1.2, startTimeout: 8,
                        maxDuration: 30,
                        saveAudio: true, sensitivity: 80, provider: "deepgram")))
        },
        "input, both": NCCO { Input(.dtmfAndSpeech(.init(maxDigits: 1))) },
        "input, each key": NCCO { Input(.eachKey, eventURL: "https://example.com/event") },
        "notify": NCCO {
            Notify(
                ["step": "survey", "tries": 1, "tags": ["a", "b"], "rate": 0.5], eventURL: "https://example.com/event", eventMethod: .post)
        },
        "wait": NCCO {
            Wait()
            Wait(2.5)
            Wait(7200)
        },
        "transfer": NCCO { Transfer(to: "CON-1") },
        "transfer with all options": NCCO { Transfer(to: "CON-1", canHear: ["leg-1"], speaking: .to([])) },
        "transfer, muted": NCCO { Transfer(to: "CON-1", speaking: .muted) },
    ]

    @Test(arguments: try vectors("encoded") as [Vector])
    func `each option is written in the order of the reference`(_ vector: Vector) throws {
        let ncco = try #require(Self.values[vector.name])
        #expect(ncco.json == vector.json)
        #expect(try NCCO(json: vector.json) == ncco)
    }

    @Test func `each value has a vector`() throws {
        let names = (try vectors("encoded") as [Vector]).map(\.name)
        #expect(names.sorted() == Self.values.keys.sorted())
    }
}
