// SPDX-License-Identifier: MIT
//
// The poller for every platform that Dispatch runs on. Each descriptor has a read source, and a write source while a write is blocked; a
// source suspends itself when it has fired and is resumed by `rearm…`. Every suspend, resume and cancel happens on one serial queue, so that
// they cannot meet; a descriptor is closed in the cancel handler of its last source, as Dispatch asks.
//
// On Linux it stands in for other platforms, and is not for a server that strangers can reach: there libdispatch takes a descriptor that was
// hung up out of its tables without a lock (swift-corelibs-libdispatch, issue 949), so that a flood of resets can end the process.

import Dispatch
import Locking

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

final class DispatchPoller: Poller {
    private let inbox = Inbox()
    private var entries: [Int32: Entry] = [:]

    func add(_ descriptor: Int32, token: UInt64) throws(SocketError) {
        let entry = Entry(descriptor, token: token, inbox: inbox)
        entries[descriptor] = entry
        entry.start()
    }

    func rearmRead(_ descriptor: Int32) { entries[descriptor]?.resumeReading() }
    func rearmWrite(_ descriptor: Int32) { entries[descriptor]?.awaitWriting() }

    func removeAndClose(_ descriptor: Int32) {
        guard let entry = entries.removeValue(forKey: descriptor) else {
            close(descriptor)
            return
        }
        entry.cancel()
    }

    func wait(milliseconds: Int32, into events: inout [PollEvent]) {
        events.removeAll(keepingCapacity: true)
        inbox.take(milliseconds: milliseconds, into: &events)
    }

    deinit { for entry in entries.values { entry.cancel() } }
}

/// Where the sources put what has become ready, and the worker waits.
private final class Inbox: Sendable {
    private let ready = Locked<[PollEvent]>([])
    private let filled = DispatchSemaphore(value: 0)

    func put(_ event: PollEvent) {
        let wasEmpty = ready.withLock { events in
            events.append(event)
            return events.count == 1
        }
        if wasEmpty { filled.signal() }
    }

    func take(milliseconds: Int32, into events: inout [PollEvent]) {
        _ = filled.wait(timeout: milliseconds < 0 ? .distantFuture : .now() + .milliseconds(Int(milliseconds)))
        events = ready.withLock { ready in
            defer { ready = [] }
            return ready
        }
    }
}

/// The sources of one descriptor. `@unchecked`: all that changes is touched on `queue` only.
private final class Entry: @unchecked Sendable {
    private static let queue = DispatchQueue(label: "switchboard.poller")

    private let descriptor: Int32
    private let token: UInt64
    private let inbox: Inbox
    private let reading: any DispatchSourceRead
    private var writing: (any DispatchSourceWrite)?
    private var readingIsSuspended = false
    /// Sources that still use the descriptor.
    private var users = 1
    private var isCancelled = false

    init(_ descriptor: Int32, token: UInt64, inbox: Inbox) {
        self.descriptor = descriptor
        self.token = token
        self.inbox = inbox
        reading = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: Self.queue)
    }

    func start() {
        reading.setEventHandler { [unowned self] in  // cancelled, and so silent, before the entry goes
            guard !isCancelled, !readingIsSuspended else { return }
            readingIsSuspended = true
            reading.suspend()
            // A hang-up is not told apart, and after it a source may never fire again: the reader must go on to the end.
            inbox.put(PollEvent(token: token, readable: true, writable: false, mayHaveEnded: true))
        }
        reading.setCancelHandler { [self] in release() }
        reading.activate()
    }

    func resumeReading() {
        Self.queue.async { [self] in
            guard readingIsSuspended, !isCancelled else { return }
            readingIsSuspended = false
            reading.resume()
        }
    }

    func awaitWriting() {
        Self.queue.async { [self] in
            guard writing == nil, !isCancelled else { return }
            let source = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: Self.queue)
            source.setEventHandler { [unowned self] in
                guard let source = writing else { return }
                writing = nil
                source.cancel()
                inbox.put(PollEvent(token: token, readable: false, writable: true, mayHaveEnded: false))
            }
            source.setCancelHandler { [self] in release() }
            users += 1
            writing = source
            source.activate()
        }
    }

    /// The last one closes; that of reading is cancelled only when all are.
    private func release() {
        users -= 1
        if users == 0 { close(descriptor) }
    }

    func cancel() {
        Self.queue.async { [self] in
            isCancelled = true
            writing?.cancel()
            writing = nil
            reading.cancel()
            // A suspended source runs no cancel handler.
            if readingIsSuspended { reading.resume() }
        }
    }
}
