// SPDX-License-Identifier: MIT
//
// What people write after `--host`: a name, an address of either family with or without brackets, or `unix:PATH`.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A host that cannot be listened on, and what can.
package struct HostError: Error, CustomStringConvertible, Sendable {
    package let description: String
}

/// One resolved address to listen on.
package struct SocketAddress: Sendable, CustomStringConvertible {
    /// The bytes of a `sockaddr` of this family.
    private var bytes: [UInt8]
    package let family: Int32
    private let name: String
    private var port: UInt16 = 0
    let isIPv6Any: Bool
    /// Path of a Unix domain socket.
    package let path: String?

    /// `127.0.0.1:3000`, `[::1]:3000` or `unix:PATH`.
    package var description: String { path == nil ? "\(name):\(port)" : name }

    /// All addresses that a host means; `localhost` is both loopback addresses, whatever the resolver says.
    package static func resolve(host: String, port: UInt16) throws(HostError) -> [SocketAddress] {
        if let path = host.droppingPrefix("unix:") { return [try SocketAddress(path: path)] }
        var name = host
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        guard !name.isEmpty else { throw HostError(description: "the host is empty; give a name, an address or unix:PATH") }
        if name == "localhost" {
            return try resolve(host: "127.0.0.1", port: port) + resolve(host: "::1", port: port)
        }
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(name, String(port), &hints, &list)
        guard result == 0, let first = list else {
            throw HostError(
                description: "the host \(name) is not known here: \(String(cString: gai_strerror(result))); choose another with --host")
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var entry: UnsafeMutablePointer<addrinfo>? = first
        while let info = entry, addresses.count < 16 {
            if let address = info.pointee.ai_addr {
                addresses.append(SocketAddress(address, length: Int(info.pointee.ai_addrlen), port: port))
            }
            entry = info.pointee.ai_next
        }
        return addresses
    }

    /// The same address with another port; a path has none.
    func withPort(_ port: UInt16) -> SocketAddress {
        guard path == nil, bytes.count >= 4 else { return self }
        var copy = self
        // `sin_port` and `sin6_port` lie at the same place, in network order.
        copy.bytes[2] = UInt8(port >> 8)
        copy.bytes[3] = UInt8(port & 0xFF)
        copy.port = port
        return copy
    }

    private init(_ address: UnsafePointer<sockaddr>, length: Int, port: UInt16) {
        bytes = Array(UnsafeRawBufferPointer(start: address, count: length))
        family = Int32(address.pointee.sa_family)
        path = nil
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        getnameinfo(address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        let name = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        isIPv6Any = name == "::"
        self.name = name.contains(":") ? "[\(name)]" : name
        self.port = port
    }

    private init(path: String) throws(HostError) {
        var address = sockaddr_un()
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard !path.isEmpty, path.utf8.count < room, !path.utf8.contains(0) else {
            throw HostError(description: "a socket path has 1 to \(room - 1) bytes")
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        bytes = withUnsafeBytes(of: &address) { Array($0) }
        family = AF_UNIX
        isIPv6Any = false
        name = "unix:\(path)"
        self.path = path
    }

    func withSockAddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: MemoryLayout<sockaddr_storage>.alignment) { copy in
            copy.copyBytes(from: bytes)
            // The bytes are those of a sockaddr that the C library or the initialiser above has made; the copy is aligned for each family.
            guard let pointer = copy.assumingMemoryBound(to: sockaddr.self).baseAddress else { return body([sockaddr()], 0) }
            return body(pointer, socklen_t(bytes.count))
        }
    }
}

extension String {
    fileprivate func droppingPrefix(_ prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }
}
