// SPDX-License-Identifier: MIT
//
// Flows without a server: compiled from texts, asked with a query or a body, answered with an NCCO and what is said about it.

import HTTPWire
import NCCO
import Testing

@testable import Switchboard

struct FlowBench {
    struct Answer {
        let flow: String
        let warning: String?
        let ncco: String
        let isRefusal: Bool
        let isFault: Bool
    }

    let set: FlowSet

    init(_ set: FlowSet) { self.set = set }

    /// Fails the test where the texts have an error.
    init(
        flows: String, templates: [String: String], numbers: [String] = ["14155550100"], user: String = "Alice",
        zone: @escaping (String) throws(ZoneError) -> Zone = { name throws(ZoneError) in try Zone.named(name) }
    ) throws {
        let compilation = Self.compile(flows: flows, templates: templates, numbers: numbers, user: user, zone: zone)
        set = try #require(compilation.flows, "\(compilation.findings)")
    }

    static func compile(
        flows: String?, templates: [String: String], numbers: [String] = ["14155550100"], user: String = "Alice",
        zone: @escaping (String) throws(ZoneError) -> Zone = { name throws(ZoneError) in try Zone.named(name) }
    ) -> FlowCompilation {
        let files = FlowFiles(
            flows: flows.map { Array($0.utf8) }, templates: templates.sorted { $0.key < $1.key }.map { ($0.key, Array($0.value.utf8)) })
        return FlowCompiler.compile(files, settings(numbers, user), zone: zone)
    }

    static func builtIn(numbers: [String] = ["14155550100"], user: String = "Alice") throws -> FlowBench {
        FlowBench(try #require(FlowCompiler.compile(.builtIn, settings(numbers, user)).flows))
    }

    private static func settings(_ numbers: [String], _ user: String) -> FlowSettings {
        FlowSettings(numbers: numbers.compactMap { PhoneNumber(lenient: $0) }, inboundUser: UserName(user) ?? "Alice")
    }

    /// Nil where no rule holds.
    func ask(
        _ flow: String = "answer", query: String = "", body: String = "", at time: Int64 = 0, baseURL: String = "https://calls.example.com"
    ) throws -> Answer? {
        let index = try #require(set.flows.firstIndex { $0.name == flow })
        var request = FlowRequest()
        let text = Array(query.utf8)
        try request.parameters.read(query: 0..<text.count, body: Array(body.utf8).span, contentType: nil, in: text.span)
        request.begin(slots: set.paths.count, now: time)
        var output: [UInt8] = []
        guard let served = set.serve(index, &request, baseURL: Array(baseURL.utf8), into: &output) else { return nil }
        return Answer(
            flow: served.label.flow, warning: served.label.warning, ncco: String(decoding: output, as: UTF8.self),
            isRefusal: served.isRefusal, isFault: served.isFault)
    }
}
