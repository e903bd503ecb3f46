// SPDX-License-Identifier: MIT
//
// The rooms made here: conversations for talking, and sessions for video by the name of their room. They are in `rooms.jsonl` beside the event
// log, a line each, and in memory. Vonage lists every call as a conversation too, so a room is one only if it stands here.

package import EventLog
import JSON
import Locking
import NCCO
import VonageAuth

package final class RoomBook: Sendable {
    /// A session belongs to an application: with another one the name has none.
    private struct Video: Hashable {
        let application: String
        let name: String
    }

    private struct Shared {
        var talking: Set<String> = []
        var video: [Video: String] = [:]
    }

    private static let fileName = "rooms.jsonl"
    /// Of each kind, so that neither takes the other's place. A room lives for five minutes unless somebody is in it: with one made each second
    /// of a working day there are 30,000.
    static let mostRooms = 50_000
    /// Twice as many lines of some 250 bytes.
    private static let largestFile = 32 * 1024 * 1024

    private let file: KeptLines
    private let shared: Locked<Shared>
    private let mostRooms: Int

    /// - Parameter folder: of the event log, which keeps other servers out of it.
    package convenience init(folder: String) throws(KeptLinesError) { try self.init(folder: folder, mostRooms: Self.mostRooms) }

    init(folder: String, mostRooms: Int) throws(KeptLinesError) {
        file = try KeptLines(folder: folder, name: Self.fileName, largest: Self.largestFile)
        self.mostRooms = mostRooms
        var found = Shared()
        for line in file.found {
            guard let node = try? parseJSON(line.span, maximumDepth: 8), case .object(let members) = node.value else { continue }
            func text(_ name: String) -> String? {
                guard case .string(let string) = members.first(where: { $0.name.value == name })?.node.value else { return nil }
                return string.value
            }
            switch text("kind") {
            case "room": if let id = text("id") { found.talking.insert(id) }
            case "video":
                guard let application = text("application"), let name = text("room"), let session = text("session") else { continue }
                found.video[Video(application: application, name: name)] = session
            default: continue
            }
        }
        shared = Locked(found)
    }

    /// What a person should know about the file, in one line.
    package var warning: String? {
        file.damaged == 0
            ? nil : "\(file.damaged) lines of \(Self.fileName) were damaged and are left out; the file as it was is beside it"
    }

    // MARK: Talking

    /// Grows with each room made here, and so tells a list that was begun before from one that was not.
    var roomsMade: Int { shared.withLock { $0.talking.count } }

    func isOurs(conversation id: String) -> Bool { shared.withLock { $0.talking.contains(id) } }

    /// To be asked before a room is made: one that cannot be kept must not be.
    func checkRoom() throws(AppError) {
        guard shared.withLock({ $0.talking.count }) < mostRooms else { throw Self.full }
    }

    /// - Parameter time: milliseconds since 1970 in UTC.
    func keep(conversation id: String, displayName: String, at time: Int64) async throws(AppError) {
        var line = Array(#""kind":"room","id":"#.utf8)
        line.appendJSONString(id)
        line += #","display_name":"#.utf8
        line.appendJSONString(displayName)
        try await append(line, at: time)
        shared.withLock { _ = $0.talking.insert(id) }
    }

    // MARK: Video

    func session(ofRoom name: String, _ application: ApplicationID) -> String? {
        shared.withLock { $0.video[Video(application: application.description, name: name)] }
    }

    func checkVideoRoom() throws(AppError) {
        guard shared.withLock({ $0.video.count }) < mostRooms else { throw Self.full }
    }

    /// - Parameter time: milliseconds since 1970 in UTC.
    func keep(session: String, ofRoom name: String, _ application: ApplicationID, at time: Int64) async throws(AppError) {
        var line = Array(#""kind":"video","room":"#.utf8)
        line.appendJSONString(name)
        line += #","application":"#.utf8
        line.appendJSONString(application.description)
        line += #","session":"#.utf8
        line.appendJSONString(session)
        try await append(line, at: time)
        shared.withLock { $0.video[Video(application: application.description, name: name)] = session }
    }

    private func append(_ line: [UInt8], at time: Int64) async throws(AppError) {
        do throws(KeptLinesError) { try await file.append(at: time, line) } catch { throw AppError(error) }
    }

    private static let full = AppError(KeptLinesError(fault: .full, description: "rooms.jsonl has as many rooms as may be"))
}
