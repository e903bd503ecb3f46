// SPDX-License-Identifier: MIT
//
// Opens the listeners and starts the workers, each on a Dispatch queue of its own that it never leaves; stops them in order.

import Dispatch
import Locking

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Why the server could not start.
package enum ServerError: Error, CustomStringConvertible, Sendable {
    case host(HostError)
    case socket(SocketError)
    /// Somebody else listens on this address.
    case inUse(String)

    package var description: String {
        switch self {
        case .host(let error): error.description
        case .socket(let error): "\(error); \(error.cure)"
        case .inUse(let address):
            "\(address) is in use by another program; stop that one or choose another with \(address.hasPrefix("unix:") ? "--host" : "--port")"
        }
    }
}

/// A running server.
package final class Server: Sendable {
    /// Where it listens, for people: `127.0.0.1:3000`.
    package let addresses: [String]
    /// The port, also where 0 was asked for; 0 for a Unix domain socket.
    package let port: UInt16
    package let maxConnections: Int
    private let mailboxes: [Mailbox]
    private let workerStatistics: [WorkerStatistics]
    private let running = DispatchGroup()
    private let clock: Clock
    private let stopIdleTime: Int64
    private let socketFile: SocketFile?

    /// Listens and serves; returns once connections are accepted.
    package init(_ configuration: ServerConfiguration, service: any Service, clock: Clock = .system) throws(ServerError) {
        self.clock = clock
        stopIdleTime = configuration.stopIdleTime
        let workers = max(configuration.workers, 1)
        // Descriptors for the log, the pollers, the wake-ups and what the application opens.
        let reserve = 24 + workers * 4 + configuration.reservedDescriptors
        let possible = Socket.raiseDescriptorLimit() - reserve
        maxConnections = max(configuration.maxConnections ?? possible, 1)
        let listeners = try Listeners(configuration, workers: workers)
        addresses = listeners.addresses
        port = listeners.port
        socketFile = listeners.socketFile
        do {
            mailboxes = try (0..<workers).map { _ throws(SocketError) in try Mailbox() }
        } catch {
            throw .socket(error)
        }
        workerStatistics = (0..<workers).map { _ in WorkerStatistics() }
        let share = max(maxConnections / workers, 1)
        let started = Locked<SocketError?>(nil)
        let ready = DispatchGroup()
        for index in 0..<workers {
            ready.enter()
            running.enter()
            let (mailbox, statistics, own) = (mailboxes[index], workerStatistics[index], listeners.perWorker[index])
            let running = running
            DispatchQueue(label: "switchboard.worker-\(index)").async {
                defer { running.leave() }
                do {
                    var worker = try Worker.make(
                        configuration: configuration, clock: clock, listeners: own, mailbox: mailbox, statistics: statistics,
                        service: service,
                        maxConnections: share)
                    ready.leave()
                    worker.run()
                } catch {
                    started.withLock { $0 = error as? SocketError }
                    ready.leave()
                }
            }
        }
        ready.wait()
        if let error = started.withLock({ $0 }) {
            stop(grace: 0)
            throw .socket(error)
        }
    }

    /// Serves connections that come from now on with another certificate; those that are open go on with theirs. Of a server that was started
    /// without TLS it changes nothing.
    package func replaceCertificate(by context: TLSContext) {
        for mailbox in mailboxes { mailbox.send(.certificate(context)) }
    }

    package var statistics: ServerStatistics { workerStatistics.reduce(ServerStatistics()) { $0 + $1.snapshot } }

    /// Accepts what waits in the backlog, closes the listeners, lets what is being answered end, and returns when the last connection is
    /// closed or after `grace` milliseconds.
    package func stop(grace: Int64) {
        let deadline = clock.monotonic() / 1000 + grace
        // The path goes first: a server that follows this one may take it while this one still ends its connections.
        socketFile?.remove()
        for mailbox in mailboxes { mailbox.send(.stop(idle: stopIdleTime, deadline: deadline)) }
        running.wait()
    }
}

/// The file of a Unix domain socket, known by its inode: it may have become another server's.
private struct SocketFile: Sendable {
    private let path: String
    private let inode: UInt64?

    init(_ path: String) {
        self.path = path
        inode = Self.inode(of: path)
    }

    private static func inode(of path: String) -> UInt64? {
        var facts = stat()
        return lstat(path, &facts) == 0 ? UInt64(facts.st_ino) : nil
    }

    func remove() {
        if inode != nil, Self.inode(of: path) == inode { unlink(path) }
    }
}

/// The sockets before they are handed to the workers.
private struct Listeners {
    var perWorker: [[Int32]]
    var addresses: [String] = []
    var port: UInt16 = 0
    var socketFile: SocketFile?

    init(_ configuration: ServerConfiguration, workers: Int) throws(ServerError) {
        // With port 0 the second family must get the port that the kernel chose for the first; where somebody has it, choose again.
        var attempt = 0
        while true {
            perWorker = Array(repeating: [], count: workers)
            addresses = []
            port = configuration.port
            do {
                try open(configuration)
                return
            } catch {
                for descriptor in Set(perWorker.joined()) { close(descriptor) }
                attempt += 1
                guard configuration.port == 0, attempt < 16, case .inUse = error else { throw error }
            }
        }
    }

    private mutating func open(_ configuration: ServerConfiguration) throws(ServerError) {
        let resolved: [SocketAddress]
        do { resolved = try SocketAddress.resolve(host: configuration.host, port: port) } catch { throw .host(error) }
        for candidate in resolved {
            let address = candidate.withPort(port)
            do {
                try listen(address, configuration)
            } catch {
                if error.isAddressInUse { throw .inUse(address.description) }
                // A machine without IPv6 still has a localhost.
                if configuration.host == "localhost", !addresses.isEmpty { continue }
                throw .socket(error)
            }
        }
    }

    private mutating func listen(_ address: SocketAddress, _ configuration: ServerConfiguration) throws(SocketError) {
        if let path = address.path {
            try removeStaleSocket(path)
            let descriptor = try Socket.listen(on: address, backlog: configuration.backlog, shared: false)
            // There is one socket for all: each worker but the first takes from a duplicate.
            for index in perWorker.indices { perWorker[index].append(index == 0 ? descriptor : fcntl(descriptor, F_DUPFD_CLOEXEC, 0)) }
            socketFile = SocketFile(path)
            addresses.append(address.description)
            return
        }
        if port != 0 { try Socket.probe(address) }
        var bound = address
        for index in perWorker.indices {
            let descriptor = try Socket.listen(on: bound, backlog: configuration.backlog, shared: true)
            perWorker[index].append(descriptor)
            if index == 0 {
                port = Socket.port(of: descriptor)
                bound = bound.withPort(port)
            }
        }
        addresses.append(bound.description)
    }

    /// A socket file that nobody listens on any more is in the way.
    private func removeStaleSocket(_ path: String) throws(SocketError) {
        guard let address = try? SocketAddress.resolve(host: "unix:\(path)", port: 0).first, !Socket.answers(address) else { return }
        var information = stat()
        guard lstat(path, &information) == 0 else { return }
        guard information.st_mode & S_IFMT == S_IFSOCK else { throw SocketError("bind", "unix:\(path)", code: EEXIST) }
        unlink(path)
    }
}
