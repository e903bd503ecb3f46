// SPDX-License-Identifier: MIT
//
// Vonage's side of one call, as a machine: it is told what time it is and what became of its requests, and says what to send next and when it
// wants to be told the time again. It knows no socket and no clock, so a call of an hour can be played in a moment, and a test can play one from
// values.
//
// The files: here the machine's surface, its time and its ids; `+Webhooks` what is asked, with Vonage's retries and fallback; `+Events` what is
// told; `+Flows` how an NCCO runs; `+Actions`, `+Input` and `+Recordings` its steps; `+Legs` how legs begin, change and end; `+Detection` what
// is told of machines.
//
// What no source says for certain is decided here as people see it happen: a caller needs a second to react; a voice speaks 15 characters a
// second, a sound file lasts 5 seconds. Of what follows an answered `connect` Vonage's pages contradict each other. By the call-flow guide the
// NCCO moves on, and a further `connect` adds a third party; by the page on `connect`, and by logs of real calls, the next action runs when the
// callee has left. The second is played.

import NCCO

package struct PlayedCall: Sendable {
    /// Requests of one call; a flow that goes in circles ends in time for the events of the end to be among them.
    package static let mostRequests = 500
    /// Actions that are carried out in one call.
    static let mostActions = 100_000
    /// Steps that are kept from the beginning on, and of what happens then the last that are; exchanges and complaints are kept all.
    static let (mostSteps, lastSteps) = (4000, 500)
    /// How long a call may take until it is answered, in milliseconds: from then on `CallPlan.longest` counts.
    static let longestUnanswered: Int64 = 600_000
    /// Complaints that are kept. Beyond them only one that is graver than all before is.
    static let mostComplaints = 1000

    package let plan: CallPlan
    private let makeID: @Sendable () -> String

    /// In the order in which they became known: an exchange stands where its outcome came, with the time at which it was sent. Steps are only
    /// ever added; the last of a long call come once all its legs have ended.
    package private(set) var steps: [PlayedStep] = []
    /// The last steps of a long call, while it goes on.
    private var lastSteps: [PlayedStep] = []
    private var missingSteps = 0
    package private(set) var complaints: [Complaint] = []
    /// How many there were, with those that are not kept.
    package private(set) var complaintCount = 0
    /// That of the gravest complaint; nil where there is none.
    package private(set) var severity: Complaint.Severity?
    /// Milliseconds since 1970.
    package let began: Int64
    package internal(set) var now: Int64

    var legs: [PlayedLeg] = []
    var flows: [PlayedFlow] = []
    var recordings: [PlayedRecording] = []
    private var timers: [Timer] = []
    private var timerCount = 0
    private var newRequests: [PlayedRequest] = []
    var waiting: [Int: Waiting] = [:]
    var requestCount = 0
    var actionCount = 0
    /// The call goes in circles and is about to end.
    private(set) var isCircling = false
    var hasTooManyRecordings = false
    /// Ids of conversations by name.
    var rooms: [String: String] = [:]
    private let findRoom: @Sendable (String) -> String?
    private var nextEntry = 0

    /// States of legs since they were last asked for, for whoever keeps a list of calls.
    package private(set) var legChanges: [(uuid: String, status: CallStatus)] = []

    struct Timer {
        let at: Int64
        let order: Int
        let what: Due
    }

    /// What happens when a time has come.
    enum Due {
        case ringing(leg: Int)
        case answers(leg: Int)
        case fails(leg: Int, CallStatus, detail: String?, sipCode: Int?)
        case ringTimeout(leg: Int)
        case begins(flow: Int)
        /// What the flow waits for is over, if it still waits for that.
        case stepEnds(flow: Int, serial: Int)
        case inputEnds(flow: Int, serial: Int, Heard)
        case happens(flow: Int, serial: Int, PlayedStep.What)
        case key(flow: Int, Character)
        case hangsUp(leg: Int)
        /// Who listens to the flow's step has had enough of it.
        case leaves(flow: Int, serial: Int)
        /// Two have talked long enough: a leg hangs up, if the callee is still there.
        case partsFrom(callee: Int, leg: Int)
        case limit(leg: Int)
        /// The whole call ends, whoever is in it.
        case ends(byPlatform: Bool)
        case endsUnanswered
        case detected(leg: Int, DetectedParty)
    }

    /// - Parameters:
    ///   - began: milliseconds since 1970.
    ///   - ids: gives a UUID in lower case, a new one each time.
    ///   - rooms: gives the id of the conversation of a name that is shared with other calls; nil where there is none.
    package init(
        _ plan: CallPlan, began: Int64, ids: @escaping @Sendable () -> String, rooms: @escaping @Sendable (String) -> String? = { _ in nil }
    ) {
        self.plan = plan
        self.began = began
        now = began
        makeID = ids
        findRoom = rooms
    }

    // MARK: The surface

    /// Begins the call.
    package mutating func start() {
        schedule(after(Self.longestUnanswered), .endsUnanswered)
        if let time = plan.callerGivesUpAfter { schedule(after(time), .hangsUp(leg: 0)) }
        beginFirstLeg()
    }

    /// Requests that were not taken yet, in the order in which Vonage sends them. Each needs its outcome told by `finish`.
    package mutating func takeRequests() -> [PlayedRequest] {
        defer { newRequests.removeAll(keepingCapacity: true) }
        return newRequests
    }

    package var hasRequests: Bool { !newRequests.isEmpty }

    package mutating func takeLegChanges() -> [(uuid: String, status: CallStatus)] {
        defer { legChanges = [] }
        return legChanges
    }

    /// When the machine wants to be told the time, milliseconds since 1970; nil: when a request has its outcome, or never.
    package var nextTime: Int64? { isSilent ? nil : timers.first?.at }

    /// Whether all legs have ended and every request has its outcome.
    package var isOver: Bool { isSilent && waiting.isEmpty && newRequests.isEmpty }

    /// Whether all legs have ended: nothing happens any more but outcomes of requests.
    package var isSilent: Bool { !legs.isEmpty && legs.allSatisfy(\.status.isOver) }

    /// Lets all happen that is due by now, up to the first request that comes of it: requests are to be taken, and this is to be called again.
    package mutating func advance(to time: Int64) { happen(until: time, stopsAtRequests: true) }

    /// Who plays without a clock looks at requests before anything else happens; who plays with one has let the time pass already.
    mutating func happen(until time: Int64, stopsAtRequests: Bool) {
        // What is due causes more that is due at once; beyond this many it is a circle.
        for _ in 0..<100_000 {
            guard let timer = timers.first, timer.at <= time, !isSilent else { break }
            timers.removeFirst()
            now = max(now, timer.at)
            happen(timer.what)
            if stopsAtRequests, !newRequests.isEmpty { break }
        }
        if isSilent || timers.first.map({ $0.at > time }) ?? true { now = max(now, time) }
    }

    // MARK: Used by the other files

    func newID() -> String { makeID() }

    /// The id of a conversation by its name: the same each time.
    mutating func room(named name: String) -> String {
        let id = findRoom(name) ?? rooms[name] ?? "CON-\(newID())"
        rooms[name] = id
        return id
    }

    /// So many milliseconds from now, a month at most.
    func after(_ milliseconds: Int64) -> Int64 { now + min(max(milliseconds, 0), 2_592_000_000) }

    mutating func schedule(_ time: Int64, _ what: Due) {
        timerCount += 1
        let timer = Timer(at: max(time, now), order: timerCount, what: what)
        let place = timers.firstIndex { $0.at > timer.at } ?? timers.count
        timers.insert(timer, at: place)
    }

    /// - Parameter time: when it began, now unless it is given.
    mutating func note(_ what: PlayedStep.What, at time: Int64? = nil) {
        let step = PlayedStep(at: (time ?? now) - began, what: what)
        guard !isSilent, steps.count >= Self.mostSteps || !lastSteps.isEmpty else {
            addLastSteps()
            return steps.append(step)
        }
        lastSteps.append(step)
        if lastSteps.count >= 2 * Self.lastSteps { thinOut() }
    }

    /// Of the last steps those that are too old go, but for what a verdict is made of, whose number has bounds of its own.
    private mutating func thinOut() {
        let old = lastSteps.dropLast(Self.lastSteps)
        let kept = old.filter { step in
            switch step.what {
            case .exchange, .complaint: true
            default: false
            }
        }
        missingSteps += old.count - kept.count
        lastSteps.removeFirst(old.count)
        steps += kept
    }

    private mutating func addLastSteps() {
        guard !lastSteps.isEmpty else { return }
        thinOut()
        let last = lastSteps
        lastSteps = []
        if missingSteps > 0 {
            keep(
                Complaint(
                    severity: .noted, text: "\(missingSteps) steps in the middle of the call are not kept", cure: "let the NCCO do less",
                    request: nil), at: (last.first?.at ?? 0) + began)
        }
        steps += last
    }

    mutating func complain(_ severity: Complaint.Severity, _ text: String, cure: String = "", about request: Int? = nil) {
        let isGraver = self.severity.map { severity > $0 } ?? true
        guard complaints.count < Self.mostComplaints || isGraver else {
            complaintCount += 1
            return
        }
        keep(Complaint(severity: severity, text: text, cure: cure, request: request), at: now)
    }

    private mutating func keep(_ complaint: Complaint, at time: Int64) {
        complaintCount += 1
        severity = max(severity ?? .noted, complaint.severity)
        complaints.append(complaint)
        note(.complaint(complaint), at: time)
    }

    /// What goes on for ever is ended.
    mutating func endCircle(_ what: String) {
        isCircling = true
        complain(
            .lost, "the call goes in circles: \(what), and none of them ends it",
            cure: "let a flow that asks again give up after some tries")
        schedule(now, .ends(byPlatform: false))
    }

    mutating func noteChange(_ uuid: String, _ status: CallStatus) { legChanges.append((uuid, status)) }

    mutating func enqueue(_ request: PlayedRequest) { newRequests.append(request) }

    /// What whoever listens to a flow does at its next input.
    mutating func takeEntry(_ flow: Int) -> CallPlan.Entry {
        guard let entry = upcomingEntry(flow) else { return .nothing }
        if flows[flow].isWhisper { legs[flows[flow].leg].callee.entries.removeFirst() } else { nextEntry += 1 }
        return entry
    }

    func upcomingEntry(_ flow: Int) -> CallPlan.Entry? {
        if flows[flow].isWhisper { return legs[flows[flow].leg].callee.entries.first }
        return nextEntry < plan.entries.count ? plan.entries[nextEntry] : nil
    }

    /// Whoever was to do something that nothing listened for has probably been taken another way than was meant.
    mutating func judgeEntries() {
        guard isSilent, legs[0].answered != nil else { return }
        let left = plan.entries.dropFirst(nextEntry).compactMap { entry -> String? in
            switch entry {
            case .press(let keys): "press \(keys)"
            case .say(let words): "say \(printable(words))"
            case .nothing: nil
            }
        }
        nextEntry = plan.entries.count
        guard !left.isEmpty else { return }
        let more = left.count > 5 ? " and more" : ""
        let who = legs[0].isInbound ? "the caller" : "whoever was called"
        complain(
            .noted, "\(who) was to \(left.prefix(5).joined(separator: ", then "))\(more), and no input listened",
            cure: "look which way the call went")
    }

    private mutating func happen(_ what: Due) {
        switch what {
        case .ringing(let leg): ring(leg)
        case .answers(let leg): answer(leg)
        case .fails(let leg, let status, let detail, let sipCode): fail(leg, status, detail: detail, sipCode: sipCode)
        case .ringTimeout(let leg): fail(leg, .timeout, detail: nil, sipCode: nil)
        case .begins(let flow): begin(flow)
        case .stepEnds(let flow, let serial): endStep(flow, serial)
        case .inputEnds(let flow, let serial, let heard): endInput(flow, serial, heard)
        case .happens(let flow, let serial, let what): if isCurrent(flow, serial) { note(what) }
        case .key(let flow, let key): pressKey(flow, key)
        case .hangsUp(let leg): hangUp(leg, byPlatform: false)
        case .leaves(let flow, let serial): if isCurrent(flow, serial) { hangUp(flows[flow].leg, byPlatform: false) }
        case .partsFrom(let callee, let leg): if isCallee(callee) { hangUp(leg, byPlatform: false) }
        case .limit(let leg): hangUp(leg, byPlatform: true)
        case .ends(let byPlatform): for leg in legs.indices { hangUp(leg, byPlatform: byPlatform) }
        case .endsUnanswered: if legs.first?.answered == nil { for leg in legs.indices { hangUp(leg, byPlatform: true) } }
        case .detected(let leg, let party): detect(leg, party)
        }
    }
}

/// One side of a call.
struct PlayedLeg: Sendable {
    let uuid: String
    let party: CallPlan.Party
    let isInbound: Bool
    /// As events have them.
    var from: String?
    var to: String?
    var conversation: String
    var status = CallStatus.started
    var isStartedTold = false
    /// Milliseconds since 1970.
    var answered: Int64?
    /// Where its states go; nil: nowhere.
    var events: WebhookAddress?
    /// Whether an NCCO in the answer to a state that ends it counts.
    var isSynchronous = false
    var callee = CallPlan.Callee()
    var connect: Connect?
    /// The flow that called it, and the count of the step that did.
    var flow: Int?
    var serial = 0
    /// Counts how often it was given an NCCO or is to get one: what comes late for an earlier turn is of no interest.
    var turn = 0
}

/// An NCCO that runs for a leg.
struct PlayedFlow: Sendable {
    let leg: Int
    /// That of a callee before it is joined, and not the call's own.
    let isWhisper: Bool
    var actions: [Action] = []
    var index = 0
    /// Counts steps, so that what was to happen in one does not happen in another.
    var serial = 0
    var isRunning = false
    /// Until when something is heard that does not hold up the next action; `.max`: for ever.
    var promptEnds: Int64 = 0
    /// A key or a word cuts off what is heard, until an input has listened for it.
    var isBargeIn = false
    /// Listens for each key, and tells them there.
    var keys: WebhookAddress?
}

/// A recording that goes on.
struct PlayedRecording: Sendable {
    let began: Int64
    let leg: Int
    let conversation: String
    /// The step that it ends with; nil: it goes on until the leg ends.
    let step: (flow: Int, serial: Int)?
    let format: String
    let events: WebhookAddress?
    let transcription: WebhookAddress?
    let isTranscribed: Bool
}
