// SPDX-License-Identifier: MIT
//
// `switchboard users`: the people of an application, straight from Vonage's API; no server needs to run. What scripts want goes to the output
// alone: an id, or a token.

import Dispatch
import JSON
import Locking
import NCCO
import Switchboard
import VonageAPI
import VonageAuth

enum Users {
    private static let shared = ["--application-id", "--private-key-file", "--region", "--api-url"]
    /// What the flags are also taken from; the key's variables are read elsewhere.
    private static let variables = ["VONAGE_APPLICATION_ID", "API_APPLICATION_ID", "REGION", "VONAGE_API_URL"]
    private static let actions = ["list", "create", "delete", "token"]

    static func run(_ arguments: [String], environment: [String: String]) {
        let action = arguments.first ?? ""
        let rest = Array(arguments.dropFirst())
        do {
            switch action {
            case "list": try list(CommandArguments(rest, valued: shared, switches: ["--json"]), environment)
            case "create":
                let (apps, name) = try start(CommandArguments(rest, valued: shared), environment, action)
                Console.output.print(try wait { () async throws(AppError) in try await apps.makeUser(name) }.id)
            case "delete":
                let (apps, name) = try start(CommandArguments(rest, valued: shared), environment, action)
                try wait { () async throws(AppError) in try await apps.deleteUser(name) }
            case "token":
                let arguments = try CommandArguments(rest, valued: shared + ["--ttl"])
                let lifetime = try lifetime(arguments)
                let (apps, name) = try start(arguments, environment, action)
                Console.output.print(
                    try wait { () async throws(AppError) in try await apps.token(forExisting: name, lifetime: lifetime) })
            default:
                let hint = nearest(action, among: actions).map { "did you mean \($0)?" } ?? "write \(actions.joined(separator: ", "))"
                throw UsageError("\(action.isEmpty ? "no action is given" : "\(printable(action)) is none of its actions"); \(hint)")
            }
        } catch let error as AppError {
            SwitchboardCommand.finish(error.isUpstream ? 69 : 1, "switchboard users \(action): \(error)")
        } catch {
            let name = actions.contains(action) ? " \(action)" : ""
            SwitchboardCommand.finish(64, "switchboard users\(name): \(error)")
        }
        SwitchboardCommand.finish(0)
    }

    private static func list(_ arguments: CommandArguments, _ environment: [String: String]) throws {
        guard arguments.operands.isEmpty else { throw UsageError("write switchboard users list, and nothing but flags behind it") }
        let apps = try apps(arguments, environment)
        let (users, isCut) = try wait { () async throws(AppError) in try await apps.users() }
        for user in users {
            if arguments.has("--json") {
                var json = Array("{\"id\":".utf8)
                json.appendJSONString(user.id)
                json += ",\"name\":".utf8
                json.appendJSONString(user.name)
                if let displayName = user.displayName {
                    json += ",\"display_name\":".utf8
                    json.appendJSONString(displayName)
                }
                Console.output.print(String(decoding: json, as: UTF8.self) + "}")
            } else {
                let shown = user.displayName.flatMap { $0 == user.name ? nil : "  \(printable($0))" } ?? ""
                Console.output.print("\(user.id)  \(printable(user.name))\(shown)")
            }
        }
        if isCut { Console.errors.print("warning: there are more users; these are the first") }
    }

    /// The one name behind the action.
    private static func start(
        _ arguments: CommandArguments, _ environment: [String: String], _ action: String
    ) throws -> (AppService, UserName) {
        guard arguments.operands.count == 1, let text = arguments.operands.first else {
            throw UsageError("write switchboard users \(action) NAME; a name with blanks stands in quotes")
        }
        guard let name = UserName(text) else { throw UsageError("\(printable(text)) is not \(UserName.allowed)") }
        if name.description.hasPrefix("USR-") { Console.errors.print("warning: this looks like a user's id; users go by their name here") }
        return (try apps(arguments, environment), name)
    }

    private static func apps(_ arguments: CommandArguments, _ environment: [String: String]) throws -> AppService {
        var flags: [String] = []
        for flag in shared {
            for value in arguments.values[flag] ?? [] { flags += [flag, value] }
        }
        // Of the environment only what these look at: a bad port is no matter here.
        let settings = try Settings(arguments: flags, environment: environment.filter { variables.contains($0.key) })
        let credentials = try ApplicationCredentials(settings, environment: environment)
        for line in credentials.warnings { Console.errors.print("warning: \(line)") }
        if let missing = credentials.missing { throw UsageError(missing) }
        return try AppService(settings, credentials: credentials)
    }

    private static func lifetime(_ arguments: CommandArguments) throws(UsageError) -> Int64? {
        guard let text = try arguments.value("--ttl") else { return nil }
        let range = UserToken.lifetimes
        let milliseconds = try duration(text, in: range.lowerBound * 1000...range.upperBound * 1000, "--ttl", example: "15m or 6h")
        guard milliseconds % 1000 == 0 else { throw UsageError("--ttl: \(printable(text)) is not in whole seconds") }
        return milliseconds / 1000
    }

    /// A command has nothing else to do meanwhile; the client of Vonage's API waits for no longer than it says.
    @discardableResult
    private static func wait<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(AppError) -> Value
    ) throws -> Value {
        let done = DispatchSemaphore(value: 0)
        let result = Locked<Result<Value, AppError>?>(nil)
        Task {
            let outcome: Result<Value, AppError>
            do throws(AppError) { outcome = .success(try await work()) } catch { outcome = .failure(error) }
            result.withLock { $0 = outcome }
            done.signal()
        }
        done.wait()
        guard let outcome = result.withLock({ $0 }) else { throw UsageError("the request did not end") }
        return try outcome.get()
    }
}
