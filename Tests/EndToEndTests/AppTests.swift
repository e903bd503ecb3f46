// SPDX-License-Identifier: MIT
//
// Users, rooms and tokens over real sockets on both sides: a client, the server, and a simulated Vonage that behaves and one that does not.

import Foundation
import HTTPServer
import HTTPWire
import Switchboard
import Testing
import VonageAPI
import VonageAuth
import VonageSimulator

private let applicationText = "11111111-2222-4333-8444-555555555555"
private let keyPath = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../VonageAuthTests/Vectors/keys/throw-away-pkcs8.pem").path
private let admin = "Authorization: Bearer \(TestServer.token)\r\n"

private func key() throws -> PrivateKey { try PrivateKey([UInt8](Data(contentsOf: URL(fileURLWithPath: keyPath)))) }

private func withVonage<Result>(_ trouble: String? = nil, _ body: (SimulatedVonageServer) throws -> Result) throws -> Result {
    var configuration = SimulatedVonageServer.Configuration()
    configuration.host = "127.0.0.1"
    configuration.port = 0
    configuration.applicationID = ApplicationID(applicationText)
    configuration.privateKey = try key()
    if let trouble { configuration.trouble = try Trouble(trouble) }
    let vonage = try SimulatedVonageServer(configuration)
    defer { vonage.stop(grace: 0) }
    return try body(vonage)
}

private func environment(_ vonage: SimulatedVonageServer) throws -> [String: String] {
    [
        "VONAGE_API_URL": vonage.baseURL, "VONAGE_VIDEO_URL": vonage.baseURL, "VONAGE_APPLICATION_ID": applicationText,
        "VONAGE_PRIVATE_KEY": try String(contentsOfFile: keyPath, encoding: .utf8), "SWITCHBOARD_ADMIN_TOKEN": TestServer.token,
    ]
}

private func object(_ answer: Answer) throws -> [String: String] { try #require(try answer.json() as? [String: String]) }

struct AppTests {
    @Test func `an app logs in, talks and meets, and the rooms are there after a restart`() throws {
        try withVonage { vonage in
            try withFolder { folder in
                var (session, room): (String?, String?)
                var secrets: [String] = []
                for round in 1...2 {
                    try withProcess(["--open-apps"], environment: try environment(vonage), folder: folder) { server in
                        for _ in 1...2 {
                            let login = try object(try server.ask(post("/auth", #"{"name":"Alice"}"#)))
                            #expect(login["name"] == "Alice" && login["jwt"]?.hasPrefix("eyJ") == true)
                            secrets.append(login["jwt"] ?? "")
                        }
                        if round == 1 {
                            #expect(try server.ask(get("/rooms")).text == "[]\n")
                            room = try object(try server.ask(post("/rooms", #"{"display_name":"Tea"}"#)))["id"]
                        }
                        let rooms = try #require(try server.ask(get("/rooms")).json() as? [[String: String]])
                        #expect(rooms == [["id": try #require(room), "display_name": "Tea"]])
                        let meeting = try object(try server.ask(get("/room/session")))
                        #expect(meeting["applicationId"] == applicationText && meeting["apiKey"] == applicationText)
                        #expect(session == nil || meeting["sessionId"] == session)
                        session = meeting["sessionId"]
                        #expect(session != nil)
                        secrets.append(meeting["token"] ?? "")
                        let redirect = try server.ask(get("/session"))
                        #expect(redirect.status == 303 && redirect["Location"] == "/room/session")
                        let users = try server.ask(get("/users", admin))
                        #expect(users.status == 200 && users.text.contains(#""name":"Alice""#))
                        #expect(try server.ask(post("/users/Alice/token", #"{"ttl":60}"#, admin)).status == 200)
                        server.signal(SIGTERM)
                        let end = try server.wait()
                        for secret in secrets { #expect(!secret.isEmpty && !(end.output + end.errors).contains(secret)) }
                    }
                }
            }
        }
    }

    @Test func `users are made, shown, given tokens and deleted from the command line`() throws {
        try withVonage { vonage in
            let environment = try environment(vonage)
            func users(_ arguments: String...) throws -> ServerProcess.End {
                try ServerProcess.run(["users"] + arguments, environment: environment)
            }
            let made = try users("create", "Alice")
            #expect(made.status == 0 && made.output.hasPrefix("USR-") && made.errors == "")
            #expect(try users("create", "Alice").output == made.output)
            #expect(try users("list").output == made.output.dropLast() + "  \"Alice\"\n")
            #expect(try users("list", "--json").output.contains(#""name":"Alice""#))
            let token = try users("token", "Alice", "--ttl", "1h")
            #expect(token.status == 0 && token.output.hasPrefix("eyJ"))
            let none = try users("token", "Bob")
            #expect(none.status == 1 && none.output == "" && none.errors.contains("switchboard users create"))
            #expect(try users("delete", "Alice").status == 0)
            #expect(try users("delete", "Alice").status == 1)
            for wrong in [
                ["token", "Alice", "--ttl", "1s"], ["create"], ["create", "12345"], ["lst"], [], ["list", "x"], ["list", "--region", "x"],
            ] {
                #expect(try ServerProcess.run(["users"] + wrong, environment: environment).status == 64, "\(wrong)")
            }
        }
        let unreachable = ["VONAGE_API_URL": "http://127.0.0.1:1", "VONAGE_APPLICATION_ID": applicationText, "VONAGE_PRIVATE_KEY": keyPath]
        let end = try ServerProcess.run(["users", "list"], environment: unreachable)
        #expect(end.status == 69 && end.errors.contains("cannot be reached"))
        #expect(try ServerProcess.run(["users", "list"]).status == 64)
    }

    @Test(arguments: [("429", 503), ("500", 502), ("html", 502), ("empty", 502), ("cut", 502), ("slow=30s", 504)])
    func `whatever Vonage does, whoever asks is answered, and calls are not held up`(_ trouble: String, _ status: Int) throws {
        try withVonage(trouble) { vonage in
            let apps = { (folder: String) in
                let (id, key) = (try #require(ApplicationID(applicationText)), try key())
                let source = try ApplicationTokenSource(applicationID: id, key: key)
                var configuration = VonageConfiguration(api: vonage.baseURL, video: vonage.baseURL)
                // Only who is to be given up on has little time: other tests take the cores meanwhile.
                configuration.time = trouble.hasPrefix("slow") ? 1500 : 60_000
                configuration.pauses = [1]
                let client = VonageClient(configuration, token: { try source.token(at: Int64(Date().timeIntervalSince1970)) })
                return AppService(
                    credentials: ApplicationCredentials(applicationID: id, key: key), rooms: try RoomBook(folder: folder), vonage: client,
                    patience: 60_000)
            }
            var limits = Limits()
            limits.replyTime = 60_000
            try withServer(limits: limits, apps: apps, adjust: { $0.opensApps = true }) { server throws in
                let requests = [
                    post("/auth", #"{"name":"Alice"}"#), post("/rooms", #"{"display_name":"Tea"}"#), get("/room/tea"), get("/users", admin),
                ]
                let clients = try requests.map { request in
                    let client = try server.client()
                    try client.send(request)
                    return client
                }
                #expect(try server.ask(get("/voice/answer?to=447700900123&from_user=Alice")).status == 200)
                for client in clients {
                    let answer = try client.read()
                    #expect(answer.status == status && answer["Content-Type"] == "application/problem+json", "\(answer)")
                }
            }
        }
    }
}
