// SPDX-License-Identifier: MIT

import Foundation
import HTTPWire
import Testing

@testable import VonageSimulator

struct SessionTests {
    private func create(_ form: String, type: String = "application/x-www-form-urlencoded") throws -> Answered {
        let simulation = try Simulation()
        simulation.now = 1_767_549_600_000
        return try simulation.ask(.post, "/session/create", form, type: type)
    }

    @Test func `a session is an array of one`() throws {
        let answer = try create("p2p.preference=disabled&archiveMode=manual")
        #expect(answer.status == 200 && answer.response.contentType == .json && answer.list.count == 1)
        #expect(answer["0.project_id"] == applicationText && answer["0.partner_id"] == applicationText)
        #expect(answer["0.create_dt"] == "Sun Jan 04 10:00:00 PST 2026" && answer["0.media_server_url"].isEmpty)
        let id = answer["0.session_id"]
        #expect(id.hasPrefix("2_MX4"))
        let padded = id.dropFirst(2).replacing("-", with: "+").replacing("_", with: "/")
        let text = try #require(Data(base64Encoded: padded + String(repeating: "=", count: (4 - padded.count % 4) % 4)))
        #expect(String(decoding: text, as: UTF8.self).hasPrefix("1~\(applicationText)~~1767549600000~"))
    }

    @Test(arguments: [
        "", "p2p.preference=enabled", "p2p.preference=always&location=10.1.200.30", "p2p.preference=disabled&archiveMode=always&e2ee=false",
        "media_mode=routed",
    ])
    func `whatever is documented is taken`(_ form: String) throws { #expect(try create(form).status == 200) }

    @Test(arguments: [
        "p2p.preference=routed", "archiveMode=never", "archiveMode=always", "archiveMode=always&p2p.preference=enabled", "e2ee=true",
        "e2ee=1",
        "location=null", "location=10.1.1", "location=10.1.1.256",
    ])
    func `what is not is refused with code and message`(_ form: String) throws {
        let answer = try create(form)
        #expect(answer.status == 400 && answer["code"] == "400" && !answer["message"].isEmpty)
    }

    @Test func `a body that is no form is refused`() throws {
        #expect(try create(#"{"archiveMode":"manual"}"#, type: "application/json")["code"] == "415")
        #expect(try create("archiveMode=manual", type: "application/json").status == 200, "it is one, whatever it is called")
    }
}
