// SPDX-License-Identifier: MIT

import Testing

@testable import JSON

/// The same numbers in every run (SplitMix64).
struct SeededRandom {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

struct MutationTests {
    @Test(arguments: 0..<8) func `mutated texts are judged as the second opinion judges them, and nothing traps`(seed: Int) throws {
        let seeds: [[UInt8]] = (try vectors("accepted") as [TextVector]).map(\.bytes) + [Array(MinifierTests.event.utf8)]
        let spice: [UInt8] = Array("{}[]\":,\\u0eE+-.tfn \n/dD8".utf8) + [0x00, 0x1F, 0x7F, 0x80, 0xBF, 0xC2, 0xED, 0xEF, 0xF4, 0xFF]
        var random = SeededRandom(seed: UInt64(seed))
        var accepted = 0
        for _ in 0..<400 {
            var text = seeds[random.below(seeds.count)]
            for _ in 0...random.below(3) {
                let at = random.below(text.count + 1)
                switch random.below(4) {
                case 0: text.insert(spice[random.below(spice.count)], at: at)
                case 1 where at < text.count: text.remove(at: at)
                case 2 where at < text.count: text[at] = spice[random.below(spice.count)]
                case 3:
                    let other = seeds[random.below(seeds.count)]
                    text.insert(contentsOf: other[random.below(other.count + 1)...], at: at)
                default: break
                }
            }
            var output: [UInt8] = []
            let summary = try? minifyJSON(text.span, into: &output)
            #expect((summary != nil) == ReferenceGrammar.accepts(text), "\(text)")
            #expect((try? tree(text)).map(encoded) == summary.map { _ in String(decoding: output, as: UTF8.self) }, "\(text)")
            if summary != nil {
                accepted += 1
                #expect(try minified(output) == String(decoding: output, as: UTF8.self), "\(text)")
                #expect(skip(output, from: 0) == output.count, "\(text)")
            }
            var members = JSONMembers(in: text.span)
            var count = 0
            while let member = members.next(in: text.span) {
                count += 1
                #expect(member.name.upperBound < member.value.lowerBound && member.value.upperBound <= text.count, "\(text)")
                var name: [UInt8] = []
                decodeJSONString(member.name, in: text.span, into: &name)
            }
            if summary?.kind == .object, case .object(let nodes) = try tree(text).value {
                #expect(count == nodes.count)
            }
            _ = skipJSONValue(in: text.span, from: random.below(text.count + 2))
        }
        #expect(accepted > 20)
    }
}
