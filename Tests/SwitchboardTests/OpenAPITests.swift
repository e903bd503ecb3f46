// SPDX-License-Identifier: MIT

import Foundation
import HTTPWire
import Testing

@testable import Switchboard

struct OpenAPITests {
    private func document() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(OpenAPI.document.utf8)) as? [String: Any])
    }

    @Test func `each route is described with each method that it takes, and no other`() throws {
        let paths = try #require(try document()["paths"] as? [String: [String: Any]])
        for route in Route.allCases {
            let described = Set((paths[route.rawValue] ?? [:]).keys)
            // HEAD is what GET says, without the body.
            let taken = [(Method.get, "get"), (.post, "post"), (.delete, "delete")].filter { route.takes($0.0) }.map(\.1)
            #expect(described == Set(taken), "\(route.rawValue)")
        }
        let others = Set(paths.keys).subtracting(Route.allCases.map(\.rawValue))
        #expect(
            others == [
                "/voice/answer", "/voice/fallback", "/voice/{flow}", "/calls/{conversation_uuid}", "/calls/{conversation_uuid}/again",
                "/page/{name}", "/users/{name}", "/users/{name}/token", "/room/{name}",
            ])
    }

    @Test func `operations have names of their own, and references lead somewhere`() throws {
        let names = OpenAPI.operations.map { "\($0.method) \($0.path)" }
        #expect(Set(names).count == names.count)
        let paths = try #require(try document()["paths"] as? [String: [String: [String: Any]]])
        let ids = paths.values.flatMap(\.values).compactMap { $0["operationId"] as? String }
        #expect(Set(ids).count == names.count)
        let components = try #require(try document()["components"] as? [String: [String: Any]])
        let schemas = try #require(components["schemas"])
        for piece in OpenAPI.document.components(separatedBy: "#/components/schemas/").dropFirst() {
            #expect(schemas[String(piece.prefix { $0 != "\"" })] != nil)
        }
    }

    @Test func `it is served to everybody`() throws {
        let response = try #require(try HandlerBench().reply("GET /openapi.json HTTP/1.1\r\nHost: h\r\n\r\n").now)
        #expect(response.status == .ok && response.contentType == .json)
        #expect(response.body == Array(OpenAPI.document.utf8))
    }
}
