// SPDX-License-Identifier: MIT
//
// What is asked of Vonage. The client asks over the network; tests bring an answer of their own.

package protocol VonageService: Sendable {
    /// - Throws: `isDuplicateName` where the name is taken.
    func createUser(named name: String) async throws(VonageError) -> VonageUser
    /// Nil where nobody has the name.
    func user(named name: String) async throws(VonageError) -> VonageUser?
    /// Oldest first.
    func users(after cursor: String?) async throws(VonageError) -> VonagePage<VonageUser>
    /// - Returns: false where there is none with this id.
    func deleteUser(id: String) async throws(VonageError) -> Bool

    /// - Parameters:
    ///   - name: unique in the application: by it a room is found that was made by a request whose answer was lost.
    ///   - lifetime: seconds for which it is kept while nobody is in it.
    func createConversation(named name: String, displayName: String, lifetime: Int) async throws(VonageError) -> VonageConversation
    /// Newest first.
    func conversations(after cursor: String?) async throws(VonageError) -> VonagePage<VonageConversation>

    /// A routed session without a recording.
    ///
    /// - Returns: its id.
    func createVideoSession() async throws(VonageError) -> String
}

extension VonageService {
    /// All pages of a list, to an end.
    ///
    /// - Parameter mayBeCut: whether what was found is enough where the time ends behind the first page; else that is an error.
    /// - Returns: the items, and whether there were more pages than are read or than there was time for.
    package func all<Item: Sendable>(
        mostPages: Int, mayBeCut: Bool, _ page: (_ cursor: String?) async throws(VonageError) -> VonagePage<Item>
    ) async throws(VonageError) -> (items: [Item], isCut: Bool) {
        var items: [Item] = []
        var cursor: String?
        for _ in 0..<max(mostPages, 1) {
            let next: VonagePage<Item>
            do throws(VonageError) { next = try await page(cursor) } catch {
                guard mayBeCut, cursor != nil, error.fault == .timeout else { throw error }
                return (items, true)
            }
            items += next.items
            guard let after = next.cursor else { return (items, false) }
            // It would lead round in a circle.
            guard after != cursor else { throw VonageError(.unreadable, "a page of the list leads to itself") }
            cursor = after
        }
        return (items, true)
    }
}
