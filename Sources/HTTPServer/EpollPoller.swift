// SPDX-License-Identifier: MIT
//
// Edge-triggered epoll. A descriptor is registered once for all it may ever be asked, so reading, being blocked and going on cost no further
// system call; closing the descriptor removes it.

#if os(Linux)
    import CLinux
    import Glibc

    final class EpollPoller: Poller {
        private let epoll: Int32
        /// As many as one wake-up may bring; the rest comes with the next.
        private var ready = [epoll_event](repeating: epoll_event(), count: 256)

        init() throws(SocketError) {
            epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
            guard epoll >= 0 else { throw SocketError("epoll_create1", "epoll") }
        }

        deinit { close(epoll) }

        private static let interest = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue

        func add(_ descriptor: Int32, token: UInt64) throws(SocketError) {
            var event = epoll_event()
            event.events = Self.interest
            event.data.u64 = token
            guard epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
                throw SocketError("epoll_ctl", "descriptor \(descriptor)")
            }
        }

        func rearmRead(_ descriptor: Int32) {}
        func rearmWrite(_ descriptor: Int32) {}
        func removeAndClose(_ descriptor: Int32) { close(descriptor) }

        func wait(milliseconds: Int32, into events: inout [PollEvent]) {
            events.removeAll(keepingCapacity: true)
            let count = epoll_wait(epoll, &ready, Int32(ready.count), milliseconds)
            guard count > 0 else { return }  // a signal's EINTR is an empty wake-up
            for index in 0..<Int(count) {
                let bits = ready[index].events
                let broken = bits & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
                let ended = broken || bits & EPOLLRDHUP.rawValue != 0
                events.append(
                    PollEvent(
                        token: ready[index].data.u64, readable: ended || bits & EPOLLIN.rawValue != 0,
                        writable: broken || bits & EPOLLOUT.rawValue != 0, mayHaveEnded: ended))
            }
        }
    }
#endif
