// SPDX-License-Identifier: MIT

import Foundation
import HTTPWire
import Testing
import VonageAuth

@testable import VonageSimulator

struct SavedStateTests {
    private func filled() throws -> Simulation {
        let simulation = try Simulation()
        let alice = try simulation.ask(
            .post, "/v1/users",
            #"{"name":"Alice \"é\" 😀","display_name":"A","image_url":"https://a.example/","channels":{"pstn":[{"number":"1"}]},"properties":{"custom_data":{"a":[1,null]}}}"#
        )["id"]
        _ = try simulation.makeUser("Bob")
        let room = try simulation.ask(
            .post, "/v1/conversations",
            #"{"name":"tea","display_name":"Tea","properties":{"ttl":300},"numbers":{},"callback":{"url":"https://a.example/"}}"#)["id"]
        let member = try simulation.ask(
            .post, "/v1/conversations/\(room)/members", #"{"state":"joined","user":{"id":"\#(alice)"},"channel":{"type":"app"}}"#)["id"]
        try simulation.ask(.patch, "/v1/conversations/\(room)/members/\(member)", #"{"state":"left","reason":{"code":"1","text":"x"}}"#)
        let call = try simulation.makeCall()
        try simulation.ask(.put, "/v1/calls/\(try simulation.makeCall())", #"{"action":"mute"}"#)
        simulation.now += 5000
        try simulation.ask(.put, "/v1/calls/\(call)", #"{"action":"hangup"}"#)
        try simulation.ask(.put, "/v2/applications/\(applicationText)", #"{"name":"One"}"#, authorization: "Basic YTpi")
        return simulation
    }

    @Test func `what was kept is read back whole, and answers as before`() throws {
        let simulation = try filled()
        let bytes = simulation.vonage.savedState
        let state = try SavedState(bytes)
        #expect(state.applicationID.description == applicationText)
        let other = try Simulation()
        other.now = simulation.now
        other.vonage.restore(state)
        #expect(String(decoding: other.vonage.savedState, as: UTF8.self) == String(decoding: bytes, as: UTF8.self))
        for path in ["/v1/users", "/v1/conversations", "/v1/calls"] {
            #expect(try other.ask(.get, path).text == (try simulation.ask(.get, path).text))
        }
        #expect(try other.ask(.post, "/v1/users", #"{"name":"Bob"}"#).code == "user:error:duplicate-name")
        other.now += 300_000
        #expect(try !other.ask(.get, "/v1/conversations").text.contains("Tea"), "its time goes on")
    }

    @Test func `no part of a state is one`() throws {
        let bytes = try filled().vonage.savedState
        for count in stride(from: 0, to: bytes.count - 2, by: 7) {
            let error = #expect(throws: SimulatorError.self) { try SavedState(Array(bytes.prefix(count))) }
            #expect(error?.description.contains("delete it to begin anew") == true)
        }
    }

    @Test(arguments: [
        ("\"version\":1", "\"version\":2", "version"), (applicationText, "x", "application_id"),
        ("\"application\":{", "\"application\":7,\"x\":{", "application"),
        ("\"users\":[", "\"users\":{},\"x\":[", "users"), ("\"name\":\"Bob\"", "\"name\":7", "users[1]"),
        ("\"name\":\"Bob\"", "\"name\":\"Bob\",\"region\":1", "users[1]"),
        ("\"members\":[{", "\"members\":[7,{", "conversations[0]"), ("\"status\":\"completed\"", "\"status\":\"over\"", "calls[0]"),
        ("\"created\":1767323045000", "\"created\":-1", "conversations[0]"),
    ])
    func `a state that is wrong is refused with the place`(_ old: String, _ new: String, _ place: String) throws {
        let text = String(decoding: try filled().vonage.savedState, as: UTF8.self)
        #expect(text.contains(old))
        let error = #expect(throws: SimulatorError.self) { try SavedState(Array(text.replacing(old, with: new).utf8)) }
        #expect(error?.description.contains(place) == true, "\(error?.description ?? "")")
    }

    @Test func `two items with one id are refused`() throws {
        let user = #"{"id":"USR-1","name":"a","channels":{},"properties":{},"region":"us"}"#
        let text =
            #"{"version":1,"application_id":"\#(applicationText)","application":{"name":"a","capabilities":{}},"users":[\#(user),\#(user)],"conversations":[],"calls":[]}"#
        #expect(throws: SimulatorError.self) { try SavedState(Array(text.utf8)) }
    }

    @Test func `a file is put in place whole, for its owner alone`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/state.json"
        for text in ["one", "two"] {
            try writeWhole(Array(text.utf8), to: path)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["state.json"])
        #expect(throws: SimulatorError.self) { try writeWhole([1], to: folder + "/none/state.json") }
        #expect(throws: SimulatorError.self) { try writeWhole([1], to: folder) }
    }
}

struct TimeTests {
    @Test(arguments: [
        ("1970-01-01", 0), ("2026-01-02T03:04:05.000Z", 1_767_323_045_000), ("2026-01-02T03:04:05Z", 1_767_323_045_000),
        ("2026-01-02 03:04:05", 1_767_323_045_000), ("2026-01-02T03:04:05.6", 1_767_323_045_600),
        ("2026-01-02T05:04:05+02:00", 1_767_323_045_000),
        ("2026-01-02T05:04:05 02:00", 1_767_323_045_000), ("2026-01-01T22:04:05.1234567-0500", 1_767_323_045_123),
        ("2024-02-29", 1_709_164_800_000),
        ("2026-01-02T03:04Z", 1_767_323_040_000),
    ])
    func `a time is read`(_ text: String, _ milliseconds: Int64) { #expect(readTime(text) == milliseconds) }

    @Test(arguments: [
        "", "now", "2026", "2026-13-01", "2026-02-29", "2026-01-32", "2026-01-02T", "2026-01-02T24:00:00Z", "2026-01-02T03:04:05.Z",
        "2026-01-02x",
        "2026-01-02T03:04:05Zx", "1969-12-31", "2026-01-02T03:04:05+1", "٢٠٢٦-01-02", String(repeating: "1", count: 100),
    ])
    func `what is no time is not`(_ text: String) { #expect(readTime(text) == nil) }

    @Test func `each API spells a time in its way`() {
        #expect(isoTime(1_767_323_045_007) == "2026-01-02T03:04:05.007Z")
        #expect(callTime(1_767_323_045_007) == "2026-01-02 03:04:05")
        #expect(sessionTime(1_767_549_600_000) == "Sun Jan 04 10:00:00 PST 2026")
        #expect(isoTime(.max) == "9999-12-31T23:59:59.999Z" && isoTime(.min) == "1970-01-01T00:00:00.000Z")
        #expect(sessionTime(0) == "Thu Jan 01 00:00:00 PST 1970")
    }
}
