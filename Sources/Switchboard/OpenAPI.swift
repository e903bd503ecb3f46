// SPDX-License-Identifier: MIT
//
// `/openapi.json`: every route, as a document of OpenAPI 3.1 that tools read. It is a table; one row is one method of one path. Webhooks are
// described as they are taken: any JSON, any form, or nothing, since whatever comes is answered.

import HTTPWire
import NCCO

enum OpenAPI {
    static let response = Response(.ok, body: Array(document.utf8))

    /// JSON with an LF behind it.
    static let document: String = {
        let paths = operations.map(\.path).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let items = paths.map { path in
            object(operations.filter { $0.path == path }.map { ($0.method, $0.json) })
        }
        return object([
            ("openapi", quoted("3.1.0")),
            (
                "info",
                object([
                    ("title", quoted("Switchboard")), ("version", quoted(switchboardVersion)),
                    ("description", quoted("The server behind a Vonage Voice application.")),
                    ("license", #"{"name":"MIT","identifier":"MIT"}"#),
                ])
            ),
            ("servers", #"[{"url":"/"}]"#), ("paths", object(Array(zip(paths, items)))),
            (
                "components",
                object([
                    (
                        "securitySchemes",
                        object([
                            ("admin", #"{"type":"http","scheme":"bearer","description":"The admin token."}"#),
                            (
                                "webhook",
                                #"{"type":"http","scheme":"bearer","bearerFormat":"JWT","description":"Vonage's token for the webhook, where a signature secret is set."}"#
                            ),
                        ])
                    ),
                    (
                        "schemas",
                        object([
                            (
                                "Problem",
                                #"{"type":"object","required":["type","title","status","detail"],"properties":{"type":{"const":"about:blank"},"title":{"type":"string"},"status":{"type":"integer"},"detail":{"type":"string"}}}"#
                            ),
                            (
                                "NCCO",
                                #"{"type":"array","items":{"type":"object","required":["action"],"properties":{"action":{"type":"string"}}}}"#
                            ),
                            (
                                "Call",
                                #"{"type":"object","required":["conversation_uuid","began","state"],"properties":{"conversation_uuid":{"type":"string"},"began":{"type":"string"},"state":{"type":"string"}}}"#
                            ),
                        ])
                    ),
                ])
            ),
        ]) + "\n"
    }()

    static func quoted(_ text: String) -> String { JSONLines.quoted(text) }

    static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\(quoted($0.0)):\($0.1)" }.joined(separator: ",") + "}"
    }

    /// One method of one path.
    struct Operation {
        enum Audience { case all, webhook, admin, apps }

        let method: String
        let path: String
        let summary: String
        var audience = Audience.all
        /// Of the query: names, and schemas of their values.
        var query: [(name: String, schema: String)] = []
        /// A schema of what a JSON or form body must be; nil for none. An empty one takes anything, or nothing.
        var body: String?
        var takesForms = true
        /// Statuses with what is in them: media type and schema, or nothing.
        let answers: [(status: Int, words: String, content: (type: String, schema: String)?)]
        /// Statuses of problem documents.
        var problems: [Int] = []

        var json: String {
            var members = [("summary", quoted(summary)), ("operationId", quoted(identifier))]
            let parameters =
                pathNames.map { ($0, "path", true, #"{"type":"string","minLength":1}"#) }
                + query.map { ($0.name, "query", false, $0.schema) }
            if !parameters.isEmpty {
                let list = parameters.map { name, place, isRequired, schema in
                    object([("name", quoted(name)), ("in", quoted(place)), ("required", "\(isRequired)"), ("schema", schema)])
                }
                members.append(("parameters", "[\(list.joined(separator: ","))]"))
            }
            if let body {
                let types = ["application/json"] + (takesForms ? ["application/x-www-form-urlencoded"] : [])
                let content = types.map { ($0, object([("schema", body)])) }
                members.append(("requestBody", object([("required", "\(body != "{}")"), ("content", object(content))])))
            }
            let good = answers.map { answer in
                var parts = [("description", quoted(answer.words))]
                if let content = answer.content {
                    parts.append(("content", object([(content.type, object([("schema", content.schema)]))])))
                }
                return ("\(answer.status)", object(parts))
            }
            let bad = allProblems.map { status in
                (
                    "\(status)",
                    object([
                        ("description", quoted(Status(rawValue: UInt16(status))?.reason ?? "")),
                        ("content", ##"{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"}}}"##),
                    ])
                )
            }
            members.append(("responses", object(good + bad)))
            switch audience {
            case .all: members.append(("security", "[]"))
            case .webhook: members.append(("security", #"[{"webhook":[]},{}]"#))
            case .admin: members.append(("security", #"[{"admin":[]}]"#))
            case .apps: members.append(("security", #"[{"admin":[]},{}]"#))
            }
            return object(members)
        }

        private var identifier: String {
            (path.hasPrefix("/_/") ? "behindProxy" : "") + method
                + path.split(whereSeparator: { !$0.isLetter && !$0.isNumber }).map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        }

        private var pathNames: [String] {
            path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
        }

        /// What any request may meet, besides its own.
        private var allProblems: [Int] {
            var all = Set(problems + [400, 405, 408, 413, 414, 417, 431, 500, 501, 503, 505])
            switch audience {
            case .all: break
            case .webhook: all.formUnion([401])
            case .admin: all.formUnion([403, 404])
            case .apps: all.formUnion([403, 404, 429])
            }
            return all.subtracting(answers.map(\.status)).sorted()
        }
    }
}

extension OpenAPI {
    static let operations: [Operation] = webhooks + watching + page + browser + users + apps

    private static let text = #"{"type":"string"}"#
    private static let ncco = ##"{"$ref":"#/components/schemas/NCCO"}"##
    private static let call = ##"{"$ref":"#/components/schemas/Call"}"##

    private static let webhooks: [Operation] =
        ["/voice/answer", "/voice/fallback", "/voice/{flow}"].flatMap { path in
            ["get", "post"].map { method in
                Operation(
                    method: method, path: path, summary: "What to do with a call", audience: .webhook,
                    query: ["to", "from", "from_user", "uuid", "conversation_uuid", "custom_data"].map { ($0, text) },
                    body: method == "post" ? "{}" : nil,
                    answers: [(200, "The NCCO; no body for an event that the flow has nothing for", ("application/json", ncco))],
                    problems: path.contains("{") ? [404, 415] : [415])
            }
        }
        + ["get", "post"].map { method in
            Operation(
                method: method, path: "/voice/event", summary: "Keep an event", audience: .webhook, body: method == "post" ? "{}" : nil,
                answers: [(200, "It is durable; the NCCO of the flow event, if that has one", nil)], problems: [415])
        }

    private static let watching: [Operation] =
        ["/health", "/_/health"].map { path in
            Operation(
                method: "get", path: path, summary: "Whether calls are answered",
                query: [("nonce", text)],
                answers: [
                    (
                        200, "Calls are answered",
                        (
                            "application/json",
                            #"{"type":"object","required":["status"],"properties":{"status":{"enum":["ok","degraded"]},"reasons":{"type":"array","items":{"type":"string"}},"proof":{"type":"string"}}}"#
                        )
                    )
                ])
        } + [
            Operation(
                method: "get", path: "/openapi.json", summary: "This document",
                answers: [(200, "OpenAPI 3.1", ("application/json", #"{"type":"object"}"#))]),
            Operation(
                method: "get", path: "/metrics", summary: "Counts for Prometheus", audience: .admin,
                answers: [(200, "Text format 0.0.4", ("text/plain", text))]),
            Operation(
                method: "get", path: "/calls", summary: "Calls, the newest first", audience: .admin,
                query: [
                    ("status", text), ("number", text), ("user", text), ("since", text), ("to", text), ("limit", text), ("after", text),
                ],
                answers: [
                    (
                        200, "A page of calls",
                        (
                            "application/json",
                            #"{"type":"object","required":["calls"],"properties":{"calls":{"type":"array","items":\#(call)},"next":{"type":["string","null"]}}}"#
                        )
                    )
                ]),
            Operation(
                method: "get", path: "/calls/{conversation_uuid}", summary: "One call with its legs and steps", audience: .admin,
                answers: [(200, "The call", ("application/json", call))], problems: [404]),
            Operation(
                method: "get", path: "/calls/stream", summary: "Calls as they change, as server-sent events", audience: .admin,
                answers: [(200, "Events without end", ("text/event-stream", text))]),
        ]

    private static let page: [Operation] = [
        Operation(
            method: "get", path: "/setup", summary: "What is set, and what is missing", audience: .admin,
            answers: [(200, "The set-up", ("application/json", #"{"type":"object","required":["answer_url","event_url","missing"]}"#))]),
        Operation(
            method: "get", path: "/stats", summary: "Rates and times, now and by minute", audience: .admin,
            answers: [(200, "Times in microseconds", ("application/json", #"{"type":"object","required":["now","limits","hour"]}"#))]),
        Operation(
            method: "get", path: "/flows", summary: "The flows that are served, in words", audience: .admin,
            answers: [
                (200, "Flows and templates", ("application/json", #"{"type":"object","required":["findings","flows","templates"]}"#))
            ]),
        Operation(
            method: "post", path: "/explain", summary: "What a caller hears of an NCCO, and what is wrong with it", audience: .admin,
            body: "{}", takesForms: false,
            answers: [(200, "Also with errors", ("application/json", #"{"type":"object","required":["explanation","findings"]}"#))],
            problems: [415]),
        Operation(
            method: "post", path: "/play", summary: "Play a call against this server", audience: .admin,
            body:
                #"{"type":"object","properties":{"kind":{"enum":["phone","app"]},"from":{"type":"string"},"to":{"type":"string"},"from_user":{"type":"string"},"callee":{"type":"string"},"press":{"type":"array","items":{"type":"string"}},"say":{"type":"array","items":{"type":"string"}},"flow":{"type":"string"}},"additionalProperties":false}"#,
            takesForms: false, answers: [(202, "It has begun", flat("conversation_uuid"))], problems: [415, 429]),
        Operation(
            method: "post", path: "/calls/{conversation_uuid}/again", summary: "Put a step's request to the current flows",
            audience: .admin,
            body:
                #"{"type":"object","required":["seq"],"properties":{"seq":{"type":"integer","minimum":0},"play":{"type":"boolean"}},"additionalProperties":false}"#,
            takesForms: false,
            answers: [(200, "Both answers", flat("same", "before", "after")), (202, "It is played once more", flat("conversation_uuid"))],
            problems: [404, 409, 415, 429]),
        Operation(
            method: "get", path: "/page/{name}", summary: "A file of the page", audience: .admin,
            answers: [
                (200, "The file", ("text/javascript", text)), (304, "It is the one that was sent", nil),
            ]),
    ]

    private static let browser: [Operation] = [
        Operation(
            method: "get", path: "/", summary: "The page for people", audience: .admin,
            answers: [(200, "The page", ("text/html", text)), (303, "To /login, for a browser that is not logged in", nil)]),
        Operation(method: "get", path: "/login", summary: "A form for the admin token", answers: [(200, "The page", ("text/html", text))]),
        Operation(
            method: "post", path: "/login", summary: "Begin a browser's session",
            body: #"{"type":"object","required":["token"],"properties":{"token":{"type":"string"}}}"#,
            answers: [(303, "Logged in", nil), (401, "The token is wrong", ("text/html", text))], problems: [403, 415, 429]),
        Operation(
            method: "get", path: "/login.js", summary: "The script of the form", answers: [(200, "The script", ("text/javascript", text))]),
        Operation(
            method: "post", path: "/logout", summary: "Let a browser forget its session", body: "{}", answers: [(303, "Done", nil)],
            problems: [403]),
    ]

    private static let named = #"{"type":"string","minLength":1,"maxLength":100}"#
    private static let lifetime = #"{"type":["integer","string"]}"#
    /// What comes of Vonage's own trouble, and of a key that is missing.
    private static let upstream = [409, 415, 502, 504]

    private static func flat(_ names: String...) -> (type: String, schema: String) {
        let list = names.map { quoted($0) }.joined(separator: ",")
        return ("application/json", "{\"type\":\"object\",\"required\":[\(list)]}")
    }

    private static func requiring(_ name: String, _ schema: String) -> String {
        "{\"type\":\"object\",\"required\":[\"\(name)\"],\"properties\":{\"\(name)\":\(schema)}}"
    }

    private static let users: [Operation] = [
        Operation(
            method: "get", path: "/users", summary: "People who can log in", audience: .admin,
            answers: [
                (
                    200, "All of them",
                    (
                        "application/json",
                        #"{"type":"object","required":["users"],"properties":{"users":{"type":"array","items":{"type":"object","required":["id","name"]}}}}"#
                    )
                )
            ], problems: upstream),
        Operation(
            method: "post", path: "/users", summary: "Make a user, or find the one of this name", audience: .admin,
            body: requiring("name", named), answers: [(200, "The user", flat("id", "name"))], problems: upstream),
        Operation(
            method: "delete", path: "/users/{name}", summary: "Delete a user", audience: .admin, answers: [(204, "Deleted", nil)],
            problems: upstream),
        Operation(
            method: "post", path: "/users/{name}/token", summary: "A token for a user", audience: .admin, body: "{}",
            answers: [(200, "The token", flat("name", "token"))], problems: upstream),
    ]

    private static let apps: [Operation] = [
        Operation(
            method: "get", path: "/jwt", summary: "A token for a user, who is made if need be", audience: .apps,
            query: [("username", named)],
            answers: [(200, "The token", flat("jwt"))], problems: upstream),
        Operation(
            method: "post", path: "/getJWT", summary: "A token for a user, who is made if need be", audience: .apps,
            body: requiring("username", named), answers: [(200, "The token", flat("jwt"))], problems: upstream),
        Operation(
            method: "get", path: "/token", summary: "A token for a user, who is made if need be", audience: .apps, query: [("name", named)],
            answers: [(200, "The token", flat("token")), (400, "There is no name", flat("error"))], problems: upstream),
        Operation(
            method: "post", path: "/user", summary: "A token for a user, who is made if need be", audience: .apps,
            body: requiring("username", named), answers: [(200, "The token", flat("token"))], problems: upstream),
        Operation(
            method: "post", path: "/createUser", summary: "Make a user", audience: .apps, body: requiring("username", named),
            answers: [(200, "OK", ("text/plain", text))], problems: upstream),
        Operation(
            method: "post", path: "/auth", summary: "Log in to drop-in audio", audience: .apps, body: requiring("name", named),
            answers: [(200, "Name and token", flat("name", "jwt"))], problems: upstream),
        Operation(
            method: "get", path: "/rooms", summary: "Rooms of drop-in audio, the newest first", audience: .apps,
            answers: [
                (
                    200, "The rooms",
                    ("application/json", #"{"type":"array","items":{"type":"object","required":["id","display_name"]}}"#)
                )
            ], problems: upstream),
        Operation(
            method: "post", path: "/rooms", summary: "Make a room of drop-in audio", audience: .apps,
            body: requiring("display_name", #"{"type":"string","minLength":1,"maxLength":50}"#), answers: [(200, "Its id", flat("id"))],
            problems: upstream),
        Operation(
            method: "get", path: "/session", summary: "The room named session", audience: .apps, answers: [(303, "To /room/session", nil)]),
        Operation(
            method: "get", path: "/room/{name}", summary: "Credentials for a video room", audience: .apps,
            query: [("role", #"{"enum":["subscriber","publisher","publisheronly","moderator"]}"#), ("ttl", lifetime)],
            answers: [(200, "Session and token", flat("applicationId", "apiKey", "sessionId", "token"))], problems: upstream),
    ]
}
