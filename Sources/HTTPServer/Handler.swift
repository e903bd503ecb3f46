// SPDX-License-Identifier: MIT
//
// Between the server and the application. Each worker has a handler of its own, made on the worker's thread and used on no other, so a handler
// may keep buffers without a lock. Bytes of a request are lent for the time of a call.

package import HTTPWire

/// What a handler gives back.
package enum Reply {
    case now(Response)
    /// The answer comes later through `Mailbox.complete`, within `Limits.replyTime`; else 503 is sent.
    case later
    /// The head goes out now, and the body as it comes through `Mailbox.stream` until `Mailbox.endStream`; `Handler.streamEnded` tells when the
    /// peer is gone or does not read. The status is 200, and the connection ends with it.
    case stream(Response)
}

/// One whole request, lent to a handler.
package struct Exchange {
    /// Names the request for `Reply.later`.
    package let ticket: Ticket
    /// Monotonic microseconds at which the request was whole.
    package let began: Int64
    /// Milliseconds since 1970 in UTC.
    package let wall: Int64
    /// Who sent it, as the kernel says; what a proxy says of others is the application's to believe or not.
    package let peer: Peer

    package init(ticket: Ticket, began: Int64, wall: Int64, peer: Peer = .address(.unspecified)) {
        self.ticket = ticket
        self.began = began
        self.wall = wall
        self.peer = peer
    }
}

package protocol Handler: AnyObject {
    /// Answers a request. What it throws goes to `failed`.
    func respond(to head: borrowing RequestHead, bytes: Span<UInt8>, body: Span<UInt8>, exchange: Exchange) throws -> Reply
    /// A final answer that can be given before the body is sent, where the peer asked with `Expect: 100-continue`; nil lets it go on.
    /// The ticket is that of no answer.
    func refusal(of head: borrowing RequestHead, bytes: Span<UInt8>, exchange: Exchange) -> Response?
    /// Bytes that were no request, or a limit that was passed; the server has answered already.
    func refused(_ error: WireError)
    /// `respond` threw this: what the request is answered with.
    func failed(_ error: any Error, _ head: borrowing RequestHead, bytes: Span<UInt8>) -> Response
    /// A response that was begun by `Reply.stream` has ended, whoever ended it.
    func streamEnded(_ ticket: Ticket)
    /// Called after each round of requests: the time to hand over what they left. Returns when it must be called again at the latest
    /// (monotonic milliseconds), or nil.
    func flush(now: Int64) -> Int64?
}

extension Handler {
    /// For handlers that stream nothing.
    package func streamEnded(_ ticket: Ticket) {}
}

/// Makes the handlers. Called once on each worker's thread.
package protocol Service: Sendable {
    func makeHandler(mailbox: Mailbox) -> any Handler
}
