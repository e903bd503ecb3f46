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
        bytes.append(contentsOf: name.description.utf8)
        bytes.append(contentsOf: ": ".utf8)
        for byte in value { bytes.append(byte.isFieldValue ? byte : .space) }
        bytes.append(.cr)
        bytes.append(.lf)
    }

    package mutating func append(_ name: StaticString, _ value: String) { append(name, value.utf8) }
}

package enum ContentType: Sendable, Hashable {
    case json, problem, text, html, metrics

    var line: [UInt8] {
        switch self {
        case .json: Lines.json
        case .problem: Lines.problem
        case .text: Lines.text
        case .html: Lines.html
        case .metrics: Lines.metrics
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

private enum Lines {
    static let ok = Array("HTTP/1.1 200 OK\r\nDate: ".utf8)
    static let nosniff = Array("\r\nX-Content-Type-Options: nosniff\r\n".utf8)
    static let json = Array("Content-Type: application/json\r\n".utf8)
    static let problem = Array("Content-Type: application/problem+json\r\n".utf8)
    static let text = Array("Content-Type: text/plain; charset=utf-8\r\n".utf8)
    static let html = Array("Content-Type: text/html; charset=utf-8\r\n".utf8)
    static let metrics = Array("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n".utf8)
    static let length = Array("Content-Length: ".utf8)
    static let close = Array("Connection: close\r\n".utf8)
    static let keepAlive = Array("Connection: keep-alive\r\n".utf8)
    static let crlf = Array("\r\n".utf8)
    static let `continue` = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
}

/// RFC 9110 §15.2.1; an interim response has no fields and no framing.
package func encodeContinue(into output: inout [UInt8]) { output.append(contentsOf: Lines.continue) }

/// Appends head and body of a response.
///
/// - Parameter date: IMF-fixdate, made once a second.
/// - Source: RFC 9112 §4 and §6; exactly one framing, none where there can be no body.
package func encode(_ response: borrowing Response, for context: ResponseContext, date: [UInt8], into output: inout [UInt8]) {
    if response.status == .ok {
        output.append(contentsOf: Lines.ok)
    } else {
        output.append(contentsOf: "HTTP/1.1 ".utf8)
        appendDecimal(Int(response.status.rawValue), to: &output)
        output.append(.space)
        output.append(contentsOf: response.status.reason.utf8)
        output.append(contentsOf: "\r\nDate: ".utf8)
    }
    output.append(contentsOf: date)
    output.append(contentsOf: Lines.nosniff)
    if response.status.allowsBody {
        if !response.body.isEmpty { output.append(contentsOf: response.contentType.line) }
        output.append(contentsOf: Lines.length)
        appendDecimal(response.body.count, to: &output)
        output.append(contentsOf: Lines.crlf)
    }
    output.append(contentsOf: response.fields.bytes)
    if response.close || !context.keepAlive {
        output.append(contentsOf: Lines.close)
    } else if context.minorVersion == 0 {
        output.append(contentsOf: Lines.keepAlive)
    }
    output.append(contentsOf: Lines.crlf)
    if response.status.allowsBody, !context.isHead { output.append(contentsOf: response.body) }
}

private func appendDecimal(_ value: Int, to output: inout [UInt8]) {
    var divisor = 1
    while value / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
        output.append(UInt8(truncatingIfNeeded: 0x30 + value / divisor % 10))
        divisor /= 10
    }
}
