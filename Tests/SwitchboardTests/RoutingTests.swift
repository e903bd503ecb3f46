// SPDX-License-Identifier: MIT

import HTTPWire
import Testing

@testable import Switchboard

struct RoutingTests {
    private enum Outcome: Equatable {
        case route(Route)
        case flow(String)
        case call(String)
        case again(String)
        case page(String)
        case user(String)
        case userToken(String)
        case room(String)
        case status(UInt16)
    }

    private func routing(_ line: String, isAdmin: Bool = false, opensApps: Bool = false) throws -> (outcome: Outcome, response: Response?) {
        let bytes = Array("\(line) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        var head = RequestHead()
        #expect(try parseRequestHead(bytes.span, into: &head, limits: Limits()))
        let flows = try FlowBench.builtIn().set
        switch Routing(head, bytes: bytes.span, flows: flows, isAdmin: isAdmin, opensApps: opensApps) {
        case .route(let route): return (.route(route), nil)
        case .flow(let flow): return (.flow(flows.flows[flow].name), nil)
        case .call(let name): return (.call(name), nil)
        case .again(let name): return (.again(name), nil)
        case .page(let name): return (.page(name), nil)
        case .user(let name): return (.user(name), nil)
        case .userToken(let name): return (.userToken(name), nil)
        case .room(let name): return (.room(name), nil)
        case .answered(let response): return (.status(response.status.rawValue), response)
        }
    }

    @Test func `the root has no name`() throws {
        for target in ["/", "/?a=/b", "http://example.com", "http://example.com/", "HTTP://example.com?x", "http://example.com/?x"] {
            #expect(try routing("GET \(target)", isAdmin: true).outcome == .route(.home), "\(target)")
            #expect(try routing("GET \(target)").outcome == .status(404), "\(target)")
        }
        for target in ["//", "/%2f", "/."] { #expect(try routing("GET \(target)", isAdmin: true).outcome != .route(.home), "\(target)") }
        #expect(try routing("CONNECT example.com:443", isAdmin: true).outcome == .status(405))
    }

    @Test(arguments: Route.allCases.filter { $0 != .home })
    func `a route is found with a slash behind it, encoded and absolute`(_ route: Route) throws {
        let path = route.rawValue
        let method = route.takes(.get) ? "GET" : "POST"
        let encoded = "/%" + String(path.utf8.dropFirst().first ?? 0, radix: 16) + path.dropFirst(2)
        for target in [path, path + "/", encoded, path + "?a=/b", "http://example.com\(path)", "HTTPS://example.com:8443\(path)/?x"] {
            #expect(try routing("\(method) \(target)", isAdmin: true).outcome == .route(route), "\(target)")
        }
        for target in [path + "//", "/" + path, path + "x", path.uppercased(), path + "%2f"] {
            #expect(try routing("\(method) \(target)", isAdmin: true).outcome != .route(route), "\(target)")
        }
    }

    @Test(arguments: ["answer", "fallback"])
    func `a flow is found by its name`(_ flow: String) throws {
        let path = "/voice/\(flow)"
        for target in [path, path + "/", "/%76oice/\(flow)", path + "?a=/b", "http://example.com\(path)"] {
            #expect(try routing("GET \(target)").outcome == .flow(flow), "\(target)")
        }
        for target in [path + "//", "/" + path, path + "x", path.uppercased(), path + "/x", "/voice/", "/voice"] {
            #expect(try routing("GET \(target)").outcome == .status(404), "\(target)")
        }
        for method in ["POST", "HEAD"] { #expect(try routing("\(method) \(path)").outcome == .flow(flow)) }
        #expect(try routing("OPTIONS \(path)").outcome == .status(204))
        for method in ["PUT", "DELETE"] {
            let (outcome, response) = try routing("\(method) \(path)")
            #expect(outcome == .status(405))
            #expect(response.map { String(decoding: $0.fields.bytes, as: UTF8.self) } == "Allow: GET, HEAD, POST, OPTIONS\r\n")
        }
    }

    @Test func `a call is found by its name, and by others not at all`() throws {
        for target in ["/calls/CON-1", "/calls/CON-1/", "/calls/CON%2D1?unmasked=1"] {
            #expect(try routing("GET \(target)", isAdmin: true).outcome == .call("CON-1"), "\(target)")
            #expect(try routing("GET \(target)").outcome == .status(404), "\(target)")
            #expect(try routing("POST \(target)", isAdmin: true).outcome == .status(405), "\(target)")
        }
    }

    @Test func `what a call was answered is asked for again below it, and files of the page by their names`() throws {
        for target in ["/calls/CON-1/again", "/calls/CON-1/again/", "/calls/CON%2D1/%61gain?unmasked=1"] {
            #expect(try routing("POST \(target)", isAdmin: true).outcome == .again("CON-1"), "\(target)")
            #expect(try routing("POST \(target)").outcome == .status(404), "\(target)")
            #expect(try routing("GET \(target)", isAdmin: true).outcome == .status(405), "\(target)")
        }
        #expect(try routing("GET /calls/again", isAdmin: true).outcome == .call("again"))
        for target in ["/page/main.js", "/page/main%2Ejs", "/p%61ge/main.js?x"] {
            #expect(try routing("GET \(target)", isAdmin: true).outcome == .page("main.js"), "\(target)")
            #expect(try routing("GET \(target)").outcome == .status(404), "\(target)")
            #expect(try routing("POST \(target)", isAdmin: true).outcome == .status(405), "\(target)")
        }
        #expect(try routing("GET /page/style.css").outcome == .page("style.css"), "the log-in needs it")
        for target in ["/page", "/page/", "/page/a/b", "/page//style.css"] {
            #expect(try routing("GET \(target)", isAdmin: true).outcome == .status(404), "\(target)")
        }
    }

    @Test func `users are found by their names, and by the admin alone`() throws {
        for (target, name) in [
            ("/users/Alice", "Alice"), ("/users/Alice/", "Alice"), ("/users/A%20b%C3%A9?x", "A bé"), ("/users/token", "token"),
            ("/%75sers/Alice", "Alice"),
        ] {
            #expect(try routing("DELETE \(target)", isAdmin: true, opensApps: true).outcome == .user(name), "\(target)")
            #expect(try routing("DELETE \(target)", opensApps: true).outcome == .status(404), "\(target)")
            #expect(try routing("GET \(target)", isAdmin: true).outcome == .status(405), "\(target)")
        }
        for target in ["/users/A%20b/token", "/users/A%20b/token/", "/users/A%20b/%74oken"] {
            #expect(try routing("POST \(target)", isAdmin: true).outcome == .userToken("A b"), "\(target)")
            #expect(try routing("POST \(target)", opensApps: true).outcome == .status(404), "\(target)")
            #expect(try routing("GET \(target)", isAdmin: true).outcome == .status(405), "\(target)")
        }
        #expect(try routing("POST /users/token/token", isAdmin: true).outcome == .userToken("token"))
        for target in ["/users/a/b", "/users//token", "/users/a/b/token", "/users/a/tokens"] {
            #expect(try routing("POST \(target)", isAdmin: true).outcome == .status(404), "\(target)")
        }
        #expect(try routing("DELETE /users/a%2Fb", isAdmin: true).outcome == .status(400))
    }

    @Test func `what apps ask for is there for the admin, and for others where it is open`() throws {
        for route in Route.allCases where route.audience == .apps {
            for method in ["GET", "POST", "OPTIONS", "DELETE"] {
                let closed = try routing("\(method) \(route.rawValue)")
                #expect(closed.outcome == .status(404))
                #expect(closed.response?.body == (try routing("\(method) /nothing-like-it").response?.body))
                #expect(try routing("\(method) \(route.rawValue)", opensApps: true).outcome != .status(404))
                #expect(try routing("\(method) \(route.rawValue)", isAdmin: true).outcome != .status(404))
            }
        }
        for target in ["/room/tea", "/room/tea/", "/%72oom/tea?ttl=60"] {
            #expect(try routing("GET \(target)", opensApps: true).outcome == .room("tea"), "\(target)")
            #expect(try routing("GET \(target)").outcome == .status(404), "\(target)")
            #expect(try routing("POST \(target)", opensApps: true).outcome == .status(405), "\(target)")
        }
        for target in ["/room", "/room/", "/room/a/b", "/rooms/a", "/Room/a"] {
            #expect(try routing("GET \(target)", opensApps: true).outcome == .status(404), "\(target)")
        }
        let hint = try #require(try routing("GET /tokem", opensApps: true).response)
        #expect(String(decoding: hint.body, as: UTF8.self).contains("did you mean /token?"))
        #expect(try !String(decoding: #require(routing("GET /tokem").response).body, as: UTF8.self).contains("/token"))
    }

    @Test(arguments: Route.allCases, Method.allCases)
    func `each method is served, or told which are`(_ route: Route, _ method: Method) throws {
        guard method != .connect else { return }
        let (outcome, response) = try routing("\(method.name) \(route.rawValue)", isAdmin: true)
        let isAllowed = route.allow.components(separatedBy: ", ").contains(method.name.description)
        if method == .options {
            #expect(outcome == .status(204))
        } else {
            #expect(outcome == (isAllowed ? .route(route) : .status(405)))
        }
        if let response { #expect(String(decoding: response.fields.bytes, as: UTF8.self) == "Allow: \(route.allow)\r\n") }
    }

    @Test func `admin routes are not there for others, whatever the method`() throws {
        for method in ["GET", "POST", "OPTIONS", "HEAD"] {
            let (outcome, response) = try routing("\(method) /metrics")
            #expect(outcome == .status(404))
            #expect(response?.fields.bytes.isEmpty == true)
            #expect(response?.body == (try routing("\(method) /nothing-like-it").response?.body))
        }
    }

    @Test(arguments: [
        ("/voice/anwser", "/voice/answer"), ("/voice/events", "/voice/event"), ("/voice/fall-back", "/voice/fallback"),
        ("/healthz", "/health"), ("/helth/", "/health"),
    ])
    func `the nearest route is named`(_ path: String, _ route: String) throws {
        let response = try routing("GET \(path)").response
        #expect(response.map { String(decoding: $0.body, as: UTF8.self).contains("did you mean \(route)?") } == true)
    }

    @Test(arguments: ["/%", "/%4", "/%zz", "/%00", "/a%2Fb", "/a%5cb", "/..", "/a/../b", "/%2e%2e/", "/a/.%2E"])
    func `a path that others may read in another way is refused`(_ path: String) throws {
        #expect(try routing("GET \(path)").outcome == .status(400))
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [String] { split(separator: separator).map(String.init) }
}
