// SPDX-License-Identifier: MIT

import Testing

@testable import HTTPServer

struct HTTPAddressTests {
    @Test(arguments: [
        ("http://h", "h", 80, "h", ""), ("http://h/", "h", 80, "h", "/"), ("http://h:81/a?b=c@d", "h", 81, "h:81", "/a?b=c@d"),
        ("http://h?x", "h", 80, "h", "?x"), ("http://[::1]:3000/?a?b", "[::1]", 3000, "[::1]:3000", "/?a?b"),
        ("https://localhost", "localhost", 443, "localhost", ""), ("https://[::1]:80/a", "[::1]", 80, "[::1]:80", "/a"),
        ("https://127.0.0.1:443/", "127.0.0.1", 443, "127.0.0.1", "/"), ("http://h/a:1", "h", 80, "h", "/a:1"),
        ("unix:/tmp/s?x", "unix:/tmp/s?x", 0, "localhost", ""),
    ])
    func `a URL is an address and what is asked for there`(_ url: String, _ host: String, _ port: UInt16, _ field: String, _ target: String)
        throws
    {
        let (address, rest) = try HTTPAddress.split(url)
        #expect(address.host == host && address.port == port && address.hostField == field && rest == target)
        #expect(try HTTPAddress(url: url) == address)
    }

    @Test(arguments: [
        "https://h", "https://localhost.", "https://", "http://", "http:///x", "http://?x", "http://h:", "http://h:65536", "http://h:+1",
        "http://a@h", "http://h/@",
        "http://h#x", "http://h/?#", "http://h/\\", "http://h/ x", "http://h/ä", "http://::1", "http://[::1", "",
    ])
    func `a URL that cannot be asked says what would be right`(_ url: String) {
        let error = #expect(throws: HTTPRequestError.self) { try HTTPAddress(url: url) }
        #expect(error?.description.hasSuffix("; write http://HOST:PORT or unix:PATH") == true)
    }
}
