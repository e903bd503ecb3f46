// SPDX-License-Identifier: MIT
//
// Before a webhook is served: is it Vonage's? What is refused is answered with the reason, is counted and told, and reaches neither a flow nor the
// log: whoever knows the address could fill the disk otherwise. Vonage tries what was refused with 401 no second time, and a call whose answer
// request is refused goes to its fallback URL, or ends.

import HTTPServer
import HTTPWire
import VonageAuth

extension RequestHandler {
    /// The answer to a webhook that is not taken; nil, and `signature` says how it came to be, for one that is.
    func refusal(
        ofWebhook head: borrowing RequestHead, _ bytes: Span<UInt8>, _ body: Span<UInt8>, _ exchange: Exchange, isAdmin: Bool
    ) -> Response? {
        signature = .off
        guard let webhooks = application.webhooks else { return nil }
        guard let checker else { return refuse(.unchecked, webhooks, changed: nil, head, bytes, exchange) }
        let isPost = head.method == .post
        do throws(WebhookRefusal) {
            try checker.check(
                authorization: head.authorization, query: head.query, in: bytes, body: body, isPost: isPost, now: exchange.wall / 1000)
            webhooks.taken()
            statistics.count(statistics.verifiedWebhooks)
            signature = .verified
            return nil
        } catch {
            // Whoever has the admin token tries the server out.
            if isAdmin || error == .missing && webhooks.unsigned == .accept {
                statistics.count(statistics.unsignedWebhooks)
                signature = .missing
                return nil
            }
            var change: String?
            if error == .payloadChanged, webhooks.mayLookInto(bytes: isPost ? body.count : head.query?.count ?? 0, now: milliseconds) {
                change = checker.usualChange(query: head.query, in: bytes, body: body, isPost: isPost)
            }
            return refuse(error, webhooks, changed: change, head, bytes, exchange)
        }
    }

    private func refuse(
        _ refusal: WebhookRefusal, _ webhooks: WebhookGuard, changed: String?, _ head: borrowing RequestHead, _ bytes: Span<UInt8>,
        _ exchange: Exchange
    ) -> Response {
        let response = Self.response(to: refusal, webhooks.unsigned)
        let reason = "\(refusal)" + (changed.map { "; it fits \($0)" } ?? "")
        let silent = webhooks.refused(refusal, wall: exchange.wall / 1000, now: milliseconds)
        // What anybody can send is not printed each time.
        if let format = application.lineFormat, refusal.isSigned || silent != nil {
            let line = WebhookLine(
                wall: exchange.wall, route: Self.route(head.path, in: bytes), status: response.status.rawValue,
                subject: .error("refused: \(reason)\(others(silent))"), micros: elapsed(exchange))
            application.console.print(line.formatted(format))
        } else if application.lineFormat == nil, silent != nil {
            application.errors.print("a webhook was refused with \(response.status.rawValue): \(reason)\(others(silent))")
        } else if let changed {
            application.errors.print("a webhook was refused: it fits \(changed)")
        }
        return response
    }

    private func others(_ silent: Int?) -> String { silent.map { $0 > 0 ? " (and \($0) more of this kind)" : "" } ?? "" }

    /// What can be said before the body is there.
    func refusal(ofUnsigned head: borrowing RequestHead, _ bytes: Span<UInt8>, _ exchange: Exchange, isAdmin: Bool) -> Response? {
        guard let webhooks = application.webhooks, webhooks.unsigned != .accept, !isAdmin, head.authorization == nil else { return nil }
        return refuse(.missing, webhooks, changed: nil, head, bytes, exchange)
    }

    private static func response(to refusal: WebhookRefusal, _ unsigned: UnsignedPolicy) -> Response {
        var fields = FieldBlock()
        if refusal == .unchecked || refusal == .missing && unsigned != .refuse {
            fields.append("Retry-After", "1")
            return .problem(.serviceUnavailable, "The webhook is not taken: \(refusal).", fields: fields)
        }
        // RFC 6750 §3: without credentials no error is named.
        fields.append("WWW-Authenticate", refusal == .missing ? "Bearer" : "Bearer error=\"invalid_token\"")
        return .problem(.unauthorized, "The webhook is not taken: \(refusal).", fields: fields)
    }

    /// The name of the flow, for the line: routing has found it to be one of ours.
    private static func route(_ path: Range<Int>, in bytes: Span<UInt8>) -> String {
        let name = bytes.text(path).split(separator: "/").last.map(String.init) ?? "-"
        return name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") } ? name : "-"
    }
}
