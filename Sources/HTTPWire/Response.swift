// SPDX-License-Identifier: MIT
//
// What the application answers, and its bytes on the wire. Field lines are checked when they are made, so no CR, LF or NUL can reach the wire
// from input (RFC 9110 §5.5); a block of them is made once where it does not change, and shared by all responses that carry it.

/// Field lines, each `Name: value CR LF`.
package struct FieldBlock: Sendable, Hashable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Adds a line. A byte that no value may have becomes a blank.
    package mutating func append(_ name: StaticString, _ value: some Sequence<UInt8>) {
        bytes.append(name)
        bytes.append(": ")
        for byte in value { bytes.append(byte.isFieldValue ? byte : .space) }
        bytes.append(.cr)
        bytes.append(.lf)
    }

    package mutating func append(_ name: StaticString, _ value: String) { append(name, value.utf8) }

    /// Adds the lines of another block.
    package mutating func append(_ other: FieldBlock) { bytes += other.bytes }
}

package enum ContentType: Sendable, Hashable {
    case json, problem, metrics, text, events, html, script, style

    var line: StaticString {
        switch self {
        case .json: "Content-Type: application/json\r\n"
        case .problem: "Content-Type: application/problem+json\r\n"
        case .text: "Content-Type: text/plain; charset=utf-8\r\n"
        case .html: "Content-Type: text/html; charset=utf-8\r\n"
        case .script: "Content-Type: text/javascript; charset=utf-8\r\n"
        case .style: "Content-Type: text/css; charset=utf-8\r\n"
        case .events: "Content-Type: text/event-stream\r\nCache-Control: no-store\r\n"
        case .metrics: "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
        }
    }
}

package struct Response: Sendable {
    package var status: Status
    /// Sent where there is a body.
    package var contentType: ContentType
    package var fields: FieldBlock
    package var body: [UInt8]
    /// Whether this response is the connection's last.
    package var close = false
    /// Bytes that `Content-Length` announces and that never come: how an answer looks whose connection broke. For a server that plays one in
    /// trouble; the connection must end with it, or the next answer would be taken for the rest.
    package var missingBytes = 0

    package init(_ status: Status, fields: FieldBlock = FieldBlock(), contentType: ContentType = .json, body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.contentType = contentType
        self.body = body
    }

    /// A problem document of RFC 9457; neither text may hold anything the peer sent.
    package static func problem(_ status: Status, _ detail: String, fields: FieldBlock = FieldBlock()) -> Response {
        let quoted = detail.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let text = "{\"type\":\"about:blank\",\"title\":\"\(status.reason)\",\"status\":\(status.rawValue),\"detail\":\"\(quoted)\"}\n"
        return Response(status, fields: fields, contentType: .problem, body: Array(text.utf8))
    }

    /// The last answer of a connection whose peer sent what is no request.
    package init(refusing error: WireError) {
        var fields = FieldBlock()
        if error.status == .serviceUnavailable { fields.append("Retry-After", "1") }
        self = .problem(error.status, error.detail, fields: fields)
        close = true
    }
}

/// What a response must know of its request and of the moment.
package struct ResponseContext: Sendable {
    /// HEAD: the fields of GET and no body (RFC 9110 §9.3.2).
    package var isHead: Bool
    package var minorVersion: Int
    package var keepAlive: Bool

    package init(isHead: Bool = false, minorVersion: Int = 1, keepAlive: Bool) {
        self.isHead = isHead
        self.minorVersion = minorVersion
        self.keepAlive = keepAlive
    }
}

/// RFC 9110 §15.2.1; an interim response has no fields and no framing.
package func encodeContinue(into output: inout [UInt8]) { output.append("HTTP/1.1 100 Continue\r\n\r\n") }

/// Appends head and body of a response.
///
/// - Parameter date: IMF-fixdate, made once a second.
/// - Source: RFC 9112 §4 and §6; exactly one framing, none where there can be no body.
package func encode(_ response: borrowing Response, for context: ResponseContext, date: [UInt8], into output: inout [UInt8]) {
    if response.status == .ok {
        output.append("HTTP/1.1 200 OK\r\nDate: ")
    } else {
        output.append("HTTP/1.1 ")
        appendDecimal(Int(response.status.rawValue), to: &output)
        output.append(.space)
        output.append(contentsOf: response.status.reason.utf8)
        output.append("\r\nDate: ")
    }
    output.append(contentsOf: date)
    output.append("\r\nX-Content-Type-Options: nosniff\r\n")
    if response.status.allowsBody {
        if !response.body.isEmpty { output.append(response.contentType.line) }
        output.append("Content-Length: ")
        appendDecimal(response.body.count + response.missingBytes, to: &output)
        output.append("\r\n")
    }
    output.append(contentsOf: response.fields.bytes)
    if response.close || !context.keepAlive {
        output.append("Connection: close\r\n")
    } else if context.minorVersion == 0 {
        output.append("Connection: keep-alive\r\n")
    }
    output.append("\r\n")
    if response.status.allowsBody, !context.isHead { output.append(contentsOf: response.body) }
}

/// Appends the head of a response whose body has no known end: chunked, or for HTTP/1.0 up to the end of the connection (RFC 9112 §6.3).
package func encodeStreamHead(
    _ response: borrowing Response, for context: ResponseContext, date: [UInt8], into output: inout [UInt8]
) {
    output.append("HTTP/1.1 200 OK\r\nDate: ")
    output.append(contentsOf: date)
    output.append("\r\nX-Content-Type-Options: nosniff\r\n")
    output.append(response.contentType.line)
    output.append(contentsOf: response.fields.bytes)
    if context.minorVersion > 0 { output.append("Transfer-Encoding: chunked\r\n") }
    output.append("Connection: close\r\n\r\n")
}

/// Appends one chunk (RFC 9112 §7.1), or plain bytes where the response is not chunked. Nothing is appended for no bytes, which would be the end.
package func encodeChunk(_ bytes: [UInt8], isChunked: Bool, into output: inout [UInt8]) {
    guard !bytes.isEmpty else { return }
    guard isChunked else { return output.append(contentsOf: bytes) }
    output.append(contentsOf: String(bytes.count, radix: 16).utf8)
    output.append("\r\n")
    output.append(contentsOf: bytes)
    output.append("\r\n")
}

/// Appends what ends a chunked body.
package func encodeLastChunk(isChunked: Bool, into output: inout [UInt8]) {
    if isChunked { output.append("0\r\n\r\n") }
}

private func appendDecimal(_ value: Int, to output: inout [UInt8]) {
    var divisor = 1
    while value / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
        output.append(UInt8(truncatingIfNeeded: 0x30 + value / divisor % 10))
        divisor /= 10
    }
}
