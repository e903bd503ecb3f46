// SPDX-License-Identifier: MIT
//
// TLS as a filter between a connection's socket and its bytes: what came from the network goes in, what the peer said comes out, and the other
// way round. OpenSSL never sees a descriptor. It reads from the buffer that the worker has received into, and writes to one that the worker
// sends, so a request costs the same system calls as without TLS, nothing can block, and what was not sent yet waits where it waits anyhow.

internal import COpenSSL

/// Where the sessions of one worker read from and write to, one at a time.
///
/// A class, since OpenSSL keeps a pointer to it between calls; used on the worker's thread alone.
final class TLSWire {
    /// What has arrived for the session that is at work, and was not read by it yet; lent for the time of a call.
    fileprivate(set) var arriving = UnsafeRawBufferPointer(start: nil, count: 0)
    /// What it has to send.
    var leaving: [UInt8] = []
    /// What the peer said, one record at a time (RFC 8446 §5.1: at most 16 KiB).
    let plain = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * 1024, alignment: 64)

    deinit { plain.deallocate() }

    /// Both keep their room, so that no answer has to make it anew.
    func exchangeLeaving(_ bytes: inout [UInt8]) { swap(&leaving, &bytes) }

    /// Sends what there is as far as there is room, and forgets it.
    func sendLeaving(to descriptor: Int32) {
        guard !leaving.isEmpty else { return }
        // Unsafe: lends the bytes to send(2).
        _ = leaving.withUnsafeBytes { Socket.send(descriptor, $0) }
        leaving.removeAll(keepingCapacity: true)
    }

    /// The kind of BIO that reads and writes here; made once, for OpenSSL keeps no count of who uses it.
    ///
    /// `nonisolated(unsafe)`: a pointer to what is never changed after this.
    fileprivate nonisolated(unsafe) static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "switchboard") else { return nil }
        BIO_meth_set_read(method) { bio, buffer, count in
            guard let bio, let wire = TLSWire.of(bio), let buffer, count > 0 else { return -1 }
            let size = min(Int(count), wire.arriving.count)
            guard size > 0 else {
                BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
                return -1
            }
            BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            let taken = UnsafeRawBufferPointer(rebasing: wire.arriving[..<size])
            UnsafeMutableRawBufferPointer(start: buffer, count: size).copyMemory(from: taken)
            wire.arriving = UnsafeRawBufferPointer(rebasing: wire.arriving[size...])
            return Int32(size)
        }
        BIO_meth_set_write(method) { bio, buffer, count in
            guard let bio, let wire = TLSWire.of(bio), count >= 0 else { return -1 }
            wire.leaving.append(contentsOf: UnsafeRawBufferPointer(start: buffer, count: Int(count)))
            return count
        }
        // Nothing is held back that would have to be flushed.
        BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        return method
    }()

    private static func of(_ bio: OpaquePointer) -> TLSWire? {
        BIO_get_data(bio).map { Unmanaged<TLSWire>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// One connection's TLS.
final class TLSSession {
    private let session: OpaquePointer
    private let wire: TLSWire
    /// Keeps the keys of tickets, to which OpenSSL has only a pointer, for as long as this session may ask for one.
    private let owner: AnyObject
    /// After an error of the protocol nothing more can be sent, not even the end (RFC 8446 §6.2).
    private var isBroken = false
    private var hasSentEnd = false
    /// Records without data, less what data makes up for. Each costs the worker some work and its sender next to nothing: nobody needs many of
    /// them, and a byte between any two makes them no cheaper.
    private var idleRecords = 0
    private static let mostIdleRecords = 32
    /// Bytes of data that make up for one record without any.
    private static let dataForIdleRecord = 512
    private(set) var hasShaken = false

    /// The server's side; nil where there is no memory.
    convenience init?(_ context: TLSContext, on wire: TLSWire) {
        self.init(context.context, of: context, wire)
        SSL_set_accept_state(session)
    }

    /// The client's side, which speaks first: the first `read` leaves its greeting in `wire.leaving`.
    ///
    /// - Parameter name: what the server is asked for by (RFC 6066 §3); an address is left out.
    convenience init?(_ client: TLSClient, to name: String, on wire: TLSWire) {
        self.init(client.context, of: client, wire)
        SSL_set_connect_state(session)
        guard name.utf8.contains(where: { $0 >= UInt8(ascii: "g") }) else { return }
        // This is SSL_set_tlsext_host_name.
        _ = name.withCString {
            SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), UnsafeMutableRawPointer(mutating: $0))
        }
    }

    private init?(_ context: OpaquePointer, of owner: AnyObject, _ wire: TLSWire) {
        guard let method = TLSWire.method, let bio = BIO_new(method) else { return nil }
        guard let session = SSL_new(context) else {
            BIO_free(bio)
            return nil
        }
        self.session = session
        self.wire = wire
        self.owner = owner
        BIO_set_data(bio, Unmanaged.passUnretained(wire).toOpaque())
        BIO_set_init(bio, 1)
        // The one count of the BIO is the session's from here on.
        SSL_set_bio(session, bio, bio)
    }

    deinit { SSL_free(session) }

    /// Whether the peer has taken up an earlier session.
    var isResumed: Bool { SSL_session_reused(session) == 1 }

    /// Lends what has arrived until `returnArrived`; meanwhile `read` is called until nothing of it is left.
    func lend(_ arrived: UnsafeRawBufferPointer) { wire.arriving = arrived }

    func returnArrived() { wire.arriving = UnsafeRawBufferPointer(start: nil, count: 0) }

    /// What the peer said next, in `wire.plain`; on the way there the handshake goes on, and what that sends is in `wire.leaving`.
    ///
    /// Returns `wouldBlock` once all that has arrived is used, `end` after the peer's `close_notify`.
    func read() -> Transfer {
        // What somebody else on this thread left would be taken for an error of this session (SSL_get_error(3)).
        if ERR_peek_error() != 0 { ERR_clear_error() }
        while !isBroken {
            var count = 0
            let result = SSL_read_ex(session, wire.plain.baseAddress, wire.plain.count, &count)
            if !hasShaken { hasShaken = SSL_is_init_finished(session) == 1 }
            if result == 1 {
                if idleRecords > 0 { idleRecords = max(idleRecords - count / Self.dataForIdleRecord, 0) }
                return .bytes(count)
            }
            switch SSL_get_error(session, result) {
            case SSL_ERROR_WANT_READ:
                // There is more: it was a record of the protocol's own, such as a KeyUpdate.
                guard !wire.arriving.isEmpty else { return .wouldBlock }
                idleRecords += 1
                isBroken = idleRecords > Self.mostIdleRecords
            case SSL_ERROR_ZERO_RETURN: return .end
            default: isBroken = true
            }
        }
        ERR_clear_error()
        return .failed
    }

    /// Encrypts to `wire.leaving`. False where the session is broken.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !isBroken, !hasSentEnd else { return false }
        var count = 0
        if SSL_write_ex(session, bytes.baseAddress, bytes.count, &count) == 1, count == bytes.count { return true }
        isBroken = true
        ERR_clear_error()
        return false
    }

    /// Leaves `close_notify` in `wire.leaving`, once: nothing is written after it (RFC 8446 §6.1).
    func end() {
        guard hasShaken, !isBroken, !hasSentEnd else { return }
        hasSentEnd = true
        // 0: the peer's own has not come yet, which is the usual case.
        if SSL_shutdown(session) < 0 { ERR_clear_error() }
    }
}
