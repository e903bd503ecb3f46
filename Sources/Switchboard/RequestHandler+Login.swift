// SPDX-License-Identifier: MIT
//
// `/login` and `/logout`: the way of a browser to what the admin may see. It sends the token once and keeps a session's cookie. That there
// is a log-in is no secret; how often somebody may try is limited.

import HTTPServer
import HTTPWire
import VonageAuth

extension RequestHandler {
    func login(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ body: Span<UInt8>, _ exchange: Exchange) -> Response {
        let forwarded = forwarded(head, bytes, exchange)
        let prefix = forwarded.prefix
        guard head.method == .post else { return Page.login(prefix: prefix) }
        guard !head.isEncoded else { return Self.encodedBody }
        // Else another page could log a browser in to what its owner does not expect.
        guard ownHosts(head, bytes, forwarded).sent(head, bytes) else { return AdminAccess.sentFromElsewhere }
        let isJSON = WebhookParameters.kind(of: body, contentType: head.contentType, in: bytes) == .json
        func refuse(_ status: Status, _ text: String, _ fields: FieldBlock) -> Response {
            isJSON ? .problem(status, text, fields: fields) : Page.login(status, prefix: prefix, message: text, fields: fields)
        }
        var fields = FieldBlock()
        if let wait = application.loginLimiter.take(limitedPeer(forwarded.peer), now: exchange.began) {
            let seconds = retryAfter(microseconds: wait)
            fields.append("Retry-After", "\(seconds)")
            return refuse(.tooManyRequests, "There were too many attempts; try again in \(seconds) s.", fields)
        }
        // Of its own, so that the token stays in no buffer of later requests.
        var parameters = WebhookParameters()
        do {
            try parameters.read(query: nil, body: body, contentType: head.contentType, in: bytes)
        } catch {
            return .problem(.badRequest, "The body is no form and no JSON; send token as one of them.")
        }
        let text = parameters.decoded.bytes
        guard let token = parameters.value(of: "token"), application.admin.matches(text: token, in: text.span) else {
            fields.append("WWW-Authenticate", "Bearer")
            return refuse(.unauthorized, "This is not the admin token.", fields)
        }
        guard let session = sessions?.begin(now: exchange.wall / 1000) else {
            return .problem(.serviceUnavailable, "OpenSSL is not installed whole, so that nobody can log in; send the token as a bearer.")
        }
        return Page.seeOther(prefix + "/", cookie: cookie(session, Sessions.lifetime, forwarded))
    }

    func logout(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ exchange: Exchange, _ access: AdminAccess) -> Response {
        if let refusal = access.refusal { return refusal }
        let forwarded = forwarded(head, bytes, exchange)
        // Whoever has no session any more may still have its cookie.
        guard ownHosts(head, bytes, forwarded).sent(head, bytes) else { return AdminAccess.sentFromElsewhere }
        return Page.seeOther(forwarded.prefix + "/login", cookie: cookie("", 0, forwarded))
    }

    /// Whether somebody without a session wants to see a page, and is shown where to log in.
    func wantsPage(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
        guard head.method == .get || head.method == .head, isRoot(head, bytes), let accept = head.value(of: "accept", in: bytes) else {
            return false
        }
        var isWanted = false
        bytes.forEachMember(of: accept) { member in
            let end = member.first { bytes[$0] == UInt8(ascii: ";") || bytes[$0] == UInt8(ascii: " ") } ?? member.upperBound
            if bytes.equalsIgnoringCase("text/html", at: member.lowerBound..<end) { isWanted = true }
        }
        return isWanted
    }

    private func isRoot(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
        bytes.equalsExactly("/", at: head.path) || head.form == .absolute && head.path.isEmpty
    }

    private func cookie(_ value: String, _ lifetime: Int64, _ forwarded: Forwarded) -> String {
        let path = forwarded.prefix.isEmpty ? "/" : forwarded.prefix
        let secure = forwarded.isSecure ? "; Secure" : ""
        return "\(Sessions.cookieName)=\(value); Path=\(path); Max-Age=\(lifetime); HttpOnly; SameSite=Strict\(secure)"
    }
}
