// SPDX-License-Identifier: MIT
//
// What the application counts, beside what the server counts of connections; `/metrics` shows both.

import Synchronization

/// What one handler counts: written by its worker and, for events, by the log's queue; read by any thread.
final class HandlerStatistics: Sendable {
    let answers = Atomic<Int>(0)
    let cannotConnect = Atomic<Int>(0)
    let unreadableAnswers = Atomic<Int>(0)
    let events = Atomic<Int>(0)
    let malformedEvents = Atomic<Int>(0)
    let refusedEvents = Atomic<Int>(0)
    let faults = Atomic<Int>(0)
    let unfilledTemplates = Atomic<Int>(0)
    let flowReplies = Atomic<Int>(0)
    let earlyReplies = Atomic<Int>(0)
    let verifiedWebhooks = Atomic<Int>(0)
    let unsignedWebhooks = Atomic<Int>(0)
    let deniedNumbers = Atomic<Int>(0)
    let overUserLimit = Atomic<Int>(0)
    let overCallLimit = Atomic<Int>(0)
    /// What is answered by an NCCO, from the whole request on; by the worker alone.
    let answerTimes = LatencyRecorder()
    /// Events; by queues of the log.
    let eventTimes = LatencyRecorder()

    /// For counters that the worker alone writes: no locked instruction.
    @inline(__always) func count(_ counter: borrowing Atomic<Int>) {
        counter.store(counter.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }
}

/// The sums over all handlers.
struct HandlerCounts {
    private(set) var answers = 0
    private(set) var cannotConnect = 0
    private(set) var unreadableAnswers = 0
    private(set) var events = 0
    private(set) var malformedEvents = 0
    private(set) var refusedEvents = 0
    private(set) var faults = 0
    private(set) var unfilledTemplates = 0
    private(set) var flowReplies = 0
    private(set) var earlyReplies = 0
    private(set) var verifiedWebhooks = 0
    private(set) var unsignedWebhooks = 0
    private(set) var deniedNumbers = 0
    private(set) var overUserLimit = 0
    private(set) var overCallLimit = 0

    mutating func add(_ one: HandlerStatistics) {
        answers += one.answers.load(ordering: .relaxed)
        cannotConnect += one.cannotConnect.load(ordering: .relaxed)
        unreadableAnswers += one.unreadableAnswers.load(ordering: .relaxed)
        events += one.events.load(ordering: .relaxed)
        malformedEvents += one.malformedEvents.load(ordering: .relaxed)
        refusedEvents += one.refusedEvents.load(ordering: .relaxed)
        faults += one.faults.load(ordering: .relaxed)
        unfilledTemplates += one.unfilledTemplates.load(ordering: .relaxed)
        flowReplies += one.flowReplies.load(ordering: .relaxed)
        earlyReplies += one.earlyReplies.load(ordering: .relaxed)
        verifiedWebhooks += one.verifiedWebhooks.load(ordering: .relaxed)
        unsignedWebhooks += one.unsignedWebhooks.load(ordering: .relaxed)
        deniedNumbers += one.deniedNumbers.load(ordering: .relaxed)
        overUserLimit += one.overUserLimit.load(ordering: .relaxed)
        overCallLimit += one.overCallLimit.load(ordering: .relaxed)
    }
}
