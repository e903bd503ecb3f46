// SPDX-License-Identifier: MIT

import COpenSSL
import TestSupport
import Testing

@testable import HTTPServer

struct TLSSessionTests {
    private static let versions = [TLS1_2_VERSION, TLS1_3_VERSION]

    private func peer(_ version: Int32 = TLS1_3_VERSION, _ context: TLSContext? = nil, _ adjust: (inout TLSPeer.Wish) -> Void = { _ in })
        throws
        -> TLSPeer
    {
        var wish = TLSPeer.Wish(versions: (version, version))
        adjust(&wish)
        return try TLSPeer(context ?? TestCertificate.shared.context(), wish)
    }

    @Test(arguments: versions, [Int.max, 1, 7])
    func `both ends agree, in whatever pieces it comes`(_ version: Int32, _ piece: Int) throws {
        let peer = try peer(version)
        #expect(!peer.server.hasShaken)
        #expect(peer.shake(piece: piece))
        #expect(peer.version == version && !peer.isResumed && !peer.server.isResumed)
    }

    @Test(arguments: [TestCertificate.KeyKind.rsa2048, .ed25519])
    func `other keys than P-256 serve, too`(_ kind: TestCertificate.KeyKind) throws {
        let peer = try TLSPeer(TestCertificate(kind).context())
        #expect(peer.shake() && peer.version == TLS1_3_VERSION)
    }

    @Test func `the chain is sent, and leads to the root`() throws {
        let root = TestCertificate(isAuthority: true)
        let leaf = TestCertificate(issuer: TestCertificate(issuer: root, isAuthority: true))
        let peer = try TLSPeer(leaf.context())
        #expect(peer.shake())
        #expect(OPENSSL_sk_num(SSL_get_peer_cert_chain(peer.client)) == 2)
    }

    @Test(arguments: versions, [0, 1, 5, 16 * 1024, 16 * 1024 + 1, 100 * 1024])
    func `what one says the other hears`(_ version: Int32, _ count: Int) throws {
        let peer = try peer(version)
        try #require(peer.shake())
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        if count > 0 { peer.say(bytes) }
        let sealed = peer.fromClient()
        // One byte too early is nothing, and half a record is nothing yet.
        peer.give(sealed.prefix(3))
        #expect(peer.heard.isEmpty)
        peer.give(sealed.dropFirst(3))
        #expect(peer.heard == bytes)
        if count > 0 { #expect(bytes.withUnsafeBytes(peer.server.write)) }
        let back = peer.takeLeaving()
        #expect(peer.listen() == bytes && (count == 0 || back.count > count))
    }

    @Test(arguments: versions)
    func `an error that somebody else left on the thread is not the session's`(_ version: Int32) throws {
        let peer = try peer(version)
        try #require(peer.shake())
        peer.say(Array("GET".utf8))
        let sealed = peer.fromClient()
        EVP_CIPHER_free(EVP_CIPHER_fetch(nil, "no such cipher", nil))
        try #require(ERR_peek_error() != 0)
        peer.give(sealed)
        #expect(peer.heard.elementsEqual("GET".utf8) && !peer.hasServerFailed)
    }

    @Test(arguments: versions)
    func `each end tells the other that it has ended`(_ version: Int32) throws {
        let peer = try peer(version)
        try #require(peer.shake())
        peer.server.end()
        peer.server.end()
        #expect(!peer.takeLeaving().isEmpty && peer.listen() == [])
        #expect(SSL_get_shutdown(peer.client) & SSL_RECEIVED_SHUTDOWN != 0)
        #expect(peer.wire.leaving.isEmpty, "it is told once")
        #expect(![UInt8(1)].withUnsafeBytes(peer.server.write), "and nothing is said after it")
        SSL_shutdown(peer.client)
        peer.give(peer.fromClient())
        #expect(peer.hasServerEnded && !peer.hasServerFailed)
    }

    @Test(arguments: [
        ("\u{8}http/1.1", "http/1.1"), ("\u{2}h2\u{8}http/1.1", "http/1.1"), ("\u{8}http/1.1\u{2}h2", "http/1.1"), ("", ""),
    ])
    func `HTTP 1.1 is chosen, where a protocol is asked for`(_ offer: String, _ chosen: String) throws {
        let peer = try peer { $0.protocols = Array(offer.utf8) }
        #expect(peer.shake() && peer.chosenProtocol == chosen)
    }

    @Test(arguments: ["\u{2}h2", "\u{8}http/1.0", "\u{8}HTTP/1.1", "\u{9}http/1.1x"])
    func `a client that speaks something else alone is told so`(_ offer: String) throws {
        let peer = try peer { $0.protocols = Array(offer.utf8) }
        #expect(!peer.shake() && peer.hasServerFailed)
        let code = ERR_peek_last_error()
        #expect(peer.listen() == nil && ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL, "\(code)")
    }

    @Test(arguments: [TLS1_VERSION, TLS1_1_VERSION])
    func `an old version is refused with an alert`(_ version: Int32) throws {
        let peer = try peer(version)
        SSL_do_handshake(peer.client)
        peer.give(peer.fromClient())
        #expect(peer.hasServerFailed && !peer.server.hasShaken)
        // Alert, its version, two bytes: fatal, protocol_version (RFC 8446 §6).
        #expect(peer.takeLeaving().suffix(2) == [2, 70])
    }

    @Test(arguments: [
        "AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", "DHE-RSA-AES128-GCM-SHA256", "AECDH-AES128-SHA",
        "ECDHE-ECDSA-NULL-SHA", "ECDHE-ECDSA-AES128-CCM8",
    ])
    func `a cipher outside of the profile is refused`(_ cipher: String) throws {
        let peer = try peer(TLS1_2_VERSION) { $0.ciphers = cipher }
        #expect(!peer.shake() && peer.hasServerFailed)
        #expect(peer.takeLeaving().isEmpty && peer.listen() == nil)
    }

    @Test(arguments: [("X25519", true), ("P-256", true), ("P-384", true), ("P-521", false), ("X448", false), ("ffdhe2048", false)])
    func `only the profile's groups are shared`(_ group: String, _ isShared: Bool) throws {
        let peer = try peer { $0.groups = group }
        #expect(peer.shake() == isShared)
    }

    @Test func `a client that wants to agree anew is refused, and goes on`() throws {
        let peer = try peer(TLS1_2_VERSION)
        try #require(peer.shake())
        #expect(SSL_renegotiate(peer.client) == 1)
        SSL_do_handshake(peer.client)
        peer.give(peer.fromClient())
        // Encrypted: a warning, after which OpenSSL's own client gives up.
        #expect(!peer.hasServerFailed && !peer.takeLeaving().isEmpty && peer.server.hasShaken)
        #expect(peer.listen() == nil)
    }

    @Test(
        arguments: [
            [0x16, 0x03, 0x01, 0xFF, 0xFF, 0x01], [0x16, 0x03, 0x01, 0x00, 0x04, 0x02, 0x00, 0x00, 0x00],
            [0x17, 0x03, 0x03, 0x00, 0x01, 0x00],
            [0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x28], Array(repeating: 0, count: 40), Array(repeating: 0xFF, count: 40),
            [0x80, 0x2E, 0x01, 0x00, 0x02] + Array(repeating: 0x11, count: 50),
        ] as [[UInt8]])
    func `garbage ends the handshake`(_ bytes: [UInt8]) throws {
        let peer = try peer()
        peer.give(bytes)
        #expect(peer.hasServerFailed && !peer.server.hasShaken)
        peer.server.end()
        #expect(peer.wire.leaving.first != 0x16 && ![UInt8(1)].withUnsafeBytes(peer.server.write))
    }

    @Test(arguments: versions, [0, 4, 5, 20, -1])
    func `a changed byte in a record breaks the session and gives out nothing`(_ version: Int32, _ place: Int) throws {
        let peer = try peer(version)
        try #require(peer.shake())
        peer.say(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        var sealed = peer.fromClient()
        sealed[place < 0 ? sealed.count + place : place] ^= 0x41
        peer.give(sealed + Array(repeating: 0, count: 20_000))
        #expect(peer.hasServerFailed && peer.heard.isEmpty)
        #expect(![UInt8(1)].withUnsafeBytes(peer.server.write))
    }

    @Test func `a few records without data are let pass, and a flood of them ends the session`() throws {
        let peer = try peer()
        try #require(peer.shake())
        func update() {
            SSL_key_update(peer.client, SSL_KEY_UPDATE_NOT_REQUESTED)
            SSL_do_handshake(peer.client)
        }
        for _ in 0..<10 {
            for _ in 0..<20 { update() }
            peer.say(Array(repeating: 1, count: 16 * 1024))
            peer.give(peer.fromClient())
        }
        #expect(peer.heard.count == 10 * 16 * 1024 && !peer.hasServerFailed, "data in between makes up for them")
        for _ in 0..<40 {
            update()
            peer.say([2])
        }
        peer.give(peer.fromClient())
        #expect(peer.heard.count < 10 * 16 * 1024 + 40 && peer.hasServerFailed, "a byte of it does not")
    }

    // MARK: Taking up a session

    /// A client that comes again, to a server with these keys.
    private func again(_ peer: TLSPeer, _ tickets: TicketKeys, _ version: Int32) throws -> TLSPeer {
        let session = try peer.session()
        let next = try self.peer(version, TestCertificate.shared.context(tickets)) { $0.session = session }
        try #require(next.shake())
        return next
    }

    @Test(arguments: versions)
    func `a session is taken up by any context with the same keys, again and again`(_ version: Int32) throws {
        let tickets = TicketKeys()
        var peer = try peer(version, TestCertificate.shared.context(tickets))
        try #require(peer.shake() && !peer.isResumed)
        for _ in 0..<3 {
            peer = try again(peer, tickets, version)
            #expect(peer.isResumed && peer.server.isResumed)
        }
        #expect(try !again(peer, TicketKeys(), version).isResumed, "other keys are another server's")
    }

    @Test(arguments: versions)
    func `a ticket lives through one change of keys, and is renewed`(_ version: Int32) throws {
        let time = TestTime()
        let tickets = TicketKeys(clock: time.clock)
        let first = try peer(version, TestCertificate.shared.context(tickets))
        try #require(first.shake())
        time.pass(seconds: TicketKeys.period + 1)
        let second = try again(first, tickets, version)
        #expect(second.isResumed)
        time.pass(seconds: TicketKeys.period)
        #expect(try again(second, tickets, version).isResumed, "the renewed one is good")
        #expect(try !again(first, tickets, version).isResumed, "the first one is not any more")
    }

    @Test func `of TLS 1-3 each session that is taken up brings a new ticket`() throws {
        let tickets = TicketKeys()
        let first = try peer(TLS1_3_VERSION, TestCertificate.shared.context(tickets))
        try #require(first.shake())
        let before = try first.session()
        let second = try again(first, tickets, TLS1_3_VERSION)
        try #require(second.isResumed)
        var (old, new): (UnsafePointer<UInt8>?, UnsafePointer<UInt8>?) = (nil, nil)
        var (oldCount, newCount) = (0, 0)
        SSL_SESSION_get0_ticket(before.pointer, &old, &oldCount)
        let after = try second.session()
        SSL_SESSION_get0_ticket(after.pointer, &new, &newCount)
        #expect(oldCount > 0 && newCount > 0)
        #expect(!UnsafeBufferPointer(start: old, count: oldCount).elementsEqual(UnsafeBufferPointer(start: new, count: newCount)))
        #expect(SSL_SESSION_get_ticket_lifetime_hint(after.pointer) == UInt(TicketKeys.period))
        #expect(SSL_SESSION_get_max_early_data(after.pointer) == 0)
    }
}
