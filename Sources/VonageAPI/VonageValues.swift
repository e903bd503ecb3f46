// SPDX-License-Identifier: MIT
//
// What Vonage keeps for an application, as far as anything here needs it.

import JSON

/// An app user.
package struct VonageUser: Hashable, Sendable {
    /// `USR-` and a UUID.
    package let id: String
    package let name: String
    package let displayName: String?

    package init(id: String, name: String, displayName: String? = nil) {
        self.id = id
        self.name = name
        self.displayName = displayName
    }

    init?(_ node: JSONNode) {
        guard let id = identifier(node["id"]), let name = node["name"]?.text else { return nil }
        self.init(id: id, name: name, displayName: node["display_name"]?.text)
    }

    /// Whether Vonage made the name: each telephone that calls becomes a user too.
    package var hasMadeUpName: Bool { name.hasPrefix("NAM-") || name.hasPrefix("USR-") }
}

/// A conversation: a room, or a call.
package struct VonageConversation: Hashable, Sendable {
    /// `CON-` and a UUID.
    package let id: String
    package let name: String?
    /// Calls have none.
    package let displayName: String?

    package init(id: String, name: String? = nil, displayName: String? = nil) {
        self.id = id
        self.name = name
        self.displayName = displayName
    }

    init?(_ node: JSONNode) {
        guard let id = identifier(node["id"]) else { return nil }
        self.init(id: id, name: node["name"]?.text, displayName: node["display_name"]?.text)
    }
}

/// A text that can be a part of a path, and stand in a log: 1 to 200 letters, digits, `-` and `_`.
private func identifier(_ node: JSONNode?) -> String? {
    guard let text = node?.text, (1...200).contains(text.utf8.count),
        text.utf8.allSatisfy({
            (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        })
    else { return nil }
    return text
}
