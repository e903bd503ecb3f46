// SPDX-License-Identifier: MIT
//
// Who asks, under which name, and what that allows: for the rest of the handler. Nothing here is worked out for a request that does not need it,
// and of a peer that is no trusted proxy no field is read.

import HTTPServer
import HTTPWire

extension RequestHandler {
    func forwarded(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ exchange: Exchange) -> Forwarded {
        Forwarded(head, bytes, from: exchange.peer, trusting: application.settings.trustedProxies)
    }

    /// What `{{base_url}}` is in an NCCO of this flow: the settings' URL, else what a trusted proxy was asked for, else our own address. A name
    /// that a stranger sends never gets into an NCCO: Vonage would send the call's events there.
    func baseURL(of flow: Int, _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ exchange: Exchange) -> [UInt8] {
        let (flows, settings) = (flows, application.settings)
        guard flows.set.usesBaseURL(flow), settings.publicURL == nil, settings.trustedProxies.trusts(exchange.peer),
            let url = forwarded(head, bytes, exchange).baseURL(head.authority, in: bytes)
        else { return flows.baseURL }
        return Array(url.utf8)
    }
}
