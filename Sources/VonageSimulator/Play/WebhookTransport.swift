// SPDX-License-Identifier: MIT
//
// Who carries a call's requests out: something with sockets, or in a test a closure.

import NCCO

/// Sends webhooks; for one thread.
package protocol WebhookTransport: AnyObject {
    /// Sends one and tells what became of it, on the same thread, in a later `turn` or at once.
    ///
    /// - Parameters:
    ///   - authorization: the value of that field.
    ///   - isCut: half of the request is sent, and then the connection breaks.
    func send(_ request: PlayedRequest, authorization: String?, isCut: Bool, then: @escaping (PlayedOutcome) -> Void)

    /// Waits at most so many milliseconds for something to happen, and tells it.
    func turn(milliseconds: Int32)
}
