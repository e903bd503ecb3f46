// SPDX-License-Identifier: MIT
//
// The client of Vonage's API without a network: what it sends, what it makes of each answer, how often it tries, and how long it waits.

import Locking
import Testing

@testable import VonageAPI

/// Answers one request after the other from a list, and keeps what was sent. Time passes only when somebody waits.
private final class Script: Sendable {
    typealias Step = Result<WebAnswer, WebError>

    private struct Shared {
        var steps: [Step]
        var sent: [WebRequest] = []
        var now: Int64 = 1_000_000
        var waits: [Int64] = []
    }

    private let shared: Locked<Shared>

    init(_ steps: [Step]) { shared = Locked(Shared(steps: steps)) }

    var sent: [WebRequest] { shared.withLock { $0.sent } }
    var waits: [Int64] { shared.withLock { $0.waits } }
    var lines: [String] {
        sent.map { request in
            "\(request.method) \(request.url)\(request.body.map { " " + String(decoding: $0, as: UTF8.self) } ?? "")"
        }
    }

    func client(_ adjust: (inout VonageConfiguration) -> Void = { _ in }) -> VonageClient {
        var configuration = VonageConfiguration(api: "https://api.test", video: "https://video.test")
        adjust(&configuration)
        let pacing = Pacing(
            now: { self.shared.withLock { $0.now } },
            wait: { pause in
                self.shared.withLock {
                    $0.now += pause
                    $0.waits.append(pause)
                }
            })
        let send: VonageClient.Send = { request async throws(WebError) in
            let step: Step = self.shared.withLock { shared in
                shared.sent.append(request)
                return shared.steps.isEmpty ? .failure(WebError(.broken, "the script is over")) : shared.steps.removeFirst()
            }
            return try step.get()
        }
        return VonageClient(configuration, token: { "the-token" }, send: send, pacing: pacing)
    }
}

private func answer(_ status: Int, _ body: String = "", _ fields: [String: String] = [:]) -> Script.Step {
    .success(WebAnswer(status: status, fields: fields, body: Array(body.utf8)))
}

private func page(_ name: String, _ items: String, next: String? = nil) -> Script.Step {
    let link = next.map { #","next":{"href":"\#($0)"}"# } ?? ""
    return answer(200, #"{"page_size":2,"_embedded":{"\#(name)":[\#(items)]},"_links":{"self":{"href":"x?cursor=self"}\#(link)}}"#)
}

private let alice = #"{"id":"USR-1","name":"Alice","display_name":"Alice","_links":{"self":{"href":"https://api.test/v1/users/USR-1"}}}"#

private func fault<Value>(_ body: () async throws(VonageError) -> Value) async -> VonageError.Fault? {
    do throws(VonageError) {
        _ = try await body()
        return nil
    } catch {
        return error.fault
    }
}

struct VonageClientTests {
    @Test func `a user is made, found and deleted`() async throws {
        let script = Script([answer(201, alice), page("users", alice), answer(204), answer(200, "{}"), answer(404)])
        let client = script.client()
        #expect(try await client.createUser(named: "Alice") == VonageUser(id: "USR-1", name: "Alice", displayName: "Alice"))
        #expect(try await client.user(named: "Alice")?.id == "USR-1")
        #expect(try await client.deleteUser(id: "USR-1"))
        #expect(try await client.deleteUser(id: "USR-1"), "the first version answers with a body")
        #expect(try await !client.deleteUser(id: "USR-1"))
        #expect(
            script.lines == [
                #"POST https://api.test/v1/users {"name":"Alice","display_name":"Alice"}"#,
                "GET https://api.test/v1/users?page_size=1&name=Alice", "DELETE https://api.test/v1/users/USR-1",
                "DELETE https://api.test/v1/users/USR-1", "DELETE https://api.test/v1/users/USR-1",
            ])
        for request in script.sent {
            #expect(request.fields.contains { $0 == ("Authorization", "Bearer the-token") })
            #expect(request.fields.contains { $0 == ("Content-Type", "application/json") } == (request.body != nil))
        }
    }

    @Test(arguments: ["A b+c/d=é", "\"\\\n", "?&#%41"])
    func `a name goes out escaped, in a body and in a query`(_ name: String) async throws {
        let script = Script([answer(201, alice), answer(404)])
        let client = script.client()
        _ = try await client.createUser(named: name)
        #expect(try await client.user(named: name) == nil)
        #expect(script.sent[0].body.map { VonageTestJSON.name($0) } == name)
        let query = script.sent[1].url.split(separator: "name=", maxSplits: 1)[1]
        #expect(percentUnescaped(query) == name)
        #expect(query.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"?&#+/=".utf8.contains($0) })
    }

    @Test func `nobody has a name where the list is not found, is empty, or holds others`() async throws {
        for step in [
            answer(404, #"{"type":"x#user:error:not-found"}"#), answer(404), page("users", ""),
            page("users", #"{"id":"USR-2","name":"Bob"}"#),
        ] { #expect(try await Script([step]).client().user(named: "Alice") == nil) }
    }

    @Test(arguments: [
        "https://api.test/v1/users?page_size=2&cursor=bbb%2B%2F%3D%3D", "https://api.test/v1/users?cursor=bbb%2B%2F%3D%3D&page_size=2#x",
        "/v1/users?cursor=bbb+/==",
    ])
    func `a cursor is decoded once and goes out encoded once`(_ link: String) async throws {
        let script = Script([page("users", alice, next: link), page("users", "")])
        let client = script.client()
        let first = try await client.users(after: nil)
        #expect(first.items.count == 1 && first.cursor == "bbb+/==")
        #expect(try await client.users(after: first.cursor).cursor == nil)
        #expect(
            script.lines == [
                "GET https://api.test/v1/users?page_size=100&order=asc",
                "GET https://api.test/v1/users?page_size=100&order=asc&cursor=bbb%2B%2F%3D%3D",
            ])
        #expect(cursor(inLink: "https://h/?cursor=%252B") == "%2B")
        for none in ["", "https://h/x", "https://h/?a=b", "https://h/?cursor=", "https://h/?xcursor=1", "https://h/#?cursor=1&"] {
            #expect(cursor(inLink: none) == (none.hasSuffix("&") ? "1" : nil), "\(none)")
        }
    }

    @Test func `a list has all its pages, up to a bound, and goes round no circle`() async throws {
        let next = { (cursor: String) in page("users", alice, next: "h?cursor=\(cursor)") }
        var client = Script([next("1"), next("2"), page("users", alice)]).client()
        let whole = try await client.all(mostPages: 9, mayBeCut: true) { cursor throws(VonageError) in try await client.users(after: cursor)
        }
        #expect(whole.items.count == 3 && !whole.isCut)
        client = Script([next("1"), next("2"), next("3")]).client()
        let cut = try await client.all(mostPages: 2, mayBeCut: true) { cursor throws(VonageError) in try await client.users(after: cursor) }
        #expect(cut.items.count == 2 && cut.isCut)
        // Where the time ends behind the first page.
        let late = [next("1"), .failure(WebError(.timeout, "x"))]
        client = Script(late).client()
        let found = try await client.all(mostPages: 9, mayBeCut: true) { cursor throws(VonageError) in try await client.users(after: cursor)
        }
        #expect(found.items.count == 1 && found.isCut)
        client = Script(late).client()
        let error = await fault { () async throws(VonageError) in
            try await client.all(mostPages: 9, mayBeCut: false) { cursor throws(VonageError) in try await client.users(after: cursor) }
        }
        #expect(error == .timeout)
        client = Script([next("1"), next("1")]).client()
        let circle = await fault { () async throws(VonageError) in
            try await client.all(mostPages: 9, mayBeCut: true) { cursor throws(VonageError) in try await client.users(after: cursor) }
        }
        #expect(circle == .unreadable)
    }

    @Test func `each shape of a list is read`() async throws {
        let item = #"{"id":"CON-1","name":"n","display_name":"Tea"},{"id":"CON-2","name":"NAM-1"},{"uuid":"CON-3"},7"#
        for body in [
            #"{"_embedded":{"conversations":[\#(item)]}}"#, #"{"_embedded":{"data":{"conversations":[\#(item)]}}}"#, "[\(item)]",
        ] {
            let page = try await Script([answer(200, body)]).client().conversations(after: nil)
            #expect(
                page.items == [
                    VonageConversation(id: "CON-1", name: "n", displayName: "Tea"), VonageConversation(id: "CON-2", name: "NAM-1"),
                ])
        }
        let client = Script([answer(200, "{}")]).client()
        #expect(await fault { () async throws(VonageError) in try await client.conversations(after: nil) } == .unreadable)
    }

    @Test func `a room is made, got and deleted, and found again where the first answer was lost`() async throws {
        let room = #"{"id":"CON-1","name":"r-1","display_name":"Tea \"room\"","properties":{"ttl":300}}"#
        let taken = answer(409, #"{"code":"conversation:error:duplicate-name"}"#)
        let script = Script([
            answer(500), taken, page("conversations", #"{"id":"CON-9","name":"x"},\#(room)"#), answer(200, room), answer(404), answer(204),
        ])
        let client = script.client()
        #expect(try await client.createConversation(named: "r-1", displayName: "Tea \"room\"", lifetime: 300).id == "CON-1")
        #expect(
            script.lines[0]
                == #"POST https://api.test/v1/conversations {"name":"r-1","display_name":"Tea \"room\"","properties":{"ttl":300}}"#)
        #expect(script.lines[2] == "GET https://api.test/v1/conversations?page_size=100&order=desc")
        #expect(try await client.conversation(id: "CON-1")?.displayName == "Tea \"room\"")
        #expect(try await client.conversation(id: "CON-1") == nil)
        #expect(try await client.deleteConversation(id: "CON-1"))
        let other = Script([taken, page("conversations", "")]).client()
        let lost = await fault { () async throws(VonageError) in
            try await other.createConversation(named: "r", displayName: "d", lifetime: 1)
        }
        #expect(lost == .refused(status: 409, code: "conversation:error:duplicate-name"))
    }

    @Test func `a session is asked for by a form, once, and is the first of an array`() async throws {
        let script = Script([answer(200, #"[{"session_id":"1_MX4","project_id":null}]"#)])
        #expect(try await script.client().createVideoSession() == "1_MX4")
        #expect(script.lines == ["POST https://video.test/session/create archiveMode=manual&p2p.preference=disabled"])
        #expect(script.sent[0].fields.contains { $0 == ("Content-Type", "application/x-www-form-urlencoded") })
        for step in [answer(200, "[]"), answer(200, "{}"), answer(200, #"[{"session_id":""}]"#), answer(200, #"[{"session_id":"a b"}]"#)] {
            let client = Script([step]).client()
            #expect(await fault { () async throws(VonageError) in try await client.createVideoSession() } == .unreadable)
        }
        for step in [answer(500), answer(429), Script.Step.failure(WebError(.unreachable, "x"))] {
            let script = Script([step, answer(200, #"[{"session_id":"1_MX4"}]"#)])
            let client = script.client()
            #expect(await fault { () async throws(VonageError) in try await client.createVideoSession() } != nil)
            #expect(script.sent.count == 1, "a second one would be another session")
        }
    }

    @Test(arguments: [
        (400, #"{"code":"user:error:duplicate-name"}"#, "duplicate"), (409, #"{"code":"user:error:duplicate-name"}"#, "duplicate"),
        (422, #"{"type":"https://d/api#user:error:duplicate-name"}"#, "duplicate"), (409, "", "duplicate"), (409, "<html>", "duplicate"),
        (409, #"{"code":"http:error:validation-fail"}"#, "invalid"), (400, #"{"code":"http:error:validation-fail"}"#, "invalid"),
        (404, #"{"title":"x","type":"https://d/api#user:error:not-found"}"#, "missing"),
        (410, #"{"code":"user:error:not-found"}"#, "missing"),
        (401, #"{"code":"system:error:invalid-token"}"#, "token"), (401, #"{"code":"system:error:expired-token"}"#, "token"),
        (403, #"{"code":"system:error:permission"}"#, "token"), (401, "", "token"),
        (403, #"{"code":403,"message":"Invalid token"}"#, "token"),
        (404, #"{"code":"not-found"}"#, "other"), (404, #"{"title":"x"}"#, "missing"), (404, "<html>nothing here</html>", "other"),
        (404, "", "missing"),
        (400, #"{"code":400,"message":"bad"}"#, "other"), (405, #"{"code":"http:error:method-not-allowed"}"#, "other"), (400, "[", "other"),
    ])
    func `a refusal is what its code says, then what its status says`(_ status: Int, _ body: String, _ meaning: String) async {
        let script = Script([answer(status, body)])
        do throws(VonageError) {
            _ = try await script.client().createUser(named: "Alice")
            Issue.record("no error")
        } catch {
            let meanings = [
                "duplicate": error.isDuplicateName, "invalid": error.isInvalid, "missing": error.isNotFound, "token": error.isAboutToken,
            ]
            #expect(meanings.filter(\.value).map(\.key) == (meaning == "other" ? [] : [meaning]), "\(error)")
            #expect(!error.description.contains("the-token") && !error.description.contains("message"))
        }
        #expect(script.sent.count == 1, "no refusal is asked for again")
    }

    @Test(arguments: [
        "", "<!doctype html><html>", "{", #"{"id":"USR-1""#, "null", "[]", #"{"id":"../x","name":"a"}"#, #"{"id":7,"name":"a"}"#,
    ])
    func `what cannot be read is an error`(_ body: String) async {
        let client = Script([answer(200, body)]).client()
        #expect(await fault { () async throws(VonageError) in try await client.createUser(named: "Alice") } == .unreadable)
    }

    @Test func `a redirect is no answer`() async {
        let client = Script([answer(302, "", ["location": "https://evil.test/"])]).client()
        #expect(await fault { () async throws(VonageError) in try await client.users(after: nil) } == .unreadable)
    }

    // MARK: Repeating

    @Test(arguments: [
        answer(500), answer(502, "<html>"), answer(429), .failure(WebError(.unreachable, "x")), .failure(WebError(.broken, "x")),
    ])
    func `what may be repeated is, twice, and then is an error`(_ step: Result<WebAnswer, WebError>) async throws {
        let good = Script([step, step, answer(201, alice)])
        #expect(try await good.client().createUser(named: "Alice").id == "USR-1")
        #expect(good.sent.count == 3 && good.waits == [200, 600])
        let bad = Script([step, step, step, answer(201, alice)])
        let client = bad.client()
        #expect(await fault { () async throws(VonageError) in try await client.createUser(named: "Alice") } != nil)
        #expect(bad.sent.count == 3)
    }

    @Test func `what was not in time, or was too long, is not asked for again`() async {
        for web in [WebError.Fault.timeout, .tooLarge] {
            let script = Script([.failure(WebError(web, "x")), answer(201, alice)])
            let client = script.client()
            #expect(
                await fault { () async throws(VonageError) in try await client.users(after: nil) }
                    == (web == .timeout ? .timeout : .unreadable))
            #expect(script.sent.count == 1)
        }
    }

    @Test func `Retry-After is kept to, unless it takes too long`() async throws {
        let kept = Script([answer(429, "", ["retry-after": "3"]), answer(201, alice)])
        _ = try await kept.client().createUser(named: "Alice")
        #expect(kept.waits == [3000])
        for (given, seconds) in [("8", 8), ("999999", 999_999), ("9999999", nil), ("-1", nil), ("x", nil)] as [(String, Int?)] {
            let script = Script([
                answer(429, "", ["retry-after": given]), answer(429, "", ["retry-after": given]), answer(429, "", ["retry-after": given]),
            ])
            let client = script.client()
            let found = await fault { () async throws(VonageError) in try await client.users(after: nil) }
            #expect(found == .tooMany(retryAfter: seconds))
            #expect(script.waits == (seconds == nil ? [200, 600] : []))
        }
    }

    @Test func `each try has only the time that is left`() async throws {
        let script = Script([answer(500), answer(500), answer(201, alice)])
        _ = try await script.client().createUser(named: "Alice")
        #expect(script.sent.map(\.milliseconds) == [8000, 7800, 7200])
    }

    @Test func `all that a task asks has one time together, and a list ends with it`() async throws {
        let script = Script([answer(500), answer(201, alice), page("users", alice, next: "h?cursor=1"), .failure(WebError(.timeout, "x"))])
        let client = script.client()
        try await VonageDeadline.$current.withValue(1_001_000) {
            _ = try await client.createUser(named: "Alice")
            let list = try await client.all(mostPages: 9, mayBeCut: true) { cursor throws(VonageError) in
                try await client.users(after: cursor)
            }
            #expect(list.items.count == 1 && list.isCut)
        }
        #expect(script.sent.map(\.milliseconds) == [1000, 800, 800, 800])
        let late = await VonageDeadline.$current.withValue(1_000_000) {
            await fault { () async throws(VonageError) in try await client.users(after: nil) }
        }
        #expect(late == .timeout && script.sent.count == 4, "there is no time left")
    }

    @Test func `without a token nothing is sent`() async {
        struct None: Error {}
        let script = Script([answer(200, alice)])
        let client = VonageClient(
            VonageConfiguration(), token: { throw None() }, send: { _ throws(WebError) in throw WebError(.broken, "") }, pacing: .system)
        #expect(await fault { () async throws(VonageError) in try await client.users(after: nil) } == .noToken)
        #expect(script.sent.isEmpty)
    }

    // MARK: Bounds

    @Test func `so many are under way and so many wait, and the next is told so`() async {
        let gate = RequestGate(atOnce: 2, mostWaiting: 1)
        #expect(await gate.enter(milliseconds: 0) == .entered)
        #expect(await gate.enter(milliseconds: 0) == .entered)
        #expect(await gate.enter(milliseconds: 1) == .timeout, "nobody has left")
        async let third = gate.enter(milliseconds: 60_000)
        // Whether the third waits already is not known: one of both has to.
        while await gate.enter(milliseconds: 0) != .full { await Task.yield() }
        gate.leave()
        #expect(await third == .entered)
        #expect(await gate.enter(milliseconds: 0) == .timeout, "its place was taken by the third")
        gate.leave()
        gate.leave()
        #expect(await gate.enter(milliseconds: 0) == .entered)
    }

    @Test func `users of each region are asked for there`() {
        #expect(VonageConfiguration().api == "https://api-us-3.vonage.com")
        #expect(VonageRegion.allCases.map(\.api) == ["us", "eu", "ap"].map { "https://api-\($0)-3.vonage.com" })
    }
}

private enum VonageTestJSON {
    static func name(_ body: [UInt8]) -> String? {
        try? VonageAnswer(WebAnswer(status: 200, fields: [:], body: body), from: "").root["name"]?.text
    }
}
