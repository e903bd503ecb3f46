// SPDX-License-Identifier: MIT
//
// Keys and certificates for tests, made in the process, so that no test needs a program, a file that expires, or a key in the repository.

import COpenSSL

/// A certificate with its key.
public struct TestCertificate: Sendable {
    public enum KeyKind: Sendable, CaseIterable {
        case p256, rsa2048, ed25519
        /// Too short to be served.
        case rsa1024
        /// A curve that no client of the profile knows.
        case secp256k1
    }

    /// PEM: the certificate itself, and behind it those that lead to the root, without that.
    public let certificate: String
    /// PEM in PKCS #8.
    public let key: String
    /// PEM as the algorithm had it before: PKCS #1, or RFC 5915; of Ed25519 the same as `key`.
    public let traditionalKey: String
    /// PEM of the last issuer, who signed itself.
    public let root: String
    private let own: String

    /// P-256 for `localhost`, made once.
    public static let shared = TestCertificate()

    /// - Parameters:
    ///   - names: as OpenSSL writes them.
    ///   - begins: seconds from now.
    ///   - ends: seconds from now.
    ///   - issuer: nil for one that signs itself.
    ///   - isAuthority: whether it may sign others.
    public init(
        _ kind: KeyKind = .p256, names: String = "DNS:localhost,IP:127.0.0.1", begins: Int = -3600, ends: Int = 86_400,
        issuer: TestCertificate? = nil, isAuthority: Bool = false
    ) {
        guard let key = Self.makeKey(kind), let certificate = X509_new() else { preconditionFailure("OpenSSL makes no key") }
        defer {
            EVP_PKEY_free(key)
            X509_free(certificate)
        }
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), UInt64.random(in: 1...UInt64.max))
        X509_gmtime_adj(X509_getm_notBefore(certificate), begins)
        X509_gmtime_adj(X509_getm_notAfter(certificate), ends)
        X509_set_pubkey(certificate, key)
        let subject = X509_get_subject_name(certificate)
        let name = Array("test \(UInt32.random(in: 0...UInt32.max))".utf8)
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, Int32(name.count), -1, 0)
        let signer = issuer.flatMap { Self.read(certificate: $0.certificate) }
        let signingKey = issuer.flatMap { Self.read(key: $0.key) }
        defer {
            X509_free(signer)
            EVP_PKEY_free(signingKey)
        }
        X509_set_issuer_name(certificate, signer.flatMap { X509_get_subject_name($0) } ?? subject)
        for (number, value) in [(NID_subject_alt_name, names), (NID_basic_constraints, isAuthority ? "critical,CA:TRUE" : "CA:FALSE")] {
            guard !value.isEmpty, let part = X509V3_EXT_conf_nid(nil, nil, number, value) else { continue }
            X509_add_ext(certificate, part, -1)
            X509_EXTENSION_free(part)
        }
        // Ed25519 has a digest of its own.
        let digest = signingKey ?? key
        guard X509_sign(certificate, digest, EVP_PKEY_get_id(digest) == EVP_PKEY_ED25519 ? nil : EVP_sha256()) > 0 else {
            preconditionFailure("OpenSSL signs no certificate")
        }
        let own = Self.text { PEM_write_bio_X509($0, certificate) }
        // The root stays out of what a server sends.
        let issuers = issuer.map { $0.root == $0.own ? "" : $0.certificate } ?? ""
        self.own = own
        self.certificate = own + issuers
        root = issuer?.root ?? own
        self.key = Self.text { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
        traditionalKey = kind == .ed25519 ? self.key : Self.text { PEM_write_bio_PrivateKey_traditional($0, key, nil, nil, 0, nil, nil) }
    }

    private static func makeKey(_ kind: KeyKind) -> OpaquePointer? {
        let name =
            switch kind {
            case .p256, .secp256k1: "EC"
            case .rsa2048, .rsa1024: "RSA"
            case .ed25519: "ED25519"
            }
        guard let context = EVP_PKEY_CTX_new_from_name(nil, name, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_keygen_init(context) == 1 else { return nil }
        switch kind {
        case .p256: EVP_PKEY_CTX_set_group_name(context, "P-256")
        case .secp256k1: EVP_PKEY_CTX_set_group_name(context, "secp256k1")
        case .rsa2048: EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048)
        case .rsa1024: EVP_PKEY_CTX_set_rsa_keygen_bits(context, 1024)
        case .ed25519: break
        }
        var key: OpaquePointer?
        return EVP_PKEY_generate(context, &key) == 1 ? key : nil
    }

    private static func text(_ write: (OpaquePointer) -> Int32) -> String {
        guard let memory = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(memory) }
        guard write(memory) == 1 else { return "" }
        var bytes = [UInt8](repeating: 0, count: 16 * 1024)
        let count = BIO_read(memory, &bytes, Int32(bytes.count))
        return String(decoding: bytes.prefix(max(Int(count), 0)), as: UTF8.self)
    }

    private static func read<Result>(_ text: String, _ body: (OpaquePointer) -> Result?) -> Result? {
        var text = text
        return text.withUTF8 { bytes in
            guard let memory = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
            defer { BIO_free(memory) }
            return body(memory)
        }
    }

    private static func read(certificate: String) -> OpaquePointer? { read(certificate) { PEM_read_bio_X509($0, nil, nil, nil) } }
    private static func read(key: String) -> OpaquePointer? { read(key) { PEM_read_bio_PrivateKey($0, nil, nil, nil) } }
}
