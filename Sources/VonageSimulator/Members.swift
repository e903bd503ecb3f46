// SPDX-License-Identifier: MIT
//
// Members of a conversation: a user becomes one by being invited or by joining, and stays one who has left.

import HTTPWire
import JSON

struct SimulatedMember: Sendable {
    enum State: String, Sendable {
        case invited = "INVITED"
        case joined = "JOINED"
        case left = "LEFT"
    }

    let id: String
    let userID: String
    /// As it was when they came: the user may be gone.
    let userName: String
    let displayName: String?
    var state: State
    var channel: JSONNode?
    var invited, joined, left: Int64?
    var reason: JSONNode?

    init(id: String, user: SimulatedUser, state: State, at now: Int64) {
        (self.id, userID, userName, displayName) = (id, user.id, user.key, user.displayName)
        self.state = state
        move(to: state, at: now)
    }

    mutating func move(to state: State, at now: Int64) {
        self.state = state
        switch state {
        case .invited: invited = now
        case .joined: joined = now
        case .left: left = now
        }
    }

    var saved: JSONNode {
        .object([
            "id": .text(id), "user_id": .text(userID), "user_name": .text(userName), "display_name": .optionalText(displayName),
            "state": .text(state.rawValue), "channel": channel, "invited": .optionalTime(invited), "joined": .optionalTime(joined),
            "left": .optionalTime(left), "reason": reason,
        ])
    }

    init?(saved node: JSONNode) {
        guard let id = node["id"]?.string, let userID = node["user_id"]?.string, let userName = node["user_name"]?.string,
            let state = node["state"]?.string.flatMap(State.init)
        else { return nil }
        (self.id, self.userID, self.userName, self.state) = (id, userID, userName, state)
        displayName = node["display_name"]?.string
        channel = node["channel"]
        (invited, joined, left) = (node["invited"]?.whole, node["joined"]?.whole, node["left"]?.whole)
        reason = node["reason"]
    }

    private func user(_ base: String) -> JSONNode {
        .object([
            "id": .text(userID), "name": .text(userName), "display_name": .optionalText(displayName),
            "_links": .object(["self": .object(["href": .text("\(base)/v1/users/\(userID)")])]),
        ])
    }

    private func links(_ base: String, _ conversation: String) -> JSONNode {
        .object(["self": .object(["href": .text("\(base)/v1/conversations/\(conversation)/members/\(id)")])])
    }

    func item(_ base: String, _ conversation: String) -> JSONNode {
        .object([
            "id": .text(id), "state": .text(state.rawValue), "_embedded": .object(["user": user(base)]),
            "_links": links(base, conversation),
        ])
    }

    /// Version 0.2.
    var flatItem: JSONNode {
        .object([
            "id": .text(id), "state": .text(state.rawValue), "name": .text(userName), "display_name": .optionalText(displayName),
            "user_id": .text(userID),
        ])
    }

    func full(_ base: String, _ conversation: String) -> JSONNode {
        func time(_ value: Int64?) -> JSONNode? { value.map { .text(isoTime($0)) } }
        return .object([
            "id": .text(id), "conversation_id": .text(conversation), "state": .text(state.rawValue), "channel": channel,
            "timestamp": .object(["invited": time(invited), "joined": time(joined), "left": time(left)]), "reason": reason,
            "_embedded": .object(["user": user(base)]), "_links": links(base, conversation),
        ])
    }
}

extension SimulatedVonage {
    /// Of one conversation; Vonage takes 200 into a room with sound.
    private static let mostMembers = 200

    mutating func answerMembers(
        _ request: SimulatedRequest, _ place: Place, of conversation: SimulatedConversation, at now: Int64
    ) throws(APIProblem) -> Response {
        let base = base(request, region: conversation.region, place)
        if place.rest.count == 2 {
            switch request.method {
            case .get: return try listMembers(request, place, of: conversation, base)
            case .post: return try addMember(request, place, to: conversation, base, at: now)
            default: throw wrongMethod("GET, POST")
            }
        }
        guard let index = conversation.members.firstIndex(where: { $0.id == place.rest[2] }) else {
            throw APIProblem(.notFound, "member:error:not-found", "Member does not exist, or you do not have access.")
        }
        switch request.method {
        case .get: return reply(conversation.members[index].full(base, conversation.id))
        case .patch: return try changeMember(index, request, of: conversation, base, at: now)
        default: throw wrongMethod("GET, PATCH")
        }
    }

    private func listMembers(
        _ request: SimulatedRequest, _ place: Place, of conversation: SimulatedConversation, _ base: String
    ) throws(APIProblem) -> Response {
        let page = try PageRequest(request)
        // They are never taken away, so that a place in the list stays what it is.
        let places = page.isDescending ? Array(conversation.members.indices.reversed()) : Array(conversation.members.indices)
        let left = places.filter { place in
            page.start.map { page.isDescending ? Int64(place) < $0 : Int64(place) >= $0 - 1 } ?? true
        }
        let (shown, next) = (left.prefix(page.size), left.dropFirst(page.size).first)
        let elements = shown.map { index in
            let member = conversation.members[index]
            return place.version == .v02 ? member.flatItem : member.item(base, conversation.id)
        }
        let url = "\(base)/\(place.version.rawValue)/conversations/\(conversation.id)/members"
        return reply(
            page.page(
                "members", elements, url: url, first: shown.first.map { Int64($0) + 1 }, next: next.map { Int64($0) + 1 },
                isNested: place.version == .v02))
    }

    private mutating func addMember(
        _ request: SimulatedRequest, _ place: Place, to conversation: SimulatedConversation, _ base: String, at now: Int64
    ) throws(APIProblem) -> Response {
        var conversation = conversation
        var body = try BodyReader(request)
        let state = body.choice("state", ["invited", "joined"])
        if state == nil, body.faults.isEmpty { body.fault("state", "is required") }
        let named: (id: String?, name: String?)? = body.object("user") { user in (user.text("id"), user.text("name")) }
        if let named {
            if (named.id == nil) == (named.name == nil), body.faults.isEmpty { body.fault("user", "must have either id or name") }
        } else if body.faults.isEmpty {
            body.fault("user", "is required")
        }
        let channel = body.object("channel")
        if let channel, channel["type"]?.string == nil { body.fault("channel.type", "is required") }
        body.ignore("media", "knocking_id", "member_id_inviting", "from")
        try body.finish()
        guard let user = named?.id.flatMap({ users[$0] }) ?? named?.name.flatMap({ users.named($0) }), isVisible(user.region, place) else {
            throw APIProblem(.notFound, "user:error:not-found", "User does not exist, or you do not have access.")
        }
        var member = SimulatedMember(id: "MEM-\(newID())", user: user, state: state == "joined" ? .joined : .invited, at: now)
        member.channel = channel
        if let index = conversation.members.firstIndex(where: { $0.userID == user.id && $0.state != .left }) {
            // Who was invited joins; all else is there already.
            guard conversation.members[index].state == .invited, member.state == .joined else {
                throw APIProblem(.badRequest, "conversation:error:member-already-joined", "Member has already joined or been invited.")
            }
            conversation.members[index].move(to: .joined, at: now)
            conversation.members[index].channel = channel ?? conversation.members[index].channel
            member = conversation.members[index]
        } else {
            guard conversation.members.count < Self.mostMembers else {
                throw .permission("A conversation has at most \(Self.mostMembers) members.")
            }
            try checkBytes(conversations.bytes)
            conversation.members.append(member)
        }
        settle(&conversation, at: now)
        return reply(member.full(base, conversation.id), .created)
    }

    private mutating func changeMember(
        _ index: Int, _ request: SimulatedRequest, of conversation: SimulatedConversation, _ base: String, at now: Int64
    ) throws(APIProblem) -> Response {
        var conversation = conversation
        var body = try BodyReader(request)
        let state = body.choice("state", ["left", "joined"])
        if state == nil, body.faults.isEmpty { body.fault("state", "is required") }
        let reason = body.object("reason")
        _ = body.object("reason") { reason in
            _ = reason.text("code", 0...200)
            _ = reason.text("text", 0...200)
        }
        body.ignore("from")
        try body.finish()
        if state == "joined", conversation.members[index].state == .joined {
            throw APIProblem(.badRequest, "conversation:error:member-already-joined", "Member has already joined.")
        }
        conversation.members[index].move(to: state == "joined" ? .joined : .left, at: now)
        conversation.members[index].reason = reason
        settle(&conversation, at: now)
        return reply(conversation.members[index].full(base, conversation.id))
    }

    /// Notes whether somebody is in it, and keeps it.
    private mutating func settle(_ conversation: inout SimulatedConversation, at now: Int64) {
        let isEmpty = !conversation.members.contains { $0.state == .joined }
        conversation.emptySince = isEmpty ? conversation.emptySince ?? now : nil
        conversation.sequence += 1
        put(conversation)
    }

    /// A user is deleted, and is in no conversation any more.
    mutating func leaveAll(_ user: String, at now: Int64) {
        for conversation in conversations.all where conversation.members.contains(where: { $0.userID == user && $0.state != .left }) {
            var conversation = conversation
            for index in conversation.members.indices where conversation.members[index].userID == user {
                conversation.members[index].move(to: .left, at: now)
            }
            settle(&conversation, at: now)
        }
    }
}
