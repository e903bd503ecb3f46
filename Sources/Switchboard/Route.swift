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
    case users = "/users"
    case jwt = "/jwt"
    case getJWT = "/getJWT"
    case token = "/token"
    case user = "/user"
    case createUser = "/createUser"
    case auth = "/auth"
    case rooms = "/rooms"
    case session = "/session"
    case openAPI = "/openapi.json"
    case setUp = "/setup"
    case statistics = "/stats"
    case flows = "/flows"
    case explain = "/explain"
    case play = "/play"

    /// Who finds a route; to all others it is 404, as if it were not there.
    enum Audience { case all, apps, admin }

    var audience: Audience {
        switch self {
        case .event, .health, .healthBehindProxy, .login, .loginScript, .logout, .openAPI: .all
        case .metrics, .calls, .callStream, .home, .users, .setUp, .statistics, .flows, .explain, .play: .admin
        case .jwt, .getJWT, .token, .user, .createUser, .auth, .rooms, .session: .apps
        }
    }

    /// Whether somebody who asks for what is not there is told of it.
    fileprivate func isShown(opensApps: Bool) -> Bool {
        switch audience {
        case .all: self != .loginScript && self != .logout
        case .apps: opensApps
        case .admin: false
        }
    }

    func takes(_ method: Method) -> Bool {
        switch self {
        case .event: method == .get || method == .post
        case .health, .healthBehindProxy, .metrics, .calls, .callStream, .home, .loginScript, .openAPI, .setUp, .statistics, .flows:
            method == .get || method == .head
        case .login: method == .get || method == .head || method == .post
        case .logout, .getJWT, .user, .createUser, .auth, .explain, .play: method == .post
        case .jwt, .token, .session: method == .get
        case .users, .rooms: method == .get || method == .head || method == .post
        }
    }

    var allow: String {
        switch self {
        case .event: "GET, POST, OPTIONS"
        case .health, .healthBehindProxy, .metrics, .calls, .callStream, .home, .loginScript, .openAPI, .setUp, .statistics, .flows:
            Self.readOnly
        case .login: "GET, HEAD, POST, OPTIONS"
        case .logout, .getJWT, .user, .createUser, .auth, .explain, .play: Self.postOnly
        case .jwt, .token, .session: Self.getOnly
        case .users, .rooms: "GET, HEAD, POST, OPTIONS"
        }
    }

    static let readOnly = "GET, HEAD, OPTIONS"
    /// Where an answer is a token, or makes something: nothing that could be asked for without its body.
    static let getOnly = "GET, OPTIONS"
    static let postOnly = "POST, OPTIONS"

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
            // Those that are asked for seldom.
            for route in [
                Self.users, .jwt, .getJWT, .token, .user, .createUser, .auth, .rooms, .session, .openAPI, .setUp, .statistics, .flows,
                .explain, .play,
            ] where route.rawValue.utf8.count == path.count && bytes.text(path) == route.rawValue {
                self = route
                return
            }
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
    /// `/calls/NAME/again`.
    case again(Range<Int>)
    /// `/page/NAME`; the log-in needs one of them.
    case page(Range<Int>, isOpen: Bool)
    /// `/users/NAME`.
    case user(Range<Int>)
    /// `/users/NAME/token`.
    case userToken(Range<Int>)
    /// `/room/NAME`.
    case room(Range<Int>)

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
            self.init(below: rest, ending: "/again", in: bytes, { .call($0) }, { .again($0) })
        } else if bytes.equalsExactly("/users/", at: front), !rest.isEmpty {
            self.init(below: rest, ending: "/token", in: bytes, { .user($0) }, { .userToken($0) })
        } else if case let room = bare.lowerBound..<min(bare.lowerBound + 6, end), bytes.equalsExactly("/room/", at: room),
            case let name = room.upperBound..<end, !name.isEmpty, Self.isSegment(name, bytes)
        {
            self = .room(name)
        } else if case let page = bare.lowerBound..<min(bare.lowerBound + 6, end), bytes.equalsExactly("/page/", at: page),
            case let name = page.upperBound..<end, !name.isEmpty, Self.isSegment(name, bytes)
        {
            self = .page(name, isOpen: bytes.text(name) == PageFiles.style)
        } else {
            return nil
        }
    }

    /// `NAME` with nothing else, or with `ending` behind it.
    private init?(
        below rest: Range<Int>, ending: StaticString, in bytes: Span<UInt8>, _ alone: (Range<Int>) -> Place,
        _ followed: (Range<Int>) -> Place
    ) {
        let end = ending.utf8CodeUnitCount
        if rest.count > end, bytes.equalsExactly(ending, at: rest.upperBound - end..<rest.upperBound) {
            let name = rest.lowerBound..<rest.upperBound - end
            guard Self.isSegment(name, bytes) else { return nil }
            self = followed(name)
        } else {
            guard Self.isSegment(rest, bytes) else { return nil }
            self = alone(rest)
        }
    }

    private static func isSegment(_ range: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        range.allSatisfy { bytes[$0] != UInt8(ascii: "/") }
    }

    var audience: Route.Audience {
        switch self {
        case .route(let route): route.audience
        case .flow, .page(_, isOpen: true): .all
        case .call, .again, .page, .user, .userToken: .admin
        case .room: .apps
        }
    }
}

extension Routing {
    /// Whether a path leads to what apps ask for, whatever the method.
    static func isForApps(_ head: borrowing RequestHead, bytes: Span<UInt8>, flows: FlowSet) -> Bool {
        if let place = Place(head.path, in: bytes, flows) { return place.audience == .apps }
        guard let path = decodePath(head.path, in: bytes) else { return false }
        return Place(0..<path.count, in: path.span, flows)?.audience == .apps
    }
}

/// What a request line leads to.
enum Routing {
    case route(Route)
    /// The flow with this index.
    case flow(Int)
    /// The call of this name.
    case call(String)
    /// The call of this name, whose answer is made again.
    case again(String)
    /// The file of the page of this name.
    case page(String)
    /// The user of this name.
    case user(String)
    /// The token of the user of this name.
    case userToken(String)
    /// The video room of this name.
    case room(String)
    /// The answer is known without looking further.
    case answered(Response)

    private static let flowAllow = "GET, HEAD, POST, OPTIONS"

    /// - Parameter opensApps: whether what apps ask for is there for all.
    init(_ head: borrowing RequestHead, bytes: Span<UInt8>, flows: FlowSet, isAdmin: Bool, opensApps: Bool = false) {
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
        let isThere =
            switch found?.audience {
            case .all: true
            case .apps: isAdmin || opensApps
            case .admin: isAdmin
            case nil: false
            }
        guard isThere, let found else {
            let isAuthority = found == nil && head.form == .authority
            self = .answered(
                isAuthority
                    ? Self.otherMethod(head.method, Self.flowAllow) : Self.notFound(path ?? [], flows, opensApps: opensApps))
            return
        }
        let (isTaken, allow): (Bool, String) =
            switch found {
            case .flow: (head.method == .get || head.method == .head || head.method == .post, Self.flowAllow)
            case .route(let route): (route.takes(head.method), route.allow)
            case .call, .page: (head.method == .get || head.method == .head, Route.readOnly)
            case .again: (head.method == .post, Route.postOnly)
            case .user: (head.method == .delete, "DELETE, OPTIONS")
            case .userToken: (head.method == .post, Route.postOnly)
            case .room: (head.method == .get, Route.getOnly)
            }
        guard isTaken else {
            self = .answered(Self.otherMethod(head.method, allow))
            return
        }
        switch found {
        case .flow(let flow): self = .flow(flow)
        case .route(let route): self = .route(route)
        case .call(let name): self = Self.named(name, path, bytes) { .call($0) }
        case .again(let name): self = Self.named(name, path, bytes) { .again($0) }
        case .page(let name, _): self = Self.named(name, path, bytes) { .page($0) }
        case .user(let name): self = Self.named(name, path, bytes) { .user($0) }
        case .userToken(let name): self = Self.named(name, path, bytes) { .userToken($0) }
        case .room(let name): self = Self.named(name, path, bytes) { .room($0) }
        }
    }

    /// - Parameter path: decoded, where the name lies in that; nil where it lies in the request as it came.
    private static func named(
        _ name: Range<Int>, _ path: [UInt8]?, _ bytes: Span<UInt8>, _ routing: (String) -> Routing
    ) -> Routing {
        guard let decoded = path.map({ Array($0[name]) }) ?? decodePath(name, in: bytes) else { return .answered(badPath) }
        return routing(String(decoding: decoded, as: UTF8.self))
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
    static func notFound(_ path: [UInt8], _ flows: FlowSet, opensApps: Bool) -> Response {
        let open =
            flows.flows.filter { $0.name != "event" }.map { "/voice/\($0.name)" }
            + Route.allCases.filter { $0.isShown(opensApps: opensApps) }.map(\.rawValue)
        let hint = nearest(String(decoding: path, as: UTF8.self), among: open).map { "did you mean \($0)?" }
        // A folder may have hundreds of flows.
        let shown = open.prefix(12).joined(separator: ", ") + (open.count > 12 ? ", …" : "")
        return .problem(.notFound, "There is nothing here; \(hint ?? "the routes are \(shown).")")
    }
}
