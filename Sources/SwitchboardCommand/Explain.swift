// SPDX-License-Identifier: MIT
//
// `switchboard explain`: an NCCO, or what a flow does with a call, in plain words.

import Dispatch
import NCCO
import Switchboard

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

enum Explain {
    /// Flags that are parameters of the request, by the parameter's path.
    private static let parameters: [(flag: String, name: String)] = [
        ("--to", "to"), ("--from", "from"), ("--from-user", "from_user"), ("--custom-data", "custom_data"), ("--status", "status"),
    ]

    /// The same flags as `serve` has, read by the same table.
    private static let shared = ["--nccos", "--number", "--inbound-user", "--public-url", "--allow-prefixes", "--deny-prefixes"]

    static func run(_ arguments: [String], environment: [String: String]) {
        do {
            let flags = ["--flow", "--at", "--param", "--press", "--say"]
            let arguments = try CommandArguments(arguments, valued: flags + shared + parameters.map(\.flag))
            if arguments.operands.isEmpty, arguments.has("--flow") {
                try explainFlow(arguments, environment)
            } else {
                guard arguments.operands.count == 1, arguments.values.isEmpty else {
                    throw UsageError("write switchboard explain FILE, or switchboard explain --flow answer --to … --from …")
                }
                try explainFile(arguments.operands[0])
            }
        } catch let error as FlowFolderError {
            SwitchboardCommand.finish(1, "\(error)")
        } catch {
            SwitchboardCommand.finish(64, "switchboard explain: \(error)")
        }
        SwitchboardCommand.finish(0)
    }

    private static func explainFile(_ path: String) throws {
        let bytes = try read(path)
        do throws(InvalidNCCO) {
            Console.output.print(String(try NCCO.explanation(of: bytes.span).dropLast()))
        } catch {
            let lines = error.findings.filter { $0.severity == .error }.map { "\(FileFinding(file: path, finding: $0))" }
            SwitchboardCommand.finish(1, lines.joined(separator: "\n"))
        }
    }

    private static func read(_ path: String) throws(UsageError) -> [UInt8] {
        do throws(SmallFileError) {
            if path == "-" { return try readAll(STDIN_FILENO, limit: FlowFolder.largestFile) }
            return try readSmallFile(path, limit: FlowFolder.largestFile)
        } catch {
            throw UsageError("\(printable(path)) cannot be read: \(error)")
        }
    }

    private static func explainFlow(_ arguments: CommandArguments, _ environment: [String: String]) throws {
        var given: [String] = []
        for flag in shared {
            for value in arguments.values[flag] ?? [] { given += [flag, value] }
        }
        let settings = try Settings(arguments: given, environment: environment)
        let store = try FlowStore(
            folder: settings.nccos ?? Settings.defaultFlowFolder, isNamed: settings.nccos != nil, settings: settings.flows,
            baseURL: settings.baseURL()
        ) { _ in }
        var query: [(String, String)] = []
        for (flag, name) in parameters {
            if let value = try arguments.value(flag) { query.append((name, value)) }
        }
        for pair in arguments.values["--param"] ?? [] {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else { throw UsageError("--param: \(printable(pair)); write --param NAME=VALUE") }
            query.append((parts[0], parts[1]))
        }
        if let digits = try arguments.value("--press") {
            query.append(("dtmf", JSONText.object([("digits", JSONText.string(digits)), ("timed_out", "false")])))
        }
        if let words = try arguments.value("--say") {
            let result = JSONText.object([("text", JSONText.string(words)), ("confidence", "\"0.9\"")])
            query.append(("speech", JSONText.object([("results", "[\(result)]")])))
        }
        let time = try arguments.value("--at").map { value throws(UsageError) in try moment(value) }
        let text = query.map { "\(encoded($0.0))=\(encoded($0.1))" }.joined(separator: "&")
        let name = try arguments.value("--flow") ?? ""
        let explanation = try FlowExplanation(flow: name, query: text, at: time ?? now(), store)
        Console.output.print(String(explanation.text.dropLast()))
    }

    /// Seconds since 1970.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec)
    }

    /// `2026-11-30T10:00Z`, also with seconds.
    static func moment(_ text: String) throws(UsageError) -> Int64 {
        let parts = text.split(whereSeparator: { "-T:Z".contains($0) }).compactMap { Int32($0) }
        guard text.hasSuffix("Z"), text.contains("T"), (5...6).contains(parts.count), (1970...9999).contains(parts[0]),
            (1...12).contains(parts[1]), (1...31).contains(parts[2]), (0...23).contains(parts[3]), (0...59).contains(parts[4])
        else { throw UsageError("--at: \(printable(text)) is no time in UTC; write 2026-11-30T10:00Z") }
        var fields = tm()
        (fields.tm_year, fields.tm_mon, fields.tm_mday) = (parts[0] - 1900, parts[1] - 1, parts[2])
        (fields.tm_hour, fields.tm_min, fields.tm_sec) = (parts[3], parts[4], parts.count > 5 ? min(max(parts[5], 0), 59) : 0)
        return Int64(timegm(&fields))
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }.joined()
    }
}

/// The few JSON texts that the command line is turned into.
private enum JSONText {
    static func string(_ text: String) -> String { JSONLines.quoted(text) }

    static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\(string($0.0)):\($0.1)" }.joined(separator: ",") + "}"
    }
}
