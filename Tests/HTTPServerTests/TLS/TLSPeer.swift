// SPDX-License-Identifier: MIT
//
// A client of OpenSSL's over memory, and a server's session beside it: what one leaves is carried to the other by hand, so that a test decides
// in which pieces, and no socket is needed.

import COpenSSL
import TestSupport
import Testing
import VonageAuth

@testable import HTTPServer

extension TestCertificate {
    /// - Parameter now: seconds since 1970.
    func context(_ tickets: TicketKeys = TicketKeys(), now: Int64 = Clock.system.wall() / 1000) throws -> TLSContext {
        try TLSContext(certificate: Array(certificate.utf8), key: serverKey(in: Array(key.utf8)), tickets: tickets, now: now)
    }
}

/// Both ends of a connection.
final class TLSPeer {
    struct Wish {
        var versions = (TLS1_2_VERSION, TLS1_3_VERSION)
        /// Each name behind its length.
        var protocols: [UInt8] = []
        var ciphers: String?
        var groups: String?
        /// Of an earlier peer.
        var session: Session?
    }

    /// What a client may take up again.
    final class Session {
        let pointer: OpaquePointer
        init(_ pointer: OpaquePointer) { self.pointer = pointer }
        deinit { SSL_SESSION_free(pointer) }
    }

    let wire = TLSWire()
    let server: TLSSession
    let client: OpaquePointer
    private let clientContext: OpaquePointer
    /// What the server has decrypted.
    private(set) var heard: [UInt8] = []
    private(set) var hasServerEnded = false
    private(set) var hasServerFailed = false

    /// - Parameter context: which nobody but the server's session needs to keep.
    init(_ context: TLSContext, _ wish: Wish = Wish()) throws {
        server = try #require(TLSSession(context, on: wire))
        clientContext = try #require(SSL_CTX_new(TLS_client_method()))
        client = try #require(SSL_new(clientContext))
        SSL_set_bio(client, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
        SSL_ctrl(client, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(wish.versions.0), nil)
        SSL_ctrl(client, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(wish.versions.1), nil)
        // Old versions and weak ciphers can be offered at all only below level 1.
        SSL_set_security_level(client, 0)
        if !wish.protocols.isEmpty { SSL_set_alpn_protos(client, wish.protocols, UInt32(wish.protocols.count)) }
        if let ciphers = wish.ciphers { try #require(SSL_set_cipher_list(client, ciphers) == 1) }
        if let groups = wish.groups {
            _ = groups.withCString { SSL_ctrl(client, SSL_CTRL_SET_GROUPS_LIST, 0, UnsafeMutableRawPointer(mutating: $0)) }
        }
        if let session = wish.session { SSL_set_session(client, session.pointer) }
        SSL_set_connect_state(client)
    }

    deinit {
        // Else OpenSSL spoils the session for whoever takes it up: it takes the end for a broken one.
        SSL_set_shutdown(client, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        SSL_free(client)
        SSL_CTX_free(clientContext)
        ERR_clear_error()
    }

    /// Bytes that the client has to send now.
    func fromClient() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 256 * 1024)
        let count = BIO_read(SSL_get_wbio(client), &bytes, Int32(bytes.count))
        return Array(bytes.prefix(max(Int(count), 0)))
    }

    /// Gives the server what has arrived.
    func give(_ bytes: some Sequence<UInt8>) {
        Array(bytes).withUnsafeBytes { arrived in
            server.lend(arrived)
            defer { server.returnArrived() }
            while true {
                switch server.read() {
                case .bytes(let count): heard += UnsafeRawBufferPointer(rebasing: wire.plain[..<count])
                case .wouldBlock: return
                case .end:
                    hasServerEnded = true
                    return
                case .failed:
                    hasServerFailed = true
                    return
                }
            }
        }
    }

    /// Gives the client what the server has left.
    func takeLeaving() -> [UInt8] {
        let bytes = wire.leaving
        wire.leaving = []
        if !bytes.isEmpty { BIO_write(SSL_get_rbio(client), bytes, Int32(bytes.count)) }
        return bytes
    }

    /// - Parameter piece: bytes that arrive at the server at one time.
    /// - Returns: whether both ends agree.
    @discardableResult
    func shake(piece: Int = .max) -> Bool {
        for _ in 0..<10 {
            SSL_do_handshake(client)
            let flight = fromClient()
            var at = 0
            while at < flight.count {
                let end = piece < flight.count - at ? at + piece : flight.count
                give(flight[at..<end])
                at = end
            }
            let answer = takeLeaving()
            if server.hasShaken, SSL_is_init_finished(client) == 1 {
                // Tickets of TLS 1.3.
                _ = listen()
                return true
            }
            guard !hasServerFailed, !answer.isEmpty || !flight.isEmpty else { break }
        }
        return false
    }

    /// What the client has been told and not read yet; nil where it has failed.
    func listen() -> [UInt8]? {
        var said: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        var count = 0
        while SSL_read_ex(client, &chunk, chunk.count, &count) == 1 { said += chunk[..<count] }
        return SSL_get_error(client, 0) == SSL_ERROR_SSL ? nil : said
    }

    func say(_ bytes: [UInt8]) {
        var count = 0
        SSL_write_ex(client, bytes, bytes.count, &count)
    }

    /// Lets the client take up this session later.
    func session() throws -> Session { Session(try #require(SSL_get1_session(client))) }

    var version: Int32 { SSL_version(client) }
    var isResumed: Bool { SSL_session_reused(client) == 1 }

    var chosenProtocol: String {
        var (name, count): (UnsafePointer<UInt8>?, UInt32) = (nil, 0)
        SSL_get0_alpn_selected(client, &name, &count)
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }
}
