// SPDX-License-Identifier: MIT
//
// Sends each request on a connection of its own and waits for the answer: enough for a server on this machine.

import HTTPServer
import NCCO

package final class BlockingTransport: WebhookTransport {
    /// Bytes of an answer with its head.
    private static let largestAnswer = 1024 * 1024

    package init() throws {}

    package func send(_ request: PlayedRequest, authorization: String?, isCut: Bool, then: @escaping (PlayedOutcome) -> Void) {
        let began = Clock.system.monotonic()
        func failed(_ failure: PlayedFailure) { then(.failure(failure, micros: Clock.system.monotonic() - began)) }
        guard let parts = URLParts(request.address.url) else { return failed(.invalidURL) }
        guard !parts.isTLS else { return failed(.tls) }
        guard !isCut else { return failed(.closed) }
        do throws(HTTPRequestError) {
            let answer = try HTTPRequestClient(url: parts.origin).send(
                request.address.method == .get ? "GET" : "POST", request.target, body: request.body, authorization: authorization,
                milliseconds: Int32(clamping: request.connectLimit + request.answerLimit), maximumAnswer: Self.largestAnswer)
            then(
                .reply(
                    PlayedReply(
                        status: answer.status, contentType: answer.field("content-type"), body: answer.body,
                        rule: answer.field("x-switchboard-flow"), warning: answer.field("x-switchboard-warning"),
                        micros: Clock.system.monotonic() - began)))
        } catch {
            switch error.fault {
            case .usage: failed(.invalidURL)
            case .unreachable: failed(.refused)
            case .noAnswer: failed(.closed)
            }
        }
    }

    /// All is told at once.
    package func turn(milliseconds: Int32) {}
}
