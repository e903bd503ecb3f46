// SPDX-License-Identifier: MIT
//
// Why a call cannot be made: a sentence for the caller, and fixed words for whoever looks at the answer with curl.

import HTTPWire
import NCCO

enum Refusal: Int, CaseIterable, Sendable {
    case noCallee, shortNumber, longNumber, notUsable, userByPhone, stranger, deniedNumber, userLimit, callLimit, unfillable, noRule

    /// What `{{refusal}}` stands for.
    var sentence: StaticString {
        switch self {
        case .noCallee: "No one to call was given."
        case .shortNumber: "Emergency and short numbers cannot be called from here."
        case .longNumber: "The number is too long."
        case .notUsable: "The number is not valid."
        case .userByPhone: "Only users of the app can call other users."
        case .stranger: "The number you have dialled is not in service here."
        case .deniedNumber: "Numbers of this kind cannot be called from here."
        case .userLimit: "You have made too many calls in a short time. Please try again later."
        case .callLimit: "Too many calls are being made at the moment. Please try again shortly."
        case .unfillable, .noRule: "We have a technical problem."
        }
    }

    /// For `X-Switchboard-Warning`.
    var warning: String {
        switch self {
        case .noCallee: "to is missing or empty"
        case .shortNumber: "to is an emergency or short number; a phone number has 7 to 15 digits"
        case .longNumber: "to has more than 15 digits"
        case .notUsable: "to is neither a phone number nor a user name"
        case .userByPhone: "to is a user name but from_user is missing"
        case .stranger: "to is none of the configured numbers and from is not ours"
        case .deniedNumber: "the number may not be dialled: see --allow-prefixes and --deny-prefixes"
        case .userLimit: "the user has made as many calls as --max-calls-per-user allows"
        case .callLimit: "as many calls are made as --max-calls allows"
        case .unfillable: "the template cannot be filled"
        case .noRule: "no rule of the flow holds"
        }
    }

    /// Why a callee that no rule connected cannot be called; nil is nobody.
    init(callee text: Span<UInt8>?, isJSON: Bool) {
        guard let text else {
            self = .noCallee
            return
        }
        if isJSON, !(0x30...0x39).contains(text[0]) {
            self = .notUsable
            return
        }
        if PhoneNumber(lenient: text) != nil {
            self = .stranger
            return
        }
        var (digits, others) = (0, 0)
        let start = text.count >= 4 && text.equalsIgnoringCase("tel:", at: 0..<4) ? 4 : 0
        for at in start..<text.count {
            switch text[at] {
            case 0x30...0x39: digits += 1
            case 0x20, 0x09, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "("), UInt8(ascii: ")"),
                UInt8(ascii: "["), UInt8(ascii: "]"):
                break
            default: others += 1
            }
        }
        if others == 0, digits > 15 {
            self = .longNumber
        } else if others == 0, digits > 0, digits < 7 {
            self = .shortNumber
        } else {
            self = !isJSON && UserName(utf8: text) != nil ? .userByPhone : .notUsable
        }
    }
}
