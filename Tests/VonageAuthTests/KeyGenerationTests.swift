// SPDX-License-Identifier: MIT

import Testing
import VonageAuth

struct KeyGenerationTests {
    @Test func `a new key signs, and both of its halves are read again from their texts`() throws {
        let key = try PrivateKey.generate()
        #expect(key.bits == 2048)
        let message = Array("message".utf8)
        let pem = try key.pem()
        #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n") && pem.hasSuffix("-----END PRIVATE KEY-----\n"))
        let signature = try PrivateKey(pem).sign(message)
        #expect(signature == (try key.sign(message)))
        let publicPEM = try key.publicKey.pem()
        #expect(publicPEM.hasPrefix("-----BEGIN PUBLIC KEY-----\n"))
        #expect(try PublicKey(publicPEM).verify(signature, over: message))
        #expect("\(key)" == "RSA private key of 2048 bits")
    }

    @Test func `no two keys are the same`() throws {
        #expect(try PrivateKey.generate().pem() != PrivateKey.generate().pem())
    }

    @Test func `a key is written as it was read`() throws {
        #expect(try privateKey().pem() == (try keyText("pkcs8")))
        #expect(try privateKey("pkcs1").publicKey.pem() == (try privateKey("pkcs1").publicKey.pem()))
    }
}
