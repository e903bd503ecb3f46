// SPDX-License-Identifier: MIT
//
// The endpoint `websocket`.

extension Endpoint {
    /// A WebSocket server that hears the call and speaks into it.
    ///
    /// - Source: Vonage Voice API, NCCO reference, `connect`, endpoint `websocket`.
    public struct WebSocket: Hashable, Sendable {
        /// The audio: 16 bit linear PCM, one channel.
        public enum ContentType: String, Hashable, Sendable, CaseIterable {
            /// 8,000 samples a second.
            case rate8000 = "audio/l16;rate=8000"
            /// 16,000 samples a second.
            case rate16000 = "audio/l16;rate=16000"
            /// 24,000 samples a second.
            case rate24000 = "audio/l16;rate=24000"
        }

        /// What Vonage sends in the header `Authorization` of the handshake.
        public enum Authorization: Hashable, Sendable {
            /// The JWT of signed webhooks; the same as when absent.
            case vonage
            /// This value.
            case custom(NonEmptyText)
        }

        /// The server.
        public var uri: WebSocketURL
        /// The audio.
        public var contentType: ContentType
        /// Any JSON, sent in the first message; Vonage takes 512 bytes at most.
        public var headers: JSONObject?
        /// Vonage sends its JWT when absent.
        public var authorization: Authorization?
        /// Options that this type does not know, from JSON that was read.
        public internal(set) var otherOptions: JSONObject = [:]
        /// Members of `authorization` that `authorization` has no place for, from JSON that was read.
        public internal(set) var otherAuthorization: JSONObject = [:]

        /// The server at that URL.
        public init(
            uri: WebSocketURL, contentType: ContentType, headers: JSONObject? = nil, authorization: Authorization? = nil
        ) {
            self.uri = uri
            self.contentType = contentType
            self.headers = headers
            self.authorization = authorization
        }
    }

    /// The WebSocket server at that URL.
    public static func websocket(
        _ uri: WebSocketURL, contentType: WebSocket.ContentType, headers: JSONObject? = nil, authorization: WebSocket.Authorization? = nil
    ) -> Endpoint {
        .websocket(WebSocket(uri: uri, contentType: contentType, headers: headers, authorization: authorization))
    }
}

extension Endpoint.WebSocket: OptionObject {
    init(from options: inout OptionReader) throws(NCCOError) {
        uri = try options.require("uri", WebSocketURL.allowed).text()
        contentType = try options.require("content-type", oneOf(ContentType.allCases.map(\.rawValue))).choice()
        headers = try options.take("headers")?.object()
        if let given = try options.take("authorization") {
            var inside = try OptionReader(given.node, action: given.action, option: given.name, path: given.path)
            authorization = try Authorization(from: &inside)
            otherAuthorization = try inside.rest()
        }
    }

    func encode(into output: inout [UInt8]) {
        output.beginEndpoint("websocket")
        output.appendOption("uri", uri)
        output.appendOption("content-type", contentType)
        output.appendOption("headers", headers)
        output.appendOption("authorization", authorization?.object.adding(otherAuthorization))
        output.endObject(otherOptions)
    }

    func appendOtherOptionPaths(at path: String, to paths: inout [String]) {
        appendOwnOtherOptionPaths(at: path, to: &paths)
        for member in otherAuthorization.members { paths.append(path + ".authorization" + pathStep(member.name)) }
    }
}

extension Endpoint.WebSocket.Authorization {
    private enum Name: String, CaseIterable { case vonage, custom }

    fileprivate init(from options: inout OptionReader) throws(NCCOError) {
        // Vonage's own is what is sent without a type.
        let name: Name = try options.take("type")?.choice() ?? .vonage
        switch name {
        case .vonage: self = .vonage
        case .custom: self = .custom(try options.require("value", NonEmptyText.allowed).text())
        }
    }

    fileprivate var object: JSONObject {
        switch self {
        case .vonage: ["type": "vonage"]
        case .custom(let value): ["type": "custom", "value": .string(value.description)]
        }
    }
}
