// SPDX-License-Identifier: MIT

import Testing

@testable import HTTPServer

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct AddressTests {
    @Test(arguments: [
        ("localhost", ["127.0.0.1:3000", "[::1]:3000"]), ("127.0.0.1", ["127.0.0.1:3000"]), ("0.0.0.0", ["0.0.0.0:3000"]),
        ("::1", ["[::1]:3000"]),
        ("[::1]", ["[::1]:3000"]), ("::", ["[::]:3000"]), ("[::]", ["[::]:3000"]), ("unix:/tmp/s", ["unix:/tmp/s"]),
        ("unix:relative", ["unix:relative"]),
    ])
    func `a host is all its addresses`(_ host: String, _ addresses: [String]) throws {
        #expect(try SocketAddress.resolve(host: host, port: 3000).map(\.description) == addresses)
    }

    @Test(arguments: [
        ("", "the host is empty"), ("[]", "the host is empty"), ("no.such.host.invalid", "no.such.host.invalid is not known here"),
        ("unix:", "a socket path has 1 to"),
        ("unix:" + String(repeating: "x", count: 200), "a socket path has 1 to"), ("unix:a\u{0}b", "a socket path has 1 to"),
    ])
    func `what is no host says why`(_ host: String, _ words: String) {
        let error = #expect(throws: HostError.self) { try SocketAddress.resolve(host: host, port: 1) }
        #expect(error?.description.contains(words) == true)
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func `the port is part of the address in network order`(_ host: String) throws {
        let address = try #require(try SocketAddress.resolve(host: host, port: 1).first).withPort(0x1234)
        #expect(address.description.hasSuffix(":4660"))
        let bytes = address.withSockAddr { pointer, length in Array(UnsafeRawBufferPointer(start: pointer, count: Int(length))) }
        #expect(bytes.count == (address.family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size))
        #expect(bytes[2...3] == [0x12, 0x34])
    }

    @Test func `a path has no port, and the any-address takes both families`() throws {
        let path = try #require(try SocketAddress.resolve(host: "unix:/tmp/s", port: 3000).first)
        #expect(path.withPort(9).description == "unix:/tmp/s")
        #expect(path.path == "/tmp/s")
        #expect(try SocketAddress.resolve(host: "::", port: 0).map(\.isIPv6Any) == [true])
        #expect(try SocketAddress.resolve(host: "::1", port: 0).map(\.isIPv6Any) == [false])
    }

    @Test(arguments: [
        ("", "http:// or unix:"), ("https://example.com", "this machine only"), ("localhost:3000", "http:// or unix:"),
        ("http://", "no host"),
        ("http:///health", "no host"),
        ("http://:80/", "no host"), ("http://h:99999", "65535"), ("http://h:x", "65535"), ("http://h:", "65535"),
        ("http://h/a b", "characters"),
        ("http://h/\r\nX: y", "characters"), ("http://hö", "characters"),
    ])
    func `a URL that cannot be asked says what can`(_ url: String, _ words: String) {
        let error = #expect(throws: HTTPRequestError.self) { try HealthProbe(url: url) }
        #expect(error?.fault == .usage)
        #expect(error?.description.contains(words) == true)
        #expect(error?.description.hasSuffix("write http://HOST:PORT or unix:PATH") == true)
    }

    @Test(arguments: ["http://localhost", "http://localhost:3000/", "http://[::1]:3000/prefix", "http://127.0.0.1/health", "unix:/tmp/s"])
    func `a URL that can be asked is taken`(_ url: String) throws {
        _ = try HealthProbe(url: url)
    }

    @Test func `an error names call, subject and reason`() {
        let error = SocketError("bind", "127.0.0.1:80", code: EADDRINUSE)
        #expect(error.description == "127.0.0.1:80: bind: Address already in use")
        #expect(error.isAddressInUse)
        #expect(!SocketError("bind", "127.0.0.1:80", code: EACCES).isAddressInUse)
        #expect(ServerError.inUse("127.0.0.1:80").description.contains("--port"))
    }
}
