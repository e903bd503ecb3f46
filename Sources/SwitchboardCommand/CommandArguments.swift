// SPDX-License-Identifier: MIT
//
// The command line of the small commands: flags with and without a value, and what stands between them. `serve` has its own table, from which
// its help is made.

import NCCO
import Switchboard

struct CommandArguments {
    /// Values by flag; a switch has an empty one.
    private(set) var values: [String: [String]] = [:]
    /// Flags with their values, in the order in which they stand.
    private(set) var inOrder: [(flag: String, value: String)] = []
    /// In order; all that follows `--` too.
    private(set) var operands: [String] = []

    /// - Parameters:
    ///   - valued: flags with a value, as `--flag VALUE` or `--flag=VALUE`.
    ///   - switches: flags without one.
    /// - Throws: `UsageError` for any other flag.
    init(_ arguments: [String], valued: [String], switches: [String] = []) throws(UsageError) {
        var at = 0
        while at < arguments.count {
            let argument = arguments[at]
            at += 1
            if argument == "--" {
                operands += arguments[at...]
                return
            }
            guard argument.hasPrefix("-"), argument != "-" else {
                operands.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if switches.contains(parts[0]) {
                guard parts.count == 1 else { throw UsageError("\(parts[0]) takes no value") }
                add(parts[0], "")
            } else if valued.contains(parts[0]) {
                if parts.count == 2 {
                    add(parts[0], parts[1])
                } else {
                    guard at < arguments.count else { throw UsageError("\(parts[0]) needs a value") }
                    add(parts[0], arguments[at])
                    at += 1
                }
            } else {
                let known = valued + switches
                let hint = nearest(parts[0], among: known).map { "did you mean \($0)?" } ?? "the flags are \(known.joined(separator: ", "))"
                throw UsageError("\(printable(parts[0])): no such flag; \(hint)")
            }
        }
    }

    private mutating func add(_ flag: String, _ value: String) {
        values[flag, default: []].append(value)
        inOrder.append((flag, value))
    }

    func has(_ flag: String) -> Bool { values[flag] != nil }

    /// The value of a flag that may come once.
    func value(_ flag: String) throws(UsageError) -> String? {
        guard let given = values[flag] else { return nil }
        guard given.count == 1 else { throw UsageError("\(flag) is given twice") }
        return given[0]
    }
}
