// SPDX-License-Identifier: MIT
//
// `switchboard events replay`: yesterday's calls against a server of today. All requests are read before the first is sent, so that they go out
// in the order of their numbers whatever files they lie in, and a command line or a log that is wrong has sent nothing.

import EventLog
import HTTPServer
import NCCO
import Switchboard
import VonageAuth

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension Events {
    /// What is held of the log at once, in bytes.
    private static let mostHeld = 256 * 1024 * 1024
    /// Beside its line, a record takes some more.
    private static let besidesLine = 512
    /// For one answer, in milliseconds. Vonage waits no longer for an event's.
    private static let patience: Int32 = 10_000
    /// No NCCO comes near it.
    private static let largestAnswer = 1024 * 1024

    static func replay(_ given: [String], _ folder: String, _ environment: [String: String]) throws {
        let arguments = try CommandArguments(
            given, valued: ["--events", "--call", "--since", "--to", "--to-url", "--speed", "--signature-secret-file"],
            switches: ["--yes", "--keep-numbers", "--json", "--unmasked"])
        try noOperands(arguments)
        guard let url = try arguments.value("--to-url") else {
            throw UsageError("write --to-url URL, the server that is to get the requests, such as http://localhost:3000")
        }
        let client: HTTPRequestClient
        do throws(HTTPRequestError) { client = try HTTPRequestClient(url: url) } catch { throw UsageError("--to-url: \(error)") }
        guard client.isLoopback || arguments.has("--yes") else {
            throw UsageError("--to-url: \(printable(url)) is not loopback, so nothing was sent; if it is meant, add --yes")
        }
        let speed = try arguments.value("--speed") ?? "1x"
        guard var pace = ReplayPace(speed) else {
            throw UsageError("--speed: \(printable(speed)) is no speed; write \(ReplayPace.allowed)")
        }
        let secrets = try SignatureSecrets(file: try arguments.value("--signature-secret-file"), environment: environment)
        let signer = try secrets.map { try WebhookSigner(secrets: $0) }
        let masking = masking(arguments)
        var screen = Screen()
        var summary = ReplaySummary()
        let records = try records(arguments, folder, &screen)

        var swap = NumberSwap(keepsNumbers: arguments.has("--keep-numbers"))
        let began = Clock.system.monotonic() / 1000
        var nobody: HTTPRequestError?
        var hasSent = false
        for (index, record) in records.enumerated() {
            guard let request = ReplayRequest(record, &swap) else {
                summary.skipped += 1
                continue
            }
            let wait = pace.wait(forArrival: request.at, now: Clock.system.monotonic() / 1000)
            if wait > 0 { poll(nil, 0, Int32(clamping: wait)) }
            let offset = Clock.system.monotonic() / 1000 - began
            let result: ReplayResult
            do throws(HTTPRequestError) {
                let answer = try client.send(
                    request.method, request.target, body: request.body, authorization: signer.flatMap { request.authorization(by: $0) },
                    milliseconds: patience, maximumAnswer: largestAnswer)
                result = ReplayResult(request, at: offset, answer, swap)
            } catch {
                guard error.fault == .noAnswer else {
                    nobody = error
                    var rest = swap
                    summary.unsent = records[index...].count { ReplayRequest($0, &rest) != nil }
                    summary.skipped += records.count - index - summary.unsent
                    break
                }
                result = ReplayResult(request, at: offset, error)
            }
            hasSent = true
            summary.add(result)
            if arguments.has("--json") {
                var json: [UInt8] = []
                result.appendJSON(to: &json, masking: masking)
                screen.print(json)
            } else {
                screen.print(result.line(masking))
            }
            screen.flush()
        }
        if arguments.has("--json") {
            var json: [UInt8] = []
            summary.appendJSON(to: &json, swap, masking)
            screen.print(json)
        } else {
            for line in summary.text(swap, masking) { screen.print(line) }
        }
        screen.flush()
        if let nobody { SwitchboardCommand.finish(69, "switchboard events: \(nobody)") }
        guard hasSent else {
            SwitchboardCommand.finish(1, "switchboard events: the log has no request to send, or none that was asked for")
        }
        SwitchboardCommand.finish(summary.failed == 0 ? 0 : 1)
    }

    /// The records that were asked for, in the order of their numbers, each once.
    private static func records(
        _ arguments: CommandArguments, _ folder: String, _ screen: inout Screen
    ) throws -> [CallRecord] {
        let calls = arguments.values["--call"] ?? []
        let identities = calls.map { Identity($0) }
        var wanted = LogReader.Wanted()
        wanted.needles = calls.flatMap { needles($0) }
        wanted.since = try time("--since", arguments)
        wanted.to = try time("--to", arguments)
        let reader = try reader(try arguments.value("--events") ?? folder)
        var records: [CallRecord] = []
        var held = 0
        var drawing = screen
        let progress = { drawing.progress(reader.taken, of: reader.total) }
        try reader.read(wanted, progress: progress) { line, text in
            if let since = wanted.since, line.at < since { return true }
            if let to = wanted.to, line.at >= to { return true }
            guard let record = CallRecord(text.withUnsafeBufferPointer { Array($0) }),
                identities.isEmpty || identities.contains(where: { record.names($0) })
            else { return true }
            records.append(record)
            held += record.line.count + besidesLine
            return held <= mostHeld
        }
        drawing.clearBar()
        var told = Told()
        told.tell(reader, &drawing)
        screen = drawing
        guard held <= mostHeld else {
            throw UsageError("that is more than \(mostHeld >> 20) MiB of the log; choose by --since, --to or --call")
        }
        records.sort { $0.seq < $1.seq }
        return records.enumerated().filter { $0 == 0 || records[$0 - 1].seq != $1.seq }.map(\.element)
    }
}
