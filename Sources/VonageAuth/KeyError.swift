// SPDX-License-Identifier: MIT
//
// Why a text is no key that can be used. The words name the fault and the cure, and never hold a byte of what was read: it may be most of a
// private key.

/// A text or a file that holds no usable key.
///
/// Nothing in it shows key material, so that it may be printed and logged.
public struct KeyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What tells one refusal from another without reading its words.
    public enum Fault: String, Hashable, Sendable, CaseIterable {
        /// Nothing but white space.
        case empty
        /// More than 64 KiB.
        case tooLarge
        /// A text in which no key can be found.
        case notAKey
        /// UTF-16, as some editors and shells write it.
        case wrongEncoding
        /// DER, the form of a key that is no text.
        case binary
        /// JSON that cannot be read, or that has no key where Vonage's tools put it.
        case badJSON
        /// A line BEGIN or END that is missing, misspelt or of another kind than its partner.
        case damagedMarks
        /// Characters that are not base64, or some that are missing.
        case damagedBase64
        /// A key that stops before its end.
        case truncated
        /// Numbers that make no key, or none whose halves fit together.
        case damagedKey
        /// Protected by a passphrase.
        case encrypted
        /// The public half, or a certificate, where the private one is needed.
        case publicKey, certificate
        /// A private key in a format of OpenSSH's or PuTTY's own.
        case foreignFormat
        /// EC, Ed25519, DSA, RSA-PSS: RS256 needs RSA.
        case otherAlgorithm
        /// Fewer than 2048 bits, or more than 8192.
        case badSize
    }

    /// What is wrong.
    public let fault: Fault
    /// One line: what is wrong, and what would be right. It fits behind the name of a file or a setting and a colon.
    public let description: String

    init(_ fault: Fault, _ description: String) {
        self.fault = fault
        self.description = description
    }
}
