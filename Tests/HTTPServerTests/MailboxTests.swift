// SPDX-License-Identifier: MIT

import Dispatch
import HTTPWire
import Testing

@testable import HTTPServer

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct MailboxTests {
    private func isAwake(_ mailbox: Mailbox, milliseconds: Int32 = 0) -> Bool {
        var entry = pollfd(fd: mailbox.wakeDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) == 1
    }

    private func tickets(_ messages: [Message]) -> [UInt32] {
        messages.flatMap { message in
            if case .complete(let tickets, _) = message { tickets.map(\.serial) } else { [UInt32]() }
        }
    }

    @Test func `messages wake the worker, and are taken in order and once`() throws {
        let mailbox = try Mailbox()
        #expect(!isAwake(mailbox))
        #expect(mailbox.take().isEmpty)
        mailbox.complete([Ticket(slot: 1, serial: 1), Ticket(slot: 2, serial: 2)], with: Response(.ok))
        mailbox.complete([Ticket(slot: 3, serial: 3)], with: Response(.serviceUnavailable))
        #expect(isAwake(mailbox))
        let messages = mailbox.take()
        #expect(tickets(messages) == [1, 2, 3])
        #expect(messages.count == 2)
        if case .complete(_, let response)? = messages.last { #expect(response.status == .serviceUnavailable) }
        #expect(!isAwake(mailbox))
        #expect(mailbox.take().isEmpty)
        mailbox.send(.stop(idle: 1, deadline: 2))
        #expect(isAwake(mailbox))
        #expect(mailbox.take().count == 1)
    }

    @Test func `an answer to nobody wakes nobody`() throws {
        let mailbox = try Mailbox()
        mailbox.complete([], with: Response(.ok))
        #expect(!isAwake(mailbox))
        #expect(mailbox.take().isEmpty)
    }

    @Test func `no message of many threads is lost or left asleep`() throws {
        let mailbox = try Mailbox()
        let (threads, each) = (8, 2000)
        let senders = DispatchGroup()
        for thread in 0..<threads {
            DispatchQueue(label: "sender-\(thread)").async(group: senders) {
                for number in 0..<each { mailbox.complete([Ticket(slot: UInt32(thread), serial: UInt32(number))], with: Response(.ok)) }
            }
        }
        var next = [UInt32](repeating: 0, count: threads)
        var count = 0
        while count < threads * each {
            try #require(isAwake(mailbox, milliseconds: 10_000))
            for case .complete(let tickets, _) in mailbox.take() {
                for ticket in tickets {
                    #expect(ticket.serial == next[Int(ticket.slot)])
                    next[Int(ticket.slot)] += 1
                    count += 1
                }
            }
        }
        senders.wait()
        #expect(mailbox.take().isEmpty)
    }
}
