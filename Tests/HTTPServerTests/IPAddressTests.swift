// SPDX-License-Identifier: MIT

import Testing

@testable import HTTPServer

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct IPAddressTests {
    @Test(arguments: [
        ("0.0.0.0", "0.0.0.0"), ("127.0.0.1", "127.0.0.1"), ("255.255.255.255", "255.255.255.255"), ("::", "::"), ("::1", "::1"),
        ("1::", "1::"), ("2001:db8::1", "2001:db8::1"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"), ("2001:0db8::0001", "2001:db8::1"),
        ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
        ("1:0:0:2:0:0:0:3", "1:0:0:2::3"), ("1:0:0:2:3:0:0:4", "1::2:3:0:0:4"), ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::FFFF:c000:0201", "192.0.2.1"), ("0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"), ("::192.0.2.1", "::c000:201"),
        ("64:ff9b::192.0.2.1", "64:ff9b::c000:201"), ("1:2:3:4:5:6:192.0.2.1", "1:2:3:4:5:6:c000:201"), ("fe80::1", "fe80::1"),
        ("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ])
    func `an address is read, and printed in its shortest form`(_ text: String, _ printed: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == printed)
        #expect(IPAddress(printed) == address)
    }

    @Test(arguments: [
        "", " ", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.04", "00.0.0.0", "1..2.3", ".1.2.3", "1.2.3.", "+1.2.3.4",
        "1.2.3.4 ", " 1.2.3.4", "1.2.3.4:80", "0x7f.0.0.1", "2130706433", "127.1", "١.2.3.4", "[::1]", ":", ":::", "::1::", "1::2::3",
        ":1", "1:", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "1:2:3:4::5:6:7:8", "12345::",
        "g::", "fe80::1%eth0", "fe80::1%1", "::ffff:1.2.3", "::ffff:01.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3.4:5", "1.2.3.4::",
        "::1/128", "localhost", "unknown", "_hidden", "1.2.3.4\u{0}", "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.2555",
    ])
    func `what is no address is none`(_ text: String) { #expect(IPAddress(text) == nil) }

    /// The C library as the judge, for texts of the characters that addresses have.
    @Test func `any text is read as inet_pton reads it`() {
        var random = SystemRandomNumberGenerator()
        let pieces = ["0", "1", "9", "12", "255", "256", "00", "a", "ffff", "10000", ":", ":", ":", "::", ".", ".", "1.2.3.4"]
        for _ in 0..<100_000 {
            let text = (0..<Int.random(in: 1...16, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            var (four, six) = (in_addr(), in6_addr())
            let isAddress = inet_pton(AF_INET, text, &four) == 1 || inet_pton(AF_INET6, text, &six) == 1
            let address = IPAddress(text)
            #expect((address != nil) == isAddress, "\(text)")
            if let address { #expect(IPAddress(address.description) == address, "\(text)") }
        }
    }

    @Test func `an IPv4 address is the same in both families, and no other is one`() {
        #expect(IPAddress("::ffff:1.2.3.4") == IPAddress(ipv4: 0x0102_0304))
        #expect(IPAddress(ipv4: 0).isIPv4 && IPAddress("::ffff:0:0")?.isIPv4 == true)
        for other in ["::", "::1.2.3.4", "::fffe:1.2.3.4", "1::ffff:1.2.3.4"] { #expect(IPAddress(other)?.isIPv4 == false) }
    }

    @Test(arguments: [
        ("2001:db8:1:2:3:4:5:6", 64, "2001:db8:1:2::"), ("2001:db8:1:2:3:4:5:6", 0, "::"), ("ffff::", 1, "8000::"),
        ("2001:db8:1:2:3:4:5:6", 128, "2001:db8:1:2:3:4:5:6"), ("::ffff:192.0.2.129", 121, "192.0.2.128"),
        ("192.0.2.129", 128, "192.0.2.129"),
        ("1:2:3:4:ffff::", 65, "1:2:3:4:8000::"), ("192.0.2.129", 96, "0.0.0.0"),
    ])
    func `a prefix keeps the first bits`(_ text: String, _ bits: Int, _ prefix: String) {
        #expect(IPAddress(text)?.prefix(bits).description == prefix)
    }
}
