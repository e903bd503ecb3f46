// SPDX-License-Identifier: MIT
//
// The one place that waits. A poller tells that a descriptor has become readable or writable, once for each change: whoever is told reads until
// nothing is left and then calls `rearmRead`. That is what edge-triggered epoll does by nature and what a DispatchSource does when it is
// suspended after each call, so both fit behind one interface and the rest of the server does not know which one runs.

/// Which implementation waits.
package enum PollerKind: String, Sendable, CaseIterable {
    /// epoll(7); Linux only, the fast one.
    case epoll
    /// DispatchSource; wherever Dispatch runs.
    case dispatch

    package static var preferred: PollerKind {
        #if os(Linux)
            .epoll
        #else
            .dispatch
        #endif
    }

    func makePoller() throws(SocketError) -> any Poller {
        switch self {
        case .epoll:
            #if os(Linux)
                return try EpollPoller()
            #else
                throw SocketError("epoll_create1", "epoll", code: 78)
            #endif
        case .dispatch: return DispatchPoller()
        }
    }
}

struct PollEvent {
    let token: UInt64
    let readable: Bool
    let writable: Bool
    /// Whether the peer may have closed: then a short read does not mean that nothing is left to learn.
    let mayHaveEnded: Bool
}

protocol Poller: AnyObject {
    /// Tells of `descriptor` from now on, also of what is ready already.
    func add(_ descriptor: Int32, token: UInt64) throws(SocketError)
    /// All there was has been read.
    func rearmRead(_ descriptor: Int32)
    /// A write found no room.
    func rearmWrite(_ descriptor: Int32)
    /// Stops telling and closes the descriptor.
    func removeAndClose(_ descriptor: Int32)
    /// Replaces `events` by what is ready, after at most `milliseconds` (negative: no limit).
    func wait(milliseconds: Int32, into events: inout [PollEvent])
}
