// SPDX-License-Identifier: MIT
//
// Plays scenarios: those that need the same clock and settings against one server, one server after the other; within one, many calls at once and
// all on this thread. Results come in the order of the scenarios, each as soon as those before it are there.

import HTTPServer
import NCCO
import Switchboard
import VonageAuth
import VonageSimulator

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Nobody takes a connection at the URL of a running server.
struct NobodyListens: Error {
    let url: String
}

final class ScenarioRun {
    /// So long nothing may happen in any call: more than one request can wait.
    private static let patience: Int64 = 60

    private let settings: Settings
    private let url: String?
    private let jobs: Int
    private let updates: Bool

    private var results: [ScenarioResult?] = []
    private var told = 0
    /// Nothing is told until somebody was there: else most results are of a server that was not started.
    private var mayTell = true
    private var foundNobody = false
    private var lastChange: Int64 = 0
    /// Golden files that were written, by path.
    private var written: [String: [UInt8]] = [:]

    /// - Parameters:
    ///   - settings: of servers that are started.
    ///   - url: of a running server that is asked instead, without a slash at its end.
    ///   - jobs: calls that are played at once.
    ///   - updates: whether golden files are written.
    init(settings: Settings, url: String?, jobs: Int, updates: Bool) {
        (self.settings, self.url, self.jobs, self.updates) = (settings, url, jobs, updates)
    }

    /// - Parameter tell: is handed each result.
    /// - Throws: what keeps a server from starting; `NobodyListens` where the running one is not there.
    func play(_ scenarios: [Scenario], tell: (ScenarioResult) -> Void) throws {
        results = Array(repeating: nil, count: scenarios.count)
        told = 0
        (mayTell, foundNobody) = (url == nil, false)
        var groups: [(surroundings: Scenario.Surroundings, members: [Int])] = []
        var places: [Scenario.Surroundings: Int] = [:]
        for (index, scenario) in scenarios.enumerated() {
            // A running server has its own clock and settings.
            let surroundings = url == nil ? scenario.surroundings : Scenario.Surroundings()
            if url != nil, scenario.surroundings.at != nil {
                results[index] = ScenarioResult(scenario, .skipped("it says at, and the server at --url has its own clock"))
                continue
            }
            let place = places[surroundings] ?? groups.count
            if place == groups.count {
                groups.append((surroundings, []))
                places[surroundings] = place
            }
            groups[place].members.append(index)
        }
        tellResults(tell)
        for group in groups {
            let server = try url == nil ? server(group.surroundings) : nil
            defer { server?.stop() }
            guard let address = url ?? server?.url else { continue }
            // What an NCCO names elsewhere is left alone, or a test would depend on it.
            let transport = try LoopTransport(
                connections: jobs, poller: settings.server.poller, reach: url == nil ? .loopback : .anywhere,
                standIn: settings.publicURL.map { LoopTransport.StandIn(url: $0, instead: address) }, secure: SecureWebhooks().sender)
            play(group.members, scenarios, at: group.surroundings.at, address, transport, tell)
            if foundNobody { throw NobodyListens(url: address) }
        }
        mayTell = true
        tellResults(tell)
    }

    private func server(_ surroundings: Scenario.Surroundings) throws -> InnerServer {
        var settings = settings
        if let number = surroundings.number { settings.numbers = [number] }
        if let user = surroundings.inboundUser { settings.inboundUser = user }
        guard let at = surroundings.at else { return try InnerServer(settings) }
        let began = Clock.system.monotonic()
        let clock = Clock(monotonic: Clock.system.monotonic, wall: { at + (Clock.system.monotonic() - began) / 1000 })
        return try InnerServer(settings, clock: clock)
    }

    private func play(
        _ members: [Int], _ scenarios: [Scenario], at time: Int64?, _ address: String, _ transport: any WebhookTransport,
        _ tell: (ScenarioResult) -> Void
    ) {
        let player = CallPlayer(transport: transport)
        var next = 0
        lastChange = Clock.system.monotonic()
        while next < members.count || player.count > 0 {
            while player.count < jobs, next < members.count {
                begin(members[next], scenarios[members[next]], at: time, address, player)
                next += 1
                tellResults(tell)
            }
            if player.count > 0 { player.turn(milliseconds: 100) }
            tellResults(tell)
            if foundNobody { return }
            guard Clock.system.monotonic() - lastChange < Self.patience * 1_000_000 else { break }
        }
        // Those that are left have been waited for, and had no answer.
        mayTell = true
        for index in members where results[index] == nil {
            results[index] = ScenarioResult(
                scenarios[index], .fails([ScenarioFailure(endless: scenarios[index], seconds: Self.patience)]))
        }
        tellResults(tell)
    }

    private func begin(_ index: Int, _ scenario: Scenario, at time: Int64?, _ address: String, _ player: CallPlayer) {
        let call = PlayedCall(scenario.plan(server: address), began: time ?? Clock.system.wall()) { TokenID().description }
        let began = Clock.system.monotonic()
        player.play(
            call, changed: { [unowned self] _ in lastChange = Clock.system.monotonic() },
            done: { [unowned self] call in
                // A call that was given up can still come to its end: requests outlive the wait for them.
                guard results[index] == nil else { return }
                if !mayTell, call.steps.foundNobody {
                    foundNobody = true
                    return
                }
                mayTell = true
                let milliseconds = (Clock.system.monotonic() - began) / 1000
                results[index] = result(scenario, call.steps, address, milliseconds)
            })
    }

    private func tellResults(_ tell: (ScenarioResult) -> Void) {
        while mayTell, told < results.count, let result = results[told] {
            tell(result)
            told += 1
        }
    }

    // MARK: Results

    private func result(_ scenario: Scenario, _ steps: [PlayedStep], _ address: String, _ milliseconds: Int64) -> ScenarioResult {
        var failures = Expectations.failures(of: scenario, steps)
        var notes: [String] = []
        if let golden = scenario.golden {
            do throws(GoldenError) {
                notes = try check(golden.file, scenario, steps, address)
            } catch {
                failures.append(error.failure)
            }
        }
        return ScenarioResult(
            scenario, failures.isEmpty ? .holds : .fails(failures), steps: steps, notes: notes, milliseconds: milliseconds)
    }

    private struct GoldenError: Error {
        let failure: ScenarioFailure
    }

    /// - Returns: what was written, in lines.
    private func check(
        _ name: String, _ scenario: Scenario, _ steps: [PlayedStep], _ address: String
    ) throws(GoldenError) -> [String] {
        func failed(_ message: String, _ cure: String = "", details: [String] = []) -> GoldenError {
            GoldenError(failure: ScenarioFailure(golden: scenario, message, cure, details: details))
        }
        let folder = scenario.file.split(separator: "/", omittingEmptySubsequences: false).dropLast().map { $0 + "/" }.joined()
        let path = folder + name
        let actual = GoldenNCCOs(of: steps, server: [settings.publicURL, address].compactMap { $0 })
        guard !actual.answers.isEmpty else { throw failed("no NCCO was answered") }
        var bytes: [UInt8]?
        do throws(SmallFileError) { bytes = try readSmallFile(path, limit: FlowFolder.largestFile) } catch {
            guard error.isMissing else { throw failed("\(shown(file: path)) cannot be read: \(error)") }
            guard updates else { throw failed("there is no \(shown(file: path))", "run it with --update to write it") }
        }
        var before: GoldenNCCOs?
        if let bytes {
            do throws(SimulatorError) { before = try GoldenNCCOs(bytes.span) } catch {
                guard updates else { throw failed("\(shown(file: path)): \(error)", "run it with --update to write it anew") }
            }
        }
        let difference = before.map { actual.difference(from: $0) }
        guard let difference, difference.isEmpty else {
            let lines = difference ?? actual.differenceFromNothing
            guard updates else {
                throw failed("the answers are not those of \(shown(file: path))", "mend the flow, or run it with --update", details: lines)
            }
            try write(actual, path, failed)
            return ["\(before == nil ? "written" : "updated"): \(shown(file: path))"] + lines.map { "  \($0)" }
        }
        return []
    }

    private func write(
        _ golden: GoldenNCCOs, _ path: String, _ failed: (_ message: String, _ cure: String, _ details: [String]) -> GoldenError
    ) throws(GoldenError) {
        let bytes = golden.text
        if let other = written[path], other != bytes {
            throw failed("\(shown(file: path)) is of two scenarios that differ", "give each its own file", [])
        }
        // Its folder may be missing, but not the one that folder is in.
        mkdir(path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/"), 0o755)
        do throws(SimulatorError) { try writeWhole(bytes, to: path, isPrivate: false) } catch {
            throw failed("\(shown(file: path)): \(error)", "", [])
        }
        written[path] = bytes
    }
}
