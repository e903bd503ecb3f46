// SPDX-License-Identifier: MIT
//
// `switchboard doctor`: looks at everything that a call depends on, and says with each fault what to do. It changes nothing, here or at Vonage.

import HTTPServer
import NCCO
import Switchboard
import VonageAPI
import VonageAuth

enum DoctorCommand {
    /// For each question to another machine, in milliseconds.
    private static let patience = 10_000
    /// A nonce has so many digits.
    private static let nonceLength = 32

    static func run(_ arguments: [String], environment: [String: String]) {
        let isOnline = arguments.contains("--online")
        let settings: Settings
        do throws(UsageError) {
            settings = try Settings(arguments: arguments.filter { $0 != "--online" }, environment: environment)
        } catch {
            finish([DoctorFinding(.settings, .failed, "\(error)", cure: "see switchboard serve --help")])
        }
        let clock = Clock.system
        let doctor = Doctor(settings, now: clock.wall())
        var findings = [DoctorFinding(.settings, .ok, "flags and environment can be read"), doctor.number]
        let credentials = credentials(settings, environment, &findings)
        let secrets = Result { () throws(UsageError) in
            try SignatureSecrets(file: settings.signatureSecretFile, environment: environment)
        }
        findings += doctor.secret(secrets)
        findings.append(doctor.clock)
        findings += doctor.flows
        findings += doctor.events

        let certificates = certificates(settings, &findings)

        let nonce = nonce()
        let (finding, expected, server) = listen(settings, certificates, nonce)
        findings.append(finding)
        let client = WebClient()
        findings += address(settings, nonce, expected, doctor, client)
        findings += vonage(isOnline, settings, credentials, doctor, client)
        server?.stop(grace: 0)
        for finding in findings { Console.output.print(finding.line) }
        Console.output.print("\nTo link application and number at Vonage, with Vonage's command line (npm install -g @vonage/cli):\n")
        let lines = VonageCommands.lines(
            applicationID: credentials?.applicationID?.description, numbers: settings.numbers, baseURL: settings.publicURL)
        for line in lines { Console.output.print("  \(line)") }
        SwitchboardCommand.finish(DoctorFinding.exitCode(findings))
    }

    private static func finish(_ findings: [DoctorFinding]) -> Never {
        for finding in findings { Console.output.print(finding.line) }
        SwitchboardCommand.finish(DoctorFinding.exitCode(findings))
    }

    /// The application's id and key, and a token made with them and checked.
    private static func credentials(
        _ settings: Settings, _ environment: [String: String], _ findings: inout [DoctorFinding]
    ) -> ApplicationCredentials? {
        let credentials: ApplicationCredentials
        do throws(UsageError) { credentials = try ApplicationCredentials(settings, environment: environment) } catch {
            findings.append(
                DoctorFinding(.application, .failed, "\(error)", cure: "use the private key that Vonage gave with the application"))
            return nil
        }
        for warning in credentials.warnings { findings.append(DoctorFinding(.application, .warning, warning)) }
        guard let pair = credentials.pair else {
            findings.append(
                DoctorFinding(.application, .warning, "tokens cannot be made: \(credentials.missing ?? "something is missing")"))
            return credentials
        }
        findings.append(
            DoctorFinding(.application, .ok, "\(pair.applicationID), \(pair.key) from \(credentials.keySource ?? "the settings")"))
        let now = Clock.system.wall() / 1000
        if let token = try? ApplicationToken(applicationID: pair.applicationID).signed(by: pair.key, at: now),
            TokenInspection(Array(token.utf8), at: now, key: pair.key.publicKey, applicationID: pair.applicationID).isValid == true
        {
            findings.append(DoctorFinding(.token, .ok, "an application token was made and checked"))
        } else {
            findings.append(DoctorFinding(.token, .failed, "OpenSSL cannot sign with the key", cure: "make a new key for the application"))
        }
        return credentials
    }

    /// The pair that TLS is spoken with; nil where none is, or none can be.
    private static func certificates(_ settings: Settings, _ findings: inout [DoctorFinding]) -> CertificateStore? {
        do throws(UsageError) {
            guard let certificates = try CertificateStore(settings, report: { _ in }) else { return nil }
            findings.append(
                certificates.warning.map { DoctorFinding(.certificate, .warning, $0) }
                    ?? DoctorFinding(.certificate, .ok, certificates.summary))
            return certificates
        } catch {
            findings.append(DoctorFinding(.certificate, .failed, "\(error)"))
            return nil
        }
    }

    /// Who listens where the server should: a Switchboard, which proves the nonce; else we do for the time being.
    private static func listen(
        _ settings: Settings, _ certificates: CertificateStore?, _ nonce: String
    ) -> (DoctorFinding, expected: String?, Server?) {
        let url = settings.listeningURL
        do throws(HTTPRequestError) {
            let client = try HTTPRequestClient(url: url)
            let answer = try client.send("GET", "/health?nonce=\(nonce)", milliseconds: 3000, maximumAnswer: 64 * 1024)
            if let proof = AddressAnswer(status: answer.status, body: answer.body).proof {
                return (DoctorFinding(.port, .ok, "a Switchboard listens at \(url)"), proof, nil)
            }
            // 400 is how a server with TLS answers plain HTTP, also one of ours.
            let cure =
                answer.status == 400 && settings.tlsCertificateFile == nil
                ? "stop it, choose another --port, or give the --tls-cert and --tls-key that it has"
                : "stop it, or choose another --port"
            return (DoctorFinding(.port, .failed, "another program listens at \(url)", cure: cure), nil, nil)
        } catch {
            guard error.fault == .unreachable else {
                return (DoctorFinding(.port, .failed, "\(error)", cure: "stop what listens there, or choose another --port"), nil, nil)
            }
        }
        let proof = HealthProof()
        do throws(ServerError) {
            var configuration = settings.server
            configuration.workers = 1
            configuration.tls = certificates?.current
            let server = try Server(configuration, service: DoctorService(proof))
            let finding = DoctorFinding(.port, .ok, "\(server.addresses.joined(separator: " and ")) can be listened on; nobody does now")
            return (finding, proof.proof(of: Array(nonce.utf8).span), server)
        } catch {
            return (DoctorFinding(.port, .failed, "\(error)"), nil, nil)
        }
    }

    private static func address(
        _ settings: Settings, _ nonce: String, _ expected: String?, _ doctor: Doctor, _ client: WebClient
    ) -> [DoctorFinding] {
        guard let url = settings.publicURL else {
            return [
                DoctorFinding(
                    .address, .skipped, "no public address is set, so whether Vonage can reach this server is not known",
                    cure: "start a tunnel, and give its address with --public-url")
            ]
        }
        guard let expected else { return [DoctorFinding(.address, .skipped, "not asked, since the port is not ours")] }
        do throws(WebError) {
            let answer = try client.sendAndWait(WebRequest("GET", "\(url)/health?nonce=\(nonce)", milliseconds: patience))
            let finding = AddressAnswer(status: answer.status, fields: answer.fields, body: answer.body).finding(url, expected: expected)
            // Our own clock is no second opinion.
            return [finding]
        } catch {
            return [DoctorFinding(.address, .failed, "\(url) cannot be asked: \(error)", cure: cure(error))]
        }
    }

    private static func vonage(
        _ isOnline: Bool, _ settings: Settings, _ credentials: ApplicationCredentials?, _ doctor: Doctor, _ client: WebClient
    ) -> [DoctorFinding] {
        guard isOnline else { return [DoctorFinding(.vonage, .skipped, "Vonage's API is asked only with --online")] }
        let api = settings.vonage.api
        var fields: [(name: String, value: String)] = []
        if let pair = credentials?.pair,
            let token = try? ApplicationToken(applicationID: pair.applicationID).signed(by: pair.key, at: Clock.system.wall() / 1000)
        {
            fields = [("Authorization", "Bearer \(token)")]
        }
        do throws(WebError) {
            let answer = try client.sendAndWait(WebRequest("GET", "\(api)/v1/users?page_size=1", fields: fields, milliseconds: patience))
            var findings: [DoctorFinding] = []
            if !fields.isEmpty, answer.status == 401 || answer.status == 403 {
                findings = [
                    DoctorFinding(
                        .vonage, .failed, "\(api) refuses the token (\(answer.status))",
                        cure: "is the key that of this application, and the clock right? make a new key in Vonage's dashboard otherwise")
                ]
            } else {
                findings = [DoctorFinding(.vonage, .ok, "\(api) answers (\(answer.status))")]
            }
            if let date = answer.fields["date"], let clock = doctor.clock(beside: (date, Clock.system.wall()), of: "Vonage") {
                findings.append(clock)
            }
            return findings
        } catch {
            return [DoctorFinding(.vonage, .failed, "\(api) cannot be asked: \(error)", cure: cure(error))]
        }
    }

    private static func cure(_ error: WebError) -> String {
        switch error.fault {
        case .badURL: "write https://HOST or https://HOST/PATH"
        case .unreachable: "check the name and the network; is the tunnel running?"
        case .insecure: "Vonage too refuses a certificate that it cannot check; is the name right, and the chain whole?"
        case .timeout: "Vonage gives up after some seconds, too; what is in the way?"
        case .tooLarge, .broken: "it is no HTTP server that can be used"
        case .noLibrary: "install it, or try from another machine with curl"
        case .busy, .stopped: "try again"
        }
    }

    private static func nonce() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<nonceLength).map { _ in String(Int.random(in: 0..<16, using: &random), radix: 16) }.joined()
    }
}
