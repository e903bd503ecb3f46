// SPDX-License-Identifier: MIT
//
// `switchboard token`: tokens made and looked at, without a network. The token alone goes to the output; whatever a person should know goes to
// standard error. A token that was given is never repeated in an error, because it may still be good.

import NCCO
import Switchboard
import VonageAuth

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

enum Token {
    private static let shared = ["--application-id", "--private-key-file"]
    /// Much more than any token, so that too long ones are refused in words.
    private static let largestInput = 4 * 1024 * 1024
    private static let actions = ["user", "application", "video", "inspect", "verify-webhook"]

    static func run(_ arguments: [String], environment: [String: String]) {
        let action = arguments.first ?? ""
        let rest = Array(arguments.dropFirst())
        do {
            switch action {
            case "user": try user(CommandArguments(rest, valued: shared + ["--ttl", "--acl"]), environment)
            case "application": try application(CommandArguments(rest, valued: shared + ["--ttl"]), environment)
            case "video": try video(CommandArguments(rest, valued: shared + ["--ttl", "--role", "--data"]), environment)
            case "inspect":
                try inspect(CommandArguments(rest, valued: shared + ["--public-key-file", "--at"], switches: ["--json"]), environment)
            case "verify-webhook": try VerifyWebhook.run(rest, environment: environment)
            default:
                // What stands here may be a token that was to be inspected.
                let hint = nearest(action, among: actions).map { "did you mean \($0)?" } ?? "write \(actions.joined(separator: ", "))"
                throw UsageError("what comes behind token is \(action.isEmpty ? "missing" : "none of its words"); \(hint)")
            }
        } catch {
            let name = actions.contains(action) ? " \(action)" : ""
            SwitchboardCommand.finish(64, "switchboard token\(name): \(error)")
        }
        SwitchboardCommand.finish(0)
    }

    private static func user(_ arguments: CommandArguments, _ environment: [String: String]) throws {
        guard arguments.operands.count == 1, let name = arguments.operands.first else {
            throw UsageError("write switchboard token user NAME; a name with blanks stands in quotes")
        }
        let lifetime = try lifetime(arguments) ?? UserToken.defaultLifetime
        let access = try arguments.value("--acl").map { try accessList($0) } ?? .user
        let credentials = try credentials(arguments, environment)
        let claims: UserToken
        do throws(TokenError) {
            claims = try UserToken(applicationID: credentials.applicationID, user: name, access: access, lifetime: lifetime)
        } catch {
            throw UsageError(error.description)
        }
        if name.hasPrefix("USR-") { Console.errors.print("warning: this looks like a user's id; a token is for the user's name") }
        Console.output.print(try claims.signed(by: credentials.key, at: Explain.now()))
    }

    private static func application(_ arguments: CommandArguments, _ environment: [String: String]) throws {
        guard arguments.operands.isEmpty else { throw UsageError("write switchboard token application, and nothing but flags behind it") }
        let lifetime = try lifetime(arguments) ?? ApplicationToken.defaultLifetime
        let credentials = try credentials(arguments, environment)
        let claims = try ApplicationToken(applicationID: credentials.applicationID, lifetime: lifetime)
        Console.output.print(try claims.signed(by: credentials.key, at: Explain.now()))
    }

    private static func video(_ arguments: CommandArguments, _ environment: [String: String]) throws {
        guard arguments.operands.count == 1, let session = arguments.operands.first else {
            throw UsageError("write switchboard token video SESSION, the session_id that Vonage answered")
        }
        let lifetime = try lifetime(arguments) ?? VideoToken.defaultLifetime
        let role = try arguments.value("--role").map { value throws(UsageError) in
            guard let role = VideoToken.Role(rawValue: value) else {
                throw UsageError("--role: \(printable(value)); write \(VideoToken.Role.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            return role
        }
        let data = try arguments.value("--data")
        let credentials = try credentials(arguments, environment)
        let claims = try VideoToken(
            applicationID: credentials.applicationID, session: session, role: role ?? .publisher, connectionData: data, lifetime: lifetime)
        Console.output.print(try claims.signed(by: credentials.key, at: Explain.now()))
    }

    private static func inspect(_ arguments: CommandArguments, _ environment: [String: String]) throws {
        guard arguments.operands.count <= 1 else { throw UsageError("one token at a time; a token has no blanks") }
        let now = try arguments.value("--at").map { value throws(UsageError) in try Explain.moment(value) } ?? Explain.now()
        let settings = try settings(arguments, environment)
        let found = try ApplicationCredentials(settings, environment: environment)
        let file = try arguments.value("--public-key-file")
        let key = try file.map { path throws(UsageError) in try readPublicKey(path, flag: "--public-key-file") } ?? found.key?.publicKey
        // With a key of its own the faults of another one are beside the point.
        if file == nil { warn(found) }
        let inspection = TokenInspection(try read(arguments.operands.first ?? "-"), at: now, key: key, applicationID: found.applicationID)
        Console.output.print(arguments.has("--json") ? inspection.json : inspection.text)
        SwitchboardCommand.finish(inspection.isValid == false ? 1 : 0)
    }

    private static func read(_ operand: String) throws(UsageError) -> [UInt8] {
        do throws(SmallFileError) {
            if operand == "-" { return try readAll(STDIN_FILENO, limit: largestInput) }
            if isToken(operand) { return Array(operand.utf8) }
            return try readSmallFile(operand, limit: largestInput, mayBePipe: true)
        } catch {
            throw UsageError(operand == "-" ? "standard input: \(error)" : "this is neither a token nor a file that can be read: \(error)")
        }
    }

    /// How tokens begin, `{"` in base64, or two dots in what is no path.
    private static func isToken(_ text: String) -> Bool {
        text.hasPrefix("eyJ") || text.hasPrefix("T1==") || text.lowercased().hasPrefix("bearer ")
            || (text.utf8.count { $0 == UInt8(ascii: ".") } == 2 && !text.contains("/"))
    }

    private static func lifetime(_ arguments: CommandArguments) throws(UsageError) -> Int64? {
        guard let text = try arguments.value("--ttl") else { return nil }
        // The range is the token's to say; here a year is the end of what makes sense.
        let milliseconds = try duration(text, in: 0...31_536_000_000, "--ttl", example: "90s, 15m, 6h or 30d")
        guard milliseconds % 1000 == 0 else { throw UsageError("--ttl: \(printable(text)) is not in whole seconds") }
        return milliseconds / 1000
    }

    private static func accessList(_ text: String) throws -> AccessList {
        do {
            if text.drop(while: { $0 == " " }).hasPrefix("{") { return try AccessList(json: text) }
            guard text.hasSuffix(".json") else {
                return try AccessList(paths: text.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
            }
            return try AccessList(json: String(decoding: try readSmallFile(text, limit: 64 * 1024, mayBePipe: true), as: UTF8.self))
        } catch {
            throw UsageError("--acl: \(error)")
        }
    }

    private static func settings(_ arguments: CommandArguments, _ environment: [String: String]) throws(UsageError) -> Settings {
        var flags: [String] = []
        for flag in shared {
            for value in arguments.values[flag] ?? [] { flags += [flag, value] }
        }
        // Of the environment only what these two look at: a bad port is no matter here.
        return try Settings(arguments: flags, environment: environment.filter { $0.key.hasSuffix("APPLICATION_ID") })
    }

    private static func credentials(_ arguments: CommandArguments, _ environment: [String: String]) throws -> ApplicationCredentials.Pair {
        let found = try ApplicationCredentials(try settings(arguments, environment), environment: environment)
        warn(found)
        guard let pair = found.pair else { throw UsageError(found.missing ?? "") }
        return pair
    }

    private static func warn(_ credentials: ApplicationCredentials) {
        for line in credentials.warnings { Console.errors.print("warning: \(line)") }
    }
}
