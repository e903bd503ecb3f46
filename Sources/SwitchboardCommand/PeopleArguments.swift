// SPDX-License-Identifier: MIT
//
// What people do in a played call, as flags: the same for one call and for those of a simulated Vonage.

import NCCO
import Switchboard
import VonageSimulator

extension CommandArguments {
    static let people = ["--callee", "--answers-after", "--talk-for", "--press", "--say"]

    /// What whoever is called does.
    func callee() throws(UsageError) -> CallPlan.Callee {
        var callee = CallPlan.Callee()
        if let text = try value("--callee") {
            guard let behavior = CallPlan.Callee.Behavior(rawValue: text) else {
                let names = CallPlan.Callee.Behavior.allCases.map(\.rawValue)
                let hint = nearest(text, among: names).map { "; did you mean \($0)?" } ?? ""
                throw UsageError("--callee: \(printable(text)); write one of \(names.joined(separator: ", "))\(hint)")
            }
            callee = CallPlan.Callee(behavior)
        }
        if let time = try time("--answers-after", 0...120_000) { callee.answersAfter = time }
        return callee
    }

    /// How long two talk, in milliseconds.
    func talkTime() throws(UsageError) -> Int64? { try time("--talk-for", 0...7_200_000) }

    func time(_ flag: String, _ range: ClosedRange<Int64>) throws(UsageError) -> Int64? {
        guard let text = try value(flag) else { return nil }
        return try duration(text, in: range, flag)
    }

    /// What is pressed and said at each input, in the order of the flags.
    func entries() throws(UsageError) -> [CallPlan.Entry] {
        var entries: [CallPlan.Entry] = []
        for (flag, value) in inOrder {
            if flag == "--say" { entries.append(value.isEmpty ? .nothing : .say(value)) }
            guard flag == "--press" else { continue }
            for keys in value.split(separator: ",", omittingEmptySubsequences: false) {
                guard keys.allSatisfy({ "0123456789*#".contains($0) }) else {
                    throw UsageError("--press: \(printable(value)); write keys of 0-9, * and #, with a comma between two inputs")
                }
                entries.append(keys.isEmpty ? .nothing : .press(String(keys)))
            }
        }
        return entries
    }
}
