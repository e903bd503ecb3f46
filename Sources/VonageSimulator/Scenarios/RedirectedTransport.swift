// SPDX-License-Identifier: MIT
//
// Sends what is for a server's public address to the server itself: what an NCCO names is then reached without a tunnel.

package final class RedirectedTransport: WebhookTransport {
    private let transport: any WebhookTransport
    private let address: String
    private let server: String

    /// - Parameters:
    ///   - address: where URLs seem to lead, without a slash at its end.
    ///   - server: where they are sent.
    package init(_ transport: any WebhookTransport, from address: String, to server: String) {
        (self.transport, self.address, self.server) = (transport, address, server)
    }

    package func send(_ request: PlayedRequest, authorization: String?, isCut: Bool, then: @escaping (PlayedOutcome) -> Void) {
        transport.send(redirected(request), authorization: authorization, isCut: isCut, then: then)
    }

    private func redirected(_ request: PlayedRequest) -> PlayedRequest {
        let url = request.address.url
        guard url.hasPrefix(address), ["/", "?", nil].contains(url.dropFirst(address.count).first) else { return request }
        return PlayedRequest(
            number: request.number, kind: request.kind, attempt: request.attempt,
            address: WebhookAddress(url: server + url.dropFirst(address.count), method: request.address.method), fields: request.fields,
            leg: request.leg, at: request.at, connectLimit: request.connectLimit, answerLimit: request.answerLimit,
            mayCarryNCCO: request.mayCarryNCCO)
    }

    package func turn(milliseconds: Int32) { transport.turn(milliseconds: milliseconds) }
}
