// SPDX-License-Identifier: MIT
//
// The compact form of a JSON Web Signature (RFC 7515 §7.1): header, payload and signature in base64url, with dots between. Here are the places
// of the three parts; what they hold is looked at by those who know which kind of token they expect.

/// A text that is no compact token, in words that show nothing of it.
package struct CompactTokenError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
}

/// Where the parts of a token lie in its text.
package struct CompactToken: Hashable, Sendable {
    package let header: Range<Int>
    package let payload: Range<Int>
    package let signature: Range<Int>
    /// What is signed: header and payload with the dot between them.
    package var signed: Range<Int> { header.lowerBound..<payload.upperBound }

    /// Longest text that is looked at, in bytes. An RS256 token of Vonage's has some 1,000.
    package static let longest = 16 * 1024

    package init(_ range: Range<Int>, in text: Span<UInt8>) throws(CompactTokenError) {
        guard range.count <= Self.longest else {
            throw CompactTokenError(description: "it has \(range.count) bytes, and a token at most \(Self.longest)")
        }
        var dots: (Int, Int)?
        var first: Int?
        for at in range where text[at] == UInt8(ascii: ".") {
            if let start = first, dots == nil {
                dots = (start, at)
            } else if first == nil {
                first = at
            } else {
                throw CompactTokenError(description: "it has more than three parts")
            }
        }
        guard let dots else { throw CompactTokenError(description: "it has not the three parts of a token") }
        header = range.lowerBound..<dots.0
        payload = dots.0 + 1..<dots.1
        signature = dots.1 + 1..<range.upperBound
        guard !header.isEmpty, !payload.isEmpty else { throw CompactTokenError(description: "a part of it is empty") }
    }
}
