// SPDX-License-Identifier: MIT
//
// One request of Vonage's side to an application's server, and what becomes of it, as values: a call makes them, somebody with sockets carries
// them out and brings the outcome back.

package import NCCO

/// Address and method of a webhook.
package struct WebhookAddress: Hashable, Sendable {
    package var url: String
    package var method: EventMethod

    package init(url: String, method: EventMethod) {
        self.url = url
        self.method = method
    }
}

/// How long Vonage waits for a webhook, in milliseconds.
///
/// - Source: Vonage Application API, `connect_timeout` and `socket_timeout`, defaults.
package struct WebhookLimits: Hashable, Sendable {
    /// To have a connection.
    package var connect: Int64 = 1000
    /// For the answer to an answer or fallback request.
    package var answer: Int64 = 5000
    /// For the answer to an event.
    package var event: Int64 = 10_000

    package init() {}
}

/// One request that is to be sent.
package struct PlayedRequest: Sendable {
    package enum Kind: String, Sendable {
        case answer, event, fallback
        /// What a phone endpoint's `onAnswer` names.
        case onAnswer = "on_answer"
        /// Where the REST API says that a call's next NCCO is.
        case transfer
    }

    /// Counts up from 1 within a call; another try has another number.
    package let number: Int
    package let kind: Kind
    /// 1, or 2 where Vonage tries again.
    package let attempt: Int
    /// The address as it was configured, with its own query.
    package let address: WebhookAddress
    package let fields: WebhookFields
    /// The leg that it is about.
    package let leg: String?
    /// When it is sent, milliseconds since 1970.
    package let at: Int64
    package let connectLimit: Int64
    package let answerLimit: Int64
    /// Whether an NCCO in the answer counts.
    package let mayCarryNCCO: Bool

    /// An event's status, or what it is about where it has none: `input`, `notify`, `record`, `transfer`, `error`; nil for other requests.
    package var event: String? { kind == .event ? fields.eventName : nil }

    /// Path and query behind the host, as the request line has it.
    package var target: String {
        let path = URLParts(address.url)?.target ?? "/"
        guard address.method == .get else { return path }
        return "\(path)\(path.contains("?") ? "&" : "?")\(fields.query)"
    }

    /// Nil for a GET.
    package var body: [UInt8]? { address.method == .post ? fields.json : nil }
}

extension WebhookFields {
    /// How the kind of an event is told, as Vonage's own packages do it.
    var eventName: String {
        if let status = text("status") { return status }
        for (name, kind) in [
            ("conversation_uuid_from", "transfer"), ("recording_url", "record"), ("reason", "error"), ("payload", "notify"),
        ] where members.contains(where: { $0.name == name }) {
            return kind
        }
        return "input"
    }
}

/// What became of a request.
package enum PlayedOutcome: Sendable {
    case reply(PlayedReply)
    /// No whole answer came, after so many microseconds.
    case failure(PlayedFailure, micros: Int64)
    /// It got lost on Vonage's side: nobody knows of it, and nothing is tried again.
    case lost
}

/// A server's answer.
package struct PlayedReply: Sendable {
    package var status: Int
    package var contentType: String?
    package var body: [UInt8]
    /// Which rule chose it, where a server says so: `X-Switchboard-Flow`.
    package var rule: String?
    /// `X-Switchboard-Warning`.
    package var warning: String?
    /// From the first byte sent to the last received.
    package var micros: Int64

    package init(
        status: Int, contentType: String? = nil, body: [UInt8] = [], rule: String? = nil, warning: String? = nil, micros: Int64 = 0
    ) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.rule = rule
        self.warning = warning
        self.micros = micros
    }

    /// - Source: Vonage, guide "Webhooks": 200 to 205.
    var isSuccess: Bool { (200...205).contains(status) }

    var isJSON: Bool {
        guard let type = contentType?.prefix(while: { $0 != ";" }).split(separator: " ").first?.lowercased() else { return false }
        return type == "application/json" || type.hasPrefix("application/") && type.hasSuffix("+json")
    }
}

/// Why no answer came.
package enum PlayedFailure: String, Sendable, CaseIterable {
    case refused, unresolved
    case connectTimeout = "connect_timeout"
    case responseTimeout = "response_timeout"
    case closed
    case tls
    case invalidURL = "invalid_url"
    case notHTTP = "not_http"
    case tooLarge = "too_large"
    /// It was kept on this machine, or at this server.
    case notLoopback = "not_loopback"

    /// As the fallback URL is told it, and people are.
    package var text: String {
        switch self {
        case .refused: "Connection refused."
        case .unresolved: "Host not found."
        case .connectTimeout: "Connect timeout."
        case .responseTimeout: "Response timeout."
        case .closed: "Connection closed."
        case .tls: "TLS failure."
        case .invalidURL: "Invalid URL."
        case .notHTTP: "No HTTP response."
        case .tooLarge: "Response too large."
        case .notLoopback: "Not sent: it would leave this machine or server."
        }
    }

    /// Whether Vonage tries once more: where connecting or waiting failed, and not where it never could go well.
    var isRetried: Bool {
        switch self {
        case .refused, .unresolved, .connectTimeout, .responseTimeout, .closed: true
        case .tls, .invalidURL, .notHTTP, .tooLarge, .notLoopback: false
        }
    }
}

/// The parts of an http or https URL that a request needs.
package struct URLParts: Sendable, Hashable {
    package let isTLS: Bool
    /// `http://HOST:PORT`, without a slash behind.
    package let origin: String
    /// Path and query, from the slash on.
    package let target: String

    package init?(_ url: String) {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https", url.dropFirst(scheme.count).hasPrefix("://") else { return nil }
        isTLS = scheme == "https"
        let start = url.index(url.startIndex, offsetBy: scheme.count + 3)
        let rest = url[start...].prefix { $0 != "#" }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard end > rest.startIndex else { return nil }
        origin = "\(scheme)://\(rest[..<end])"
        let path = rest[end...]
        target = path.isEmpty ? "/" : path.hasPrefix("?") ? "/\(path)" : String(path)
    }
}
