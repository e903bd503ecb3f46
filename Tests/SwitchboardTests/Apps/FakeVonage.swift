// SPDX-License-Identifier: MIT
//
// Vonage as a value in memory, which answers at once, or waits until it is let go on, or fails as it is told to.

import Foundation
import HTTPServer
import Locking
import Testing
import VonageAPI
import VonageAuth

@testable import Switchboard

final class FakeVonage: VonageService {
    private struct Shared {
        var users: [VonageUser] = []
        /// Newest first.
        var conversations: [VonageConversation] = []
        var sessions = 0
        var calls: [String] = []
        var error: VonageError?
        /// Nil: nothing is held.
        var heldPrefix: String?
        var held: [CheckedContinuation<Void, Never>] = []
    }

    static let pageSize = 3
    private let shared = Locked(Shared())
    private let asked = DispatchSemaphore(value: 0)

    init(users: [String] = [], conversations: [VonageConversation] = []) {
        shared.withLock {
            $0.users = users.enumerated().map { VonageUser(id: "USR-\($0.offset)", name: $0.element) }
            $0.conversations = conversations
        }
    }

    /// What was asked, in order.
    var calls: [String] { shared.withLock { $0.calls } }
    var userNames: [String] { shared.withLock { $0.users.map(\.name) } }
    var conversationNames: [String] { shared.withLock { $0.conversations.compactMap(\.name) } }

    /// From now on all that is asked fails so; nil: nothing does.
    func fail(_ fault: VonageError.Fault?) { shared.withLock { $0.error = fault.map { VonageError($0, "the cause") } } }

    /// A call comes in as a conversation too.
    func add(_ conversation: VonageConversation) { shared.withLock { $0.conversations.insert(conversation, at: 0) } }
    func forget(conversation id: String) { shared.withLock { $0.conversations.removeAll { $0.id == id } } }

    /// From now on what begins so is not answered before `letGo`.
    func hold(_ prefix: String = "") { shared.withLock { $0.heldPrefix = prefix } }

    /// Waits until so many questions that begin so were asked.
    func waitUntilAsked(_ prefix: String = "", times: Int = 1) throws {
        while calls.count(where: { $0.hasPrefix(prefix) }) < times { try #require(asked.wait(timeout: .now() + .seconds(60)) == .success) }
    }

    func letGo() {
        let held = shared.withLock { shared in
            defer { shared.held = [] }
            shared.heldPrefix = nil
            return shared.held
        }
        for one in held { one.resume() }
    }

    private func begin(_ call: String) async throws(VonageError) {
        await withCheckedContinuation { continuation in
            let isHeld = shared.withLock { shared in
                shared.calls.append(call)
                let isHeld = shared.heldPrefix.map { call.hasPrefix($0) } ?? false
                if isHeld { shared.held.append(continuation) }
                return isHeld
            }
            asked.signal()
            if !isHeld { continuation.resume() }
        }
        if let error = shared.withLock({ $0.error }) { throw error }
    }

    private static let taken = VonageError(.refused(status: 409, code: "user:error:duplicate-name"), "taken")

    func createUser(named name: String) async throws(VonageError) -> VonageUser {
        try await begin("create \(name)")
        return try shared.withLock { shared throws(VonageError) in
            guard !shared.users.contains(where: { $0.name == name }) else { throw Self.taken }
            let user = VonageUser(id: "USR-\(shared.users.count)", name: name, displayName: name)
            shared.users.append(user)
            return user
        }
    }

    func user(named name: String) async throws(VonageError) -> VonageUser? {
        try await begin("find \(name)")
        return shared.withLock { shared in shared.users.first { $0.name == name } }
    }

    func users(after cursor: String?) async throws(VonageError) -> VonagePage<VonageUser> {
        try await begin("users \(cursor ?? "")")
        return page(shared.withLock { $0.users }, cursor)
    }

    func deleteUser(id: String) async throws(VonageError) -> Bool {
        try await begin("delete \(id)")
        return shared.withLock { shared in
            let count = shared.users.count
            shared.users.removeAll { $0.id == id }
            return shared.users.count < count
        }
    }

    func createConversation(
        named name: String, displayName: String, lifetime: Int
    ) async throws(VonageError) -> VonageConversation {
        try await begin("room \(displayName) \(lifetime)")
        return shared.withLock { shared in
            let room = VonageConversation(id: "CON-\(shared.conversations.count)", name: name, displayName: displayName)
            shared.conversations.insert(room, at: 0)
            return room
        }
    }

    func conversations(after cursor: String?) async throws(VonageError) -> VonagePage<VonageConversation> {
        try await begin("rooms \(cursor ?? "")")
        return page(shared.withLock { $0.conversations }, cursor)
    }

    func createVideoSession() async throws(VonageError) -> String {
        try await begin("session")
        return shared.withLock { shared in
            shared.sessions += 1
            return "1_session-\(shared.sessions)"
        }
    }

    private func page<Item>(_ all: [Item], _ cursor: String?) -> VonagePage<Item> {
        let start = min(cursor.flatMap { Int($0) } ?? 0, all.count)
        let end = min(start + Self.pageSize, all.count)
        return VonagePage(Array(all[start..<end]), cursor: end < all.count ? "\(end)" : nil)
    }
}

enum TestApplication {
    static let id = "11111111-2222-4333-8444-555555555555"

    /// With a throw-away key, which lies with the tests of the keys.
    static func credentials() throws -> ApplicationCredentials {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../VonageAuthTests/Vectors/keys")
        let key = try Data(contentsOf: folder.appendingPathComponent("throw-away-pkcs8.pem"))
        return ApplicationCredentials(applicationID: ApplicationID(id), key: try PrivateKey([UInt8](key)))
    }
}
