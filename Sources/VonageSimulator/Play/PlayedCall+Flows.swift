// SPDX-License-Identifier: MIT
//
// How an NCCO runs: one step after the other, until there is none or another NCCO takes its place. A step has a count, its serial, by which what
// comes late - an answer, the end of a leg, a time - is told from what the flow still waits for.

import NCCO

extension PlayedCall {
    /// Runs an NCCO on a leg that is to have one.
    mutating func begin(_ reading: NCCOReading, on leg: Int) {
        guard !legs[leg].status.isOver else { return }
        switch reading {
        case .refused(let findings):
            complain(about: findings)
            tellSyntaxError(leg)
            complain(.lost, "the call is dropped: it has no NCCO that can be read")
            hangUp(leg, byPlatform: true)
        case .actions(let actions, let notes):
            complain(about: notes, .noted)
            begin(actions, on: leg)
        }
    }

    mutating func begin(_ actions: [Action], on leg: Int) {
        let flow = addFlow(actions, on: leg, isWhisper: false)
        guard legs[leg].answered == nil else { return run(flow) }
        // A phone's call is taken a moment after the NCCO has come.
        let isApp = if case .app = legs[leg].party { true } else { false }
        schedule(now + (isApp ? 0 : Pace.taking), .begins(flow: flow))
    }

    mutating func begin(_ flow: Int) {
        guard flows[flow].isRunning else { return }
        answerInbound()
        run(flow)
    }

    /// Runs an NCCO on a callee before it is joined.
    mutating func beginWhisper(_ actions: [Action], _ leg: Int) { run(addFlow(actions, on: leg, isWhisper: true)) }

    private mutating func addFlow(_ actions: [Action], on leg: Int, isWhisper: Bool) -> Int {
        var flow = PlayedFlow(leg: leg, isWhisper: isWhisper)
        flow.actions = actions
        flow.isRunning = true
        flows.append(flow)
        return flows.count - 1
    }

    mutating func replace(_ flow: Int, by actions: [Action]) {
        leaveStep(flow)
        flows[flow].actions = actions
        flows[flow].index = 0
        flows[flow].promptEnds = 0
        flows[flow].isBargeIn = false
        run(flow)
    }

    mutating func stopFlows(of leg: Int) {
        for flow in flows.indices where flows[flow].leg == leg && flows[flow].isRunning {
            flows[flow].isRunning = false
            leaveStep(flow)
        }
    }

    func isCurrent(_ flow: Int, _ serial: Int) -> Bool { flows[flow].isRunning && flows[flow].serial == serial }

    /// Whether a flow's step is the call to this leg.
    func isAwaited(_ leg: Int) -> Bool { legs[leg].flow.map { isCurrent($0, legs[leg].serial) } ?? false }

    /// The step is over: the next one begins.
    mutating func endStep(_ flow: Int, _ serial: Int) {
        guard isCurrent(flow, serial) else { return }
        leaveStep(flow)
        flows[flow].index += 1
        run(flow)
    }

    /// What belongs to the step alone ends with it: a recording with an end of its own, and a leg that still rings for it.
    private mutating func leaveStep(_ flow: Int) {
        let serial = flows[flow].serial
        flows[flow].serial += 1
        finishRecordings { $0.step.map { $0 == (flow, serial) } ?? false }
        for leg in legs.indices where legs[leg].flow == flow && legs[leg].serial == serial && !legs[leg].status.isAnswered {
            hangUp(leg, byPlatform: true)
        }
    }

    /// Carries out actions until one holds up the next.
    private mutating func run(_ flow: Int) {
        while flows[flow].isRunning, flows[flow].index < flows[flow].actions.count {
            actionCount += 1
            guard actionCount <= Self.mostActions else {
                if !isCircling { endCircle("\(Self.mostActions) actions") }
                return
            }
            let action = flows[flow].actions[flows[flow].index]
            note(
                .action(
                    name: action.name, number: flows[flow].index + 1, of: flows[flow].actions.count,
                    callee: calleeName(flows[flow].leg)))
            guard carryOut(action, flow) else { return }
            flows[flow].index += 1
            flows[flow].serial += 1
        }
        guard flows[flow].isRunning else { return }
        // What is still heard is heard to its end.
        if flows[flow].promptEnds == .max { return leaveLater(flow) }
        if flows[flow].promptEnds > now { return endStep(flow, at: flows[flow].promptEnds) }
        flows[flow].isRunning = false
        let leg = flows[flow].leg
        if flows[flow].isWhisper { join(leg) } else { hangUp(leg, byPlatform: true) }
    }

    mutating func endStep(_ flow: Int, at time: Int64) { schedule(time, .stepEnds(flow: flow, serial: flows[flow].serial)) }

    /// What has no end of its own lasts until whoever it is for hangs up.
    mutating func leaveLater(_ flow: Int) { schedule(after(plan.talkFor), .leaves(flow: flow, serial: flows[flow].serial)) }
}
