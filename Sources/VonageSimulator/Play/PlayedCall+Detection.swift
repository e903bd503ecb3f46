// SPDX-License-Identifier: MIT
//
// Answering machines: when one is told from a person, and what is said of it. A person is known after 2 seconds, a machine after 4, and its beep
// comes after 8.

import NCCO

extension PlayedCall {
    enum DetectedParty { case human, machine, beep }

    private func detection(_ leg: Int) -> Connect.MachineDetection? { leg == 0 ? plan.detection : legs[leg].connect?.machineDetection }

    mutating func scheduleDetection(_ leg: Int) {
        guard let detection = detection(leg) else { return }
        guard legs[leg].callee.behavior == .machine else { return schedule(now + 2000, .detected(leg: leg, .human)) }
        var mode: AdvancedMachineDetection.Mode?
        if case .advanced(let advanced) = detection { mode = advanced.mode }
        if mode != .detectBeep { schedule(now + 4000, .detected(leg: leg, .machine)) }
        if mode == .detectBeep || mode == .default { schedule(now + 8000, .detected(leg: leg, .beep)) }
    }

    mutating func detect(_ index: Int, _ party: DetectedParty) {
        guard legs[index].status.isAnswered else { return }
        let isHuman = if case .human = party { true } else { false }
        if !isHuman, legs[index].status != .machine {
            legs[index].status = .machine
            noteChange(legs[index].uuid, .machine)
        }
        let status = isHuman ? "human" : "machine"
        let subState: String? = if case .beep = party { "beep_start" } else { nil }
        note(.leg(callee: calleeName(index), uuid: legs[index].uuid, status: status, detail: subState))
        let detection = detection(index)
        var (hangsUp, mayReplace) = (detection == .hangup, false)
        if case .advanced(let advanced)? = detection {
            hangsUp = advanced.behavior == .hangup
            mayReplace = advanced.mode == .default
        }
        let flow = legs[index].flow ?? flows.indices.last { flows[$0].leg == index }
        tellDetected(index, status, subState: subState, then: mayReplace ? flow.map { .replaces(flow: $0) } ?? .told : .told)
        if hangsUp, !isHuman { hangUp(index, byPlatform: true) }
    }
}
