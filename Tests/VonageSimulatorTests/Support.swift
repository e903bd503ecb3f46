// SPDX-License-Identifier: MIT
//
// A simulated Vonage with its own clock and ids that count, and tokens for it.

import Foundation
import HTTPWire
import VonageAuth

@testable import VonageSimulator

let applicationText = "11111111-2222-4333-8444-555555555555"

enum Keys {
    /// Made once for all tests; a key takes a while.
    static let key = Result { try PrivateKey.generate() }
}

func base64URL(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}

/// Ids that count, so that answers can be written down.
final class Counter: @unchecked Sendable {
    /// Touched by the one test that has it.
    private var count = 0

    func next() -> String {
        count += 1
        let digits = String(count, radix: 16)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }
}

struct Answered {
    let status: Int
    let text: String
    let delay: Int64
    let hasChanged: Bool
    let response: Response

    var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:] }
    var list: [[String: Any]] { (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [[String: Any]] ?? [] }
    var fields: String { String(decoding: response.fields.bytes, as: UTF8.self) }
    /// Where the code of a problem is.
    var code: String { json["code"] as? String ?? "" }
    /// Names of the fields that are wrong.
    var invalid: [String] { (json["invalid_parameters"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String } }

    /// The value at a path of keys and indices, as text.
    subscript(_ path: String) -> String {
        var value: Any? = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        for key in path.split(separator: ".") {
            if let index = Int(key), let list = value as? [Any] {
                value = index < list.count ? list[index] : nil
            } else {
                value = (value as? [String: Any])?[String(key)]
            }
        }
        return value.map { "\($0)" } ?? ""
    }
}

/// One simulation, asked as by one client after another.
final class Simulation {
    var vonage: SimulatedVonage
    /// Milliseconds.
    var now: Int64 = 1_767_323_045_000
    private let key: PrivateKey

    init(_ trouble: Trouble? = nil, adjust: (inout SimulatedVonage.Rules) -> Void = { _ in }) throws {
        key = try Keys.key.get()
        var rules = SimulatedVonage.Rules()
        rules.limitsCallRate = false
        adjust(&rules)
        let counter = Counter()
        guard let id = ApplicationID(applicationText) else { throw SimulatorError("no id") }
        vonage = SimulatedVonage(applicationID: id, publicKey: key.publicKey, rules: rules, trouble: trouble) { counter.next() }
    }

    func token(_ more: String = "", id: String = applicationText, seconds: Int64 = 900, key: PrivateKey? = nil) throws -> String {
        let claims = "{\"application_id\":\"\(id)\",\"iat\":\(now / 1000),\"exp\":\(now / 1000 + seconds),\"jti\":\"j\"\(more)}"
        let signed = base64URL(#"{"alg":"RS256","typ":"JWT"}"#.utf8) + "." + base64URL(claims.utf8)
        return signed + "." + base64URL(try (key ?? self.key).sign(Array(signed.utf8)))
    }

    /// Asks with an application's token, unless another field is given.
    @discardableResult
    func ask(
        _ method: HTTPWire.Method, _ target: String, _ body: String = "", type: String? = "application/json", authorization: String? = nil
    ) throws -> Answered {
        let request = SimulatedRequest(
            method, target, authority: "localhost:3001", authorization: try authorization ?? "Bearer \(token())",
            contentType: body.isEmpty ? nil : type, body: Array(body.utf8))
        let answer = vonage.answer(request, at: now)
        return Answered(
            status: Int(answer.response.status.rawValue), text: String(decoding: answer.response.body, as: UTF8.self), delay: answer.delay,
            hasChanged: answer.hasChanged, response: answer.response)
    }

    func advance(_ uuid: String, _ status: CallStatus) -> Bool { vonage.advance(call: uuid, to: status, at: now) }

    func makeUser(_ name: String) throws -> String { try ask(.post, "/v1/users", "{\"name\":\"\(name)\"}")["id"] }

    static let call = #"""
        {"to":[{"type":"phone","number":"12025550142"}],"from":{"type":"phone","number":"12025550100"},\#
        "ncco":[{"action":"talk","text":"Hello."}]}
        """#

    func makeCall() throws -> String { try ask(.post, "/v1/calls", Self.call)["uuid"] }
}
