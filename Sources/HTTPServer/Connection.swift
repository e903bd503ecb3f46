// SPDX-License-Identifier: MIT
//
// A class, because a worker keeps it in a slot, in the list of unfinished ones and on the way of a call at the same time.

import HTTPWire

/// What a worker keeps of one connection: the protocol's machine, and the bytes that could not be used or sent yet. An idle one owns no buffer.
final class Connection {
    let descriptor: Int32
    let peer: Peer
    /// Tells this connection's readiness from that of an earlier one in the same slot.
    let token: UInt64
    var machine: ConnectionMachine
    /// Nil on a plain connection, and until the first bytes of one with TLS: who only connects costs no more than without.
    var session: TLSSession?
    /// Received bytes from the start of the current request, decrypted.
    var input: [UInt8] = []
    /// Encoded and encrypted answers that the socket had no room for, from `sent` on.
    var output: [UInt8] = []
    var sent = 0
    /// What the request whose answer is owed said about it.
    var context = ResponseContext(keepAlive: true)
    /// The last answer owed, so that a late one is not taken for another's.
    var ticket: Ticket?
    /// What happens once all output is written.
    var afterOutput = ConnectionMachine.Persistence.keep
    var isRegistered = false
    /// The socket may hold more than was read.
    var mayRead = true
    var mayHaveEnded = false
    /// It stands in the worker's list of those that stopped reading to let others speak.
    var isUnfinished = false
    /// What this connection counts in the worker's sum of kept bytes.
    var counted = 0
    var isClosed = false
    /// Its answer has no end yet.
    var isStreaming = false

    init(descriptor: Int32, peer: Peer, token: UInt64, machine: ConnectionMachine) {
        self.descriptor = descriptor
        self.peer = peer
        self.token = token
        self.machine = machine
    }
}
