// SPDX-License-Identifier: MIT
//
// All socket system calls, and all that differs between Linux and the BSDs. A descriptor is a plain number here; who owns it says so.

import CLinux

#if canImport(Glibc)
    import Glibc
    private let streamType = Int32(SOCK_STREAM.rawValue)
    private let noSignal = Int32(MSG_NOSIGNAL)
#else
    import Darwin
    private let streamType = SOCK_STREAM
    private let noSignal: Int32 = 0  // SO_NOSIGPIPE on the socket instead
#endif

/// What one read or write did.
enum Transfer {
    case bytes(Int)
    /// Nothing can be moved now; the poller tells when.
    case wouldBlock
    /// The peer sends no more.
    case end
    /// The connection is broken.
    case failed

    var isEnd: Bool { if case .end = self { true } else { false } }
}

enum Accepted {
    case connection(Int32, Peer)
    /// Nobody waits.
    case none
    /// No descriptor or memory is free: try again later.
    case exhausted
}

enum Socket {
    static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .wouldBlock
            default: return .failed
            }
        }
    }

    static func send(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Transfer {
        while true {
            #if canImport(Glibc)
                let count = Glibc.send(descriptor, buffer.baseAddress, buffer.count, noSignal)
            #else
                let count = Darwin.send(descriptor, buffer.baseAddress, buffer.count, noSignal)
            #endif
            if count >= 0 { return .bytes(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .wouldBlock
            default: return .failed
            }
        }
    }

    /// The accepted socket does not block, is closed on exec, and has the listener's TCP_NODELAY.
    static func accept(_ listener: Int32) -> Accepted {
        // A listener on which every try fails for another reason must not hold its worker: it is tried again later.
        var address = sockaddr_in6()
        for _ in 0..<64 {
            // A path is longer and cut: of a Unix domain socket only the family is asked for.
            var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
            #if canImport(Glibc)
                let descriptor = switchboard_accept4(listener, &address, &length, Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue))
            #else
                let descriptor = withUnsafeMutablePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Darwin.accept(listener, $0, &length) }
                }
            #endif
            if descriptor >= 0 {
                #if !canImport(Glibc)
                    makeNonBlocking(descriptor)
                    setOption(descriptor, SOL_SOCKET, SO_NOSIGPIPE)
                #endif
                return .connection(descriptor, peer(&address))
            }
            switch errno {
            // The peer went away, or a pending network error is reported here: the next one may be fine (accept(2)).
            case EINTR, ECONNABORTED, EPROTO, ENETDOWN, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH, EPERM: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
            default: return .none
            }
        }
        return .exhausted
    }

    private static func peer(_ address: inout sockaddr_in6) -> Peer {
        switch Int32(address.sin6_family) {
        case AF_INET6:
            return withUnsafeBytes(of: &address.sin6_addr) {
                .address(
                    IPAddress(
                        high: UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                        low: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))))
            }
        case AF_INET:
            return withUnsafeMutablePointer(to: &address) { pointer in
                // The kernel has written a `sockaddr_in`, which is the smaller of the two.
                pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    .address(IPAddress(ipv4: UInt32(bigEndian: $0.pointee.sin_addr.s_addr)))
                }
            }
        case AF_UNIX: return .local
        default: return .address(.unspecified)
        }
    }

    static func shutdownWriting(_ descriptor: Int32) { shutdown(descriptor, Int32(SHUT_WR)) }

    static func close(_ descriptor: Int32) {
        #if canImport(Glibc)
            _ = Glibc.close(descriptor)
        #else
            _ = Darwin.close(descriptor)
        #endif
    }

    static func makeNonBlocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    static func setOption(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32 = 1) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// A listening socket.
    ///
    /// - Parameter shared: whether several sockets of this process listen on the address, one for each worker.
    static func listen(on address: SocketAddress, backlog: Int32, shared: Bool) throws(SocketError) -> Int32 {
        let descriptor = try bind(to: address, shared: shared)
        #if canImport(Glibc)
            let listening = Glibc.listen(descriptor, backlog)
        #else
            let listening = Darwin.listen(descriptor, backlog)
        #endif
        guard listening == 0 else {
            let error = SocketError("listen", address.description)
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func bind(to address: SocketAddress, shared: Bool) throws(SocketError) -> Int32 {
        let descriptor = socket(address.family, streamType, 0)
        guard descriptor >= 0 else { throw SocketError("socket", address.description) }
        makeNonBlocking(descriptor)
        if address.family != AF_UNIX {
            setOption(descriptor, SOL_SOCKET, SO_REUSEADDR)
            if shared { setOption(descriptor, SOL_SOCKET, SO_REUSEPORT) }
            setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
            // `::` also takes IPv4, as people who write it in a container expect.
            if address.family == AF_INET6 { setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, address.isIPv6Any ? 0 : 1) }
        }
        #if canImport(Glibc)
            let bound = address.withSockAddr { Glibc.bind(descriptor, $0, $1) }
        #else
            let bound = address.withSockAddr { Darwin.bind(descriptor, $0, $1) }
        #endif
        guard bound == 0 else {
            let error = SocketError("bind", address.description)
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Whether somebody listens already. SO_REUSEPORT would let a second server of the same user share the port in silence, so a socket
    /// without it is bound first; it does not listen, or a client could connect to it and be reset.
    static func probe(_ address: SocketAddress) throws(SocketError) {
        close(try bind(to: address, shared: false))
    }

    /// A connected, blocking socket whose every wait ends after `milliseconds`; nil, with `errno` set, where nobody takes the connection.
    static func connect(to address: SocketAddress, milliseconds: Int32) -> Int32? {
        let descriptor = socket(address.family, streamType, 0)
        guard descriptor >= 0 else { return nil }
        var limit = timeval()
        limit.tv_sec = Int(milliseconds / 1000)
        limit.tv_usec = .init(milliseconds % 1000 * 1000)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        #if canImport(Glibc)
            let result = address.withSockAddr { Glibc.connect(descriptor, $0, $1) }
        #else
            let result = address.withSockAddr { Darwin.connect(descriptor, $0, $1) }
        #endif
        guard result != 0 else { return descriptor }
        let code = errno
        close(descriptor)
        errno = code
        return nil
    }

    /// Begins to connect a socket that does not block; where `isConnected` is false the poller tells when `error(of:)` knows how it went. Nil,
    /// with `errno` set, where it has failed already.
    static func startConnecting(to address: SocketAddress) -> (descriptor: Int32, isConnected: Bool)? {
        let descriptor = socket(address.family, streamType, 0)
        guard descriptor >= 0 else { return nil }
        makeNonBlocking(descriptor)
        if address.family != AF_UNIX { setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY) }
        #if canImport(Glibc)
            let result = address.withSockAddr { Glibc.connect(descriptor, $0, $1) }
        #else
            setOption(descriptor, SOL_SOCKET, SO_NOSIGPIPE)
            let result = address.withSockAddr { Darwin.connect(descriptor, $0, $1) }
        #endif
        if result == 0 { return (descriptor, true) }
        let code = errno
        // After a signal it goes on by itself (connect(2)).
        if code == EINPROGRESS || code == EINTR { return (descriptor, false) }
        close(descriptor)
        errno = code
        return nil
    }

    /// Takes the error that waits at a socket; 0 where none does.
    static func error(of descriptor: Int32) -> Int32 {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 ? code : errno
    }

    /// Whether a connection to a Unix domain socket is taken.
    static func answers(_ address: SocketAddress) -> Bool {
        guard let descriptor = connect(to: address, milliseconds: 1000) else { return errno == EAGAIN }
        close(descriptor)
        return true
    }

    /// The port that the kernel chose for port 0.
    static func port(of descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard getsockname(descriptor, address, &length) == 0 else { return 0 }
                if Int32(address.pointee.sa_family) == AF_INET6 {
                    return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin6_port) }
                }
                return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin_port) }
            }
        }
    }

    /// Raises the soft descriptor limit to the hard one and returns what holds then.
    static func raiseDescriptorLimit() -> Int {
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 256 }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            // Some systems report no hard limit at all; a million is more than this server ever uses.
            raised.rlim_cur = min(limit.rlim_max, 1_048_576)
            if raised.rlim_cur > limit.rlim_cur, setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return Int(min(limit.rlim_cur, 1_048_576))
    }
}
