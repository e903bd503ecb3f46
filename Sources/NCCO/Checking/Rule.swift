// SPDX-License-Identifier: MIT
//
// Every rule that lint knows. Codes are for searching and for scripts, so a code is never given to another rule: a new rule takes the next
// free number of its severity, errors from 001, warnings from 101, notes from 201.

/// How much a finding matters.
public enum Severity: String, Hashable, Sendable, CaseIterable, Comparable {
    /// Vonage refuses it, or the call does not do what is written.
    case error
    /// It runs, but probably not as meant.
    case warning
    /// Good to know.
    case note

    /// The gravest first.
    public static func < (one: Severity, other: Severity) -> Bool { one.rank < other.rank }

    private var rank: Int {
        switch self {
        case .error: 0
        case .warning: 1
        case .note: 2
        }
    }
}

/// What an NCCO can break.
package enum Rule: Int, CaseIterable, Sendable {
    case notJSON = 1
    case notAnArray
    case secondArray
    case repeatedKey
    case actionIsNoObject
    case actionIsMissing
    case unknownAction
    case optionIsMissing
    case wrongType
    case outOfRange
    case notAllowed
    case badNumber
    case numberIsNoText
    case badURL
    case notOneURL
    case notOneEndpoint
    case unknownEndpoint
    case exclude
    case needsOther
    case bargeInWithoutInput
    case badUserName
    case emptyText
    case badPlaceholder

    case unknownOption = 101
    case deprecated
    case textTooLong
    case plainHTTP
    case notReachable
    case nothingAudible
    case neverRuns
    case runsAfterRoom
    case unknownStyle
    case unknownLanguage
    case fromIsMissing
    case otherSpelling
    case valueAsText
    case clamped
    case brokenSSML
    case noSSML
    case hostMayChange

    case overridden = 201
    case noPremiumVoice

    /// As in `NCCO012`.
    package var code: String { "NCCO" + String(1000 + rawValue).dropFirst() }

    package var severity: Severity {
        switch rawValue {
        case ..<100: .error
        case ..<200: .warning
        default: .note
        }
    }
}
