// SPDX-License-Identifier: MIT
//
// New keys, for an application that nobody has at Vonage: for trying things out and for tests. An application's own key is made by Vonage.

internal import COpenSSL

extension PrivateKey {
    /// A new key of 2048 bits, as Vonage makes them; takes some 100 ms.
    ///
    /// - Throws: `CryptographyError` where OpenSSL fails.
    package static func generate() throws(CryptographyError) -> PrivateKey {
        PrivateKey(try RSAKey.generate())
    }

    /// The key itself as PEM of PKCS #8: for a file that its owner alone may read, and for nothing else.
    ///
    /// - Throws: `CryptographyError` where OpenSSL fails.
    package func pem() throws(CryptographyError) -> String {
        guard let pem = key.pem(hasPrivateHalf: true) else { throw CryptographyError("PKCS #8") }
        return pem
    }
}

extension PublicKey {
    /// The key as PEM of SubjectPublicKeyInfo, `BEGIN PUBLIC KEY`.
    ///
    /// - Throws: `CryptographyError` where OpenSSL fails.
    package func pem() throws(CryptographyError) -> String {
        guard let pem = key.pem(hasPrivateHalf: false) else { throw CryptographyError("SubjectPublicKeyInfo") }
        return pem
    }
}

extension RSAKey {
    fileprivate static func generate() throws(CryptographyError) -> RSAKey {
        defer { ERR_clear_error() }
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil) else { throw CryptographyError("RSA") }
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048) == 1,
            EVP_PKEY_generate(context, &made) == 1, let made
        else { throw CryptographyError("keys of RSA") }
        do throws(KeyError) { return try RSAKey(owning: made, hasPrivateHalf: true) } catch { throw CryptographyError("keys of RSA") }
    }

    /// Nil where OpenSSL fails.
    fileprivate func pem(hasPrivateHalf: Bool) -> String? {
        guard let memory = BIO_new(BIO_s_mem()) else { return nil }
        defer {
            BIO_free(memory)
            ERR_clear_error()
        }
        // No cipher: nobody is asked for a passphrase.
        let written = withKey { key in
            hasPrivateHalf ? PEM_write_bio_PKCS8PrivateKey(memory, key, nil, nil, 0, nil, nil) : PEM_write_bio_PUBKEY(memory, key)
        }
        var text = [UInt8](repeating: 0, count: KeyText.longest)
        guard written == 1 else { return nil }
        let count = BIO_read(memory, &text, Int32(text.count))
        return count > 0 ? String(decoding: text.prefix(Int(count)), as: UTF8.self) : nil
    }
}
