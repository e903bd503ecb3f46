// SPDX-License-Identifier: MIT
//
// What is kept, as one JSON document: written whole beside the old one and put in its place, so that a crash leaves one or the other. A
// document that cannot be read stops the start: half of what was there would be worse than a word about it.

import JSON
package import VonageAuth

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What keeps the simulator from starting or a setting from being taken, in one line.
package struct SimulatorError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// A state that was kept, read.
package struct SavedState: Sendable {
    /// Bytes of a file that is read: three shelves, and what JSON's escapes may add.
    package static let largest = 4 * SimulatedVonage.mostBytes

    package let applicationID: ApplicationID
    let application: SimulatedApplication
    let users: Shelf<SimulatedUser>
    let conversations: Shelf<SimulatedConversation>
    let calls: Shelf<SimulatedCall>

    /// - Throws: where it is not what was written, with the place.
    package init(_ bytes: [UInt8]) throws(SimulatorError) {
        let root: JSONNode
        do throws(JSONError) { root = try parseJSON(bytes.span, maximumDepth: 80) } catch {
            throw SimulatorError("it is not JSON: \(error); mend it, or delete it to begin anew")
        }
        func broken(_ what: String) -> SimulatorError {
            SimulatorError("it is no state of this simulator: \(what); mend it, or delete it to begin anew")
        }
        guard root["version"]?.whole == 1 else { throw broken("its version is not 1") }
        guard let id = root["application_id"]?.string.flatMap({ ApplicationID($0) }) else { throw broken("its application_id is no UUID") }
        applicationID = id
        guard let application = root["application"].flatMap(SimulatedApplication.init(saved:)) else {
            throw broken("its application is not whole")
        }
        self.application = application
        func shelf<Item: Shelved>(_ name: String, _ most: Int) throws(SimulatorError) -> Shelf<Item> {
            guard let elements = root[name]?.elements, elements.count <= most else {
                throw broken("its \(name) are no list of at most \(most)")
            }
            var shelf = Shelf<Item>()
            for (index, element) in elements.enumerated() {
                guard let item = Item(saved: element) else { throw broken("\(name)[\(index)] is not whole") }
                guard shelf[item.id] == nil, item.name.map({ shelf.named($0) == nil }) ?? true else {
                    throw broken("\(name)[\(index)] has the id or the name of an earlier one")
                }
                shelf.put(item)
            }
            return shelf
        }
        users = try shelf("users", SimulatedVonage.mostUsers)
        conversations = try shelf("conversations", SimulatedVonage.mostConversations)
        calls = try shelf("calls", SimulatedVonage.mostCalls)
    }
}

extension SimulatedVonage {
    /// Goes on where another left off.
    ///
    /// Calls that were played then are over: with Vonage they would go on, but what was to happen in them went with the process.
    package mutating func restore(_ state: SavedState) {
        (application, users, conversations, calls) = (state.application, state.users, state.conversations, state.calls)
        nextExpiry = conversations.all.compactMap(\.expiry).min() ?? .max
        if !rules.answersCalls { endCalls() }
    }

    /// What `SavedState` reads, one item a line.
    package var savedState: [UInt8] {
        var output = Array("{\"version\":1,\"application_id\":\"\(applicationID)\",\n\"application\":".utf8)
        application.saved.encode(into: &output)
        func append(_ name: String, _ items: [JSONNode]) {
            output += ",\n\"\(name)\":[".utf8
            for (index, item) in items.enumerated() {
                output += (index > 0 ? ",\n" : "\n").utf8
                item.encode(into: &output)
            }
            output += "]".utf8
        }
        append("users", users.all.map(\.saved))
        append("conversations", conversations.all.map(\.saved))
        append("calls", calls.all.map(\.saved))
        output += "}\n".utf8
        return output
    }
}

/// Puts a file in place: all of it or, after a crash, what was there before.
///
/// - Parameter isPrivate: its owner alone can read it, mode 0600.
/// - Throws: the cause, without the path.
package func writeWhole(_ bytes: [UInt8], to path: String, isPrivate: Bool = true) throws(SimulatorError) {
    let new = path + ".new"
    unlink(new)
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isPrivate ? 0o600 : 0o644)
    func failed() -> SimulatorError { SimulatorError("it cannot be written: \(String(cString: strerror(errno)))") }
    guard descriptor >= 0 else { throw failed() }
    defer { close(descriptor) }
    var sent = 0
    while sent < bytes.count {
        // Lends what is left of the bytes to write(2).
        let count = bytes[sent...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else {
            let error = failed()
            unlink(new)
            throw error
        }
        sent += count
    }
    guard fsync(descriptor) == 0, rename(new, path) == 0 else {
        let error = failed()
        unlink(new)
        throw error
    }
}
