// SPDX-License-Identifier: MIT

import Testing

@testable import VonageAuth

/// The macros cannot take spans as arguments.
private func digest(_ text: String, _ hash: SHA256? = nil) throws -> Digest256? { try (hash ?? SHA256()).digest(Array(text.utf8).span) }
private func mac(_ text: String, _ key: HMACSHA256) -> String? { key.authenticate(Array(text.utf8).span)?.hex }
private func hexDigest(_ text: String) -> Digest256? { Digest256(hex: Array(text.utf8).span) }

struct DigestTests {
    /// FIPS 180-4 examples, and one message after another with the same context.
    @Test func `SHA-256 of one message after another`() throws {
        let hash = try SHA256()
        for _ in 0..<3 {
            #expect(
                try digest("abc", hash)?.hex == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
            #expect(try digest("", hash)?.hex == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        }
    }

    /// RFC 4231, test cases 1, 2 and 6 (a key that is longer than a block).
    @Test func `HMAC-SHA256 of one message after another`() throws {
        for _ in 0..<2 {
            let first = try HMACSHA256(key: [UInt8](repeating: 0x0b, count: 20))
            for _ in 0..<3 {
                #expect(
                    mac("Hi There", first)
                        == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
            }
            #expect(
                mac("what do ya want for nothing?", try HMACSHA256(key: Array("Jefe".utf8)))
                    == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
            let long = try HMACSHA256(key: [UInt8](repeating: 0xaa, count: 131))
            #expect(
                mac("Test Using Larger Than Block-Size Key - Hash Key First", long)
                    == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
        }
    }

    @Test func `hexadecimal digits are read in either case, and nothing else is`() throws {
        let abc = try #require(try digest("abc"))
        let same = try #require(hexDigest(abc.hex.uppercased()))
        #expect(abc.equals(same))
        #expect(hexDigest(String(abc.hex.dropLast())) == nil)
        #expect(hexDigest(abc.hex.dropLast() + "g") == nil)
    }

    @Test func `digests differ wherever one bit differs`() throws {
        let abc = try #require(try digest("abc"))
        for bit in 0..<256 {
            var bytes = abc.array
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            let changed = Digest256(bytes.span)
            #expect(changed?.equals(abc) == false)
        }
        let same = Digest256(abc.array.span)
        #expect(same?.equals(abc) == true)
    }
}

struct Base64URLTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"),
    ])
    func `RFC 4648's examples, without padding`(plain: String, encoded: String) {
        var text: [UInt8] = []
        text.appendBase64URL(Array(plain.utf8).span)
        #expect(String(decoding: text, as: UTF8.self) == encoded)
        var back: [UInt8] = []
        let isRead = back.appendDecodedBase64URL(0..<text.count, in: text.span)
        #expect(isRead)
        #expect(back == Array(plain.utf8))
    }

    @Test func `each byte comes back from each place`() {
        for byte in UInt8.min...UInt8.max {
            for length in 1...4 {
                let plain = [UInt8](repeating: byte, count: length)
                var text: [UInt8] = []
                text.appendBase64URL(plain.span)
                var back: [UInt8] = [1]
                let isRead = back.appendDecodedBase64URL(0..<text.count, in: text.span)
                #expect(isRead)
                #expect(back == [1] + plain)
            }
        }
    }

    @Test(arguments: ["Zg==", "Zh", "Zm9", "Z", "Zm9v ", "Zm+v", "Zm/v", "Zm\n9v", "Zm9v=", "é", "Zm9vYmF\0"])
    func `anything but the one spelling is refused, and leaves nothing behind`(text: String) {
        let bytes = Array(text.utf8)
        var back: [UInt8] = [7]
        let isRead = back.appendDecodedBase64URL(0..<bytes.count, in: bytes.span)
        #expect(!isRead)
        #expect(back == [7])
    }
}
