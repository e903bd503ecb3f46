// SPDX-License-Identifier: MIT
//
// `/v2/applications/{id}`: the one application, with its webhooks. It is asked with the account's API key and secret, and not with a token.

import HTTPWire
import JSON
import VonageAuth

struct SimulatedApplication: Sendable {
    var name = "Simulated application"
    var capabilities: JSONNode = .object(["voice": .object(["webhooks": .object([:])])])

    var saved: JSONNode { .object(["name": .text(name), "capabilities": capabilities]) }

    init() {}

    init?(saved node: JSONNode) {
        guard let name = node["name"]?.string, let capabilities = node["capabilities"], capabilities.members != nil else { return nil }
        (self.name, self.capabilities) = (name, capabilities)
    }

    /// Address and method of a webhook: `answer_url`, `fallback_answer_url` or `event_url`; nil where none is set.
    func webhook(_ name: String) -> (address: String, method: String)? {
        guard let hook = capabilities["voice"]?["webhooks"]?[name], let address = hook["address"]?.string, !address.isEmpty else {
            return nil
        }
        return (address, hook["http_method"]?.string?.uppercased() ?? (name == "event_url" ? "POST" : "GET"))
    }

    /// How long webhooks are waited for. What is out of Vonage's ranges counts as the nearest value that is not.
    ///
    /// - Source: Vonage Application API, `connect_timeout` and `socket_timeout`: 300...1000, 1000...5000 and for events 1000...10000 ms.
    var limits: WebhookLimits {
        let hooks = capabilities["voice"]?["webhooks"]
        func time(_ hook: String, _ names: [String], _ range: ClosedRange<Int64>) -> Int64? {
            names.compactMap { hooks?[hook]?[$0]?.whole }.first.map { min(max($0, range.lowerBound), range.upperBound) }
        }
        let connect = ["connect_timeout", "connection_timeout"]
        var limits = WebhookLimits()
        limits.connect = time("answer_url", connect, 300...1000) ?? time("event_url", connect, 300...1000) ?? limits.connect
        limits.answer = time("answer_url", ["socket_timeout"], 1000...5000) ?? limits.answer
        limits.event = time("event_url", ["socket_timeout"], 1000...10_000) ?? limits.event
        return limits
    }
}

extension SimulatedVonage {
    /// Where Vonage is to ask and tell: address and method of `answer_url`, `fallback_answer_url` or `event_url`.
    package func webhook(_ name: String) -> (address: String, method: String)? { application.webhook(name) }

    /// Sets the webhooks of a server like this one, as `PUT /v2/applications/ID` does.
    ///
    /// - Parameter origin: `http://HOST:PORT`.
    package mutating func setWebhooks(origin: String) {
        func hook(_ name: String, _ method: String) -> JSONNode {
            .object(["address": .text("\(origin)/voice/\(name)"), "http_method": .text(method)])
        }
        application.capabilities = .object([
            "voice": .object([
                "webhooks": .object([
                    "answer_url": hook("answer", "GET"), "fallback_answer_url": hook("fallback", "GET"), "event_url": hook("event", "POST"),
                ])
            ])
        ])
        hasChanged = true
    }

    mutating func answerApplication(_ request: SimulatedRequest, _ place: Place) throws(APIProblem) -> Response {
        guard place.rest.count == 1 else { throw .notFound }
        guard ApplicationID(place.rest[0]) == applicationID else {
            throw APIProblem(.notFound, "", "Application does not exist, or you do not have access.")
        }
        switch request.method {
        case .get: break
        case .put:
            application = try readApplication(request)
            hasChanged = true
        default: throw wrongMethod("GET, PUT")
        }
        return reply(
            .object([
                "id": .text(applicationID.description), "name": .text(application.name),
                "keys": .object(["public_key": .optionalText(try? publicKey.pem())]), "capabilities": application.capabilities,
                "privacy": .object(["improve_ai": .bool(false)]),
                "_links": .object(["self": .object(["href": .text("/v2/applications/\(applicationID)")])]),
            ]))
    }

    private func readApplication(_ request: SimulatedRequest) throws(APIProblem) -> SimulatedApplication {
        var body = try BodyReader(request)
        var changed = SimulatedApplication()
        // The whole is replaced, as PUT means it: capabilities that are left out are gone.
        changed.capabilities = body.object("capabilities") ?? .object([:])
        if let name = body.text("name", 1...255) { changed.name = name } else if body.faults.isEmpty { body.fault("name", "is required") }
        _ = body.object("capabilities") { capabilities in
            capabilities.ignore("messages", "rtc", "vbc", "verify", "video", "network_apis")
            _ = capabilities.object("voice") { voice in
                _ = voice.object("webhooks") { hooks in
                    for name in ["answer_url", "fallback_answer_url", "event_url"] { readWebhook(&hooks, name) }
                }
                _ = voice.flag("signed_callbacks")
                _ = voice.whole("conversations_ttl", 1...9000)
                _ = voice.whole("leg_persistence_time", 1...31)
                _ = voice.choice("region", ["na-east", "na-west", "eu-west", "eu-east", "apac-sng", "apac-australia"])
                voice.ignore("payments", "payment_enabled")
            }
        }
        _ = body.object("keys") { keys in
            guard let pem = keys.text("public_key", 1...16_384) else { return }
            // Tokens are checked by the key of the start, whatever is sent here.
            if (try? PublicKey(pem).pem()) != (try? publicKey.pem()) {
                keys.fault("public_key", "is another than the simulator was started with, and cannot be changed")
            }
        }
        body.ignore("privacy", "id", "_links")
        try body.finish()
        return changed
    }

    private func readWebhook(_ hooks: inout BodyReader, _ name: String) {
        _ = hooks.object(name) { hook in
            // An empty address is how the dashboard takes one away.
            if hook.node("address")?.string != "" { _ = hook.uri("address", schemes: ["http", "https"]) }
            _ = hook.choice("http_method", ["GET", "POST"])
            for time in ["connect_timeout", "connection_timeout", "socket_timeout"] { _ = hook.whole(time, 1...60_000) }
        }
    }
}
