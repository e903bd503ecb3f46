// SPDX-License-Identifier: MIT
//
// What all connections of a server with TLS share: a certificate with its chain, its key, and how TLS is spoken. That is Mozilla's intermediate
// profile (wiki.mozilla.org/Security/Server_Side_TLS): TLS 1.2 and 1.3, forward secrecy and authenticated encryption alone, the client's order
// of ciphers. Its finite-field suites (DHE) are left out: they are for clients of before 2013, and cost a server many times what they cost who
// asks for them (CVE-2002-20001).
//
// A context is never changed once it is made. A renewed certificate is another context, which new connections get; open ones keep theirs.

internal import COpenSSL
import HTTPWire

/// Why a certificate and a key cannot serve.
package struct TLSPairError: Error, Hashable, CustomStringConvertible, Sendable {
    package enum Part: Sendable { case certificate, key }

    /// Whose file it is about.
    package let part: Part
    /// What is wrong and what would be right, to be put behind the file's name and a colon.
    package let description: String

    init(_ part: Part, _ description: String) { (self.part, self.description) = (part, description) }
}

/// A certificate that serves with its key.
///
/// `@unchecked Sendable`: OpenSSL lets any number of threads make sessions of a context that is not changed any more, and this one is not after
/// `init`; the pointers are freed when nobody has them.
package final class TLSContext: @unchecked Sendable {
    let context: OpaquePointer
    /// OpenSSL has a pointer to it; sessions keep this object, and so do workers.
    private let tickets: TicketKeys
    /// For whom the certificate is, as OpenSSL writes it: `DNS:calls.example.com, IP Address:192.0.2.1`; may be empty.
    package let names: String
    /// Its last second, in seconds since 1970.
    package let expires: Int64
    /// The day of that, `2026-11-30`.
    package var lastDay: String { day(expires) }

    /// - Parameters:
    ///   - certificate: PEM, the server's own first and then those that lead to the root.
    ///   - key: DER of the private key, PKCS #8 or as PKCS #1 and RFC 5915 have it.
    ///   - now: in seconds since 1970.
    package init(certificate: [UInt8], key: [UInt8], tickets: TicketKeys, now: Int64) throws(TLSPairError) {
        defer { ERR_clear_error() }
        let chain = try CertificateChain(certificate)
        let key = try Self.privateKey(key)
        defer { EVP_PKEY_free(key) }
        let leaf = try chain.leaf(of: key)
        try Self.checkKind(of: key)
        expires = try Self.validity(of: leaf, now: now)
        names = Self.names(of: leaf)
        guard let context = SSL_CTX_new(TLS_server_method()) else {
            throw TLSPairError(.certificate, "OpenSSL gives no context for TLS: \(Self.reason())")
        }
        self.context = context
        self.tickets = tickets
        guard Self.setProfile(context) else { throw TLSPairError(.certificate, "OpenSSL is too old or restricted: \(Self.reason())") }
        guard SSL_CTX_use_certificate(context, leaf) == 1 else {
            throw TLSPairError(
                .certificate, "it is too weak to be served (\(Self.reason())); have one made, and a key, of RSA with 2048 bits or of P-256")
        }
        for other in chain.certificates.dropFirst() {
            // The counted reference is the context's own: this is SSL_CTX_add1_chain_cert.
            guard SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(other)) == 1 else {
                throw TLSPairError(.certificate, "OpenSSL does not take its chain: \(Self.reason())")
            }
        }
        guard SSL_CTX_use_PrivateKey(context, key) == 1 else { throw TLSPairError(.key, "OpenSSL does not serve it: \(Self.reason())") }
        setTickets()
        SSL_CTX_set_alpn_select_cb(context, selectProtocol, nil)
    }

    deinit { SSL_CTX_free(context) }

    // MARK: The pair

    private static func privateKey(_ der: [UInt8]) throws(TLSPairError) -> OpaquePointer {
        // Lends the bytes to OpenSSL for the time of the call.
        let key = der.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_AutoPrivateKey(nil, &start, buffer.count)
        }
        guard let key else {
            throw TLSPairError(.key, "its lines are whole, but what they hold is no key that OpenSSL can read; copy it again")
        }
        return key
    }

    /// Only what clients of the profile can agree on: OpenSSL takes others, and then every handshake fails.
    private static func checkKind(of key: OpaquePointer) throws(TLSPairError) {
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS, EVP_PKEY_ED25519, EVP_PKEY_ED448: return
        case EVP_PKEY_EC:
            var (name, count): ([CChar], Int) = (Array(repeating: 0, count: 64), 0)
            guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { break }
            let group = name.prefix(count).map { UInt8(bitPattern: $0) }
            if ["prime256v1", "secp384r1", "secp521r1"].contains(where: { group.elementsEqual($0.utf8) }) { return }
        default: break
        }
        throw TLSPairError(
            .key, "clients agree on no key of this kind; have one made, with its certificate, of RSA with 2048 bits, of P-256 or of Ed25519"
        )
    }

    private static func validity(of certificate: OpaquePointer, now: Int64) throws(TLSPairError) -> Int64 {
        guard let begins = seconds(X509_get0_notBefore(certificate)), let ends = seconds(X509_get0_notAfter(certificate)) else {
            throw TLSPairError(.certificate, "its dates cannot be read; have it made again")
        }
        guard now <= ends else { throw TLSPairError(.certificate, "it has expired on \(day(ends)); renew it") }
        // Clocks differ by some minutes, and a new certificate is put to use at once.
        guard now >= begins - 300 else {
            throw TLSPairError(.certificate, "it is valid from \(day(begins)) on only; set this machine's clock, or wait")
        }
        return ends
    }

    /// Seconds since 1970.
    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        guard let time, let epoch = ASN1_TIME_set(nil, 0) else { return nil }
        defer { ASN1_TIME_free(epoch) }
        var (days, rest): (Int32, Int32) = (0, 0)
        guard ASN1_TIME_diff(&days, &rest, epoch, time) == 1 else { return nil }
        return Int64(days) * 86_400 + Int64(rest)
    }

    private static func names(of certificate: OpaquePointer) -> String {
        let at = X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1)
        guard at >= 0, let found = X509_get_ext(certificate, at), let memory = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(memory) }
        guard X509V3_EXT_print(memory, found, 0, 0) == 1 else { return "" }
        var text = [UInt8](repeating: 0, count: 4096)
        let count = BIO_read(memory, &text, Int32(text.count))
        // A certificate is somebody's text: what could move a terminal's cursor is not shown.
        return String(decoding: text.prefix(max(Int(count), 0)).map { $0 >= 0x20 && $0 < 0x7F ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    /// The words of the last error of OpenSSL's.
    fileprivate static func reason() -> String {
        let code = ERR_peek_last_error()
        guard code != 0, let text = ERR_reason_error_string(code) else { return "it does not say why" }
        return String(cString: text)
    }

    // MARK: How TLS is spoken

    /// False where this OpenSSL knows one of these not.
    private static func setProfile(_ context: OpaquePointer) -> Bool {
        // Of TLS 1.3 OpenSSL's own list is the profile's.
        let ciphers =
            "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"
            + ":ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
        SSL_CTX_set_options(context, switchboard_ssl_options())
        // Distributions set other levels: 2 is 112 bits, which keeps SHA-1 and short keys out.
        SSL_CTX_set_security_level(context, 2)
        SSL_CTX_ctrl(context, SSL_CTRL_MODE, switchboard_ssl_modes(), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_CLEAR_MODE, switchboard_ssl_unwanted_modes(), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        let groups = "X25519:P-256:P-384".withCString {
            SSL_CTX_ctrl(context, SSL_CTRL_SET_GROUPS_LIST, 0, UnsafeMutableRawPointer(mutating: $0))
        }
        return SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil) == 1
            && SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_3_VERSION), nil) == 1
            && SSL_CTX_set_cipher_list(context, ciphers) == 1 && groups == 1
            && SSL_CTX_set_session_id_context(context, "switchboard", 11) == 1
    }

    private func setTickets() {
        SSL_CTX_set_timeout(context, Int(TicketKeys.period))
        SSL_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(tickets).toOpaque())
        SSL_CTX_set_tlsext_ticket_key_evp_cb(context, protectTicket)
    }
}

/// RFC 7301 §3.2: of what the client offers HTTP/1.1, or the alert that there is nothing in common. Who offers nothing speaks it anyhow.
private func selectProtocol(
    _ session: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ count: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ length: UInt32, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    var offers = UnsafeBufferPointer(start: offered, count: Int(length))[...]
    while let size = offers.popFirst() {
        let name = offers.prefix(Int(size))
        if name.elementsEqual("http/1.1".utf8) {
            // The place in what was offered outlives the call, as OpenSSL wants.
            chosen?.pointee = offered?.advanced(by: name.startIndex)
            count?.pointee = size
            return SSL_TLSEXT_ERR_OK
        }
        offers = offers.dropFirst(Int(size))
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}

/// Encrypts a new ticket, or reads one: RFC 5077 §4, by the keys of the server.
///
/// Returns 1 where it could, 2 where the client is to get another ticket, as for one by a key that makes no more; 0 where there is no key
/// for it, and then the handshake is a full one; -1 where OpenSSL fails.
private func protectTicket(
    _ session: OpaquePointer?, _ name: UnsafeMutablePointer<UInt8>?, _ vector: UnsafeMutablePointer<UInt8>?, _ cipher: OpaquePointer?,
    _ mac: OpaquePointer?, _ encrypts: Int32
) -> Int32 {
    guard let session, let name, let vector, let context = SSL_get_SSL_CTX(session), let object = SSL_CTX_get_ex_data(context, 0) else {
        return -1
    }
    let tickets = Unmanaged<TicketKeys>.fromOpaque(object).takeUnretainedValue()
    /// The last argument of OpenSSL's is as here: 1 encrypts, 0 decrypts.
    func begin(_ key: TicketKey) -> Bool {
        let (cipherKey, macKey) = (key.cipher.assumingMemoryBound(to: UInt8.self), key.mac.assumingMemoryBound(to: UInt8.self))
        return EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), nil, cipherKey.baseAddress, vector, encrypts) == 1
            && switchboard_set_hmac_key(mac, macKey.baseAddress, macKey.count) == 1
    }
    if encrypts == 1 {
        guard let key = tickets.current(), RAND_bytes(vector, EVP_MAX_IV_LENGTH) == 1 else { return 0 }
        UnsafeMutableRawBufferPointer(start: name, count: TicketKey.nameSize).copyMemory(from: key.name)
        return begin(key) ? 1 : -1
    }
    guard let (key, isCurrent) = tickets.key(named: UnsafeRawBufferPointer(start: name, count: TicketKey.nameSize)) else { return 0 }
    guard begin(key) else { return -1 }
    // OpenSSL makes a new ticket of TLS 1.3 only where it is told that the old one has to go, and a client should use each once (RFC 8446 §C.4).
    return isCurrent && SSL_version(session) != TLS1_3_VERSION ? 1 : 2
}

/// `2026-11-30`, for people.
private func day(_ seconds: Int64) -> String {
    let (year, month, day) = civilDate(daysSince1970: Int(max(seconds, 0) / 86_400))
    return "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
}

/// The certificates of a PEM file, freed with this.
private final class CertificateChain {
    /// In a file, at most; real chains have two to four.
    private static let longest = 16

    private(set) var certificates: [OpaquePointer] = []

    init(_ pem: [UInt8]) throws(TLSPairError) {
        // A sequence with a length of several bytes, as every certificate begins in DER, and no text does.
        if pem.count > 1, pem[0] == 0x30, pem[1] >= 0x80 {
            throw TLSPairError(.certificate, "it is DER, which is no text; convert it: openssl x509 -inform DER -in FILE -out cert.pem")
        }
        var fault: TLSPairError?
        // Lends the bytes to OpenSSL, which reads them where they are.
        pem.withUnsafeBytes { bytes in
            guard let memory = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return }
            defer { BIO_free(memory) }
            // No passphrase is asked for: a certificate has none.
            while certificates.count < Self.longest, let certificate = PEM_read_bio_X509(memory, nil, { _, _, _, _ in 0 }, nil) {
                certificates.append(certificate)
            }
        }
        let code = ERR_peek_last_error()
        // The end of the file is told as the lack of another first line.
        let isEnd = code == 0 || ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE
        if certificates.isEmpty, isEnd {
            fault = TLSPairError(.certificate, "it holds no certificate; a certificate begins with -----BEGIN CERTIFICATE-----")
        } else if !isEnd {
            fault = TLSPairError(
                .certificate, "certificate \(certificates.count + 1) of it is damaged (\(TLSContext.reason())); copy it again")
        }
        ERR_clear_error()
        if let fault { throw fault }
    }

    deinit { for certificate in certificates { X509_free(certificate) } }

    /// The server's own certificate, to which the key must belong.
    func leaf(of key: OpaquePointer) throws(TLSPairError) -> OpaquePointer {
        guard let leaf = certificates.first else { throw TLSPairError(.certificate, "it holds no certificate") }
        if X509_check_private_key(leaf, key) == 1 { return leaf }
        if let place = certificates.firstIndex(where: { X509_check_private_key($0, key) == 1 }) {
            throw TLSPairError(
                .certificate,
                "the key's own certificate is number \(place + 1) of it; put that one first, and those that lead to the root behind it")
        }
        throw TLSPairError(.key, "it does not belong to the certificate; name the key that the certificate was made for")
    }
}
