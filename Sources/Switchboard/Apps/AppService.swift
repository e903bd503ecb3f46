// SPDX-License-Identifier: MIT
//
// Users, rooms and tokens: what apps and the admin ask for beside calls. It talks to Vonage through a protocol and waits for it in tasks of its
// own, so that no worker and no call ever does, however slow Vonage is. So many are under way at once and no more.

import EventLog
package import HTTPServer
import HTTPWire
import JSON
package import NCCO
import Synchronization
package import VonageAPI
package import VonageAuth

package final class AppService: Sendable {
    /// What was asked for and has no answer yet. A minute of 600 requests of one address is taken whole where Vonage answers in half a second.
    static let mostUnderWay = 512
    /// Pages of a hundred: 10,000 users, or conversations with the calls among them.
    static let mostPages = 100

    let credentials: ApplicationCredentials
    let rooms: RoomBook?
    /// Milliseconds for all that one answer takes of Vonage.
    let patience: Int64
    private let vonage: any VonageService
    private let clock: Clock
    private let underWay = Atomic<Int>(0)
    /// On which all of it runs.
    let executor = QueueExecutor("apps")

    private let makingUsers: SharedWork<UserName, Making>
    private let findingUsers: SharedWork<UserName, VonageUser?>
    private let listingRooms: SharedWork<Int, [Room]>
    private let makingSessions: SharedWork<String, String>

    /// What became of a user's making.
    private enum Making: Sendable {
        case made(VonageUser)
        case isThere
    }

    /// A room as the phone shows it.
    struct Room: Hashable, Sendable {
        let id: String
        let displayName: String
    }

    /// What a client of a video session needs.
    struct VideoAccess: Sendable {
        let applicationID: ApplicationID
        let session: String
        let token: String
    }

    /// - Parameters:
    ///   - rooms: nil where there are none, as for commands.
    ///   - patience: in milliseconds, less than a request may wait for its answer (`Limits.replyTime`).
    package init(
        credentials: ApplicationCredentials, rooms: RoomBook? = nil, vonage: any VonageService, patience: Int64 = 8000,
        clock: Clock = .system
    ) {
        self.patience = patience
        self.credentials = credentials
        self.rooms = rooms
        self.vonage = vonage
        self.clock = clock
        makingUsers = SharedWork(executor)
        findingUsers = SharedWork(executor)
        listingRooms = SharedWork(executor)
        makingSessions = SharedWork(executor)
    }

    /// With Vonage's API as the settings say; nothing is connected before the first request.
    package convenience init(
        _ settings: Settings, credentials: ApplicationCredentials, rooms: RoomBook? = nil, clock: Clock = .system
    ) throws(TokenError) {
        self.init(
            credentials: credentials, rooms: rooms,
            vonage: VonageClient(settings.vonage, token: try Self.tokens(credentials, clock)), clock: clock)
    }

    private static func tokens(
        _ credentials: ApplicationCredentials, _ clock: Clock
    ) throws(TokenError) -> @Sendable () throws -> String {
        guard let pair = credentials.pair else { return { throw AppError(.serviceUnavailable, "no credentials") } }
        let source = try ApplicationTokenSource(applicationID: pair.applicationID, key: pair.key)
        return { try source.token(at: clock.wall() / 1000) }
    }

    /// One more request is under way; false where there are too many. Whoever began must end.
    func begin() -> Bool {
        guard underWay.add(1, ordering: .relaxed).newValue <= Self.mostUnderWay else {
            underWay.subtract(1, ordering: .relaxed)
            return false
        }
        return true
    }

    func end() { underWay.subtract(1, ordering: .relaxed) }

    private func pair() throws(AppError) -> ApplicationCredentials.Pair {
        guard let pair = credentials.pair else {
            throw AppError(.serviceUnavailable, "This server has \(credentials.missing ?? "no application").")
        }
        return pair
    }

    private func ask<Value>(_ question: () async throws(VonageError) -> Value) async throws(AppError) -> Value {
        do throws(VonageError) { return try await question() } catch { throw AppError(error) }
    }

    // MARK: Users

    /// All users but those that Vonage made for telephones, oldest first, and whether there are more.
    package func users() async throws(AppError) -> (users: [VonageUser], isCut: Bool) {
        _ = try pair()
        let vonage = vonage
        let (users, isCut) = try await ask { () async throws(VonageError) in
            try await vonage.all(mostPages: Self.mostPages, mayBeCut: true) { cursor throws(VonageError) in
                try await vonage.users(after: cursor)
            }
        }
        return (users.filter { !$0.hasMadeUpName }, isCut)
    }

    /// The user of this name, made where there is none.
    package func makeUser(_ name: UserName) async throws(AppError) -> VonageUser {
        if case .made(let user) = try await making(name) { return user }
        guard let user = try await findUser(name) else {
            throw AppError(
                .badGateway, "Vonage says that the name is taken, and that nobody has it: the user may be of another region, see --region.")
        }
        return user
    }

    /// - Throws: `noSuchUser`.
    package func deleteUser(_ name: UserName) async throws(AppError) {
        guard let user = try await findUser(name) else { throw AppError.noSuchUser }
        let vonage = vonage
        // Whether somebody else was quicker is the same to whoever wants it gone.
        _ = try await ask { () async throws(VonageError) in try await vonage.deleteUser(id: user.id) }
    }

    private func findUser(_ name: UserName) async throws(AppError) -> VonageUser? {
        _ = try pair()
        let vonage = vonage
        return try await findingUsers.value(for: name) { () async throws(AppError) in
            do throws(VonageError) { return try await vonage.user(named: name.description) } catch { throw AppError(error) }
        }
    }

    private func making(_ name: UserName) async throws(AppError) -> Making {
        _ = try pair()
        let vonage = vonage
        return try await makingUsers.value(for: name) { () async throws(AppError) in
            do throws(VonageError) { return .made(try await vonage.createUser(named: name.description)) } catch {
                guard error.isDuplicateName else { throw AppError(error) }
                return .isThere
            }
        }
    }

    // MARK: User tokens

    /// A token for a user that is there.
    ///
    /// - Parameter lifetime: seconds; the default where it is nil.
    /// - Throws: `noSuchUser`; `AppError` with the range where the lifetime is not in it.
    package func token(forExisting name: UserName, lifetime: Int64? = nil) async throws(AppError) -> String {
        let pair = try pair()
        let lifetime = try Self.checked(lifetime ?? UserToken.defaultLifetime, UserToken.lifetimes)
        guard try await findUser(name) != nil else { throw AppError.noSuchUser }
        return try token(name, lifetime, pair)
    }

    /// A token for a user that is made where it is not there.
    func token(forNewOrExisting name: UserName) async throws(AppError) -> String {
        let pair = try pair()
        _ = try await making(name)
        return try token(name, UserToken.defaultLifetime, pair)
    }

    /// Makes sure that there is a user of this name.
    func ensureUser(_ name: UserName) async throws(AppError) { _ = try await making(name) }

    private func token(_ name: UserName, _ lifetime: Int64, _ pair: ApplicationCredentials.Pair) throws(AppError) -> String {
        do throws(TokenError) {
            let claims = try UserToken(applicationID: pair.applicationID, user: name.description, lifetime: lifetime)
            return try claims.signed(by: pair.key, at: clock.wall() / 1000)
        } catch {
            throw AppError(error)
        }
    }

    private static func checked(_ lifetime: Int64, _ range: ClosedRange<Int64>) throws(AppError) -> Int64 {
        guard range.contains(lifetime) else {
            throw AppError(.badRequest, "ttl is in seconds, from \(range.lowerBound) to \(range.upperBound).")
        }
        return lifetime
    }

    // MARK: Rooms for talking

    /// Seconds for which a room is kept while nobody is in it.
    private static let roomLifetime = 300

    private func book() throws(AppError) -> RoomBook {
        guard let rooms else { throw AppError(.serviceUnavailable, "This server keeps no rooms; its log says why.") }
        return rooms
    }

    /// The rooms made here that Vonage still has, newest first.
    func talkingRooms() async throws(AppError) -> [Room] {
        _ = try pair()
        let (vonage, book) = (vonage, try book())
        // A list that was begun before a room was made does not have it: whoever asks afterwards joins no such one.
        return try await listingRooms.value(for: book.roomsMade) { () async throws(AppError) in
            guard book.roomsMade > 0 else { return [] }
            do throws(VonageError) {
                // An app takes what it gets for all there is.
                let all = try await vonage.all(mostPages: Self.mostPages, mayBeCut: false) { cursor throws(VonageError) in
                    try await vonage.conversations(after: cursor)
                }
                // Without a name to show an app could not read the whole list.
                return all.items.compactMap { item in
                    guard book.isOurs(conversation: item.id), let name = item.displayName else { return nil }
                    return Room(id: item.id, displayName: name)
                }
            } catch {
                throw AppError(error)
            }
        }
    }

    /// - Returns: the id of the new room.
    func makeTalkingRoom(_ displayName: String) async throws(AppError) -> String {
        _ = try pair()
        let (vonage, book) = (vonage, try book())
        try book.checkRoom()
        let name = "room-\(TokenID())"
        let room = try await ask { () async throws(VonageError) in
            try await vonage.createConversation(named: name, displayName: displayName, lifetime: Self.roomLifetime)
        }
        try await book.keep(conversation: room.id, displayName: displayName, at: clock.wall())
        return room.id
    }

    // MARK: Rooms for video

    /// A fresh token for the session of a room, which is made where it has none.
    ///
    /// - Parameter lifetime: seconds; the default where it is nil.
    func videoAccess(
        _ name: RoomName, role: VideoToken.Role = .publisher, lifetime: Int64? = nil
    ) async throws(AppError) -> VideoAccess {
        let pair = try pair()
        let lifetime = try Self.checked(lifetime ?? VideoToken.defaultLifetime, VideoToken.lifetimes)
        let session = try await session(name.description, pair.applicationID)
        do throws(TokenError) {
            let claims = try VideoToken(applicationID: pair.applicationID, session: session, role: role, lifetime: lifetime)
            let token = try claims.signed(by: pair.key, at: clock.wall() / 1000)
            return VideoAccess(applicationID: pair.applicationID, session: session, token: token)
        } catch {
            throw AppError(error)
        }
    }

    private func session(_ name: String, _ application: ApplicationID) async throws(AppError) -> String {
        let (vonage, book, clock) = (vonage, try book(), clock)
        if let session = book.session(ofRoom: name, application) { return session }
        return try await makingSessions.value(for: name) { () async throws(AppError) in
            // It may have been made since.
            if let session = book.session(ofRoom: name, application) { return session }
            try book.checkVideoRoom()
            let session: String
            do throws(VonageError) { session = try await vonage.createVideoSession() } catch { throw AppError(error) }
            try await book.keep(session: session, ofRoom: name, application, at: clock.wall())
            return session
        }
    }

    /// Ends what is under way.
    package func stop() { (vonage as? VonageClient)?.stop() }
}
