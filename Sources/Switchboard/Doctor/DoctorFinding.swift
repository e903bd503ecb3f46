// SPDX-License-Identifier: MIT
//
// What `switchboard doctor` says: one line for each thing it looked at, and with what is not well the cure. The first failure decides the exit
// code, so that a script can tell what kind of thing is wrong.

package struct DoctorFinding: Hashable, Sendable {
    package enum Verdict: String, Sendable { case ok, warning, failed, skipped }

    /// What kind of thing is looked at; the order is that of the lines.
    package enum Subject: String, Sendable, CaseIterable {
        case settings, number, application, token, secret, clock, flows, events, certificate, port, address, vonage

        /// What a failure ends with, after sysexits.h: 64 what was set (EX_USAGE), 65 a key, a token or a certificate (EX_DATAERR), 69 an address that cannot be
        /// used or reached (EX_UNAVAILABLE), 71 the machine (EX_OSERR), 73 the events folder (EX_CANTCREAT).
        package var exitCode: Int32 {
            switch self {
            case .settings, .number, .secret, .flows: 64
            case .application, .token, .certificate: 65
            case .port, .address, .vonage: 69
            case .clock: 71
            case .events: 73
            }
        }
    }

    package let subject: Subject
    package let verdict: Verdict
    /// What was seen, in one line.
    package let text: String
    /// What to do about it.
    package let cure: String?

    package init(_ subject: Subject, _ verdict: Verdict, _ text: String, cure: String? = nil) {
        self.subject = subject
        self.verdict = verdict
        self.text = text
        self.cure = cure
    }

    /// `ok       clock        …`, the cure behind an arrow.
    package var line: String {
        func column(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(width - text.utf8.count, 0)) }
        return column(verdict.rawValue, 9) + column(subject.rawValue, 13) + text + (cure.map { " → \($0)" } ?? "")
    }

    /// 0 where nothing failed.
    package static func exitCode(_ findings: [DoctorFinding]) -> Int32 {
        findings.first { $0.verdict == .failed }?.subject.exitCode ?? 0
    }
}
