// SPDX-License-Identifier: MIT

import HTTPWire
import Testing

@testable import VonageSimulator

struct TroubleTests {
    @Test func `kinds come one after the other, one request in so many`() throws {
        let simulation = try Simulation(Trouble("429,500,html", every: 2))
        let statuses = try (0..<8).map { _ in try simulation.ask(.get, "/v1/users").status }
        #expect(statuses == [200, 429, 200, 500, 200, 502, 200, 429])
    }

    @Test func `what a gateway answers reaches nobody, and each API has its words`() throws {
        let simulation = try Simulation(Trouble("429,500,html,html=200,503"))
        let first = try simulation.ask(.post, "/v1/users", #"{"name":"Alice"}"#)
        #expect(first.status == 429 && first.code == "http:error:too-many-request" && first.fields.contains("Retry-After: 1\r\n"))
        let second = try simulation.ask(.post, "/session/create")
        #expect(second.status == 500 && second["code"] == "500")
        for status in [502, 200] {
            let page = try simulation.ask(.post, "/v1/users", #"{"name":"Alice"}"#)
            #expect(page.status == status && page.response.contentType == .html && page.text.hasPrefix("<html>"))
        }
        #expect(try simulation.ask(.get, "/v1/calls")["type"].hasSuffix("#internal-error"))
        #expect(simulation.vonage.users.count == 0)
    }

    @Test func `an answer that is lost on its way was made`() throws {
        let simulation = try Simulation(Trouble("empty,cut,slow=1500ms"))
        let empty = try simulation.ask(.post, "/v1/users", #"{"name":"one"}"#)
        #expect(empty.status == 201 && empty.text.isEmpty && empty.hasChanged)
        let cut = try simulation.ask(.post, "/v1/users", #"{"name":"two"}"#)
        #expect(cut.status == 201 && cut.text.hasPrefix(#"{"id":"USR-"#) && !cut.text.hasSuffix("}"))
        #expect(cut.response.close && cut.response.missingBytes > 0)
        let slow = try simulation.ask(.post, "/v1/users", #"{"name":"three"}"#)
        #expect(slow.status == 201 && slow.delay == 1500 && slow.text.hasSuffix("}"))
        #expect(simulation.vonage.users.count == 3)
    }

    @Test func `an answer without a body is cut too`() throws {
        let simulation = try Simulation(Trouble("cut"))
        simulation.vonage.users.put(SimulatedUser(id: "USR-1", name: "one", region: "us"))
        let answer = try simulation.ask(.delete, "/v1/users/USR-1")
        #expect(answer.text == "{" && answer.response.missingBytes == 1 && answer.response.close)
    }

    @Test(arguments: [("slow=30s", 30_000), ("slow=1ms,slow=2min", 120_000), ("slow=600s", 600_000), ("429", 0)])
    func `times are read in their units`(_ list: String, _ time: Int64) throws { #expect(try Trouble(list).longestDelay == time) }

    @Test(arguments: [
        "", ",", "429,", "404", "html=500", "slow", "slow=", "slow=s", "slow=1", "slow=1h", "slow=601s", "slow=-1s", "slow=99999999999s",
        "Cut",
    ])
    func `a list with anything else is refused with what would be right`(_ list: String) {
        let error = #expect(throws: SimulatorError.self) { try Trouble(list) }
        #expect(error?.description.contains("slow=30s") == true)
    }

    @Test(arguments: [0, -1, 1_000_001]) func `one in none is refused`(_ every: Int) {
        #expect(throws: SimulatorError.self) { try Trouble("429", every: every) }
    }
}
