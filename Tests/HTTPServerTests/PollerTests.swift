// SPDX-License-Identifier: MIT
//
// Both pollers over pipes and socket pairs: whatever waits must tell the same.

import Testing

@testable import HTTPServer

#if canImport(Glibc)
    import Glibc
    private let streamType = Int32(SOCK_STREAM.rawValue)
#else
    import Darwin
    private let streamType = SOCK_STREAM
#endif

/// Two connected descriptors that do not block. The first one is given to a poller, which closes it; the second one is closed here.
final class Pair {
    enum Kind: CaseIterable { case pipe, sockets }

    let polled: Int32
    let other: Int32
    private var isOpen = true

    init(_ kind: Kind) throws {
        var pair: [Int32] = [-1, -1]
        let result = kind == .pipe ? systemPipe(&pair) : socketpair(AF_UNIX, streamType, 0, &pair)
        try #require(result == 0)
        pair.forEach(Socket.makeNonBlocking)
        (polled, other) = (pair[0], pair[1])
    }

    deinit { closeOther() }

    func closeOther() {
        guard isOpen else { return }
        isOpen = false
        close(other)
    }

    func write(_ count: Int = 1) {
        let bytes = [UInt8](repeating: 7, count: count)
        #expect(systemWrite(other, bytes) == count)
    }

    /// Takes in all there is; returns the count, and whether the end was met.
    func readAll() -> (count: Int, isEnd: Bool) { drain(polled) }
    func readAllOther() -> (count: Int, isEnd: Bool) { drain(other) }

    /// Writes until nothing more is taken.
    func fill() -> Int {
        let bytes = [UInt8](repeating: 7, count: 16 * 1024)
        var total = 0
        while case let count = systemWrite(polled, bytes), count > 0 { total += count }
        return total
    }
}

private func systemPipe(_ pair: inout [Int32]) -> Int32 { pipe(&pair) }
private func systemWrite(_ descriptor: Int32, _ bytes: [UInt8]) -> Int { write(descriptor, bytes, bytes.count) }

private func drain(_ descriptor: Int32) -> (count: Int, isEnd: Bool) {
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    var total = 0
    while true {
        let count = read(descriptor, &chunk, chunk.count)
        if count <= 0 { return (total, count == 0) }
        total += count
    }
}

struct PollerTests {
    /// Reached only where a test fails.
    private static let patience: Int32 = 60_000

    /// Waits until something is told, over empty wake-ups.
    private func next(_ poller: any Poller) throws -> [PollEvent] {
        var events: [PollEvent] = []
        for _ in 0..<3 where events.isEmpty { poller.wait(milliseconds: Self.patience, into: &events) }
        try #require(!events.isEmpty)
        return events
    }

    /// Waits for a readable one, over what else is told.
    private func nextReadable(_ poller: any Poller, _ token: UInt64) throws -> PollEvent {
        for _ in 0..<10 {
            if let event = try next(poller).first(where: { $0.readable && $0.token == token }) { return event }
        }
        throw SocketError("wait", "poller", code: ETIMEDOUT)
    }

    private func isSilent(_ poller: any Poller, milliseconds: Int32 = 30) -> Bool {
        var events: [PollEvent] = []
        poller.wait(milliseconds: milliseconds, into: &events)
        return !events.contains { $0.readable }
    }

    @Test(arguments: PollerKind.allCases, Pair.Kind.allCases)
    func `what becomes readable is told once for each change`(_ kind: PollerKind, _ pairKind: Pair.Kind) throws {
        let poller = try kind.makePoller()
        let pair = try Pair(pairKind)
        try poller.add(pair.polled, token: 42)
        #expect(isSilent(poller))
        for _ in 0..<3 {
            pair.write()
            let event = try nextReadable(poller, 42)
            #expect(!event.mayHaveEnded || kind == .dispatch)
            #expect(isSilent(poller))
            #expect(pair.readAll().count == 1)
            poller.rearmRead(pair.polled)
            #expect(isSilent(poller))
        }
        poller.removeAndClose(pair.polled)
    }

    @Test(arguments: PollerKind.allCases, Pair.Kind.allCases)
    func `what is readable already is told when it is added`(_ kind: PollerKind, _ pairKind: Pair.Kind) throws {
        let poller = try kind.makePoller()
        let pair = try Pair(pairKind)
        pair.write(1000)
        try poller.add(pair.polled, token: 1)
        _ = try nextReadable(poller, 1)
        #expect(pair.readAll().count == 1000)
        poller.removeAndClose(pair.polled)
    }

    @Test(arguments: PollerKind.allCases, Pair.Kind.allCases)
    func `what comes between reading and rearming is told`(_ kind: PollerKind, _ pairKind: Pair.Kind) throws {
        let poller = try kind.makePoller()
        let pair = try Pair(pairKind)
        try poller.add(pair.polled, token: 1)
        pair.write()
        _ = try nextReadable(poller, 1)
        #expect(pair.readAll().count == 1)
        pair.write()
        poller.rearmRead(pair.polled)
        _ = try nextReadable(poller, 1)
        poller.removeAndClose(pair.polled)
    }

    @Test(arguments: PollerKind.allCases, Pair.Kind.allCases)
    func `the end is told, with what came before it`(_ kind: PollerKind, _ pairKind: Pair.Kind) throws {
        let poller = try kind.makePoller()
        let pair = try Pair(pairKind)
        try poller.add(pair.polled, token: 1)
        pair.write(5)
        pair.closeOther()
        let event = try nextReadable(poller, 1)
        #expect(event.mayHaveEnded)
        #expect(pair.readAll() == (5, true))
        poller.removeAndClose(pair.polled)
    }

    @Test(arguments: PollerKind.allCases)
    func `room after a blocked write is told`(_ kind: PollerKind) throws {
        let poller = try kind.makePoller()
        let pair = try Pair(.sockets)
        try poller.add(pair.polled, token: 9)
        for _ in 0..<3 {
            let filled = pair.fill()
            #expect(filled > 0)
            var events: [PollEvent] = []
            poller.wait(milliseconds: 0, into: &events)
            poller.rearmWrite(pair.polled)
            #expect(pair.readAllOther().count == filled)
            var isWritable = false
            for _ in 0..<10 where !isWritable { isWritable = try next(poller).contains { $0.writable && $0.token == 9 } }
            #expect(isWritable)
        }
        poller.removeAndClose(pair.polled)
    }

    @Test(arguments: PollerKind.allCases)
    func `a writer whose peer goes away is told`(_ kind: PollerKind) throws {
        let poller = try kind.makePoller()
        let pair = try Pair(.sockets)
        try poller.add(pair.polled, token: 9)
        _ = pair.fill()
        poller.rearmWrite(pair.polled)
        pair.closeOther()
        // One side or the other: Dispatch tells of a hang-up once.
        let events = try next(poller)
        #expect(events.contains { $0.token == 9 && ($0.writable || $0.mayHaveEnded) })
        poller.removeAndClose(pair.polled)
    }

    @Test(arguments: PollerKind.allCases)
    func `what was removed is closed and says no more`(_ kind: PollerKind) throws {
        let poller = try kind.makePoller()
        for isReading in [true, false] {
            let pair = try Pair(.sockets)
            try poller.add(pair.polled, token: 5)
            if isReading { poller.rearmRead(pair.polled) } else { _ = pair.fill() }
            if !isReading { poller.rearmWrite(pair.polled) }
            poller.removeAndClose(pair.polled)
            // The peer sees the end, at once or when Dispatch has let go.
            while !pair.readAllOther().isEnd {
                var peer = pollfd(fd: pair.other, events: Int16(POLLIN), revents: 0)
                try #require(poll(&peer, 1, Self.patience) == 1)
            }
        }
        #expect(isSilent(poller))
    }

    @Test(arguments: PollerKind.allCases)
    func `each of many is told under its own token`(_ kind: PollerKind) throws {
        let poller = try kind.makePoller()
        let pairs = try (0..<600).map { _ in try Pair(.sockets) }
        for (index, pair) in pairs.enumerated() { try poller.add(pair.polled, token: UInt64(index) << 32 | 7) }
        for pair in pairs { pair.write() }
        var told: Set<Int> = []
        while told.count < pairs.count {
            for event in try next(poller) where event.readable {
                #expect(event.token & 0xFFFF_FFFF == 7)
                #expect(told.insert(Int(event.token >> 32)).inserted)
            }
        }
        for pair in pairs { poller.removeAndClose(pair.polled) }
    }

    @Test(arguments: PollerKind.allCases)
    func `a wait ends after its time and leaves nothing of the last one`(_ kind: PollerKind) throws {
        let poller = try kind.makePoller()
        var events = [PollEvent(token: 1, readable: true, writable: false, mayHaveEnded: false)]
        let began = Clock.system.monotonic()
        poller.wait(milliseconds: 20, into: &events)
        #expect(events.isEmpty)
        #expect(Clock.system.monotonic() - began >= 15_000)
        poller.wait(milliseconds: 0, into: &events)
        #expect(events.isEmpty)
    }

    #if os(Linux)
        @Test func `what cannot be polled is an error of epoll`() throws {
            let poller = try PollerKind.epoll.makePoller()
            let error = #expect(throws: SocketError.self) { try poller.add(-1, token: 1) }
            #expect(error?.call == "epoll_ctl")
            #expect(error?.code == EBADF)
        }
    #endif
}
