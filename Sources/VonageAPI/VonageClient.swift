// SPDX-License-Identifier: MIT
//
// Vonage's REST API: users, conversations, video sessions. Each request carries a token of the application. A request that may be repeated is
// sent at most twice more: where no connection came about or it broke, for 429 and for 5xx; all of it within one time limit. Of each host so
// many requests are under way and so many wait, and no more.
//
// Left out: members of conversations, calls, and whatever else no route and no command needs.

import Dispatch
import JSON

/// When it is and how to wait; tests bring their own.
struct Pacing: Sendable {
    /// Monotonic milliseconds.
    var now: @Sendable () -> Int64
    var wait: @Sendable (_ milliseconds: Int64) async -> Void

    static let system = Pacing(
        now: { Int64(clamping: DispatchTime.now().uptimeNanoseconds / 1_000_000) },
        wait: { try? await Task.sleep(nanoseconds: UInt64(max($0, 0)) * 1_000_000) })
}

/// When all that a task asks must have its answer: several requests one after the other share the time.
package enum VonageDeadline {
    /// Monotonic milliseconds; nil where each request has its own time alone.
    @TaskLocal package static var current: Int64?

    package static func after(milliseconds: Int64) -> Int64 { Pacing.system.now() &+ milliseconds }
}

package final class VonageClient: VonageService {
    /// One request, without what all have.
    struct Question: Sendable {
        enum Host: Sendable { case api, video }

        var host = Host.api
        var method: String
        /// Path and query.
        var target: String
        var body: (type: String, bytes: [UInt8])?
        /// Whether sending it twice does what sending it once does.
        var mayRepeat: Bool
    }

    typealias Send = @Sendable (WebRequest) async throws(WebError) -> WebAnswer

    let configuration: VonageConfiguration
    private let token: @Sendable () throws -> String
    private let send: Send
    private let pacing: Pacing
    private let apiGate: RequestGate
    private let videoGate: RequestGate
    private let stopping: @Sendable () -> Void

    /// The least that is worth a try, in milliseconds.
    private static let leastTime: Int64 = 50

    /// - Parameter token: gives a token of the application that is good for another minute.
    package convenience init(_ configuration: VonageConfiguration, token: @escaping @Sendable () throws -> String) {
        // Each host has a client of its own: one that does not answer takes no thread from the other.
        let (api, video) = (WebClient(), WebClient())
        self.init(
            configuration, token: token,
            send: { request async throws(WebError) in
                try await (request.url.hasPrefix(configuration.video) ? video : api).send(request)
            }, pacing: .system,
            stopping: {
                api.stop()
                video.stop()
            })
    }

    init(
        _ configuration: VonageConfiguration, token: @escaping @Sendable () throws -> String, send: @escaping Send, pacing: Pacing,
        stopping: @escaping @Sendable () -> Void = {}
    ) {
        self.configuration = configuration
        self.token = token
        self.send = send
        self.pacing = pacing
        self.stopping = stopping
        apiGate = RequestGate(atOnce: configuration.atOnce, mostWaiting: configuration.mostWaiting)
        videoGate = RequestGate(atOnce: configuration.atOnce, mostWaiting: configuration.mostWaiting)
    }

    /// Ends what is under way; the client cannot be used afterwards.
    package func stop() { stopping() }

    // MARK: Users

    package func createUser(named name: String) async throws(VonageError) -> VonageUser {
        var body = Array(#"{"name":"#.utf8)
        body.appendJSONString(name)
        body += #","display_name":"#.utf8
        body.appendJSONString(name)
        body.append(UInt8(ascii: "}"))
        // By its name a second one is refused.
        let answer = try await ask(Question(method: "POST", target: "/v1/users", body: Self.json(body), mayRepeat: true))
        guard let user = VonageUser(answer.root) else { throw unreadable("user", of: .api) }
        return user
    }

    package func user(named name: String) async throws(VonageError) -> VonageUser? {
        let question = Question(method: "GET", target: "/v1/users?page_size=1&name=\(percentEscaped(name))", mayRepeat: true)
        do throws(VonageError) {
            let page = try VonagePage(try await ask(question), "users", from: host(.api)) { VonageUser($0) }
            // Where the name is not looked at, others come.
            return page.items.first { $0.name.utf8.elementsEqual(name.utf8) }
        } catch {
            // A list by a name that nobody has is not found, or empty.
            if error.isNotFound { return nil }
            throw error
        }
    }

    package func users(after cursor: String?) async throws(VonageError) -> VonagePage<VonageUser> {
        let question = Question(method: "GET", target: "/v1/users" + Self.query(cursor, order: "asc"), mayRepeat: true)
        return try VonagePage(try await ask(question), "users", from: host(.api)) { VonageUser($0) }
    }

    package func deleteUser(id: String) async throws(VonageError) -> Bool {
        try await delete("/v1/users/\(percentEscaped(id))")
    }

    // MARK: Conversations

    package func createConversation(
        named name: String, displayName: String, lifetime: Int
    ) async throws(VonageError) -> VonageConversation {
        var body = Array(#"{"name":"#.utf8)
        body.appendJSONString(name)
        body += #","display_name":"#.utf8
        body.appendJSONString(displayName)
        body += #","properties":{"ttl":"#.utf8
        body.appendDecimal(lifetime)
        body += "}}".utf8
        let question = Question(method: "POST", target: "/v1/conversations", body: Self.json(body), mayRepeat: true)
        do throws(VonageError) {
            let answer = try await ask(question)
            guard let conversation = VonageConversation(answer.root) else { throw unreadable("conversation", of: .api) }
            return conversation
        } catch {
            // The name is ours alone: a first try made it, and its answer was lost. It is among the newest then.
            guard error.isDuplicateName, let made = try await conversations(after: nil).items.first(where: { $0.name == name }) else {
                throw error
            }
            return made
        }
    }

    package func conversations(after cursor: String?) async throws(VonageError) -> VonagePage<VonageConversation> {
        let question = Question(method: "GET", target: "/v1/conversations" + Self.query(cursor, order: "desc"), mayRepeat: true)
        return try VonagePage(try await ask(question), "conversations", from: host(.api)) { VonageConversation($0) }
    }

    /// Nil where there is none with this id.
    package func conversation(id: String) async throws(VonageError) -> VonageConversation? {
        let question = Question(method: "GET", target: "/v1/conversations/\(percentEscaped(id))", mayRepeat: true)
        do throws(VonageError) {
            let answer = try await ask(question)
            guard let conversation = VonageConversation(answer.root) else { throw unreadable("conversation", of: .api) }
            return conversation
        } catch {
            if error.isNotFound { return nil }
            throw error
        }
    }

    package func deleteConversation(id: String) async throws(VonageError) -> Bool {
        try await delete("/v1/conversations/\(percentEscaped(id))")
    }

    // MARK: Video

    package func createVideoSession() async throws(VonageError) -> String {
        let form = Array("archiveMode=manual&p2p.preference=disabled".utf8)
        let answer = try await ask(
            Question(
                host: .video, method: "POST", target: "/session/create", body: ("application/x-www-form-urlencoded", form),
                mayRepeat: false))
        // An array of one; anything else in it varies.
        guard let id = (answer.root.elements?.first ?? answer.root)["session_id"]?.text, (1...500).contains(id.utf8.count),
            id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw unreadable("session", of: .video) }
        return id
    }

    // MARK: One request

    private static func json(_ body: [UInt8]) -> (type: String, bytes: [UInt8]) { ("application/json", body) }

    private static func query(_ cursor: String?, order: String) -> String {
        "?page_size=100&order=\(order)" + (cursor.map { "&cursor=\(percentEscaped($0))" } ?? "")
    }

    /// False where there is nothing to delete.
    private func delete(_ target: String) async throws(VonageError) -> Bool {
        do throws(VonageError) {
            let host = Question.Host.api
            let answer = try await exchange(Question(host: host, method: "DELETE", target: target, mayRepeat: true))
            guard (200..<300).contains(answer.status) else { throw VonageAnswer.refusal(answer, from: self.host(host)) }
            return true
        } catch {
            if error.isNotFound { return false }
            throw error
        }
    }

    private func ask(_ question: Question) async throws(VonageError) -> VonageAnswer {
        try VonageAnswer(try await exchange(question), from: host(question.host))
    }

    /// What is asked, without the scheme.
    private func host(_ host: Question.Host) -> String {
        let url = base(host)
        return url.firstRange(of: "://").map { String(url[$0.upperBound...]) } ?? url
    }

    private func base(_ host: Question.Host) -> String {
        switch host {
        case .api: configuration.api
        case .video: configuration.video
        }
    }

    private func unreadable(_ what: String, of host: Question.Host) -> VonageError {
        VonageError(.unreadable, "\(self.host(host)) answered with no \(what)")
    }

    /// The answer, whatever its status, of as many tries as it takes and there may be.
    private func exchange(_ question: Question) async throws(VonageError) -> WebAnswer {
        let now = pacing.now()
        let deadline = min(now &+ configuration.time, VonageDeadline.current ?? .max)
        let gate = question.host == .api ? apiGate : videoGate
        switch await gate.enter(milliseconds: deadline &- now) {
        case .entered: break
        case .full: throw VonageError(.busy, "too many requests to \(host(question.host)) wait already")
        case .timeout: throw VonageError(.timeout, "requests to \(host(question.host)) take so long that this one was not sent")
        }
        defer { gate.leave() }
        var tries = 0
        while true {
            let result = await attempt(question, until: deadline)
            guard question.mayRepeat, tries < configuration.repetitions, let pause = pause(after: result, tries) else {
                return try result.get()
            }
            // What would come too late is not waited for.
            guard pacing.now() &+ pause &+ Self.leastTime <= deadline else { return try result.get() }
            await pacing.wait(pause)
            tries += 1
        }
    }

    private func attempt(_ question: Question, until deadline: Int64) async -> Result<WebAnswer, VonageError> {
        let left = deadline &- pacing.now()
        guard left >= Self.leastTime else {
            return .failure(VonageError(.timeout, "\(host(question.host)) gave no whole answer in time"))
        }
        let bearer: String
        do { bearer = try token() } catch { return .failure(VonageError(.noToken, "no token could be made: \(error)")) }
        var fields = [("Authorization", "Bearer \(bearer)"), ("Accept", "application/json")]
        if let body = question.body { fields.append(("Content-Type", body.type)) }
        let request = WebRequest(
            question.method, base(question.host) + question.target, fields: fields, body: question.body?.bytes,
            milliseconds: Int(clamping: left), maximumAnswer: configuration.largestAnswer)
        do throws(WebError) { return .success(try await send(request)) } catch {
            return .failure(VonageError(error, from: host(question.host)))
        }
    }

    /// Milliseconds before another try; nil where none would help.
    private func pause(after result: Result<WebAnswer, VonageError>, _ tries: Int) -> Int64? {
        let pause = tries < configuration.pauses.count ? configuration.pauses[tries] : configuration.pauses.last ?? 0
        switch result {
        case .failure(let error): return error.fault == .noAnswer ? pause : nil
        case .success(let answer):
            guard answer.status == 429 || answer.status >= 500 else { return nil }
            guard case .tooMany(let seconds?) = VonageAnswer.refusal(answer, from: "").fault else { return pause }
            return Int64(seconds) * 1000
        }
    }
}
