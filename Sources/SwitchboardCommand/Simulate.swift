// SPDX-License-Identifier: MIT
//
// `switchboard simulate`: Vonage's side on a port of its own, with the lines that point a server at it. A key that is made for it lies in a file
// that its owner alone can read, and only the path is printed.

import HTTPServer
import HTTPWire
import NCCO
import Switchboard
import VonageAuth
import VonageSimulator

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

enum Simulate {
    static let valued =
        [
            "--host", "--port", "--application-id", "--private-key-file", "--public-key-file", "--state", "--fail", "--fail-every",
            "--duplicate-status", "--unknown-name", "--secret-file",
        ] + CommandArguments.people
    static let switches = ["--region-trap", "--no-call-limit", "--no-play"]

    static func run(_ arguments: [String], environment: [String: String]) {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let stop = StopSignals()
        do {
            var configuration = try configuration(arguments, environment)
            for warning in configuration.play?.secrets?.warnings ?? [] { Console.errors.print("warning: \(warning)") }
            let key = try KeyPlace(arguments, &configuration)
            let server: SimulatedVonageServer
            do { server = try SimulatedVonageServer(configuration) } catch {
                key.remove()
                throw error
            }
            print(server, key, configuration.play)
            stop.wait {}
            server.stop(grace: 2000)
            key.remove()
            SwitchboardCommand.finish(0)
        } catch ServerError.inUse(let address) {
            SwitchboardCommand.finish(69, "switchboard simulate: \(ServerError.inUse(address))")
        } catch {
            SwitchboardCommand.finish(error is CryptographyError ? 70 : 64, "switchboard simulate: \(error)")
        }
    }

    private static func print(_ server: SimulatedVonageServer, _ key: KeyPlace, _ play: PlayedCalls.Configuration?) {
        let lines = [
            "switchboard \(switchboardVersion): simulated Vonage listens on \(server.addresses.joined(separator: ", "))",
            "",
            "Point a server at it:",
            "  VONAGE_API_URL=\(server.baseURL)",
            "  VONAGE_VIDEO_URL=\(server.baseURL)",
            "  VONAGE_APPLICATION_ID=\(server.applicationID)",
            key.absolutePath.map { "  VONAGE_PRIVATE_KEY=\($0)" } ?? "  VONAGE_PRIVATE_KEY is the other half of the given key",
        ]
        for line in lines { Console.output.print(line) }
        guard let play else { return }
        // Whoever makes a call names whom it asks.
        Console.output.print("")
        Console.output.print(
            "Calls are played: webhooks go to whatever URL a call or the application names, \(play.secrets == nil ? "unsigned" : "signed")."
        )
    }

    private static func configuration(
        _ arguments: [String], _ environment: [String: String]
    ) throws -> SimulatedVonageServer.Configuration {
        let given = try CommandArguments(arguments, valued: valued, switches: switches)
        if let operand = given.operands.first { throw UsageError("\(printable(operand)): takes flags and nothing else") }
        var configuration = SimulatedVonageServer.Configuration()
        configuration.report = { Console.errors.print("warning: \($0)") }
        configuration.host = try given.value("--host") ?? configuration.host
        if let text = try given.value("--port") {
            guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(text) else {
                throw UsageError("--port: \(printable(text)) is no port; it is a number from 0 to 65535")
            }
            configuration.port = port
        }
        if let text = try given.value("--application-id") {
            do throws(TokenError) { configuration.applicationID = try ApplicationID(checking: text) } catch {
                throw UsageError("--application-id: \(error)")
            }
        }
        if let text = try given.value("--duplicate-status") {
            guard let status = [Status.badRequest, .conflict].first(where: { "\($0.rawValue)" == text }) else {
                throw UsageError("--duplicate-status: \(printable(text)) is neither 400 nor 409")
            }
            configuration.rules.duplicateStatus = status
        }
        if let text = try given.value("--unknown-name") {
            guard ["404", "empty"].contains(text) else {
                throw UsageError("--unknown-name: \(printable(text)) is neither 404 nor empty")
            }
            configuration.rules.unknownNameIsEmpty = text == "empty"
        }
        configuration.rules.hasRegionTrap = given.has("--region-trap")
        configuration.rules.limitsCallRate = !given.has("--no-call-limit")
        if let key = environment["VONAGE_API_KEY"], let secret = environment["VONAGE_API_SECRET"], !key.isEmpty, !secret.isEmpty {
            configuration.rules.account = SimulatedVonage.Account(key: key, secret: secret)
        }
        configuration.trouble = try trouble(given)
        configuration.play = try play(given, environment)
        if let path = try given.value("--state") {
            configuration.stateFile = path
            configuration.savedState = try savedState(path)
            if let state = configuration.savedState, let id = configuration.applicationID, state.applicationID != id {
                throw UsageError(
                    "--state: \(printable(path)) is of the application \(state.applicationID), and not of \(id); name another file")
            }
        }
        return configuration
    }

    /// Nil where calls are not played.
    private static func play(_ given: CommandArguments, _ environment: [String: String]) throws -> PlayedCalls.Configuration? {
        guard !given.has("--no-play") else {
            let needless = (CommandArguments.people + ["--secret-file"]).first(where: given.has)
            if let needless { throw UsageError("\(needless) is for calls that are played; leave out --no-play") }
            return nil
        }
        var play = PlayedCalls.Configuration()
        play.callee = try given.callee()
        play.entries = try given.entries()
        play.talkFor = try given.talkTime() ?? play.talkFor
        play.secrets = try SignatureSecrets(file: try given.value("--secret-file"), environment: environment, flag: "--secret-file")
        play.secure = SecureWebhooks().sender
        play.report = { Console.output.print($0) }
        return play
    }

    private static func trouble(_ given: CommandArguments) throws(UsageError) -> Trouble? {
        let every = try given.value("--fail-every")
        guard let list = try given.value("--fail") else {
            if every != nil { throw UsageError("--fail-every needs --fail, which says what happens") }
            return nil
        }
        guard let number = Int(every ?? "1"), Trouble.rounds.contains(number) else {
            throw UsageError("--fail-every: \(printable(every ?? "")) is no number from 1 to \(Trouble.rounds.upperBound)")
        }
        do throws(SimulatorError) { return try Trouble(list, every: number) } catch { throw UsageError("--fail: \(error)") }
    }

    /// Nil where there is no such file yet.
    private static func savedState(_ path: String) throws(UsageError) -> SavedState? {
        let bytes: [UInt8]
        do throws(SmallFileError) { bytes = try readSmallFile(path, limit: SavedState.largest) } catch {
            if error.isMissing { return nil }
            throw UsageError("--state: \(printable(path)) cannot be read: \(error)")
        }
        do throws(SimulatorError) { return try SavedState(bytes) } catch { throw UsageError("--state: \(printable(path)): \(error)") }
    }
}

/// Where the private key lies.
private struct KeyPlace {
    /// Nil where only the public half was given.
    let path: String?
    /// A folder that was made for it and goes with the process.
    private let folder: String?

    /// Reads the key that a flag names, or makes one.
    init(_ arguments: [String], _ configuration: inout SimulatedVonageServer.Configuration) throws {
        let given = try CommandArguments(arguments, valued: Simulate.valued, switches: Simulate.switches)
        let (privatePath, publicPath) = (try given.value("--private-key-file"), try given.value("--public-key-file"))
        if let privatePath {
            guard publicPath == nil else {
                throw UsageError("--private-key-file and --public-key-file are two halves of one key; name one")
            }
            configuration.privateKey = try readPrivateKey(privatePath, flag: "--private-key-file")
            (path, folder) = (privatePath, nil)
        } else if let publicPath {
            configuration.publicKey = try readPublicKey(publicPath, flag: "--public-key-file")
            (path, folder) = (nil, nil)
        } else if let state = configuration.stateFile {
            let file = state + ".key"
            if access(file, F_OK) == 0 {
                configuration.privateKey = try readPrivateKey(file, flag: "the key of --state")
            } else {
                configuration.privateKey = try Self.make(file)
            }
            (path, folder) = (file, nil)
        } else {
            let name = try TemporaryFolder.make("simulate", for: "the key")
            folder = name
            path = "\(name)/private.key"
            do { configuration.privateKey = try Self.make("\(name)/private.key") } catch {
                rmdir(name)
                throw error
            }
        }
    }

    /// For a server that works in another folder.
    var absolutePath: String? {
        guard let path else { return nil }
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func make(_ path: String) throws -> PrivateKey {
        let key = try PrivateKey.generate()
        let pem = try key.pem()
        do throws(SimulatorError) { try writeWhole(Array(pem.utf8), to: path) } catch {
            throw UsageError("the key for \(printable(path)): \(error)")
        }
        return key
    }

    func remove() {
        guard let folder, let path else { return }
        unlink(path)
        rmdir(folder)
    }
}
