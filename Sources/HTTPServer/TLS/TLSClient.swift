// SPDX-License-Identifier: MIT
//
// How commands speak TLS with a server on this machine: `health` in a container, `doctor`, played calls. Nobody's certificate names `localhost`,
// and who could put himself between two ends of a loopback address can read the memory of both: so the certificate is not checked, and no other
// address is ever asked this way.

internal import COpenSSL

/// What sessions with servers on this machine share.
///
/// `@unchecked Sendable`: as `TLSContext`, it is never changed after `init`.
final class TLSClient: @unchecked Sendable {
    /// Nil where OpenSSL has no memory.
    static let loopback = TLSClient()

    let context: OpaquePointer

    private init?() {
        guard let context = SSL_CTX_new(TLS_client_method()) else { return nil }
        self.context = context
        SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
        SSL_CTX_ctrl(context, SSL_CTRL_MODE, switchboard_ssl_modes(), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_CLEAR_MODE, switchboard_ssl_unwanted_modes(), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        // RFC 7301 §3.1: each name behind its length.
        let offer = [8] + Array("http/1.1".utf8)
        SSL_CTX_set_alpn_protos(context, offer, UInt32(offer.count))
    }

    deinit { SSL_CTX_free(context) }
}

/// A client's side of one connection, with buffers of its own.
struct TLSEnd {
    private let session: TLSSession
    private let wire = TLSWire()

    /// - Parameter host: as in a URL.
    /// - Returns: nil where OpenSSL has no memory. What greets the server is to be sent first (`takeLeaving`).
    init?(to host: String) {
        guard let client = TLSClient.loopback, let session = TLSSession(client, to: host, on: wire) else { return nil }
        self.session = session
        guard case .wouldBlock = session.read() else { return nil }
    }

    /// Whether requests can be written.
    var hasShaken: Bool { session.hasShaken }

    /// Appends what the server said in `bytes` to `plain`.
    ///
    /// Returns `wouldBlock` where it may say more, `end` after its last word, `failed` where this is no TLS that we speak.
    func open(_ bytes: UnsafeRawBufferPointer, into plain: inout [UInt8]) -> Transfer {
        session.lend(bytes)
        defer { session.returnArrived() }
        while true {
            let transfer = session.read()
            guard case .bytes(let count) = transfer else { return transfer }
            plain.append(contentsOf: UnsafeRawBufferPointer(rebasing: wire.plain[..<count]))
        }
    }

    /// Encrypts; `takeLeaving` then has it. False where the session is broken.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool { session.write(bytes) }

    /// Leaves the client's last word for `takeLeaving`.
    func end() { session.end() }

    /// What is to be sent now.
    func takeLeaving() -> [UInt8] {
        defer { wire.leaving = [] }
        return wire.leaving
    }
}
