// SPDX-License-Identifier: MIT
//
// What the command line says about a call: who calls whom, at which server, what people do, and what goes wrong on the way.

import HTTPServer
import JSON
import NCCO
import Switchboard
import VonageAuth
import VonageSimulator

struct CallArguments {
    /// The same flags as `serve` has, read by the same table; they are for a server inside.
    private static let shared = ["--nccos", "--number", "--inbound-user", "--public-url", "--application-id"]
    private static let valued = [
        "--to", "--from", "--from-user", "--custom-data", "--sip", "--sip-header", "--flow", "--url", "--event-url", "--fallback-url",
        "--hangup", "--gives-up-after", "--secret-file", "--duplicate", "--drop", "--slow", "--skew", "--seed", "--rate", "--for", "--mix",
    ]
    private static let switches = [
        "--api", "--serve", "--post", "--json", "--realtime", "--reorder", "--unsigned", "--event-before-answer", "--retry",
        "--cut-connection", "--tunnel-html",
    ]
    /// A number of ours, and one of somebody else, both reserved for fiction; for calls of which nothing else is said.
    private static let (ours, theirs) = ("14155550100", "447700900123")
    static let defaultURL = "http://localhost:3000"

    private let given: CommandArguments
    let trouble: CallTrouble?
    let secrets: SignatureSecrets?
    /// For a server inside.
    let settings: Settings

    init(_ arguments: [String], environment: [String: String]) throws {
        let given = try CommandArguments(arguments, valued: Self.valued + CommandArguments.people + Self.shared, switches: Self.switches)
        self.given = given
        if let operand = given.operands.first {
            throw UsageError("\(printable(operand)): takes flags and nothing else; write --to NUMBER for whom is called")
        }
        secrets = try SignatureSecrets(file: try given.value("--secret-file"), environment: environment, flag: "--secret-file")
        settings = try Settings(
            arguments: Self.shared.flatMap { flag in (given.values[flag] ?? []).flatMap { [flag, $0] } }, environment: environment)
        trouble = try Self.trouble(given)
        if given.has("--serve"), given.has("--url") {
            throw UsageError("--serve starts a server inside, and --url names another one; give one of the two")
        }
    }

    /// Signs webhooks where there is a secret.
    func signer() throws -> WebhookSigner? {
        for warning in secrets?.warnings ?? [] { Console.errors.print("warning: \(warning)") }
        return try secrets.map { try WebhookSigner(secrets: $0, applicationID: settings.applicationID?.description) }
    }

    var startsServer: Bool { given.has("--serve") }
    var isJSON: Bool { given.has("--json") }
    var isRealTime: Bool { given.has("--realtime") }
    /// Nil where one call is to be played.
    var rate: String? { get throws(UsageError) { try given.value("--rate") } }

    func has(_ flag: String) -> Bool { given.has(flag) }

    func value(_ flag: String) throws(UsageError) -> String? { try given.value(flag) }

    /// The server's URL as it was given.
    var url: String { get throws(UsageError) { try given.value("--url") ?? Self.defaultURL } }

    // MARK: The call

    /// - Parameter url: the server, or its answer URL.
    func plan(at url: String) throws -> CallPlan {
        let addresses = try addresses(url)
        var plan = CallPlan(try origin(addresses.answer), answer: addresses.answer, event: addresses.event, fallback: addresses.fallback)
        plan.entries = try given.entries()
        plan.callee = try given.callee()
        plan.talkFor = try given.talkTime() ?? plan.talkFor
        plan.callerGivesUpAfter = try given.time("--gives-up-after", 0...7_200_000)
        if let who = try given.value("--hangup") {
            guard who == "caller" || who == "callee" else { throw UsageError("--hangup: \(printable(who)); write caller or callee") }
            plan.calleeHangsUp = who == "callee"
        }
        plan.ownNumbers = Set(settings.numbers.map(\.description))
        plan.sendsEventsFirst = given.has("--event-before-answer")
        return plan
    }

    /// A URL without a path is a server like this one, with its routes.
    private func addresses(
        _ url: String
    ) throws(UsageError) -> (answer: WebhookAddress, event: WebhookAddress?, fallback: WebhookAddress?) {
        let parts = try urlParts(url, "--url")
        let method: EventMethod = given.has("--post") ? .post : .get
        let isServer = parts.target == "/"
        let flow = try given.value("--flow")
        guard isServer || flow == nil else { throw UsageError("--flow: the path of --url names the flow already; leave one of them out") }
        let answer = WebhookAddress(url: isServer ? "\(parts.origin)/voice/\(percentEncoded(flow ?? "answer"))" : url, method: method)
        // Whoever has `/voice/answer` or another flow of this server has its other routes.
        let isOurs = isServer || parts.target.hasPrefix("/voice/")
        func other(_ flag: String, _ route: String, _ method: EventMethod) throws(UsageError) -> WebhookAddress? {
            guard let given = try given.value(flag) else {
                return isOurs ? WebhookAddress(url: "\(parts.origin)/voice/\(route)", method: method) : nil
            }
            guard !given.isEmpty else { return nil }
            _ = try urlParts(given, flag)
            return WebhookAddress(url: given, method: method)
        }
        return (answer, try other("--event-url", "event", .post), try other("--fallback-url", "fallback", method))
    }

    private func urlParts(_ url: String, _ flag: String) throws(UsageError) -> URLParts {
        guard let parts = URLParts(url) else {
            throw UsageError("\(flag): \(printable(url)) is no http or https URL; write \(Self.defaultURL) or a whole URL")
        }
        guard !parts.isTLS else { return parts }
        do throws(HTTPRequestError) { _ = try HTTPAddress(url: parts.origin) } catch {
            throw UsageError("\(flag): \(printable(url)): \(error)")
        }
        return parts
    }

    private func origin(_ answer: WebhookAddress) throws -> CallPlan.Origin {
        let kinds = ["--from-user", "--sip", "--api"].filter(given.has)
        guard kinds.count <= 1 else { throw UsageError("\(kinds.joined(separator: " and ")): a call comes from one of them") }
        let (to, from) = (try given.value("--to"), try given.value("--from"))
        if given.has("--custom-data"), !given.has("--from-user") {
            throw UsageError("--custom-data is what an app says beside its call; it needs --from-user")
        }
        if given.has("--sip-header"), !given.has("--sip") { throw UsageError("--sip-header needs --sip") }
        if let user = try given.value("--from-user") {
            guard from == nil else { throw UsageError("--from and --from-user exclude each other: an app user has no number") }
            return .app(user: user, to: to, customData: try customData())
        }
        if let caller = try given.value("--sip") {
            guard from == nil else { throw UsageError("--from and --sip exclude each other: the URI says who calls") }
            let headers = try (given.values["--sip-header"] ?? []).map { text throws(UsageError) in
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                guard parts.count == 2, parts[0].hasPrefix("X-") || parts[0] == "User-to-User" else {
                    throw UsageError(
                        "--sip-header: \(printable(text)); write X-NAME=VALUE or User-to-User=VALUE, which alone are passed on")
                }
                return (parts[0], parts[1])
            }
            return .sip(from: caller, to: to ?? ourNumber, headers: headers)
        }
        if given.has("--api") {
            guard let to else { throw UsageError("--api calls somebody: add --to NUMBER, a user's name, or a sip: or wss: URI") }
            return .api(to: Self.party(to), from: from ?? ourNumber, ncco: nil, answer: answer)
        }
        return .phone(from: from ?? Self.theirs, to: to ?? ourNumber)
    }

    var ourNumber: String { settings.numbers.first?.description ?? Self.ours }

    private static func party(_ to: String) -> CallPlan.Party {
        if to.hasPrefix("sip:") || to.hasPrefix("sips:") { return .sip(to) }
        if to.hasPrefix("ws://") || to.hasPrefix("wss://") { return .websocket(to) }
        return PhoneNumber(to).map { .phone($0.description) } ?? .app(to)
    }

    private func customData() throws -> JSONNode? {
        guard let text = try given.value("--custom-data") else { return nil }
        do throws(JSONError) {
            let node = try parseJSON(Array(text.utf8).span, maximumDepth: 32)
            if case .object = node.value { return node }
        } catch { throw UsageError("--custom-data is not JSON: \(error)") }
        throw UsageError("--custom-data: \(printable(text)) is no JSON object")
    }

    // MARK: Trouble

    private static func trouble(_ given: CommandArguments) throws(UsageError) -> CallTrouble? {
        var trouble = CallTrouble()
        func share(_ flag: String) throws(UsageError) -> Double {
            guard let text = try given.value(flag) else { return 0 }
            guard let share = Double(text), (0...1).contains(share) else {
                throw UsageError("\(flag): \(printable(text)) is no share; write 0 to 1, such as 0.2")
            }
            return share
        }
        trouble.duplicate = try share("--duplicate")
        trouble.drop = try share("--drop")
        trouble.reorders = given.has("--reorder")
        if let text = try given.value("--slow") { trouble.slow = try duration(text, in: 1...600_000, "--slow") }
        trouble.isUnsigned = given.has("--unsigned")
        if let text = try given.value("--skew") {
            let isBehind = text.hasPrefix("-")
            let skew = try duration(isBehind ? String(text.dropFirst()) : text, in: 0...86_400_000, "--skew", example: "120s or -120s")
            trouble.skew = isBehind ? -skew : skew
        }
        trouble.retries = given.has("--retry")
        trouble.cuts = given.has("--cut-connection")
        trouble.answersWithPage = given.has("--tunnel-html")
        let isAny = trouble != CallTrouble()
        if let text = try given.value("--seed") {
            guard let seed = UInt64(text) else { throw UsageError("--seed: \(printable(text)) is no whole number") }
            trouble.seed = seed
        } else {
            trouble.seed = .random(in: 0...999_999)
        }
        return isAny ? trouble : nil
    }
}
