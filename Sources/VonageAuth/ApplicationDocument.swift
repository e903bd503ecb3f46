// SPDX-License-Identifier: MIT
//
// The JSON in which Vonage's tools keep an application's id and key. Version 2 of the command line wrote `vonage_app.json`, version 3 writes
// `.vonagerc` with dashes in its names, and `vonage apps create --json` prints what the Application API answers, with the keys one level down.

internal import JSON

/// The members of such a file that matter here.
package struct ApplicationDocument: Sendable {
    /// As it stands there, unchecked.
    package let applicationID: String?
    let privateKey: [UInt8]?
    let publicKey: [UInt8]?

    /// Whether there is a private key, which may be a broken one.
    package var hasPrivateKey: Bool { privateKey != nil }

    /// - Throws: `KeyError` for what is no JSON object, is larger than 64 KiB, or names a member twice.
    package init(_ bytes: [UInt8]) throws(KeyError) {
        guard bytes.count <= KeyText.longest else { throw KeyError(.tooLarge, "it has more than 64 KiB; is it another file?") }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        let root: JSONNode
        do throws(JSONError) { root = try parseJSON(text.span, maximumDepth: 32) } catch {
            // What stood there instead may be a part of the key.
            throw KeyError(.badJSON, "it is not valid JSON at \(error.position)")
        }
        guard case .object(let members) = root.value else { throw KeyError(.badJSON, "it is JSON, but no object") }
        let keys = try Self.member(["keys"], of: members).map { node throws(KeyError) in
            guard case .object(let keys) = node.value else { throw KeyError(.badJSON, "its member keys is no object") }
            return keys
        }
        applicationID = try Self.text(["application_id", "app-id", "id"], of: members)
        let inside = keys ?? []
        let (privateOne, publicOne) = (try Self.text(["private_key"], of: inside), try Self.text(["public_key"], of: inside))
        privateKey = (try Self.text(["private_key", "private-key"], of: members) ?? privateOne).map { Array($0.utf8) }
        publicKey = (try Self.text(["public_key", "public-key"], of: members) ?? publicOne).map { Array($0.utf8) }
    }

    private static func text(_ names: [String], of members: [JSONNode.Member]) throws(KeyError) -> String? {
        guard let node = try member(names, of: members) else { return nil }
        if case .null = node.value { return nil }
        guard case .string(let string) = node.value else { throw KeyError(.badJSON, "its member \(names[0]) is no text") }
        return string.value.isEmpty ? nil : string.value
    }

    /// The member with the first of these names that is there.
    private static func member(_ names: [String], of members: [JSONNode.Member]) throws(KeyError) -> JSONNode? {
        for name in names {
            let found = members.filter { $0.name.value == name }
            guard found.count < 2 else { throw KeyError(.badJSON, "it has its member \(name) twice") }
            if let node = found.first?.node { return node }
        }
        return nil
    }
}
