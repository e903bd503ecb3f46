// SPDX-License-Identifier: MIT
//
// What can happen to a webhook between Vonage and a server, as networks, proxies and Vonage's own machines do it. Which request it happens to
// comes from a seed and from nothing else, so the same seed spoils the same calls in the same way.

/// What is done to webhooks on their way.
package struct CallTrouble: Sendable, Hashable {
    /// Which share of events is delivered twice, 0...1.
    package var duplicate = 0.0
    /// Which share of events, their answers being of no interest, is never sent, 0...1.
    package var drop = 0.0
    /// Whether events overtake each other.
    package var reorders = false
    /// So many milliseconds more until an answer arrives.
    package var slow: Int64 = 0
    /// Whether some come without a signature.
    package var isUnsigned = false
    /// How far Vonage's clock is ahead of ours, in milliseconds; may be negative.
    package var skew: Int64 = 0
    /// Whether some answers get lost, so that Vonage sends the same once more.
    package var retries = false
    /// Whether some connections break in the middle of the request.
    package var cuts = false
    /// Whether a tunnel in front answers some in the server's place, with a page.
    package var answersWithPage = false
    package var seed: UInt64 = 0

    /// What is not a share happens to one request in four, and to the first that it can happen to.
    private static let share = 0.25

    package init() {}

    /// What there is of it, by the names of the flags: `duplicate 0.2, reorder; --seed 7`.
    package var summary: String {
        let kinds: [(String, Bool)] = [
            ("duplicate \(duplicate)", duplicate > 0), ("drop \(drop)", drop > 0), ("reorder", reorders), ("slow \(slow) ms", slow > 0),
            ("unsigned", isUnsigned), ("skew \(skew) ms", skew != 0), ("retry", retries), ("cut-connection", cuts),
            ("tunnel-html", answersWithPage),
        ]
        return "\(kinds.filter(\.1).map(\.0).joined(separator: ", ")); --seed \(seed)"
    }

    /// The trouble of one call.
    package func plan(forCall number: UInt64) -> Plan { Plan(self, random: SplitMix64(seed: seed &+ number &* 0x9E37_79B9_7F4A_7C15)) }

    package struct Plan: Sendable {
        private let trouble: CallTrouble
        private var random: SplitMix64
        private var happened: Set<String> = []

        fileprivate init(_ trouble: CallTrouble, random: SplitMix64) { (self.trouble, self.random) = (trouble, random) }

        private mutating func happens(_ share: Double) -> Bool {
            // All decisions are drawn, so that one kind of trouble does not change where another strikes.
            let drawn = random.unit()
            return share > 0 && drawn < share
        }

        private mutating func strikes(_ name: String, _ isOn: Bool) -> Bool {
            let drawn = random.unit()
            guard isOn else { return false }
            return happened.insert(name).inserted || drawn < CallTrouble.share
        }

        /// Whether an event waits until another has overtaken it.
        mutating func holdsBack() -> Bool {
            let drawn = random.unit()
            return trouble.reorders && drawn < 0.5
        }

        mutating func handling(of request: PlayedRequest) -> Handling {
            var handling = Handling()
            let isFirst = request.attempt == 1
            let isTold = request.kind == .event && !request.mayCarryNCCO
            if happens(trouble.drop), isTold, isFirst {
                handling.instead = .lost
                handling.words.append("dropped")
                return handling
            }
            if strikes("html", trouble.answersWithPage && isFirst) {
                handling.instead = .reply(
                    PlayedReply(
                        status: 502, contentType: "text/html", body: Array("<html><body>The tunnel is not connected.</body></html>".utf8)))
                handling.words.append("answered by a tunnel")
                return handling
            }
            if strikes("cut", trouble.cuts && isFirst) {
                handling.isCut = true
                handling.words.append("connection cut")
                return handling
            }
            if strikes("unsigned", trouble.isUnsigned && isFirst) {
                handling.isUnsigned = true
                handling.words.append("unsigned")
            }
            if happens(trouble.duplicate), request.kind == .event {
                handling.isRepeated = true
                handling.words.append("delivered twice")
            }
            if strikes("retry", trouble.retries && isFirst) {
                handling.losesAnswer = true
                handling.words.append("answer lost")
            }
            if strikes("slow", trouble.slow > 0 && isFirst) {
                handling.delay = trouble.slow
                handling.words.append("answer \(trouble.slow) ms late")
            }
            return handling
        }
    }

    /// What is done to one request.
    struct Handling: Sendable {
        /// The request is not sent, and this is what Vonage sees.
        var instead: PlayedOutcome?
        var isCut = false
        var isUnsigned = false
        var isRepeated = false
        var losesAnswer = false
        /// Milliseconds.
        var delay: Int64 = 0
        var words: [String] = []

        func spoil(_ outcome: PlayedOutcome, of request: PlayedRequest) -> PlayedOutcome {
            guard case .reply(var reply) = outcome else { return outcome }
            if losesAnswer { return .failure(.closed, micros: reply.micros) }
            reply.micros += delay * 1000
            if reply.micros / 1000 > request.answerLimit { return .failure(.responseTimeout, micros: request.answerLimit * 1000) }
            return .reply(reply)
        }
    }
}

/// The generator of Steele, Lea and Flood (2014), "Fast splittable pseudorandom number generators": small, and the same everywhere.
struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// 0 up to 1.
    mutating func unit() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }
}
