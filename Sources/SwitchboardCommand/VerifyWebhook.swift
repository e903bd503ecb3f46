// SPDX-License-Identifier: MIT
//
// `switchboard token verify-webhook`: why a webhook that was kept in files is believed or not.

import HTTPServer
import NCCO
import Switchboard
import VonageAuth

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

enum VerifyWebhook {
    /// No body of Vonage's comes near it.
    private static let largestBody = 16 * 1024 * 1024

    static func run(_ given: [String], environment: [String: String]) throws {
        let shared = ["--signature-secret-file", "--webhook-leeway", "--payload-hash", "--application-id"]
        let arguments = try CommandArguments(given, valued: ["--headers", "--body", "--query", "--method", "--at"] + shared)
        guard arguments.operands.isEmpty else {
            throw UsageError("it takes --headers FILE and --body FILE, and no \(printable(arguments.operands[0]))")
        }
        // The same flags as `serve` has, read by the same table.
        let settings = try Settings(
            arguments: shared.flatMap { flag in (arguments.values[flag] ?? []).flatMap { [flag, $0] } }, environment: environment)
        guard let secrets = try SignatureSecrets(file: settings.signatureSecretFile, environment: environment) else {
            throw UsageError("there is no secret to check with; set VONAGE_SIGNATURE_SECRET or --signature-secret-file FILE")
        }
        guard let headers = try arguments.value("--headers") else {
            throw UsageError("write --headers FILE, with the field lines of the request, and --body FILE for a POST")
        }
        let webhook = CapturedWebhook(head: try read(headers, "--headers", limit: CapturedWebhook.largestHead))
        let body = try arguments.value("--body").map { path throws(UsageError) in try read(path, "--body", limit: largestBody) }
        let method = try arguments.value("--method") ?? webhook.method ?? (body == nil ? "GET" : "POST")
        guard method == "GET" || method == "POST" else {
            throw UsageError("--method: \(printable(method)); webhooks are GET or POST")
        }
        let query = try arguments.value("--query") ?? webhook.query ?? ""
        let now = Clock.system.wall()
        let time = try arguments.value("--at").map { text throws(UsageError) in
            guard let time = TimeArgument.milliseconds(text, now: now) else {
                throw UsageError("--at: \(printable(text)) is no time; write \(TimeArgument.allowed)")
            }
            return time
        }
        let verifier = WebhookVerifier(
            secrets: secrets, applicationID: settings.applicationID?.description, leeway: settings.webhookLeeway,
            requiresPayloadHash: settings.requiresPayloadHash)
        let report = try WebhookReport(
            verifier, authorization: webhook.authorization,
            payload: method == "POST" ? .post(body: body ?? [], query: query) : .get(query: query),
            now: (time ?? now) / 1000)
        for line in report.lines { Console.output.print(line) }
        SwitchboardCommand.finish(report.isVerified ? 0 : 1)
    }

    private static func read(_ path: String, _ flag: String, limit: Int) throws(UsageError) -> [UInt8] {
        do throws(SmallFileError) {
            if path == "-" { return try readAll(STDIN_FILENO, limit: limit) }
            return try readSmallFile(path, limit: limit, mayBePipe: true)
        } catch {
            throw UsageError("\(flag): \(printable(path)) cannot be read: \(error)")
        }
    }
}
