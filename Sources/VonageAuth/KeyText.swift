// SPDX-License-Identifier: MIT
//
// Finds a key in whatever people have it in: PEM (RFC 7468) with real line ends or with `\n` in two characters, on one line, in quotes, with
// text around it, wrapped in base64 once more, or as a member of the JSON that Vonage's command line writes. What comes out is DER with the
// name of its kind; whether it is a key is OpenSSL's to say.
//
// PEM is read here and not by OpenSSL, whose reader knows none of those spellings, gives one error for all faults, and asks the terminal for
// a passphrase unless it is told not to.

internal import JSON

/// The DER of one PEM block.
struct KeyText {
    /// The kinds of PEM blocks that are read, by their labels.
    enum Kind: String, CaseIterable {
        case pkcs8 = "PRIVATE KEY"
        case pkcs1 = "RSA PRIVATE KEY"
        case publicKey = "PUBLIC KEY"
        case pkcs1Public = "RSA PUBLIC KEY"
        /// RFC 5915.
        case ec = "EC PRIVATE KEY"
    }

    /// Bytes; a key of 8192 bits has some 6,500 in PEM, and 8,700 in base64 of PEM.
    static let longest = 64 * 1024

    let kind: Kind
    let der: [UInt8]

    /// - Parameter kinds: what may be taken; of several blocks the first of these is.
    init(_ bytes: [UInt8], kinds: [Kind]) throws(KeyError) {
        self = try Self.read(bytes, kinds: kinds, wrappings: 2)
    }

    private init(kind: Kind, der: [UInt8]) {
        self.kind = kind
        self.der = der
    }

    /// - Parameter wrappings: how many may still be taken off: base64 inside of JSON is two.
    private static func read(_ bytes: [UInt8], kinds: [Kind], wrappings: Int) throws(KeyError) -> KeyText {
        guard bytes.count <= longest else {
            throw KeyError(.tooLarge, "it has more than 64 KiB, and a key in PEM has some 1.7 KiB; is it another file?")
        }
        var text = bytes[...]
        if text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) {
            throw KeyError(.wrongEncoding, "it is UTF-16 text; save it as UTF-8")
        }
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        text = trimmed(text)
        guard !text.isEmpty else { throw KeyError(.empty, "it is empty; a key begins with -----BEGIN PRIVATE KEY-----") }
        if wrappings > 0, text.first == UInt8(ascii: "{") {
            let document = try ApplicationDocument(Array(text))
            let found = kinds.contains(.publicKey) ? document.publicKey ?? document.privateKey : document.privateKey
            guard let key = found else {
                throw KeyError(.badJSON, "it is JSON without a member private_key; take the key itself, as Vonage's dashboard gives it")
            }
            return try read(key, kinds: kinds, wrappings: wrappings - 1)
        }
        // A sequence with a length of several bytes: every key begins so in DER, and no text does.
        if let first = text.first, let second = text.dropFirst().first, first == 0x30, second >= 0x80 {
            throw KeyError(.binary, "it is DER, which is no text; convert it: openssl pkey -inform DER -in FILE -out private.key")
        }
        guard !text.contains(0) else { throw KeyError(.binary, "it is no text; a key begins with -----BEGIN PRIVATE KEY-----") }
        text = withoutQuotes(text)
        let blocks = try PEMBlock.all(in: withLineEnds(text))
        if let block = blocks.first(where: { block in kinds.contains { $0.rawValue == block.label } }),
            let kind = Kind(rawValue: block.label)
        {
            return KeyText(kind: kind, der: try block.der())
        }
        if let block = blocks.first { throw block.refusal(kinds) }
        if wrappings > 0, let inner = unwrapped(text) { return try read(inner, kinds: kinds, wrappings: wrappings - 1) }
        throw notPEM(text, kinds)
    }

    /// What base64 of a PEM text stands for; nil where it is something else.
    private static func unwrapped(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let digits = withLineEnds(text).filter { $0 > 0x20 }
        guard let inner = decodeAnyBase64(digits.span), contains("-----BEGIN ", in: inner) else { return nil }
        return inner
    }

    /// The fault of a text without any PEM block.
    private static func notPEM(_ text: ArraySlice<UInt8>, _ kinds: [Kind]) -> KeyError {
        let digits = text.filter { $0 > 0x20 }
        // `-----BEGIN` in base64, and how DER of some hundred bytes begins in it.
        if digits.starts(with: "LS0tLS1CRUdJTi".utf8) {
            return KeyError(.damagedBase64, "it is base64 of a key, but damaged; wrap the whole file again: base64 -w0 private.key")
        }
        if digits.starts(with: "MII".utf8) {
            return KeyError(
                .damagedMarks,
                "it is a key without its first and last line; put -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY----- around it")
        }
        if text.starts(with: "ssh-".utf8) || text.starts(with: "ecdsa-".utf8) {
            return KeyError(.publicKey, "it is a public key of OpenSSH; take \(kinds.wanted)")
        }
        if text.starts(with: "PuTTY-User-Key-File".utf8) {
            return KeyError(
                .foreignFormat, "it is a key of PuTTY's; export it as PEM (PKCS#8), or take \(kinds.wanted)")
        }
        if contains("BEGIN", in: Array(text)) || contains("PRIVATE KEY", in: Array(text)) {
            return KeyError(
                .damagedMarks, "its first line is damaged; it must be -----BEGIN PRIVATE KEY----- with five plain dashes on each side")
        }
        return KeyError(.notAKey, "it holds no key; a key begins with -----BEGIN PRIVATE KEY-----")
    }
}

/// One block between BEGIN and END.
private struct PEMBlock {
    let label: String
    let body: ArraySlice<UInt8>

    /// All blocks of a text, up to some. What stands around them is passed over.
    static func all(in text: [UInt8]) throws(KeyError) -> [PEMBlock] {
        var blocks: [PEMBlock] = []
        var at = 0
        // A chain of certificates with its key has a handful.
        while blocks.count < 64, let begin = find("-----BEGIN ", in: text, from: at) {
            guard let (label, start) = label(in: text, from: begin + 11) else {
                throw KeyError(.damagedMarks, "a line -----BEGIN …----- is damaged; it needs five dashes on each side")
            }
            guard let end = find("-----END ", in: text, from: start) else {
                let isCut = find("END", in: text, from: start) == nil
                throw isCut
                    ? KeyError(.truncated, "it has no line -----END \(label)-----; copy the key whole")
                    : KeyError(.damagedMarks, "its last line is damaged; it must be -----END \(label)----- with five dashes on each side")
            }
            if let next = find("-----BEGIN ", in: text, from: start), next < end {
                throw KeyError(.damagedMarks, "a line BEGIN has no line END behind it; copy the key whole")
            }
            guard let (last, behind) = Self.label(in: text, from: end + 9), last == label else {
                throw KeyError(.damagedMarks, "its lines BEGIN and END do not fit together; the last must be -----END \(label)-----")
            }
            blocks.append(PEMBlock(label: label, body: text[start..<end]))
            at = behind
        }
        return blocks
    }

    /// A label of capitals, digits and blanks (RFC 7468 §3), and where what follows its dashes begins.
    private static func label(in text: [UInt8], from start: Int) -> (String, Int)? {
        var at = start
        while at < text.count, at - start < 40, isLabel(text[at]) { at += 1 }
        guard at > start, text[at...].starts(with: "-----".utf8) else { return nil }
        return (String(decoding: text[start..<at], as: UTF8.self), at + 5)
    }

    private static func isLabel(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x20 }

    func der() throws(KeyError) -> [UInt8] {
        // RFC 1421 §4.6, which RFC 7468 leaves out: lines before the base64 that say how it is encrypted.
        if contains("Proc-Type:", in: Array(body)) || contains("DEK-Info:", in: Array(body)) { throw Self.encrypted }
        var digits: [UInt8] = []
        var line = 0
        for byte in body {
            if byte == UInt8(ascii: "\n") { line += 1 }
            guard byte > 0x20, byte != 0x7F else { continue }
            // The url alphabet has no place inside of PEM: a dash there is what is left of a line.
            guard isBase64(byte) else {
                let place = line > 0 ? "line \(line) behind BEGIN" : "the line of BEGIN"
                throw KeyError(.damagedBase64, "a character of \(place) is not base64; copy the key again")
            }
            digits.append(byte)
        }
        guard !digits.isEmpty else { throw KeyError(.truncated, "there is nothing between its lines BEGIN and END; copy the key whole") }
        guard let der = decodeAnyBase64(digits.span) else {
            throw KeyError(.damagedBase64, "its base64 is damaged, or characters are missing; copy the key again")
        }
        // SEQUENCE, and the length that it says to have (X.690 §8.1.3).
        guard der.count > 4, der[0] == 0x30 else { throw KeyError(.damagedKey, "what its base64 stands for is no key; copy the key again") }
        let size = Int(der[1])
        let (length, start) = size < 0x80 ? (size, 2) : size == 0x81 ? (Int(der[2]), 3) : (Int(der[2]) << 8 | Int(der[3]), 4)
        guard size <= 0x82 else { throw KeyError(.damagedKey, "what its base64 stands for is no key; copy the key again") }
        guard der.count >= start + length else {
            throw KeyError(
                .truncated, "lines of it are missing: \(start + length) bytes are announced and \(der.count) are there; copy the key whole")
        }
        guard der.count == start + length else {
            throw KeyError(.damagedKey, "something follows the key inside its lines BEGIN and END; copy the key again")
        }
        return der
    }

    private static let encrypted = KeyError(
        .encrypted, "it is protected by a passphrase, and nobody is asked for one here; take it off: openssl pkey -in FILE -out private.key"
    )

    /// Why a block of another kind will not do.
    func refusal(_ kinds: [KeyText.Kind]) -> KeyError {
        let wanted = kinds.wanted
        switch label {
        case "ENCRYPTED PRIVATE KEY": return Self.encrypted
        case "PUBLIC KEY", "RSA PUBLIC KEY", "SSH2 PUBLIC KEY":
            return KeyError(.publicKey, "it is a public key, and the private one is needed; take \(wanted)")
        case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE", "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST":
            let cure = kinds.contains(.publicKey) ? "take its key out: openssl x509 -in FILE -noout -pubkey" : "take \(wanted)"
            return KeyError(.certificate, "it is a certificate and no key; \(cure)")
        case "OPENSSH PRIVATE KEY":
            return KeyError(.foreignFormat, "it is a key in OpenSSH's own format; convert a copy: ssh-keygen -p -m PKCS8 -f FILE")
        case "DSA PRIVATE KEY", "DSA PARAMETERS", "EC PARAMETERS":
            if kinds.contains(.ec) { return KeyError(.otherAlgorithm, "it is a key of DSA, or parameters without a key; take \(wanted)") }
            fallthrough
        case "EC PRIVATE KEY":
            return KeyError(.otherAlgorithm, "it is a key for another algorithm, and Vonage's tokens are signed with RSA; take \(wanted)")
        default: return KeyError(.notAKey, "it holds something else than a key; take \(wanted)")
        }
    }
}

extension [KeyText.Kind] {
    /// What these are the kinds of, for cures.
    fileprivate var wanted: String {
        if contains(.publicKey) { return "a public key in PEM" }
        return contains(.ec) ? "the key that the certificate was made for" : "private.key of the Vonage application"
    }
}

/// The DER of a server's private key for TLS, of whatever algorithm, found in any of the spellings in which people have keys: PKCS #8, or as
/// PKCS #1 and RFC 5915 have it.
///
/// - Throws: `KeyError` with what is wrong and what would be right, without anything of the text.
package func serverKey(in text: [UInt8]) throws(KeyError) -> [UInt8] { try KeyText(text, kinds: [.pkcs8, .pkcs1, .ec]).der }

/// `+` and `/` as well as letters and digits; `=` is looked at by the decoder.
private func isBase64(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): true
    default: false
    }
}

private func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = text.drop { $0 <= 0x20 && $0 > 0 }
    while let last = text.last, last <= 0x20, last > 0 { text = text.dropLast() }
    return text
}

/// Without the quotes that an `.env` file or a shell left around it.
private func withoutQuotes(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = text
    for _ in 0..<2 {
        guard text.count > 1, let quote = text.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"), text.last == quote else {
            break
        }
        text = trimmed(text.dropFirst().dropLast())
    }
    return text
}

/// With line ends where escapes stood: `\n`, `\r`, `\t`, also when their backslash was escaped again, and `\/` without its backslash. PEM has
/// no backslash of its own.
private func withLineEnds(_ text: ArraySlice<UInt8>) -> [UInt8] {
    guard text.contains(UInt8(ascii: "\\")) else { return Array(text) }
    var output: [UInt8] = []
    output.reserveCapacity(text.count)
    var isEscape = false
    for byte in text {
        if byte == UInt8(ascii: "\\") {
            isEscape = true
            continue
        }
        switch byte {
        case UInt8(ascii: "n") where isEscape, UInt8(ascii: "r") where isEscape: output.append(UInt8(ascii: "\n"))
        case UInt8(ascii: "t") where isEscape: output.append(0x20)
        default: output.append(byte)
        }
        isEscape = false
    }
    return output
}

private func find(_ word: StaticString, in text: [UInt8], from start: Int) -> Int? {
    let word = Array("\(word)".utf8)
    var at = start
    while at + word.count <= text.count {
        guard let first = text[at...].firstIndex(of: word[0]) else { return nil }
        if text[first...].starts(with: word) { return first }
        at = first + 1
    }
    return nil
}

private func contains(_ word: StaticString, in text: [UInt8]) -> Bool { find(word, in: text, from: 0) != nil }
