// SPDX-License-Identifier: MIT
//
// The flow that serves where no flow files do: who calls whom, and what they hear. A decision is made on values (`Call`), and gives a rule with
// its template; every template is a typed NCCO that is encoded once at the start, with gaps where a caller's number or name will stand.

import HTTPWire
import JSON
import NCCO

/// What an answer request says about the call; texts as they came.
struct Call {
    enum Callee {
        case phone(PhoneNumber)
        case user(UserName)
        case tooShort, tooLong, notUsable, missing
    }

    var callee: Callee
    /// Sent by a Client SDK; never together with `from`.
    var isFromUser: Bool
    var hasFrom: Bool
    /// Nil also where the caller hides the number.
    var from: PhoneNumber?
}

/// Which rule holds, and what fills its template's gap.
struct Decision {
    enum Gap {
        case none
        case number(PhoneNumber)
        case user(UserName)
    }

    let template: CompiledTemplate
    let gap: Gap
}

/// An encoded NCCO with at most one gap.
final class CompiledTemplate: Sendable {
    /// `answer#3 connect-phone`, as in the header field and the event log.
    let flow: String
    let fields: FieldBlock
    /// `,"flow":"answer#3 connect-phone","ncco":`, as in a record.
    let flowMembers: [UInt8]
    /// Whether it says why the call cannot be made.
    let isRefusal: Bool
    private let before: [UInt8]
    private let after: [UInt8]

    init(_ flow: String, _ ncco: NCCO, gap: String? = nil, isRefusal: Bool = false, warning: String? = nil) {
        self.flow = flow
        flowMembers = Array(",\"flow\":\"\(flow)\",\"ncco\":".utf8)
        self.isRefusal = isRefusal
        var fields = FieldBlock()
        fields.append("X-Switchboard-Flow", flow)
        if let warning { fields.append("X-Switchboard-Warning", warning) }
        self.fields = fields
        var encoded: [UInt8] = []
        ncco.encode(into: &encoded)
        guard let gap else {
            (before, after) = (encoded, [])
            return
        }
        // The gap takes its quotes with it: no other string of the template is exactly this one, or if so it stands further in front.
        let mark = Array("\"\(gap)\"".utf8)
        let start = encoded.indices.last { encoded[$0...].starts(with: mark) } ?? encoded.endIndex
        before = Array(encoded[..<start])
        after = Array(encoded[start...].dropFirst(mark.count))
    }

    func render(_ gap: Decision.Gap, into output: inout [UInt8]) {
        output.append(contentsOf: before)
        switch gap {
        case .none: break
        case .number(let number):
            output.append(UInt8(ascii: "\""))
            number.appendDigits(to: &output)
            output.append(UInt8(ascii: "\""))
        case .user(let name): output.appendJSONString(name.description)
        }
        output.append(contentsOf: after)
    }
}

final class BuiltInFlow: Sendable {
    /// A number that no country has, and a name that no one is given.
    private static let markNumber = "999999999999999"
    private static let markName = "switchboard:gap"

    private let numbers: [PhoneNumber]
    private let ringUser, ringUserWithoutFrom, connectUser, connectPhone, connectPhoneFromAbsent, connectPhoneFromOurs: CompiledTemplate
    private let cannotMissing, cannotShort, cannotLong, cannotUnusable, cannotUserByPhone, cannotStranger: CompiledTemplate
    let apology: CompiledTemplate
    let unreadable: CompiledTemplate
    let fault: CompiledTemplate

    /// - Throws: `NCCOError` where one of the templates is no valid NCCO.
    init(numbers: [PhoneNumber], inboundUser: UserName) throws {
        self.numbers = numbers
        guard let markNumber = PhoneNumber(Self.markNumber), let markUser = UserName(Self.markName) else {
            throw UsageError("the marks for gaps are not valid")
        }
        func ring(from: PhoneNumber?) throws(NCCOError) -> NCCO {
            NCCO([
                .connect(try Connect(to: .app(.init(user: inboundUser)), from: from, timeout: 45)),
                .talk(try Talk(text: "Nobody can take your call right now. Please try again later. Goodbye.")),
            ])
        }
        ringUser = CompiledTemplate("answer#1 ring-user", try ring(from: markNumber), gap: Self.markNumber)
        ringUserWithoutFrom = CompiledTemplate(
            "answer#1 ring-user", try ring(from: nil), warning: "from is not a phone number and is left out")
        connectUser = CompiledTemplate(
            "answer#2 connect-user", NCCO([.connect(try Connect(to: .app(.init(user: markUser))))]), gap: Self.markName)
        let phone = NCCO([
            .talk(try Talk(text: "Please wait while we connect you.")),
            .connect(try Connect(to: .phone(.init(number: markNumber)), from: numbers.first)),
        ])
        connectPhone = CompiledTemplate("answer#3 connect-phone", phone, gap: Self.markNumber)
        connectPhoneFromAbsent = CompiledTemplate("answer#4 connect-phone", phone, gap: Self.markNumber)
        connectPhoneFromOurs = CompiledTemplate("answer#5 connect-phone", phone, gap: Self.markNumber)

        func cannot(_ text: String, _ warning: String) throws(NCCOError) -> CompiledTemplate {
            CompiledTemplate(
                "answer#6 cannot-connect", NCCO([.talk(try Talk(text: "This call cannot be connected. \(text) Goodbye."))]),
                isRefusal: true, warning: warning)
        }
        cannotMissing = try cannot("No one to call was given.", "to is missing or empty")
        cannotShort = try cannot(
            "Emergency and short numbers cannot be called from here.",
            "to is an emergency or short number; a phone number has 7 to 15 digits")
        cannotLong = try cannot("The number is too long.", "to has more than 15 digits")
        cannotUnusable = try cannot("The number is not valid.", "to is neither a phone number nor a user name")
        cannotUserByPhone = try cannot("Only users of the app can call other users.", "to is a user name but from_user is missing")
        cannotStranger = try cannot(
            "The number you have dialled is not in service here.", "to is none of the configured numbers and from is not ours")
        let sorry = NCCO([
            .talk(try Talk(text: "Sorry, we have a technical problem and cannot take your call. Please try again later. Goodbye."))
        ])
        apology = CompiledTemplate("fallback#1 apology", sorry)
        unreadable = CompiledTemplate("fallback#1 apology", sorry, warning: "the request body cannot be read")
        fault = CompiledTemplate("fallback#1 apology", sorry, warning: "the server has a fault")
    }

    /// The first rule that holds.
    func decide(_ call: Call) -> Decision {
        func isOurs(_ number: PhoneNumber?) -> Bool { number.map(numbers.contains) ?? false }
        var callee: PhoneNumber?
        if case .phone(let number) = call.callee { callee = number }

        if !call.isFromUser, call.hasFrom, numbers.isEmpty || isOurs(callee) {
            guard let from = call.from else { return Decision(template: ringUserWithoutFrom, gap: .none) }
            return Decision(template: ringUser, gap: .number(from))
        }
        if call.isFromUser, case .user(let name) = call.callee { return Decision(template: connectUser, gap: .user(name)) }
        if let callee {
            if call.isFromUser { return Decision(template: connectPhone, gap: .number(callee)) }
            if !call.hasFrom { return Decision(template: connectPhoneFromAbsent, gap: .number(callee)) }
            if isOurs(call.from) { return Decision(template: connectPhoneFromOurs, gap: .number(callee)) }
            return Decision(template: cannotStranger, gap: .none)
        }
        let refusal =
            switch call.callee {
            case .missing: cannotMissing
            case .tooShort: cannotShort
            case .tooLong: cannotLong
            case .user: cannotUserByPhone
            case .phone, .notUsable: cannotUnusable
            }
        return Decision(template: refusal, gap: .none)
    }
}

extension Call.Callee {
    /// What the text in `to` can mean; nil or nothing but blanks is nobody.
    init(_ text: Span<UInt8>) {
        if let number = PhoneNumber(lenient: text) {
            self = .phone(number)
            return
        }
        var (digits, others, blanks) = (0, 0, 0)
        let start = text.count >= 4 && text.equalsIgnoringCase("tel:", at: 0..<4) ? 4 : 0
        for at in start..<text.count {
            switch text[at] {
            case 0x30...0x39: digits += 1
            case 0x20, 0x09: blanks += 1
            case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "["),
                UInt8(ascii: "]"):
                break
            default: others += 1
            }
        }
        if blanks == text.count - start {
            self = .missing
        } else if others == 0, digits > 15 {
            self = .tooLong
        } else if others == 0, digits > 0, digits < 7 {
            self = .tooShort
        } else if let name = UserName(utf8: text) {
            self = .user(name)
        } else {
            self = .notUsable
        }
    }
}
