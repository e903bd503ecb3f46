// SPDX-License-Identifier: MIT
//
// `switchboard lint` and `switchboard schema`.

import NCCO
import Switchboard

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

enum Lint {
    static func run(_ arguments: [String]) {
        do {
            let arguments = try CommandArguments(arguments, valued: ["--format"], switches: ["--strict"])
            let format = try arguments.value("--format") ?? "text"
            guard format == "text" || format == "json" else {
                throw UsageError("--format: \(printable(format)); write text or json")
            }
            let paths = arguments.operands.isEmpty ? [Settings.defaultFlowFolder] : arguments.operands
            let report = try LintReport(paths: paths) { () throws(SmallFileError) in
                try readAll(STDIN_FILENO, limit: FlowFolder.largestFile)
            }
            if format == "json" {
                Console.output.print(report.json)
            } else {
                for line in report.text { Console.output.print(line) }
                Console.errors.print(report.summary)
            }
            let isBad = report.count(.error) > 0
            SwitchboardCommand.finish(isBad ? 1 : arguments.has("--strict") && report.count(.warning) > 0 ? 2 : 0)
        } catch {
            SwitchboardCommand.finish(64, "switchboard lint: \(error)")
        }
    }
}

enum Schema {
    static func run(_ arguments: [String]) {
        switch arguments {
        case ["ncco"]: Console.output.print(String(NCCO.jsonSchema.dropLast()))
        case ["flows"]: Console.output.print(String(FlowSchema.text.dropLast()))
        default: SwitchboardCommand.finish(64, "switchboard schema: write switchboard schema ncco, or switchboard schema flows")
        }
    }
}
