// SPDX-License-Identifier: MIT
//
// Users, rooms and tokens from request to answer, with a Vonage that is a value in memory.

import EventLog
import Foundation
import HTTPServer
import HTTPWire
import Testing
import VonageAPI
import VonageAuth

@testable import Switchboard

// What the apps decode, with their keys and no others.
private struct Login: Decodable, Equatable { let name, jwt: String }
private struct OnlyJWT: Decodable { let jwt: String }
private struct OnlyToken: Decodable { let token: String }
private struct RoomID: Decodable { let id: String }
private struct ListedRoom: Decodable, Equatable {
    let id: String
    let displayName: String

    private enum CodingKeys: String, CodingKey {
        case id
        case displayName = "display_name"
    }

    init(id: String, displayName: String) { (self.id, self.displayName) = (id, displayName) }
}
private struct VideoRoom: Decodable { let applicationId, apiKey, sessionId, token: String }
private struct Problem: Decodable {
    let title, type, detail: String
    let status: Int
}

private let admin = "Authorization: Bearer 0123456789abcdef\r\n"
private let form = "Content-Type: application/x-www-form-urlencoded\r\n"

private func get(_ target: String, _ fields: String = "", method: String = "GET") -> String {
    "\(method) \(target) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n"
}

private func decode<Value: Decodable>(_ type: Value.Type, _ response: Response) throws -> Value {
    try JSONDecoder().decode(type, from: Data(response.body))
}

/// The claims of a token.
private func claims(_ token: String) throws -> [String: Any] {
    let parts = token.split(separator: ".")
    try #require(parts.count == 3)
    var text = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
    while text.utf8.count % 4 != 0 { text += "=" }
    let data = try #require(Data(base64Encoded: String(text)))
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
}

private func bench(
    _ vonage: FakeVonage = FakeVonage(), credentials: ApplicationCredentials? = nil, errors: Console = Console(descriptor: -1),
    keepsRooms: Bool = true, _ adjust: (inout Settings) throws -> Void = { $0.opensApps = true }
) throws -> HandlerBench {
    try HandlerBench(
        adjust: adjust,
        apps: { folder, clock in
            AppService(
                credentials: try credentials ?? TestApplication.credentials(), rooms: keepsRooms ? try RoomBook(folder: folder) : nil,
                vonage: vonage, clock: clock)
        })
}

struct UserRouteTests {
    @Test func `the admin lists users without those that Vonage made, over all pages`() throws {
        let names = ["Alice", "NAM-1", "USR-2", "Bob", "Čeněk \"x\"", "NAM-3", "Dora"]
        let response = try bench(FakeVonage(users: names)).ask(get("/users", admin))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: [[String: String]]])
        #expect(json["users"]?.compactMap { $0["name"] } == ["Alice", "Bob", "Čeněk \"x\"", "Dora"])
        #expect(json["users"]?.first == ["id": "USR-0", "name": "Alice"])
    }

    @Test func `a user is made once, whoever asks again`() throws {
        let vonage = FakeVonage()
        let bench = try bench(vonage)
        for request in [post("/users", #"{"name":"Alice"}"#, admin), post("/users", "name=Alice", admin + form)] {
            let response = try bench.ask(request)
            #expect(response.status == .ok && String(decoding: response.body, as: UTF8.self) == "{\"id\":\"USR-0\",\"name\":\"Alice\"}\n")
        }
        #expect(vonage.userNames == ["Alice"])
        #expect(vonage.calls == ["create Alice", "create Alice", "find Alice"])
    }

    @Test func `fifty equal requests at once make one user`() throws {
        let vonage = FakeVonage()
        let bench = try bench(vonage)
        vonage.hold()
        let tickets = try (0..<50).map { _ in try bench.reply(post("/users", #"{"name":"Alice"}"#, admin)).ticket }
        try vonage.waitUntilAsked()
        vonage.letGo()
        for ticket in tickets { #expect(try bench.wait(for: ticket).status == .ok) }
        #expect(vonage.userNames == ["Alice"])
    }

    @Test func `a user is deleted by name, and is not there then`() throws {
        let vonage = FakeVonage(users: ["Alice", "A b"])
        let bench = try bench(vonage)
        let deleted = try bench.ask(get("/users/A%20b", admin, method: "DELETE"))
        #expect(deleted.status == .noContent && deleted.body.isEmpty)
        #expect(vonage.userNames == ["Alice"])
        for name in ["A%20b", "1234", "%ff"] { #expect(try bench.ask(get("/users/\(name)", admin, method: "DELETE")).status == .notFound) }
    }

    @Test func `a token is of the user's name, for the time that was asked for, and for those who are there`() throws {
        let bench = try bench(FakeVonage(users: ["Alice"]))
        for (body, lifetime) in [("", 21_600), (#"{"ttl":60}"#, 60), (#"{"ttl":"86400"}"#, 86_400)] {
            let response = try bench.ask(post("/users/Alice/token", body, admin))
            #expect(response.status == .ok && String(decoding: response.fields.bytes, as: UTF8.self).contains("no-store"))
            let claims = try claims(try decode(OnlyToken.self, response).token)
            #expect(claims["sub"] as? String == "Alice" && claims["application_id"] as? String == TestApplication.id)
            let (from, to) = (try #require(claims["iat"] as? Int), try #require(claims["exp"] as? Int))
            #expect(to - from == lifetime)
        }
        for body in [
            #"{"ttl":59}"#, #"{"ttl":86401}"#, #"{"ttl":1.5}"#, #"{"ttl":"x"}"#, #"{"ttl":[60]}"#, #"{"ttl":99999999999999999999}"#,
        ] {
            #expect(try bench.ask(post("/users/Alice/token", body, admin)).status == .badRequest, "\(body)")
        }
        let missing = try bench.ask(post("/users/Bob/token", "{}", admin))
        #expect(missing.status == .notFound && String(decoding: missing.body, as: UTF8.self).contains("POST /users"))
    }

    @Test(arguments: [
        "{}", #"{"name":""}"#, #"{"name":null}"#, #"{"name":5}"#, #"{"name":["a"]}"#, #"{"name":"447700900123"}"#, "{", "name=x",
        #"{"name":"\#(String(repeating: "a", count: 101))"}"#, #"{"name":"a\nb"}"#, #"{"name":"NAM-1"}"#,
        #"{"name":"USR-1"}"#, #"{"name":"a/b"}"#, #"{"name":"a\\b"}"#, #"{"name":"\ud800x"}"#,
    ])
    func `what is no name makes no user`(_ body: String) throws {
        let vonage = FakeVonage()
        #expect(try bench(vonage).ask(post("/users", body, admin)).status == .badRequest)
        #expect(vonage.calls.isEmpty)
    }

    @Test func `strangers see nothing of users, also where apps are open`() throws {
        let bench = try bench(FakeVonage(users: ["Alice"]))
        let requests = [
            get("/users"), post("/users", #"{"name":"Bob"}"#), get("/users/Alice", method: "DELETE"), post("/users/Alice/token", "{}"),
        ]
        for request in requests { #expect(try bench.reply(request).now?.status == .notFound) }
    }
}

struct AppTokenTests {
    @Test func `the tutorials' apps get what they decode, for a user that is made where needed`() throws {
        for (request, decode) in [
            (get("/jwt?username=Alice"), { try decode(OnlyJWT.self, $0).jwt }),
            (post("/getJWT", #"{"username":"Alice"}"#), { try decode(OnlyJWT.self, $0).jwt }),
            (post("/getJWT", "username=Alice", form), { try decode(OnlyJWT.self, $0).jwt }),
            (get("/token?name=Alice"), { try decode(OnlyToken.self, $0).token }),
            (post("/user", #"{"username":"Alice"}"#), { try decode(OnlyToken.self, $0).token }),
            (post("/auth", #"{"name":"Alice"}"#), { try decode(Login.self, $0).jwt }),
            (post("/auth", "name=Alice", form), { try decode(Login.self, $0).jwt }),
        ] as [(String, (Response) throws -> String)] {
            for users in [[], ["Alice"]] {
                let vonage = FakeVonage(users: users)
                let response = try bench(vonage).ask(request)
                #expect(response.status == .ok && response.contentType == .json)
                #expect(try claims(decode(response))["sub"] as? String == "Alice")
                #expect(vonage.userNames == ["Alice"])
            }
        }
        let made = try bench().ask(post("/createUser", #"{"username":"Alice"}"#))
        #expect(made.status == .ok && made.body == Array("OK".utf8) && made.contentType == .text)
        #expect(try decode(Login.self, try bench().ask(post("/auth", #"{"name":"Ünal"}"#))).name == "Ünal")
    }

    @Test func `a token without a name is told so as the tutorials do`() throws {
        let response = try #require(try bench().reply(get("/token")).now)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: String])
        #expect(response.status == .badRequest && response.contentType == .json && Array(json.keys) == ["error"])
    }

    @Test func `where apps are closed there is nothing, but for the admin`() throws {
        let bench = try bench(FakeVonage()) { _ in }
        for request in [
            get("/jwt?username=A"), get("/token?name=A"), post("/auth", #"{"name":"A"}"#), get("/rooms"), get("/session"), get("/room/a"),
        ] {
            #expect(try bench.reply(request).now?.status == .notFound)
        }
        #expect(try bench.ask(get("/token?name=A", admin)).status == .ok)
        #expect(try bench.ask(get("/room/a?role=moderator&ttl=60", admin)).status == .ok)
    }

    @Test func `somebody who asks too often waits, and the admin does not`() throws {
        let bench = try bench(FakeVonage()) {
            $0.opensApps = true
            $0.openAppsLimit = RateLimit(clamping: 2, per: .minute)
        }
        for _ in 0..<2 { #expect(try bench.ask(get("/rooms")).status == .ok) }
        let response = try #require(try bench.reply(get("/rooms")).now)
        #expect(response.status == .tooManyRequests)
        #expect(String(decoding: response.fields.bytes, as: UTF8.self).contains("Retry-After: "))
        #expect(try bench.ask(get("/rooms", admin)).status == .ok)
    }

    @Test func `without credentials it is said what is missing`() throws {
        for credentials in [
            ApplicationCredentials(), ApplicationCredentials(applicationID: try TestApplication.credentials().applicationID),
        ] {
            let vonage = FakeVonage()
            let bench = try bench(vonage, credentials: credentials)
            for request in [
                get("/users", admin), post("/auth", #"{"name":"A"}"#), get("/rooms"), get("/room/a"), post("/users/A/token", "", admin),
            ] {
                let response = try bench.ask(request)
                #expect(response.status == .serviceUnavailable)
                #expect(String(decoding: response.body, as: UTF8.self).contains(try #require(credentials.missing)))
            }
            #expect(vonage.calls.isEmpty)
        }
    }
}

struct TalkingRoomTests {
    @Test func `rooms made here are listed, newest first, over all pages, and nothing else`() throws {
        let vonage = FakeVonage()
        let bench = try bench(vonage)
        #expect(try bench.ask(get("/rooms")).body == Array("[]\n".utf8))
        var made: [ListedRoom] = []
        for number in 1...5 {
            let name = "Tea \"\(number)\" 🫖"
            let id = try decode(RoomID.self, try bench.ask(post("/rooms", #"{"display_name":"Tea \"\#(number)\" 🫖"}"#))).id
            made.insert(ListedRoom(id: id, displayName: name), at: 0)
            vonage.add(VonageConversation(id: "CON-call-\(number)", name: "NAM-\(number)"))
            vonage.add(VonageConversation(id: "CON-other-\(number)", name: "other", displayName: "of another server"))
        }
        #expect(try decode([ListedRoom].self, try bench.ask(get("/rooms"))) == made)
        #expect(try bench.ask(get("/rooms", method: "HEAD")).status == .ok)
        #expect(vonage.calls.count { $0.hasPrefix("room ") && $0.hasSuffix(" 300") } == 5)
        let names = vonage.conversationNames.filter { $0.hasPrefix("room-") }
        #expect(Set(names).count == 5)
        // One whose name Vonage does not tell would make the app drop all.
        vonage.forget(conversation: made[0].id)
        vonage.add(VonageConversation(id: made[0].id, name: "x"))
        #expect(try decode([ListedRoom].self, try bench.ask(get("/rooms"))) == Array(made.dropFirst()))
    }

    @Test func `rooms are known after a restart`() throws {
        let vonage = FakeVonage()
        let bench = try bench(vonage)
        let id = try decode(RoomID.self, try bench.ask(post("/rooms", #"{"display_name":"Tea"}"#))).id
        let again = try RoomBook(folder: bench.events)
        #expect(again.isOurs(conversation: id) && again.roomsMade == 1 && again.warning == nil)
    }

    @Test(arguments: [
        ("Tea", true), (String(repeating: "a", count: 50), true), (String(repeating: "é", count: 50), true),
        (String(repeating: "😀", count: 25), true), ("", false), (String(repeating: "a", count: 51), false),
        (String(repeating: "😀", count: 26), false), (String(repeating: "e\u{301}", count: 26), false),
    ])
    func `a room's name has as many characters as Vonage counts`(_ name: String, _ isTaken: Bool) throws {
        let vonage = FakeVonage()
        let response = try bench(vonage).ask(post("/rooms", "{\"display_name\":\"\(name)\"}"))
        #expect(response.status == (isTaken ? .ok : .badRequest))
        #expect(vonage.calls.isEmpty == !isTaken)
    }

    @Test func `who asks after a room was made sees it, also while an older list is under way`() throws {
        let vonage = FakeVonage()
        let bench = try bench(vonage)
        _ = try bench.ask(post("/rooms", #"{"display_name":"First"}"#))
        vonage.hold("rooms")
        let old = try bench.reply(get("/rooms")).ticket
        try vonage.waitUntilAsked("rooms")
        _ = try bench.ask(post("/rooms", #"{"display_name":"Second"}"#))
        let new = try bench.reply(get("/rooms")).ticket
        try vonage.waitUntilAsked("rooms", times: 2)
        vonage.letGo()
        #expect(try decode([ListedRoom].self, bench.wait(for: new)).map(\.displayName) == ["Second", "First"])
        _ = try bench.wait(for: old)
    }
}

struct VideoRoomTests {
    @Test func `a room has one session, and each who asks a token of their own`() throws {
        let vonage = FakeVonage()
        let bench = try bench(vonage)
        let (one, two) = (try decode(VideoRoom.self, bench.ask(get("/room/tea"))), try decode(VideoRoom.self, bench.ask(get("/room/tea"))))
        #expect(one.sessionId == "1_session-1" && one.sessionId == two.sessionId && one.token != two.token)
        #expect(one.applicationId == TestApplication.id && one.apiKey == TestApplication.id)
        let claims = try claims(one.token)
        #expect(claims["role"] as? String == "publisher" && claims["session_id"] as? String == one.sessionId)
        #expect(claims["scope"] as? String == "session.connect" && claims["sub"] as? String == "video")
        #expect(try decode(VideoRoom.self, bench.ask(get("/room/Tea"))).sessionId == "1_session-2")
        #expect(vonage.calls == ["session", "session"])
    }

    @Test func `fifty at once get one session, which is kept over a restart`() throws {
        let vonage = FakeVonage()
        let bench = try bench(vonage)
        vonage.hold()
        let tickets = try (0..<50).map { _ in try bench.reply(get("/room/tea")).ticket }
        try vonage.waitUntilAsked()
        vonage.letGo()
        let rooms = try tickets.map { try decode(VideoRoom.self, bench.wait(for: $0)) }
        #expect(Set(rooms.map(\.sessionId)) == ["1_session-1"] && Set(rooms.map(\.token)).count == 50)
        #expect(vonage.calls == ["session"])
        let application = try #require(try TestApplication.credentials().applicationID)
        #expect(try RoomBook(folder: bench.events).session(ofRoom: "tea", application) == "1_session-1")
    }

    @Test func `a session that could not be made is made by the next who asks`() throws {
        let vonage = FakeVonage()
        let bench = try bench(vonage)
        vonage.fail(.timeout)
        #expect(try bench.ask(get("/room/tea")).status == .gatewayTimeout)
        vonage.fail(nil)
        #expect(try bench.ask(get("/room/tea")).status == .ok)
    }

    @Test func `role and ttl are the admin's`() throws {
        let bench = try bench()
        for query in ["role=moderator", "ttl=60", "role=publisher&ttl=60"] {
            #expect(try bench.reply(get("/room/tea?\(query)")).now?.status == .forbidden)
        }
        let room = try decode(VideoRoom.self, bench.ask(get("/room/tea?role=moderator&ttl=60", admin)))
        let claims = try claims(room.token)
        let (from, to) = (try #require(claims["iat"] as? Int), try #require(claims["exp"] as? Int))
        #expect(claims["role"] as? String == "moderator" && to - from == 60)
        for query in ["role=boss", "ttl=59", "ttl=2592001", "ttl=x"] {
            #expect(try bench.ask(get("/room/tea?\(query)", admin)).status == .badRequest, "\(query)")
        }
    }

    @Test(arguments: [
        ("a", true), ("A-z_0.9", true), (String(repeating: "x", count: 100), true), (String(repeating: "x", count: 101), false),
        (".", false),
        ("a%20b", false), ("%C3%A9", false), ("a+b", false), ("a~", false),
    ])
    func `a room's name is one to a hundred safe characters`(_ name: String, _ isTaken: Bool) throws {
        #expect(try bench().ask(get("/room/\(name)")).status == (isTaken ? .ok : .badRequest))
    }

    @Test func `the session is the room of that name, below a proxy's prefix`() throws {
        let bench = try bench()
        let plain = try #require(try bench.reply(get("/session")).now)
        #expect(plain.status == .seeOther && String(decoding: plain.fields.bytes, as: UTF8.self).contains("Location: /room/session\r\n"))
        bench.peer = .address(try #require(IPAddress("127.0.0.1")))
        let proxied = try #require(try bench.reply(get("/session", "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Prefix: /calls\r\n")).now)
        #expect(String(decoding: proxied.fields.bytes, as: UTF8.self).contains("Location: /calls/room/session\r\n"))
    }

    @Test func `there are so many rooms and no more, of each kind`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rooms-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let application = try #require(try TestApplication.credentials().applicationID)
        let book = try RoomBook(folder: folder, mostRooms: 2)
        for number in 1...2 {
            try book.checkRoom()
            try await book.keep(conversation: "CON-\(number)", displayName: "x", at: 0)
        }
        #expect(throws: AppError.self) { try book.checkRoom() }
        try book.checkVideoRoom()
        for number in 1...2 { try await book.keep(session: "s", ofRoom: "\(number)", application, at: 0) }
        #expect(throws: AppError.self) { try book.checkVideoRoom() }
        let again = try RoomBook(folder: folder, mostRooms: 2)
        #expect(throws: AppError.self) { try again.checkRoom() }
        #expect(throws: AppError.self) { try again.checkVideoRoom() }
        // Another application's sessions are worth nothing to this one.
        #expect(again.session(ofRoom: "1", try #require(ApplicationIDs.other)) == nil)
    }
}

struct AppErrorTests {
    private static let faults: [(VonageError.Fault, Status)] = [
        (.busy, .serviceUnavailable), (.noToken, .serviceUnavailable), (.timeout, .gatewayTimeout), (.noAnswer, .badGateway),
        (.unreadable, .badGateway), (.tooMany(retryAfter: 7), .serviceUnavailable), (.tooMany(retryAfter: nil), .serviceUnavailable),
        (.refused(status: 401, code: "system:error:invalid-token"), .badGateway), (.refused(status: 403, code: nil), .badGateway),
        (.refused(status: 400, code: "http:error:validation-fail"), .badRequest), (.refused(status: 400, code: nil), .badGateway),
        (.refused(status: 500, code: "system:error:internal-error"), .badGateway),
    ]

    private static let requests = [
        get("/users", admin), post("/users", #"{"name":"A"}"#, admin), get("/users/A", admin, method: "DELETE"),
        post("/users/A/token", "{}", admin),
        get("/jwt?username=A"), post("/getJWT", #"{"username":"A"}"#), get("/token?name=A"), post("/user", #"{"username":"A"}"#),
        post("/createUser", #"{"username":"A"}"#), post("/auth", #"{"name":"A"}"#), get("/rooms"), post("/rooms", #"{"display_name":"T"}"#),
        get("/room/tea"),
    ]

    /// No app takes it for what it asked for.
    private func isNoSuccess(_ response: Response) {
        #expect(throws: (any Error).self) { try decode(Login.self, response) }
        #expect(throws: (any Error).self) { try decode(OnlyJWT.self, response) }
        #expect(throws: (any Error).self) { try decode(OnlyToken.self, response) }
        #expect(throws: (any Error).self) { try decode(RoomID.self, response) }
        #expect(throws: (any Error).self) { try decode([ListedRoom].self, response) }
        #expect(throws: (any Error).self) { try decode(VideoRoom.self, response) }
        #expect(response.body != Array("OK".utf8))
    }

    @Test func `each trouble with Vonage is a problem document, and none looks like an answer`() throws {
        for (fault, status) in Self.faults {
            let vonage = FakeVonage(users: ["A"])
            let bench = try bench(vonage)
            // A room, so that there is one to be listed.
            _ = try bench.ask(post("/rooms", #"{"display_name":"T"}"#))
            vonage.fail(fault)
            for request in Self.requests {
                let response = try bench.ask(request)
                // A token's route tells a bad value in the tutorials' own way only where it was not sent on.
                #expect(response.status == status, "\(fault) \(request)")
                let problem = try decode(Problem.self, response)
                #expect(problem.type == "about:blank" && problem.status == Int(status.rawValue))
                #expect(response.contentType == .problem && !problem.detail.contains("the cause"))
                isNoSuccess(response)
                let fields = String(decoding: response.fields.bytes, as: UTF8.self)
                if case .tooMany(let seconds) = fault { #expect(fields.contains("Retry-After: \(seconds ?? 1)\r\n")) }
            }
        }
    }

    @Test func `no other error looks like an answer`() throws {
        let bad = [
            get("/jwt"), post("/getJWT", "{"), get("/token"), post("/user", "{}"), post("/createUser", #"{"username":5}"#),
            post("/auth", "{}"),
            post("/auth", "", "Content-Encoding: gzip\r\n"), post("/rooms", "{}"), get("/room/a%20b"), get("/room/a?ttl=1"),
            get("/auth"), post("/jwt", ""), get("/roomz"), get("/%zz"), get("/rooms", method: "DELETE"),
        ]
        let open = try bench()
        for request in bad { isNoSuccess(try open.ask(request)) }
        let closed = try bench(FakeVonage()) { _ in }
        let bare = try HandlerBench(adjust: { $0.opensApps = true })
        let roomless = try bench(keepsRooms: false)
        let empty = try bench(credentials: ApplicationCredentials())
        for request in Self.requests where !request.contains("Bearer") {
            for bench in [closed, bare, empty] {
                let response = try bench.ask(request)
                #expect(response.status.rawValue >= 400)
                isNoSuccess(response)
            }
        }
        for request in [get("/rooms"), post("/rooms", #"{"display_name":"T"}"#), get("/room/tea")] {
            let response = try roomless.ask(request)
            #expect(response.status == .serviceUnavailable)
            isNoSuccess(response)
        }
    }

    @Test func `a slow Vonage holds up no call, and so many wait and no more`() throws {
        let vonage = FakeVonage()
        let bench = try bench(vonage)
        vonage.hold()
        var waiting: [Ticket] = []
        for number in 0..<AppService.mostUnderWay {
            let (ticket, now) = try bench.reply(post("/users", "{\"name\":\"u\(number)\"}", admin))
            #expect(now == nil)
            waiting.append(ticket)
        }
        let refused = try #require(try bench.reply(get("/rooms", admin)).now)
        #expect(refused.status == .serviceUnavailable)
        #expect(String(decoding: refused.fields.bytes, as: UTF8.self).contains("Retry-After: 1\r\n"))
        isNoSuccess(refused)
        // Answered on the spot, and so is an event once it is on the disk.
        #expect(try bench.reply(get("/voice/answer?to=447700900123&from_user=A")).now?.status == .ok)
        let (event, _) = try bench.reply(post("/voice/event", #"{"status":"ringing"}"#))
        _ = bench.handler.flush(now: 0)
        #expect(try bench.wait(for: event).status == .ok)
        vonage.letGo()
        // Those that come to hold later go on as well.
        for ticket in waiting { #expect(try bench.wait(for: ticket).status == .ok) }
        #expect(try bench.ask(get("/users", admin)).status == .ok)
    }
}

struct CrossOriginTests {
    private func fields(_ response: Response) -> String { String(decoding: response.fields.bytes, as: UTF8.self) }
    private static let origin = "Origin: https://app.example.com\r\n"
    private static let preflight = origin + "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n"

    private func open(_ origins: String...) throws -> HandlerBench {
        try bench(FakeVonage()) { settings in
            settings.opensApps = true
            settings.corsOrigins = origins
        }
    }

    @Test func `a page of a named origin may ask, and its browser is told so before and after`() throws {
        let bench = try open("https://other.example.com", "https://app.example.com")
        for target in ["/auth", "/rooms", "/room/tea", "/token", "/jwt", "/getJWT", "/user", "/createUser", "/session", "/%61uth/"] {
            let before = try #require(try bench.reply(get(target, Self.preflight, method: "OPTIONS")).now)
            #expect(before.status == .noContent)
            for line in [
                "Access-Control-Allow-Origin: https://app.example.com", "Access-Control-Allow-Methods: GET, HEAD, POST",
                "Access-Control-Allow-Headers: Content-Type", "Access-Control-Max-Age: 7200", "Vary: Origin",
            ] { #expect(fields(before).contains("\(line)\r\n"), "\(target)") }
        }
        for request in [
            post("/auth", #"{"name":"A"}"#, Self.origin), post("/auth", "{}", Self.origin), get("/session", Self.origin),
            get("/auth", Self.origin),
        ] {
            #expect(
                try fields(bench.ask(request)).contains("Access-Control-Allow-Origin: https://app.example.com\r\nAccess-Control-Expose"))
        }
        #expect(try !fields(bench.ask(get("/rooms", Self.origin))).contains("Credentials"))
    }

    @Test func `others are told nothing, but that it depends on the origin`() throws {
        let bench = try open("https://app.example.com")
        for origin in ["", "Origin: https://evil.example\r\n", "Origin: null\r\n", "Origin: https://app.example.com.evil.example\r\n"] {
            let answer = try bench.ask(get("/rooms", origin))
            #expect(fields(answer).contains("Vary: Origin\r\n") && !fields(answer).contains("Access-Control"))
            #expect(try !fields(bench.ask(get("/rooms", origin, method: "OPTIONS"))).contains("Access-Control"))
        }
        // What no app asks for.
        for target in ["/health", "/users", "/calls", "/nothing", "/voice/answer", "/login"] {
            #expect(try !fields(bench.ask(get(target, Self.origin))).contains("Access-Control"))
            #expect(try !fields(bench.ask(get(target, Self.preflight, method: "OPTIONS"))).contains("Access-Control"))
        }
    }

    @Test func `any origin may ask where the settings say so, and none where they do not`() throws {
        #expect(try fields(open("*").ask(get("/rooms", Self.origin))).contains("Access-Control-Allow-Origin: *\r\n"))
        #expect(try !fields(open().ask(get("/rooms", Self.origin))).contains("Origin"))
        let closed = try bench(FakeVonage()) { $0.corsOrigins = ["*"] }
        #expect(try !fields(closed.ask(get("/rooms", Self.origin))).contains("Origin"))
        #expect(try !fields(closed.ask(get("/rooms", Self.preflight, method: "OPTIONS"))).contains("Origin"))
    }

    @Test func `settings take origins, regions and addresses`() throws {
        let settings = try Settings(
            arguments: ["--cors-origin", "https://A.example.com,http://localhost:5173", "--cors-origin", "*", "--region", "EU"],
            environment: [:])
        #expect(settings.corsOrigins == ["https://a.example.com", "http://localhost:5173", "*"])
        #expect(settings.vonage.api == "https://api-eu-3.vonage.com" && settings.vonage.video == "https://video.api.vonage.com")
        let other = try Settings(
            arguments: ["--api-url", "http://localhost:3001/"], environment: ["VONAGE_VIDEO_URL": "http://localhost:3002", "REGION": "ap"])
        #expect(other.vonage.api == "http://localhost:3001" && other.vonage.video == "http://localhost:3002")
        for bad in [
            ["--cors-origin", "https://a/"], ["--cors-origin", "a.example.com"], ["--cors-origin", "https://a,,https://b"],
            ["--cors-origin", "https://u@a"], ["--region", "moon"], ["--api-url", "localhost"], ["--video-url", "ftp://a"],
        ] { #expect(throws: UsageError.self) { try Settings(arguments: bad, environment: [:]) } }
    }
}

private enum ApplicationIDs {
    static var other: ApplicationID? { ApplicationID("99999999-2222-4333-8444-555555555555") }
}
