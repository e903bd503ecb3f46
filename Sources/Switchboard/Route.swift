// SPDX-License-Identifier: MIT
//
// Which paths there are and what they take. A trailing slash is the same route; a path is decoded once, and only where it holds an escape.

import HTTPWire

enum Route: String, CaseIterable, Sendable {
    case answer = "/voice/answer"
    case event = "/voice/event"
    case fallback = "/voice/fallback"
    case health = "/health"
    case healthBehindProxy = "/_/health"
    case metrics = "/metrics"

    /// Whether it must be answered with an NCCO, come what may.
    var answersCalls: Bool { self == .answer || self == .fallback }
    /// To all but the admin it is 404, as if it were not there.
    var isAdmin: Bool { self == .metrics }

    func takes(_ method: Method) -> Bool {
        switch self {
        case .answer, .fallback: method == .get || method == .head || method == .post
        case .event: method == .get || method == .post
        case .health, .healthBehindProxy, .metrics: method == .get || method == .head
        }
    }

    var allow: String {
        switch self {
        case .answer, .fallback: "GET, HEAD, POST, OPTIONS"
        case .event: "GET, POST, OPTIONS"
        case .health, .healthBehindProxy, .metrics: "GET, HEAD, OPTIONS"
        }
    }

    init?(_ path: Range<Int>, in bytes: Span<UInt8>) {
        var end = path.upperBound
        if path.count > 1, bytes[end - 1] == UInt8(ascii: "/") { end -= 1 }
        let bare = path.lowerBound..<end
        // Ordered by how often each is asked for.
        if bytes.equalsExactly("/voice/event", at: bare) {
            self = .event
        } else if bytes.equalsExactly("/voice/answer", at: bare) {
            self = .answer
        } else if bytes.equalsExactly("/voice/fallback", at: bare) {
            self = .fallback
        } else if bytes.equalsExactly("/health", at: bare) {
            self = .health
        } else if bytes.equalsExactly("/metrics", at: bare) {
            self = .metrics
        } else if bytes.equalsExactly("/_/health", at: bare) {
            self = .healthBehindProxy
        } else {
            return nil
        }
    }
}

/// What a request line leads to.
enum Routing {
    case route(Route)
    /// The answer is known without looking further.
    case answered(Response)

    init(_ head: borrowing RequestHead, bytes: Span<UInt8>, isAdmin: Bool) {
        if head.form == .asterisk {
            var fields = FieldBlock()
            fields.append("Allow", "GET, HEAD, POST, OPTIONS")
            self = .answered(Response(.noContent, fields: fields))
            return
        }
        var found = Route(head.path, in: bytes)
        var path: [UInt8]?
        if found == nil {
            path = decodePath(head.path, in: bytes)
            guard let path else {
                self = .answered(.problem(.badRequest, "The path has a broken or a forbidden escape, or a segment of two dots."))
                return
            }
            found = Route(0..<path.count, in: path.span)
        }
        if let route = found, !route.isAdmin || isAdmin {
            self = route.takes(head.method) ? .route(route) : .answered(Self.otherMethod(head.method, route.allow))
        } else if head.form == .authority {
            self = .answered(Self.otherMethod(head.method, "GET, HEAD, POST, OPTIONS"))
        } else {
            self = .answered(Self.notFound(path ?? []))
        }
    }

    private static func otherMethod(_ method: Method, _ allow: String) -> Response {
        var fields = FieldBlock()
        fields.append("Allow", allow)
        if method == .options { return Response(.noContent, fields: fields) }
        return .problem(.methodNotAllowed, "This route takes \(allow).", fields: fields)
    }

    /// Names the nearest route, never what was asked for.
    static func notFound(_ path: [UInt8]) -> Response {
        let open = Route.allCases.filter { !$0.isAdmin }.map(\.rawValue)
        let hint = nearest(String(decoding: path, as: UTF8.self), among: open).map { "did you mean \($0)?" }
        return .problem(.notFound, "There is nothing here; \(hint ?? "the routes are \(open.joined(separator: ", ")).")")
    }
}
