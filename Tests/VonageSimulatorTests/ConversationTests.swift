// SPDX-License-Identifier: MIT

import HTTPWire
import Testing

@testable import VonageSimulator

struct ConversationTests {
    private static let room = #"{"name":"6A0C","display_name":"Tea room","image_url":"https://example.com/i.png","properties":{"ttl":300}}"#

    @Test func `a conversation is made, read, changed and deleted`() throws {
        let simulation = try Simulation()
        let made = try simulation.ask(.post, "/v1/conversations", Self.room)
        #expect(made.status == 201)
        #expect(
            made.text == #"{"id":"CON-00000000-0000-4000-8000-000000000001","name":"6A0C","display_name":"Tea room","#
                + #""image_url":"https://example.com/i.png","state":"ACTIVE","sequence_number":0,"properties":{"ttl":300},"#
                + #""timestamp":{"created":"2026-01-02T03:04:05.000Z"},"_links":{"self":{"href":"http://localhost:3001/v1/conversations/"#
                + #"CON-00000000-0000-4000-8000-000000000001"}}}"#)
        let path = "/v1/conversations/\(made["id"])"
        #expect(try simulation.ask(.get, path).text == made.text)
        let changed = try simulation.ask(.put, path, #"{"display_name":"Coffee"}"#)
        #expect(changed.status == 200 && changed["display_name"] == "Coffee" && changed["name"] == "6A0C")
        let duplicate = try simulation.ask(.post, "/v1/conversations", #"{"name":"6A0C"}"#)
        #expect(duplicate.status == 400 && duplicate.code == "conversation:error:duplicate-name")
        #expect(try simulation.ask(.delete, path).status == 204)
        #expect(try simulation.ask(.get, path).code == "conversation:error:not-found")
        #expect(try simulation.ask(.post, "/v1/conversations", #"{"name":"6A0C"}"#).status == 201)
    }

    @Test(arguments: [
        (#"{"display_name":""}"#, ["display_name"]), (#"{"display_name":"\#(String(repeating: "a", count: 51))"}"#, ["display_name"]),
        (#"{"properties":{"ttl":-1}}"#, ["properties.ttl"]), (#"{"properties":{"ttl":1.5}}"#, ["properties.ttl"]),
        (#"{"properties":{"ttl":"1"}}"#, ["properties.ttl"]),
        (#"{"properties":{"type":"","colour":"red"}}"#, ["properties.type", "properties.colour"]),
        (#"{"title":"x","image_url":"x"}"#, ["title", "image_url"]),
        (#"{"callback":{"url":"x","method":"PUT"}}"#, ["callback.url", "callback.method"]),
        (#"{"numbers":7}"#, ["numbers"]), (#"{"name":"\#(String(repeating: "a", count: 101))"}"#, ["name"]),
    ])
    func `a field that is wrong is named`(_ body: String, _ names: [String]) throws {
        let answer = try Simulation().ask(.post, "/v1/conversations", body)
        #expect(answer.status == 400 && answer.code == "http:error:validation-fail")
        #expect(Set(answer.invalid) == Set(names), "\(answer.text)")
    }

    @Test func `a display name has at most 50 characters`() throws {
        let body = #"{"display_name":"\#(String(repeating: "a", count: 50))"}"#
        #expect(try Simulation().ask(.post, "/v1/conversations", body).status == 201)
    }

    @Test func `each version lists them in its shape`() throws {
        let simulation = try Simulation()
        let made = try simulation.ask(.post, "/v0.1/conversations", Self.room)
        #expect(made.status == 200 && Set(made.json.keys) == ["id", "href"])
        simulation.now += 1000
        _ = try simulation.makeCall()
        let second = try simulation.ask(.get, "/v0.2/conversations?page_size=100")
        #expect(second["_embedded.data.conversations.0.display_name"] == "Tea room")
        #expect(second["_embedded.data.conversations.0.timestamp.created"] == "2026-01-02T03:04:05.000Z")
        #expect(second["_embedded.data.conversations.1.name"].hasPrefix("NAM-"))
        #expect(second["_embedded.data.conversations.1.display_name"].isEmpty, "a call has no display name")
        let first = try simulation.ask(.get, "/v0.1/conversations")
        #expect(first["_embedded.conversations.0.uuid"] == made["id"] && first["count"] == "2" && first["record_index"] == "0")
        for version in ["v0.3", "v1"] {
            #expect(try simulation.ask(.get, "/\(version)/conversations")["_embedded.conversations.0.id"] == made["id"])
        }
        let newest = try simulation.ask(.get, "/v1/conversations?order=desc&page_size=1")
        #expect(newest["_embedded.conversations.0.id"] != made["id"])
        #expect(newest["_links.next.href"].contains("order=desc"))
        let range = "date_start=2026-01-02T03:04:05.500Z&date_end=2026-01-02T03:04:06Z"
        let ranged = try simulation.ask(.get, "/v1/conversations?\(range)")
        #expect(ranged["_embedded.conversations.0.id"] == newest["_embedded.conversations.0.id"])
        #expect(ranged["_embedded.conversations.1"].isEmpty)
        #expect(try simulation.ask(.get, "/v1/conversations?date_start=soon").invalid == ["date_start"])
    }

    @Test func `an empty one lives as long as its ttl, and one with somebody in it goes on`() throws {
        let simulation = try Simulation()
        _ = try simulation.makeUser("Alice")
        let (one, two) = (
            try simulation.ask(.post, "/v1/conversations", #"{"properties":{"ttl":300}}"#)["id"],
            try simulation.ask(.post, "/v1/conversations", #"{"properties":{"ttl":300}}"#)["id"]
        )
        let forever = try simulation.ask(.post, "/v1/conversations", "{}")["id"]
        let member = try simulation.ask(
            .post, "/v1/conversations/\(two)/members", #"{"state":"joined","user":{"name":"Alice"},"channel":{"type":"app"}}"#)
        simulation.now += 299_999
        #expect(try simulation.ask(.get, "/v1/conversations/\(one)").status == 200)
        simulation.now += 1
        let gone = try simulation.ask(.get, "/v1/conversations/\(one)")
        #expect(gone.status == 404 && gone.hasChanged)
        #expect(try simulation.ask(.get, "/v1/conversations/\(two)").status == 200)
        try simulation.ask(.patch, "/v1/conversations/\(two)/members/\(member["id"])", #"{"state":"left"}"#)
        simulation.now += 300_000
        #expect(try simulation.ask(.get, "/v1/conversations/\(two)").status == 404)
        #expect(try simulation.ask(.get, "/v1/conversations/\(forever)").status == 200)
    }

    @Test func `members join, are listed, leave and come back`() throws {
        let simulation = try Simulation()
        let (alice, bob) = (try simulation.makeUser("Alice"), try simulation.makeUser("Bob"))
        let room = try simulation.ask(.post, "/v1/conversations", Self.room)["id"]
        let path = "/v1/conversations/\(room)/members"
        let added = try simulation.ask(.post, path, #"{"state":"joined","user":{"name":"Alice"},"channel":{"type":"app"}}"#)
        #expect(added.status == 201 && added["state"] == "JOINED" && added["_embedded.user.id"] == alice)
        #expect(added["timestamp.joined"] == "2026-01-02T03:04:05.000Z" && added["channel.type"] == "app")
        #expect(try simulation.ask(.post, path, #"{"state":"invited","user":{"id":"\#(bob)"}}"#)["state"] == "INVITED")
        let again = try simulation.ask(.post, path, #"{"state":"joined","user":{"name":"Alice"},"channel":{"type":"app"}}"#)
        #expect(again.status == 400 && again.code == "conversation:error:member-already-joined")
        let accepted = try simulation.ask(.post, path, #"{"state":"JOINED","user":{"id":"\#(bob)"},"channel":{"type":"app"}}"#)
        #expect(accepted.status == 201 && accepted["state"] == "JOINED")
        let list = try simulation.ask(.get, path + "?page_size=1")
        #expect(list["_embedded.members.0._embedded.user.name"] == "Alice" && list["_embedded.members.1"].isEmpty)
        let next = list["_links.next.href"].dropFirst("http://localhost:3001".count)
        #expect(try simulation.ask(.get, String(next))["_embedded.members.0._embedded.user.name"] == "Bob")
        #expect(try simulation.ask(.get, path + "?order=desc")["_embedded.members.0._embedded.user.name"] == "Bob")
        let flat = try simulation.ask(.get, "/v0.2/conversations/\(room)/members")
        #expect(flat["_embedded.data.members.0.user_id"] == alice && flat["_embedded.data.members.0.name"] == "Alice")
        let member = "\(path)/\(added["id"])"
        #expect(try simulation.ask(.patch, member, #"{"state":"joined"}"#).code == "conversation:error:member-already-joined")
        let left = try simulation.ask(.patch, member, #"{"state":"left","reason":{"code":"7","text":"tired"}}"#)
        #expect(left.status == 200 && left["state"] == "LEFT" && left["reason.text"] == "tired")
        #expect(try simulation.ask(.get, member)["state"] == "LEFT")
        #expect(try simulation.ask(.post, path, #"{"state":"joined","user":{"name":"Alice"}}"#).status == 201)
        let mine = try simulation.ask(.get, "/v1/users/\(alice)/conversations")
        #expect(mine["_embedded.conversations.0.id"] == room)
        try simulation.ask(.delete, "/v1/users/\(bob)")
        #expect(try simulation.ask(.get, path + "?page_size=100").text.contains(#""state":"LEFT","_embedded":{"user":{"id":"\#(bob)""#))
    }

    @Test(arguments: [
        ("{}", ["state"]), (#"{"state":"joined"}"#, ["user"]), (#"{"state":"left","user":{"name":"Alice"}}"#, ["state"]),
        (#"{"state":"joined","user":{"name":"Alice","id":"USR-1"}}"#, ["user"]), (#"{"state":"joined","user":{},"x":1}"#, ["user", "x"]),
        (#"{"state":"joined","user":{"name":"Alice"},"channel":{}}"#, ["channel.type"]),
    ])
    func `a member that is added wrongly is refused`(_ body: String, _ names: [String]) throws {
        let simulation = try Simulation()
        _ = try simulation.makeUser("Alice")
        let room = try simulation.ask(.post, "/v1/conversations", "{}")["id"]
        let answer = try simulation.ask(.post, "/v1/conversations/\(room)/members", body)
        #expect(answer.status == 400 && Set(answer.invalid) == Set(names), "\(answer.text)")
        let unknown = try simulation.ask(.post, "/v1/conversations/\(room)/members", #"{"state":"joined","user":{"name":"Eve"}}"#)
        #expect(unknown.status == 404 && unknown.code == "user:error:not-found")
        #expect(try simulation.ask(.get, "/v1/conversations/\(room)/members/MEM-1").status == 404)
        #expect(try simulation.ask(.get, "/v1/conversations/\(room)/events").status == 404)
        #expect(try simulation.ask(.delete, "/v1/conversations/\(room)/members").status == 405)
    }
}
