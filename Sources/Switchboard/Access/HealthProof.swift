// SPDX-License-Identifier: MIT
//
// Whether two addresses lead to the same process: who sends a nonce to `/health` gets it back authenticated with a key that this process has made
// for itself and shows nobody. Two equal proofs for one nonce come from one process; a proof says nothing else, and is worth nothing afterwards.

import HTTPWire
import VonageAuth

package struct HealthProof: Sendable {
    private let key: [UInt8]

    /// With a key of this process.
    package init() {
        var random = SystemRandomNumberGenerator()
        key = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// Longest nonce that is answered, in bytes.
    package static let longestNonce = 64

    /// 64 hexadecimal digits; nil for an empty or a long nonce.
    package func proof(of nonce: Span<UInt8>) -> String? {
        guard nonce.count > 0, nonce.count <= Self.longestNonce else { return nil }
        return (try? HMACSHA256(key: key))?.authenticate(nonce)?.hex
    }

    /// `?nonce=` of a request to `/health`, proved.
    func proof(asked query: Range<Int>?, in bytes: Span<UInt8>) -> String? {
        guard let query, !query.isEmpty else { return nil }
        var parameters = Parameters()
        parameters.parse(query, in: bytes)
        guard let nonce = parameters.value(of: "nonce") else { return nil }
        let decoded = parameters.bytes
        return proof(of: decoded.span.extracting(nonce))
    }
}
