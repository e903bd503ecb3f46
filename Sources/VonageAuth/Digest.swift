// SPDX-License-Identifier: MIT
//
// SHA-256 and HMAC-SHA256 by OpenSSL's EVP interface. A context is made once and used for one message after another, so that a check allocates
// nothing here: a worker has contexts of its own, and none of these types may be shared between threads.

internal import COpenSSL
internal import HTTPWire

/// The 32 bytes of a SHA-256 or an HMAC-SHA256.
package struct Digest256: Sendable {
    private(set) var bytes = InlineArray<32, UInt8>(repeating: 0)

    /// From memory that holds all 32 bytes.
    fileprivate init?(_ fill: (UnsafeMutablePointer<UInt8>) -> Bool) {
        var raw = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        // Lends 32 bytes to OpenSSL for the time of the call.
        let isFilled = withUnsafeMutableBytes(of: &raw) { room in
            room.assumingMemoryBound(to: UInt8.self).baseAddress.map(fill) ?? false
        }
        guard isFilled else { return nil }
        withUnsafeBytes(of: &raw) { room in
            for index in 0..<32 { bytes[index] = room[index] }
        }
    }

    /// From 64 hexadecimal digits of either case.
    package init?(hex: Span<UInt8>) {
        guard hex.count == 64 else { return nil }
        for index in 0..<32 {
            guard let high = hex[2 * index].hexValue, let low = hex[2 * index + 1].hexValue else { return nil }
            bytes[index] = high << 4 | low
        }
    }

    /// From 32 bytes.
    package init?(_ raw: Span<UInt8>) {
        guard raw.count == 32 else { return nil }
        for index in 0..<32 { bytes[index] = raw[index] }
    }

    /// Whether both are the same; takes the same time wherever they differ.
    package func equals(_ other: Digest256) -> Bool {
        var difference: UInt8 = 0
        for index in 0..<32 { difference |= bytes[index] ^ other.bytes[index] }
        return difference == 0
    }

    /// 64 hexadecimal digits in lower case.
    package var hex: String {
        var text = ""
        for index in 0..<32 {
            let digits = String(bytes[index], radix: 16)
            text += digits.utf8.count == 1 ? "0" + digits : digits
        }
        return text
    }

    package var array: [UInt8] { (0..<32).map { bytes[$0] } }
}

/// Whether two texts of one length are the same; takes the same time wherever they differ.
package func constantTimeEquals(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
    guard one.count == other.count else { return false }
    var difference: UInt8 = 0
    for index in one.indices { difference |= one[index] ^ other[index] }
    return difference == 0
}

/// OpenSSL lacks an algorithm or memory: a broken installation, since both belong to its default provider.
public struct CryptographyError: Error, Hashable, CustomStringConvertible {
    public let description: String

    package init(_ what: String) { description = "OpenSSL cannot do \(what); is libcrypto of OpenSSL 3 installed whole?" }
}

/// SHA-256 (FIPS 180-4). For one thread.
package final class SHA256 {
    private let context: OpaquePointer
    private let algorithm: OpaquePointer

    package init() throws(CryptographyError) {
        guard let algorithm = EVP_MD_fetch(nil, "SHA256", nil) else { throw CryptographyError("SHA-256") }
        guard let context = EVP_MD_CTX_new() else {
            EVP_MD_free(algorithm)
            throw CryptographyError("SHA-256")
        }
        self.algorithm = algorithm
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
        EVP_MD_free(algorithm)
    }

    /// Nil where OpenSSL fails.
    package func digest(_ message: Span<UInt8>) -> Digest256? {
        guard EVP_DigestInit_ex2(context, algorithm, nil) == 1 else { return nil }
        // Lends the bytes to OpenSSL for the time of the call.
        let isTaken = message.withUnsafeBufferPointer { EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 }
        return isTaken ? Digest256 { EVP_DigestFinal_ex(context, $0, nil) == 1 } : nil
    }
}

/// HMAC-SHA256 (RFC 2104) under one key. For one thread.
package final class HMACSHA256 {
    private let context: OpaquePointer

    package init(key: [UInt8]) throws(CryptographyError) {
        guard let algorithm = EVP_MAC_fetch(nil, "HMAC", nil) else { throw CryptographyError("HMAC") }
        defer { EVP_MAC_free(algorithm) }
        guard let context = EVP_MAC_CTX_new(algorithm) else { throw CryptographyError("HMAC") }
        var name = Array("SHA256".utf8CString)
        // The parameter keeps both pointers until `EVP_MAC_init` has read them, so both texts must outlive that call: a literal that is passed
        // to C lives for the one call only.
        let isKeyed = Array("digest".utf8CString).withUnsafeBufferPointer { option in
            name.withUnsafeMutableBufferPointer { name in
                var parameters = [
                    OSSL_PARAM_construct_utf8_string(option.baseAddress, name.baseAddress, 0), OSSL_PARAM_construct_end(),
                ]
                return EVP_MAC_init(context, key, key.count, &parameters) == 1
            }
        }
        guard isKeyed else {
            EVP_MAC_CTX_free(context)
            throw CryptographyError("HMAC-SHA256")
        }
        self.context = context
    }

    deinit { EVP_MAC_CTX_free(context) }

    /// Nil where OpenSSL fails.
    package func authenticate(_ message: Span<UInt8>) -> Digest256? {
        // Begins anew under the same key.
        guard EVP_MAC_init(context, nil, 0, nil) == 1 else { return nil }
        // Lends the bytes to OpenSSL for the time of the call.
        let isTaken = message.withUnsafeBufferPointer { EVP_MAC_update(context, $0.baseAddress, $0.count) == 1 }
        var length = 0
        return isTaken ? Digest256 { EVP_MAC_final(context, $0, &length, 32) == 1 && length == 32 } : nil
    }
}
