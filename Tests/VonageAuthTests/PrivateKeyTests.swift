// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import VonageAuth

/// How people have a key that is whole.
private let spellings: [(name: String, write: @Sendable (String) -> String)] = [
    ("as it was issued", { $0 }), ("without a last line end", { String($0.dropLast()) }),
    ("with CRLF", { $0.replacing("\n", with: "\r\n") }), ("with CR alone", { $0.replacing("\n", with: "\r") }),
    ("with a byte-order mark", { "\u{FEFF}" + $0 }), ("with blank lines around", { "\n \t\r\n" + $0 + "\n\n" }),
    ("with a blank line after each", { $0.replacing("\n", with: "\n\n") }), ("indented", { "  " + $0.replacing("\n", with: "\n  ") }),
    ("with backslash n", { $0.replacing("\n", with: "\\n") }), ("with backslash r backslash n", { $0.replacing("\n", with: "\\r\\n") }),
    ("with backslashes escaped again", { $0.replacing("\n", with: "\\\\n") }),
    ("with backslash n and slashes escaped", { $0.replacing("/", with: "\\/").replacing("\n", with: "\\n") }),
    ("with backslash n and a line end", { $0.replacing("\n", with: "\\n\n") }),
    ("with a backslash at each line's end", { $0.replacing("\n", with: "\\\n") }),
    ("on one line with blanks", { $0.replacing("\n", with: " ") }),
    ("on one line without blanks", { $0.replacing("\n", with: "") }), ("in double quotes", { "\"\($0)\"" }),
    ("in single quotes", { "'\($0)'" }),
    ("with backslash n in double quotes", { "\"" + $0.replacing("\n", with: "\\n") + "\"\n" }),
    ("in two pairs of quotes", { "'\"\($0)\"'" }),
    ("with text around", { "Bag Attributes\n    friendlyName: x\n\($0)\nsome more\n" }), ("in base64", { base64($0) }),
    ("in base64 without padding", { base64($0 + " ").replacing("=", with: "") }),
    ("in wrapped base64", { Data($0.utf8).base64EncodedString(options: .lineLength76Characters) }),
    (
        "in base64 wrapped with backslash n",
        { Data($0.utf8).base64EncodedString(options: .lineLength64Characters).replacing("\r\n", with: "\\n") }
    ),
    ("in quoted base64", { "\"\(base64($0))\"" }), ("in base64 of CRLF", { base64($0.replacing("\n", with: "\r\n")) }),
    ("in the url alphabet", { base64($0).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "") }),
    (
        "in vonage_app.json",
        { "{\"application_name\":\"a\",\"application_id\":\"b\",\"private_key\":\"\($0.replacing("\n", with: "\\n"))\"}" }
    ),
    ("in .vonagerc", { " {\"api-key\":\"a\",\"app-id\":\"b\",\"private-key\":\"\($0.replacing("\n", with: "\\n"))\"}\n" }),
    (
        "in the API's answer",
        {
            "\u{FEFF}{\"id\":\"b\",\"keys\":{\"public_key\":\"x\",\"private_key\":\"\($0.replacing("\n", with: "\\n").replacing("/", with: "\\/"))\"}}"
        }
    ),
    ("as base64 in JSON", { "{\"private_key\":\"\(base64($0))\"}" }),
]

/// What becomes of a key on its way, and the faults that may be named then.
private let damages: [(name: String, faults: Set<KeyError.Fault>, harm: @Sendable (String) -> String)] = [
    ("BEGIN with four dashes", [.damagedMarks], { $0.replacing("-----BEGIN", with: "----BEGIN") }),
    ("BEGIN ended by four dashes", [.damagedMarks], { $0.replacing("KEY-----\nM", with: "KEY----\nM") }),
    ("long dashes", [.damagedMarks], { $0.replacing("-----", with: "—–—") }), ("no first line", [.damagedMarks], { drop($0, first: true) }),
    ("no last line", [.truncated], { drop($0, last: true) }), ("neither", [.damagedMarks], { drop($0, first: true, last: true) }),
    ("END with four dashes", [.damagedMarks], { $0.replacing("-----END", with: "----END") }),
    ("END of another kind", [.damagedMarks], { $0.replacing("END ", with: "END EC ") }),
    ("END not ended", [.damagedMarks], { String($0.dropLast(4)) }),
    ("BEGIN twice", [.damagedMarks], { "-----BEGIN PRIVATE KEY-----\n" + $0 }),
    ("a line less", [.truncated], { text in lines(text) { $0.remove(at: 7) } }),
    ("a line twice", [.damagedKey], { text in lines(text) { $0.insert($0[7], at: 7) } }),
    ("two lines exchanged", [.damagedKey], { text in lines(text) { $0.swapAt(3, 4) } }),
    ("a character less", [.damagedBase64], { text in lines(text) { $0[7].removeFirst() } }),
    ("a character more", [.damagedBase64], { text in lines(text) { $0[7] += "A" } }),
    ("a character that is none", [.damagedBase64], { text in lines(text) { $0[7] = "…" + $0[7].dropFirst() } }),
    ("a shortened middle", [.damagedBase64], { text in lines(text) { $0[7] = "..." } }),
    ("a changed character of the modulus", [.damagedKey, .badSize], { text in lines(text) { $0[2] = changed($0[2]) } }),
    ("a changed length", [.truncated, .damagedKey], { text in lines(text) { $0[1] = "MIIF" + $0[1].dropFirst(4) } }),
    ("no body", [.truncated], { text in lines(text) { $0.removeSubrange(1..<$0.count - 1) } }),
]

private func lines(_ text: String, _ change: (inout [String]) -> Void) -> String {
    var lines = text.split(separator: "\n").map(String.init)
    change(&lines)
    return lines.joined(separator: "\n") + "\n"
}

private func drop(_ text: String, first: Bool = false, last: Bool = false) -> String {
    lines(text) {
        if first { $0.removeFirst() }
        if last { $0.removeLast() }
    }
}

private func changed(_ line: String) -> String { (line.hasPrefix("A") ? "B" : "A") + line.dropFirst() }

/// One line that shows nothing of the key, not even twelve characters of it.
private func isFit(_ error: KeyError, secret: String) -> Bool {
    let words = error.description
    guard words.utf8.allSatisfy({ $0 >= 0x20 }), words.utf8.count < 250 else { return false }
    // Base64 has no blanks, and few words are that long.
    return words.split(separator: " ").allSatisfy { word in
        let word = Array(word.utf8)
        guard word.count >= 12 else { return true }
        return (0...word.count - 12).allSatisfy { !secret.contains(String(decoding: word[$0..<$0 + 12], as: UTF8.self)) }
    }
}

/// A server's key may be of any algorithm.
struct ServerKeyTests {
    private static let pairs = [TestCertificate.shared, TestCertificate(.ed25519), TestCertificate(.rsa2048)]

    @Test(arguments: spellings.map(\.name))
    func `a key is read however it is spelt, whatever it is for`(_ name: String) throws {
        let spelling = try #require(spellings.first { $0.name == name })
        for pair in Self.pairs {
            let keys = try [pair.key, pair.traditionalKey].map { try serverKey(in: Array(spelling.write($0).utf8)) }
            let plain = try [pair.key, pair.traditionalKey].map { try KeyText(Array($0.utf8), kinds: [.pkcs8, .pkcs1, .ec]).der }
            #expect(keys == plain && keys.allSatisfy { $0.first == 0x30 })
        }
    }

    @Test func `parameters in front of a key are passed over`() throws {
        let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
        let pair = TestCertificate.shared
        #expect(try serverKey(in: Array((parameters + pair.traditionalKey).utf8)) == serverKey(in: Array(pair.traditionalKey.utf8)))
        let alone = #expect(throws: KeyError.self) { try serverKey(in: Array(parameters.utf8)) }
        #expect(alone?.fault == .otherAlgorithm && alone?.description.contains("parameters without a key") == true)
    }

    @Test func `what is none is told with a cure of its own`() throws {
        let cases: [(String, KeyError.Fault)] = [
            (TestCertificate.shared.certificate, .certificate), (try keyText("public"), .publicKey), ("", .empty), ("x", .notAKey),
            ("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIF\n-----END ENCRYPTED PRIVATE KEY-----\n", .encrypted),
            ("-----BEGIN DSA PRIVATE KEY-----\nMIIF\n-----END DSA PRIVATE KEY-----\n", .otherAlgorithm),
        ]
        for (text, fault) in cases {
            let error = #expect(throws: KeyError.self) { try serverKey(in: Array(text.utf8)) }
            #expect(error?.fault == fault && error?.description.contains("Vonage") == false, "\(error?.description ?? "none")")
        }
    }

    @Test func `a token is still signed with RSA alone`() {
        let error = #expect(throws: KeyError.self) { try PrivateKey(TestCertificate.shared.traditionalKey) }
        #expect(error?.fault == .otherAlgorithm)
    }
}

struct PrivateKeyTests {
    @Test(arguments: spellings.map(\.name), ["pkcs8", "pkcs1"])
    func `a key is read however it is spelt`(_ name: String, _ file: String) throws {
        let text = try keyText(file)
        let spelling = try #require(spellings.first { $0.name == name })
        let key = try PrivateKey(spelling.write(text))
        #expect(key.bits == 2048)
        let message = Array("message".utf8)
        #expect(try key.sign(message) == privateKey().sign(message))
    }

    @Test(arguments: damages.map(\.name))
    func `each damage to each spelling is named`(_ name: String) throws {
        let damage = try #require(damages.first { $0.name == name })
        let text = try keyText("pkcs8")
        for spelling in spellings {
            let harmed = spelling.write(damage.harm(text))
            let error = try #require(throws: KeyError.self, "\(spelling.name)") { try PrivateKey(harmed) }
            // Without a line end there is no telling where the damage lies, and base64 of a text without BEGIN is just base64.
            let faults = damage.faults.union(damage.faults == [.damagedMarks] ? [.notAKey, .truncated] : [])
            #expect(faults.contains(error.fault), "\(spelling.name): \(error)")
            #expect(isFit(error, secret: body(text)), "\(spelling.name): \(error)")
        }
        let error = try #require(throws: KeyError.self) { try PrivateKey(damage.harm(text)) }
        #expect(damage.faults.contains(error.fault), "\(error)")
    }

    @Test(
        arguments: [
            ("encrypted-pkcs8", .encrypted, "openssl pkey -in FILE"), ("encrypted-pkcs1", .encrypted, "passphrase"),
            ("public", .publicKey, "private one is needed"), ("pkcs1-public", .publicKey, "private one is needed"),
            ("certificate", .certificate, "no key"), ("ec", .otherAlgorithm, "RSA"), ("ec-pkcs8", .otherAlgorithm, "RSA"),
            ("ed25519", .otherAlgorithm, "RSA"), ("rsa-pss", .otherAlgorithm, "RSA"), ("openssh", .foreignFormat, "ssh-keygen -p -m PKCS8"),
            ("1024", .badSize, "1024 bits"),
        ] as [(String, KeyError.Fault, String)])
    func `another kind of key is named, with the cure`(_ file: String, _ fault: KeyError.Fault, _ words: String) throws {
        let text = try keyText(file)
        for spelling in spellings {
            let error = try #require(throws: KeyError.self, "\(spelling.name)") { try PrivateKey(spelling.write(text)) }
            #expect(error.fault == fault, "\(spelling.name): \(error)")
            #expect(error.description.contains(words), "\(error)")
            #expect(isFit(error, secret: body(text)), "\(error)")
        }
    }

    @Test func `a key among certificates and attributes is found`() throws {
        #expect(try PrivateKey(keyText("bag-attributes")).bits == 2048)
        #expect(try PrivateKey(keyText("certificate") + keyText("public") + keyText("pkcs1")).bits == 2048)
        #expect(try PrivateKey(keyText("4096")).bits == 4096)
    }

    @Test(
        arguments: [
            ("", .empty), (" \r\n\t ", .empty), ("\u{FEFF}\n", .empty), ("\"\"", .notAKey), ("hello", .notAKey), ("{", .badJSON),
            ("{}", .badJSON),
            ("{\"private_key\":7}", .badJSON), ("{\"private_key\":\"\"}", .badJSON), ("{\"private_key\":\"x\"}", .notAKey),
            ("{\"private_key\":\"x\",\"private_key\":\"y\"}", .badJSON), ("{\"keys\":[]}", .badJSON),
            ("{\"private_key\":\"{\\\"private_key\\\":\\\"{}\\\"}\"}", .notAKey),
            ("ssh-rsa AAAAB3NzaC1yc2E me@here", .publicKey), ("PuTTY-User-Key-File-3: ssh-rsa", .foreignFormat), ("a\0b", .binary),
            ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK-----", .notAKey),
            ("/etc/keys/private.key", .notAKey),
            ("-----BEGIN ", .damagedMarks), ("-----BEGIN -----", .damagedMarks), ("-----BEGIN PRIVATE KEY-----", .truncated),
            ("-----BEGIN PRIVATE KEY----------END PRIVATE KEY-----", .truncated),
            ("-----BEGIN PRIVATE KEY-----MAA=-----END PRIVATE KEY-----", .damagedKey),
            ("-----BEGIN PRIVATE KEY-----MIMAAAA=-----END PRIVATE KEY-----", .damagedKey),
            ("-----BEGIN PRIVATE KEY-----MAMCAQA=-----END PRIVATE KEY-----", .damagedKey),
            ("LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t!", .damagedBase64),
        ] as [(String, KeyError.Fault)])
    func `what holds no key is refused`(_ text: String, _ fault: KeyError.Fault) throws {
        let error = try #require(throws: KeyError.self) { try PrivateKey(text) }
        #expect(error.fault == fault, "\(error)")
    }

    @Test func `binary keys, UTF-16 and large files are named`() throws {
        let text = try keyText("pkcs8")
        let der = try #require(Data(base64Encoded: body(text)))
        #expect(fault(Array(der)) == .binary)
        #expect(fault([0xFF, 0xFE] + text.utf8.flatMap { [$0, 0] }) == .wrongEncoding)
        #expect(fault([0xFE, 0xFF] + text.utf8.flatMap { [0, $0] }) == .wrongEncoding)
        #expect(fault(text.utf8.flatMap { [$0, 0] }) == .binary)
        let room = 64 * 1024 - text.utf8.count
        #expect(fault(Array((text + String(repeating: "x", count: room)).utf8)) == nil)
        #expect(fault(Array((text + String(repeating: "x", count: room + 1)).utf8)) == .tooLarge)
        let error = #expect(throws: KeyError.self) { try ApplicationDocument(Array(repeating: 0x20, count: 64 * 1024 + 1)) }
        #expect(error?.fault == .tooLarge)
    }

    private func fault(_ bytes: [UInt8]) -> KeyError.Fault? {
        do throws(KeyError) { _ = try PrivateKey(bytes) } catch { return error.fault }
        return nil
    }

    @Test func `no beginning of a key is taken for one, and each is refused in words`() throws {
        for file in ["pkcs8", "pkcs1", "encrypted-pkcs8"] {
            let text = try keyText(file)
            let (bytes, secret) = (Array(text.utf8), body(text))
            for end in stride(from: 0, to: bytes.count - 1, by: 3) {
                let error = #expect(throws: KeyError.self) { try PrivateKey(Array(bytes[..<end])) }
                #expect(error.map { isFit($0, secret: secret) } == true, "\(end)")
            }
            for spelling in spellings {
                let written = Array(spelling.write(text).utf8)
                for end in stride(from: 0, to: written.count - 64, by: 173) {
                    let error = #expect(throws: KeyError.self) { try PrivateKey(Array(written[..<end])) }
                    #expect(error.map { isFit($0, secret: secret) } == true, "\(spelling.name) \(end)")
                }
            }
        }
    }

    @Test func `a changed byte never makes a key that signs otherwise`() throws {
        let bytes = Array(try keyText("pkcs1").utf8)
        let message = Array("message".utf8)
        let signature = try privateKey().sign(message)
        var generator = SystemRandomNumberGenerator()
        for at in stride(from: 0, to: bytes.count, by: 17) {
            var harmed = bytes
            harmed[at] = UInt8.random(in: 0...255, using: &generator)
            // A number that only makes signing faster may be off: then it is not used.
            if let key = try? PrivateKey(harmed) { #expect(try key.sign(message) == signature, "\(at)") }
        }
    }

    @Test func `a private key tells nothing of itself`() throws {
        let key = try privateKey()
        #expect("\(key)" == "RSA private key of 2048 bits")
        #expect(String(reflecting: key) == "RSA private key of 2048 bits")
        var dumped = ""
        dump(key, to: &dumped)
        #expect(dumped == "- RSA private key of 2048 bits\n")
        #expect("\(key.publicKey)" == "RSA public key of 2048 bits")
    }
}

struct SignatureTests {
    @Test func `a signature is the one that openssl dgst makes, each time`() throws {
        let message = try vector("signed-message.txt")
        let hex = String(decoding: try vector("signed-message.signature.hex"), as: UTF8.self)
        for file in ["pkcs8", "pkcs1"] {
            let key = try privateKey(file)
            for _ in 0..<3 { #expect(try key.sign(message).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == hex) }
        }
    }

    @Test(arguments: ["pkcs8", "pkcs1", "public", "pkcs1-public", "bag-attributes"])
    func `whatever holds the public half checks what the private one signed`(_ file: String) throws {
        let message = try vector("signed-message.txt")
        let signature = try privateKey().sign(message)
        let key = try PublicKey(try keyText(file))
        #expect(key.bits == 2048)
        #expect(key.verify(signature, over: message))
        #expect(!key.verify(signature, over: message + [0]))
        #expect(!key.verify(signature, over: []))
        for wrong in [
            [], [0], Array(signature.dropLast()), signature + [0], [UInt8](repeating: 0, count: 256), [UInt8](repeating: 0xFF, count: 256),
        ] {
            #expect(!key.verify(wrong, over: message))
        }
        for bit in stride(from: 0, to: 2048, by: 7) {
            var changed = signature
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!key.verify(changed, over: message))
        }
        #expect(try !privateKey("other").publicKey.verify(signature, over: message))
    }

    @Test func `a public key is read from JSON and in any spelling`() throws {
        let text = try keyText("public")
        let other = try keyText("other").replacing("\n", with: "\\n")
        let signature = try privateKey().sign([1])
        for spelling in spellings
        where !spelling.name.contains("JSON") && !spelling.name.contains("json") && !spelling.name.contains("vonagerc")
            && !spelling.name.contains("API")
        { #expect(try PublicKey(spelling.write(text)).verify(signature, over: [1]), "\(spelling.name)") }
        let json = "{\"keys\":{\"public_key\":\"\(text.replacing("\n", with: "\\n"))\",\"private_key\":\"\(other)\"}}"
        #expect(try PublicKey(json).verify(signature, over: [1]))
    }

    @Test(
        arguments: [("certificate", .certificate), ("ec", .otherAlgorithm), ("encrypted-pkcs8", .encrypted), ("1024", .badSize)]
            as [(String, KeyError.Fault)])
    func `what has no public key of the kind is refused`(_ file: String, _ fault: KeyError.Fault) throws {
        let error = try #require(throws: KeyError.self) { try PublicKey(try keyText(file)) }
        #expect(error.fault == fault)
    }

    @Test func `many threads sign and check with one key`() throws {
        let key = try privateKey()
        let (signature, publicKey) = (try key.sign([7]), key.publicKey)
        // Unsafe to share without a lock is nothing here: each round writes its own place.
        let failures = FailureCount()
        DispatchQueue.concurrentPerform(iterations: 64) { _ in
            if (try? key.sign([7])) != signature || !publicKey.verify(signature, over: [7]) { failures.add() }
        }
        #expect(failures.value == 0)
    }
}

private final class FailureCount: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0
    var value: Int { lock.withLock { count } }
    func add() { lock.withLock { count += 1 } }
}

struct ApplicationIDTests {
    @Test(arguments: ["11111111-2222-4333-8444-555555555555", "ABCDEFAB-2222-4333-8444-abcdefabcdef"])
    func `a UUID is one, its case kept`(_ text: String) throws {
        #expect(try ApplicationID(checking: text).description == text)
        #expect(ApplicationID(text.uppercased()) == ApplicationID(text.lowercased()))
        #expect(Set([ApplicationID(text.uppercased()), ApplicationID(text.lowercased())]).count == 1)
    }

    @Test(arguments: [
        "", "11111111-2222-4333-8444-55555555555", "11111111-2222-4333-8444-5555555555555", "11111111222243338444555555555555",
        "{11111111-2222-4333-8444-555555555555}", "1111111g-2222-4333-8444-555555555555", "11111111-2222-4333-8444_555555555555",
        "11111111-2222-4333-8444-55555555555é",
    ])
    func `anything else is none, and is not repeated`(_ text: String) {
        let error = #expect(throws: TokenError.self) { try ApplicationID(checking: text) }
        #expect(error?.description == "this is no application id; it is a UUID like 11111111-2222-4333-8444-555555555555")
    }
}
