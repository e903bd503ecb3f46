// SPDX-License-Identifier: MIT
//
// The records of one call while they come in, and the call worked out from them.
//
// Whatever the order of arrival, the same records give the same call: the same event is kept once, under its lowest number; steps are sorted by
// the event's own time, then by the order of states, then by leg and text, and only then by number; where there are too many steps, those that
// say least are left out, which are not simply the last to come.

import EventLog

struct CallDraft: Sendable {
    /// Steps of one call: a call of ten legs has fewer than a hundred, and digits that are sent one by one can be hundreds.
    static let mostSteps = 1000
    /// After that much silence a leg is over, whatever was not received: the longest `limit` of a connect, in milliseconds.
    static let longestSilence: Int64 = 7_200_000

    let key: String
    private var steps: [Step] = []
    private(set) var omitted = 0
    private(set) var bytes = 0
    private(set) var firstSeq = UInt64.max
    private(set) var lastSeq: UInt64 = 0
    /// The newest arrival.
    private(set) var lastAt = Int64.min
    private var spelling: String?

    /// One event or request, with the numbers of those that were the same.
    private struct Step {
        var record: CallRecord
        let hash: Int
        let rank: UInt8
        /// Of the others; beyond a hundred they are only counted.
        var others: [UInt64] = []
        var uncounted = 0
        let legKey: String
        let isState: Bool

        var time: Int64 { record.time ?? record.at }
        var repeats: Int { others.count + uncounted }

        func isSame(as record: CallRecord) -> Bool {
            record.content == self.record.content && record.text(.leg) == self.record.text(.leg)
                && record.text(.kind) == self.record.text(.kind)
                && (record.range(.event) != nil || record.json(.ncco) == self.record.json(.ncco))
        }

        /// What says less is left out first.
        func saysMore(than other: Step) -> Bool {
            if isState != other.isState { return isState }
            return record.seq < other.record.seq
        }
    }

    init(key: String) { self.key = key }

    /// - Parameter conversation: the call's name as this record spells it.
    /// - Returns: how many bytes more it holds, and whether this is its last record so far.
    mutating func add(_ record: CallRecord, conversation: String) -> (bytes: Int, isLast: Bool) {
        let before = bytes
        let hash = hash(record)
        if let at = steps.firstIndex(where: { $0.hash == hash && $0.isSame(as: record) }) {
            guard steps[at].record.seq != record.seq, !steps[at].others.contains(record.seq) else { return (0, false) }
            bytes -= steps[at].record.line.count
            var other = record.seq
            if record.seq < steps[at].record.seq {
                other = steps[at].record.seq
                steps[at].record = record
            }
            if steps[at].others.count < 100 { steps[at].others.append(other) } else { steps[at].uncounted += 1 }
            bytes += steps[at].record.line.count
        } else {
            let (kind, status) = (record.text(.kind) ?? "", record.text(.status))
            let isState = kind != "event" || status.flatMap(CallState.init) != nil
            let step = Step(
                record: record, hash: hash, rank: StepRank.of(kind: kind, status: status),
                legKey: record.text(.leg).map { Identity($0).key } ?? "", isState: isState)
            bytes += record.line.count
            steps.append(step)
            if steps.count > Self.mostSteps, let least = steps.indices.min(by: { steps[$1].saysMore(than: steps[$0]) }) {
                bytes -= steps[least].record.line.count
                steps.remove(at: least)
                omitted += 1
            }
        }
        spelling = Identity.fuller(spelling, conversation)
        firstSeq = min(firstSeq, record.seq)
        lastAt = max(lastAt, record.at)
        let isLast = record.seq > lastSeq
        lastSeq = max(lastSeq, record.seq)
        return (bytes - before, isLast)
    }

    private func hash(_ record: CallRecord) -> Int {
        var hasher = Hasher()
        record.content.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(record.text(.leg))
        return hasher.finalize()
    }

    /// The call as far as it is known.
    ///
    /// - Parameters:
    ///   - now: with it, a leg that is silent for two hours counts as over; without, only what its events say counts.
    ///   - hasSteps: false leaves the steps out, for a list.
    func call(now: Int64? = nil, steps hasSteps: Bool = true) -> Call {
        let ordered = steps.sorted(by: Self.isBefore)
        var legs: [LegDraft] = []
        var places: [String: Int] = [:]
        var (to, from): (Set<String>, Set<String>) = ([], [])
        for step in ordered {
            let record = step.record
            if record.range(.event) != nil {
                if let other = record.text(.conversationTo), Identity(other).key != key { to.insert(other) }
                if let other = record.text(.conversationFrom), Identity(other).key != key { from.insert(other) }
            }
            guard let uuid = record.text(.leg) else { continue }
            let place = places[step.legKey] ?? legs.count
            if place == legs.count {
                places[step.legKey] = place
                legs.append(LegDraft(uuid: uuid, began: step.time))
            }
            legs[place].add(record, time: step.time, leaves: record.text(.conversationFrom).map { Identity($0).key == key } ?? false)
        }
        let isSilent = now.map { $0 - lastAt > Self.longestSilence } ?? false
        let finished = legs.map { $0.leg(isSilent: isSilent) }
        let ends = legs.compactMap { leg in leg.ended.map { (time: $0, by: leg.disconnectedBy) } }
        let (caller, callee) = parties(ordered, finished)
        var price: ExactDecimal?
        for leg in finished {
            guard let part = leg.price else { continue }
            price = price.map { $0.adding(part) ?? $0 } ?? part
        }
        return Call(
            conversationUUID: spelling ?? key, began: ordered.first?.time ?? 0, from: caller, to: callee, state: state(finished),
            seconds: finished.compactMap(\.seconds).max(), price: price, answeredBy: finished.compactMap(\.answeredBy).last,
            disconnectedBy: ends.filter { $0.by != nil }.min { $0.time < $1.time }?.by,
            transferredTo: to.sorted(), transferredFrom: from.sorted(), legs: finished,
            steps: hasSteps ? shown(ordered, finished, places) : [],
            omitted: omitted, firstSeq: firstSeq, lastSeq: lastSeq)
    }

    private static func isBefore(_ one: Step, _ other: Step) -> Bool {
        if one.time != other.time { return one.time < other.time }
        if one.rank != other.rank { return one.rank < other.rank }
        if one.legKey != other.legKey { return one.legKey < other.legKey }
        if one.record.content != other.record.content { return one.record.content.lexicographicallyPrecedes(other.record.content) }
        return one.record.seq < other.record.seq
    }

    /// Whom the answer request names; else, whom the leg that came in names, or the first.
    ///
    /// A user who calls from an app is `to` of the leg that comes in, and the leg that goes out tells whom they called.
    private func parties(_ ordered: [Step], _ legs: [Call.Leg]) -> (from: String?, to: String?) {
        if let request = ordered.first(where: { $0.record.range(.request) != nil && $0.record.text(.kind) == "answer" })?.record {
            let from = request.text(.fromUser) ?? request.text(.from)
            let to = request.text(.to)
            if from != nil || to != nil { return (from, to) }
        }
        guard let leg = legs.first(where: { $0.direction == "inbound" }) ?? legs.first else { return (nil, nil) }
        if leg.direction == "inbound", leg.from == nil { return (leg.to, legs.first { $0.direction == "outbound" }?.to) }
        return (leg.from, leg.to)
    }

    /// The call's state is that of the legs that were called, where there are any beside the one that came in.
    private func state(_ legs: [Call.Leg]) -> Call.State {
        let known = legs.filter { $0.state != nil }
        guard !known.isEmpty else { return .unknown }
        let called = known.filter { $0.direction == "outbound" }
        let deciding = called.isEmpty ? known : called
        if let open = deciding.last(where: { $0.completed == .open }) ?? known.last(where: { $0.completed == .open }) {
            return .open(open.state ?? .started)
        }
        if deciding.contains(where: { $0.state == .completed || $0.answered != nil && $0.state?.isFailure != true }) {
            return .ended(.completed)
        }
        let failed = deciding.last { $0.state?.isFailure == true }
        return .ended(failed?.state ?? deciding.last?.state ?? .completed)
    }

    private func shown(_ ordered: [Step], _ legs: [Call.Leg], _ places: [String: Int]) -> [CallStep] {
        var served: UInt64?
        var asked: Set<String> = []
        return ordered.map { step in
            let record = step.record
            let kind = record.text(.kind) ?? "event"
            let status = record.text(.status)
            let ncco = record.json(.ncco).map(Array.init)
            let isError = kind == "event" && status == "error"
            defer { if ncco != nil { served = record.seq } }
            let isRequest = record.range(.request) != nil
            return CallStep(
                kind: kind, status: status, leg: places[step.legKey].map { legs[$0].uuid }, time: step.time,
                isTimeOfArrival: record.time == nil, at: record.at, seq: record.seq, repeats: step.repeats,
                event: record.json(.event).map(Array.init), request: record.json(.request).map(Array.init), flow: record.text(.flow),
                ncco: ncco, micros: record.text(.micros).flatMap { Int($0) },
                reason: isError || kind == "fallback" ? record.text(.reason) : nil, error: record.text(.error),
                about: isError ? served : nil, isAgain: isRequest && !asked.insert("\(kind) \(step.legKey)").inserted)
        }
    }
}

/// A leg while its steps are gone through in order.
private struct LegDraft {
    var uuid: String
    let began: Int64
    var direction: String?
    var from: String?
    var to: String?
    var answered: Int64?
    /// The time of `completed`, or of what ended the leg before.
    var ended: Int64?
    var disconnectedBy: String?
    private var state: CallState?
    private var failure: CallState?
    private var completion: CallRecord?
    private var detail: String?
    private var sipCode: String?
    private var answeredBy: String?
    private var hasLeft = false

    init(uuid: String, began: Int64) {
        self.uuid = uuid
        self.began = began
    }

    /// - Parameter leaves: the record says that the leg goes to another call.
    mutating func add(_ record: CallRecord, time: Int64, leaves: Bool) {
        uuid = record.text(.leg).map { Identity.fuller(uuid, $0) } ?? uuid
        guard record.range(.event) != nil else { return }
        if leaves { hasLeft = true }
        direction = direction ?? record.text(.direction)
        from = from ?? record.text(.from)
        to = to ?? record.text(.to)
        let status = record.text(.status)
        if status == "human" || status == "machine" {
            answeredBy = status
            answered = answered ?? time
            return
        }
        guard let next = status.flatMap(CallState.init) else { return }
        // What a failure says tells more than the `completed` that follows.
        if next.isFailure || failure == nil {
            detail = record.text(.detail) ?? detail
            sipCode = record.text(.sipCode) ?? sipCode
        }
        switch next {
        case .answered: answered = answered ?? time
        case .completed:
            completion = record
            ended = time
            disconnectedBy = record.text(.disconnectedBy) ?? disconnectedBy
        default: break
        }
        if next.isFailure || next == .disconnected { failure = next }
        if let state, StepRank.of(kind: "event", status: state.rawValue) > StepRank.of(kind: "event", status: next.rawValue) { return }
        state = next
    }

    func leg(isSilent: Bool) -> Call.Leg {
        let completed: Call.Leg.Completed =
            if completion != nil {
                .received
            } else if failure == .rejected {
                .notExpected
            } else if hasLeft {
                .transferred
            } else if failure != nil || isSilent {
                .missing
            } else {
                .open
            }
        let seconds = completion.flatMap { completion -> Int? in
            if let duration = completion.text(.duration).flatMap({ Int($0) }), duration >= 0 { return duration }
            guard let start = completion.text(.startTime).flatMap(LogTime.milliseconds),
                let end = completion.text(.endTime).flatMap(LogTime.milliseconds), end >= start
            else { return nil }
            return Int((end - start) / 1000)
        }
        return Call.Leg(
            uuid: uuid, state: failure ?? (answeredBy != nil && completion == nil ? .answered : state), direction: direction, from: from,
            to: to, began: began, answered: answered, completed: completed, seconds: seconds,
            price: completion?.text(.price).flatMap(ExactDecimal.init), rate: completion?.text(.rate), network: completion?.text(.network),
            detail: detail, sipCode: sipCode, answeredBy: answeredBy, disconnectedBy: disconnectedBy)
    }
}
