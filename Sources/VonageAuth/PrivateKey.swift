// SPDX-License-Identifier: MIT
//
// The two halves of an application's key. Both are values that any thread may use; what OpenSSL knows of them is in `RSAKey`, and how they are
// found in a text in `KeyText`.

/// The private RSA key of a Vonage application, which signs its tokens by RS256.
///
/// ```swift
/// let key = try PrivateKey(textOfPrivateKeyFile)
/// ```
///
/// Printing it shows its size and nothing else.
public struct PrivateKey: Sendable, CustomStringConvertible, CustomReflectable {
    let key: RSAKey

    init(_ key: RSAKey) { self.key = key }

    /// Reads a key as people have it.
    ///
    /// PEM of PKCS #8 (`BEGIN PRIVATE KEY`) or PKCS #1 (`BEGIN RSA PRIVATE KEY`), with line ends of any kind, with `\n` as two characters, or
    /// on one line; with quotes, blank lines, a byte-order mark or other text around; base64 of that in either alphabet; or JSON with a member
    /// `private_key`, as in `vonage_app.json`. Nobody is ever asked for a passphrase.
    ///
    /// - Parameter bytes: at most 64 KiB.
    /// - Throws: `KeyError`, which names the fault and the cure in one line and shows nothing of the key.
    /// - Source: RFC 7468, RFC 5958, RFC 8017; RFC 7518 §3.3 for the 2048 bits that it must have at least (8192 at most).
    public init(_ bytes: [UInt8]) throws(KeyError) {
        key = try RSAKey(KeyText(bytes, kinds: [.pkcs8, .pkcs1]))
    }

    /// Reads a key as people have it: see `init(_: [UInt8])`.
    ///
    /// - Throws: `KeyError`, which names the fault and the cure in one line and shows nothing of the key.
    public init(_ text: String) throws(KeyError) { try self.init(Array(text.utf8)) }

    /// The half that checks what this one signs.
    public var publicKey: PublicKey { PublicKey(key) }

    /// Size of the modulus in bits, 2048...8192.
    public var bits: Int { key.bits }

    /// The RS256 signature of a message: as many bytes as the modulus has, the same each time.
    ///
    /// - Throws: `CryptographyError` where OpenSSL fails, which a key that could be read gives no reason for.
    /// - Source: RFC 7518 §3.3, RFC 8017 §8.2.1.
    public func sign(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
        guard let signature = key.sign(message) else { throw CryptographyError("RS256") }
        return signature
    }

    /// Its size, and nothing of the key.
    public var description: String { "RSA private key of \(bits) bits" }

    /// Shows nothing of the key either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The public RSA key of a Vonage application, which checks its tokens.
public struct PublicKey: Sendable, CustomStringConvertible {
    let key: RSAKey

    init(_ key: RSAKey) { self.key = key }

    /// Reads a public key, or the public half of a private one.
    ///
    /// PEM of SubjectPublicKeyInfo (`BEGIN PUBLIC KEY`), of PKCS #1 (`BEGIN RSA PUBLIC KEY`), or of a private key; spelt in any way that
    /// `PrivateKey` takes, or JSON with a member `public_key`.
    ///
    /// - Parameter bytes: at most 64 KiB.
    /// - Throws: `KeyError`, which names the fault and the cure in one line and shows nothing of the key.
    /// - Source: RFC 7468 §13, RFC 8017; RFC 7518 §3.3 for the 2048 bits that it must have at least (8192 at most).
    public init(_ bytes: [UInt8]) throws(KeyError) { key = try RSAKey(KeyText(bytes, kinds: KeyText.Kind.allCases)) }

    /// Reads a public key, or the public half of a private one: see `init(_: [UInt8])`.
    ///
    /// - Throws: `KeyError`, which names the fault and the cure in one line and shows nothing of the key.
    public init(_ text: String) throws(KeyError) { try self.init(Array(text.utf8)) }

    /// Size of the modulus in bits, 2048...8192.
    public var bits: Int { key.bits }

    /// Whether this is the RS256 signature of a message, made with the private half of this key.
    ///
    /// - Source: RFC 7518 §3.3, RFC 8017 §8.2.2.
    public func verify(_ signature: [UInt8], over message: [UInt8]) -> Bool { key.verifies(signature, message) }

    /// Its size.
    public var description: String { "RSA public key of \(bits) bits" }
}
