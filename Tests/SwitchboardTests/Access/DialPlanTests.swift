// SPDX-License-Identifier: MIT
//
// Which numbers may be dialled: the rules against a plain reading of them, and the shipped list against what it says of itself.

import NCCO
import Testing

@testable import Switchboard

struct DialPlanTests {
    private func prefixes(_ texts: [String]) throws -> [DialPrefix] { try texts.map { try #require($0 == "all" ? .all : DialPrefix($0)) } }

    private func plan(_ allowed: [String] = [], _ denied: [String] = [], byDefault: Bool = true) throws -> DialPlan {
        DialPlan(allowed: try prefixes(allowed), denied: try prefixes(denied), deniesByDefault: byDefault)
    }

    private func verdict(_ plan: DialPlan, _ number: String) throws -> DialPlan.Verdict {
        plan.verdict(for: try #require(PhoneNumber(number)))
    }

    // MARK: Prefixes

    @Test(arguments: [
        ("1", "1"), ("+44", "44"), ("123456789012345", "123456789012345"), ("", nil), ("+", nil), ("0", nil), ("044", nil), ("++1", nil),
        ("1a", nil), (" 1", nil), ("1234567890123456", nil), ("٤", nil), ("all", nil), ("-1", nil),
    ])
    func `a prefix is 1 to 15 digits that no 0 begins`(_ text: String, _ digits: String?) {
        #expect(DialPrefix(text)?.description == digits)
    }

    @Test func `a number begins with as many of its digits as are asked for`() throws {
        let number = PhoneNumber("447700900123")
        #expect(number.length == 12)
        for length in 1...12 { #expect(number.prefix(length).description == number.description.prefix(length)) }
        #expect(number.prefix(15).description == "447700900123")
        #expect(number.prefix(0) == .all)
        #expect((PhoneNumber("1000000") as PhoneNumber).length == 7)
        #expect((PhoneNumber("999999999999999") as PhoneNumber).prefix(15).value == 999_999_999_999_999)
    }

    @Test(arguments: [
        ("14155550100", "1"), ("78005553535", "7"), ("447700900123", "44"), ("4930123456", "49"), ("353870000000", "353"),
        ("8816123456", "881"), ("8613800000000", "86"), ("85261234567", "852"), ("21612345678", "216"), ("27123456789", "27"),
        ("979123456789", "979"), ("37410123456", "374"),
    ])
    func `a country code has one, two or three digits`(_ number: String, _ code: String) throws {
        #expect(try #require(PhoneNumber(number)).countryCode.description == code)
    }

    // MARK: Which decides

    @Test func `without settings ordinary numbers are allowed and dear ones are not`() throws {
        for number in [
            "14155550100", "18005550100", "447700900123", "442079460000", "443001234567", "448001234567", "4930123456", "4915112345678",
            "33123456789", "33612345678", "33801234567", "390612345678", "393331234567", "34912345678", "34612345678", "31201234567",
            "31612345678", "3292345678", "32471234567", "41441234567", "4369912345678", "46901234567", "35861234567", "353151234567",
            "6591234567", "85290012345", "80012345678", "972501234567", "61212345678", "27821234567", "4589123456", "862012345678",
        ] { #expect(try verdict(.standard, number) == .allowed, "\(number)") }
        for (number, prefix) in [
            ("881612345678", "881"), ("870771234567", "870"), ("882161234567", "882"), ("883510012345", "883"), ("878101234567890", "878"),
            ("979123456789", "979"), ("80812345678", "808"), ("19005550100", "1900"), ("449012345678", "4490"), ("449812345678", "4498"),
            ("447012345678", "4470"), ("448712345678", "44871"), ("4990012345678", "49900"), ("33891234567", "3389"),
            ("39899123456", "39899"),
            ("34803123456", "34803"), ("34806123456", "34806"), ("34807123456", "34807"), ("34905123456", "34905"),
            ("31900123456", "31900"),
            ("3190612345", "31906"), ("3190912345", "31909"), ("32901234567", "3290"), ("41900123456", "41900"), ("43900123456", "43900"),
            ("61190212345", "61190"),
        ] {
            let expected = DialPlan.Denial(reason: .standard, prefix: try #require(DialPrefix(prefix)))
            #expect(try verdict(.standard, number) == .denied(expected), "\(number)")
        }
    }

    @Test func `a trunk prefix behind the country code hides nothing`() throws {
        for number in [
            "+44 (0)906 1234567", "0044(0)7012345678", "+49 (0)900 12345678", "+33 (0)899 123456", "+1 (1) 900 555 0100", "44009061234567",
        ] {
            let written = try #require(PhoneNumber(lenient: number))
            #expect(DialPlan.standard.verdict(for: written) != .allowed, "\(number)")
        }
        // In Italy the 0 is part of the number: this is Salerno, and not a premium rate.
        for number in ["+44 (0)20 7946 0000", "+39 089 9123456", "30 210 1234567", "12025550100"] {
            let written = try #require(PhoneNumber(lenient: number))
            #expect(DialPlan.standard.verdict(for: written) == .allowed, "\(number)")
        }
    }

    @Test func `once a prefix is allowed no other number is, and the country code of one is named`() throws {
        let plan = try plan(["1", "447"])
        #expect(try verdict(plan, "14155550100") == .allowed)
        #expect(try verdict(plan, "447700900123") == .allowed)
        #expect(try verdict(plan, "442079460000") == .denied(.init(reason: .notAllowed, prefix: try #require(DialPrefix("44")))))
        #expect(try verdict(plan, "3531234567") == .denied(.init(reason: .notAllowed, prefix: try #require(DialPrefix("353")))))
        // Within what is allowed the longer prefix goes on being denied.
        #expect(try verdict(plan, "19005550100") == .denied(.init(reason: .standard, prefix: try #require(DialPrefix("1900")))))
        #expect(try verdict(try self.plan(["all", "881"]), "442079460000") == .allowed)
        #expect(try verdict(try self.plan(["all", "881"]), "881612345678") == .allowed)
        #expect(try verdict(try self.plan(["all", "881"]), "882161234567") != .allowed)
    }

    @Test func `of the same prefix a denied one wins over an allowed one, and that over the default`() throws {
        #expect(try verdict(try plan(["881"]), "881612345678") == .allowed)
        let both = try plan(["44", "881"], ["44", "881"])
        for (number, prefix) in [("447700900123", "44"), ("881612345678", "881")] {
            #expect(try verdict(both, number) == .denied(.init(reason: .setting, prefix: try #require(DialPrefix(prefix)))))
        }
        #expect(try verdict(try plan(["447"], ["44"]), "447700900123") == .allowed)
        #expect(try verdict(try plan(["44"], ["447"]), "447700900123") != .allowed)
        #expect(try verdict(try plan(["447700900123"], ["44770090012"]), "447700900123") == .allowed)
    }

    @Test func `without the default nothing is denied but what the settings deny`() throws {
        #expect(try verdict(try plan(byDefault: false), "881612345678") == .allowed)
        #expect(try verdict(try plan([], ["882"], byDefault: false), "881612345678") == .allowed)
        #expect(try verdict(try plan([], ["882"], byDefault: false), "882161234567") != .allowed)
    }

    @Test func `the longest prefix decides, as a plain reading of all lists has it`() throws {
        var random = SeededNumbers(seed: 71)
        // Few digits, so that prefixes meet.
        func digits(_ count: Int) -> String { String((0..<count).map { _ in random.pick(["1", "2", "8"]) }.joined()) }
        var outcomes: [Bool: Int] = [:]
        for _ in 0..<300 {
            let allowed = (0..<random.below(6)).map { _ in digits(1 + random.below(8)) }
            let denied = (0..<random.below(6)).map { _ in digits(1 + random.below(8)) }
            let byDefault = random.below(2) == 0
            let plan = try plan(allowed, denied, byDefault: byDefault)
            let standard = byDefault ? DeniedPrefixes.all.map(\.description) : []
            for _ in 0..<20 {
                let number = digits(7 + random.below(9))
                func isAllowed(_ number: String) -> Bool {
                    func longest(_ list: [String]) -> Int { list.filter { number.hasPrefix($0) }.map(\.count).max() ?? 0 }
                    let (allow, deny, byList) = (longest(allowed), longest(denied), longest(standard))
                    return max(allow, deny, byList) == 0 ? allowed.isEmpty : allow > deny && allow >= byList
                }
                // In North America the trunk prefix is a 1.
                let rest = "1" + number.drop { $0 == "1" }
                let isAllowed = isAllowed(number) && (!number.hasPrefix("11") || rest.count < 7 || isAllowed(rest))
                #expect((try verdict(plan, number) == .allowed) == isAllowed, "\(number) of \(allowed), \(denied), \(byDefault)")
                outcomes[isAllowed, default: 0] += 1
            }
        }
        #expect(outcomes.values.allSatisfy { $0 > 500 }, "\(outcomes)")
    }

    @Test func `who runs the server is told which flag would allow a number`() throws {
        func words(_ plan: DialPlan, _ number: String) throws -> String? {
            guard case .denied(let denial) = try verdict(plan, number) else { return nil }
            return plan.words(denial)
        }
        #expect(try words(.standard, "881612345678") == "881 (satellite) is denied by default; --allow-prefixes all,881 would allow it")
        #expect(
            try words(plan(["1"]), "19005550100")
                == "1900 (premium rate, North America) is denied by default; --allow-prefixes 1900 would allow it")
        #expect(try words(plan(["1"]), "447700900123") == "--allow-prefixes has no prefix of it; --allow-prefixes 44 would allow it")
        #expect(try words(plan([], ["44"]), "447700900123")?.hasPrefix("44 is denied by --deny-prefixes, ") == true)
        #expect(try words(plan([], ["447700900"]), "447700900123")?.contains("447700900") == false)
    }

    @Test func `a number of an endpoint that a request brought is found`() throws {
        func found(_ json: String) -> String? { DialPlan.standard.deniedNumber(in: Array(json.utf8).span)?.number.description }
        #expect(found(#"[{"type":"phone","number":"+881 6123 45678"}]"#) == "881612345678")
        #expect(found(#"{"number":"881612345678","x":1,"type":"phone"}"#) == "881612345678")
        #expect(found(#"[{"type":"app","user":"A"},{"\u0074ype":"phone","n\u0075mber":"8\u003816123456"}]"#) == "8816123456")
        #expect(found(#"{"type":"phone","number":"447700900123","x":{"type":"phone","number":"881612345678"}}"#) == nil)
        #expect(found(#"{"type":"websocket","uri":"wss://a.example.com/","headers":{"number":"881612345678"}}"#) == nil)
        #expect(found(#"{"number":"#) == nil)
    }

    // MARK: The shipped list

    @Test func `each prefix is there once, and none holds another`() {
        let all = DeniedPrefixes.all.map(\.description)
        #expect(Set(all).count == all.count)
        for one in all {
            #expect(all.allSatisfy { $0 == one || !$0.hasPrefix(one) }, "\(one) holds another")
            #expect(one.first != "0" && (3...8).contains(one.count))
        }
        #expect(DeniedPrefixes.groups.allSatisfy { !$0.name.isEmpty && !$0.prefixes.isEmpty })
    }

    @Test func `no country is denied as a whole`() throws {
        // The codes that belong to no country.
        let shared: Set = ["808", "870", "878", "881", "882", "883", "979"]
        for prefix in DeniedPrefixes.all where !shared.contains(prefix.description) {
            let padded = try #require(PhoneNumber(prefix.description + String(repeating: "1", count: 12 - prefix.length)))
            #expect(padded.countryCode.length < prefix.length, "\(prefix)")
        }
    }
}
