// SPDX-License-Identifier: MIT
//
// Why bytes are not a request that we serve. The error knows the status it deserves, so no table elsewhere maps one to the other; after any
// of these the connection answers once, reads nothing more as a request, and closes (RFC 9112 §6.3, §9.6).

/// Why the peer's bytes are refused: what, where, and which answer that deserves.
package struct WireError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Fault: String, Sendable, CaseIterable {
        case badRequestLine, badMethod, badTarget, badVersion, badLineEnd, badFieldName, badFieldValue, foldedField
        case missingHost, repeatedHost, badHost, repeatedAuthorization
        case lengthAndCoding, badLength, repeatedLength, badCoding, codingInHTTP10
        case badChunk, badTrailer, cutShort
        case unsupportedVersion, unknownMethod, unknownCoding
        case targetTooLong, headTooLarge, tooManyFields, bodyTooLarge, chunkOverhead
        case unknownExpectation, headTimeout, bodyTimeout, replyTimeout, overloaded
        case plainOnTLS
    }

    package let fault: Fault
    /// Bytes from the start of the request to the first offending one.
    package let offset: Int

    package init(_ fault: Fault, at offset: Int) {
        self.fault = fault
        self.offset = offset
    }

    /// RFC 9110 §15.5 and §15.6, RFC 6585 §5.
    package var status: Status {
        switch fault {
        case .targetTooLong: .uriTooLong
        case .headTooLarge, .tooManyFields: .requestHeaderFieldsTooLarge
        case .bodyTooLarge: .contentTooLarge
        case .unknownExpectation: .expectationFailed
        case .headTimeout, .bodyTimeout: .requestTimeout
        case .replyTimeout, .overloaded: .serviceUnavailable
        case .unsupportedVersion: .httpVersionNotSupported
        case .unknownMethod, .unknownCoding: .notImplemented
        default: .badRequest
        }
    }

    /// What is wrong and what would be right, in words that hold nothing the peer sent.
    package var detail: String {
        switch fault {
        case .badRequestLine: "The request line is not METHOD SP target SP HTTP/1.1."
        case .badMethod: "The method is not a token."
        case .badTarget: "The request target is not a path, an http URL, or * for OPTIONS."
        case .badVersion: "The version is not HTTP/ digit . digit."
        case .badLineEnd: "A line does not end with CR LF."
        case .badFieldName: "A field line has no name, or bytes in its name that no token may have; no blank may stand before the colon."
        case .badFieldValue: "A field value has a control character."
        case .foldedField: "A field line begins with a blank; folded lines are obsolete."
        case .missingHost: "HTTP/1.1 needs a Host field."
        case .repeatedHost: "Host is sent more than once."
        case .repeatedAuthorization: "Authorization is sent more than once."
        case .badHost: "Host is not a host name or address with an optional port."
        case .lengthAndCoding: "Content-Length and Transfer-Encoding exclude each other."
        case .badLength: "Content-Length is not a plain decimal number."
        case .repeatedLength: "Content-Length is sent more than once."
        case .badCoding: "Transfer-Encoding must end with chunked, once and without parameters."
        case .codingInHTTP10: "HTTP/1.0 has no Transfer-Encoding."
        case .badChunk: "The chunked body is malformed."
        case .badTrailer: "The trailer of the chunked body is malformed."
        case .cutShort: "The connection ended in the middle of the request."
        case .unsupportedVersion: "This server speaks HTTP/1.1 and HTTP/1.0."
        case .unknownMethod: "This method is not known here."
        case .unknownCoding: "No transfer coding but chunked is known here."
        case .targetTooLong: "The request target is too long."
        case .headTooLarge: "The request head is too large."
        case .tooManyFields: "The request has too many fields."
        case .bodyTooLarge: "The body is too large."
        case .chunkOverhead: "The chunked body is nearly all overhead."
        case .unknownExpectation: "The only expectation known here is 100-continue."
        case .headTimeout: "The request head did not arrive in time."
        case .bodyTimeout: "The request body did not arrive in time."
        case .overloaded: "Too many requests are arriving at once; try again."
        case .plainOnTLS: "This port speaks TLS; ask for the same URL with https:// in place of http://."
        case .replyTimeout: "No answer was ready in time; try again."
        }
    }

    package var description: String { "\(fault.rawValue) at byte \(offset)" }
}
