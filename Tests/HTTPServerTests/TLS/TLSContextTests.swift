// SPDX-License-Identifier: MIT

import TestSupport
import Testing
import VonageAuth

@testable import HTTPServer

struct TLSContextTests {
    private static let now = Clock.system.wall() / 1000

    private func fault(_ certificate: String, _ key: TestCertificate, now: Int64 = now) -> TLSPairError? {
        do {
            let key = try serverKey(in: Array(key.key.utf8))
            _ = try TLSContext(certificate: Array(certificate.utf8), key: key, tickets: TicketKeys(), now: now)
            return nil
        } catch {
            return error as? TLSPairError
        }
    }

    private func expect(_ fault: TLSPairError?, _ part: TLSPairError.Part, _ words: String, _ place: SourceLocation = #_sourceLocation) {
        #expect(
            fault?.part == part && fault?.description.contains(words) == true, "\(fault?.description ?? "no fault")", sourceLocation: place)
    }

    @Test func `a good pair tells for whom it is and how long`() throws {
        let context = try TestCertificate(names: "DNS:calls.example.com,IP:192.0.2.1", ends: 86_400).context()
        #expect(context.names == "DNS:calls.example.com, IP Address:192.0.2.1")
        #expect(abs(context.expires - Self.now - 86_400) < 60)
        let day = context.lastDay.split(separator: "-").compactMap { Int($0) }
        #expect(day.count == 3 && day[0] >= 2024 && (1...12).contains(day[1]) && (1...31).contains(day[2]))
        #expect(try TestCertificate(names: "").context().names == "")
    }

    @Test func `text around certificates and line ends of other systems do no harm`() {
        let pair = TestCertificate.shared
        #expect(fault("Subject: x\r\n" + pair.certificate.replacing("\n", with: "\r\n") + "\r\nthe end", pair) == nil)
        #expect(fault(pair.key + pair.certificate, pair) == nil, "key and certificate in one file")
    }

    @Test(arguments: ["", "\n", "no certificate", "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"])
    func `a file without a certificate is told so`(_ text: String) { expect(fault(text, .shared), .certificate, "it holds no certificate") }

    @Test func `a damaged certificate is named by its place`() {
        let pair = TestCertificate.shared
        let cut = String(pair.certificate.dropLast(100))
        expect(fault(cut, pair), .certificate, "certificate 1 of it is damaged")
        expect(fault(pair.certificate + cut, pair), .certificate, "certificate 2 of it is damaged")
    }

    @Test func `a pair that is none, and one in the wrong order, are told apart`() {
        let (one, other) = (TestCertificate.shared, TestCertificate())
        expect(fault(one.certificate, other), .key, "does not belong to the certificate")
        expect(fault(other.certificate + one.certificate, one), .certificate, "is number 2 of it; put that one first")
    }

    @Test func `what has expired, or does not hold yet, does not serve`() {
        let pair = TestCertificate(begins: 0, ends: 3600)
        expect(fault(pair.certificate, pair, now: Self.now + 3700), .certificate, "it has expired on ")
        #expect(fault(pair.certificate, pair, now: Self.now - 240) == nil, "clocks differ by minutes")
        expect(fault(pair.certificate, pair, now: Self.now - 600), .certificate, "it is valid from ")
    }

    @Test func `a key that is too short does not serve`() {
        let pair = TestCertificate(.rsa1024)
        expect(fault(pair.certificate, pair), .certificate, "key too small")
    }

    @Test func `a key that no client agrees on does not serve`() {
        let pair = TestCertificate(.secp256k1)
        expect(fault(pair.certificate, pair), .key, "clients agree on no key of this kind")
    }

    @Test func `DER is told with how to convert it`() {
        let fault = #expect(throws: TLSPairError.self) {
            try TLSContext(certificate: [0x30, 0x82, 0x01, 0x0A, 0x30], key: [0x30], tickets: TicketKeys(), now: Self.now)
        }
        expect(fault, .certificate, "openssl x509 -inform DER")
    }

    @Test func `a key that is none is told so`() {
        let fault = #expect(throws: TLSPairError.self) {
            try TLSContext(
                certificate: Array(TestCertificate.shared.certificate.utf8), key: [0x30, 0x03, 0x02, 0x01, 0x00], tickets: TicketKeys(),
                now: Self.now)
        }
        expect(fault, .key, "no key that OpenSSL can read")
    }
}
