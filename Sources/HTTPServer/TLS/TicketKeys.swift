// SPDX-License-Identifier: MIT
//
// The keys of session tickets (RFC 5077, RFC 8446 §4.6.1). A client that comes again with a ticket saves both sides the certificate's
// signature; what the ticket holds is encrypted by a key of the server alone. Whoever had that key could read the sessions of TLS 1.2 whose
// tickets it made, so it makes them for an hour only, reads them until the next key has had its hour, and is then overwritten. It is a handshake
// that changes keys: where none comes they stay. Keys are made here at random, are never written down, and end with the process.
//
// All workers share one set, since a client that comes again is anybody's to accept: a lock is held while a pointer is copied, once for each
// handshake, and never on the way of an answer.

internal import COpenSSL
import Locking

/// One key for tickets: the name by which they tell it, the key of AES-256-CBC, and the key of HMAC-SHA-256 (RFC 5077 §4).
///
/// `@unchecked Sendable`: the bytes are written in `init` alone and overwritten when nobody has the key any more.
final class TicketKey: @unchecked Sendable {
    static let (nameSize, keySize) = (16, 32)

    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: nameSize + 2 * keySize, alignment: 16)

    /// Nil where OpenSSL has no random bytes.
    init?() {
        guard RAND_bytes(bytes.baseAddress, Int32(bytes.count)) == 1 else { return nil }
    }

    deinit {
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }

    var name: UnsafeRawBufferPointer { part(0, Self.nameSize) }
    var cipher: UnsafeRawBufferPointer { part(Self.nameSize, Self.keySize) }
    var mac: UnsafeRawBufferPointer { part(Self.nameSize + Self.keySize, Self.keySize) }

    private func part(_ start: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
    }
}

/// The keys that are good now, for all contexts and workers of a server.
package final class TicketKeys: Sendable {
    /// How long a key makes tickets, and then reads them; also how long a session can be taken up again. Seconds.
    static let period: Int64 = 3600

    private struct State {
        var current: TicketKey?
        var previous: TicketKey?
        /// Monotonic microseconds at which the current one was made.
        var began: Int64 = 0
    }

    private let state = Locked(State())
    private let clock: Clock

    package init(clock: Clock = .system) { self.clock = clock }

    /// The key that makes tickets; nil where OpenSSL has no random bytes, and then none is made.
    func current() -> TicketKey? { renewed { $0.current } }

    /// The key of this name, and whether it still makes tickets; nil for one that is not ours, or no more.
    func key(named name: UnsafeRawBufferPointer) -> (key: TicketKey, isCurrent: Bool)? {
        renewed { state in
            if let key = state.current, key.name.elementsEqual(name) { return (key, true) }
            if let key = state.previous, key.name.elementsEqual(name) { return (key, false) }
            return nil
        }
    }

    private func renewed<Result>(_ body: (State) -> Result) -> Result {
        let now = clock.monotonic()
        return state.withLock { state in
            let period = Self.period * 1_000_000
            let age = now - state.began
            if state.current == nil || age >= period {
                state.previous = age < 2 * period ? state.current : nil
                state.current = TicketKey()
                state.began = now
            }
            return body(state)
        }
    }
}
