// SPDX-License-Identifier: MIT
//
// The executable: which command, and with which exit code it ends. What the commands do is in the libraries.
//
// Exit codes are those of sysexits.h: 0 all went well, 64 the command line, 69 an address in use, or one where nobody listens, 73 the event
// folder belongs to another process, 74 nobody reads the output; 1 where `health` finds no server, `lint` an error, `test` an expectation
// that does not hold, `call` something lost, `events` a fault or `token inspect` something wrong; 2 where `lint --strict` finds a warning or
// `call` a broken rule.

import Dispatch
import NCCO
import Switchboard

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@main
struct SwitchboardCommand {
    static func main() {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let command = arguments.isEmpty ? "help" : arguments.removeFirst()
        let wantsHelp = arguments.contains("--help") || arguments.contains("-h")
        switch command {
        case "serve" where wantsHelp: Console.output.print(Help.serve)
        case "serve": Serve.run(arguments, environment: environment())
        case "call" where wantsHelp: Console.output.print(Help.call)
        case "call": CallCommand.run(arguments, environment: environment())
        case "lint" where wantsHelp: Console.output.print(Help.lint)
        case "lint": Lint.run(arguments)
        case "explain" where wantsHelp: Console.output.print(Help.explain)
        case "explain": Explain.run(arguments, environment: environment())
        case "test" where wantsHelp: Console.output.print(Help.test)
        case "test": TestCommand.run(arguments, environment: environment())
        case "doctor" where wantsHelp: Console.output.print(Help.doctor)
        case "doctor": DoctorCommand.run(arguments, environment: environment())
        case "events" where wantsHelp: Console.output.print(Help.events)
        case "events": Events.run(arguments, environment: environment())
        case "schema" where wantsHelp: Console.output.print(Help.schema)
        case "schema": Schema.run(arguments)
        case "users" where wantsHelp: Console.output.print(Help.users)
        case "users": Users.run(arguments, environment: environment())
        case "token" where wantsHelp: Console.output.print(Help.token)
        case "token": Token.run(arguments, environment: environment())
        case "simulate" where wantsHelp: Console.output.print(Help.simulate)
        case "simulate": Simulate.run(arguments, environment: environment())
        case "health" where wantsHelp: Console.output.print(Help.health)
        case "health": Health.run(arguments, environment: environment())
        case "version", "--version", "-v": Console.output.print("switchboard \(switchboardVersion)")
        case "help", "--help", "-h": Console.output.print(help(arguments.first))
        default:
            let hint = nearest(command, among: Help.commands).map { "did you mean \($0)?" } ?? "see switchboard help"
            finish(64, "switchboard: \(printable(command)) is no command; \(hint)")
        }
        finish(0)
    }

    private static func help(_ command: String?) -> String {
        switch command {
        case "serve": Help.serve
        case "call": Help.call
        case "lint": Help.lint
        case "explain": Help.explain
        case "schema": Help.schema
        case "test": Help.test
        case "doctor": Help.doctor
        case "events": Help.events
        case "users": Help.users
        case "token": Help.token
        case "simulate": Help.simulate
        case "health": Help.health
        default: Help.overview
        }
    }

    /// Ends the process once what was printed has been written.
    static func finish(_ code: Int32, _ message: String? = nil) -> Never {
        if let message { Console.errors.print(message) }
        Console.output.flush(milliseconds: 250)
        Console.errors.flush(milliseconds: 250)
        exit(code)
    }

    private static func environment() -> [String: String] {
        var variables: [String: String] = [:]
        // `environ` is read once, before any thread that could change it.
        var entry = environ
        while let text = entry.pointee {
            let pair = String(cString: text)
            if let equal = pair.firstIndex(of: "=") { variables[String(pair[..<equal])] = String(pair[pair.index(after: equal)...]) }
            entry += 1
        }
        return variables
    }
}
