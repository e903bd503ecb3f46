// SPDX-License-Identifier: MIT

import HTTPWire
import Testing

@testable import VonageSimulator

struct UserTests {
    @Test func `a user is made, read, changed and deleted`() throws {
        let simulation = try Simulation()
        let made = try simulation.ask(.post, "/v1/users", #"{"name":"Alice","display_name":"Alice L."}"#)
        #expect(made.status == 201 && made.hasChanged)
        #expect(
            made.text == #"{"id":"USR-00000000-0000-4000-8000-000000000001","name":"Alice","display_name":"Alice L.","properties":{},"#
                + #""channels":{},"_links":{"self":{"href":"http://localhost:3001/v1/users/USR-00000000-0000-4000-8000-000000000001"}}}"#)
        let path = "/v1/users/\(made["id"])"
        let read = try simulation.ask(.get, path)
        #expect(read.status == 200 && read.text == made.text && !read.hasChanged)
        let change = #"{"display_name":"Al","image_url":"https://example.com/a.png","properties":{"custom_data":{"tier":"gold"}}}"#
        let changed = try simulation.ask(.patch, path, change)
        #expect(changed.status == 200 && changed["name"] == "Alice" && changed["display_name"] == "Al")
        #expect(changed["properties.custom_data.tier"] == "gold" && changed["image_url"] == "https://example.com/a.png")
        let deleted = try simulation.ask(.delete, path)
        #expect(deleted.status == 204 && deleted.text.isEmpty)
        let gone = try simulation.ask(.get, path)
        #expect(gone.status == 404 && gone.code == "user:error:not-found")
        #expect(try simulation.ask(.delete, path).status == 404)
        #expect(try simulation.ask(.patch, path, "{}").status == 404)
    }

    @Test func `a user without a name has a random one, and an id that is sent is taken no notice of`() throws {
        let simulation = try Simulation()
        let made = try simulation.ask(.post, "/v1/users", #"{"id":"USR-mine"}"#)
        #expect(made.status == 201 && made["id"].hasPrefix("USR-0000") && made["name"].hasPrefix("NAM-0000"))
        #expect(try simulation.ask(.post, "/v1/users").status == 201)
    }

    @Test(arguments: [Status.badRequest, .conflict]) func `a name that is taken is refused by its code, whatever the status`(
        _ status: Status
    ) throws {
        let simulation = try Simulation { $0.duplicateStatus = status }
        _ = try simulation.makeUser("Alice")
        let bob = try simulation.makeUser("Bob")
        for answer in [
            try simulation.ask(.post, "/v1/users", #"{"name":"Alice"}"#),
            try simulation.ask(.patch, "/v1/users/\(bob)", #"{"name":"Alice"}"#),
        ] {
            #expect(answer.status == Int(status.rawValue) && answer.code == "user:error:duplicate-name" && !answer.hasChanged)
            #expect(answer["type"].hasSuffix("#user:error:duplicate-name"))
        }
        #expect(try simulation.ask(.patch, "/v1/users/\(bob)", #"{"name":"Bob"}"#).status == 200)
        #expect(try simulation.ask(.patch, "/v1/users/\(bob)", #"{"name":"Bo"}"#).status == 200)
        #expect(try simulation.ask(.post, "/v1/users", #"{"name":"Bob"}"#).status == 201, "the old name is free again")
    }

    @Test(arguments: [
        (#"{"name":""}"#, ["name"]), (#"{"name":7}"#, ["name"]), (#"{"name":null}"#, ["name"]), (#"{"nme":"a"}"#, ["nme"]),
        (#"{"name":"a","display_name":"","image_url":"no uri"}"#, ["display_name", "image_url"]), ("[]", ["body"]), ("{", ["body"]),
        (#"{"name":"a","name":"b"}"#, ["body"]), (#"{"properties":{"ttl":1}}"#, ["properties.ttl"]),
        (#"{"properties":[]}"#, ["properties"]),
        (#"{"properties":{"custom_data":"x"}}"#, ["properties.custom_data"]), (#"{"channels":{"fax":[]}}"#, ["channels.fax"]),
        (#"{"channels":{"pstn":{}}}"#, ["channels.pstn"]), (#"{"channels":{"pstn":["1"]}}"#, ["channels.pstn"]),
    ])
    func `a field that is wrong is named`(_ body: String, _ names: [String]) throws {
        let simulation = try Simulation()
        let answer = try simulation.ask(.post, "/v1/users", body)
        #expect(answer.status == 400 && answer.code == "http:error:validation-fail" && !answer.hasChanged)
        #expect(Set(answer.invalid) == Set(names), "\(answer.text)")
    }

    @Test(arguments: [(100, 201), (101, 400)]) func `a name has at most 100 characters`(_ length: Int, _ status: Int) throws {
        let name = String(repeating: "é", count: length)
        #expect(try Simulation().ask(.post, "/v1/users", "{\"name\":\"\(name)\"}").status == status)
    }

    @Test func `a body of another type is refused`() throws {
        let answer = try Simulation().ask(.post, "/v1/users", "name=Alice", type: "application/x-www-form-urlencoded")
        #expect(answer.status == 415 && answer.code == "http:error:unsupported-media-type")
        #expect(try Simulation().ask(.post, "/v1/users", "{}", type: nil).status == 201)
        #expect(try Simulation().ask(.post, "/v1/users", "{}", type: "application/json; charset=utf-8").status == 201)
    }

    @Test(arguments: ["asc", "desc", "ASC"]) func `pages follow one another by their cursors, also over what is deleted`(_ order: String)
        throws
    {
        let simulation = try Simulation()
        let ids = try (0..<7).map { try simulation.makeUser("user \($0)") }
        let expected = order == "desc" ? ids.reversed() : ids
        var (found, target): ([String], String?) = ([], "/v1/users?page_size=2&order=\(order)")
        var pages = 0
        while let now = target, pages < 10 {
            let page = try simulation.ask(.get, now)
            #expect(page.status == 200 && page["page_size"] == "2")
            let users = (page.json["_embedded"] as? [String: Any])?["users"] as? [[String: Any]] ?? []
            found += users.compactMap { $0["id"] as? String }
            #expect(page["_links.first.href"].contains("page_size=2") && page["_links.self.href"].contains("cursor=%2B%2F"))
            let next = page["_links.next.href"]
            target = next.isEmpty ? nil : String(next.dropFirst("http://localhost:3001".count))
            pages += 1
            // One that was shown, and one that was not.
            if pages == 1 {
                for id in [expected[0], expected[4]] { try simulation.ask(.delete, "/v1/users/\(id)") }
            }
        }
        #expect(pages == 3 && found == [0, 1, 2, 3, 5, 6].map { expected[$0] })
    }

    @Test(arguments: [
        "page_size=0", "page_size=101", "page_size=x", "page_size=", "order=up", "cursor=x", "cursor=", "cursor=%2B%2F8", "name=",
        "cursor=+/8x",
    ])
    func `a list that is asked for wrongly is refused`(_ query: String) throws {
        let answer = try Simulation().ask(.get, "/v1/users?\(query)")
        #expect(answer.status == 400 && answer.invalid == [String(query.prefix { $0 != "=" })], "\(answer.text)")
    }

    @Test func `a name is looked up exactly, and one that nobody has is 404 or an empty page`() throws {
        for isEmpty in [false, true] {
            let simulation = try Simulation { $0.unknownNameIsEmpty = isEmpty }
            _ = try simulation.makeUser("Alice")
            _ = try simulation.makeUser("Ali")
            let found = try simulation.ask(.get, "/v1/users?name=Ali")
            #expect(found["_embedded.users.0.name"] == "Ali" && found["_embedded.users.1"].isEmpty)
            let none = try simulation.ask(.get, "/v1/users?name=ali")
            #expect(none.status == (isEmpty ? 200 : 404))
            if isEmpty { #expect(none.text.contains(#""users":[]"#)) } else { #expect(none.code == "user:error:not-found") }
        }
    }

    @Test func `a list has ten users where nothing else is asked for, and its items are short`() throws {
        let simulation = try Simulation()
        for number in 0..<11 { _ = try simulation.makeUser("user \(number)") }
        let page = try simulation.ask(.get, "/v1/users")
        #expect(page["_embedded.users.9.name"] == "user 9" && page["_embedded.users.10"].isEmpty && !page["_links.next.href"].isEmpty)
        #expect(page["_embedded.users.0.properties"].isEmpty && !page["_embedded.users.0._links.self.href"].isEmpty)
    }

    @Test func `older versions have their shapes`() throws {
        let simulation = try Simulation()
        let made = try simulation.ask(.post, "/v0.1/users", #"{"name":"Alice"}"#)
        #expect(made.status == 200 && Set(made.json.keys) == ["id", "href"])
        #expect(made["href"] == "http://localhost:3001/v0.1/users/\(made["id"])")
        #expect(try simulation.ask(.get, "/v0.1/users").list.first?["name"] as? String == "Alice")
        #expect(try simulation.ask(.get, "/v0.2/users")["_embedded.data.users.0.name"] == "Alice")
        #expect(try simulation.ask(.get, "/v0.3/users")["_embedded.users.0.name"] == "Alice")
        #expect(try simulation.ask(.put, "/v0.1/users/\(made["id"])", #"{"name":"Al"}"#)["name"] == "Al")
        let deleted = try simulation.ask(.delete, "/v0.1/users/\(made["id"])")
        #expect(deleted.status == 200 && deleted.text == "{}")
    }

    @Test func `with the trap, what was made in one region is not found in another`() throws {
        let simulation = try Simulation { $0.hasRegionTrap = true }
        let made = try simulation.ask(.post, "/eu/v1/users", #"{"name":"Alice"}"#)
        #expect(made["_links.self.href"].hasPrefix("http://localhost:3001/eu/v1/users/USR-"))
        let path = "/v1/users/\(made["id"])"
        #expect(try simulation.ask(.get, "/eu\(path)").status == 200)
        for prefix in ["", "/us", "/ap"] {
            #expect(try simulation.ask(.get, prefix + path).code == "user:error:not-found")
            #expect(try simulation.ask(.delete, prefix + path).status == 404)
            #expect(try simulation.ask(.get, "\(prefix)/v1/users")["_embedded.users.0"].isEmpty)
        }
        let call = try simulation.ask(.post, "/eu/v1/calls", Simulation.call)
        #expect(try simulation.ask(.get, "/v1/calls/\(call["uuid"])").text == #"{"type":"NOT_FOUND","error_title":"Not Found"}"#)
        #expect(try simulation.ask(.get, "/eu/v1/calls/\(call["uuid"])").status == 200)
        let open = try Simulation()
        let other = try open.ask(.post, "/eu/v1/users", #"{"name":"Alice"}"#)["id"]
        #expect(try open.ask(.get, "/ap/v1/users/\(other)").status == 200)
    }

    @Test func `so many users are kept and no more`() throws {
        let simulation = try Simulation()
        for number in 0..<SimulatedVonage.mostUsers {
            simulation.vonage.users.put(SimulatedUser(id: "USR-\(number)", name: "user \(number)", region: "us"))
        }
        let answer = try simulation.ask(.post, "/v1/users", #"{"name":"one more"}"#)
        #expect(answer.status == 403 && answer["detail"].contains("10000"))
        try simulation.ask(.delete, "/v1/users/USR-5")
        #expect(try simulation.ask(.post, "/v1/users", #"{"name":"one more"}"#).status == 201)
    }
}
