// SPDX-License-Identifier: MIT
//
// Which paths there are and what they take. A trailing slash is the same route; a path is decoded once, and only where it holds an escape.
// `/voice/NAME` is the flow of that name, but for `/voice/event`, where events come in.

import HTTPWire
import NCCO

enum Route: String, CaseIterable, Sendable {
    case event = "/voice/event"
    case health = "/health"
    case healthBehindProxy = "/_/health"
    case metrics = "/metrics"
    case calls = "/calls"
    case callStream = "/calls/stream"
    case home = "/"
    case login = "/login"
    case loginScript = "/login.js"
    case logout = "/logout"

    /// To all but the admin it is 404, as if it were not there.
    var isAdmin: Bool { self == .metrics || self == .calls || self == .callStream || self == .home }

    /// Whether somebody who asks for what is not there is told of it.
    fileprivate var isShown: Bool { !isAdmin && self != .loginScript && self != .logout }

    func takes(_ method: Method) -> Bool {
        switch self {
        case .event: method == .get || method == .post
        case .health, .healthBehindProxy, .metrics, .calls, .callStream, .home, .loginScript: method == .get || method == .head
        case .login: method == .get || method == .head || method == .post
        case .logout: method == .post
        }
    }

    var allow: String {
        switch self {
        case .event: "GET, POST, OPTIONS"
        case .health, .healthBehindProxy, .metrics, .calls, .callStream, .home, .loginScript: Self.readOnly
        case .login: "GET, HEAD, POST, OPTIONS"
        case .logout: "POST, OPTIONS"
        }
    }

    static let readOnly = "GET, HEAD, OPTIONS"

    /// `path` without a slash at its end.
    fileprivate init?(_ path: Range<Int>, in bytes: Span<UInt8>) {
        if bytes.equalsExactly("/health", at: path) {
            self = .health
        } else if bytes.equalsExactly("/metrics", at: path) {
            self = .metrics
        } else if bytes.equalsExactly("/_/health", at: path) {
            self = .healthBehindProxy
        } else if bytes.equalsExactly("/calls", at: path) {
            self = .calls
        } else if bytes.equalsExactly("/calls/stream", at: path) {
            self = .callStream
        } else if bytes.equalsExactly("/", at: path) {
            self = .home
        } else if bytes.equalsExactly("/login", at: path) {
            self = .login
        } else if bytes.equalsExactly("/login.js", at: path) {
            self = .loginScript
        } else if bytes.equalsExactly("/logout", at: path) {
            self = .logout
        } else {
            return nil
        }
    }
}

/// What a path leads to.
private enum Place {
    case route(Route)
    case flow(Int)
    /// `/calls/NAME`.
    case call(Range<Int>)

    init?(_ path: Range<Int>, in bytes: Span<UInt8>, _ flows: FlowSet) {
        var end = path.upperBound
        if path.count > 2, bytes[end - 1] == UInt8(ascii: "/") { end -= 1 }
        let bare = path.lowerBound..<end
        // Of `/voice/` and `/calls/`. What Vonage asks for comes first.
        let prefix = 7
        let front = bare.lowerBound..<min(bare.lowerBound + prefix, bare.upperBound)
        let rest = front.upperBound..<bare.upperBound
        if bytes.equalsExactly("/voice/", at: front) {
            if bytes.equalsExactly("event", at: rest) {
                self = .route(.event)
            } else if let flow = flows.index(ofFlow: rest, in: bytes) {
                self = .flow(flow)
            } else {
                return nil
            }
        } else if let route = Route(bare, in: bytes) {
            self = .route(route)
        } else if bytes.equalsExactly("/calls/", at: front), !rest.isEmpty {
            self = .call(rest)
        } else {
            return nil
        }
    }
}

/// What a request line leads to.
enum Routing {
    case route(Route)
    /// The flow with this index.
    case flow(Int)
    /// The call of this name.
    case call(String)
    /// The answer is known without looking further.
    case answered(Response)

    private static let flowAllow = "GET, HEAD, POST, OPTIONS"

    init(_ head: borrowing RequestHead, bytes: Span<UInt8>, flows: FlowSet, isAdmin: Bool) {
        if head.form == .asterisk {
            var fields = FieldBlock()
            fields.append("Allow", Self.flowAllow)
            self = .answered(Response(.noContent, fields: fields))
            return
        }
        var found = Place(head.path, in: bytes, flows)
        // An absolute target without a path (RFC 9112 §3.2.1).
        if head.form == .absolute, head.path.isEmpty { found = .route(.home) }
        var path: [UInt8]?
        if found == nil {
            path = decodePath(head.path, in: bytes)
            guard let path else {
                self = .answered(Self.badPath)
                return
            }
            found = Place(0..<path.count, in: path.span, flows)
        }
        switch found {
        case .flow(let flow):
            let isTaken = head.method == .get || head.method == .head || head.method == .post
            self = isTaken ? .flow(flow) : .answered(Self.otherMethod(head.method, Self.flowAllow))
        case .route(let route) where !route.isAdmin || isAdmin:
            self = route.takes(head.method) ? .route(route) : .answered(Self.otherMethod(head.method, route.allow))
        case .call(let name) where isAdmin:
            let isTaken = head.method == .get || head.method == .head
            guard let decoded = path.map({ Array($0[name]) }) ?? decodePath(name, in: bytes) else {
                self = .answered(Self.badPath)
                return
            }
            let text = String(decoding: decoded, as: UTF8.self)
            self = isTaken ? .call(text) : .answered(Self.otherMethod(head.method, Route.readOnly))
        case nil where head.form == .authority: self = .answered(Self.otherMethod(head.method, Self.flowAllow))
        case nil, .route, .call: self = .answered(Self.notFound(path ?? [], flows))
        }
    }

    private static var badPath: Response {
        .problem(.badRequest, "The path has a broken or a forbidden escape, or a segment of two dots.")
    }

    private static func otherMethod(_ method: Method, _ allow: String) -> Response {
        var fields = FieldBlock()
        fields.append("Allow", allow)
        if method == .options { return Response(.noContent, fields: fields) }
        return .problem(.methodNotAllowed, "This route takes \(allow).", fields: fields)
    }

    /// Names the nearest route, never what was asked for.
    static func notFound(_ path: [UInt8], _ flows: FlowSet) -> Response {
        let open =
            flows.flows.filter { $0.name != "event" }.map { "/voice/\($0.name)" } + Route.allCases.filter(\.isShown).map(\.rawValue)
        let hint = nearest(String(decoding: path, as: UTF8.self), among: open).map { "did you mean \($0)?" }
        // A folder may have hundreds of flows.
        let shown = open.prefix(12).joined(separator: ", ") + (open.count > 12 ? ", …" : "")
        return .problem(.notFound, "There is nothing here; \(hint ?? "the routes are \(shown).")")
    }
}
