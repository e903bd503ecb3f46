// SPDX-License-Identifier: MIT
//
// Every bound that a connection keeps, in one place and each with its reason. The server may set others; nothing else in the protocol core
// holds a number of its own. Left out is a bound on requests for each connection: a long-lived one costs no more than many short ones, and
// closing it now and then would lose a request that is on its way.

/// How much a peer may send and how long it may take; sizes in bytes, times in milliseconds.
package struct Limits: Sendable, Hashable {
    /// Whole request head. Node and Go stop at 16 KiB and 1 MiB; a target of 16 KiB must fit beside a signed bearer and a proxy's fields.
    package var head = 32 * 1024
    /// Field lines in a head, and again in a trailer. Apache's default; Vonage sends about ten, a chain of proxies adds as many.
    package var fields = 100
    /// Request target. RFC 9112 §3 asks for request lines of 8,000; `custom_data` travels in the query, and a refusal would lose the call.
    package var target = 16 * 1024
    /// Empty lines before a request line (RFC 9112 §2.2 asks for one; old clients send one after a POST).
    package var emptyLines = 2
    /// Body after decoding. The largest event on record is a few KiB; a transcript with sentiment stays below 200 KiB.
    package var body = 256 * 1024
    /// One chunk's size line with its extensions (RFC 9112 §7.1.1 asks for a limit).
    package var chunkLine = 1024
    /// All that is not data in a chunked body: a stream that is nearly all overhead is an attack (CVE-2023-39326).
    package var chunkOverhead = 64 * 1024
    /// Unfinished requests of all connections of one event loop together: 250 bodies of the largest size.
    package var keptBytes = 64 * 1024 * 1024
    /// A TLS handshake, in total. Half a dozen round trips of the slowest network fit; who takes longer holds a place in vain.
    package var handshakeTime: Int64 = 10_000
    /// First byte to the end of a head, in total: a byte now and then does not extend it.
    package var headTime: Int64 = 10_000
    /// End of the head to the end of the body, in total.
    package var bodyTime: Int64 = 30_000
    /// Nothing received after an answer. Longer than the 60 s that balancers keep a connection, so that they close first and lose no request.
    package var idleTime: Int64 = 75_000
    /// A write without progress.
    package var writeTime: Int64 = 30_000
    /// An answer that the application owes; then 503. Below the 10 s after which Vonage stops waiting for an event's answer.
    package var replyTime: Int64 = 9_000
    /// Reading on after a refusal, so that its answer is not lost to a reset (RFC 9112 §9.6).
    package var drainTime: Int64 = 2_000
    /// Bytes read and thrown away meanwhile: who writes a whole upload before reading anything must get as far as to read why it was refused.
    package var drainBytes = 16 * 1024 * 1024

    package init() {}
}
