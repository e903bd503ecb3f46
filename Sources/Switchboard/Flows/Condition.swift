// SPDX-License-Identifier: MIT
//
// One condition of a rule, read once when the flows are, and asked for each request.

import HTTPWire
import NCCO

/// What a value may be asked to be.
enum ValueKind: String, Sendable, CaseIterable {
    case phoneNumber = "phone_number"
    /// One of the configured numbers; where none is configured it always holds.
    case ownNumber = "own_number"
    case userName = "user_name"
    case sipURI = "sip_uri"
}

/// A text to compare with; a phone number is compared in Vonage's form.
struct ComparedText: Sendable, Hashable {
    let bytes: [UInt8]
    let number: PhoneNumber?
    /// For the beginning of a number: without the signs that stand in front of one.
    let digits: [UInt8]

    init(_ text: String) {
        let bytes = Array(text.utf8)
        self.bytes = bytes
        number = PhoneNumber(lenient: bytes.span)
        let bare = text.hasPrefix("+") ? text.dropFirst() : text.hasPrefix("00") ? text.dropFirst(2) : text[...]
        let separators = Set(" -.()[]".utf8)
        let plain = bare.utf8.filter { !separators.contains($0) }
        digits = plain.allSatisfy { (0x30...0x39).contains($0) } ? plain : []
    }
}

indirect enum Test: Sendable {
    case equals([ComparedText])
    case startsWith([ComparedText])
    case present(Bool)
    case kind(ValueKind)
    case not(Test)
    /// With the words for it.
    case hours(OpeningHours, String)
}

/// A test that needs no text to compare with: most are of this sort, and reading one counts no reference.
struct QuickTest: Sendable {
    enum Kind: Sendable { case present, missing, phoneNumber, ownNumber, userName, sipURI }

    let slot: Int
    let kind: Kind

    /// Nil for any other test.
    init?(_ condition: Condition) {
        guard let slot = condition.slot else { return nil }
        self.slot = slot
        switch condition.test {
        case .present(true), .not(.present(false)): kind = .present
        case .present(false), .not(.present(true)): kind = .missing
        case .kind(.phoneNumber): kind = .phoneNumber
        case .kind(.ownNumber): kind = .ownNumber
        case .kind(.userName): kind = .userName
        case .kind(.sipURI): kind = .sipURI
        case .equals, .startsWith, .not, .hours: return nil
        }
    }

    func holds(_ request: inout FlowRequest, _ flows: FlowSet) -> Bool {
        switch kind {
        case .present: request.value(slot, flows.paths) != nil
        case .missing: request.value(slot, flows.paths) == nil
        case .phoneNumber: request.number(slot, flows.paths) != nil
        case .ownNumber: flows.numbers.isEmpty || request.number(slot, flows.paths).map(flows.numbers.contains) ?? false
        case .userName:
            if let value = request.value(slot, flows.paths), !value.isJSON, request.number(slot, flows.paths) == nil {
                request.withBytes(value) { UserName(utf8: $0) != nil }
            } else {
                false
            }
        case .sipURI:
            request.value(slot, flows.paths).map { value in
                !value.isJSON && request.withBytes(value) { isSIPURI($0.text(0..<$0.count)) }
            } ?? false
        }
    }
}

struct Condition: Sendable {
    /// Of the value that is tested; nil for the time.
    let slot: Int?
    let test: Test

    func holds(_ request: inout FlowRequest, _ flows: FlowSet) -> Bool { holds(test, &request, flows) }

    private func holds(_ test: Test, _ request: inout FlowRequest, _ flows: FlowSet) -> Bool {
        if let quick = QuickTest(Condition(slot: slot, test: test)) { return quick.holds(&request, flows) }
        switch test {
        case .not(let test): return !holds(test, &request, flows)
        case .hours(let hours, _): return hours.holds(at: request.now)
        case .equals, .startsWith, .present, .kind: break
        }
        guard let slot, let value = request.value(slot, flows.paths) else { return false }
        switch test {
        case .equals(let texts):
            let number = request.number(slot, flows.paths)
            return texts.contains { text in
                if let number, let other = text.number { return number == other }
                return request.withBytes(value) { equal($0, text.bytes) }
            }
        case .startsWith(let texts):
            let number = request.number(slot, flows.paths)
            return texts.contains { text in
                if let number { return !text.digits.isEmpty && number.description.utf8.starts(with: text.digits) }
                return request.withBytes(value) { $0.count >= text.bytes.count && equal($0.extracting(0..<text.bytes.count), text.bytes) }
            }
        case .present, .kind, .not, .hours: return false
        }
    }

    private func equal(_ one: Span<UInt8>, _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        for at in 0..<one.count where one[at] != other[at] { return false }
        return true
    }
}

extension Test {
    /// Whether the value is there whenever this holds.
    var impliesPresence: Bool {
        switch self {
        case .equals, .startsWith: true
        case .kind(let kind): kind != .ownNumber
        case .present(let wanted): wanted
        case .not(.present(let wanted)): !wanted
        case .not, .hours: false
        }
    }
}
