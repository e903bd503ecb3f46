// SPDX-License-Identifier: MIT
//
// The port of plain HTTP beside one with TLS. A browser that asks there is sent on; a webhook is not, since Vonage follows no redirect: it is told
// that it has the wrong URL (RFC 9110 §15.5.20), which the log of Vonage's dashboard then shows. Nothing is kept and nothing is served here.

package import HTTPServer
import HTTPWire

package struct Redirection: Service {
    /// Of the server with TLS: the port, and the URL that the settings give it.
    private let port: UInt16
    private let publicURL: String?

    package init(_ settings: Settings, port: UInt16) {
        self.port = port
        publicURL = settings.publicURL.flatMap { $0.hasPrefix("https://") ? $0 : nil }
    }

    package func makeHandler(mailbox: Mailbox) -> any Handler { RedirectingHandler(self) }

    fileprivate func respond(to head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Response {
        // However it is spelt, as for the routes themselves.
        let path = decodePath(head.path, in: bytes) ?? []
        let isWebhook = path.starts(with: "/voice/".utf8) || path.elementsEqual("/voice".utf8)
        guard head.method == .get || head.method == .head, !isWebhook, let base = publicURL ?? ownURL(head, bytes) else {
            return .problem(
                .misdirectedRequest,
                "This port only sends browsers on to TLS, and Vonage follows no redirect: \(cure).")
        }
        var fields = FieldBlock()
        let query = head.query.map { "?" + bytes.text($0) } ?? ""
        fields.append("Location", "\(base)\(head.path.isEmpty ? "/" : bytes.text(head.path))\(query)")
        return Response(.movedPermanently, fields: fields)
    }

    /// The server by the name it was asked by; nil where that could be no host.
    private func ownURL(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> String? {
        guard let authority = safeHost(head.authority, in: bytes) else { return nil }
        let name = authority.lastIndex(of: ":").flatMap { authority[$0...].contains("]") ? nil : authority[..<$0] } ?? authority[...]
        return "https://\(withoutStandardPort("\(name):\(port)", .https))"
    }

    private var cure: String {
        if let publicURL { return "use a URL that begins with \(publicURL)" }
        return "use the same URL with https:// and \(port == 443 ? "no port" : "port \(port)")"
    }
}

private final class RedirectingHandler: Handler {
    private let redirection: Redirection

    init(_ redirection: Redirection) { self.redirection = redirection }

    func respond(to head: borrowing RequestHead, bytes: Span<UInt8>, body: Span<UInt8>, exchange: Exchange) throws -> Reply {
        .now(redirection.respond(to: head, bytes))
    }

    /// Nobody needs to send a body here.
    func refusal(of head: borrowing RequestHead, bytes: Span<UInt8>, exchange: Exchange) -> Response? {
        redirection.respond(to: head, bytes)
    }

    func refused(_ error: WireError) {}
    func failed(_ error: any Error, _ head: borrowing RequestHead, bytes: Span<UInt8>) -> Response {
        .problem(.internalServerError, "A fault.")
    }
    func flush(now: Int64) -> Int64? { nil }
}
