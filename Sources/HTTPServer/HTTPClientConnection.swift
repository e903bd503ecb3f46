// SPDX-License-Identifier: MIT
//
// What a client loop keeps: of each server, of each connection, and of each request that has no connection yet. Classes, because each of them
// stands in several places at once. None acts by itself; the loop does.

import HTTPWire

/// A server that requests went to, and its addresses.
final class HTTPClientServer {
    let address: HTTPAddress
    /// Behind the target: the version and the fields that all requests to this server have.
    let fields: [UInt8]
    /// None where the name is not known.
    var addresses: [SocketAddress] = []
    /// No address took the last connection.
    var hasRefused = false
    /// When a name that was not known may be asked for again, in microseconds.
    var resolvesAgain = Int64.min
    /// The one of `addresses` that took the last connection; the next one is offered to it first.
    var preferred = 0
    /// Connections that do nothing; the last one used goes first, so that those too many grow old.
    var idle: [HTTPClientConnection] = []
    /// Its connections end with what they do now.
    var isForgotten = false

    init(_ address: HTTPAddress) {
        self.address = address
        var block = FieldBlock()
        block.append("Host", address.hostField)
        block.append("User-Agent", "switchboard")
        fields = Array(" HTTP/1.1\r\n".utf8) + block.bytes
    }
}

/// A request on its way to a result.
struct HTTPClientExchange {
    let request: HTTPClientLoop.Request
    let then: (HTTPClientLoop.Result) -> Void
    /// Microseconds at which its time began: that of `send`, then that of the first byte sent.
    var began: Int64
}

/// A request that waits for a connection.
final class HTTPClientWaiting: Timed {
    let server: HTTPClientServer
    /// Nil once it has got one, or has waited for too long.
    var exchange: HTTPClientExchange?

    init(_ exchange: HTTPClientExchange, to server: HTTPClientServer) {
        self.exchange = exchange
        self.server = server
    }
}

final class HTTPClientConnection: Timed {
    let server: HTTPClientServer
    /// Tells its readiness from that of an earlier one in the same slot.
    let token: UInt64
    /// -1 where there is none.
    var descriptor: Int32 = -1
    var isConnecting = true
    /// Nil on a plain connection, and while it is not connected.
    var tls: TLSEnd?
    /// There is a connection, and TLS is not agreed on yet.
    var isShaking = false
    /// Addresses of the server that have not been tried yet: all in turn, from `firstTried` on.
    var untried: [SocketAddress]
    let firstTried: Int
    /// What it is used for now.
    var exchange: HTTPClientExchange?
    /// Bytes of the request that the socket had no room for, from `sent` on.
    var output: [UInt8] = []
    var sent = 0
    var reader: AnswerReader
    /// Whether an answer has come over it before.
    var wasUsed = false
    var isClosed: Bool { descriptor < 0 }

    init(to server: HTTPClientServer, token: UInt64, maximumAnswer: Int) {
        self.server = server
        self.token = token
        firstTried = server.preferred
        untried = Array(server.addresses[server.preferred...] + server.addresses[..<server.preferred])
        reader = AnswerReader(maximum: maximumAnswer)
    }
}
