// SPDX-License-Identifier: MIT
//
// The methods that RFC 9110 and RFC 5789 know. Which of them a route takes is the application's to say.

/// A request method of RFC 9110 §9.3 or RFC 5789; any other token is unknown and refused with 501.
package enum Method: UInt8, Sendable, CaseIterable {
    case get, head, post, put, delete, connect, options, trace, patch

    package var name: StaticString {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .delete: "DELETE"
        case .connect: "CONNECT"
        case .options: "OPTIONS"
        case .trace: "TRACE"
        case .patch: "PATCH"
        }
    }

    /// Whether a request, even one that is refused, began as HEAD: its answer has no body then (RFC 9110 §9.3.2).
    package static func isHead(_ request: Span<UInt8>) -> Bool {
        var start = 0
        while start < request.count, request[start] == .cr || request[start] == .lf { start += 1 }
        return request.equalsExactly("HEAD ", at: start..<start + 5)
    }

    /// Nil for a token that is no known method; case matters (RFC 9110 §9.1).
    init?(_ token: Range<Int>, in bytes: Span<UInt8>) {
        for method in Method.allCases where bytes.equalsExactly(method.name, at: token) {
            self = method
            return
        }
        return nil
    }
}
