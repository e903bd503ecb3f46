// SPDX-License-Identifier: MIT
//
// Conversations, which rooms and calls both are: `/v1/conversations`, and the shapes of its forerunners that older apps still ask for.

import HTTPWire
import JSON
import VonageAuth

struct SimulatedConversation: Shelved {
    let id: String
    /// Unique.
    var key: String
    var displayName: String?
    var imageURL: String?
    var properties: JSONNode
    var numbers: JSONNode?
    var callback: JSONNode?
    let created: Int64
    /// Counts what happens in it.
    var sequence: Int64 = 0
    let region: String
    var members: [SimulatedMember] = []
    /// Since when nobody is in it; nil while somebody is.
    var emptySince: Int64?

    var name: String? { key }

    /// Whether it is there for a call alone, and goes with it.
    var isOfCall: Bool { key.hasPrefix("NAM-") && members.isEmpty }

    /// When it has been empty for as long as it may; nil where that is never.
    var expiry: Int64? {
        // A ttl of 0 is taken for none.
        guard let emptySince, let ttl = properties["ttl"]?.whole, ttl > 0, ttl <= 1_000_000_000 else { return nil }
        return emptySince + ttl * 1000
    }

    init(id: String, name: String, region: String, created: Int64) {
        (self.id, key, self.region, self.created) = (id, name, region, created)
        properties = .object([:])
        emptySince = created
    }

    var saved: JSONNode {
        .object([
            "id": .text(id), "name": .text(key), "display_name": .optionalText(displayName), "image_url": .optionalText(imageURL),
            "properties": properties, "numbers": numbers, "callback": callback, "created": .time(created), "sequence": .time(sequence),
            "region": .text(region), "empty_since": .optionalTime(emptySince), "members": .list(members.map(\.saved)),
        ])
    }

    init?(saved node: JSONNode) {
        guard let id = node["id"]?.string, let name = node["name"]?.string, let region = node["region"]?.string,
            let created = node["created"]?.whole, SimulatedVonage.times.contains(created), let list = node["members"]?.elements
        else { return nil }
        self.init(id: id, name: name, region: region, created: created)
        members = list.compactMap(SimulatedMember.init(saved:))
        guard members.count == list.count else { return nil }
        displayName = node["display_name"]?.string
        imageURL = node["image_url"]?.string
        properties = node["properties"] ?? properties
        numbers = node["numbers"]
        callback = node["callback"]
        sequence = min(max(node["sequence"]?.whole ?? 0, 0), SimulatedVonage.times.upperBound)
        emptySince = node["empty_since"]?.whole.flatMap { SimulatedVonage.times.contains($0) ? $0 : nil }
    }

    func full(_ base: String) -> JSONNode {
        .object([
            "id": .text(id), "name": .text(key), "display_name": .optionalText(displayName), "image_url": .optionalText(imageURL),
            "state": .text("ACTIVE"), "sequence_number": .time(sequence), "properties": properties, "numbers": numbers,
            "callback": callback, "timestamp": timestamp,
            "_links": .object(["self": .object(["href": .text("\(base)/v1/conversations/\(id)")])]),
        ])
    }

    /// In a list: where no display name was given there is none, as with every call.
    var item: JSONNode {
        .object([
            "id": .text(id), "name": .text(key), "display_name": .optionalText(displayName), "image_url": .optionalText(imageURL),
            "timestamp": timestamp,
        ])
    }

    private var timestamp: JSONNode { .object(["created": .text(isoTime(created))]) }
}

extension SimulatedVonage {
    /// Milliseconds since 1970 up to the end of the year 9999.
    static let times: ClosedRange<Int64> = 0...253_402_300_799_999

    mutating func answerConversations(_ request: SimulatedRequest, _ place: Place, at now: Int64) throws(APIProblem) -> Response {
        guard let id = place.rest.first else {
            switch request.method {
            case .get: return try listConversations(request, place, of: nil)
            case .post: return try createConversation(request, place, at: now)
            default: throw wrongMethod("GET, POST")
            }
        }
        let conversation = try conversation(id, place)
        let base = base(request, region: conversation.region, place)
        if place.rest.count == 1 {
            switch request.method {
            case .get: return reply(conversation.full(base))
            case .put, .patch:
                let changed = try change(conversation, request)
                return reply(changed.full(base))
            case .delete:
                conversations.remove(id)
                hasChanged = true
                return place.version == .v01 ? reply(.object([:])) : Response(.noContent)
            default: throw wrongMethod("GET, PUT, DELETE")
            }
        }
        guard place.rest[1] == "members", place.rest.count <= 3 else { throw .notFound }
        return try answerMembers(request, place, of: conversation, at: now)
    }

    func conversation(_ id: String, _ place: Place) throws(APIProblem) -> SimulatedConversation {
        guard let conversation = conversations[id], isVisible(conversation.region, place) else {
            throw APIProblem(.notFound, "conversation:error:not-found", "Conversation does not exist, or you do not have access.")
        }
        return conversation
    }

    /// - Parameter user: whose conversations alone are listed: those that they are or were a member of.
    func listConversations(_ request: SimulatedRequest, _ place: Place, of user: String?) throws(APIProblem) -> Response {
        let page = try PageRequest(request)
        let (items, first, next) = conversations.page(from: page.start, descending: page.isDescending, limit: page.size) { item in
            isVisible(item.region, place) && page.includes(item.created) && page.name.map { $0 == item.key } ?? true
                && user.map { id in item.members.contains { $0.userID == id } } ?? true
        }
        if place.version == .v01, user == nil {
            let elements = items.map { item in JSONNode.object(["uuid": .text(item.id), "name": .text(item.key)]) }
            return reply(
                .object([
                    "count": .number(conversations.count), "page_size": .number(page.size), "record_index": .number(0),
                    "_embedded": .object(["conversations": .list(elements)]),
                ]))
        }
        let path = user.map { "users/\($0)/conversations" } ?? "conversations"
        let url = "\(base(request, region: place.region, place))/\(place.version.rawValue)/\(path)"
        return reply(page.page("conversations", items.map(\.item), url: url, first: first, next: next, isNested: place.version == .v02))
    }

    private mutating func createConversation(_ request: SimulatedRequest, _ place: Place, at now: Int64) throws(APIProblem) -> Response {
        let changes = try ConversationChanges(request)
        let conversation = try addConversation(named: changes.name, place.region, at: now) { changes.apply(to: &$0) }
        if place.version == .v01 {
            let base = base(request, region: conversation.region, place)
            return reply(.object(["id": .text(conversation.id), "href": .text("\(base)/v0.1/conversations/\(conversation.id)")]))
        }
        return reply(conversation.full(base(request, region: conversation.region, place)), .created)
    }

    /// Makes a conversation, with a random name where none is given.
    mutating func addConversation(
        named name: String?, _ region: String, at now: Int64, _ fill: (inout SimulatedConversation) -> Void
    ) throws(APIProblem) -> SimulatedConversation {
        let name = name ?? "NAM-\(newID())"
        guard conversations.named(name) == nil else {
            throw duplicate("conversation:error:duplicate-name", "That conversation name is taken.")
        }
        try checkRoom(conversations.count, Self.mostConversations, conversations.bytes, "conversations")
        var conversation = SimulatedConversation(id: "CON-\(newID())", name: name, region: region, created: now)
        fill(&conversation)
        put(conversation)
        return conversation
    }

    /// Keeps a conversation that is new or has changed.
    mutating func put(_ conversation: SimulatedConversation) {
        conversations.put(conversation)
        if let expiry = conversation.expiry { nextExpiry = min(nextExpiry, expiry) }
        hasChanged = true
    }

    private mutating func change(
        _ conversation: SimulatedConversation, _ request: SimulatedRequest
    ) throws(APIProblem) -> SimulatedConversation {
        var conversation = conversation
        let changes = try ConversationChanges(request)
        if let name = changes.name, let other = conversations.named(name), other.id != conversation.id {
            throw duplicate("conversation:error:duplicate-name", "That conversation name is taken.")
        }
        try checkBytes(conversations.bytes)
        changes.apply(to: &conversation)
        conversation.sequence += 1
        put(conversation)
        return conversation
    }

    /// Lets go of conversations that were empty for as long as their `ttl` says.
    mutating func expire(at now: Int64) {
        guard now >= nextExpiry else { return }
        nextExpiry = .max
        for conversation in conversations.all {
            guard let expiry = conversation.expiry else { continue }
            if expiry <= now {
                conversations.remove(conversation.id)
                hasChanged = true
            } else {
                nextExpiry = min(nextExpiry, expiry)
            }
        }
    }

    /// What a body says of a conversation.
    private struct ConversationChanges {
        var name, displayName, imageURL: String?
        var properties, numbers, callback: JSONNode?

        init(_ request: SimulatedRequest) throws(APIProblem) {
            var body = try BodyReader(request)
            name = body.text("name", 1...100)
            displayName = body.text("display_name", 1...50)
            imageURL = body.uri("image_url")
            properties = body.object("properties")
            _ = body.object("properties") { properties in
                _ = properties.whole("ttl", 0...Int64.max)
                _ = properties.text("type", 1...200)
                _ = properties.text("custom_sort_key", 1...200)
                _ = properties.object("custom_data")
            }
            numbers = body.node("numbers")
            if let numbers, numbers.members == nil, numbers.elements == nil { body.fault("numbers", "must be an object") }
            callback = body.object("callback")
            _ = body.object("callback") { callback in
                _ = callback.uri("url", schemes: ["http", "https"])
                _ = callback.text("event_mask")
                _ = callback.object("params")
                _ = callback.choice("method", ["GET", "POST"])
            }
            try body.finish()
        }

        func apply(to conversation: inout SimulatedConversation) {
            if let name { conversation.key = name }
            if let displayName { conversation.displayName = displayName }
            if let imageURL { conversation.imageURL = imageURL }
            if let properties { conversation.properties = properties }
            if let numbers { conversation.numbers = numbers }
            if let callback { conversation.callback = callback }
        }
    }
}
