// SPDX-License-Identifier: MIT
//
// `switchboard test`: scenarios in, calls played, a report out. What a scenario is and when it holds is in VonageSimulator; here are the files, the
// command line and the printing.

import NCCO
import Switchboard
import VonageSimulator

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

enum TestCommand {
    /// The same flags as `serve` has, read by the same table.
    private static let shared = ["--nccos", "--number", "--inbound-user", "--public-url"]
    private static let mostScenarios = 100_000

    static func run(_ arguments: [String], environment: [String: String]) {
        signal(SIGPIPE, SIG_IGN)
        let stop = StopSignals(ending: {
            TemporaryFolder.removeAll()
            return true
        })
        defer { withExtendedLifetime(stop) {} }
        do {
            let arguments = try CommandArguments(
                arguments, valued: ["--url", "--format", "--filter", "--jobs"] + shared, switches: ["--update"])
            let format = try arguments.value("--format") ?? "text"
            guard ["text", "junit", "json"].contains(format) else {
                throw UsageError("--format: \(printable(format)); write text, junit or json")
            }
            let settings = try settings(arguments, environment)
            let run = ScenarioRun(
                settings: settings, url: try url(arguments), jobs: try jobs(arguments), updates: arguments.has("--update"))
            let scenarios = try scenarios(arguments, settings)
            var report = ScenarioReport()
            var screen = Screen()
            try run.play(scenarios) { result in
                report.add(result)
                guard format == "text" else { return }
                for line in result.lines { screen.print(line) }
                screen.flush()
            }
            // Where the output is for machines, what is for people goes the other way.
            switch format {
            case "junit": screen.print(report.junit)
            case "json": screen.print(report.json)
            default: screen.print(report.summary)
            }
            screen.flush()
            if format != "text" { screen.note(report.summary) }
            SwitchboardCommand.finish(report.isGood ? 0 : 1)
        } catch let error as NobodyListens {
            let cure = "start a server with switchboard serve, or leave --url out for one inside"
            SwitchboardCommand.finish(69, "switchboard test: nobody listens at \(printable(error.url)); \(cure)")
        } catch let error as FlowFolderError {
            SwitchboardCommand.finish(64, "\(error)\nswitchboard test: the flows have errors; nothing is played until they are mended")
        } catch {
            SwitchboardCommand.finish(64, "switchboard test: \(error)")
        }
    }

    // MARK: The command line

    private static func settings(_ arguments: CommandArguments, _ environment: [String: String]) throws(UsageError) -> Settings {
        var given: [String] = []
        for flag in shared {
            for value in arguments.values[flag] ?? [] { given += [flag, value] }
            if arguments.has("--url"), arguments.has(flag), flag != "--public-url" {
                throw UsageError("\(flag) is for a server that is started here, and not for one at --url; leave one of the two out")
            }
        }
        var settings = try Settings(arguments: given, environment: environment)
        // Limits on calls are those of a day's work: here all of them come at once.
        (settings.maxCalls, settings.maxCallsPerUser, settings.hasNoUserLimit) = (nil, nil, true)
        settings.adminTokenFile = nil
        return settings
    }

    /// Without a slash at its end.
    private static func url(_ arguments: CommandArguments) throws(UsageError) -> String? {
        guard var url = try arguments.value("--url") else { return nil }
        while url.hasSuffix("/") { url.removeLast() }
        guard URLParts(url) != nil, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"?#\"\\".utf8.contains($0) }) else {
            throw UsageError("--url: \(printable(url)) is no address of a server; write http://HOST:PORT")
        }
        return url
    }

    private static func jobs(_ arguments: CommandArguments) throws(UsageError) -> Int {
        let text = try arguments.value("--jobs") ?? "64"
        guard let jobs = Int(text), (1...256).contains(jobs) else {
            throw UsageError("--jobs: \(printable(text)) is no number from 1 to 256")
        }
        return jobs
    }

    // MARK: Files

    /// All that are asked for, in the order of the paths, files and texts.
    ///
    /// - Throws: `UsageError` with a line for each fault.
    private static func scenarios(_ arguments: CommandArguments, _ settings: Settings) throws(UsageError) -> [Scenario] {
        let standard = "\(settings.nccos ?? Settings.defaultFlowFolder)/scenarios"
        var scenarios: [Scenario] = []
        var faults: [FileFinding] = []
        for path in arguments.operands.isEmpty ? [standard] : arguments.operands {
            for (name, bytes) in try files(path) {
                let file = ScenarioFile(bytes.span, file: name)
                scenarios += file.scenarios
                faults += file.findings.map { FileFinding(file: name, finding: $0) }
            }
            guard scenarios.count <= mostScenarios else { throw UsageError("there are more than \(mostScenarios) scenarios") }
        }
        guard faults.isEmpty else {
            let count = faults.count == 1 ? "1 fault" : "\(faults.count) faults"
            throw UsageError("the scenarios have \(count), and none is played\n" + faults.map { "\($0)" }.joined(separator: "\n"))
        }
        guard let words = try arguments.value("--filter") else { return scenarios }
        return scenarios.filter { $0.name.contains(words) }
    }

    private static func files(_ path: String) throws(UsageError) -> [(name: String, bytes: [UInt8])] {
        func unreadable(_ why: String) -> UsageError {
            UsageError("\(printable(path)) cannot be read: \(why); name files or folders of scenarios")
        }
        do throws(SmallFileError) {
            return [(path, try readSmallFile(path, limit: FlowFolder.largestFile))]
        } catch {
            guard error.fault == .isFolder else { throw unreadable("\(error)") }
        }
        switch FlowFolder(path: path).read().content {
        case .files(let content):
            guard content.flows == nil else { throw unreadable("it is a folder of flows") }
            let prefix = path.hasSuffix("/") ? path : path + "/"
            return content.templates.map { ("\(prefix)\($0.name).json", $0.bytes) }
        case .missing: throw unreadable("there is no such folder")
        case .unsettled: throw unreadable("it changes while it is read")
        case .unreadable(let name, let reason): throw unreadable(name.isEmpty ? reason : "\(printable(name)): \(reason)")
        }
    }
}
