// SPDX-License-Identifier: MIT
//
// `switchboard call`: a whole call against a server, as Vonage would make it, written down while it happens.
//
// Exit codes: 0 all went well, 1 the call or an event got lost, 2 the server broke a rule of Vonage's, 64 the command line, 69 nobody listens.

import Dispatch
import HTTPServer
import NCCO
import Switchboard
import Synchronization
import VonageAuth
import VonageSimulator

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

enum CallCommand {
    /// A signal has asked a load to end.
    static let wasStopped = Atomic<Bool>(false)

    static func run(_ arguments: [String], environment: [String: String]) {
        signal(SIGPIPE, SIG_IGN)
        let isLoad = arguments.contains { $0 == "--rate" || $0.hasPrefix("--rate=") }
        // A load tells what came of it so far.
        let stop = StopSignals(ending: {
            if isLoad {
                wasStopped.store(true, ordering: .relaxed)
            } else {
                TemporaryFolder.removeAll()
            }
            return !isLoad
        })
        defer { withExtendedLifetime(stop) {} }
        do {
            let arguments = try CallArguments(arguments, environment: environment)
            let server = arguments.startsServer ? try InnerServer(arguments.settings, secrets: arguments.secrets) : nil
            let url = try server?.url ?? arguments.url
            let code: Int32
            do {
                code = try arguments.rate == nil ? play(arguments, url) : CallLoad.run(arguments, url)
            } catch {
                server?.stop()
                throw error
            }
            server?.stop()
            SwitchboardCommand.finish(code)
        } catch let error as FlowFolderError {
            SwitchboardCommand.finish(64, "\(error)\nswitchboard call: the flows have errors; nothing was played")
        } catch {
            SwitchboardCommand.finish(64, "switchboard call: \(error)")
        }
    }

    private static func play(_ arguments: CallArguments, _ url: String) throws -> Int32 {
        for flag in ["--for", "--mix"] where try arguments.value(flag) != nil {
            throw UsageError("\(flag) is for many calls: add --rate, such as --rate 200/s")
        }
        let plan = try arguments.plan(at: url)
        // The server inside is reached as it is, whatever it calls itself.
        let standIn =
            arguments.startsServer ? arguments.settings.publicURL.map { LoopTransport.StandIn(url: $0, instead: url) } : nil
        let transport = try LoopTransport(connections: 16, standIn: standIn, secure: SecureWebhooks().sender)
        let player = CallPlayer(
            transport: transport, pace: arguments.isRealTime ? .real : .virtual, signer: try arguments.signer(),
            trouble: arguments.trouble)
        var screen = Screen()
        var shown = 0
        // Nothing is shown until somebody was there, since most calls to nobody are a server that was not started.
        func show(_ call: PlayedCall) {
            guard !call.steps.foundNobody else { return }
            for step in call.steps.dropFirst(shown) {
                if arguments.isJSON {
                    screen.print(CallReport.json(step))
                } else if let line = CallReport.line(step) {
                    screen.print(line)
                }
            }
            shown = call.steps.count
            screen.flush()
        }
        if let trouble = arguments.trouble { screen.note("trouble: \(trouble.summary)") }
        var played: PlayedCall?
        let began = Clock.system.wall() + (arguments.trouble?.skew ?? 0)
        let call = PlayedCall(plan, began: began, ids: { TokenID().description })
        player.play(call, changed: { show($0) }, done: { played = $0 })
        player.run()
        guard let played else { return 1 }
        show(played)
        if played.steps.foundNobody {
            tellUnreachable(url, isUnknown: unreached(played).contains(.unresolved))
            return 69
        }
        let verdict = CallVerdict(played)
        if arguments.isJSON {
            screen.print(verdict.json)
        } else {
            for line in verdict.lines { screen.print(line) }
            if plan.event == nil { screen.print("No event was sent, since there is no event URL; add --event-url to hear of them.") }
        }
        screen.flush()
        return verdict.exitCode
    }

    /// One line for a server that is not there.
    static func tellUnreachable(_ url: String, isUnknown: Bool = false) {
        let why =
            isUnknown
            ? "the host of \(printable(url)) is not known here; look at --url"
            : "nobody listens at \(printable(url)); start a server with switchboard serve, or add --serve for one inside"
        Console.errors.print("switchboard call: \(why)")
    }

    /// Why requests found nobody.
    private static func unreached(_ call: PlayedCall) -> Set<PlayedFailure> {
        Set(
            call.steps.compactMap { step in
                if case .exchange(let exchange) = step.what, case .failure(let failure, _) = exchange.outcome { failure } else { nil }
            })
    }
}
