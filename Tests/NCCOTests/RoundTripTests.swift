// SPDX-License-Identifier: MIT
//
// Values are generated from a seed: the same on every machine, and one seed is one test that can be repeated alone.

import NCCO
import Testing

struct RoundTripTests {
    @Test(arguments: 0..<300) func `what is written is read as it was`(seed: Int) throws {
        var generator = Generator(seed: UInt64(seed))
        let ncco = try generator.ncco()
        let json = ncco.json
        #expect(try NCCO(json: json) == ncco, "\(json)")
        #expect(try NCCO(json: json).json == json)
    }

    /// Seeds whose every object is Vonage's own and can hold an option that nobody knows.
    private static let plainSeeds = (0..<300).filter { seed in
        var generator = Generator(seed: UInt64(seed))
        guard let json = try? generator.ncco().json else { return false }
        return !["payload", "eaders", "authorization", "providerOptions"].contains { json.contains("\($0)\":") }
    }

    @Test func `there are seeds enough without foreign objects`() { #expect(Self.plainSeeds.count > 100) }

    @Test(arguments: Self.plainSeeds) func `other options survive in every object`(seed: Int) throws {
        var generator = Generator(seed: UInt64(seed))
        let before = try generator.ncco().json
        let json = before.replacing("}", with: #","x-new":{"a":[1,null]}}"#).replacing("{,", with: "{")
        let read = try NCCO(json: json)
        #expect(read.json == json)
        #expect(read.otherOptionPaths.count == before.utf8.count { $0 == UInt8(ascii: "{") }, "\(json) \(read.otherOptionPaths)")
        #expect(read.otherOptionPaths.allSatisfy { $0.hasSuffix("['x-new']") })
    }

    @Test(arguments: 0..<200) func `a damaged text is refused, or read as an NCCO that is written and read again`(seed: Int) throws {
        var generator = Generator(seed: UInt64(seed))
        let whole = Array(try generator.ncco().json.utf8)
        for _ in 0..<20 {
            var bytes = whole
            let place = Int.random(in: bytes.indices, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: bytes[place] = Array(#"0"[]{},:-ent\ "#.utf8).randomElement(using: &generator) ?? 0
            case 1: bytes.remove(at: place)
            default: bytes.insert(contentsOf: bytes[..<place].suffix(12), at: place)
            }
            guard let ncco = try? NCCO(json: bytes.span) else { continue }
            #expect(try NCCO(json: ncco.json) == ncco)
        }
    }
}

/// Every option is there or not with even odds, so that in 300 seeds all come in many combinations.
private struct Generator: RandomNumberGenerator {
    private var numbers: SplitMix64

    init(seed: UInt64) { numbers = SplitMix64(state: seed) }

    mutating func next() -> UInt64 { numbers.next() }

    private mutating func maybe<Value>(_ make: (inout Self) throws -> Value) rethrows -> Value? {
        Bool.random(using: &self) ? try make(&self) : nil
    }
    private mutating func bool() -> Bool { Bool.random(using: &self) }
    private mutating func whole<let minimum: Int, let maximum: Int>() throws -> Whole<minimum, maximum> {
        try Whole(checking: Int.random(in: Whole<minimum, maximum>.range, using: &self))
    }
    private mutating func number<let minimum: Int, let maximum: Int>() throws -> Number<minimum, maximum> {
        try Number(checking: Double.random(in: Number<minimum, maximum>.range, using: &self))
    }
    private mutating func choice<Choice: CaseIterable>() -> Choice {
        let all = Array(Choice.allCases)
        return all[Int.random(in: all.indices, using: &self)]
    }
    private mutating func pick<Value>(_ values: Value...) -> Value { values[Int.random(in: values.indices, using: &self)] }
    private mutating func list<Value>(_ make: (inout Self) throws -> Value) rethrows -> [Value] {
        var values: [Value] = []
        for _ in 0..<Int.random(in: 0...3, using: &self) { values.append(try make(&self)) }
        return values
    }
    private mutating func text() -> String { pick("a", "é\"\\", "😀 x", "</s>", "CON-1", "Tea \u{2028}") }
    private mutating func checked<Value: TextValue>() throws -> Value { try Value(checking: text()) }
    private mutating func url() -> WebURL { pick("https://example.com/a", "http://[::1]:80/b?c#d", "HTTPS://u@host") }
    private mutating func object() -> JSONObject { pick([:], ["a": 1], ["b": ["c": [nil, true, "d", 0.5]], "é": -1]) }
    private mutating func provider() throws -> Provider { Provider(try checked(), options: maybe { $0.object() }) }

    mutating func ncco() throws -> NCCO { NCCO(try list { try $0.action() } + [try action()]) }

    private mutating func action() throws -> Action {
        switch Int.random(in: 0..<9, using: &self) {
        case 0: .record(try record())
        case 1: .conversation(try conversation())
        case 2: .connect(try connect())
        case 3:
            .talk(
                Talk(
                    try checked(), language: maybe { $0.pick("en-GB", "ar") }, style: try maybe { try $0.whole() },
                    premium: maybe { $0.bool() }, level: try maybe { try $0.number() }, loop: try maybe { try $0.whole() },
                    bargeIn: maybe { $0.bool() },
                    provider: try maybe { try $0.provider() }))
        case 4:
            .stream(
                Stream(url(), level: try maybe { try $0.number() }, bargeIn: maybe { $0.bool() }, loop: try maybe { try $0.whole() }))
        case 5: .input(Input(try listening(), eventURL: maybe { $0.url() }, eventMethod: maybe { $0.choice() }))
        case 6: .notify(Notify(object(), eventURL: url(), eventMethod: maybe { $0.choice() }))
        case 7: .wait(Wait(try maybe { try $0.number() }))
        default:
            .transfer(
                Transfer(
                    to: try checked(), canHear: try maybe { try $0.list { try $0.checked() } }, speaking: try maybe { try $0.speaking() }))
        }
    }

    private mutating func record() throws -> Record {
        Record(
            format: maybe { $0.choice() },
            split: try maybe { try $0.bool() ? .conversation : .conversation(channels: $0.whole()) },
            endOnSilence: try maybe { try $0.whole() }, endOnKey: maybe { $0.pick("0", "*", "#") }, timeOut: try maybe { try $0.whole() },
            beepStart: maybe { $0.bool() }, eventURL: maybe { $0.url() }, eventMethod: maybe { $0.choice() },
            transcription: maybe { $0.transcription() })
    }

    private mutating func transcription() -> Transcription {
        Transcription(
            language: maybe { $0.pick("en-GB", "zh") }, eventURL: maybe { $0.url() }, eventMethod: maybe { $0.choice() },
            sentimentAnalysis: maybe { $0.bool() })
    }

    private mutating func conversation() throws -> Conversation {
        Conversation(
            try checked(), musicOnHoldURL: maybe { $0.url() }, startOnEnter: maybe { $0.bool() }, endOnExit: maybe { $0.bool() },
            record: maybe { $0.pick(.on, .off, .transcribed($0.transcription())) }, speaking: try maybe { try $0.speaking() },
            canHear: try maybe { try $0.list { try $0.checked() } }, eventURL: maybe { $0.url() }, eventMethod: maybe { $0.choice() })
    }

    private mutating func speaking() throws -> Speaking { pick(.muted, .unmuted, .to(try list { try $0.checked() })) }

    private mutating func connect() throws -> Connect {
        Connect(
            to: try endpoint(), from: maybe { $0.pick("14155550100", .random) }, timeout: try maybe { try $0.whole() },
            limit: try maybe { try $0.whole() }, eventType: maybe { $0.choice() },
            machineDetection: try maybe {
                $0.pick(
                    .continue, .hangup,
                    .advanced(
                        AdvancedMachineDetection(
                            behavior: $0.maybe { $0.choice() }, mode: $0.maybe { $0.choice() }, beepTimeout: try $0.maybe { try $0.whole() }
                        )))
            }, eventURL: maybe { $0.url() }, eventMethod: maybe { $0.choice() }, ringbackTone: maybe { $0.url() })
    }

    private mutating func endpoint() throws -> Endpoint {
        switch Int.random(in: 0..<6, using: &self) {
        case 0:
            .phone(
                "447700900123", dtmfAnswer: maybe { $0.pick("1p#", "*") },
                onAnswer: maybe { Endpoint.Phone.OnAnswer(url: $0.url(), ringbackTone: $0.maybe { $0.url() }) },
                shaken: try maybe { try $0.checked() })
        case 1: .app(pick("Alice", "é\"", "a1"))
        case 2:
            .websocket(
                pick("ws://example.com", "wss://example.com/a"), contentType: choice(), headers: maybe { $0.object() },
                authorization: try maybe { $0.pick(.vonage, .custom(try $0.checked())) })
        case 3:
            .sip(
                pick("sip:a@b", "sips:b:5061;transport=tls"), headers: try maybe { ["a": try $0.checked(), "é": "c"] },
                userToUser: try maybe { try $0.checked() })
        case 4: .sip(user: try checked(), domain: try checked())
        default: .vbc(try checked())
        }
    }

    private mutating func listening() throws -> Input.Listening {
        let dtmf = Input.DTMF(
            timeOut: try maybe { try $0.whole() }, maxDigits: try maybe { try $0.whole() }, submitOnHash: maybe { $0.bool() })
        let speech = Input.Speech(
            uuid: try maybe { try $0.checked() }, language: maybe { $0.pick("en-GB", "zh") }, context: maybe { $0.list { $0.text() } },
            endOnSilence: try maybe { try $0.number() }, startTimeout: try maybe { try $0.whole() },
            maxDuration: try maybe { try $0.whole() }, saveAudio: maybe { $0.bool() }, sensitivity: try maybe { try $0.whole() },
            provider: try maybe { try $0.provider() })
        return pick(.dtmf(dtmf), .speech(speech), .dtmfAndSpeech(dtmf, speech), .eachKey)
    }
}
