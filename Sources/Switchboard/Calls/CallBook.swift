// SPDX-License-Identifier: MIT
//
// The calls of a log. Records come in any order, one by one: from files, and from the server while it writes them. The same records always give
// the same calls, and a record that comes twice counts once, so a book can be filled from a file's end while new records come in.
//
// It holds 10,000 calls, or as many as fit the bytes allowed: beyond that the one goes out whose last record is oldest. A book is a value with
// no lock: its owner guards it.

import JSON
package import NCCO

/// Calls by their `conversation_uuid`.
package struct CallBook: Sendable {
    /// What a book holds at most.
    package struct Limits: Sendable {
        package var calls = 10_000
        /// Of log lines, which are nearly all that a book consists of: 10,000 usual calls take 60 MiB.
        package var bytes = 96 * 1024 * 1024

        package init() {}
    }

    private let limits: Limits
    private var drafts: [String: CallDraft] = [:]
    /// Calls by their last record, oldest first; a pair that is no longer true is passed over.
    private var ages = Heap()
    private var bytes = 0
    /// For lists, without steps: worked out when asked for, and kept until a record comes.
    private var finished: [String: (isSilent: Bool, call: Call)] = [:]
    /// Records that name no call.
    package private(set) var unassigned = 0
    /// Calls that went out to make room.
    package private(set) var evicted = 0
    /// The newest arrival of all records; nil without any.
    package private(set) var latest: Int64?

    package init(limits: Limits = Limits()) { self.limits = limits }

    package var count: Int { drafts.count }

    /// Adds a record to the call it names, or to both that a transfer links.
    ///
    /// - Parameter goingOut: is given each call that has to make room, without its steps.
    /// - Returns: the keys of these calls, see `Identity`; none where the record names no call.
    @discardableResult
    package mutating func add(_ record: CallRecord, goingOut: (Call) -> Void = { _ in }) -> [String] {
        latest = max(latest ?? record.at, record.at)
        var keys: [String] = []
        var names = [record.text(.call)]
        if record.range(.event) != nil { names += [record.text(.conversationFrom), record.text(.conversationTo)] }
        for case let name? in names {
            let key = Identity(name).key
            guard !keys.contains(key) else { continue }
            keys.append(key)
            let added = drafts[key, default: CallDraft(key: key)].add(record, conversation: name)
            bytes += added.bytes
            if added.isLast { ages.push(Age(seq: record.seq, key: key)) }
            finished[key] = nil
        }
        if keys.isEmpty { unassigned += 1 }
        // Most pairs are no longer true: a call has some ten records.
        if ages.count > 4 * drafts.count + 1000 { ages = Heap(drafts.values.map { Age(seq: $0.lastSeq, key: $0.key) }) }
        makeRoom(goingOut)
        return keys
    }

    private mutating func makeRoom(_ goingOut: (Call) -> Void) {
        while drafts.count > limits.calls || (bytes > limits.bytes && drafts.count > 1), let age = ages.pop() {
            guard let draft = drafts[age.key], draft.lastSeq == age.seq else { continue }
            goingOut(draft.call(now: latest, steps: false))
            bytes -= draft.bytes
            drafts[age.key] = nil
            finished[age.key] = nil
            evicted += 1
        }
    }

    /// Takes all calls out, oldest last record first.
    ///
    /// - Parameter hasSteps: false leaves the steps out, for a list.
    package mutating func drain(steps hasSteps: Bool = true, _ body: (Call) -> Void) {
        while let age = ages.pop() {
            guard let draft = drafts[age.key], draft.lastSeq == age.seq else { continue }
            drafts[age.key] = nil
            body(draft.call(now: latest, steps: hasSteps))
        }
        (bytes, finished) = (0, [:])
    }

    /// - Parameters:
    ///   - name: its `conversation_uuid`, with or without `CON-`.
    ///   - now: see `CallDraft.call(now:)`.
    package func call(_ name: String, now: Int64? = nil) -> Call? { drafts[Identity(name).key]?.call(now: now) }

    /// The calls that have a leg of this `uuid`, in order of their first record.
    package func calls(withLeg uuid: String, now: Int64? = nil) -> [Call] {
        let key = Identity(uuid).key
        return drafts.values.map { $0.call(now: now) }.filter { $0.legs.contains { Identity($0.uuid).key == key } }
            .sorted { $0.firstSeq < $1.firstSeq }
    }

    /// Calls with a record above this number, in order of their last one: what a stream goes on from, whose event id is a `seq`.
    package func calls(after seq: UInt64, now: Int64? = nil) -> [Call] {
        drafts.values.filter { $0.lastSeq > seq }.sorted { ($0.lastSeq, $0.key) < ($1.lastSeq, $1.key) }.map { $0.call(now: now) }
    }

    private mutating func listed(_ key: String, now: Int64?) -> Call? {
        guard let draft = drafts[key] else { return nil }
        let isSilent = now.map { $0 - draft.lastAt > CallDraft.longestSilence } ?? false
        // Silence is the only thing that changes a call without a record.
        if let known = finished[key], known.isSilent == isSilent { return known.call }
        let call = draft.call(now: now, steps: false)
        finished[key] = (isSilent, call)
        return call
    }

    /// Some of the calls that fit a filter, newest first, without their steps.
    ///
    /// - Parameters:
    ///   - cursor: the `next` of the page before; nil for the first.
    ///   - limit: calls on a page, at least 1.
    /// - Returns: the calls, and where the next page begins; nil behind the last call.
    package mutating func page(_ filter: CallFilter = CallFilter(), after cursor: CallCursor? = nil, limit: Int, now: Int64? = nil) -> (
        calls: [Call], next: CallCursor?
    ) {
        let places = drafts.values.map { CallCursor(seq: $0.firstSeq, key: $0.key) }.filter { cursor == nil || $0 < cursor ?? $0 }
            .sorted(by: >)
        var calls: [Call] = []
        var last: CallCursor?
        for place in places {
            guard let call = listed(place.key, now: now), filter.matches(call) else { continue }
            if calls.count >= max(limit, 1) { return (calls, last) }
            calls.append(call)
            last = place
        }
        return (calls, nil)
    }
}

/// A place in the list of calls, which stays where it is while calls come and go.
package struct CallCursor: Hashable, Comparable, Sendable, LosslessStringConvertible {
    let seq: UInt64
    let key: String

    init(seq: UInt64, key: String) {
        self.seq = seq
        self.key = key
    }

    /// Nil for what is not the text of one.
    package init?(_ text: String) {
        guard let dot = text.firstIndex(of: "."), let seq = UInt64(text[..<dot]) else { return nil }
        self.init(seq: seq, key: String(text[text.index(after: dot)...]))
    }

    package var description: String { "\(seq).\(key)" }

    package static func < (one: Self, other: Self) -> Bool { (one.seq, one.key) < (other.seq, other.key) }
}

/// Which calls are wanted; what is nil is not asked for.
package struct CallFilter: Sendable {
    /// The call's or a leg's state, or `human` or `machine`.
    package var status: String?
    /// One of the parties, compared as a number is meant.
    package var number: PhoneNumber?
    /// One of the parties, in any case of letters.
    package var user: String?
    /// Calls that began at this time or later, and before the other; milliseconds since 1970.
    package var since: Int64?
    package var to: Int64?

    package init() {}

    package func matches(_ call: Call) -> Bool {
        if let since, call.began < since { return false }
        if let to, call.began >= to { return false }
        if let status {
            let isState =
                call.state.text == status || call.answeredBy == status
                || call.legs.contains { $0.state?.rawValue == status || $0.answeredBy == status }
            guard isState else { return false }
        }
        guard number != nil || user != nil else { return true }
        let parties = [call.from, call.to] + call.legs.flatMap { [$0.from, $0.to] }
        if let number, !parties.contains(where: { $0.flatMap { PhoneNumber(lenient: $0) } == number }) { return false }
        if let user, !parties.contains(where: { $0?.lowercased() == user.lowercased() }) { return false }
        return true
    }
}

/// A call and the number of its last record.
private struct Age: Comparable, Sendable {
    let seq: UInt64
    let key: String

    static func < (one: Self, other: Self) -> Bool { (one.seq, one.key) < (other.seq, other.key) }
}

/// The least first, in a binary heap.
private struct Heap: Sendable {
    private var items: [Age]

    /// A sorted list is a heap.
    init(_ items: [Age] = []) { self.items = items.sorted() }

    var count: Int { items.count }

    mutating func push(_ item: Age) {
        items.append(item)
        var at = items.count - 1
        while at > 0, items[at] < items[(at - 1) / 2] {
            items.swapAt(at, (at - 1) / 2)
            at = (at - 1) / 2
        }
    }

    mutating func pop() -> Age? {
        guard let first = items.first, let last = items.popLast() else { return nil }
        guard !items.isEmpty else { return first }
        items[0] = last
        var at = 0
        while true {
            var least = at
            for child in [2 * at + 1, 2 * at + 2] where child < items.count && items[child] < items[least] { least = child }
            if least == at { return first }
            items.swapAt(at, least)
            at = least
        }
    }
}
