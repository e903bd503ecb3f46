// SPDX-License-Identifier: MIT
//
// A request and its answer as values, between the server's bytes and the state: what is simulated can be asked without a socket.

package import HTTPWire

/// One request to Vonage's APIs.
package struct SimulatedRequest: Sendable {
    package var method: Method
    /// Decoded, from its slash on.
    package var path: String
    /// Decoded, in order; of a name that comes twice the first one counts.
    package var query: [(name: String, value: String)]
    /// Host and port as the client named them; empty where it named none.
    package var authority: String
    package var authorization: String?
    package var contentType: String?
    package var body: [UInt8]

    /// - Parameter target: path and query as they stand in a request line; a path that cannot be decoded is one where nothing is.
    package init(
        _ method: Method, _ target: String, authority: String = "", authorization: String? = nil, contentType: String? = nil,
        body: [UInt8] = []
    ) {
        let bytes = Array(target.utf8)
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
        self.method = method
        path = decodePath(0..<mark, in: bytes.span).map { String(decoding: $0, as: UTF8.self) } ?? ""
        query = mark < bytes.count ? Self.pairs(mark + 1..<bytes.count, in: bytes.span) : []
        self.authority = authority
        self.authorization = authorization
        self.contentType = contentType
        self.body = body
    }

    /// The pairs of a query or a form.
    static func pairs(_ range: Range<Int>, in text: Span<UInt8>) -> [(name: String, value: String)] {
        var parameters = Parameters()
        parameters.parse(range, in: text)
        return parameters.entries.map { entry in
            (
                String(decoding: parameters.bytes[entry.name], as: UTF8.self),
                String(decoding: parameters.bytes[entry.value], as: UTF8.self)
            )
        }
    }

    func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// The media type in lower case, without its parameters.
    var mediaType: String? {
        guard let contentType else { return nil }
        return contentType.prefix { $0 != ";" }.split(separator: " ").first.map { $0.lowercased() }
    }
}

/// What is sent, and when.
package struct SimulatedAnswer: Sendable {
    package var response: Response
    /// Milliseconds to wait before it is sent.
    package var delay: Int64 = 0
    /// Whether what is kept is not as it was.
    package var hasChanged = false
    /// What is to happen to calls, in order.
    package var orders: [CallOrder] = []
}

/// Base64 of RFC 4648 §4, made of base64url's characters.
func plainBase64(fromURL text: String) -> String {
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    return String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }) + padding
}

/// The value escaped for a query: everything but the unreserved characters of RFC 3986 §2.3.
package func percentEncoded(_ text: String) -> String {
    var output = ""
    for byte in text.utf8 {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            output.unicodeScalars.append(Unicode.Scalar(byte))
        default:
            let digits = String(byte, radix: 16, uppercase: true)
            output += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
        }
    }
    return output
}
