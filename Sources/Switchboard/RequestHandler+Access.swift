// SPDX-License-Identifier: MIT
//
// Who asks, under which name, and what that allows: for the rest of the handler. Nothing here is worked out for a request that does not need it,
// and of a peer that is no trusted proxy no field is read.

import HTTPServer
import HTTPWire

extension RequestHandler {
    func forwarded(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ exchange: Exchange) -> Forwarded {
        Forwarded(head, bytes, from: exchange.peer, trusting: application.settings.trustedProxies, own: application.settings.scheme)
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

    // MARK: The admin

    /// - Parameter isWhole: whether the body is there.
    func access(
        _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ body: Span<UInt8>, isWhole: Bool = true, _ exchange: Exchange
    ) -> AdminAccess {
        guard head.authorization != nil || head.cookie != nil,
            let credentials = AdminCredentials(
                head, bytes, token: application.admin, sessions: sessions, now: exchange.wall / 1000)
        else { return .stranger }
        let own = ownHosts(head, bytes, forwarded(head, bytes, exchange))
        return AdminAccess(credentials, head, bytes, body, isWhole: isWhole, sessions: sessions, own: own)
    }

    func ownHosts(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ forwarded: Forwarded) -> OwnHosts {
        OwnHosts(head, bytes, forwarded, publicURL: application.settings.publicURL)
    }

    /// What is sent instead of an answer that was found without looking further: a browser that may log in is shown where, and who would be the
    /// admin but for another page is told so, also where there would be nothing for others.
    func answer(
        _ response: Response, _ access: AdminAccess, _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ exchange: Exchange
    ) -> Response {
        guard response.status == .notFound else { return response }
        if let refusal = access.refusal {
            guard case .answered(let other) = Routing(head, bytes: bytes, flows: flows.set, isAdmin: true) else { return refusal }
            return other.status == .notFound ? response : refusal
        }
        guard access == .stranger, wantsPage(head, bytes) else { return response }
        return Page.seeOther(forwarded(head, bytes, exchange).prefix + "/login")
    }

    // MARK: Open apps

    /// Who counts as one where something is limited: of IPv6 the network that one customer has (RFC 6177), in which all addresses are theirs.
    func limitedPeer(_ peer: Peer) -> Peer {
        guard case .address(let address) = peer, !address.isIPv4 else { return peer }
        return .address(address.prefix(64))
    }

    /// The guard of what apps may ask for without the admin token where the settings say so. The admin always may.
    ///
    /// - Returns: nil where the request may go on; else what it is answered with: 404 as for any path that is not there, or 429.
    func openApps(
        _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ exchange: Exchange, _ access: AdminAccess
    ) -> Response? {
        if access.isAdmin { return nil }
        guard application.settings.opensApps else {
            return access.refusal ?? Routing.notFound(decodePath(head.path, in: bytes) ?? [], flows.set, opensApps: false)
        }
        let peer = limitedPeer(forwarded(head, bytes, exchange).peer)
        guard let wait = application.openAppsLimiter.take(peer, now: exchange.began) else { return nil }
        var fields = FieldBlock()
        fields.append("Retry-After", "\(retryAfter(microseconds: wait))")
        return .problem(.tooManyRequests, "Too many requests come from this address; wait as Retry-After says.", fields: fields)
    }
}
