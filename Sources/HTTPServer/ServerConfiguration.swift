// SPDX-License-Identifier: MIT
//
// What a server can be told, with its defaults in one place; how much a peer may send and how long it may take is in `Limits`.

package import HTTPWire

package struct ServerConfiguration: Sendable {
    /// A name, an address, `unix:PATH`, or `localhost` for both loopback addresses.
    package var host = "localhost"
    /// 0 lets the kernel choose.
    package var port: UInt16 = 3000
    /// Event loops; one for each core.
    package var workers = 1
    package var poller = PollerKind.preferred
    /// Open connections over all workers; nil takes what the descriptor limit allows.
    package var maxConnections: Int?
    package var limits = Limits()
    /// What the kernel keeps for us while all workers are busy; it cuts the number to its own limit.
    package var backlog: Int32 = 4096
    /// Idle connections live this long once the server stops, in milliseconds: a request may be on its way.
    package var stopIdleTime: Int64 = 250

    /// With what TLS is spoken; nil: plain HTTP.
    package var tls: TLSContext?
    /// Descriptors that are kept free for others of this process.
    package var reservedDescriptors = 0

    package init() {}
}
