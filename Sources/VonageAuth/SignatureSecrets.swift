// SPDX-License-Identifier: MIT
//
// The signature secrets of Vonage accounts, as people set them: one secret, or `api_key=secret` pairs where webhooks of several accounts come in.
// Nothing here prints one.

/// Signature secrets, each with the API key of its account where that is known.
///
/// - Source: Vonage, "Signed webhooks": the secret of the account whose key the claim `api_key` names, as its raw UTF-8 bytes.
public struct SignatureSecrets: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    struct Entry: Sendable {
        /// Eight hexadecimal digits; nil for a secret that goes with any key.
        let apiKey: String?
        let secret: [UInt8]
    }

    let entries: [Entry]

    /// Most pairs that are taken.
    static let most = 64
    /// Longest text of one secret, in bytes.
    static let longest = 1024

    /// Reads one secret, or pairs separated by commas or line ends; white space around each is not part of it.
    ///
    /// What stands before `=` is a key only if it has eight hexadecimal digits, since a secret may hold a `=` itself. A secret that holds a comma
    /// can stand alone, or last, or in a pair of its own line.
    ///
    /// - Throws: `SignatureSecretsError` for no secret, a key that comes twice, a secret above 1,024 bytes, and more than 64 of them.
    public init(_ text: String) throws(SignatureSecretsError) {
        var entries: [Entry] = []
        for line in text.unicodeScalars.split(whereSeparator: { $0 == "\n" || $0 == "\r" }) {
            for piece in Self.pieces(of: String(line)) {
                let piece = Self.trimmed(piece)
                guard !piece.isEmpty else { continue }
                var entry = Entry(apiKey: nil, secret: Array(piece.utf8))
                if let key = Self.key(of: piece) { entry = Entry(apiKey: key.lowercased(), secret: Array(piece.utf8.dropFirst(9))) }
                guard !entry.secret.isEmpty else { throw SignatureSecretsError("the secret behind an api key is empty") }
                guard entry.secret.count <= Self.longest else {
                    throw SignatureSecretsError("a secret is longer than \(Self.longest) bytes; is it the right file?")
                }
                guard !entries.contains(where: { $0.apiKey == entry.apiKey }) else {
                    throw SignatureSecretsError(
                        entry.apiKey == nil
                            ? "two secrets have no api key; write api_key=secret for each" : "an api key comes twice; write it once")
                }
                entries.append(entry)
                guard entries.count <= Self.most else { throw SignatureSecretsError("there are more than \(Self.most) secrets") }
            }
        }
        guard !entries.isEmpty else {
            throw SignatureSecretsError("there is no secret; copy the signature secret from the API settings of Vonage's dashboard")
        }
        self.entries = entries
    }

    /// One secret, whatever it holds.
    public init(secret: [UInt8]) { entries = [Entry(apiKey: nil, secret: secret)] }

    /// What looks like a mistake in a secret and may be none, a line each; none shows a secret.
    public var warnings: [String] {
        var warnings: [String] = []
        for entry in entries {
            let whose = entry.apiKey.map { "the secret of \($0)" } ?? "the signature secret"
            if entry.secret.count < 16 {
                warnings.append("\(whose) has only \(entry.secret.count) bytes: whoever sees one webhook could try them all")
            }
            let quotes = Array("\"'`".utf8)
            if let first = entry.secret.first, first == entry.secret.last, quotes.contains(first) {
                warnings.append("\(whose) has quotes around it, which count as part of it; take them away if Vonage shows none")
            }
            if entry.secret.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) {
                warnings.append("\(whose) holds blanks, controls or letters beyond ASCII; a copied secret has none")
            }
        }
        return warnings
    }

    /// How many there are.
    public var count: Int { entries.count }

    public var description: String { entries.count == 1 ? "1 signature secret" : "\(entries.count) signature secrets" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Splits at commas that stand before a pair, and at no other.
    private static func pieces(of line: String) -> [Substring] {
        var pieces: [Substring] = []
        var start = line.startIndex
        var at = line.startIndex
        while let comma = line[at...].firstIndex(of: ",") {
            at = line.index(after: comma)
            if key(of: trimmed(line[at...])) != nil {
                pieces.append(line[start..<comma])
                start = at
            }
        }
        return pieces + [line[start...]]
    }

    private static func key(of piece: Substring) -> Substring? {
        let bytes = piece.utf8
        guard bytes.count >= 9, bytes.prefix(8).allSatisfy(isHexDigit), bytes.dropFirst(8).first == UInt8(ascii: "=") else { return nil }
        return piece.prefix(8)
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }

    private static func trimmed(_ piece: Substring) -> Substring {
        func isStray(_ scalar: Unicode.Scalar) -> Bool { scalar.value <= 0x20 || scalar == "\u{FEFF}" }
        let scalars = piece.unicodeScalars
        guard let first = scalars.firstIndex(where: { !isStray($0) }), let last = scalars.lastIndex(where: { !isStray($0) }) else {
            return ""
        }
        return piece[first...last]
    }
}

/// A text that holds no usable signature secret: one line with what is wrong and the cure; nothing of the text is in it.
public struct SignatureSecretsError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
