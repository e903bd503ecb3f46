// SPDX-License-Identifier: MIT
//
// The endpoint `sip`. It is reached in one of two ways that exclude each other, so that the two are one property.

extension Endpoint {
    /// A SIP endpoint.
    ///
    /// - Source: Vonage Voice API, NCCO reference, `connect`, endpoint `sip`.
    public struct SIP: Hashable, Sendable {
        /// Where the endpoint is.
        public enum Address: Hashable, Sendable {
            /// At this URI.
            case uri(SIPURI)
            /// A user behind the SIP trunk that has this name in the dashboard.
            case trunk(user: NonEmptyText, domain: NonEmptyText)
        }

        /// Headers by name; each is sent as `X-` and the name.
        public struct Headers: Hashable, Sendable, ExpressibleByDictionaryLiteral {
            /// The headers, each value a text.
            public let members: JSONObject

            /// Lets headers be written in place; of those with equal names the last one counts.
            public init(dictionaryLiteral elements: (String, NonEmptyText)...) { self.init(elements) }

            /// Headers by name; of those with equal names the last one counts.
            public init(_ headers: some Sequence<(String, NonEmptyText)>) {
                members = JSONObject(headers.map { ($0, .string($1.description)) })
            }
        }

        /// Where the endpoint is.
        public var address: Address
        /// Sent as `X-` and the name; none when absent.
        public var headers: Headers?
        /// Sent as `User-to-User`, the one standard header that may be set; not sent when absent.
        public var userToUser: UserToUser?
        /// Options that this type does not know, from JSON that was read.
        public internal(set) var otherOptions: JSONObject = [:]
        /// Standard headers besides `User-to-User`, from JSON that was read; Vonage is not known to send any.
        public internal(set) var otherStandardHeaders: JSONObject = [:]

        /// The endpoint at that address.
        public init(_ address: Address, headers: Headers? = nil, userToUser: UserToUser? = nil) {
            self.address = address
            self.headers = headers
            self.userToUser = userToUser
        }
    }

    /// The SIP endpoint at that URI.
    public static func sip(_ uri: SIPURI, headers: SIP.Headers? = nil, userToUser: UserToUser? = nil) -> Endpoint {
        .sip(SIP(.uri(uri), headers: headers, userToUser: userToUser))
    }

    /// The user behind the SIP trunk that has the name `domain` in the dashboard.
    public static func sip(
        user: NonEmptyText, domain: NonEmptyText, headers: SIP.Headers? = nil, userToUser: UserToUser? = nil
    ) -> Endpoint {
        .sip(SIP(.trunk(user: user, domain: domain), headers: headers, userToUser: userToUser))
    }
}

extension Endpoint.SIP: OptionObject {
    init(from options: inout OptionReader) throws(NCCOError) {
        if let uri = try options.take("uri") {
            for name in ["user", "domain"] { if let other = try options.take(name) { throw other.refusal("left out together with uri") } }
            address = .uri(try uri.text())
        } else if options.has("user") || options.has("domain") {
            let user: NonEmptyText = try options.require("user", "given together with domain").text()
            address = .trunk(user: user, domain: try options.require("domain", "given together with user").text())
        } else {
            address = .uri(try options.require("uri", SIPURI.allowed).text())
        }
        headers = try options.take("headers").map { (given) throws(NCCOError) in try Headers(given) }
        if let standard = try options.take("standardHeaders", or: "standard_headers") {
            var inside = try OptionReader(standard.node, action: standard.action, option: standard.name, path: standard.path)
            userToUser = try inside.take("User-to-User")?.text()
            otherStandardHeaders = try inside.rest()
        }
    }

    func encode(into output: inout [UInt8]) {
        output.beginEndpoint("sip")
        switch address {
        case .uri(let uri): output.appendOption("uri", uri)
        case .trunk(let user, let domain):
            output.appendOption("user", user)
            output.appendOption("domain", domain)
        }
        output.appendOption("headers", headers?.members)
        let standard = (userToUser.map { ["User-to-User": .string($0.description)] as JSONObject } ?? [:]).adding(otherStandardHeaders)
        output.appendOption("standardHeaders", standard.isEmpty ? nil : standard)
        output.endObject(otherOptions)
    }

    func appendOtherOptionPaths(at path: String, to paths: inout [String]) {
        appendOwnOtherOptionPaths(at: path, to: &paths)
        for header in otherStandardHeaders.members { paths.append(path + ".standardHeaders" + pathStep(header.name)) }
    }
}

extension Endpoint.SIP.Headers {
    fileprivate init(_ given: GivenOption) throws(NCCOError) {
        let options = try OptionReader(given.node, action: given.action, option: given.name, path: given.path)
        var headers: [JSONObject.Member] = []
        for header in options.left {
            let value: NonEmptyText = try header.text()
            headers.append(JSONObject.Member(name: header.name, value: .string(value.description)))
        }
        members = JSONObject(unique: headers)
    }
}
