// SPDX-License-Identifier: MIT
//
// Users, rooms and tokens. `/users` is the admin's; the rest is what the tutorials' apps ask for under the names that they use, for everybody
// with `--open-apps`. Apps decode a body whatever its status says, so an error has no member that a good answer has.
//
// What is asked is read here, on the worker; the answer is made in a task of its own and comes through the mailbox.

import HTTPServer
import HTTPWire
import JSON
import NCCO
import VonageAPI
import VonageAuth

extension RequestHandler {
    /// What an app may ask for.
    enum AppQuestion {
        case route(Route)
        case room(String)
    }

    typealias AppWork = @Sendable (AppService) async throws(AppError) -> Response

    // MARK: For the admin

    func users(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ body: Span<UInt8>, _ exchange: Exchange) -> Reply {
        guard head.method == .post else {
            return later(exchange) { apps throws(AppError) in
                let (users, isCut) = try await apps.users()
                var json = Array("{\"users\":[".utf8)
                for (index, user) in users.enumerated() {
                    if index > 0 { json.append(UInt8(ascii: ",")) }
                    json.appendObject([("id", user.id), ("name", user.name)] + (user.displayName.map { [("display_name", $0)] } ?? []))
                }
                json += isCut ? "],\"truncated\":true}\n".utf8 : "]}\n".utf8
                return .personal(json)
            }
        }
        do throws(AppError) {
            try readParameters(head, bytes, body)
            let name = try userName("name")
            return later(exchange) { apps throws(AppError) in
                let user = try await apps.makeUser(name)
                return .object([("id", user.id), ("name", user.name)])
            }
        } catch {
            return .now(error.response)
        }
    }

    func deleteUser(_ text: String, _ exchange: Exchange) -> Reply {
        guard let name = UserName(text) else { return .now(AppError.noSuchUser.response) }
        return later(exchange) { apps throws(AppError) in
            try await apps.deleteUser(name)
            return Response(.noContent)
        }
    }

    func userToken(
        _ text: String, _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ body: Span<UInt8>, _ exchange: Exchange
    ) -> Reply {
        guard let name = UserName(text) else { return .now(AppError.noSuchUser.response) }
        do throws(AppError) {
            try readParameters(head, bytes, body)
            let lifetime = try lifetime()
            return later(exchange) { apps throws(AppError) in
                .object([("name", name.description), ("token", try await apps.token(forExisting: name, lifetime: lifetime))])
            }
        } catch {
            return .now(error.response)
        }
    }

    // MARK: For apps

    func app(
        _ question: AppQuestion, _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ body: Span<UInt8>, _ exchange: Exchange,
        _ access: AdminAccess
    ) -> Reply {
        let fields = crossOriginFields(head, bytes)
        func now(_ response: Response) -> Reply {
            var response = response
            response.fields.append(fields)
            return .now(response)
        }
        if let refusal = openApps(head, bytes, exchange, access) { return now(refusal) }
        if case .route(.session) = question { return now(Page.seeOther(forwarded(head, bytes, exchange).prefix + "/room/session")) }
        do throws(AppError) {
            try readParameters(head, bytes, body)
            return later(exchange, fields, try work(question, head.method, isAdmin: access.isAdmin))
        } catch {
            guard case .route(.token) = question, error.status == .badRequest else { return now(error.response) }
            // The one error that an app of the tutorials shows.
            return now(.object([("error", error.detail)], .badRequest))
        }
    }

    /// - Throws: `AppError` for what cannot be asked; its words are fixed.
    private func work(_ question: AppQuestion, _ method: Method, isAdmin: Bool) throws(AppError) -> AppWork {
        switch question {
        case .room(let text):
            guard let name = RoomName(text) else { throw AppError(.badRequest, "This is no room's name: \(RoomName.allowed).") }
            let (role, lifetime) = (try role(), try lifetime())
            guard isAdmin || role == nil && lifetime == nil else {
                throw AppError(.forbidden, "role and ttl are the admin's to choose; leave them out.")
            }
            return { apps throws(AppError) in
                let access = try await apps.videoAccess(name, role: role ?? .publisher, lifetime: lifetime)
                let application = access.applicationID.description
                return .object([
                    ("applicationId", application), ("apiKey", application), ("sessionId", access.session), ("token", access.token),
                ])
            }
        case .route(.jwt), .route(.getJWT):
            let name = try userName("username")
            return { apps throws(AppError) in .object([("jwt", try await apps.token(forNewOrExisting: name))]) }
        case .route(.user):
            let name = try userName("username")
            return { apps throws(AppError) in .object([("token", try await apps.token(forNewOrExisting: name))]) }
        case .route(.token):
            let name = try userName("name")
            return { apps throws(AppError) in .object([("token", try await apps.token(forNewOrExisting: name))]) }
        case .route(.createUser):
            let name = try userName("username")
            return { apps throws(AppError) in
                try await apps.ensureUser(name)
                return Response(.ok, contentType: .text, body: Array("OK".utf8))
            }
        case .route(.auth):
            let name = try userName("name")
            return { apps throws(AppError) in
                .object([("name", name.description), ("jwt", try await apps.token(forNewOrExisting: name))])
            }
        case .route(.rooms) where method == .post:
            guard let text = try parameter("display_name"), let name = DisplayName(text) else {
                throw AppError(.badRequest, "\(DisplayName.allowed).")
            }
            return { apps throws(AppError) in .object([("id", try await apps.makeTalkingRoom(name.description))]) }
        case .route(.rooms):
            return { apps throws(AppError) in
                var json = Array("[".utf8)
                for (index, room) in try await apps.talkingRooms().enumerated() {
                    if index > 0 { json.append(UInt8(ascii: ",")) }
                    json.appendObject([("id", room.id), ("display_name", room.displayName)])
                }
                json += "]\n".utf8
                return .personal(json)
            }
        case .route: throw AppError(.notFound, "There is nothing here.")
        }
    }

    // MARK: Parameters

    private func readParameters(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ body: Span<UInt8>) throws(AppError) {
        guard !head.isEncoded else { throw AppError(.unsupportedMediaType, "Send the body without Content-Encoding.") }
        do throws(JSONError) {
            try request.parameters.read(query: head.query, body: body, contentType: head.contentType, in: bytes)
        } catch {
            throw AppError(.badRequest, "The body is no form and no JSON; send one of them.")
        }
    }

    /// Nil where there is none, or an empty one.
    ///
    /// - Parameter mayBeNumber: whether JSON that is no text is taken as the text that it was written with.
    private func parameter(_ name: StaticString, mayBeNumber: Bool = false) throws(AppError) -> String? {
        let parameters = request.parameters
        let bytes = parameters.decoded.bytes
        guard let value = parameters.value(of: name) else { return nil }
        guard let entry = parameters.decoded.entries.firstIndex(where: { $0.value == value }),
            mayBeNumber || !parameters.isJSON(entry), isValidUTF8(bytes.span.extracting(value))
        else { throw AppError(.badRequest, "\(name) is not a text in UTF-8.") }
        return bytes.span.text(value)
    }

    private func userName(_ name: StaticString) throws(AppError) -> UserName {
        guard let text = try parameter(name) else {
            throw AppError(.badRequest, "\(name) is missing: the name of the user, in the query, a JSON object or a form.")
        }
        guard let user = UserName(text) else { throw AppError(.badRequest, "\(name) is not \(UserName.allowed).") }
        guard !text.hasPrefix("NAM-"), !text.hasPrefix("USR-") else {
            throw AppError(.badRequest, "\(name) begins with NAM- or USR-, as the names do that Vonage makes; choose another.")
        }
        guard !text.contains("/"), !text.contains("\\"), !text.contains("\u{FFFD}") else {
            throw AppError(.badRequest, "\(name) holds a slash, a backslash or what is no character, and could not be asked for again.")
        }
        return user
    }

    private func lifetime() throws(AppError) -> Int64? {
        guard let text = try parameter("ttl", mayBeNumber: true) else { return nil }
        guard text.utf8.count <= 12, let seconds = Int64(text) else { throw AppError(.badRequest, "ttl is not a whole number of seconds.") }
        return seconds
    }

    private func role() throws(AppError) -> VideoToken.Role? {
        guard let text = try parameter("role") else { return nil }
        guard let role = VideoToken.Role(rawValue: text) else {
            throw AppError(.badRequest, "role is none of \(VideoToken.Role.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return role
    }

    // MARK: Answers

    /// - Parameter fields: added to whatever is answered.
    private func later(_ exchange: Exchange, _ fields: FieldBlock = FieldBlock(), _ work: @escaping AppWork) -> Reply {
        func now(_ error: AppError) -> Reply {
            var response = error.response
            response.fields.append(fields)
            return .now(response)
        }
        guard let apps = application.apps else { return now(AppError(.serviceUnavailable, "This server has no users and no rooms.")) }
        guard apps.begin() else { return now(.busy) }
        let (mailbox, ticket, application) = (mailbox, exchange.ticket, application)
        Task(executorPreference: apps.executor) {
            let deadline = VonageDeadline.after(milliseconds: apps.patience)
            var response = await VonageDeadline.$current.withValue(deadline) {
                do throws(AppError) { return try await work(apps) } catch {
                    application.tell(error)
                    return error.response
                }
            }
            apps.end()
            response.fields.append(fields)
            mailbox.complete([ticket], with: response)
        }
        return .later
    }
}

extension Application {
    /// Says on the log what is wrong with Vonage or the disk, once in a second.
    fileprivate func tell(_ error: AppError) {
        guard let cause = error.cause, let unsaid = vonageNotice.turn(now: Clock.system.monotonic()) else { return }
        errors.print("users and rooms: \(cause)\(unsaid > 0 ? " (and \(unsaid) more)" : "")")
    }
}

extension Response {
    /// A flat JSON object of texts. It may hold a token: nothing on the way may keep it.
    fileprivate static func object(_ members: [(name: String, text: String)], _ status: Status = .ok) -> Response {
        var body: [UInt8] = []
        body.appendObject(members)
        body.append(UInt8(ascii: "\n"))
        return .personal(body, status)
    }

    /// JSON that is for the one who asked: nothing on the way may keep it, whatever the path looks like.
    static func personal(_ body: [UInt8], _ status: Status = .ok) -> Response {
        var fields = FieldBlock()
        fields.append("Cache-Control", "no-store")
        return Response(status, fields: fields, body: body)
    }
}

extension [UInt8] {
    fileprivate mutating func appendObject(_ members: [(name: String, text: String)]) {
        append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 { append(UInt8(ascii: ",")) }
            appendJSONString(member.name)
            append(UInt8(ascii: ":"))
            appendJSONString(member.text)
        }
        append(UInt8(ascii: "}"))
    }
}
