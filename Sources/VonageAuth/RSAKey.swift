// SPDX-License-Identifier: MIT
//
// The edge to OpenSSL for RS256: RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3, RFC 8017 §8.2). Keys come as DER, so that no PEM reader of
// OpenSSL's could ask anybody for a passphrase. Each signature has a context of its own.

internal import COpenSSL

/// An RSA key of OpenSSL's, with both halves or the public one.
///
/// `@unchecked Sendable`: the key is never changed after `init`, and OpenSSL 3 lets any number of threads use one that is not; what it works
/// out on first use lies behind locks of its own. The pointer is freed when nobody has it any more.
final class RSAKey: @unchecked Sendable {
    /// RFC 7518 §3.3 wants 2048 bits, which is what Vonage makes; with more than 8192 one signature takes a good part of a second.
    static let sizes = 2048...8192

    private let key: OpaquePointer
    /// Of the modulus.
    let bits: Int

    convenience init(_ text: KeyText) throws(KeyError) {
        let key: OpaquePointer?
        switch text.kind {
        case .pkcs8: key = Self.read(text.der, Self.pkcs8)
        case .pkcs1: key = Self.read(text.der) { d2i_PrivateKey(EVP_PKEY_RSA, nil, &$0, $1) }
        case .publicKey: key = Self.read(text.der) { d2i_PUBKEY(nil, &$0, $1) }
        // No key of RSA: what it is, is said below.
        case .ec: key = Self.read(text.der) { d2i_PrivateKey(EVP_PKEY_EC, nil, &$0, $1) }
        case .pkcs1Public: key = Self.read(text.der) { d2i_PublicKey(EVP_PKEY_RSA, nil, &$0, $1) }
        }
        ERR_clear_error()
        guard let key else {
            throw KeyError(.damagedKey, "its lines are whole, but what they hold is no key that OpenSSL can read; copy the key again")
        }
        try self.init(owning: key, hasPrivateHalf: text.kind == .pkcs8 || text.kind == .pkcs1)
    }

    /// Takes over the key, also where it throws.
    init(owning key: OpaquePointer, hasPrivateHalf: Bool) throws(KeyError) {
        self.key = key
        bits = Int(EVP_PKEY_get_bits(key))
        guard EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA else {
            throw KeyError(
                .otherAlgorithm,
                "it is a key for another algorithm (EC, Ed25519 or the like), and Vonage's tokens are signed with RSA; take the key of the Vonage application"
            )
        }
        guard Self.sizes.contains(bits) else {
            throw KeyError(
                .badSize,
                "it is an RSA key of \(bits) bits, and RS256 needs \(Self.sizes.lowerBound) to \(Self.sizes.upperBound); take the key of the Vonage application, which has 2048"
            )
        }
        guard hasPrivateHalf else { return }
        // A changed digit makes a key that reads well and signs wrongly: nothing but a signature shows that its numbers fit together.
        let sample = Array("switchboard".utf8)
        guard let signature = sign(sample), verifies(signature, sample) else {
            throw KeyError(.damagedKey, "its numbers do not fit together: a character was changed; copy the key again")
        }
    }

    deinit { EVP_PKEY_free(key) }

    /// Lends the key of OpenSSL's for the time of a call.
    func withKey<Result>(_ body: (OpaquePointer) -> Result) -> Result { body(key) }

    /// RFC 5958. A key of another algorithm is read as well, so that it can be named.
    private static func pkcs8(_ bytes: inout UnsafePointer<UInt8>?, _ count: Int) -> OpaquePointer? {
        guard let info = d2i_PKCS8_PRIV_KEY_INFO(nil, &bytes, count) else { return nil }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        return EVP_PKCS82PKEY(info)
    }

    private static func read(_ der: [UInt8], _ body: (inout UnsafePointer<UInt8>?, Int) -> OpaquePointer?) -> OpaquePointer? {
        // Lends the bytes to OpenSSL for the time of the call.
        der.withUnsafeBufferPointer { buffer in
            var bytes = buffer.baseAddress
            return body(&bytes, buffer.count)
        }
    }

    /// Nil where OpenSSL fails.
    func sign(_ message: [UInt8]) -> [UInt8]? {
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        var signature = [UInt8](repeating: 0, count: (bits + 7) / 8)
        var length = signature.count
        // PKCS #1 v1.5 is the padding that a key of this type has unless it is told otherwise.
        guard EVP_DigestSignInit_ex(context, nil, "SHA256", nil, nil, key, nil) == 1,
            EVP_DigestSign(context, &signature, &length, message, message.count) == 1, length == signature.count
        else { return nil }
        return signature
    }

    func verifies(_ signature: [UInt8], _ message: [UInt8]) -> Bool {
        guard signature.count == (bits + 7) / 8, let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit_ex(context, nil, "SHA256", nil, nil, key, nil) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}
