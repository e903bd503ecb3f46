// SPDX-License-Identifier: MIT

/// A status code that this server sends, with its reason phrase.
///
/// - Source: RFC 9110 §15, RFC 6585.
package enum Status: UInt16, Sendable, CaseIterable {
    case ok = 200, noContent = 204
    case seeOther = 303, notModified = 304
    case badRequest = 400, unauthorized = 401, forbidden = 403, notFound = 404, methodNotAllowed = 405, requestTimeout = 408
    case conflict = 409, contentTooLarge = 413, uriTooLong = 414, unsupportedMediaType = 415, expectationFailed = 417
    case misdirectedRequest = 421, unprocessableContent = 422, tooManyRequests = 429, requestHeaderFieldsTooLarge = 431
    case internalServerError = 500, notImplemented = 501, badGateway = 502, serviceUnavailable = 503, gatewayTimeout = 504
    case httpVersionNotSupported = 505

    package var reason: String {
        switch self {
        case .ok: "OK"
        case .noContent: "No Content"
        case .seeOther: "See Other"
        case .notModified: "Not Modified"
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .requestTimeout: "Request Timeout"
        case .conflict: "Conflict"
        case .contentTooLarge: "Content Too Large"
        case .uriTooLong: "URI Too Long"
        case .unsupportedMediaType: "Unsupported Media Type"
        case .expectationFailed: "Expectation Failed"
        case .misdirectedRequest: "Misdirected Request"
        case .unprocessableContent: "Unprocessable Content"
        case .tooManyRequests: "Too Many Requests"
        case .requestHeaderFieldsTooLarge: "Request Header Fields Too Large"
        case .internalServerError: "Internal Server Error"
        case .notImplemented: "Not Implemented"
        case .badGateway: "Bad Gateway"
        case .serviceUnavailable: "Service Unavailable"
        case .gatewayTimeout: "Gateway Timeout"
        case .httpVersionNotSupported: "HTTP Version Not Supported"
        }
    }

    /// Whether a response with this status may hold a body (RFC 9110 §6.4.1).
    package var allowsBody: Bool { self != .noContent && self != .notModified }
}
