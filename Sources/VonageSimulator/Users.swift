// SPDX-License-Identifier: MIT
//
// Users: `/v1/users`, and the shapes of its forerunners.

import HTTPWire
import JSON
import VonageAuth

struct SimulatedUser: Shelved {
    let id: String
    /// Unique.
    var key: String
    var displayName: String?
    var imageURL: String?
    var channels: JSONNode
    var properties: JSONNode
    let region: String

    var name: String? { key }

    var saved: JSONNode {
        .object([
            "id": .text(id), "name": .text(key), "display_name": .optionalText(displayName), "image_url": .optionalText(imageURL),
            "channels": channels, "properties": properties, "region": .text(region),
        ])
    }

    init(id: String, name: String, region: String) {
        (self.id, key, self.region) = (id, name, region)
        (channels, properties) = (.object([:]), .object([:]))
    }

    init?(saved node: JSONNode) {
        guard let id = node["id"]?.string, let name = node["name"]?.string, let region = node["region"]?.string else { return nil }
        self.init(id: id, name: name, region: region)
        displayName = node["display_name"]?.string
        imageURL = node["image_url"]?.string
        channels = node["channels"] ?? channels
        properties = node["properties"] ?? properties
    }

    func links(_ base: String) -> JSONNode { .object(["self": .object(["href": .text("\(base)/v1/users/\(id)")])]) }

    /// Alone; in a list there is less.
    func full(_ base: String) -> JSONNode {
        .object([
            "id": .text(id), "name": .text(key), "display_name": .optionalText(displayName), "image_url": .optionalText(imageURL),
            "properties": properties, "channels": channels, "_links": links(base),
        ])
    }

    func item(_ base: String) -> JSONNode {
        .object([
            "id": .text(id), "name": .text(key), "display_name": .optionalText(displayName), "image_url": .optionalText(imageURL),
            "_links": links(base),
        ])
    }
}

extension SimulatedVonage {
    private static let channelNames = ["pstn", "sip", "vbc", "websocket", "sms", "mms", "whatsapp", "viber", "messenger"]

    mutating func answerUsers(
        _ request: SimulatedRequest, _ place: Place, _ caller: VerifiedToken, at now: Int64
    ) throws(APIProblem) -> Response {
        switch (place.rest.count, request.method) {
        case (0, .get): return try listUsers(request, place)
        case (0, .post):
            guard caller.subject == nil else { throw .permission("Users are made by an application, and this token is a user's.") }
            return try createUser(request, place)
        case (0, _): throw wrongMethod("GET, POST")
        case (1, .get): return reply(try user(place.rest[0], place).full(base(request, place, of: place.rest[0])))
        case (1, .patch) where place.version == .v1, (1, .put) where place.version == .v01: return try changeUser(request, place)
        case (1, .delete):
            let user = try user(place.rest[0], place)
            users.remove(user.id)
            hasChanged = true
            leaveAll(user.id, at: now)
            return place.version == .v01 ? reply(.object([:])) : Response(.noContent)
        case (1, _): throw wrongMethod(place.version == .v01 ? "GET, PUT, DELETE" : "GET, PATCH, DELETE")
        case (2, .get) where place.rest[1] == "conversations":
            return try listConversations(request, place, of: user(place.rest[0], place).id)
        case (2, _) where place.rest[1] == "conversations": throw wrongMethod("GET")
        default: throw .notFound
        }
    }

    private func base(_ request: SimulatedRequest, _ place: Place, of id: String) -> String {
        base(request, region: users[id]?.region ?? place.region, place)
    }

    /// - Throws: 404 where it does not exist, or was made in another region.
    func user(_ id: String, _ place: Place) throws(APIProblem) -> SimulatedUser {
        guard let user = users[id], isVisible(user.region, place) else {
            throw APIProblem(.notFound, "user:error:not-found", "User does not exist, or you do not have access.")
        }
        return user
    }

    private func listUsers(_ request: SimulatedRequest, _ place: Place) throws(APIProblem) -> Response {
        let page = try PageRequest(request)
        let (items, first, next) = users.page(from: page.start, descending: page.isDescending, limit: page.size) { user in
            isVisible(user.region, place) && page.name.map { $0.utf8.elementsEqual(user.key.utf8) } ?? true
        }
        if page.name != nil, items.isEmpty, !rules.unknownNameIsEmpty {
            throw APIProblem(.notFound, "user:error:not-found", "User does not exist, or you do not have access.")
        }
        if place.version == .v01 {
            return reply(
                .list(
                    items.map { user in
                        .object(["id": .text(user.id), "name": .text(user.key), "href": .text(href(user, request, place))])
                    }))
        }
        let elements = items.map { $0.item(base(request, region: $0.region, place)) }
        let url = "\(base(request, region: place.region, place))/\(place.version.rawValue)/users"
        return reply(page.page("users", elements, url: url, first: first, next: next, isNested: place.version == .v02))
    }

    private func href(_ user: SimulatedUser, _ request: SimulatedRequest, _ place: Place) -> String {
        "\(base(request, region: user.region, place))/\(place.version.rawValue)/users/\(user.id)"
    }

    private mutating func createUser(_ request: SimulatedRequest, _ place: Place) throws(APIProblem) -> Response {
        let changes = try UserChanges(request)
        let name = changes.name ?? "NAM-\(newID())"
        guard users.named(name) == nil else { throw duplicate("user:error:duplicate-name", "That user name is taken.") }
        try checkRoom(users.count, Self.mostUsers, users.bytes, "users")
        var user = SimulatedUser(id: "USR-\(newID())", name: name, region: place.region)
        changes.apply(to: &user)
        users.put(user)
        hasChanged = true
        if place.version == .v01 {
            return reply(.object(["id": .text(user.id), "href": .text(href(user, request, place))]))
        }
        return reply(user.full(base(request, region: user.region, place)), .created)
    }

    private mutating func changeUser(_ request: SimulatedRequest, _ place: Place) throws(APIProblem) -> Response {
        var user = try user(place.rest[0], place)
        let changes = try UserChanges(request)
        if let name = changes.name, let other = users.named(name), other.id != user.id {
            throw duplicate("user:error:duplicate-name", "That user name is taken.")
        }
        try checkBytes(users.bytes)
        changes.apply(to: &user)
        users.put(user)
        hasChanged = true
        return reply(user.full(base(request, region: user.region, place)))
    }

    func duplicate(_ code: String, _ detail: String) -> APIProblem { APIProblem(rules.duplicateStatus, code, detail) }

    func checkRoom(_ count: Int, _ most: Int, _ bytes: Int, _ what: String) throws(APIProblem) {
        guard count < most else { throw .permission("This simulator keeps at most \(most) \(what); delete some.") }
        try checkBytes(bytes)
    }

    /// Vonage has no such limit that is known; here a program in a loop must not take all memory.
    func checkBytes(_ bytes: Int) throws(APIProblem) {
        guard bytes <= Self.mostBytes else {
            throw .permission("This simulator keeps at most \(Self.mostBytes / 1_048_576) MiB of these; delete some.")
        }
    }

    /// What a body says of a user.
    private struct UserChanges {
        var name, displayName, imageURL: String?
        var channels, properties: JSONNode?

        init(_ request: SimulatedRequest) throws(APIProblem) {
            var body = try BodyReader(request)
            // Vonage makes these, and takes no notice of those that are sent.
            body.ignore("id", "_links")
            name = body.text("name", 1...100)
            displayName = body.text("display_name", 1...100)
            imageURL = body.uri("image_url")
            channels = body.object("channels")
            for member in channels?.members ?? [] {
                let channel = member.name.value
                if !channelNames.contains(channel) {
                    body.fault("channels.\(String(channel.prefix(64)))", "is not allowed")
                } else if let elements = member.node.elements, elements.allSatisfy({ $0.members != nil }) {
                    continue
                } else {
                    body.fault("channels.\(channel)", "must be an array of objects")
                }
            }
            properties = body.object("properties")
            _ = body.object("properties") { properties in
                _ = properties.object("custom_data")
            }
            try body.finish()
        }

        func apply(to user: inout SimulatedUser) {
            if let name { user.key = name }
            if let displayName { user.displayName = displayName }
            if let imageURL { user.imageURL = imageURL }
            if let channels { user.channels = channels }
            if let properties { user.properties = properties }
        }
    }
}
