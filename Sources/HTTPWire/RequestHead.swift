// SPDX-License-Identifier: MIT
//
// A request head as places in the receive buffer: nothing is copied, the bytes stay where they arrived. A head is parsed into the same value
// again and again, so its field table is allocated once.

/// Which of the four forms a request target has (RFC 9112 §3.2).
package enum TargetForm: Sendable { case origin, absolute, authority, asterisk }

/// How the body's end is found (RFC 9112 §6.3).
package enum BodyFraming: Sendable, Hashable {
    case none
    case length(Int)
    case chunked
}

/// One field line: where its name and its value without blanks around it lie.
package struct Field: Sendable, Hashable {
    package let name: Range<Int>
    package let value: Range<Int>
}

/// A parsed request head; every range counts from the first byte of the request.
package struct RequestHead: Sendable {
    package internal(set) var method = Method.get
    /// Minor version: 0, or 1 for all of HTTP/1.1 and above (RFC 9110 §2.5).
    package internal(set) var minorVersion = 1
    package internal(set) var form = TargetForm.origin
    package internal(set) var target = 0..<0
    /// The path as sent, still percent-encoded; empty for an absolute target without one, which means `/`.
    package internal(set) var path = 0..<0
    /// What follows the first `?`, without it.
    package internal(set) var query: Range<Int>?
    /// Host and port: of an absolute target, else of Host (RFC 9112 §3.2.2); empty where neither was sent.
    package internal(set) var authority = 0..<0
    package internal(set) var fields: [Field] = []
    package internal(set) var contentType: Range<Int>?
    /// A Content-Encoding other than `identity` was applied to the body (RFC 9110 §8.4).
    package internal(set) var isEncoded = false
    package internal(set) var authorization: Range<Int>?
    package internal(set) var cookie: Range<Int>?
    package internal(set) var framing = BodyFraming.none
    /// Whether the peer wants the connection kept (RFC 9112 §9.3).
    package internal(set) var keepAlive = true
    package internal(set) var expectsContinue = false
    /// An Expect member other than `100-continue`: 417 (RFC 9110 §10.1.1).
    package internal(set) var hasUnknownExpectation = false
    /// First byte behind the head.
    package internal(set) var end = 0

    package init() {}

    /// The value of the first field of this name, which is given in lower case.
    package func value(of name: StaticString, in bytes: Span<UInt8>) -> Range<Int>? {
        for field in fields where bytes.equalsIgnoringCase(name, at: field.name) { return field.value }
        return nil
    }
}
